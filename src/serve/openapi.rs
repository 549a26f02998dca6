//! `/api/openapi.json`: describes the tools and the questions of the page as an HTTP API, derived from
//! their schemas.

use serde_json::{Map, Value, json};

use crate::tools::{Effect, Tool};

/// Prefix of tool names that paths leave out: `cortex_search` is at `/api/search`. Other tools
/// have their full names.
pub(super) const PREFIX: &str = "cortex_";

/// Describes these tools and these questions of the page.
pub(super) fn document(tools: &[&'static Tool], questions: &'static [Tool]) -> Value {
    let paths: Map<String, Value> = tools.iter().copied().chain(questions).map(path).collect();
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

/// Returns the path of a tool with what the description says about it.
fn path(tool: &Tool) -> (String, Value) {
    let name = tool.name.strip_prefix(PREFIX).unwrap_or(tool.name);
    let (input, responses) = ((tool.input_schema)(), responses(&(tool.output_schema)()));
    let operation = |id: String, rest: Value| {
        let mut operation = json!({
            "operationId": id,
            "summary": tool.title,
            "description": tool.description,
            "responses": responses
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

fn responses(output: &Map<String, Value>) -> Value {
    let error = |what: &str| answer(what, &json!({ "$ref": "#/components/schemas/Error" }));
    json!({
        "200": answer("The answer.", &json!(output)),
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
