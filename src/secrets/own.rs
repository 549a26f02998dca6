//! Our own rules, and the checks that tell a secret from another value in its place.

use std::ops::Range;
use std::sync::LazyLock;

use regex::bytes::{Regex, RegexBuilder};

/// The only rule whose secret may have any number of lines.
pub(super) const PRIVATE_KEY: &str = "private-key";
/// The rule that starts at the kind of a document.
pub(super) const KUBERNETES: &str = "kubernetes-secret";
/// The rules whose value may be on another line than its name.
pub(super) const ENTRY_PASSWORD: &str = "entry-password";
pub(super) const ENTRY_SECRET: &str = "entry-secret";
/// The rules for what follows the name of a password. The first of them has all those names.
pub(super) const PASSWORD: &str = "password";
/// The rules whose place proves that the value is a password, whatever it looks like.
pub(super) const URL_PASSWORD: &str = "url-password";

/// The words for a password in other languages, and the keywords for them. The regexes see bytes, so
/// letters outside ASCII are written as theirs.
macro_rules! foreign_words {
    () => {
        "kennwort|contrase|senha|de passe|de_passe|de-passe|depasse|wachtwoord|hasło|haslo|heslo|senord|salasana|adgangskode|jelsz|ifre|ароль|密码|密碼|パスワード|비밀번호"
    };
}
macro_rules! foreign {
    () => {
        concat!(
            r"passwort|kennwort|contrase(?:\xC3\xB1|n)a|mot[ _-]?de[ _-]?passe|wachtwoord|has(?:\xC5\x82|l)o|l(?:\xC3\xB6|o)senord|salasana|adgangskode|jelsz(?:\xC3\xB3|o)",
            r"|(?:\b|_)(?:senha|heslo|sifre)|\xC5[\x9E\x9F]ifre",
            // Russian, Chinese (twice), Japanese and Korean.
            r"|\xD0[\x9F\xBF]\xD0\xB0\xD1\x80\xD0\xBE\xD0\xBB\xD1\x8C|\xE5\xAF\x86\xE7\xA0\x81|\xE5\xAF\x86\xE7\xA2\xBC",
            r"|\xE3\x83\x91\xE3\x82\xB9\xE3\x83\xAF\xE3\x83\xBC\xE3\x83\x89|\xEB\xB9\x84\xEB\xB0\x80\xEB\xB2\x88\xED\x98\xB8"
        )
    };
}
/// Words that also name other things. Only a value that no name looks like counts beside them.
macro_rules! weak_words {
    () => {
        "pw=|pw =|pw:|pw :|pw\"|pw'|clave|parola|mdp"
    };
}
macro_rules! weak {
    () => {
        r"(?:(?:\b|_)(?:pw|clave|parola|mdp))"
    };
}
/// The keywords in names of passwords and of tokens. They are as long as possible, since a rule
/// runs on every line that has one.
macro_rules! password_words {
    () => {
        concat!(
            "passw|passphrase|_pass|-pass|pwd|psk|pass\"|pass'|pass=|pass =|pass:|pass>|pw=|pw =|pw:",
            "|client_secret|client-secret|clientsecret|",
            foreign_words!()
        )
    };
}
macro_rules! token_words {
    () => {
        concat!(
            "secret|token|credential|apikey|api_key|api-key|api.key|jwt:key|pepper|accesskey|access_key|access-key|privatekey|private_key|private-key",
            "|authkey|auth_key|auth-key|accountkey|account_key|account-key|encryptionkey|encryption_key|encryption-key",
            "|signingkey|signing_key|signing-key|masterkey|master_key|master-key|appkey|app_key|app-key|clientkey|client_key|client-key",
            "|sonar.login|licensekey|license_key|license-key|subscriptionkey|subscription_key|subscription-key|hmackey|hmac_key|hmac-key|jwtkey|jwt_key|jwt-key"
        )
    };
}

/// Decides whether a value that a regex captured is a secret.
pub(super) type Judge = fn(&str) -> bool;

