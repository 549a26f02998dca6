//! JSON Pointers (RFC 6901) and how they are resolved in a document.

use jsonc_parser::ast::{Array, Object, Value};
use jsonc_parser::common::Ranged;

use crate::edit::excerpt::excerpt;
use crate::edit::text::line_of;

/// Most keys that an error names.
const MAX_KEYS: usize = 12;
const MAX_SHOWN: usize = 80;

/// Parses a pointer into unescaped tokens.
pub(super) fn tokens(pointer: &str) -> Result<Vec<String>, String> {
    if pointer.is_empty() {
        return Ok(Vec::new());
    }
    let wrong = |why| format!("the pointer `{}` {why}", excerpt(pointer, MAX_SHOWN));
    let rest = pointer
        .strip_prefix('/')
        .ok_or_else(|| wrong("does not begin with `/`: give it like /scripts/test or /list/0"))?;
    if rest.replace("~0", "").replace("~1", "").contains('~') {
        return Err(wrong("has a `~` that is not ~0 (for `~`) or ~1 (for `/`)"));
    }
    Ok(rest.split('/').map(|t| t.replace("~1", "/").replace("~0", "~")).collect())
}

/// Formats a pointer for messages.
pub(super) fn shown(tokens: &[String]) -> String {
    if tokens.is_empty() {
        return "the document".into();
    }
    let text: String =
        tokens.iter().map(|t| format!("/{}", t.replace('~', "~0").replace('/', "~1"))).collect();
    format!("`{}`", excerpt(&text, MAX_SHOWN))
}

/// Returns the value that the tokens name, after its parent (`None` for the document).
pub(super) fn walk<'v, 'a>(
    text: &str,
    root: &'v Value<'a>,
    tokens: &[String],
) -> Result<(Option<&'v Value<'a>>, &'v Value<'a>), String> {
    let (mut parent, mut value) = (None, root);
    for (depth, token) in tokens.iter().enumerate() {
        let above = &tokens[..depth];
        let i = child(text, value, above, token)?.ok_or_else(|| absent(value, above, token))?;
        (parent, value) = (Some(value), nth(value, i));
    }
    Ok((parent, value))
}

/// Returns the position of the child that a token names. `None` if there is no
/// such child, but one could be added.
pub(super) fn child(
    text: &str,
    value: &Value,
    above: &[String],
    token: &str,
) -> Result<Option<usize>, String> {
    match value {
        Value::Object(object) => property(text, object, above, token),
        Value::Array(array) => element(array, above, token),
        _ => Err(format!(
            "{} is {}, which has no values below it: shorten the pointer",
            shown(above),
            kind(value)
        )),
    }
}

fn property(
    text: &str,
    object: &Object,
    above: &[String],
    name: &str,
) -> Result<Option<usize>, String> {
    let mut named = object.properties.iter().enumerate().filter(|(_, p)| p.name.as_str() == name);
    let first = named.next();
    if let (Some((_, a)), Some((_, b))) = (first, named.next()) {
        let (a, b) = (line_of(text, a.start()), line_of(text, b.start()));
        let name = excerpt(name, MAX_SHOWN);
        return Err(format!(
            "{} has the key `{name}` twice, at lines {a} and {b}: remove one of them first with a text edit",
            shown(above)
        ));
    }
    Ok(first.map(|(i, _)| i))
}

fn element(array: &Array, above: &[String], token: &str) -> Result<Option<usize>, String> {
    let is_index = token == "0"
        || token.bytes().all(|b| b.is_ascii_digit())
            && !token.starts_with('0')
            && !token.is_empty();
    if !is_index && token != "-" {
        let token = excerpt(token, MAX_SHOWN);
        return Err(format!(
            "{} is an array: give a position in it, counted from 0, or - for its end, not `{token}`",
            shown(above)
        ));
    }
    Ok(token.parse().ok().filter(|i| *i < array.elements.len()))
}

/// Returns the child at a position from [`child`].
pub(super) fn nth<'v, 'a>(value: &'v Value<'a>, i: usize) -> &'v Value<'a> {
    match value {
        Value::Object(object) => &object.properties[i].value,
        Value::Array(array) => &array.elements[i],
        leaf => leaf,
    }
}

/// Returns the message for a missing child; it lists the existing ones.
pub(super) fn absent(value: &Value, above: &[String], token: &str) -> String {
    let n_elements = value.as_array().map(|array| array.elements.len());
    let there =
        n_elements.map_or_else(|| keys(value), |n| format!("{n}, counted from 0; - appends"));
    format!("{} has no `{}`: it has {there}", shown(above), excerpt(token, MAX_SHOWN))
}

fn keys(value: &Value) -> String {
    let properties = value.as_object().map(|object| &object.properties[..]).unwrap_or_default();
    let mut keys: Vec<String> =
        properties.iter().take(MAX_KEYS).map(|p| excerpt(p.name.as_str(), MAX_SHOWN)).collect();
    if properties.len() > MAX_KEYS {
        keys.push("…".into());
    }
    if keys.is_empty() { "no keys".into() } else { keys.join(", ") }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::StringLit(_) => "a string",
        Value::NumberLit(_) => "a number",
        Value::BooleanLit(_) => "a boolean",
        Value::NullKeyword(_) => "null",
        Value::Object(_) => "an object",
        Value::Array(_) => "an array",
    }
}
