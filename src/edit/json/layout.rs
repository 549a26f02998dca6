//! Detects the layout of a document, and computes splices that keep it.

use std::ops::Range;

use jsonc_parser::ast::Value;
use jsonc_parser::common::Ranged;

use super::pointer::nth;
use super::value::{New, span};
use crate::edit::text::line_break;

/// A list on one line that becomes longer is spread, if the new item is compact.
const WIDTH: usize = 80;

/// The formatting of a document.
pub(super) struct Layout<'a> {
    /// The indentation of one level.
    indent: &'a str,
    line_break: &'static str,
    /// The space between a key and its value, and between values on one line.
    space: &'static str,
}

/// A range of a text and the text that replaces it.
pub(super) type Splice = (Range<usize>, String);

/// Applies splices that do not overlap.
pub(super) fn spliced(text: &str, mut splices: Vec<Splice>) -> String {
    splices.sort_by_key(|(range, _)| range.start);
    let (mut out, mut done) = (String::with_capacity(text.len()), 0);
    for (range, with) in splices {
        out.push_str(&text[done..range.start]);
        out.push_str(&with);
        done = range.end;
    }
    out.push_str(&text[done..]);
    out
}

/// The items between the brackets of an object or array; other values have none.
pub(super) struct Items {
    spans: Vec<Range<usize>>,
    inside: Range<usize>,
}

impl Items {
    pub fn of(value: &Value) -> Self {
        let spans = match value {
            Value::Object(object) => object.properties.iter().map(span).collect(),
            Value::Array(array) => array.elements.iter().map(span).collect(),
            _ => Vec::new(),
        };
        Self { spans, inside: value.start() + 1..value.end() - 1 }
    }
}

impl<'a> Layout<'a> {
    /// The default layout, for documents that show no other.
    fn new(line_break: &'static str) -> Self {
        Self { indent: "  ", line_break, space: " " }
    }

    pub fn of(text: &'a str, root: &Value) -> Self {
        let new = Self::new(line_break(text, root.start()));
        let space = first(root, &|value| gap(text, value))
            .map_or(new.space, |has_space| if has_space { " " } else { "" });
        Self { indent: first(root, &|value| step(text, value)).unwrap_or(new.indent), space, ..new }
    }

    /// Formats a value in this layout: on several lines, where the first has this
    /// indentation, or with `None` on one line.
    fn render(&self, new: &New, indent: Option<&str>) -> String {
        let mut out = String::new();
        self.put(new, &new.value, indent, &mut out);
        out
    }

    fn put(&self, new: &New, value: &Value, indent: Option<&str>, out: &mut String) {
        let brackets = match value {
            Value::Object(_) => "{}",
            Value::Array(_) => "[]",
            leaf => return out.push_str(leaf.text(new.text)),
        };
        let n_items = Items::of(value).spans.len();
        if n_items == 0 {
            return out.push_str(brackets);
        }
        let indent = indent.filter(|_| !(new.is_compact && is_plain(value)));
        let inner = indent.map(|indent| format!("{indent}{}", self.indent));
        out.push_str(&brackets[..1]);
        for i in 0..n_items {
            if i > 0 {
                out.push(',');
            }
            match &inner {
                Some(inner) => out.extend([self.line_break, inner]),
                None if i > 0 => out.push_str(self.space),
                None => {}
            }
            if let Value::Object(object) = value {
                out.extend([object.properties[i].name.text(new.text), ":", self.space]);
            }
            self.put(new, nth(value, i), inner.as_deref(), out);
        }
        if let Some(indent) = indent {
            out.extend([self.line_break, indent]);
        }
        out.push_str(&brackets[1..]);
    }

    fn item(&self, key: Option<&str>, new: &New, indent: Option<&str>) -> String {
        let value = self.render(new, indent);
        key.map_or_else(|| value.clone(), |key| format!("{key}:{}{value}", self.space))
    }
}

/// Returns the first `Some` that `ask` returns for a value or a value below it, in document order.
fn first<T>(value: &Value, ask: &impl Fn(&Value) -> Option<T>) -> Option<T> {
    ask(value).or_else(|| (0..Items::of(value).spans.len()).find_map(|i| first(nth(value, i), ask)))
}