/// One of our own rules: id, keywords separated by `|`, regex, and the judge of the value.
pub(super) type Own = (&'static str, &'static str, &'static str, Judge);

/// The words that end the name of a secret, and the suffixes that may follow them.
macro_rules! name {
    ($words:expr) => {
        concat!(
            "(?:",
            $words,
            ")(?:[_-]?(?:value|str|prod|dev|test|staging|base64|base|b64|hex|data|v?\\d{1,3}))?"
        )
    };
}
/// Names that are written as one word, as in shells: `DBPASS`, `rootpw`.
macro_rules! joined {
    () => {
        r"(?:\b|_)(?:db|root|ssh|pg|postgres|my|sql|mysql|maria|mongo|redis|ora|admin|user|login|smtp|imap|mail|ftp|sftp|ldap|bind|sudo|su|vpn|wifi|wlan|vnc|rdp|rpc|http|proxy|key|store|app|svc|web|api|auth|bot|nas|wp)(?:pass|pwd|pw)"
    };
}
macro_rules! password {
    () => {
        name!(concat!(
            r"passw(?:or)?d|passphrase|[_-]pass|\bpass|(?-i:[a-z](?:Pass|Pwd|PW|Pw))|(?:\b|_)(?:pwd|psk)|client[_-]?secret|",
            joined!(),
            "|",
            foreign!()
        ))
    };
}
macro_rules! token {
    () => {
        name!("secret|token|credentials?|pepper|(?:api|access|secret|private|auth|account|encryption|signing|master|app|client|license|subscription|hmac|jwt)[._:-]?key|sonar[.]login")
    };
}
/// How sentences call a password, and the keywords for that.
macro_rules! prose_words {
    () => {
        concat!("passw|passphrase|passcode|pwd|pw|clave|parola|mdp|", foreign_words!())
    };
}
macro_rules! prose_name {
    () => {
        concat!(
            r"(?:(?:\b|_)(?:password|passwd|passphrase|passcode|pwd|pw|clave|parola|mdp)\b|",
            foreign!(),
            ")"
        )
    };
}
/// A value in a sentence: in quotes, or up to the next blank, without trailing punctuation.
macro_rules! prose_value {
    () => {
        r#"(?:"([^"\r\n]{4,100})"|'([^'\r\n]{4,100})'|\x60([^\x60\r\n]{4,100})\x60|([^\s"'\x60]\S{3,200}?)[.,;:!?"'\x60)]{0,3}(?:\s|$))"#
    };
}
/// A value with its quotes. The value contains no quote and none of `$chars`.
macro_rules! quoted {
    ($chars:literal, $least:literal) => {
        concat!(
            "(?:",
            concat!(r#"\\{1,3}"([^\\""#, $chars, "]{", $least, r#",})\\{1,3}""#),
            concat!(r#"|"((?:\\.|[^\\""#, $chars, "]){", $least, r#",})""#),
            concat!(r"|'((?:\\.|[^\\'", $chars, "]){", $least, ",})'"),
            concat!(r"|\x60([^\x60", $chars, "]{", $least, r",})\x60"),
            ")"
        )
    };
}
/// What may stand before the quotes of a string: `b"`, `@"`, `N'`, `r#"`.
macro_rules! string_prefix {
    () => {
        r"(?:@|n|[bru]{1,2})?#{0,2}"
    };
}
/// The text between a name and a quoted value: `": `, ` = `, `: &str = `, ` As String = `, ` => `.
macro_rules! to_quoted {
    () => {
        concat!(
            r#"\\{0,3}["'\]}?]{0,2}(?:\[\w{0,8}\])?[ \t]{0,20}"#,
            r"(?:(?::[ \t]{0,4}[&\w<>' \[\]?]{1,40}|(?:as[ \t]+)?(?:secure_?)?(?:string|str|text|bytes)[ \t]*|\{[ \w;]{3,30}\}[ \t]*)?[:?|+]{0,2}=|[=-]>|<-|\xE2\x86\x92|:)[ \t]{0,20}(?:!{1,2}\w{1,20}[ \t]+)?",
            string_prefix!(),
            // `"""x"""`
            r#"(?:"")?"#
        )
    };
}
/// The text between a name and a quoted value that need not belong together: the next argument
/// (`("NAME", "x")`), a fallback (`NAME ?? "x"`, `NAME.unwrap_or("x")`), an argument
/// (`setPassword("x")`, `NAME = String::from("x")`, `field("NAME").fill("x")`) or the next word (`#define NAME "x"`).
macro_rules! to_argument {
    () => {
        concat!(
            r#"(?:\\{0,3}["'\x60\])}]{0,4}(?:[ \t]{0,4}(?:\||,(?:[ \t]*\w{1,20}[ \t]*[=:])?|\|\||\?\?|\?:|//|\bor\b|:?=[ \t]*[\w.:&]+(?:[ \t]?\(|[ \t]+)(?:\w{1,20}[ \t]*=)?|:[^=\r\n"']{1,40}=[ \t]*\w+\((?:\w{1,20}[ \t]*=)?)|\.(?:unwrap_or|or|get_?or|default|set|fill|type|send_?keys)\w{0,12}\((?:\|_?\||\(\)[ \t]*->)?)"#,
            r"|[ \t]?[({]|[ \t]+)[ \t]{0,20}(?:<<)?",
            string_prefix!()
        )
    };
}
/// Functions that take the name of a secret, or what a user typed.
macro_rules! asking {
    () => {
        r"\b(?:get|fetch|read|load|find|lookup|has|is|check|validate|verify|hash|encrypt|decrypt|decode|parse|compare|confirm|require|ask|prompt|expect|assert|test|mask|match)\w*?"
    };
}
/// A value without quotes.
macro_rules! bare {
    () => {
        r#"([^\s"'\x60;&,<>(){}\[\]|\\*][^\s"'\x60;&,<>(){}\[\]|\\]{5,})"#
    };
}
/// A value as an argument on a command line.
macro_rules! argument {
    () => {
        r#"(?:"([^"\r\n]{4,})"|'([^'\r\n]{4,})'|([^\s"'\x60$|;<>&()\[\]]{4,}))"#
    };
}
/// Finds `$name` and a value that stands apart from it, within one line.
macro_rules! apart {
    ($name:expr, $least:literal) => {
        concat!(
            "(?i)",
            asking!(),
            $name,
            r"[ \t]?\(|",
            $name,
            "(?:",
            to_argument!(),
            r#"(?:"")?"#,
            quoted!(r"\s", $least),
            // `${NAME:-x}`, and `NAME={x}` of ODBC
            r#"|(?::[-=]?|=\{)([^\s{}"'$:/]{6,})\}"#,
            ")"
        )
    };
}
/// Finds `$name` and a value that has a key or an element of its own, on the same line or a few
/// lines below: `name: NAME, value: x`, `variable "NAME" { default = "x" }`,
/// `<name>NAME</name><value>x</value>`, `<p name="NAME"><value>x</value>`, `<NAME>x</NAME>`, a block
/// of YAML.
macro_rules! entry {
    ($name:expr) => {
        concat!(
            "(?i)",
            $name,
            r#"(?:\\?["']?(?:,?[ \t]*(?:\r?\n[ \t-]*)?|["' \t,][^{}<>\r\n]*?|["']?[ \t]*:[ \t]*\{[^{}\r\n]*?|[ \t]*[:{][ \t]*(?:\r?\n[^{}\r\n]*){0,4}?\r?\n[ \t]*)"#,
            r#"\\?["']?[\w:.]*(?:value|default|\bval)\\?["']?[ \t]*[:=][ \t]*(?:"#,
            quoted!(r"\s", "6"),
            "|",
            bare!(),
            r#"(?:[\s"',;}]|$))"#,
            r#"|["']?(?:</[\w:.-]+>\s*<[\w:.-]+|(?:[ \t][^<>\r\n]*)?>\s*<value|[ \t][^<>\r\n]*)?>[ \t]*(?:<!\[CDATA\[)?([^<>\s{}]{6,}?)[ \t]*(?:\]\]>)?<"#,
            r#"|["']?:[ \t]*[|>][+-]?[0-9]?[ \t]*\r?\n[ \t]+(\S{8,})[ \t]*(?:\r?\n|$))"#,
            r#"|(?:\bvalue\\?["']?[ \t]*[:=]|\bset\w{0,10}\()[ \t]*@?(?:"#,
            quoted!(r"\s", "6"),
            r#")[ \t]*,?\s*\\?["']?(?:name|key|forkey)\\?["']?[ \t]*[:=][ \t]*@?\\?["']?[\w.-]*"#,
            $name
        )
    };
}

/// Our own rules. If one of them and one of betterleaks find the same, the
/// id of the latter is used.
pub(super) const OWN: &[Own] = &[
    (
        // The head, lines of base64 or `Name: value`, and the last lines if they are in the text.
        PRIVATE_KEY,
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
            "ghp_|gho_|ghu_|ghs_|ghr_|github_pat_|glpat-|xoxb-|xoxp-|xoxa-|xoxr-|xoxs-|xoxe-|xapp-|sk-",
            "|sk_live_|sk_test_|rk_live_|rk_test_|whsec_|aiza|npm_|pypi-ag|hf_|akia|asia|eyj|ya29.|sg.|dop_v1_|:aa|age-secret-key-1"
        ),
        concat!(
            r"\b(gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{20,}|xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-\d-[A-Za-z0-9-]{20,}",
            r"|sk-[A-Za-z0-9]{32,}|sk-(?:proj|svcacct|admin|live|test|or-v1|ant-[a-z0-9]{2,10})-[\w-]{16,}",
            r"|[sr]k_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{20,}|AIza[\w-]{30,}",
            r"|npm_[A-Za-z0-9]{30,}|pypi-Ag[\w-]{30,}|hf_[A-Za-z0-9]{30,}",
            r"|(?:AKIA|ASIA)[A-Z0-9]{16}\b|ya29\.[\w-]{30,}|SG\.[\w-]{16,}\.[\w-]{16,}|AGE-SECRET-KEY-1[0-9A-Z]{40,}|dop_v1_[0-9a-f]{40,}|\d{8,10}:AA[\w-]{32,}",
            r"|eyJ[\w-]{8,}\.eyJ[\w-]{8,}(?:\.[\w-]{8,})?)",
            r"|\bbot(\d{8,10}:AA[\w-]{32,})",
        ),
        |_| true,
    ),
    // URLs that anyone may post to.
    (
        "webhook",
        "hooks.slack.com|discord.com/api|discordapp.com/api|webhook.office.com|hooks.zapier.com|/bot/v2/hook/|/hooks/|/with/key/",
        concat!(
            r"\bhooks\.slack\.com/(?:services|workflows|triggers)/([\w/+-]{20,})|discord(?:app)?\.com/api/(?:v\d+/)?webhooks/\d+/([\w-]{40,})",
            r"|webhook\.office\.com/\w+/([\w@/-]{60,})|hooks\.zapier\.com/hooks/catch/([\w/]{8,})",
            r"|/(?:bot/v2/hook|with/key)/([\w-]{20,})|/hooks/([a-z0-9]{26})\b",
        ),
        |value| !is_placeholder(value) && is_random(value),
    ),
    (
        URL_PASSWORD,
        "://",
        r#"[A-Za-z][A-Za-z0-9+.-]{1,30}://[^\s/?\#@:'"<>\x60()\\]{0,100}:([^\s/'"<>\x60()\\]+)@[\w.\[$%{-]"#,
        |value| !is_template(value),
    ),
    // A data source of Go: `user:x@tcp(host:3306)/db`, `"user:x@/db"`.
    (
        URL_PASSWORD,
        "@tcp(|@tcp4(|@tcp6(|@udp(|@unix(|@cloudsql",
        r#"\b[\w.-]{1,60}:([^\s"'\x60<>]{1,200})@(?:tcp[46]?|udp|unix|cloudsql\w*)\("#,
        |value| !is_template(value),
    ),
    (
        URL_PASSWORD,
        "@/",
        r#"["'\x60][\w.-]{1,60}:([^\s"'\x60<>/@:]{4,200})@/[\w-]*["'?\x60]"#,
        |value| !is_template(value),
    ),
    (URL_PASSWORD, ":thin:", r#":thin:\w+/([^\s/'"<>@]+)@"#, |value| !is_template(value)),
    ("url-token", "://", r"https?://([A-Za-z0-9_.~%-]{20,})@[\w.-]", is_random),
    (
        "authorization",
        "bearer|authorization|cookie:",
        concat!(
            r#"(?i)\bauthorization\\?["']?(?:[ \t]{0,3}[:=,]|[ \t])[ \t]{0,3}\\?["']?"#,
            r#"(?:(?:bearer|basic|token|apikey|api-key|bot)[ \t]+)?([\w.~+/=-]{8,})"#,
            r"|\bbearer[ \t]+([\w.~+/=-]{12,})|\bcookie:[ \t][^\r\n]{0,200}?=([\w.%~+/-]{20,})"
        ),
        |value| is_random(value) && !is_path(value) && !is_constant(value),
    ),
    (
        "password",
        password_words!(),
        concat!("(?i)", password!(), to_quoted!(), quoted!(r"\r\n", "4")),
        |value| {
            !is_placeholder(value)
                && !is_plain_word(value)
                && !value.contains(' ')
                && !is_file(value)
        },
    ),
    (
        "password",
        "passphrase",
        concat!("(?i)", name!("passphrase"), to_quoted!(), quoted!(r"\r\n", "12")),
        |value| !is_placeholder(value) && value.split(' ').count() > 3,
    ),
    (
        "password",
        weak_words!(),
        concat!("(?i)", weak!(), to_quoted!(), quoted!(r"\s", "6")),
        |value| is_passed(value) && is_no_name(value),
    ),
    (
        "password",
        weak_words!(),
        concat!(
            "(?im)",
            weak!(),
            r#"["']?[ \t]{0,8}[:=][ \t]{0,20}([^\s"'\x60;&,<>(){}\[\]|\\*$]{6,200})[;,]?(?:[\s}]|$)"#
        ),
        |value| is_passed(value) && is_no_name(value),
    ),
    (
        "secret",
        token_words!(),
        concat!("(?i)", token!(), to_quoted!(), quoted!(r"\s", "8")),
        |value| !is_placeholder(value) && is_random(value) && !is_path(value),
    ),
    ("password", password_words!(), apart!(password!(), "6"), is_passed),
    ("secret", token_words!(), apart!(token!(), "8"), is_key),
    (ENTRY_PASSWORD, password_words!(), entry!(password!()), is_passed),
    (ENTRY_SECRET, token_words!(), entry!(token!()), is_key),
    // `NAME = x` of an INI file, `NAME := x` of a Makefile.
    (
        "secret",
        token_words!(),
        concat!(
            r"(?im)^[ \t]*(?:export[ \t]+)?[\w.-]*?",
            token!(),
            r#"[ \t]*[:?+]?=[ \t]*([^\s"'\x60;,<>(){}\[\]*$&]{8,})[ \t\r]*$"#
        ),
        is_key,
    ),
    // `ENV NAME x` of a Dockerfile, `set -x NAME x` of a shell.
    (
        "secret",
        "env |arg |setenv |set -|configure set",
        concat!(
            r"(?im)(?:^[ \t]*(?:ENV|ARG|setenv|set(?:[ \t]+-\w+)+)|configure[ \t]+set)[ \t]+\w*?(?:",
            password!(),
            "|",
            token!(),
            r")[ \t]+",
            argument!()
        ),
        |value| is_passed(value) || is_key(value),
    ),
    // Values of a Secret of Kubernetes, whatever their names.
    (
        KUBERNETES,
        "kind: secret",
        r#"(?m)^[ \t]+[\w.-]+:[ \t]+["']?([A-Za-z0-9+/_-]{8,}={0,2})["']?[ \t\r]*$"#,
        |value| is_key(value) && !value.contains('-'),
    ),
    // A user and a password in base64: docker, npm.
    (
        "registry-auth",
        "_auth=|_auth =|\"auth\"",
        r#"(?:_auth|"auth")[ \t]*[:=][ \t]*["']?([A-Za-z0-9+/_-]{10,}={0,2})"#,
        |value| is_random(value) && !is_constant(value) && !is_name(value),
    ),
    // What signs or opens a URL.
    (
        "url-token",
        "?sig=|&sig=|;sig=|signature=|?key=|&key=|;key=|?code=|&code=|?auth=|&auth=|-key=",
        r"(?i)[?&;](?:sig|(?:[\w-]{0,12}-)?signature|(?:[\w-]{0,20}-)?key|code|auth)=([\w%+/.~-]{20,})",
        is_key,
    ),
    // Passwords in SQL.
    (
        "password",
        "identified",
        concat!(
            r"(?i)\bidentified[ \t]+(?:with[ \t]+\S{1,60}[ \t]+)?(?:by|as)[ \t]+(?:password[ \t]+)?",
            argument!()
        ),
        |value| !is_placeholder(value),
    ),
    // Passwords as arguments of commands that name them with one letter, and directives of servers.
    (
        "password",
        "mysql|mariadb|curl|login|mongo|sqlcmd|redis-cli|ldap|zip|7z|mosquitto|sshpass|pass:|-secure|add_user|bindpw|requirepass|masterauth|community|:5432:|-pass|storepass|keypass|psexec|xfreerdp|http -a|https -a|net use|openssl|sudo|setuser|tochararray|chpasswd|htpasswd|sqlplus|secret set|}  |}\t|lftp|smbclient|rpcclient|snmp|ipmitool|isql|net user|useradd|usermod|<<<|rclone|mc alias|mc config|auth_pass|rootpw|enable secret|enable password|password 0|secret 0|--stdin",
        concat!(
            r"(?im)(?:\b(?:mysql|mariadb|7z)[\w-]*[ \t](?:[^\r\n|;]*?[ \t])?-p",
            r"|\blogin[ \t](?:[^\r\n|;]*?[ \t])?-p[ \t]+",
            r"|\b(?:mongo|ldap|mosquitto_)\w*[ \t](?:[^\r\n|;]*?[ \t])?-[pw][ \t]+",
            r"|\b(?:sqlcmd|redis-cli|zip|unzip)[ \t](?:[^\r\n|;]*?[ \t])?-[ap][ \t]*",
            r#"|\bcurl[ \t](?:[^\r\n|;]*?[ \t])?(?:-u|--user)[ \t=]*["']?[^\s:"']{1,60}:"#,
            r"|\bsshpass[ \t]+-p[ \t]*|[ \t]pass:|\badd_user[ \t]+\S+[ \t]+|-securestring[ \t]+(?:-string[ \t]+)?",
            r#"|[ \t]-(?:store|key|srcstore|deststore)?pass(?:w(?:or)?d|phrase)?[ \t]+|\bpsexec[ \t](?:[^\r\n|;]*?[ \t])?-p[ \t]+|\bxfreerdp[ \t](?:[^\r\n|;]*?[ \t])?/p:"#,
            r#"|\bhttps?[ \t](?:[^\r\n|;]*?[ \t])?-a[ \t]+\w+:|\bnet[ \t]+use[ \t][^\r\n|;]*?/user:\S+[ \t]+|\bopenssl[ \t](?:[^\r\n|;]*?[ \t])?-k[ \t]+"#,
            r"|\bsetuser[ \t][^\r\n]*?[ \t]>|\bnet[ \t]+use[ \t]+\S+[ \t]+\\\\\S+[ \t]+|\bhtpasswd[ \t]+-\w*b\w*[ \t]+\S+[ \t]+\S+[ \t]+",
            r"|\bsecret[ \t]+set[ \t](?:[^\r\n|;]*?[ \t])?(?:-b|--body)[ \t=]+",
            r#"|\blftp[ \t](?:[^\r\n|;]*?[ \t])?-u[ \t]*["']?[\w.@-]{1,60},|\b(?:smb|rpc)client[ \t](?:[^\r\n|;]*?[ \t])?(?:-u|--user)[ \t=]*["']?[\w.@-]{1,60}%"#,
            r"|\bsnmp\w*[ \t](?:[^\r\n|;]*?[ \t])?(?-i:-[AX])[ \t]+|\bipmitool[ \t](?:[^\r\n|;]*?[ \t])?(?-i:-P)[ \t]+",
            r"|(?-i:\bisql)[ \t]+(?:-\w+[ \t]+)*\S+[ \t]+\S+[ \t]+|\bnet[ \t]+user[ \t]+[\w.-]+[ \t]+|\buser(?:add|mod)[ \t](?:[^\r\n|;]*?[ \t])?(?-i:-p)[ \t]*",
            r"|(?:pass|pw|\bsudo[ \t]+-\w*s|\bcryptsetup[ \t]|--stdin)[^\r\n|;<]{0,80}<<<[ \t]*|\brclone[ \t][^\r\n|;]*?[ \t]pass[ \t]+",
            r"|\bmc[ \t]+(?:alias|config[ \t]+host)[ \t]+(?:set|add)[ \t]+\S+[ \t]+\S+[ \t]+\S+[ \t]+",
            r"|^[ \t]*(?:auth_pass|rootpw(?:[ \t]+--plaintext)?|enable[ \t]+(?:secret|password)(?:[ \t]+\d)?|username[ \t]+\S+[ \t][^\r\n]{0,60}?(?:secret|password)[ \t]+0)[ \t]+",
            // A variable of Robot Framework.
            r"|^[ \t]*\$\{[\w \t]*(?:",
            password!(),
            "|",
            token!(),
            r")[\w \t]*\}[ \t]*=?(?:[ \t]{2,}|\t)",
            r"|^[ \t]*(?:bindpw|requirepass|masterauth|r[ow]community)[ \t]+",
            r"|^[\w.*-]+:5432:[\w*]+:[\w*]+:)",
            argument!(),
            r#"|["'](?:\w{1,32}:)?([^"'\s:]{6,})["'](?:\.toCharArray\(\)|[ \t]*\|[ \t]*(?:sudo[ \t]+(?:-S|chpasswd)|chpasswd|[\w-]+[ \t][^\r\n|]*?--password-stdin))|\becho[ \t]+(?:-\w+[ \t]+)?(?:\w{1,32}:)?([^\s"'\x60$|:]{6,})[ \t]*\|[ \t]*(?:sudo[ \t]+(?:-S|chpasswd)|chpasswd|[\w-]+[ \t][^\r\n|]*?--(?:password-)?stdin)|\bsqlplus[ \t]+(?:-\w+[ \t]+)*\w+/([^\s"'@/]{6,})"#
        ),
        |value| {
            !is_placeholder(value)
                && has_digit_or_sign(value)
                && !is_path(value)
                && !value.contains(' ')
        },
    ),
    // A user and a password as arguments: `connect(url, "user", "x")`, `auth=("user", "x")`.
    (
        "password",
        "begin(|auth_basic(|sp_addlogin|credentials.|connect(|connection(|auth(|auth=|auth =|login(|credential(|credentials(|pdo(|mysqli",
        r#"(?i)(?:(?:connect\w{0,16}|begin|auth(?:_basic)?|login|credentials?(?:\.\w{1,20})?|pdo|mysqli)[ \t]?=?[ \t]?\(|sp_addlogin[ \t]+)(?:[^()\r\n]{0,160},)?[ \t]*["'][^"'\r\n]{1,60}["'],[ \t]*(?:some\()?["']([^"'\r\n\s]{6,})["']|\blogin[ \t]?\([\w.]{1,40},[ \t]*["']([^"'\r\n\s]{6,})["']"#,
        |value| is_passed(value) && is_no_name(value),
    ),
    // A password that code hashes, and a user with a password that it encodes.
    (
        "password",
        "bcrypt.|argon2.|password_hash(|make_password(|btoa(|b64encode(|buffer.from(|encodetostring(",
        concat!(
            r#"(?i)\b(?:(?:bcrypt|argon2)\.(?:hash|compare|verify|generate)\w*|(?:generate_)?password_hash|make_password)\([ \t]*(?:\[\]byte\()?b?["'\x60]([^"'\x60\r\n\s]{6,})["'\x60]"#,
            r#"|\b(?:btoa|(?:\w+\.)?b64encode|buffer\.from|encodetostring)\([ \t]*(?:\[\]byte\()?b?["'\x60][\w.@-]{1,60}:([^"'\x60\r\n\s]{4,})["'\x60]"#
        ),
        |value| is_passed(value) && is_no_name(value),
    ),
    // What a script types for a user.
    (
        "password",
        "send \"|send '|send -- \"|send \\\"|sendline(",
        r#"\bsend[ \t]+(?:--[ \t]+)?\\?["']([^"'\s\\]{6,})\\[rn]|(?i:\bsendline)\([ \t]*["']([^"'\s\\]{6,})["']"#,
        |value| is_passed(value) && is_no_name(value),
    ),
    // A secret of Kubernetes on a command line, whatever its name.
    (
        "password",
        "--from-literal",
        concat!(r#"(?i)--from-literal[= \t]+["']?[\w.-]{1,60}="#, argument!()),
        |value| is_passed(value) && is_no_name(value),
    ),
    // The last column of a row: `INSERT INTO t (name, password) VALUES ('a', 'x')`.
    (
        "password",
        "insert into",
        r#"(?i)\binsert[ \t]+into[ \t][^()\r\n]{1,80}\([^()\r\n]*pass(?:word|wd)?["\x60\]]?[ \t]*\)[ \t]*values[ \t]*\((?:[^()\r\n]*,)?[ \t]*n?'([^'\s]{6,})'[ \t]*\)"#,
        is_passed,
    ),
    // A row of a Markdown table: `| Password | x |`.
    (
        "password",
        prose_words!(),
        concat!(
            r"(?im)^[ \t]*\|[^|\r\n]{0,40}?",
            prose_name!(),
            r"[*_\x60]{0,2}[ \t]*\|[ \t]*[*_\x60]{0,2}([^\s|*_\x60]{6,})[*_\x60]{0,2}[ \t]*\|"
        ),
        |value| is_passed(value) && is_no_name(value),
    ),
    // `creds: admin:x`
    (
        "password",
        "creds|credentials",
        r#"(?i)\bcred(?:s|entials)\b["'*_]{0,3}[ \t]*[:=][ \t]*["'\x60]?[\w.@-]{2,40}:([^\s"'\x60:/]{6,})"#,
        |value| is_passed(value) && is_no_name(value),
    ),
    // A user and a password of Postfix.
    ("password", "static:", r"\bstatic:[\w.@-]{1,60}:([^\s:]{6,})", |value| {
        is_passed(value) && is_no_name(value)
    }),
    // Keys as arguments of functions that sign.
    (
        "secret",
        "hmac|jwt|cookieparser|fernet(|unsafeplaintext|aes",
        concat!(
            r"(?i)(?:hmac|jwt|cookieparser|fernet|unsafeplaintext|\baes)[\w.:]{0,30}\([^()\r\n]{0,80}?",
            quoted!(r"\s", "10")
        ),
        is_key,
    ),
    // Lines of an .env file, a shell script or a Dockerfile: the value follows `=`.
    (
        "env-password",
        password_words!(),
        concat!(
            r"(?m)^[ \t]*(?:(?:export|set|ENV|ARG|-e|-)[ \t]+)*(?:[A-Z0-9_]*?(?:PASSW(?:OR)?[DT]|PASSPHRASE|_PASS|_PWD|_PW|KENNWORT|CONTRASENA|SENHA|MOT_?DE_?PASSE|WACHTWOORD)|(?:[A-Z0-9_]*_)?(?i:",
            joined!(),
            r"))(?:_[A-Z0-9]{1,12})?",
            r#"=([^\s"'\x60$<({\[][^\s"'\x60]{3,})"#
        ),
        |value| !is_placeholder(value) && !value.starts_with('/') && !value.contains(['(', ')']),
    ),
    (
        "env-secret",
        token_words!(),
        concat!(
            r"(?m)^[ \t]*(?:(?:export|set|ENV|ARG|-e|-)[ \t]+)*[A-Z0-9_]*?",
            r"(?:SECRET|TOKEN|CREDENTIAL|(?:API|ACCESS|SECRET|PRIVATE|AUTH|ACCOUNT|ENCRYPTION|SIGNING|MASTER)_?KEY)",
            r#"(?:_(?:VALUE|PROD|DEV|TEST|STAGING|BASE|BASE64|\d{1,3}))?=([^\s"'\x60$<({\[][^\s"'\x60]{7,})"#
        ),
        |value| {
            !is_placeholder(value) && is_random(value) && !is_path(value) && !value.contains('(')
        },
    ),
    // `password=x` in a URL, a connection string, a properties file or on a command line.
    (
        "password",
        password_words!(),
        concat!(
            "(?im)(?:",
            r"^[ \t]*(?:export[ \t]+)?[\w.-]*?",
            password!(),
            r#"[ \t]*[?+]?=[ \t]*([^\s"'\x60;,<>(){}\[\]*][^\s"'\x60;,<>(){}\[\]]{3,})[ \t\r]*$|(?:"#,
            password!(),
            "=|--",
            password!(),
            r#"[ \t]+)([^\s"'\x60;&,<>(){}\[\]|\\*][^\s"'\x60;&,<>(){}\[\]|\\]{5,})(?:[\s"'\x60;&,)}\]|]|$))"#
        ),
        |value| {
            !is_placeholder(value)
                && has_digit_or_sign(value)
                && !is_path(value)
                && !is_constant(value)
        },
    ),
    (
        "secret",
        token_words!(),
        concat!(
            "(?i)(?:",
            token!(),
            "=|--",
            token!(),
            r#"[ \t]+)([^\s"'\x60;&,<>(){}\[\]|\\*][^\s"'\x60;&,<>(){}\[\]|\\]{15,})(?:[\s"'\x60;&,)}\]|]|$)"#
        ),
        |value| {
            !is_placeholder(value) && is_random(value) && !is_path(value) && !is_constant(value)
        },
    ),
    // `password: x` in YAML or in a note. In code, a type or a variable follows, so values that
    // look like one do not count.
    (
        "password",
        concat!(password_words!(), "|passcode|pw"),
        concat!(
            "(?i)(?:",
            password!(),
            r#"|\bpasscode|\bpw)["']?[ \t]{0,8}:[ \t]{1,20}"#,
            r#"([^\s"'\x60;&,<>(){}\[\]|\\*][^\s"'\x60<>(){}\[\]\\]{4,200}?)(?:[.,;]{0,2}[\s"'\x60)}\]]|[.,;]{0,2}$)"#
        ),
        |value| {
            !is_placeholder(value)
                && has_digit_or_sign(value)
                && !is_path(value)
                && !is_type(value)
                && !is_expression(value)
        },
    ),
    // Sentences: `the password of the db is x`, `password set to "x"`.
    (
        "password",
        prose_words!(),
        concat!(
            "(?i)",
            prose_name!(),
            r"(?:[ \t]+(?:for|of|to|on|in|at|f(?:\xC3\xBC|ue|\xC3\xB6)r|von|vom|am|zum|do|da|de|del|della|di|du|des|pour|para|per|voor|van|dla|til)(?:[ \t]+[\w.@/-]{1,30}){1,4}?)?(?:[ \t]+\([^()\r\n]{1,40}\))?",
            r"(?:(?:[*_]{0,2}[ \t]*:{1,2}[*_]{0,2}|[ \t]+(?:is|was|are|=|equals|becomes|will[ \t]+be|set[ \t]+to|changed[ \t]+to|reset[ \t]+to",
            // The same verbs in other languages, arrows and dashes.
            r"|ist|lautet|es|est|era|\xC3[\xA8\xA9]|foi|jest|je|er|[=-]>|\xE2\x86\x92|\xE2\x80[\x93\x94])[ \t]*:?",
            r"(?:[ \t]+(?:now|still|just|currently|set[ \t]+to|changed[ \t]+to)[ \t]*:?){0,2})[ \t]+",
            r"|[ \t]*(?:\xE3\x81\xAF|\xEF\xBC\x9A|\xE6\x98\xAF|\xE4\xB8\xBA|\xEB\x8A\x94)[ \t]*)",
            prose_value!()
        ),
        is_said,
    ),
    // Sentences without a verb: `log in with the password x`.
    (
        "password",
        prose_words!(),
        concat!("(?i)", prose_name!(), r"[ \t]+(?:to[ \t]+)?", prose_value!()),
        |value| is_passed(value) && is_no_name(value),
    ),
    // Sentences with a user and a password: `log in as admin / x`.
    (
        "password",
        "login|log in|sign in|credentials",
        concat!(
            r"(?i)\b(?:log[ -]?in|sign[ -]?in|credentials)\b(?:/\w{2,10})?[^\r\n/]{0,60}[ \t:`][\w.@-]{2,40}`?[ \t]+/[ \t]+",
            prose_value!()
        ),
        |value| is_passed(value) && is_no_name(value),
    ),
    // Sentences in the other order: `x is the password`.
    (
        "password",
        prose_words!(),
        r"(?i)(\S{6,100})[ \t]+(?:is|was)[ \t]+(?:the|my|our|your|its)[ \t]+(?:\w{1,20}[ \t]+){0,2}(?:password|passwd|passphrase|passcode)\b",
        is_said,
    ),
    // A passphrase of plain words, to the end of the line.
    (
        "password",
        "passphrase",
        r"(?im)\bpassphrase(?:[ \t]+is|[ \t]+was|[ \t]*[:=])[ \t]+([a-z]+(?:[ -][a-z]+){3,11})[.]?[ \t\r]*$",
        |value| {
            !value
                .split([' ', '-'])
                .any(|word| FUNCTION_WORDS.contains(&&*word.to_ascii_lowercase()))
        },
    ),
    (
        "secret",
        token_words!(),
        concat!(
            "(?i)",
            token!(),
            r#"["']?[ \t]{0,8}:[ \t]{1,20}"#,
            r#"([^\s"'\x60;&,<>(){}\[\]|\\*][^\s"'\x60;&,<>(){}\[\]|\\]{15,})(?:[\s"'\x60;&,)}\]|]|$)"#
        ),
        |value| {
            !is_placeholder(value)
                && is_random(value)
                && !is_path(value)
                && !is_type(value)
                && !is_name(value)
        },
    ),
    (
        "aws-secret-access-key",
        "secret",
        r#"(?i)\bsecret(?:[ _-]?access)?(?:[ _-]?key)?(?:[ \t]+is)?[ \t:=]{1,4}["'\x60]?([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|$)"#,
        |value| is_random(value) && !value.bytes().all(|c| c.is_ascii_hexdigit()),
    ),
];

/// The head of a column of passwords.
static COLUMN: LazyLock<Regex> = LazyLock::new(|| {
    let name = concat!(r"(?i)^(?:[\w -]{0,20}[ _-])?", password!(), "$");
    // This cannot fail: a test reads a table.
    RegexBuilder::new(name).unicode(false).build().expect("a valid regex")
});

/// Returns the passwords in a table whose first line is at `head`, and where the table ends: cells
/// below the name of a password, in Markdown or between commas, semicolons or tabs. `None` if no table
/// begins there.
pub(super) fn table(text: &str, head: &Range<usize>) -> Option<(Vec<Range<usize>>, usize)> {
    let names = &text[head.clone()];
    let separator = ['|', '\t', ';', ','].into_iter().find(|c| names.contains(*c))?;
    let is_markdown = separator == '|';
    let in_frame = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '*' | '_');
    let is_name = |cell: &str| COLUMN.is_match(cell.trim_matches(in_frame).as_bytes());
    let column = names.split(separator).position(is_name)?;
    // A list of arguments is not the head of a table.
    if names.contains(['(', ')', '=', '{', '}', '[', ']'])
        || (!is_markdown && names.starts_with(char::is_whitespace))
    {
        return None;
    }
    let n_cells = names.split(separator).count();
    let (mut found, mut at) = (Vec::new(), head.end + 1);
    for (i, row) in text.get(at..)?.split_inclusive('\n').enumerate() {
        let is_ruler = row.contains("--") && row.trim().chars().all(|c| "|:- \t".contains(c));
        if row.split(separator).count() != n_cells || (is_markdown && i == 0 && !is_ruler) {
            break;
        }
        at += row.len();
        let cell = row.split(separator).nth(column).unwrap_or_default().trim_matches(in_frame);
        if is_passed(cell) {
            let start = cell.as_ptr() as usize - text.as_ptr() as usize;
            found.push(start..start + cell.len());
        }
    }
    Some((found, at))
}

/// Whether another program fills in `value`: `${DB_PASSWORD}`, `<password>`, `xxxx`, a regex.
fn is_template(value: &str) -> bool {
    let value = value.trim_matches(['"', '\'', '`']);
    let is_name = |s: &str| {
        !s.is_empty() && s.bytes().all(|c| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'.'))
    };
    let in_percents = value
        .strip_prefix('%')
        .and_then(|s| s.strip_suffix('%').or(Some(s).filter(|s| s.len() < 2)));
    value.bytes().all(|c| matches!(c, b'x' | b'X' | b'*' | b'.' | b'-' | b'_' | b'#' | b'?'))
        || value.bytes().all(|c| Some(c) == value.bytes().next())
        || value.strip_prefix('$').is_some_and(is_name)
        || in_percents.is_some_and(is_name)
        || (value.starts_with(['<', '{', '[']) && value.ends_with(['>', '}', ']']))
        || [
            "${", "$(", "{{", "<%", "#{", "%{", "%(", "[a-z", "[A-Z", "[0-9", "[^", "\\w", "\\d",
            "\\S", "xxxx", "XXXX",
        ]
        .iter()
        .any(|part| value.contains(part))
}

/// Whether `value` is a placeholder: a template, `changeme`, `your-token`, `process.env.TOKEN`.
pub(super) fn is_placeholder(value: &str) -> bool {
    const STARTS: &str = "your example placeholder dummy todo process.env os.environ env. \
        std::env env( getenv redacted";
    const WORDS: &str = "changeme change_me change-me changeit pass pwd passwd none null nil \
        true false undefined";
    let low = value.trim_matches(['"', '\'', '`']).to_ascii_lowercase();
    is_template(value)
        // The name of a user or an encoding comes first: `admin:changeme`.
        || value.rsplit_once(':').is_some_and(|(_, rest)| rest.len() > 3 && is_placeholder(rest))
        || STARTS.split(' ').any(|start| low.starts_with(start))
        || WORDS.split(' ').any(|word| word == low)
}

/// Whether `value` is a word that often follows `password` in forms, schemas and messages.
fn is_plain_word(value: &str) -> bool {
    const WORDS: &str = "string text secret token hidden required optional invalid missing \
        username user email login input number bool boolean object field value prompt plain \
        bcrypt argon2 argon2id scrypt encrypted hashed unknown empty default type";
    let low = value.to_ascii_lowercase();
    WORDS.split(' ').any(|word| word == low)
        || (low.matches('.').count() > 1 && low.bytes().all(|c| c.is_ascii_digit() || c == b'.'))
        || (["password", "passwort", "passwd", "passphrase"].iter().any(|word| low.contains(word))
            && low
                .bytes()
                .all(|c| c.is_ascii_alphabetic() || matches!(c, b'_' | b'-' | b'.' | b':')))
}

/// Whether `value` looks generated, unlike a word or a name.
pub(super) fn is_random(value: &str) -> bool {
    if is_scrambled(value) {
        return true;
    }
    let has = |test: fn(&u8) -> bool| value.as_bytes().iter().any(test);
    let letters = has(u8::is_ascii_alphabetic);
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let mixed = has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase);
    letters
        && entropy(value) > 2.0
        && (digits >= 2
            || (digits == 1 && value.len() >= 12)
            || (mixed && value.len() >= 20 && entropy(value) > 3.8))
}

/// Whether `value` has a letter, and a digit or a sign that names do not have, or no name has such
/// letters.
fn has_digit_or_sign(value: &str) -> bool {
    let has_letter = value.bytes().any(|c| c.is_ascii_alphabetic());
    let is_odd = value.bytes().any(|c| {
        c.is_ascii_digit()
            || matches!(c, b'!' | b'#' | b'$' | b'%' | b'^' | b'*' | b'+' | b'?' | b'~' | b'@')
    });
    (is_odd && has_letter) || is_scrambled(value)
}

/// Whether `value` is letters in random case (`tencYFJEeAgYzQJj`): most of the words that its capitals
/// begin are short or have no vowel.
fn is_scrambled(value: &str) -> bool {
    let bytes = value.as_bytes();
    let is_mixed =
        bytes.iter().any(u8::is_ascii_lowercase) && bytes.iter().any(u8::is_ascii_uppercase);
    if value.len() < 12 || !is_mixed || !bytes.iter().all(u8::is_ascii_alphabetic) {
        return false;
    }
    let is_vowel = |letter: &u8| b"aeiouyAEIOUY".contains(letter);
    // A capital begins a word, unless it is among others (`HTTPServer`).
    let begins = |i: usize| {
        let is_capital = |at: usize| bytes.get(at).is_none_or(u8::is_ascii_uppercase);
        i == 0 || (is_capital(i) && (!is_capital(i - 1) || !is_capital(i + 1)))
    };
    let mut starts: Vec<usize> = (0..bytes.len()).filter(|i| begins(*i)).collect();
    starts.push(bytes.len());
    let words = starts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]);
    let is_odd = |word: &&[u8]| word.len() < 3 || !word.iter().any(is_vowel);
    let n_odd: usize = words.filter(is_odd).map(<[u8]>::len).sum();
    n_odd * 2 >= bytes.len()
}

