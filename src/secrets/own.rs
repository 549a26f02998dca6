//! The rules that are our own, and how a value is told from what only stands where one would.

use super::entropy;

/// Says if a value that a regex took is a secret.
pub(super) type Judge = fn(&str) -> bool;

/// One of our own rules: id, keywords with `|` between them, regex, what says if a value is a secret.
pub(super) type Own = (&'static str, &'static str, &'static str, Judge);

/// The words that end the name of a thing that holds a secret, and what may come after them.
macro_rules! name {
    ($words:literal) => {
        concat!("(?:", $words, ")(?:[_-]?(?:value|str|prod|dev|test|staging|base64|b64|hex|\\d{1,3}))?")
    };
}
macro_rules! password {
    () => {
        name!("passw(?:or)?d|passwd|passphrase|[_-]pass|\\bpwd|_pwd")
    };
}
macro_rules! token {
    () => {
        name!("secret|token|credential|(?:api|access|secret|private|auth|account|encryption|signing|master)[_-]?key")
    };
}
/// A value in quotes, and the quotes. `$chars` are the characters that no value has, but for the quote.
macro_rules! quoted {
    ($chars:literal, $least:literal) => {
        concat!(
            "(?:",
            concat!(r#"\\"([^\\""#, $chars, "]{", $least, r#",})\\""#),
            concat!(r#"|"((?:\\.|[^\\""#, $chars, "]){", $least, r#",})""#),
            concat!(r"|'((?:\\.|[^\\'", $chars, "]){", $least, ",})'"),
            concat!(r"|\x60([^\x60", $chars, "]{", $least, r",})\x60"),
            ")"
        )
    };
}
/// What may stand between a name and a quoted value: `": `, ` = `, `: &str = `, ` => `.
macro_rules! to_quoted {
    () => {
        r#"\\?["'\]]{0,2}[ \t]{0,20}(?:(?::[ \t]{0,4}[&\w<>' \[\]]{1,40})?:?=|=>|:)[ \t]{0,20}[bru]?#?"#
    };
}

/// Our own rules. Where one of them and one of betterleaks find the same, the latter names it.
pub(super) const OWN: &[Own] = &[
    (
        // The head, lines of base64 or `Name: value`, and the last lines if the text goes on so far.
        "private-key",
        "-----begin",
        concat!(
            r"(?i:-----BEGIN[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----)",
            r#"(?:(?:\\[nr]|//|["'][ \t\r\n]*\+|[^A-Za-z0-9+/=\[]){1,60}"#,
            r"(?:[A-Z][A-Za-z-]{2,20}: [^\r\n]{1,120}|[A-Za-z0-9+/=]{20,}|\[REDACTED:[a-z0-9.-]+\]))+",
            r#"(?:(?:(?:\\[nr]|//|["'][ \t\r\n]*\+|[^A-Za-z0-9+/=-]){1,60}[A-Za-z0-9+/=]{1,80}){0,2}"#,
            r#"(?:\\[nr]|//|["'][ \t\r\n]*\+|[^A-Za-z0-9+/=-]){0,60}-----END[ A-Za-z0-9_-]{0,100}-----)?"#,
        ),
        |_| true,
    ),
    (
        "token-prefix",
        concat!(
            "ghp_|gho_|ghu_|ghs_|ghr_|github_pat_|glpat-|xoxb-|xoxp-|xoxa-|xoxr-|xoxs-|xoxe-|xapp-|hooks.slack.com|sk-",
            "|sk_live_|sk_test_|rk_live_|rk_test_|whsec_|aiza|npm_|pypi-ag|hf_|akia|asia|eyj|ya29.|sg.|dop_v1_|:aa"
        ),
        concat!(
            r"\b(gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{20,}|xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-\d-[A-Za-z0-9-]{20,}",
            r"|sk-[A-Za-z0-9]{32,}|sk-(?:proj|svcacct|admin|live|test|or-v1|ant-[a-z0-9]{2,10})-[\w-]{16,}",
            r"|[sr]k_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{20,}|AIza[\w-]{30,}",
            r"|npm_[A-Za-z0-9]{30,}|pypi-Ag[\w-]{30,}|hf_[A-Za-z0-9]{30,}",
            r"|(?:AKIA|ASIA)[A-Z0-9]{16}\b|ya29\.[\w-]{30,}|SG\.[\w-]{16,}\.[\w-]{16,}|dop_v1_[0-9a-f]{40,}|\d{8,10}:AA[\w-]{32,}",
            r"|eyJ[\w-]{8,}\.eyJ[\w-]{8,}(?:\.[\w-]{8,})?)",
            r"|hooks\.slack\.com/(?:services|workflows)/([\w/+-]{20,})",
        ),
        |_| true,
    ),
    (
        "url-password",
        "://",
        r#"[A-Za-z][A-Za-z0-9+.-]{1,30}://[^\s/?\#@:'"<>\x60()\\]{0,100}:([^\s/'"<>\x60()\\]+)@[\w.\[$%{-]"#,
        |value| !is_template(value),
    ),
    ("url-token", "://", r"https?://([A-Za-z0-9_.~%-]{20,})@[\w.-]", is_random),
    (
        "authorization",
        "bearer|authorization",
        concat!(
            r#"(?i)\bauthorization\\?["']?[ \t]{0,3}[:=,][ \t]{0,3}\\?["']?"#,
            r#"(?:(?:bearer|basic|token|apikey|api-key|bot)[ \t]+)?([\w.~+/=-]{8,})"#,
            r"|\bbearer[ \t]+([\w.~+/=-]{12,})"
        ),
        |value| is_random(value) && !is_path(value) && !is_constant(value),
    ),
    ("password", "passw|passphrase|pass|pwd", concat!("(?i)", password!(), to_quoted!(), quoted!(r"\r\n", "4")), |value| {
        !is_placeholder(value) && !is_plain_word(value) && !value.contains(' ') && !is_file(value)
    }),
    ("password", "passphrase", concat!("(?i)", name!("passphrase"), to_quoted!(), quoted!(r"\r\n", "12")), |value| {
        !is_placeholder(value) && value.split(' ').count() > 3
    }),
    ("secret", "secret|token|credential|key", concat!("(?i)", token!(), to_quoted!(), quoted!(r"\s", "8")), |value| {
        !is_placeholder(value) && is_random(value) && !is_path(value)
    }),
    // `env("API_KEY", "x")`, `('db_password', 'x')`: as often a list of names, so only what looks random.
    (
        "secret",
        "passw|passphrase|pass|pwd|secret|token|credential|key",
        concat!("(?i)(?:", password!(), "|", token!(), r#")\\?["'][ \t]{0,4},[ \t]{0,4}[bru]?#?"#, quoted!(r"\s", "8")),
        |value| !is_placeholder(value) && is_random(value) && !is_path(value),
    ),
    // Lines of an .env file, a shell script, a Dockerfile: what comes after `=` is the value.
    (
        "env-password",
        "passw|passphrase|pass|pwd",
        concat!(
            r"(?m)^[ \t]*(?:(?:export|set|ENV|ARG|-e|-)[ \t]+)*[A-Z0-9_]*?(?:PASSW(?:OR)?D|PASSPHRASE|_PASS|_PWD)(?:_[A-Z0-9]{1,12})?",
            r#"=([^\s"'\x60$<({\[][^\s"'\x60]{3,})"#
        ),
        |value| !is_placeholder(value) && !value.starts_with('/') && !value.contains('('),
    ),
    (
        "env-secret",
        "secret|token|credential|key",
        concat!(
            r"(?m)^[ \t]*(?:(?:export|set|ENV|ARG|-e|-)[ \t]+)*[A-Z0-9_]*?",
            r"(?:SECRET|TOKEN|CREDENTIAL|(?:API|ACCESS|SECRET|PRIVATE|AUTH|ACCOUNT|ENCRYPTION|SIGNING|MASTER)_?KEY)",
            r#"(?:_(?:VALUE|PROD|DEV|TEST|STAGING|BASE|BASE64|\d{1,3}))?=([^\s"'\x60$<({\[][^\s"'\x60]{7,})"#
        ),
        |value| !is_placeholder(value) && is_random(value) && !is_path(value) && !value.contains('('),
    ),
    // `password=x` in a URL, a connection string, a properties file or on a command line.
    (
        "password",
        "passw|passphrase|pass|pwd",
        concat!(
            "(?im)(?:",
            r"^[ \t]*[\w.-]*?",
            password!(),
            r#"[ \t]*=[ \t]*([^\s"'\x60;,<>(){}\[\]*][^\s"'\x60;,<>(){}\[\]]{3,})[ \t\r]*$|(?:"#,
            password!(),
            "=|--",
            password!(),
            r#"[ \t]+)([^\s"'\x60;&,<>(){}\[\]|\\*][^\s"'\x60;&,<>(){}\[\]|\\]{5,})(?:[\s"'\x60;&,)}\]|]|$))"#
        ),
        |value| !is_placeholder(value) && has_digit_or_sign(value) && !is_path(value) && !is_constant(value),
    ),
    (
        "secret",
        "secret|token|credential|key",
        concat!(
            "(?i)(?:",
            token!(),
            "=|--",
            token!(),
            r#"[ \t]+)([^\s"'\x60;&,<>(){}\[\]|\\*][^\s"'\x60;&,<>(){}\[\]|\\]{15,})(?:[\s"'\x60;&,)}\]|]|$)"#
        ),
        |value| !is_placeholder(value) && is_random(value) && !is_path(value) && !is_constant(value),
    ),
    // `password: x` in YAML or in a sentence. In code it is a type that follows, so what looks like one stays.
    (
        "password",
        "passw|passphrase|pass|pwd",
        concat!(
            "(?i)",
            password!(),
            r#"(?:["']?[ \t]{0,8}:[ \t]{1,20}|[ \t]+(?:is|was)[ \t]+["'\x60]?)"#,
            r#"([^\s"'\x60;&,<>(){}\[\]|\\*][^\s"'\x60;&,<>(){}\[\]|\\]{5,}?)(?:\.?[\s"'\x60;&,)}\]|]|\.?$)"#
        ),
        |value| !is_placeholder(value) && has_digit_or_sign(value) && !is_path(value) && !is_type(value),
    ),
    (
        "secret",
        "secret|token|credential|key",
        concat!(
            "(?i)",
            token!(),
            r#"["']?[ \t]{0,8}:[ \t]{1,20}"#,
            r#"([^\s"'\x60;&,<>(){}\[\]|\\*][^\s"'\x60;&,<>(){}\[\]|\\]{15,})(?:[\s"'\x60;&,)}\]|]|$)"#
        ),
        |value| !is_placeholder(value) && is_random(value) && !is_path(value) && !is_type(value),
    ),
    (
        "aws-secret-access-key",
        "secret",
        r#"(?i)\bsecret(?:[ _-]?access)?(?:[ _-]?key)?(?:[ \t]+is)?[ \t:=]{1,4}["'\x60]?([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|$)"#,
        |value| is_random(value) && !value.bytes().all(|c| c.is_ascii_hexdigit()),
    ),
    ("password", "sshpass", r#"\bsshpass[ \t]+-p[ \t]*(?:"([^"\r\n]{3,})"|'([^'\r\n]{3,})'|([^\s"']{3,}))"#, |value| {
        !is_placeholder(value)
    }),
];

/// Says if `value` is filled in elsewhere: `${DB_PASSWORD}`, `<password>`, `xxxx`, a regex.
fn is_template(value: &str) -> bool {
    let value = value.trim_matches(['"', '\'', '`']);
    let is_name = |s: &str| !s.is_empty() && s.bytes().all(|c| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'.'));
    let in_percents = value.strip_prefix('%').and_then(|s| s.strip_suffix('%').or(Some(s).filter(|s| s.len() < 2)));
    value.bytes().all(|c| matches!(c, b'x' | b'X' | b'*' | b'.' | b'-' | b'_' | b'#' | b'?'))
        || value.bytes().all(|c| Some(c) == value.bytes().next())
        || value.strip_prefix('$').is_some_and(is_name)
        || in_percents.is_some_and(is_name)
        || (value.starts_with(['<', '{', '[']) && value.ends_with(['>', '}', ']']))
        || ["${", "$(", "{{", "<%", "#{", "%{", "%(", "[a-z", "[A-Z", "[0-9", "[^", "\\w", "\\d", "\\S"]
            .iter()
            .any(|part| value.contains(part))
}

/// Says if `value` stands for a value: a template, `changeme`, `your-token`, `process.env.TOKEN`.
pub(super) fn is_placeholder(value: &str) -> bool {
    let low = value.trim_matches(['"', '\'', '`']).to_ascii_lowercase();
    let starts =
        ["your", "example", "placeholder", "dummy", "todo", "process.env", "os.environ", "env.", "std::env", "env(", "getenv", "redacted"];
    let words =
        ["changeme", "change_me", "change-me", "changeit", "pass", "pwd", "passwd", "none", "null", "nil", "true", "false", "undefined"];
    is_template(value) || starts.iter().any(|start| low.starts_with(start)) || words.contains(&low.as_str())
}

/// Says if `value` is a word that stands beside `password` in forms, schemas and messages.
fn is_plain_word(value: &str) -> bool {
    let low = value.to_ascii_lowercase();
    let words = [
        "string",
        "text",
        "secret",
        "token",
        "hidden",
        "required",
        "optional",
        "invalid",
        "missing",
        "username",
        "user",
        "email",
        "login",
        "input",
        "number",
        "bool",
        "boolean",
        "object",
        "field",
        "value",
        "prompt",
        "plain",
        "bcrypt",
        "argon2",
        "argon2id",
        "scrypt",
        "encrypted",
        "hashed",
        "unknown",
        "empty",
        "default",
        "type",
    ];
    words.contains(&low.as_str())
        || (low.matches('.').count() > 1 && low.bytes().all(|c| c.is_ascii_digit() || c == b'.'))
        || (["password", "passwort", "passwd", "passphrase"].iter().any(|word| low.contains(word))
            && low.bytes().all(|c| c.is_ascii_alphabetic() || matches!(c, b'_' | b'-' | b'.' | b':')))
}

/// Says if `value` has what a generated secret has and a word or a name has not.
pub(super) fn is_random(value: &str) -> bool {
    let has = |test: fn(&u8) -> bool| value.as_bytes().iter().any(test);
    let letters = has(u8::is_ascii_alphabetic);
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let mixed = has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase);
    letters
        && entropy(value) > 2.0
        && (digits >= 2 || (digits == 1 && value.len() >= 12) || (mixed && value.len() >= 20 && entropy(value) > 3.8))
}

/// Says if `value` has a digit or a sign that names do not have.
fn has_digit_or_sign(value: &str) -> bool {
    let has_letter = value.bytes().any(|c| c.is_ascii_alphabetic());
    value.bytes().any(|c| c.is_ascii_digit() || matches!(c, b'!' | b'#' | b'$' | b'%' | b'^' | b'*' | b'+' | b'?' | b'~' | b'@'))
        && has_letter
}

/// Says if `value` is the path of a file (`/run/secrets/key`).
fn is_file(value: &str) -> bool {
    (value.starts_with(['/', '~']) || value.starts_with("./") || value.starts_with("../")) && value[1..].contains('/')
}

/// Says if `value` is a path of names (`self.config.token2`, `aws::Token`) or of a file.
fn is_path(value: &str) -> bool {
    let is_name = |s: &str| {
        s.bytes().next().is_none_or(|c| c.is_ascii_alphabetic() || c == b'_')
            && s.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_')
            && s.len() < 24
            && s.bytes().filter(u8::is_ascii_digit).count() < 3
    };
    let parts = |by: &str| value.contains(by) && value.split(by).all(|part| is_name(part) && part.len() != 1);
    is_file(value) || value.contains("://") || parts(".") || parts("::") || value.contains("->")
}

/// Says if `value` is the name of a constant (`AES_256_KEY`).
fn is_constant(value: &str) -> bool {
    value.contains('_')
        && value.bytes().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == b'_')
        && value.bytes().filter(u8::is_ascii_digit).count() < 4
}

/// Says if `value` is the name of a constant, a type or an algorithm (`Utf8PathBuf`, `sha256`).
fn is_type(value: &str) -> bool {
    let count = |test: fn(&u8) -> bool| value.bytes().filter(test).count();
    let is_camel = value.starts_with(|c: char| c.is_ascii_uppercase()) && count(u8::is_ascii_lowercase) > 0;
    let low = value.to_ascii_lowercase();
    let starts =
        ["int", "uint", "float", "string", "bytes", "char", "varchar", "sha", "base", "utf", "hex", "argon", "bcrypt", "pbkdf", "array"];
    let is_few = count(u8::is_ascii_digit) < 3 && count(u8::is_ascii_uppercase) < 8 && value.len() < 40;
    is_constant(value)
        || (value.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_' || c == b'-')
            && ((is_camel && is_few) || (value.len() < 16 && starts.iter().any(|start| low.starts_with(start)))))
}
