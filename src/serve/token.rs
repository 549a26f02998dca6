//! The token that clients send: one that the user chose, or one that is kept for this user.

use std::io;
use std::path::Path;

use subtle::ConstantTimeEq;
use uuid::Uuid;

use crate::dir::{Dir, OpenMode, OwnedDir, own_user};

/// The permissions of other users.
const OTHERS: u32 = 0o077;
const FILE: &str = "serve-token";
const LOCK: &str = "serve-token.lock";
const PRIVATE_DIR: u32 = 0o700;
const PRIVATE_FILE: u32 = 0o600;
/// Length of a kept token: 244 random bits in hexadecimal.
const LENGTH: usize = 64;

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
        let dir = OwnedDir::private(state)?.make(PRIVATE_DIR)?;
        let place = format!("it is in {}", dir.full(FILE).display());
        // Two servers that start at once keep the same token.
        let lock = dir.file(LOCK, OpenMode::Update, PRIVATE_FILE)?;
        lock.lock()?;
        let value = match read(&dir) {
            Some(value) => value,
            None => {
                let value = random();
                dir.replace(FILE, value.as_bytes(), PRIVATE_FILE, true)?;
                value
            }
        };
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

/// Returns a new secret of [`LENGTH`].
pub(super) fn random() -> String {
    format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple())
}

/// Returns the token that is kept, if only this user can have read and written the file.
fn read(dir: &Dir) -> Option<String> {
    let stat = dir.stat(FILE).ok()??;
    let is_private = stat.mode & OTHERS == 0 && stat.owner == own_user() && stat.links == 1;
    let value = dir.read_text(FILE, LENGTH as u64).ok().filter(|_| is_private)?;
    let is_token = value.len() == LENGTH && value.bytes().all(|b| b.is_ascii_hexdigit());
    is_token.then_some(value)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_kept_token_that_others_could_have_seen_is_replaced() {
        let temp = tempfile::tempdir().unwrap();
        let state = temp.path().join("state");
        let file = state.join("cortex/serve-token");
        let kept = || Token::kept(&state).unwrap().value;
        let first = kept();
        assert_eq!((first.len(), kept()), (LENGTH, first.clone()), "the next server has the same");
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
        assert_eq!((mode(&file), mode(&state.join("cortex"))), (0o600, 0o700));

        let mut seen = vec![first];
        let mut is_new = |what: &str| {
            let token = kept();
            assert!(token.len() == LENGTH && !seen.contains(&token), "{what}: {token}");
            assert_eq!(mode(&file), 0o600, "{what}");
            seen.push(token);
        };
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        is_new("others may read it");
        fs::write(&file, "").unwrap();
        is_new("empty");
        fs::write(&file, "x".repeat(LENGTH)).unwrap();
        is_new("not a token");
        fs::write(&file, "a".repeat(1 << 20)).unwrap();
        is_new("too long");
        let elsewhere = temp.path().join("elsewhere");
        fs::rename(&file, &elsewhere).unwrap();
        symlink(&elsewhere, &file).unwrap();
        is_new("a link");
        fs::hard_link(&file, temp.path().join("second")).unwrap();
        is_new("a second name");
    }
}