/// What follows a number in programs.
const NUMBER_SUFFIXES: &str =
    "u l ul ull lu llu f i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f32 f64";
/// Beginnings of values that say where a secret is.
const REFERENCES: &str = "#/ env: $env: vault: arn: ssm: kms: file: ref+ enc[ keyring: sops: \
    keyvault:";

/// Whether `value` is what a program has in the place of a secret, whatever its name: a number, or a
/// reference to the secret.
pub(super) fn is_code(value: &str) -> bool {
    let low = value.to_ascii_lowercase();
    let low = low.trim_matches(['"', '\'', '`', ',', ';', '(', ')']);
    is_number(low) || REFERENCES.split(' ').any(|start| low.starts_with(start))
}

/// Whether `value`, in lower case, is a number as programs write it: `0x18c`, `0b11`, `1_000usize`,
/// `2.5f`. Six and more digits alone may be a password, and many hexadecimal digits a key.
fn is_number(value: &str) -> bool {
    let value = value.trim_start_matches(['-', '+', '~', '!']);
    let based = value.strip_prefix("0x").or_else(|| value.strip_prefix("0b"));
    let is_digit = |c: char| match based {
        Some(_) => c.is_ascii_hexdigit() || c == '_',
        None => c.is_ascii_digit() || matches!(c, '_' | '.'),
    };
    let all = based.unwrap_or(value);
    let (digits, suffix) = all.split_at(all.find(|c| !is_digit(c)).unwrap_or(all.len()));
    let most = if based.is_none() && suffix.is_empty() { 5 } else { 16 };
    digits.starts_with(|c: char| c.is_ascii_hexdigit())
        && digits.bytes().filter(u8::is_ascii_alphanumeric).count() <= most
        && (suffix.is_empty() || NUMBER_SUFFIXES.split(' ').any(|known| known == suffix))
}

