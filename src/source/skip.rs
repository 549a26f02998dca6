//! Reasons not to index a file, from its name and its content.

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
    /// Returns the reason, followed by a colon and the detail if there is one.
    #[must_use]
    pub fn describe(self, detail: Option<&str>) -> String {
        detail.map_or_else(|| self.as_str().to_string(), |d| format!("{}: {d}", self.as_str()))
    }

    /// The text for people, which is also the key in JSON.
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

/// File names, in lower case, that are skipped without reading them.
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
            ".boto",
            ".dockercfg",
            ".s3cfg",
            ".terraformrc",
            ".vault-token",
            ".*_history",
            "credentials",
            "credentials.{json,yaml,yml,toml,ini,xml}",
            "secrets.{json,yaml,yml,toml,ini}",
            "client_secret*.json",
            "service-account*.json",
            "service_account*.json",
        ],
    ),
    (
        Skip::Minified,
        &[
            "*.min.js",
            "*.min.mjs",
            "*.min.css",
            "*.bundle.js",
            "*.chunk.js",
            "*.js.map",
            "*.css.map",
            "*.ts.map",
            "*-min.js",
        ],
    ),
];

/// Hidden folders and files that people mean when they speak of a repository: CI, containers,
/// builds, and the settings of tools. None of these usually holds secrets.
const SHOWN_FOLDERS: &[&str] = &[
    ".buildkite",
    ".cargo",
    ".changeset",
    ".circleci",
    ".devcontainer",
    ".github",
    ".gitlab",
    ".husky",
    ".storybook",
    ".woodpecker",
];
const SHOWN_FILES: &[&str] = &[
    ".appveyor.yml",
    ".babelrc",
    ".cirrus.yml",
    ".clang-format",
    ".clang-tidy",
    ".dockerignore",
    ".editorconfig",
    ".eslintrc",
    ".eslintrc.cjs",
    ".eslintrc.js",
    ".eslintrc.json",
    ".eslintrc.yml",
    ".flake8",
    ".gitlab-ci.yml",
    ".golangci.yaml",
    ".golangci.yml",
    ".goreleaser.yaml",
    ".goreleaser.yml",
    ".nvmrc",
    ".pre-commit-config.yaml",
    ".prettierrc",
    ".prettierrc.json",
    ".pylintrc",
    ".python-version",
    ".readthedocs.yaml",
    ".readthedocs.yml",
    ".rubocop.yml",
    ".rustfmt.toml",
    ".swiftlint.yml",
    ".tool-versions",
    ".travis.yml",
];

/// Names that are never looked at, in lower case: what version control and Cortex keep, and folders
/// of keys.
const NEVER: [&str; 9] =
    [".git", ".hg", ".jj", ".svn", ".cortex", ".ssh", ".gnupg", ".aws", ".kube"];

/// Whether a name is one of [`NEVER`], also as a file system writes it that ignores case or
/// invisible characters.
pub(super) fn is_never(name: &[u8]) -> bool {
    name.first() == Some(&b'.')
        && NEVER.iter().any(|never| {
            let ascii = name.iter().filter(|byte| byte.is_ascii());
            ascii.map(u8::to_ascii_lowercase).eq(never.bytes())
        })
}

/// Whether a name is hidden, and not one of those that people mean.
pub(super) fn is_hidden(name: &[u8], is_dir: bool) -> bool {
    let shown = if is_dir { SHOWN_FOLDERS } else { SHOWN_FILES };
    name.starts_with(b".") && !shown.iter().any(|known| known.as_bytes() == name)
}

/// Whether a file at this path is never indexed and never read: its name is in the table of names
/// that are skipped, or it is in a folder that is never looked at.
#[must_use]
pub fn is_never_read(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    by_name(name).is_some() || path.split('/').any(|part| is_never(part.as_bytes()))
}

/// Whether a file of this name may hold secrets.
#[must_use]
pub fn may_hold_secrets(path: &str) -> bool {
    by_name(path.rsplit('/').next().unwrap_or(path)) == Some(Skip::Secret)
}

