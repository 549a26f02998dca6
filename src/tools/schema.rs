//! JSON schemas of arguments and replies. Some clients understand only simple ones, so these have
//! no references, unions or formats.

use std::any::TypeId;
use std::collections::BTreeMap;

use parking_lot::Mutex;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

/// Returns the schema of arguments.
#[must_use]
pub fn input<T: JsonSchema>() -> Map<String, Value> {
    plain::<T>(SchemaSettings::draft2020_12().for_deserialize())
}

/// Returns the schema of a reply.
#[must_use]
pub fn output<T: JsonSchema>() -> Map<String, Value> {
    let mut schema = plain::<T>(SchemaSettings::draft2020_12().for_serialize());
    schema.values_mut().for_each(drop_trivial);
    schema
}

/// Returns what `make` makes, and calls it once in this process. It is the function itself and not a
/// pointer, because its type is the key.
pub(crate) fn once<F>(make: F) -> &'static Map<String, Value>
where
    F: FnOnce() -> Map<String, Value> + 'static,
{
    static MADE: Mutex<BTreeMap<TypeId, &'static Map<String, Value>>> = Mutex::new(BTreeMap::new());
    const { assert!(size_of::<F>() == 0, "pointers to functions have one type") };
    MADE.lock().entry(TypeId::of::<F>()).or_insert_with(|| &*Box::leak(Box::new(make())))
}

/// Adds the properties of another schema.
pub(super) fn add(schema: &mut Map<String, Value>, mut other: Map<String, Value>) {
    let Some(Value::Object(new)) = other.remove("properties") else { return };
    let properties = schema.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    if let Value::Object(properties) = properties {
        properties.extend(new);
    }
}

fn plain<T: JsonSchema>(settings: SchemaSettings) -> Map<String, Value> {
    let mut schema = settings
        .with(|s| s.inline_subschemas = true)
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value();
    simplify(&mut schema);
    match schema {
        // The description of the tool replaces that of its arguments.
        Value::Object(mut map) => {
            map.remove("description");
            map
        }
        _ => Map::new(),
    }
}

/// Removes what readers do not need: the minimum 0 of a count, and the description of the items of
/// a list, which has its own description.
fn drop_trivial(value: &mut Value) {
    match value {
        Value::Object(map) => {
            if map.get("minimum") == Some(&Value::from(0)) {
                map.remove("minimum");
            }
            if let Some(Value::Object(items)) = map.get_mut("items") {
                items.remove("description");
            }
            map.values_mut().for_each(drop_trivial);
        }
        Value::Array(values) => values.iter_mut().for_each(drop_trivial),
        _ => {}
    }
}

/// Removes `null` from optional values, empty defaults, and keys that only code generators read.
fn simplify(schema: &mut Value) {
    let Value::Object(map) = schema else { return };
    for key in ["$schema", "title", "format"] {
        map.remove(key);
    }
    if map.get("default").is_some_and(|d| {
        d.is_null() || d == &Value::from("") || d.as_array().is_some_and(Vec::is_empty)
    }) {
        map.remove("default");
    }
    if let Some(Value::Array(types)) = map.get_mut("type") {
        types.retain(|t| t != "null");
        if let [one] = &types[..] {
            let one = one.clone();
            map.insert("type".into(), one);
        }
    }
    if let Some(Value::Array(values)) = map.get_mut("enum") {
        values.retain(|v| !v.is_null());
    }
    if let Some(Value::Array(mut any)) = map.remove("anyOf") {
        any.retain(|s| s.get("type") != Some(&Value::from("null")));
        if let Some(Value::Object(one)) = any.pop() {
            let description = map.remove("description");
            map.extend(one);
            map.extend(description.map(|d| ("description".into(), d)));
        }
    }
    if let Some(Value::Object(properties)) = map.get_mut("properties") {
        properties.values_mut().for_each(simplify);
    }
    for key in ["items", "additionalProperties"] {
        if let Some(inner) = map.get_mut(key) {
            simplify(inner);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_schema_is_made_once_and_is_that_of_its_function() {
        fn of<const N: usize>() -> Map<String, Value> {
            Map::from_iter([("n".to_string(), json!(N))])
        }
        let (one, two) = (once(of::<1>), once(of::<2>));
        assert_eq!((&one["n"], &two["n"]), (&json!(1), &json!(2)));
        assert!(std::ptr::eq(one, once(of::<1>)) && std::ptr::eq(two, once(of::<2>)));
    }
}