/// Whether `value` is the path of a file (`/run/secrets/key`).
fn is_file(value: &str) -> bool {
    !value.ends_with('=')
        && (value.starts_with(['/', '~']) || value.starts_with("./") || value.starts_with("../"))
        && value[1..].contains('/')
}

/// Whether `value` is a path of names (`self.config.token2`, `aws::Token`) or of a file.
fn is_path(value: &str) -> bool {
    let is_name = |s: &str| {
        s.bytes().next().is_none_or(|c| c.is_ascii_alphabetic() || c == b'_')
            && s.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_')
            && s.len() < 24
            && s.bytes().filter(u8::is_ascii_digit).count() < 3
    };
    let parts = |by: &str| {
        // The first of many may be a variable (`e.target.value2`).
        let n_short = usize::from(value.matches(by).count() > 1);
        value.contains(by)
            && !value.ends_with(by)
            && value.split(by).all(is_name)
            && value.split(by).skip(n_short).all(|part| part.len() != 1)
    };
    is_file(value) || value.contains("://") || parts(".") || parts("::") || value.contains("->")
}

/// Whether `value` is the name of a constant (`AES_256_KEY`).
fn is_constant(value: &str) -> bool {
    value.contains('_')
        && value.bytes().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == b'_')
        && value.bytes().filter(u8::is_ascii_digit).count() < 4
}