/// Whether the author writes a space before the values of an object, or
/// between those of an array on one line.
fn gap(text: &str, value: &Value) -> Option<bool> {
    let gap = match value {
        Value::Object(object) => object.properties.first().map(|p| p.name.end()..p.value.start()),
        Value::Array(array) => {
            array.elements.first().zip(array.elements.get(1)).map(|(a, b)| a.end()..b.start())
        }
        _ => None,
    };
    gap.map(|gap| &text[gap]).filter(|gap| !gap.contains('\n')).map(|gap| gap.ends_with(' '))
}

/// Returns the indentation of the items of an object or array, beyond that of the line on which it
/// begins.
fn step<'a>(text: &'a str, value: &Value) -> Option<&'a str> {
    if !is_wide(text, value) {
        return None;
    }
    let item = Items::of(value).spans.first()?.start;
    let own = line_indent(text, value.start());
    let step = line_indent(text, item).strip_prefix(own)?;
    (begins_line(text, item) && !step.is_empty()).then_some(step)
}

/// Whether a value is written over several lines.
fn is_wide(text: &str, value: &Value) -> bool {
    value.text(text).contains('\n')
}

/// Whether a value is an array without objects and arrays in it.
fn is_plain(value: &Value) -> bool {
    value.as_array().is_some_and(|array| {
        !array.elements.iter().any(|e| matches!(e, Value::Object(_) | Value::Array(_)))
    })
}

/// Returns the white space at the beginning of the line that contains `at`.
fn line_indent(text: &str, at: usize) -> &str {
    let line = &text[line_start(text, at)..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |i| i + 1)
}

fn begins_line(text: &str, at: usize) -> bool {
    text[line_start(text, at)..at].trim().is_empty()
}

/// Returns the comma and the comments in a range that otherwise contains only white space.
fn between(text: &str, range: Range<usize>) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let mut at = range.start;
    while at < range.end {
        let rest = &text[at..range.end];
        let n_bytes = match rest.as_bytes() {
            [b',', ..] => 1,
            [b'/', b'/', ..] => rest.find(['\n', '\r']).unwrap_or(rest.len()),
            [b'/', b'*', ..] => rest[2..].find("*/").map_or(rest.len(), |i| i + 4),
            _ => {
                at += rest.chars().next().map_or(1, char::len_utf8);
                continue;
            }
        };
        out.push(at..at + n_bytes);
        at += n_bytes;
    }
    out
}

fn comma(text: &str, between: &[Range<usize>]) -> Option<Range<usize>> {
    between.iter().find(|range| text[range.start..].starts_with(',')).cloned()
}

/// Returns the end of the last comment that begins on the same line as `from`.
fn with_comments(text: &str, from: usize, between: &[Range<usize>]) -> usize {
    let mut end = from;
    for range in between.iter().filter(|range| range.start >= from) {
        if text[end..range.start].contains('\n') {
            break;
        }
        end = range.end;
    }
    end
}

/// Appends the first value to a text that is empty or has only comments.
pub(super) fn beginning(text: &str, new: &New) -> Vec<Splice> {
    let end = line_break(text, text.len());
    let gap = if text.is_empty() || text.ends_with('\n') { "" } else { end };
    let value = Layout::new(end).render(new, Some(""));
    vec![(text.len()..text.len(), format!("{gap}{value}{end}"))]
}

/// Replaces a value. The new one is written on several lines if the old one was; if the old one
/// had no items, its parent decides.
pub(super) fn replacement(
    text: &str,
    layout: &Layout,
    parent: Option<&Value>,
    old: &Value,
    new: &New,
) -> Vec<Splice> {
    let model = if Items::of(old).spans.is_empty() { parent } else { Some(old) };
    let wide = model.is_none_or(|model| is_wide(text, model));
    vec![(span(old), layout.render(new, wide.then(|| line_indent(text, old.start()))))]
}

