//! Limits the tokens of a reply, because an agent pays for each of them.

use schemars::JsonSchema;
use serde::Deserialize;

use super::reply::Reply;
use crate::text::tokens;

/// The arguments that shape a reply.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
pub(super) struct TokenBudget {
    /// Limit of the reply in tokens. The reply says what was left out.
    #[schemars(range(min = MIN_TOKENS, max = MAX_TOKENS))]
    max_tokens: Option<usize>,
    /// Text for a model, or JSON for a program.
    format: Option<Format>,
    /// Whether the caller gave no limit.
    #[serde(skip)]
    is_default: bool,
}

/// The form of a reply. A caller gets one of them, so that it does not pay twice: the clients of
/// MCP give a model either the text or the structured content, and some of them both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    Text,
    Json,
}

/// Default and bounds of `max_tokens`. A value outside the bounds counts as the nearest bound.
pub(super) const DEFAULT_TOKENS: usize = 2000;
/// JSON gets this many times as many tokens if the caller gives no limit.
const JSON: usize = 4;
pub(super) const MIN_TOKENS: usize = 200;
pub(super) const MAX_TOKENS: usize = 20_000;

impl TokenBudget {
    /// Fills in what the caller left out. JSON is for programs, which do not pay for tokens.
    pub(super) fn or(self, max_tokens: usize, format: Format) -> Self {
        let format = self.format.unwrap_or(format);
        let factor = if format == Format::Json { JSON } else { 1 };
        Self {
            max_tokens: self.max_tokens.or(Some(max_tokens * factor)),
            format: Some(format),
            is_default: self.max_tokens.is_none(),
        }
    }

    /// Returns the budget of a text.
    pub(super) fn of_text(max_tokens: usize) -> Self {
        Self { max_tokens: Some(max_tokens), format: Some(Format::Text), is_default: true }
    }

    pub(super) fn format(self) -> Format {
        self.format.unwrap_or(Format::Text)
    }

    /// Returns the limit within its bounds.
    pub(super) fn limit(self) -> usize {
        self.max_tokens.unwrap_or(DEFAULT_TOKENS).clamp(MIN_TOKENS, MAX_TOKENS)
    }

    /// Whether the limit is the default of the tool and not the caller's.
    pub(super) fn is_default(self) -> bool {
        self.is_default
    }

    /// Estimates the tokens of a reply in the requested form.
    pub(super) fn cost(self, reply: &impl Reply) -> usize {
        match self.format() {
            Format::Text => tokens(&reply.text()),
            Format::Json => serde_json::to_string(reply).map_or(0, |json| tokens(&json)),
        }
    }
}

/// Returns the most detailed reply that fits. `build` makes a reply for each level of detail from 0
/// to `top`; a higher level costs more. Level 0 is returned even if it does not fit.
pub(super) fn fit<R: Reply>(budget: TokenBudget, top: usize, build: impl Fn(usize) -> R) -> R {
    let fits = |reply: &R| budget.cost(reply) <= budget.limit();
    let all = build(top);
    if fits(&all) {
        return all;
    }
    let (mut low, mut high) = (0, top);
    while high - low > 1 {
        let middle = usize::midpoint(low, high);
        if fits(&build(middle)) {
            low = middle;
        } else {
            high = middle;
        }
    }
    build(low)
}