/// Words that occur in sentences, but not in a passphrase of random words.
const FUNCTION_WORDS: [&str; 48] = [
    "a", "about", "all", "an", "and", "any", "are", "as", "at", "be", "been", "by", "can",
    "cannot", "could", "for", "from", "has", "have", "if", "in", "into", "is", "it", "its",
    "least", "may", "must", "no", "not", "of", "on", "only", "or", "should", "so", "that", "the",
    "then", "they", "this", "to", "used", "was", "when", "which", "will", "with",
];

/// Whether the value that a sentence calls a password is one: it differs from words, names,
/// versions and algorithms, or it is several quoted words that are not a sentence.
fn is_said(value: &str) -> bool {
    if value.contains(' ') {
        let is_word = |word: &str| {
            word.bytes().all(|c| c.is_ascii_alphanumeric())
                && !FUNCTION_WORDS.contains(&&*word.to_ascii_lowercase())
        };
        return value.split(' ').count() > 3 && value.split(' ').all(is_word);
    }
    let value = value.trim_matches(|c: char| {
        c.is_ascii_punctuation() && !matches!(c, '$' | '#' | '%' | '^' | '~' | '*' | '+')
    });
    let has = |test: fn(&u8) -> bool| value.as_bytes().iter().any(test);
    value.len() >= 6
        && has(u8::is_ascii_alphabetic)
        && (has(u8::is_ascii_digit) || is_scrambled(value))
        && !value.contains(['(', ')', '[', ']', '{', '}'])
        && !is_placeholder(value)
        && !is_path(value)
        && !is_constant(value)
        && !is_algorithm(value)
        && !is_measure(value)
        && !is_sized_type(value)
        && !is_expression(value)
        && !is_name(value)
}

