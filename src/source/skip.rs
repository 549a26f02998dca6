//! Reasons not to index a file: by its name, and by its content.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use std::sync::OnceLock;

/// Why a file of the tree is not indexed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Skip {
    Binary,
    TooLarge,
    Minified,
    LockFile,
    Secret,
    Excluded,
    Unreadable,
    Name,
}

impl Skip {
    /// The reason, and after a colon what more there is to say.
    #[must_use]
    pub fn describe(self, detail: Option<&str>) -> String {
        detail.map_or_else(|| self.as_str().to_string(), |d| format!("{}: {d}", self.as_str()))
    }

    /// For people; also the key in JSON.
    fn as_str(self) -> &'static str {
        match self {
            Self::Binary => "binary",
            Self::TooLarge => "too large",
            Self::Minified => "minified or generated",
            Self::LockFile => "lock file",
            Self::Secret => "may hold secrets",
            Self::Excluded => "excluded by configuration",
            Self::Unreadable => "unreadable",
            Self::Name => "name is not UTF-8",
        }
    }
}

/// File names, lower case, that are skipped unread.
const BY_NAME: &[(Skip, &[&str])] = &[
    (
        Skip::LockFile,
        &[
            "cargo.lock",
            "package-lock.json",
            "npm-shrinkwrap.json",
            "yarn.lock",
            "pnpm-lock.yaml",
            "bun.lock",
            "bun.lockb",
            "composer.lock",
            "gemfile.lock",
            "poetry.lock",
            "pdm.lock",
            "uv.lock",
            "pipfile.lock",
            "go.sum",
            "go.work.sum",
            "mix.lock",
            "pubspec.lock",
            "podfile.lock",
            "packages.lock.json",
            "flake.lock",
            "deno.lock",
            "gradle.lockfile",
            "package.resolved",
            "cabal.project.freeze",
            "stack.yaml.lock",
        ],
    ),
    (
        Skip::Secret,
        &[
            ".env",
            ".env.*",
            "*.env",
            "*.pem",
            "*.key",
            "*.p12",
            "*.pfx",
            "*.p8",
            "*.jks",
            "*.keystore",
            "*.kdbx",
            "*.ppk",
            "id_rsa*",
            "id_dsa*",
            "id_ecdsa*",
            "id_ed25519*",
            ".netrc",
            "_netrc",
            ".npmrc",
            ".pypirc",
            ".htpasswd",
            ".pgpass",
            ".git-credentials",
            "credentials",
            "credentials.{json,yaml,yml,toml,ini,xml}",
            "secrets.{json,yaml,yml,toml,ini}",
            "client_secret*.json",
            "service-account*.json",
            "service_account*.json",
        ],
    ),
    (Skip::Minified, &["*.min.js", "*.min.mjs", "*.min.css", "*.bundle.js", "*.chunk.js", "*.js.map", "*.css.map", "*.ts.map", "*-min.js"]),
];

/// Whether a path, relative to the root, may be indexed as far as its name tells: not when it, or a folder above it, is
/// hidden, or when it looks like a secret.
#[must_use]
pub fn is_for_indexing(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    !path.split('/').any(|part| part.starts_with('.')) && by_name(name).is_none()
}

/// Whether a file of this name may hold secrets.
#[must_use]
pub fn may_hold_secrets(path: &str) -> bool {
    by_name(path.rsplit('/').next().unwrap_or(path)) == Some(Skip::Secret)
}

/// A reason in the file's name.
#[must_use]
pub(super) fn by_name(file_name: &str) -> Option<Skip> {
    static SETS: OnceLock<Vec<(Skip, GlobSet)>> = OnceLock::new();
    let sets = SETS.get_or_init(|| {
        let set = |names: &[&str]| {
            let mut b = GlobSetBuilder::new();
            for name in names {
                // Cannot fail: the patterns are the table above, and a test goes through all of it.
                b.add(GlobBuilder::new(name).case_insensitive(true).build().expect("a valid glob"));
            }
            b.build().expect("valid globs")
        };
        BY_NAME.iter().map(|(skip, names)| (*skip, set(names))).collect()
    });
    sets.iter().find(|(_, set)| set.is_match(file_name)).map(|(skip, _)| *skip)
}

/// How far into a file a NUL byte is looked for, as git does.
const BINARY_PROBE: usize = 8000;
/// How long the lines of a file may be before it counts as minified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineLimit {
    /// Program text: 400 bytes on average, 50 000 for one.
    Code,
    /// A document, where a paragraph may be one line: 50 000 bytes.
    Prose,
    /// Any.
    None,
}

impl LineLimit {
    /// Bytes of an average line, of the longest one.
    fn bytes(self) -> (usize, usize) {
        match self {
            Self::Code => (400, 50_000),
            Self::Prose => (50_000, 50_000),
            Self::None => (usize::MAX, usize::MAX),
        }
    }
}

/// A reason in the file's content.
#[must_use]
pub fn check_content(bytes: &[u8], limit: LineLimit) -> Option<Skip> {
    let probe = &bytes[..bytes.len().min(BINARY_PROBE)];
    if memchr::memchr(0, probe).is_some() {
        return Some(Skip::Binary);
    }
    // A program may quote the marker of a private key; a key file starts with it.
    let text = probe.trim_ascii_start();
    if text.starts_with(b"-----BEGIN") && memchr::memmem::find(text, b"PRIVATE KEY-----").is_some_and(|i| i < 40) {
        return Some(Skip::Secret);
    }
    let (mut longest, mut start, mut n_lines) = (0, 0, 1);
    for end in memchr::memchr_iter(b'\n', bytes).chain([bytes.len()]) {
        longest = longest.max(end - start);
        start = end + 1;
        n_lines += 1;
    }
    let (average_limit, longest_limit) = limit.bytes();
    // One long line in a small file is no bundle.
    let minified = longest > longest_limit || (bytes.len() > 800 && bytes.len() / n_lines > average_limit);
    minified.then_some(Skip::Minified)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_locks_secrets_and_bundles() {
        for (name, want) in [
            ("Cargo.lock", Some(Skip::LockFile)),
            (".env.production", Some(Skip::Secret)),
            ("id_ed25519", Some(Skip::Secret)),
            ("server.PEM", Some(Skip::Secret)),
            ("credentials.json", Some(Skip::Secret)),
            ("jquery.min.js", Some(Skip::Minified)),
            ("environment.rs", None),
            ("credentials.rs", None),
            ("key.go", None),
        ] {
            assert_eq!(by_name(name), want, "{name}");
        }
    }

    #[test]
    fn content_tells_binaries_keys_and_minified_text() {
        assert_eq!(check_content(b"a\0b", LineLimit::Code), Some(Skip::Binary));
        assert_eq!(check_content(b"-----BEGIN OPENSSH PRIVATE KEY-----\nx", LineLimit::Code), Some(Skip::Secret));
        assert_eq!(check_content(b"const MARK: &str = \"-----BEGIN RSA PRIVATE KEY-----\";", LineLimit::Code), None);
        assert_eq!(check_content("x".repeat(1 << 20).as_bytes(), LineLimit::Prose), Some(Skip::Minified));
        assert_eq!(check_content("var a=1;".repeat(500).as_bytes(), LineLimit::Code), Some(Skip::Minified));
        assert_eq!(check_content("A long paragraph. ".repeat(500).as_bytes(), LineLimit::Prose), None);
        assert_eq!(check_content(b"", LineLimit::Code), None);
    }
}
