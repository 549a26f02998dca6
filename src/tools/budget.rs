//! What a reply may cost. An agent pays for every token of it, and some clients show it the text, some the JSON, some
//! both: both count.

use schemars::JsonSchema;
use serde::Deserialize;

use super::Reply;

/// What a reply may cost, as an argument.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Budget {
    /// Most tokens of the reply, text and JSON together; what does not fit is left out, and said.
    #[serde(default = "default_tokens")]
    #[schemars(range(min = MIN_TOKENS, max = MAX_TOKENS))]
    pub(super) max_tokens: usize,
}

/// Bounds of `max_tokens`; what is beyond them is taken as the bound.
pub(super) const DEFAULT_TOKENS: usize = 2000;
pub(super) const MIN_TOKENS: usize = 200;
pub(super) const MAX_TOKENS: usize = 20_000;

/// The default of `max_tokens`, as serde asks for it.
fn default_tokens() -> usize {
    DEFAULT_TOKENS
}

/// About how many tokens a text is: one per 3.5 bytes, rounded up. Code is near that with all common tokenisers.
pub(super) fn tokens(text: &str) -> usize {
    (text.len() * 2).div_ceil(7)
}

/// What a reply costs: its text and its JSON.
pub(super) fn cost(reply: &impl Reply) -> usize {
    tokens(&reply.text()) + serde_json::to_string(reply).map_or(0, |json| tokens(&json))
}

/// The most detailed reply that fits. `build` gives a reply of each level of detail from 0 to `top`, each a little more
/// expensive than the one below it. Level 0 is given even if it does not fit.
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
