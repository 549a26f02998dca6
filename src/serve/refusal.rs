//! The JSON form of all error responses.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;

#[derive(Serialize)]
struct Refusal {
    error: String,
}

/// Returns an error response.
pub(super) fn error(status: StatusCode, message: String) -> Response {
    (status, Json(Refusal { error: message })).into_response()
}
