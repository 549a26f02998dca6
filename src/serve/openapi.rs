//! `/api/openapi.json`: describes the tools as an HTTP API, derived from their schemas.

use serde_json::{Map, Value, json};

use crate::engine::{ColoursAnswer, ColoursRequest};
use crate::tools::{Effect, Tool, input_schema, output_schema};

/// Prefix of tool names that paths leave out: `cortex_search` is at `/api/search`. Other tools
/// have their full names.
pub(super) const PREFIX: &str = "cortex_";

/// The path that colours code.
pub(super) const COLOURS: &str = "/api/colours";

pub(super) fn document(tools: &[&'static Tool]) -> Value {
    let mut paths: Map<String, Value> = tools.iter().copied().map(path).collect();
    paths.insert(
        COLOURS.into(),
        json!({ "post": {
            "operationId": "colours",
            "summary": "Colour code",
            "description": "Returns the colours of pieces of code, for a page. It reads no file.",
            "requestBody": { "content": { "application/json": { "schema": input_schema::<ColoursRequest>() } } },
            "responses": {
                "200": answer("The colours.", &output_schema::<ColoursAnswer>().into()),
                "400": refusal("The body cannot be used."),
                "503": refusal("The server is busy: try again."),
            }
        } }),
    );
    let error = json!({
        "type": "object",
        "properties": { "error": { "type": "string", "description": "What is wrong, and what to do instead." } },
        "required": ["error"]
    });
    json!({
        "openapi": "3.1.0",
        "info": { "title": "Cortex", "version": env!("CARGO_PKG_VERSION"), "description": "Searches code, documents and data of a repository." },
        "paths": paths,
        "components": {
            "schemas": { "Error": error },
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer", "description": "Only when the server has one." } }
        },
        "security": [{}, { "token": [] }]
    })
}

fn path(tool: &Tool) -> (String, Value) {
    let name = tool.name.strip_prefix(PREFIX).unwrap_or(tool.name);
    let input = (tool.input_schema)();
    let operation = |id: String, rest: Value| {
        let mut operation = json!({
            "operationId": id,
            "summary": tool.title,
            "description": tool.description,
            "responses": responses(tool)
        });
        if let (Value::Object(operation), Value::Object(rest)) = (&mut operation, rest) {
            operation.extend(rest);
        }
        operation
    };
    let get = operation(format!("{name}_get"), json!({ "parameters": parameters(&input) }));
    let post = operation(
        name.into(),
        json!({ "requestBody": { "content": { "application/json": { "schema": input } } } }),
    );
    let methods = if tool.effect == Effect::None {
        json!({ "get": get, "post": post })
    } else {
        json!({ "post": post })
    };
    (format!("/api/{name}"), methods)
}

/// Returns each property of the arguments as a parameter of the query string.
fn parameters(input: &Map<String, Value>) -> Vec<Value> {
    let required = input.get("required").and_then(Value::as_array);
    let properties = input.get("properties").and_then(Value::as_object).into_iter().flatten();
    let parameter = |(name, schema): (&String, &Value)| {
        let is_required = required.is_some_and(|r| r.iter().any(|n| n == name));
        json!({ "name": name, "in": "query", "required": is_required, "schema": schema })
    };
    properties.map(parameter).collect()
}

fn responses(tool: &Tool) -> Value {
    let error = refusal;
    json!({
        "200": answer("The answer.", &(tool.output_schema)().into()),
        "400": error("The arguments cannot be used."),
        "401": error("The token is missing or wrong."),
        "403": error("The Host or Origin is not allowed."),
        "404": error("There is no such tool, file or item."),
        "413": error("The body is too large."),
        "500": error("The tool failed."),
        "503": error("The server is busy or ending: try again.")
    })
}

fn answer(what: &str, schema: &Value) -> Value {
    json!({ "description": what, "content": { "application/json": { "schema": schema } } })
}

fn refusal(what: &str) -> Value {
    answer(what, &json!({ "$ref": "#/components/schemas/Error" }))
}
