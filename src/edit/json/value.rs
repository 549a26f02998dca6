//! Parses JSON into values with their positions in the text.

use std::ops::Range;

use jsonc_parser::ast::Value;
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

/// A value that an edit inserts, with its text.
pub(super) struct New<'a> {
    pub(super) text: &'a str,
    pub(super) value: Value<'a>,
    /// Whether it has the layout of [`New::compact`].
    pub(super) is_compact: bool,
}

impl<'a> New<'a> {
    pub(super) fn parse(text: &'a str) -> Result<Self, String> {
        let wrong = |e: String| format!("the given value is not valid JSON: {e}");
        // Both parsers are needed: jsonc-parser accepts too much, and serde_json gives no
        // positions.
        serde_json::from_str::<serde::de::IgnoredAny>(text).map_err(|e| wrong(e.to_string()))?;
        let value = parsed(text).map_err(wrong)?.ok_or_else(|| wrong("it is empty".into()))?;
        Ok(Self { text, value, is_compact: false })
    }

    /// Parses a value whose arrays of plain values are written on one line. A list on one line that
    /// it makes long is spread: each item gets a line.
    pub(super) fn compact(text: &'a str) -> Result<Self, String> {
        Ok(Self { is_compact: true, ..Self::parse(text)? })
    }
}

/// JSON as programs read it in settings: with comments and commas at the end, and nothing looser.
const WITH_COMMENTS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

pub(super) fn parsed(text: &str) -> Result<Option<Value<'_>>, String> {
    parse_to_ast(text, &CollectOptions::default(), &WITH_COMMENTS)
        .map(|parsed| parsed.value)
        .map_err(|e| e.to_string())
}

pub(super) fn span(value: &impl Ranged) -> Range<usize> {
    value.start()..value.end()
}
