//! Reads the YAML of lock files as JSON.

use saphyr_parser::{Event, Parser};
use serde_json::{Map, Value};

/// Most levels of nesting. Lock files have six.
const MAX_DEPTH: usize = 32;

/// A collection that is being read.
enum OpenCollection {
    List(Vec<Value>),
    /// With the key whose value comes next.
    Table(Map<String, Value>, Option<String>),
}

/// Reads the first document. Every scalar becomes a text, and an alias becomes null: lock files have
/// none, and copies of copies could fill the memory.
///
/// # Errors
/// When the text is not valid, or nested too deeply.
pub(super) fn read(text: &str) -> Result<Value, String> {
    let mut open: Vec<OpenCollection> = Vec::new();
    for event in Parser::new_from_str(text) {
        let (event, _) = event.map_err(|e| e.to_string())?;
        let done = match event {
            Event::MappingStart(..) => {
                open.push(OpenCollection::Table(Map::new(), None));
                None
            }
            Event::SequenceStart(..) => {
                open.push(OpenCollection::List(Vec::new()));
                None
            }
            Event::MappingEnd | Event::SequenceEnd => open.pop().map(|ended| match ended {
                OpenCollection::List(list) => Value::Array(list),
                OpenCollection::Table(table, _) => Value::Object(table),
            }),
            Event::Scalar(text, ..) => Some(Value::String(text.into_owned())),
            Event::Alias(_) => Some(Value::Null),
            _ => None,
        };
        if open.len() > MAX_DEPTH {
            return Err(format!("more than {MAX_DEPTH} levels"));
        }
        let Some(value) = done else { continue };
        match open.last_mut() {
            None => return Ok(value),
            Some(OpenCollection::List(list)) => list.push(value),
            Some(OpenCollection::Table(table, key)) => match key.take() {
                Some(key) => {
                    table.insert(key, value);
                }
                None => *key = Some(value.as_str().unwrap_or_default().to_string()),
            },
        }
    }
    Ok(Value::Null)
}