/// Whether a value that stands apart from the name of a password is one.
fn is_passed(value: &str) -> bool {
    !value.contains(' ') && is_said(value)
}

/// Whether a value that stands apart from the name of a key is one.
fn is_key(value: &str) -> bool {
    is_random(value)
        && is_no_name(value)
        && !value.contains('(')
        && !is_placeholder(value)
        && !is_path(value)
        && !is_constant(value)
        && !is_name(value)
        && !is_camel(value)
}

/// Whether `value` is a name in camel case (`hasV2UpgradeToken`): its words are long, its digits few.
fn is_camel(value: &str) -> bool {
    let bytes = value.as_bytes();
    let n_capitals = bytes.iter().filter(|c| c.is_ascii_uppercase()).count();
    bytes.iter().all(u8::is_ascii_alphanumeric)
        && bytes.iter().filter(|c| c.is_ascii_digit()).count() < 3
        && n_capitals * 4 <= bytes.len()
        && bytes.iter().any(u8::is_ascii_lowercase)
        && !is_scrambled(value)
}

/// Whether no name looks like `value`.
fn is_no_name(value: &str) -> bool {
    has_inner_digit(value) || is_scrambled(value)
}

/// Whether a letter follows a digit. In names with a number, the digits come last.
fn has_inner_digit(value: &str) -> bool {
    value.as_bytes().windows(2).any(|w| w[0].is_ascii_digit() && w[1].is_ascii_alphabetic())
}

