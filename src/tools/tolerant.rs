//! Arguments as agents write them: numbers as strings, one value where a list is expected, an empty string for nothing.

use std::fmt::Display;
use std::str::FromStr;

use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// A value, or its text.
pub(super) fn option<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned + FromStr<Err: Display>,
{
    match Value::deserialize(deserializer)? {
        Value::Null => Ok(None),
        Value::String(text) if text.trim().is_empty() => Ok(None),
        Value::String(text) => text.trim().parse().map(Some).map_err(|e| D::Error::custom(format!("`{text}`: {e}"))),
        value => serde_json::from_value(value).map(Some).map_err(D::Error::custom),
    }
}

/// A list, a single value, or a list written as text (JSON, or separated by commas).
pub(super) fn list<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    let values = match Value::deserialize(deserializer)? {
        Value::Null => Vec::new(),
        Value::Array(values) => values,
        Value::String(text) => match serde_json::from_str(&text) {
            Ok(Value::Array(values)) => values,
            _ => text.split(',').map(str::trim).filter(|t| !t.is_empty()).map(Value::from).collect(),
        },
        value => vec![value],
    };
    values.into_iter().map(|v| serde_json::from_value(v).map_err(D::Error::custom)).collect()
}
