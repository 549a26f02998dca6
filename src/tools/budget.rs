//! Limits the tokens of a reply, because an agent pays for each of them. Some clients show the
//! text, some the JSON, some both, so both count.

use schemars::JsonSchema;
use serde::Deserialize;

use super::reply::Reply;
use crate::text::tokens;

/// The argument that limits a reply.
#[derive(Deserialize, JsonSchema)]
pub(super) struct TokenBudget {
    /// Maximum size of the reply in tokens, text and JSON together. The reply says what was left
    /// out.
    #[serde(default = "default_tokens")]
    #[schemars(range(min = MIN_TOKENS, max = MAX_TOKENS))]
    pub(super) max_tokens: usize,
}

/// Default and bounds of `max_tokens`. A value outside the bounds counts as the nearest bound.
pub(super) const DEFAULT_TOKENS: usize = 2000;
pub(super) const MIN_TOKENS: usize = 200;
pub(super) const MAX_TOKENS: usize = 20_000;

/// Returns the default of `max_tokens` for serde.
fn default_tokens() -> usize {
    DEFAULT_TOKENS
}

/// Estimates the tokens of a reply: text and JSON.
pub(super) fn cost(reply: &impl Reply) -> usize {
    tokens(&reply.text()) + serde_json::to_string(reply).map_or(0, |json| tokens(&json))
}

/// Returns the most detailed reply that fits. `build` makes a reply for each level of detail from 0
/// to `top`; a higher level costs more. Level 0 is returned even if it does not fit.
pub(super) fn fit<R: Reply>(max_tokens: usize, top: usize, build: impl Fn(usize) -> R) -> R {
    let max_tokens = max_tokens.clamp(MIN_TOKENS, MAX_TOKENS);
    let all = build(top);
    if cost(&all) <= max_tokens {
        return all;
    }
    let (mut fits, mut too_much) = (0, top);
    while too_much - fits > 1 {
        let middle = usize::midpoint(fits, too_much);
        if cost(&build(middle)) <= max_tokens {
            fits = middle;
        } else {
            too_much = middle;
        }
    }
    build(fits)
}
