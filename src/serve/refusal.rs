//! The form of every response that is an error.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;

#[derive(Serialize)]
struct Refusal {
    error: String,
}

/// An answer that is an error, in the form of all of them.
pub(super) fn error(status: StatusCode, message: String) -> Response {
    (status, Json(Refusal { error: message })).into_response()
}