/// Returns the reason in a file name, if any.
#[must_use]
pub(super) fn by_name(file_name: &str) -> Option<Skip> {
    static SETS: OnceLock<Vec<(Skip, GlobSet)>> = OnceLock::new();
    let sets = SETS.get_or_init(|| {
        let set = |names: &[&str]| {
            let mut b = GlobSetBuilder::new();
            for name in names {
                // This cannot fail: the patterns are the table above, and a
                // test compiles all of them.
                b.add(GlobBuilder::new(name).case_insensitive(true).build().expect("a valid glob"));
            }
            b.build().expect("valid globs")
        };
        BY_NAME.iter().map(|(skip, names)| (*skip, set(names))).collect()
    });
    sets.iter().find(|(_, set)| set.is_match(file_name)).map(|(skip, _)| *skip)
}

/// How many bytes of a file are searched for a NUL byte; git uses the same number.
const BINARY_PROBE: usize = 8000;
/// The line lengths above which a file counts as minified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineLimit {
    /// Program text: 400 bytes on average, 50 000 bytes for one line.
    Code,
    /// Documents, where a paragraph may be one line: 50 000 bytes for one line.
    Prose,
    /// No limit.
    None,
}

impl LineLimit {
    /// Returns the limits of the average and of the longest line, in bytes.
    fn bytes(self) -> (usize, usize) {
        match self {
            Self::Code => (400, 50_000),
            Self::Prose => (50_000, 50_000),
            Self::None => (usize::MAX, usize::MAX),
        }
    }
}

/// Returns the reason in a file's content, if any.
#[must_use]
pub fn check_content(bytes: &[u8], limit: LineLimit) -> Option<Skip> {
    let probe = &bytes[..bytes.len().min(BINARY_PROBE)];
    if memchr::memchr(0, probe).is_some() {
        return Some(Skip::Binary);
    }
    // A key file starts with the marker of a private key. A program that quotes one does not.
    let text = probe.trim_ascii_start();
    if text.starts_with(b"-----BEGIN")
        && memchr::memmem::find(text, b"PRIVATE KEY-----").is_some_and(|i| i < 40)
    {
        return Some(Skip::Secret);
    }
    let (mut longest, mut start, mut n_lines) = (0, 0, 1);
    for end in memchr::memchr_iter(b'\n', bytes).chain([bytes.len()]) {
        longest = longest.max(end - start);
        start = end + 1;
        n_lines += 1;
    }
    let (average_limit, longest_limit) = limit.bytes();
    // A small file with one long line is not a bundle.
    let minified =
        longest > longest_limit || (bytes.len() > 800 && bytes.len() / n_lines > average_limit);
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
            (".psql_history", Some(Skip::Secret)),
            ("history.rs", None),
        ] {
            assert_eq!(by_name(name), want, "{name}");
        }
    }

    #[test]
    fn content_tells_binaries_keys_and_minified_text() {
        assert_eq!(check_content(b"a\0b", LineLimit::Code), Some(Skip::Binary));
        assert_eq!(
            check_content(b"-----BEGIN OPENSSH PRIVATE KEY-----\nx", LineLimit::Code),
            Some(Skip::Secret)
        );
        assert_eq!(
            check_content(
                b"const MARK: &str = \"-----BEGIN RSA PRIVATE KEY-----\";",
                LineLimit::Code
            ),
            None
        );
        assert_eq!(
            check_content("x".repeat(1 << 20).as_bytes(), LineLimit::Prose),
            Some(Skip::Minified)
        );
        assert_eq!(
            check_content("var a=1;".repeat(500).as_bytes(), LineLimit::Code),
            Some(Skip::Minified)
        );
        assert_eq!(
            check_content("A long paragraph. ".repeat(500).as_bytes(), LineLimit::Prose),
            None
        );
        assert_eq!(check_content(b"", LineLimit::Code), None);
    }
}
