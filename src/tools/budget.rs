//! Limits the tokens of a reply, because an agent pays for each of them.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::reply::Reply;
use crate::text::tokens;

/// The arguments that shape a reply.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
pub(crate) struct TokenBudget {
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
    /// The budget of a command that prints the whole answer.
    pub(super) const WHOLE: Self =
        Self { max_tokens: Some(usize::MAX), format: Some(Format::Text), is_default: true };

    /// Fills in what the caller left out. JSON is for programs, which do not pay for tokens.
    pub(super) fn or(self, max_tokens: usize, format: Format) -> Self {
        let format = self.format.unwrap_or(format);
        let factor = if format == Format::Json { JSON } else { 1 };
        Self {
            max_tokens: Some(within_bounds(self.max_tokens.unwrap_or(max_tokens * factor))),
            format: Some(format),
            is_default: self.max_tokens.is_none(),
        }
    }

    /// Returns a budget with room for at least `n` tokens of text, unless the caller gave a limit.
    pub(super) fn or_at_least(self, n: usize) -> Self {
        let factor = if self.format() == Format::Json { JSON } else { 1 };
        let least = if self.is_default { within_bounds(n * factor) } else { 0 };
        Self { max_tokens: Some(self.limit().max(least)), ..self }
    }

    /// Returns the budget of a command.
    pub(super) fn of_command(max_tokens: Option<usize>) -> Self {
        Self { max_tokens, format: None, is_default: false }
    }

    /// Returns the budget of a text.
    pub(super) fn of_text(max_tokens: usize) -> Self {
        Self { max_tokens: Some(within_bounds(max_tokens)), ..Self::WHOLE }
    }

    pub(super) fn format(self) -> Format {
        self.format.unwrap_or(Format::Text)
    }

    pub(super) fn limit(self) -> usize {
        self.max_tokens.unwrap_or(DEFAULT_TOKENS)
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

impl TokenBudget {
    /// Returns a text within the caller's limit, whatever its tool left in it: its first lines, and the
    /// last one, which states the freshness. Without such a limit, a tool may know better.
    pub(super) fn bind_text(self, text: String) -> String {
        let limit = self.limit();
        if self.is_default || tokens(&text) <= limit {
            return text;
        }
        let (body, last) = text.rsplit_once('\n').unwrap_or(("", &text));
        let note = self.note();
        let mut left =
            (limit * BYTES_OF_TWO_TOKENS / 2).saturating_sub(note.len() + last.len() + 2);
        let mut kept = String::new();
        for line in body.lines() {
            if line.len() >= left {
                let end = line.floor_char_boundary(left.saturating_sub(4));
                if end > LEAST_LINE {
                    kept.extend([&line[..end], "…\n"]);
                }
                break;
            }
            left -= line.len() + 1;
            kept.extend([line, "\n"]);
        }
        format!("{kept}{note}\n{last}")
    }

    /// Fits JSON into the budget: halves the longest lists until it fits, and then the longest texts.
    pub(super) fn bind_json(self, mut reply: Value) -> Value {
        let limit = self.limit();
        let is_over = |reply: &Value, room: usize| tokens(&reply.to_string()) + room > limit;
        if self.is_default || !is_over(&reply, 0) {
            return reply;
        }
        let note = self.note();
        let room = tokens(&note) + 8;
        while is_over(&reply, room) && halve_longest(&mut reply) {}
        if let Some(object) = reply.as_object_mut() {
            if let Some(truncated) = object.get_mut("truncated").filter(|value| value.is_boolean())
            {
                *truncated = true.into();
            }
            let warnings = object.entry("warnings").or_insert_with(|| Value::Array(Vec::new()));
            if let Some(warnings) = warnings.as_array_mut() {
                warnings.push(note.into());
            }
        }
        reply
    }

    fn note(self) -> String {
        format!("cut to {} tokens: give max_tokens up to {MAX_TOKENS} for the rest", self.limit())
    }
}

fn within_bounds(max_tokens: usize) -> usize {
    max_tokens.clamp(MIN_TOKENS, MAX_TOKENS)
}

/// Two tokens are estimated as this many bytes.
const BYTES_OF_TWO_TOKENS: usize = 7;
/// Shortest part of a line, or of a text in JSON, that is shown, in bytes.
const LEAST_LINE: usize = 16;

/// Halves the longest list in a value or, if all lists are empty, its longest text. Returns whether
/// there was one.
fn halve_longest(value: &mut Value) -> bool {
    if let Some(list) = longest(value, &|value| match value {
        Value::Array(list) if !list.is_empty() => Some(value.to_string().len()),
        _ => None,
    }) {
        let Value::Array(list) = list else { return false };
        list.truncate(list.len() / 2);
        return true;
    }
    let text =
        longest(value, &|value| value.as_str().map(str::len).filter(|bytes| *bytes > LEAST_LINE));
    let Some(Value::String(text)) = text else { return false };
    text.truncate(text.floor_char_boundary(text.len() / 2));
    true
}

/// Returns the value within another one that is the largest by a measure.
fn longest<'v>(
    value: &'v mut Value,
    measure: &dyn Fn(&Value) -> Option<usize>,
) -> Option<&'v mut Value> {
    fn best(value: &Value, measure: &dyn Fn(&Value) -> Option<usize>) -> Option<usize> {
        let inner: Box<dyn Iterator<Item = &Value>> = match value {
            Value::Array(list) => Box::new(list.iter()),
            Value::Object(object) => Box::new(object.values()),
            _ => Box::new(std::iter::empty()),
        };
        inner.filter_map(|inner| best(inner, measure)).chain(measure(value)).max()
    }
    let most = best(value, measure)?;
    if measure(value) == Some(most) {
        return Some(value);
    }
    let mut inner: Box<dyn Iterator<Item = &mut Value>> = match value {
        Value::Array(list) => Box::new(list.iter_mut()),
        Value::Object(object) => Box::new(object.values_mut()),
        _ => return None,
    };
    let found = inner.find(|inner| best(inner, measure) == Some(most))?;
    longest(found, measure)
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn budget(max_tokens: usize) -> TokenBudget {
        TokenBudget { max_tokens: Some(max_tokens), format: None, is_default: false }
    }

    proptest! {
        /// Whatever a tool replies, it fits, and says that it was cut.
        #[test]
        fn a_reply_is_bound_by_its_limit(
            lines in proptest::collection::vec("[a-zé ]{0,300}", 0..60),
            rows in 0usize..400,
            limit in 200usize..3000,
        ) {
            let budget = budget(limit);
            let text = [lines.join("\n"), "\ngeneration 1".into()].concat();
            let bound = budget.bind_text(text.clone());
            prop_assert!(tokens(&bound) <= limit.max(tokens("generation 1")));
            prop_assert!(bound.ends_with("generation 1"));
            prop_assert_eq!(bound == text, tokens(&text) <= limit);

            let row = |n: usize| json!({ "path": format!("src/{n}.rs"), "lines": [n, n + 1] });
            let all: Vec<Value> = (0..rows).map(row).collect();
            let reply = json!({ "results": all, "text": lines.concat(), "truncated": false });
            let bound = budget.bind_json(reply.clone());
            prop_assert!(tokens(&bound.to_string()) <= limit, "{}", bound);
            prop_assert_eq!(bound["truncated"] == json!(true), bound != reply);
        }
    }
}
