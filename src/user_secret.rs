//! Random secrets that are kept for this user, in files of the state directory that only this user can
//! read. (Secrets in texts are another matter: `secrets`.)

use std::io;
use std::path::{Path, PathBuf};

use uuid::Uuid;

use crate::dir::{Dir, OpenMode, OwnedDir, PRIVATE_DIR, PRIVATE_FILE, own_user};

/// The permissions of other users.
const OTHERS: u32 = 0o077;
/// Length of a secret: 244 random bits in hexadecimal.
pub const LENGTH: usize = 64;

/// A secret, and the file that holds it.
#[derive(Clone)]
pub struct UserSecret {
    pub value: String,
    pub path: PathBuf,
}

impl UserSecret {
    /// Reads the secret `name` below the user's state directory `state`, or makes one. A file that
    /// other users could have read or written is replaced.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn of_user(state: &Path, name: &str) -> io::Result<Self> {
        let place = OwnedDir::private(state)?;
        let path = place.path().join(name);
        // An existing secret needs no permission to write.
        if let Some(value) = place.open().ok().and_then(|dir| read(&dir, name)) {
            return Ok(Self { value, path });
        }
        let dir = place.make(PRIVATE_DIR)?;
        // Two processes that start at once keep the same secret.
        let lock = dir.file(format!("{name}.lock"), OpenMode::Update, PRIVATE_FILE)?;
        lock.lock()?;
        let value = match read(&dir, name) {
            Some(value) => value,
            None => {
                let value = random();
                dir.replace(name, value.as_bytes(), PRIVATE_FILE, true)?;
                value
            }
        };
        Ok(Self { value, path })
    }
}

/// Returns a new secret of [`LENGTH`].
#[must_use]
pub fn random() -> String {
    format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple())
}

/// Returns the secret that is kept, if only this user can have read and written the file.
fn read(dir: &Dir, name: &str) -> Option<String> {
    let stat = dir.stat(name).ok()??;
    let is_private = stat.mode & OTHERS == 0 && stat.owner == own_user() && stat.links == 1;
    let value = dir.read_text(name, LENGTH as u64).ok().filter(|_| is_private)?;
    let is_secret = value.len() == LENGTH && value.bytes().all(|b| b.is_ascii_hexdigit());
    is_secret.then_some(value)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_secret_that_others_could_have_seen_is_replaced() {
        let temp = tempfile::tempdir().unwrap();
        let state = temp.path().join("state");
        let file = state.join("cortex/serve-token");
        let kept = || UserSecret::of_user(&state, "serve-token").unwrap().value;
        let first = kept();
        assert_eq!((first.len(), kept()), (LENGTH, first.clone()), "the next server has the same");
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
        assert_eq!((mode(&file), mode(&state.join("cortex"))), (0o600, 0o700));

        let mut seen = vec![first];
        let mut is_new = |what: &str| {
            let secret = kept();
            assert!(secret.len() == LENGTH && !seen.contains(&secret), "{what}: {secret}");
            assert_eq!(mode(&file), 0o600, "{what}");
            seen.push(secret);
        };
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        is_new("others may read it");
        fs::write(&file, "").unwrap();
        is_new("empty");
        fs::write(&file, "x".repeat(LENGTH)).unwrap();
        is_new("not a secret");
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
