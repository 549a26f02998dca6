//! The token that clients send: one that the user chose, or one that is kept for this user.

use std::io;
use std::path::Path;

use subtle::ConstantTimeEq;

use crate::user_secret::UserSecret;

const FILE: &str = "serve-token";

/// A token, and where a client finds it.
#[derive(Clone)]
pub struct Token {
    value: String,
    place: String,
}

impl Token {
    /// Takes a token that the user chose; `None` if it is empty.
    #[must_use]
    pub fn chosen(value: String) -> Option<Self> {
        let place = "it is the value of CORTEX_SERVE_TOKEN, --token, or serve.token in ~/.config/cortex/config.toml with which the server was started";
        Some(Self { value, place: place.into() }).filter(|token| !token.value.is_empty())
    }

    /// Takes the token of one of several clients; `None` if it is empty.
    #[must_use]
    pub fn of_client(value: String) -> Option<Self> {
        let place = "each client has one, which whoever runs this server gives it";
        Some(Self { value, place: place.into() }).filter(|token| !token.value.is_empty())
    }

    /// Reads the token in the user's state directory, or makes one. All projects share it, and it
    /// outlives the server, so that a client's configuration needs it once. A file that other users
    /// could have read or written is replaced.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn kept(state: &Path) -> io::Result<Self> {
        let UserSecret { value, path } = UserSecret::of_user(state, FILE)?;
        let place = format!("it is in {}", path.display());
        Ok(Self { value, place })
    }

    /// Tells where the token is.
    #[must_use]
    pub fn place(&self) -> &str {
        &self.place
    }

    /// Whether `given` is the token. Comparing takes the same time for wrong tokens, so that the time
    /// reveals nothing.
    pub(super) fn is(&self, given: &str) -> bool {
        given.as_bytes().ct_eq(self.value.as_bytes()).into()
    }
}
