//! The versions of data that is kept on disk: what each follows from, and how it is computed. The
//! build script uses this module, and so do the tests.

/// The folders of languages.
pub const LANGUAGES: &str = "src/languages";

/// Data on disk that an update of the program makes anew if its version differs.
pub struct Kept {
    /// The variable of the build that holds the version.
    pub variable: &'static str,
    /// Files and folders whose content decides the version.
    pub sources: &'static [&'static str],
    /// Packages whose entries in the lock file decide the version, as lists of names; a name that
    /// ends with `*` is the beginning of a name. All other packages change without a new version,
    /// so that the fix of an HTTP library parses no project again.
    pub packages: &'static [&'static [&'static str]],
}

/// Packages that decide what a text is parsed to.
const PARSERS: &[&str] = &["tree-sitter", "tree-sitter-*", "ts-parser-*", "pulldown-cmark"];
/// Packages that decide which secrets are found.
const PATTERNS: &[&str] = &["aho-corasick", "regex", "regex-*"];
/// Packages that read what compilers say about names.
const COMPILERS: &[&str] = &["protobuf", "scip"];
/// Packages that decide the words of an index and the bytes of what is saved.
const SAVED: &[&str] =
    &["bitcode", "frostem", "instant-distance", "postcard", "tantivy", "tantivy-*"];

/// Everything on disk that has such a version.
pub const KEPT: [Kept; 3] = [
    Kept {
        variable: "VERSION_OF_CHUNKS",
        sources: &[
            LANGUAGES, "src/syntax", "src/grams.rs", "src/index/chunker", "src/index/history.rs",
            "src/index/parsed.rs", "src/source/decoded.rs", "src/source/skip.rs", "src/chunk",
            "src/secrets.rs", "src/secrets",
        ],
        packages: &[PARSERS, PATTERNS],
    },
    Kept {
        variable: "VERSION_OF_GRAPH_ROWS",
        sources: &[
            LANGUAGES, "src/secrets.rs", "src/secrets", "src/source/decoded.rs", "src/syntax",
            "src/graph/mod.rs", "src/graph/names.rs", "src/graph/rows.rs", "src/graph/scip.rs",
            "src/graph/sql.rs", "src/graph/sql",
        ],
        packages: &[PARSERS, PATTERNS, COMPILERS],
    },
    Kept {
        variable: "VERSION_OF_SAVED",
        sources: &[
            LANGUAGES, "src/chunk", "src/embed/passage.rs", "src/search", "src/secrets.rs",
            "src/secrets", "src/store", "src/live/manager.rs", "src/live/vectors.rs",
            "src/memory/feed.rs", "src/memory/mod.rs",
        ],
        packages: &[PARSERS, PATTERNS, SAVED],
    },
];

impl Kept {
    /// Whether the package with this name decides the version.
    pub fn depends_on(&self, package: &str) -> bool {
        let is_named = |name: &str| match name.strip_suffix('*') {
            Some(beginning) => package.starts_with(beginning),
            None => package == name,
        };
        self.packages.iter().copied().flatten().any(|name| is_named(name))
    }

    /// Returns the packages of a lock file that decide the version: name, version, source and
    /// checksum of each, sorted. What a package depends on does not belong to it.
    pub fn locked(&self, lock: &str) -> Vec<String> {
        let value = |entry: &str, key: &str| {
            let mut lines = entry.lines().map(str::trim_end);
            let quoted = lines.find_map(|line| line.strip_prefix(key)?.strip_prefix(" = "))?;
            Some(quoted.trim_matches('"').to_string())
        };
        let mut locked = Vec::new();
        for entry in lock.split("[[package]]").skip(1) {
            if value(entry, "name").is_some_and(|name| self.depends_on(&name)) {
                let values = ["name", "version", "source", "checksum"]
                    .map(|key| value(entry, key).unwrap_or_default());
                locked.push(values.join(" "));
            }
        }
        locked.sort();
        locked
    }
}

/// A hash of parts. It is FNV-1a of 64 bits, since a hash of the standard library may change with
/// the release of Rust, and a new compiler makes no other data.
pub struct Hash(u64);

impl Default for Hash {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hash {
    /// Adds a part. Its length is hashed, too, so that the same bytes in other parts differ.
    pub fn add(&mut self, part: &[u8]) {
        for byte in (part.len() as u64).to_le_bytes().iter().chain(part) {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        }
    }

    /// Returns the version: `SQLite` stores 31 bits of one, and 0 means that there is none.
    pub fn version(&self) -> u64 {
        ((self.0 ^ (self.0 >> 32)) & 0x7fff_ffff) | 1
    }
}
