//! The form of a value in the store: compressed, with a checksum.

use std::cell::RefCell;

use xxhash_rust::xxh3::xxh3_64;

/// A checksum (u64) of key and rest, and the number of unpacked bytes (u32).
const HEADER: usize = 12;
/// Largest value that is kept, in bytes.
const MAX_VALUE: usize = 16 << 20;
/// The fastest level of zstd, which saves nearly as much as its default.
const LEVEL: i32 = 1;

/// The key of a value: the SHA-256 hash, in hexadecimal digits, of everything that decides it.
pub type Key = String;

/// A value as it is stored.
#[derive(Debug)]
pub struct Packed(pub(super) Vec<u8>);

/// Makes of a value what is stored. Returns `None` if it is too large.
#[must_use]
pub fn pack(key: &Key, value: &[u8]) -> Option<Packed> {
    thread_local! {
        // A compressor has large tables, which are made once for each thread.
        static COMPRESSOR: RefCell<Option<zstd::bulk::Compressor<'static>>> = RefCell::new(zstd::bulk::Compressor::new(LEVEL).ok());
    }
    let n_bytes = u32::try_from(value.len()).ok().filter(|_| value.len() <= MAX_VALUE)?;
    let packed =
        COMPRESSOR.with_borrow_mut(|compressor| compressor.as_mut()?.compress(value).ok())?;
    let mut stored = vec![0; 8];
    stored.extend(n_bytes.to_le_bytes());
    stored.extend(packed);
    let check = checksum(key, &stored[8..]).to_le_bytes();
    stored[..8].copy_from_slice(&check);
    Some(Packed(stored))
}

/// Returns the value of what is stored; `None` if a byte of it is not what was written.
pub(super) fn unpack(key: &Key, stored: &[u8]) -> Option<Vec<u8>> {
    let (header, packed) = stored.split_at_checked(HEADER)?;
    let (check, n_bytes) = header.split_at(8);
    if check != checksum(key, stored.get(8..)?).to_le_bytes() {
        return None;
    }
    let n_bytes = usize::try_from(u32::from_le_bytes(n_bytes.try_into().ok()?)).ok()?;
    if n_bytes > MAX_VALUE {
        return None;
    }
    zstd::bulk::decompress(packed, n_bytes).ok()
}

fn checksum(key: &Key, rest: &[u8]) -> u64 {
    xxh3_64(key.as_bytes()) ^ xxh3_64(rest)
}
