//! Reasons not to index a file, from its name and its content.

use std::borrow::Cow;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use std::sync::OnceLock;

use super::decoded::utf8;

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
const BY_NAME: [(Skip, &str); 3] = [
    (
        Skip::LockFile,
        "cargo.lock package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock \
        bun.lockb composer.lock gemfile.lock poetry.lock pdm.lock uv.lock pipfile.lock go.sum \
        go.work.sum mix.lock pubspec.lock podfile.lock packages.lock.json flake.lock \
        deno.lock gradle.lockfile package.resolved cabal.project.freeze stack.yaml.lock",
    ),
    (
        Skip::Secret,
        ".env .env.* *.env *.pem *.key *.p12 *.pfx *.p8 *.jks *.keystore *.kdbx *.ppk id_rsa* \
        id_dsa* id_ecdsa* id_ed25519* .netrc _netrc .npmrc .pypirc .htpasswd .pgpass \
        .git-credentials .boto .dockercfg .s3cfg .terraformrc .vault-token .*_history \
        credentials credentials.{json,yaml,yml,toml,ini,xml} secrets.{json,yaml,yml,toml,ini} \
        client_secret*.json service-account*.json service_account*.json",
    ),
    (
        Skip::Minified,
        "*.min.js *.min.mjs *.min.css *.bundle.js *.chunk.js *.js.map *.css.map *.ts.map \
        *-min.js",
    ),
];

/// Hidden folders and files that people mean when they speak of a repository: CI, containers,
/// builds, and the settings of tools. None of these usually holds secrets.
const SHOWN_FOLDERS: &str = ".buildkite .cargo .changeset .circleci .devcontainer .github \
    .gitlab .husky .storybook .woodpecker";