/// Whether `value` is the name of a file or an option (`format_1.yml`, `length=8`).
fn is_name(value: &str) -> bool {
    let is_part =
        |s: &str| s.bytes().all(|c| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'-' | b'/'));
    value
        .rsplit_once('.')
        .is_some_and(|(stem, end)| (2..5).contains(&end.len()) && is_part(end) && is_part(stem))
        || value
            .split_once('=')
            .is_some_and(|(name, _)| name.bytes().all(|c| c.is_ascii_alphabetic() || c == b'_'))
        || (value.contains('_')
            && value.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'_'))
}

/// Whether `value` can only be code.
fn is_expression(value: &str) -> bool {
    ["&&", "||", "??", "==", "!=", "->", "=>", "::", "?."].iter().any(|sign| value.contains(sign))
        || is_path(value.trim_end_matches(['!', '?', ';', ',']))
        // An e-mail address is not the password.
        || value.split_once('@').is_some_and(|(user, host)| {
            !user.is_empty() && host.contains('.') && host.bytes().all(|c| c.is_ascii_alphanumeric() || matches!(c, b'.' | b'-'))
        })
}

/// Whether `value` is a number with its unit (`8-character`, `16-byte`, `2fa`), or a version.
fn is_measure(value: &str) -> bool {
    let rest = value
        .trim_start_matches(['v', 'V', '~', '+'])
        .trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '+' | '%'));
    let unit = rest.strip_prefix('-').unwrap_or(rest);
    let is_word = unit.bytes().all(|c| c.is_ascii_alphabetic() || c == b'-');
    rest.len() < value.len() && is_word && (rest.len() != unit.len() || unit.len() < 4)
}

/// The beginnings of names of algorithms, encodings and protocols. A digit, a
/// sign or nothing follows.
const ALGORITHMS: &str = "sha md md4 md5 base utf hex hexdigest latin argon bcrypt scrypt pbkdf aes rsa ed25519 x509 oauth http https ntlm pkcs rfc iso rot \
ssh tls ipv s3 k8s i18n ec2 win x11 e2e p12 pgp log4j des blowfish krb kerberos 1password";

/// The beginnings of names of types, with the same continuation.
const TYPES: &str = "int uint float string str bytes char varchar array vec";

/// Whether `value` is a type with its size (`varchar255`, `bytes32`), or the name of something that
/// such a type begins (`string2Schema`).
fn is_sized_type(value: &str) -> bool {
    let low = value.to_ascii_lowercase();
    TYPES.split(' ').filter(|word| low.starts_with(word)).any(|word| {
        let rest = value[word.len()..].trim_start_matches(|c: char| c.is_ascii_digit());
        rest.len() < value.len() - word.len()
            && (rest.is_empty() || rest.starts_with(|c: char| c.is_ascii_uppercase()))
            && rest.bytes().all(|c| c.is_ascii_alphabetic())
            && !is_scrambled(value)
    })
}

