//! Hashes that identify the content of a file.

use sha2::{Digest, Sha256};

/// Returns the SHA-256 hash in hexadecimal digits.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut s, b| {
        // Writing to a string cannot fail.
        let _ = write!(s, "{b:02x}");
        s
    })
}