/// Appends an item to an object or array.
pub(super) fn insertion(
    text: &str,
    layout: &Layout,
    parent: Option<&Value>,
    list: &Value,
    key: Option<&str>,
    new: &New,
) -> Vec<Splice> {
    let items = Items::of(list);
    let Some(last) = items.spans.last() else {
        return first_item(text, layout, parent, list, key, new);
    };
    let after = between(text, last.end..items.inside.end);
    let comma = comma(text, &after);
    // If the last item has a trailing comma, the new last item gets one.
    let (before, trailing) = if comma.is_some() { ("", ",") } else { (",", "") };
    let end = comma.map_or(last.end, |c| c.end);
    if !begins_line(text, last.start) {
        let item = layout.item(key, new, None);
        if new.is_compact && list.text(text).len() + item.len() > WIDTH {
            let (outer, indent) = indents(text, layout, list);
            let line = format!("{}{indent}", layout.line_break);
            let gap = |at: usize| text[..at].trim_end().len()..at;
            let item = layout.item(key, new, Some(&indent));
            let mut splices: Vec<Splice> =
                items.spans.iter().map(|span| (gap(span.start), line.clone())).collect();
            splices.push((last.end..last.end, before.to_string()));
            let rest = format!("{line}{item}{trailing}{}{outer}", layout.line_break);
            splices.push((gap(items.inside.end), rest));
            return splices;
        }
        return vec![(end..end, format!("{before}{}{item}{trailing}", layout.space))];
    }
    let indent = line_indent(text, last.start);
    let item = layout.item(key, new, Some(indent));
    let line_end = with_comments(text, end, &after);
    vec![
        (end..end, before.to_string()),
        (line_end..line_end, format!("{}{indent}{item}{trailing}", layout.line_break)),
    ]
}

/// Inserts the first item between two brackets: on its own line, unless the
/// list and its parent are on one line.
fn first_item(
    text: &str,
    layout: &Layout,
    parent: Option<&Value>,
    list: &Value,
    key: Option<&str>,
    new: &New,
) -> Vec<Splice> {
    let inside = Items::of(list).inside;
    let comments_end = between(text, inside.clone()).last().map(|range| range.end);
    let range = comments_end.unwrap_or(inside.start)..inside.end;
    if comments_end.is_none()
        && !is_wide(text, list)
        && parent.is_some_and(|parent| !is_wide(text, parent))
    {
        return vec![(range, layout.item(key, new, None))];
    }
    let (outer, indent) = indents(text, layout, list);
    let item = layout.item(key, new, Some(&indent));
    vec![(range, format!("{0}{indent}{item}{0}{outer}", layout.line_break))]
}

/// Returns the indentation of the line on which a list begins, and that of its items.
fn indents<'t>(text: &'t str, layout: &Layout, list: &Value) -> (&'t str, String) {
    let outer = line_indent(text, list.start());
    (outer, format!("{outer}{}", layout.indent))
}

/// Removes an item and its comma, with its lines if nothing else is on them.
pub(super) fn removal(text: &str, items: &Items, i: usize) -> Vec<Splice> {
    let item = &items.spans[i];
    let before = between(
        text,
        i.checked_sub(1).map_or(items.inside.start, |p| items.spans[p].end)..item.start,
    );
    let after =
        between(text, item.end..items.spans.get(i + 1).map_or(items.inside.end, |next| next.start));
    let own_comma = comma(text, &after);
    if items.spans.len() == 1
        && before.is_empty()
        && after.len() == usize::from(own_comma.is_some())
    {
        return vec![(items.inside.clone(), String::new())];
    }
    // Without a comma of its own, the last item takes the one before it.
    let comma_before = comma(text, &before).filter(|_| own_comma.is_none());
    let end = own_comma.map_or(item.end, |c| c.end);
    let line_end = with_comments(text, end, &after);
    let rest = text[line_end..].find('\n').map(|n| line_end..line_end + n + 1);
    let lines =
        rest.filter(|rest| begins_line(text, item.start) && text[rest.clone()].trim().is_empty());
    let removed = match (lines, before.split_last()) {
        (Some(rest), _) => line_start(text, item.start)..rest.end,
        (None, _) if i + 1 < items.spans.len() => item.start..end + spaces(&text[end..]),
        (None, Some((last, others))) if Some(last) == comma_before.as_ref() => {
            space_before(text, last.start, others)..end
        }
        (None, _) => space_before(text, item.start, &before)..end,
    };
    let comma_before = comma_before.filter(|comma| comma.start < removed.start);
    comma_before.into_iter().chain([removed]).map(|range| (range, String::new())).collect()
}

fn spaces(text: &str) -> usize {
    text.len() - text.trim_start_matches([' ', '\t']).len()
}

/// Returns where the white space before `at` begins. The line break that
/// ends a `//` comment does not count.
fn space_before(text: &str, at: usize, before: &[Range<usize>]) -> usize {
    match before.last() {
        Some(last) if text[last.start..].starts_with("//") => at,
        _ => text[..at].trim_end().len(),
    }
}
