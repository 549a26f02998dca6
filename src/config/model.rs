//! The model behind a server: several settings that can be judged only as a whole.

use super::table::Config;
use super::values::{RemoteModel, address};

/// Most numbers of a vector; no model returns more.
const MAX_DIMENSIONS: usize = 16_384;

impl Config {
    /// Returns the remote model, or `None` without a server. An error says which setting is wrong
    /// and why.
    pub(super) fn model(&self) -> Result<Option<RemoteModel>, String> {
        if self.embed_url.is_empty() {
            return Ok(None);
        }
        // Clients of OpenAI are configured with the URL that ends in /v1, so users may write it
        // that way.
        let url = self.embed_url.trim_end_matches('/');
        let url = url.trim_end_matches("/v1").trim_end_matches('/').to_string();
        let unusable = |why| {
            format!("embed.url is `{url}`, but {why}; set it to a URL like http://localhost:11434")
        };
        let uri: http::Uri =
            url.parse().map_err(|e| unusable(format!("that is not a valid URL: {e}")))?;
        let (Some(scheme @ ("http" | "https")), Some(authority)) =
            (uri.scheme_str(), uri.authority())
        else {
            return Err(unusable("it must begin with http:// or https://".into()));
        };
        if authority.as_str().contains('@') || uri.query().is_some() {
            return Err("embed.url must not contain a password or a query: set embed.token to the token that the server requires".into());
        }
        let host = authority.host();
        let is_local = address(host.trim_matches(['[', ']'])).is_ok_and(|ip| ip.is_loopback());
        let (model, dimensions) = (self.embed_model.clone(), self.embed_dimensions);
        if model.is_empty() {
            return Err("embed.url is set, but embed.model is not: set it to the name of a model on that server".into());
        }
        if !(1..=MAX_DIMENSIONS).contains(&dimensions) {
            return Err(format!(
                "embed.dimensions is {dimensions}, but must be from 1 to {MAX_DIMENSIONS}: set it to the number of dimensions that the \
documentation of {model} states (768 for nomic-embed-text)"
            ));
        }
        Ok(Some(RemoteModel {
            authority: authority.to_string(),
            is_local,
            is_plain: scheme == "http",
            url,
            model,
            dimensions,
            token: self.embed_token.clone(),
            query_prefix: self.embed_query_prefix.clone(),
            passage_prefix: self.embed_passage_prefix.clone(),
            timeout: self.embed_timeout,
        }))
    }
}
