//! Several clients of one address, each with a token and a router of its own.

use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::response::IntoResponse;

use super::access::bearer;
use super::listen::answer;
use super::token::Token;

/// Returns a router that hands each request to the router of the client whose token it holds. A request
/// with none of them is refused by the first one's rule of access.
pub fn of_clients(clients: Vec<(Token, Router)>) -> Router {
    let clients = Arc::new(clients);
    Router::new().fallback(async move |request: Request| {
        let given = bearer(request.headers());
        // All are compared, so that the time tells nothing.
        let mut chosen = None;
        for (token, router) in clients.iter() {
            if given.is_some_and(|given| token.is(given)) {
                chosen = Some(router);
            }
        }
        match chosen.or(clients.first().map(|(_, router)| router)) {
            Some(router) => answer(router.clone(), request).await,
            None => axum::http::StatusCode::NOT_FOUND.into_response(),
        }
    })
}