/// Whether `value` begins with one of the words, followed by a digit, a sign or nothing.
fn starts_with_one(value: &str, words: &str) -> bool {
    let low = value.to_ascii_lowercase();
    words.split(' ').any(|word| {
        low.strip_prefix(word)
            .is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphabetic()))
    })
}

/// Whether `value` names an algorithm, an encoding or a protocol (`sha256`, `OAuth2-based`).
fn is_algorithm(value: &str) -> bool {
    value.len() < 20
        && value
            .bytes()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'-' | b'/' | b'.'))
        && starts_with_one(value, ALGORITHMS)
}

/// Words that occur in examples, tests and forms.
const EXAMPLE_WORDS: &str = include_str!("example_words.txt");

/// Whether a value that the rule `id` found in a file is an example, a label or a name: a word, or
/// stock words with a number (`test`, `my-secret-token1`).
pub(super) fn is_example(id: &str, value: &str) -> bool {
    match id {
        // The place in a URL proves that this is a password, however weak. Only what
        // documentation writes stays.
        URL_PASSWORD => value.len() > 3 && is_of_words(value),
        // The name of an environment variable proves it as well.
        "env-password" => {
            let value = value.trim_end_matches([',', ';']);
            is_of_words(value)
                || is_name(value)
                || is_path(value)
                || is_constant(value)
                || is_sequence(value)
        }
        // `authorization = TestOAuth2Authorizations.build()`.
        "authorization" if value.split('.').next().is_some_and(is_type) => true,
        "password" | "secret" | "env-secret" | "url-token" | "authorization" | ENTRY_PASSWORD
        | ENTRY_SECRET | KUBERNETES => {
            !has_digit_or_sign(value)
                || is_of_words(value)
                || is_measure(value)
                || is_algorithm(value)
                || is_sequence(value)
                || (is_slug(value) && (!id.ends_with("password") || value.contains(['|', '#'])))
                || is_constant(value.trim_start_matches('@'))
                // Letters of another script, in a file of translations, are escaped.
                || value.contains("\\u")
                || value.contains("\\x")
                || (is_type(value) && is_counted(value))
                || is_named_so(value)
                || (value.contains("X509") && (!has_digit_or_sign(&value.replace("X509", "")) || is_type(&value.replace("X509", ""))))
        }
        _ => false,
    }
}

/// Whether `value` consists of words in lower case and short numbers with signs between them
/// (`pm-27581-device-auth-key`, `required|string|max:255`). Keys do not; passwords may.
fn is_slug(value: &str) -> bool {
    let is_part = |part: &str| {
        (part.len() < 15 && part.bytes().all(|c| c.is_ascii_lowercase()))
            || (part.len() < 6 && part.bytes().all(|c| c.is_ascii_digit()))
    };
    value.contains(['-', '_', '.', '|', '#', ':', '/'])
        && value.split(['-', '_', '.', '|', '#', ':', '/']).all(is_part)
}

/// Whether `value` is a name that ends with a word for a password, or has one of another language:
/// `kShadowPass1`, `novaSenha2`.
fn is_named_so(value: &str) -> bool {
    const WORDS: [&str; 8] =
        ["passwort", "kennwort", "contrase", "senha", "clave", "wachtwoord", "depasse", "heslo"];
    // A variable: `kShadowPass1`, `newToken2`.
    const LAST: [&str; 5] = ["Pass", "Password", "Pwd", "Secret", "Token"];
    let stem = value.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_variable = value.len() - stem.len() < 3
        && stem.starts_with(|c: char| c.is_ascii_lowercase())
        && stem.bytes().all(|c| c.is_ascii_alphabetic())
        && LAST.iter().any(|word| stem.ends_with(word));
    if is_variable {
        return true;
    }
    let low = value.to_lowercase().replace(['_', '-'], "");
    let name = low.trim_end_matches(|c: char| c.is_ascii_digit());
    low.len() - name.len() < 3
        && name.chars().all(char::is_alphabetic)
        && WORDS.iter().any(|word| name.contains(word))
}

/// Whether `value` has few digits, and only at its end: `Oauth2`, `keyname1`.
fn is_counted(value: &str) -> bool {
    let name = value.trim_end_matches(|c: char| c.is_ascii_digit());
    value.len() - name.len() < 3
        && name.bytes().all(|c| c.is_ascii_alphabetic() || matches!(c, b'_' | b'-'))
}

/// Whether `value` counts up or down, or repeats itself (`abcdef123456`,
/// `0123456789abcdef`, `deadbeefdeadbeef`).
fn is_sequence(value: &str) -> bool {
    let bytes = value.as_bytes();
    let n_steps = bytes.windows(2).filter(|w| w[0].abs_diff(w[1]) <= 1).count();
    let repeats = |period: usize| bytes[period..].iter().zip(bytes).all(|(a, b)| a == b);
    let is_hex = bytes.iter().all(u8::is_ascii_hexdigit);
    // Somebody may write a word twice to get a longer password.
    let longest = if is_hex { bytes.len() / 2 } else { 4.min(bytes.len() / 2) };
    n_steps * 4 >= bytes.len() * 3 || (4..=longest).any(repeats)
}

/// Whether `value` consists of example words, a few digits that number them, and signs.
fn is_of_words(value: &str) -> bool {
    let low = value.to_ascii_lowercase();
    let digits: String = low.chars().filter(char::is_ascii_digit).collect();
    let parts: Vec<&str> =
        low.split(|c: char| !c.is_ascii_alphabetic()).filter(|part| !part.is_empty()).collect();
    // A single letter may occur, as in `s3-secret`.
    let n_letters = parts.iter().filter(|part| part.len() == 1).count();
    (digits.len() < 4 || is_sequence(&digits))
        && n_letters < 2
        && n_letters < parts.len()
        && parts.iter().all(|part| part.len() == 1 || is_joined(part))
}

/// Whether `text`, in lower case, consists of example words without separators.
fn is_joined(text: &str) -> bool {
    // `reaches[i]` is true if the first i letters are words.
    let mut reaches = vec![false; text.len() + 1];
    reaches[0] = true;
    for end in 1..=text.len() {
        reaches[end] = EXAMPLE_WORDS
            .split_ascii_whitespace()
            .any(|word| text[..end].ends_with(word) && reaches[end - word.len()]);
    }
    reaches[text.len()]
}

/// Whether `value` is the name of a constant, a type or an algorithm (`Utf8PathBuf`, `sha256`).
fn is_type(value: &str) -> bool {
    let count = |test: fn(&u8) -> bool| value.bytes().filter(test).count();
    // A digit in a name ends a word: `Utf8PathBuf`, not `Tr0ub4dor`.
    let has_inner_digit =
        value.as_bytes().windows(2).any(|w| w[0].is_ascii_digit() && w[1].is_ascii_lowercase());
    let is_camel = value.starts_with(|c: char| c.is_ascii_uppercase())
        && count(u8::is_ascii_lowercase) > 0
        && !has_inner_digit
        && !is_scrambled(value);
    let is_few =
        count(u8::is_ascii_digit) < 3 && count(u8::is_ascii_uppercase) < 8 && value.len() < 40;
    is_constant(value)
        || is_algorithm(value)
        || (value.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_' || c == b'-')
            && ((is_camel && is_few) || (value.len() < 16 && starts_with_one(value, TYPES))))
}

/// Returns the Shannon entropy of `value` in bits per byte.
pub(super) fn entropy(value: &str) -> f64 {
    let mut counts = [0_usize; 256];
    for byte in value.bytes() {
        counts[usize::from(byte)] += 1;
    }
    let len = value.len() as f64;
    counts.iter().filter(|&&n| n > 0).map(|&n| n as f64 / len).map(|p| -p * p.log2()).sum()
}