const SHOWN_FILES: &str = ".appveyor.yml .babelrc .cirrus.yml .clang-format .clang-tidy \
    .dockerignore .editorconfig .eslintrc .eslintrc.cjs .eslintrc.js .eslintrc.json \
    .eslintrc.yml .flake8 .gitlab-ci.yml .golangci.yaml .golangci.yml .goreleaser.yaml \
    .goreleaser.yml .nvmrc .pre-commit-config.yaml .prettierrc .prettierrc.json .pylintrc \
    .python-version .readthedocs.yaml .readthedocs.yml .rubocop.yml .rustfmt.toml \
    .swiftlint.yml .tool-versions .travis.yml";

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
    name.starts_with(b".") && !shown.split(' ').any(|known| known.as_bytes() == name)
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
        let set = |names: &str| {
            let mut b = GlobSetBuilder::new();
            for name in names.split(' ') {
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
/// A file of at most this many bytes is no bundle, whatever its lines are, and none of them is cut.
const SMALL: usize = 8 << 10;
/// The longest line that somebody writes by hand, in bytes.
const ORDINARY_LINE: usize = 400;
/// Fewest ordinary lines, and fewest bytes in them, of a file with long lines that is not a bundle.
const LEAST_ORDINARY: (usize, usize) = (10, 500);

/// A line of a chunk with fewer bytes is whole. The last character of a line that is cut takes up to
/// three bytes more.
pub const SHORTEST_CUT: usize = 1997;

/// How long the lines of a file may be, by its language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineLimit {
    /// Program text: 400 bytes on average, 50 000 bytes for one line, 2 000 bytes of it in a chunk.
    Code,
    /// Documents, where a paragraph may be one line: 50 000 bytes for one line and in a chunk.
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

    /// Returns the most bytes of a line that chunks hold.
    fn in_chunk(self) -> usize {
        match self {
            Self::Code => SHORTEST_CUT + 3,
            Self::Prose => 50_000,
            Self::None => usize::MAX,
        }
    }
}

/// Returns the reason in a file's content, if any.
#[must_use]
pub fn check_content(bytes: &[u8], limit: LineLimit) -> Option<Skip> {
    let text = utf8(bytes);
    let bytes = &*text;
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
    is_bundle(bytes, limit).then_some(Skip::Minified)
}

/// Whether a text is almost nothing but long lines.
fn is_bundle(text: &[u8], limit: LineLimit) -> bool {
    if text.len() <= SMALL {
        return false;
    }
    let (mut longest, mut start, mut n_lines) = (0, 0, 1);
    let (mut n_ordinary, mut n_ordinary_bytes) = (0, 0);
    for end in memchr::memchr_iter(b'\n', text).chain([text.len()]) {
        let line = &text[start..end];
        longest = longest.max(line.len());
        if line.len() <= ORDINARY_LINE && !line.trim_ascii().is_empty() {
            n_ordinary += 1;
            n_ordinary_bytes += line.len();
        }
        start = end + 1;
        n_lines += 1;
    }
    let (average_limit, longest_limit) = limit.bytes();
    let has_long_lines = longest > longest_limit || text.len() / n_lines > average_limit;
    let (fewest_lines, fewest_bytes) = LEAST_ORDINARY;
    has_long_lines && (n_ordinary < fewest_lines || n_ordinary_bytes < fewest_bytes)
}

/// Returns a text as chunks hold it: without the rest of lines that are longer than the limit, which
/// is data such as an image. All lines keep their numbers.
#[must_use]
pub fn without_tails(text: &str, limit: LineLimit) -> Cow<'_, str> {
    let most = limit.in_chunk();
    if text.len() <= SMALL || text.lines().all(|line| line.len() <= most) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let body = line.trim_end_matches(['\n', '\r']);
        out.push_str(&body[..body.floor_char_boundary(most)]);
        out.push_str(&line[body.len()..]);
    }
    Cow::Owned(out)
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
            check_content("var a=1;".repeat(2000).as_bytes(), LineLimit::Code),
            Some(Skip::Minified)
        );
        assert_eq!(
            check_content("A long paragraph. ".repeat(500).as_bytes(), LineLimit::Prose),
            None
        );
        assert_eq!(check_content(b"", LineLimit::Code), None);
    }
    #[test]
    fn only_a_file_that_is_almost_nothing_but_long_lines_is_a_bundle() {
        let long = |n: usize| "x1=".repeat(n / 3);
        let hand_written = "def draw(icon):\n    return paint(icon, colour)\n\n".repeat(12);
        let kept = [
            long(SMALL),
            format!("{}\n{}", long(60_000), hand_written),
            format!("{}\n{}", hand_written, long(900_000)),
            "a".repeat(300) + "\n",
        ];
        for text in kept {
            assert_eq!(check_content(text.as_bytes(), LineLimit::Code), None, "{}", text.len());
        }
        let bundles = [
            long(SMALL + 30),
            format!("/* licence */\n{}\n", long(60_000)),
            // Ten lines, which are short.
            format!("{}{}", "}\n".repeat(10), long(60_000)),
            // Blank lines are no lines that somebody wrote.
            format!("{}{}", " ".repeat(99) + &"\n".repeat(99), long(60_000)),
            format!("{}\n", long(3000)).repeat(20),
        ];
        for text in bundles {
            let found = check_content(text.as_bytes(), LineLimit::Code);
            assert_eq!(found, Some(Skip::Minified), "{}", text.len());
        }
    }

    #[test]
    fn long_lines_lose_their_tails_between_characters_and_all_lines_keep_their_numbers() {
        let text = format!("one\r\n{}\r\nthree\n{}", "ü".repeat(9001), "é".repeat(2000));
        let shown = without_tails(&text, LineLimit::Code);
        let expected = format!("one\r\n{}\r\nthree\n{}", "ü".repeat(1000), "é".repeat(1000));
        assert_eq!(shown, expected);
        for limit in [LineLimit::Prose, LineLimit::None] {
            assert_eq!(without_tails(&text, limit), text);
        }
        let small = "y".repeat(SMALL);
        assert_eq!(without_tails(&small, LineLimit::Code), small);
    }

    #[test]
    fn utf_16_is_checked_as_text() {
        let utf_16 = |text: &str| -> Vec<u8> {
            let units = std::iter::once(0xfeff).chain(text.encode_utf16());
            units.flat_map(u16::to_le_bytes).collect()
        };
        for (text, want) in [
            ("class A {}\n", None),
            ("a\0b", Some(Skip::Binary)),
            ("-----BEGIN PRIVATE KEY-----\nx", Some(Skip::Secret)),
        ] {
            assert_eq!(check_content(&utf_16(text), LineLimit::Code), want, "{text:?}");
        }
    }
}
