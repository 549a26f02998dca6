//! The parse tables of a packed program.
//!
//! The tables of all grammars take two thirds of a release program, 66 MB, and 3 MB when they are
//! compressed. In a program for Linux that was built with `BUILD_PACKED=1`, `release/tables.ld`
//! puts them into a section of their own, and `release/pack.py` replaces that section in the file by
//! the compressed tables. The system fills the rest of it with zeros, and a table is unpacked into
//! its place when its grammar is used for the first time, in at most 15 ms.

use std::ptr;
use std::slice;

use parking_lot::Mutex;
use tree_sitter_language::LanguageFn;

/// The beginning of a packed section; another one holds the tables themselves.
const MAGIC: &[u8; 4] = b"CTX1";
/// Bytes of a row of the directory: the place of a table, its size, the place of its compressed form
/// and the size of that. Places count from the beginning of the section; each is a `u32`.
const ROW: usize = 16;

#[allow(unsafe_code, reason = "the linker script defines it")]
unsafe extern "C" {
    /// The beginning of the section (`release/tables.ld`).
    static mut cortex_packed: u8;
}

/// The first fields of `TSLanguage` (`tree_sitter/parser.h`, versions 14 and 15).
#[repr(C)]
struct Head {
    numbers: [u32; 9],
    max_alias_sequence_length: u16,
    parse_table: *mut u8,
    small_parse_table: *mut u8,
}

/// The addresses of the tables that are in place.
static UNPACKED: Mutex<Vec<usize>> = Mutex::new(Vec::new());

/// Puts the tables of a grammar into their place.
#[allow(unsafe_code, reason = "the tables are data of C, at addresses that the linker chose")]
pub(super) fn unpack(grammar: LanguageFn) {
    // SAFETY: the function of a grammar returns the address of its constant TSLanguage.
    let head: &Head = unsafe { &*(grammar.into_raw())().cast::<Head>() };
    let section = &raw mut cortex_packed;
    // Held while a table is written: a second thread that needs the grammar waits here.
    let mut unpacked = UNPACKED.lock();
    for table in [head.parse_table, head.small_parse_table] {
        if table.is_null() || unpacked.contains(&table.addr()) {
            continue;
        }
        unpacked.push(table.addr());
        // SAFETY: the linker script reserves more than this many bytes.
        let start = unsafe { ptr::read_volatile(section.cast::<[u8; 8]>()) };
        if start[..4] != *MAGIC {
            return;
        }
        let number = |row: &[u8], i: usize| {
            u32::from_le_bytes([row[4 * i], row[4 * i + 1], row[4 * i + 2], row[4 * i + 3]])
                as usize
        };
        let n_rows = number(&start, 1);
        // SAFETY: `pack.py` wrote this many rows after the beginning.
        let rows = unsafe { slice::from_raw_parts(section.add(start.len()), n_rows * ROW) };
        let place = table.addr() - section.addr();
        let Some(row) = rows.chunks_exact(ROW).find(|row| number(row, 0) == place) else {
            continue;
        };
        // SAFETY: the compressed form lies before the tables in the section; nobody reads this
        // table yet, because every use of its grammar comes through here first.
        let (packed, to) = unsafe {
            (
                slice::from_raw_parts(section.add(number(row, 2)), number(row, 3)),
                slice::from_raw_parts_mut(table, number(row, 1)),
            )
        };
        let n = zstd::bulk::decompress_to_buffer(packed, to);
        assert!(
            n.is_ok_and(|n| n == number(row, 1)),
            "the program file is damaged: install it again"
        );
    }
}
