//! Seals: the proof that a file below `.cortex` was written for this directory by a process of this
//! user.
//!
//! A repository may bring a `.cortex` of its own. Whatever decides an answer without a look at the
//! sources (the manifest of our chunk files, the table of source files, saved indexes, the index of
//! commits) is used only with a seal; the code graph and the vectors, which change in place, carry a mark
//! of the same key. A seal is an HMAC-SHA-256 over the content, the
//! name and the place of the file. Its key is in the user's state directory, so no repository can make
//! one, and a copy of `.cortex` at another place has none. What lacks a seal is derived again.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::Layout;
use super::layout::GRAPH;
use crate::user_secret::{self, UserSecret};

/// The file of the key, in the user's state directory.
const KEY: &str = "index-key";
/// In a sealed file, the seal is its first key: these bytes, 64 hexadecimal digits and `",`.
const BEFORE: &[u8] = b"{\"seal\":\"";
const AFTER: &[u8] = b"\",";
/// Bytes of a seal, and its digits.
const SEAL: usize = 32;
const DIGITS: usize = 2 * SEAL;
const LENGTH: usize = BEFORE.len() + DIGITS + AFTER.len();

static STATE: OnceLock<PathBuf> = OnceLock::new();
static KEPT: OnceLock<(String, Option<String>)> = OnceLock::new();
/// The key of a process without a state directory.
static OWN: OnceLock<String> = OnceLock::new();

/// Lets this process use the key in the user's state directory. The first call counts. Without one, the
/// process has a key of its own, so it uses no index that another process wrote.
pub fn use_key_of(state: Option<PathBuf>) {
    if let Some(state) = state {
        let _ = STATE.set(state);
    }
}

fn secret() -> &'static str {
    match STATE.get() {
        Some(state) => &kept(state).0,
        None => OWN.get_or_init(user_secret::random),
    }
}

/// Returns the key in a state directory and, if it cannot be kept there, one for this process and why.
fn kept(state: &Path) -> &'static (String, Option<String>) {
    KEPT.get_or_init(|| match UserSecret::of_user(state, KEY) {
        Ok(kept) => (kept.value, None),
        Err(e) => (user_secret::random(), Some(format!("{}: {e}", state.display()))),
    })
}

/// Returns why the key cannot be kept, so that every process derives the index anew; `None` if it can.
#[must_use]
pub fn key_problem() -> Option<String> {
    kept(STATE.get()?).1.clone()
}

/// Computes the seal of a file: `name` at `place`, with this content.
fn mac(place: &Path, name: &str, content: &[u8]) -> Hmac<Sha256> {
    // A key of any length is valid.
    let mut mac = Hmac::<Sha256>::new_from_slice(secret().as_bytes()).expect("a key");
    mac.update(place.as_os_str().as_encoded_bytes());
    mac.update(&[0]);
    mac.update(name.as_bytes());
    mac.update(&[0]);
    mac.update(content);
    mac
}

fn digits(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Layout {
    /// Returns the place of the index as seals name it: without links.
    fn sealed_place(&self) -> PathBuf {
        self.place.canonical_path()
    }

    /// Returns the mark of the database of the code graph.
    #[must_use]
    pub fn graph_mark(&self) -> i32 {
        self.mark(GRAPH)
    }

    /// Returns a mark for a file that changes in place, and so cannot have a seal over its content.
    pub(super) fn mark(&self, name: &str) -> i32 {
        let bytes = mac(&self.sealed_place(), name, &[]).finalize().into_bytes();
        i32::from_le_bytes(*bytes.first_chunk().unwrap_or(&[0; 4]))
    }

    /// Returns a JSON object with its seal.
    pub(super) fn sealed(&self, name: &str, object: &[u8]) -> Vec<u8> {
        let seal = mac(&self.sealed_place(), name, object).finalize().into_bytes();
        let rest = object.strip_prefix(b"{").unwrap_or(object);
        [BEFORE, digits(&seal).as_bytes(), AFTER, rest].concat()
    }

    /// Returns a sealed JSON object without its seal; `None` if the seal is not that of this user, this
    /// name and this place.
    pub(super) fn unsealed<'b>(&self, name: &str, bytes: &'b mut [u8]) -> Option<&'b [u8]> {
        let (seal, object) = without_seal(bytes)?;
        mac(&self.sealed_place(), name, object).verify_slice(&seal).ok()?;
        Some(object)
    }

    /// Replaces the content of a file by a JSON object with its seal.
    pub(super) fn replace_sealed(&self, name: &str, object: &[u8]) -> io::Result<()> {
        self.replace(name, &self.sealed(name, object))
    }

    /// Replaces the content of a file by these bytes, after their seal.
    pub(super) fn replace_sealed_bytes(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let seal = mac(&self.sealed_place(), name, bytes).finalize().into_bytes();
        self.replace(name, &[&seal, bytes].concat())
    }

    /// Reads the bytes of a file after their seal; `None` if there is no file, or its seal is not that
    /// of this user, this name and this place.
    pub(super) fn read_sealed_bytes(&self, name: &str, max_bytes: u64) -> Option<Vec<u8>> {
        let mut bytes = self.read(name, max_bytes).ok()?;
        let (seal, content) = bytes.split_first_chunk::<SEAL>()?;
        mac(&self.sealed_place(), name, content).verify_slice(seal).ok()?;
        bytes.drain(..SEAL);
        Some(bytes)
    }
}

/// Takes a sealed JSON object apart: the seal, and the object as it was. The bytes then begin anew one
/// byte before the rest of the object.
pub(super) fn without_seal(bytes: &mut [u8]) -> Option<([u8; SEAL], &[u8])> {
    if bytes.len() <= LENGTH
        || !bytes.starts_with(BEFORE)
        || bytes[LENGTH - AFTER.len()..LENGTH] != *AFTER
    {
        return None;
    }
    let mut seal = [0; SEAL];
    for (byte, two) in seal.iter_mut().zip(bytes[BEFORE.len()..].chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(two).ok()?, 16).ok()?;
    }
    bytes[LENGTH - 1] = b'{';
    Some((seal, &bytes[LENGTH - 1..]))
}
