use super::*;

/// Returns made-up letters and digits, so that this file contains no secret.
fn noise(alphabet: &str, len: usize) -> String {
    let alphabet = alphabet.as_bytes();
    let mut state = 0x9e37_79b9_u32;
    (0..len)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            char::from(alphabet[(state >> 8) as usize % alphabet.len()])
        })
        .collect()
}

fn alnum(len: usize) -> String {
    noise("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", len)
}

fn hex(len: usize) -> String {
    noise("0123456789abcdef", len)
}

/// Texts with a secret, and the secret.
fn positive() -> Vec<(String, String)> {
    let aws_id = format!("{}{}", "AKIA", noise("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16));
    let aws_secret = noise("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/+", 40);
    let slack =
        format!("{}{}-{}-{}", "xoxb-", noise("123456789", 12), noise("987654321", 12), alnum(24));
    let openai_old =
        format!("{}{}{}{}", "sk-", alnum(20), "T3Blbk", format_args!("FJ{}", alnum(20)));
    let jwt = format!("{}{}.{}{}.{}", "eyJ", alnum(30), "eyJ", alnum(60), alnum(43));
    let pem_body = (0..6).map(|_| alnum(64) + "\n").collect::<String>();
    let pem = format!(
        "-----BEGIN {}-----\n{pem_body}{}==\n-----END {}-----",
        "RSA PRIVATE KEY",
        alnum(10),
        "RSA PRIVATE KEY"
    );
    let pem_line = pem.replace('\n', "\\n");
    let cut = format!("-----BEGIN {}-----\n{pem_body}", "OPENSSH PRIVATE KEY");
    let plain = |text: &str, secret: &str| (text.replace('%', secret), secret.to_owned());
    let mut all = vec![
        plain("aws_access_key_id = %", &aws_id),
        plain("the key % was leaked", &aws_id),
        plain("(%)", concat!("AKIA", "IOSFODNN7", "EXAMPLE")),
        plain("aws_secret_access_key = %", &aws_secret),
        plain("AWS_SECRET_ACCESS_KEY=%", &aws_secret),
        plain("\"secretAccessKey\": \"%\"", &aws_secret),
        plain("remote uses %.", &format!("{}{}", "ghp_", alnum(36))),
        plain("GITHUB_TOKEN=%", &format!("{}{}", "gho_", alnum(36))),
        plain("(%)", &format!("{}{}_{}", "github_pat_", alnum(22), alnum(59))),
        plain("PRIVATE-TOKEN: %", &format!("{}{}", "glpat-", alnum(20))),
        plain("slack `%` bot", &slack),
        plain("stripe.api_key = '%'", &format!("{}{}", "sk_live_", alnum(24))),
        plain("use %, please", &format!("{}{}", "rk_test_", alnum(24))),
        plain("OPENAI_API_KEY=%", &openai_old),
        plain("key: %", &format!("{}{}", "sk-proj-", alnum(48))),
        plain("it is %.", &format!("{}{}", "sk-", alnum(48))),
        plain(
            "ANTHROPIC_API_KEY=\"%\"",
            &format!("{}{}-{}AA", "sk-ant-api03-", alnum(60), alnum(32)),
        ),
        plain("claude with % works", &format!("{}{}", "sk-ant-api03-", alnum(30))),
        plain("https://maps.example.com/?key=%&v=3", &format!("{}{}", "AIza", alnum(35))),
        plain("//packages.example.org/:_authToken=%", &format!("{}{}", "npm_", alnum(36))),
        plain("password = % # pypi", &format!("{}{}", "pypi-AgEIcHlwaS5vcmc", alnum(80))),
        plain("cookie: session=%; Path=/", &jwt),
        plain("hf: %", &format!("{}{}", "hf_", noise("abcdefghijklmnopqrstuvwxyz", 34))),
        plain("password = \"%\"", concat!("hunter2", "-very-secret")),
        plain("let password: &str = \"%\";", concat!("hunter2", "-very-secret")),
        plain("{\"password\":\"%\"}", concat!("sword", "fish")),
        plain("{\\\"db_password\\\": \\\"%\\\"}", concat!("s3cr3t", "!pw")),
        plain("PASSWORD=%", concat!("sword", "fish")),
        plain("A=1\nexport DB_PASSWORD=%\nB=2", concat!("p@ss/", "w0rd,x")),
        plain("- POSTGRES_PASSWORD=%", concat!("sword", "fish")),
        plain("MYSQL_ROOT_PASSWORD='%'", concat!("sword", "fish9")),
        plain("  password: %\n  user: bob", concat!("hunter", "22")),
        plain("Server=db;User Id=sa;Password=%;Encrypt=yes", concat!("Pa55", "w0rd!")),
        plain("mysql --password=% -u root", concat!("hun", "ter2!")),
        plain("os.environ['API_KEY'] = '%'", &hex(32)),
        plain("client_secret: %", &alnum(32)),
        plain("postgres://bob:%@db.internal:5432/app", concat!("hun", "ter2")),
        plain("DATABASE_URL=mysql://root:%@localhost/x?y=1", concat!("p@ss#", "w0rd")),
        plain("password: '%'", concat!("a\"b`c", "\\'d1")),
        plain("spring.datasource.password=%", concat!("Tr0ub4", "dor&3")),
        plain("The password is %.", concat!("hunter2", "secret")),
        plain("sshpass -p '%' ssh root@host", concat!("Tr0ub4", "dor&3")),
        plain("and the secret % of it", &aws_secret),
        plain("bot %", &format!("{}:{}{}", noise("123456789", 9), "AA", alnum(33))),
        plain("TOKEN=%", &alnum(3000)),
        plain("PASSWORD=%", &alnum(3000)),
        plain("secret = \"%\"", &alnum(3000)),
        plain("env('API_KEY', '%')", &hex(32)),
        plain("VALUES ('db_password', '%')", concat!("s3cret!", "passw0rd")),
        plain("redis://:%@cache:6379", concat!("swor", "dfish")),
        plain("https://%@github.com/a/b.git", &alnum(40)),
        plain("Authorization: Bearer %", &alnum(24)),
        plain("headers={'Authorization': 'Bearer %'}", &hex(40)),
        plain("Authorization: Basic %", concat!("dXNlcjpw", "YXNzd29yZA==")),
        plain("curl -H \"Authorization: token %\" https://x.y", &hex(40)),
        plain(
            "https://hooks.slack.com/services/%",
            &format!("T{}/B{}/{}", alnum(10), alnum(10), alnum(24)),
        ),
        plain("passphrase = \"%\"", concat!("correct horse ", "battery staple")),
        plain("ünïcode → password = \"%\" ←", concat!("pässwörd", "-ß9")),
    ];
    for text in [pem, pem_line, cut] {
        all.push((format!("before\n{text}\nafter"), text.trim_end().to_owned()));
    }
    all
}

/// Texts without a secret.
fn negative() -> Vec<String> {
    let texts = [
        "pub password: String,",
        "password: string;",
        "    password: Utf8PathBuf,",
        "token = get_token()",
        "let token = self.next_token();",
        "let secret = load_secret(&path)?;",
        "password = input('Password: ')",
        "connect(user=user, password=password)",
        "connect(password=self.config.password2)",
        "fn check(password: &str, token: Option<&str>) -> bool {",
        "password=os.environ[\"PGPASSWORD\"]",
        "PASSWORD=${DB_PASSWORD}",
        "PASSWORD=$1",
        "password = \"${DB_PASSWORD}\"",
        "password: \"<your password>\"",
        "password = \"********\"",
        "password = \"changeme\"",
        "{\"password\": {\"type\": \"string\"}}",
        "<input type=\"password\" name=\"password\">",
        "\"password\": \"string\"",
        "error: \"password\", \"Passwords do not match\"",
        "Never store a password in plain text; the password should be hashed with argon2id.",
        "The password must have 8 characters, the token 16.",
        "An API key is a secret: keep it in the secret store, e.g. secret-name: my-app-credentials.",
        "max_tokens: 4096, token_count=1234567890123456",
        "tokens: 12345, tokenizer = \"cl100k_base\"",
        "secretKeyRef:\n  name: db-credentials\n  key: password",
        "token: ${{ secrets.GITHUB_TOKEN }}",
        "Authorization: Bearer <token>",
        "send Authorization: Bearer ${TOKEN} with it",
        "Bearer authentication is described in RFC 6750.",
        "git show 9fceb02d0ae598e95dc970b74767f19372d61af8",
        "commit 9fceb02d0ae598e95dc970b74767f19372d61af8\nAuthor: A <a@b.c>",
        "id = \"550e8400-e29b-41d4-a716-446655440000\"",
        "hash: 0x9E3779B185EBCA87, content_hash = \"ef46db3751d8e999\"",
        "xxh3_128 99aa06d3014798d86001c324468d497f",
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "primary_key = \"550e8400e29b41d4a716446655440000\"",
        "checksum = \"8c3d1b5d8f9f3d3e9d5d3c4a1b2c3d4e5f60718293a4b5c6d7e8f9a0b1c2d3e4\"",
        "see https://example.com:8080/a@b and git@github.com:a/b.git and ssh://git@host/x",
        "https://user@example.com/x, mailto:a@b.c",
        "The file starts with -----BEGIN RSA PRIVATE KEY----- and ends with -----END RSA PRIVATE KEY-----.",
        "const HEADER: &str = \"-----BEGIN PRIVATE KEY-----\";",
        "if text.starts_with(\"ghp_\") || text.starts_with(\"sk-\") {",
        "class=\"sk-folding-cube-1 sk-circle12-animation-delay-longer-than-this\"",
        "PWD=/home/bob/src/project1",
        "PWD: '/home/bob/src'",
        "The password is hashed with sha256 and is at least 12 characters; the password is sha512-crypted.",
        "password = hash_password(&input2)",
        "password = cfg.password1",
        "The secret 9fceb02d0ae598e95dc970b74767f19372d61af8 is the hash of a commit.",
        "secret_file = \"/run/secrets/db_password1\"",
        "token = Token::Ident(name1)",
        "private_key_path: ~/.ssh/id_ed25519",
        "API_KEY_NAME=production-key-2",
        "token=$(cat token2.txt)",
        "password: *const c_void",
        "DialogToken: DOT11_DIALOG_TOKEN,",
        "for field in [\"username\", \"password\", \"client_secret\"] {",
        "OID_USER_PASSWORD = \"2.5.4.35\"",
        "Rule::new(\"demo.secret\", \"Demo\", \"(acme_[a-z0-9]{16})\")",
        "postgres://$USER:$PASS@db/x, postgres://user:${DB_PASS}@db/x, postgres://<user>:<password>@db/x",
        "let api_key = std::env::var(\"API_KEY_2\")?;",
    ];
    texts.iter().map(ToString::to_string).collect()
}

#[test]
fn every_rule_compiles() {
    assert!(RULES.all.len() > 300);
    for rule in &RULES.all {
        assert!(rule.compiled().is_some(), "{}", rule.id);
        assert!(
            rule.keywords.iter().all(|k| !k.is_empty() && *k == k.to_ascii_lowercase()),
            "{}",
            rule.id
        );
    }
    let n_lines = DATA.lines().filter(|line| !line.starts_with('#')).count();
    assert_eq!(n_lines + OWN.len(), RULES.all.len(), "a line of the data was not read");
}

#[test]
fn secrets_are_taken_out() {
    let mut missed = Vec::new();
    for (text, secret) in positive() {
        let done = redact(&text);
        if done.text.contains(&secret) || done.n_secrets == 0 || !done.text.contains(MARK) {
            missed.push((text, done.text));
        }
    }
    assert!(missed.is_empty(), "{} missed: {missed:#?}", missed.len());
}

#[test]
fn what_is_no_secret_stays() {
    let mut changed = Vec::new();
    for text in negative() {
        let done = redact(&text);
        if done.text != text || done.n_secrets != 0 {
            changed.push((text, done.text));
        }
    }
    assert!(changed.is_empty(), "{} changed: {changed:#?}", changed.len());
}

#[test]
fn only_the_secret_goes() {
    let token = format!("{}{}", "ghp_", alnum(36));
    assert_eq!(
        redact(&format!("push with {token}, then stop")).text,
        "push with [REDACTED:github-pat], then stop"
    );
    for password in ["pass", "password", "x1"] {
        let done = redact(&format!("postgres://user:{password}@host/db")).text;
        assert_eq!(done, "postgres://user:[REDACTED:url-password]@host/db");
    }
    let url = format!("postgres://bob:{}@db:5432/app", concat!("hun", "ter2"));
    assert_eq!(
        redact(&url),
        Redacted {
            text: "postgres://bob:[REDACTED:url-password]@db:5432/app".to_owned(),
            n_secrets: 1
        }
    );
}

#[test]
fn redacting_twice_changes_nothing() {
    let mut texts: Vec<String> = positive().into_iter().map(|(text, _)| text).collect();
    texts.push(texts.join("\n"));
    texts.push(texts.join(" "));
    texts.push(texts.join(","));
    texts.push("password = \"[REDACTED:password]\" PASSWORD=[REDACTED:env-password]".to_owned());
    for text in texts {
        let once = redact(&text);
        let twice = redact(&once.text);
        assert_eq!(twice, Redacted { text: once.text, n_secrets: 0 });
    }
}

#[test]
fn every_rule_id_makes_a_stable_mark() {
    for rule in &RULES.all {
        for text in [
            format!("{MARK}{}]", rule.id),
            format!("password = \"{MARK}{}]\"", rule.id),
            format!("TOKEN={MARK}{}]", rule.id),
        ] {
            assert_eq!(marks(&text).len(), 1, "{text}");
            assert_eq!(redact(&text), Redacted { text: text.clone(), n_secrets: 0 });
        }
    }
}

#[test]
fn a_private_key_goes_as_one() {
    let body = (0..20).map(|_| alnum(64) + "\n").collect::<String>();
    let kind = "EC PRIVATE KEY";
    let text = format!("a\n-----BEGIN {kind}-----\n{body}-----END {kind}-----\nb\n");
    assert_eq!(
        redact(&text),
        Redacted { text: "a\n[REDACTED:private-key]\nb\n".to_owned(), n_secrets: 1 }
    );
}

#[test]
fn a_mark_within_a_key_does_not_save_the_rest() {
    let kind = "PRIVATE KEY";
    let (head, tail) = (alnum(64), hex(64));
    let text =
        format!("-----BEGIN {kind}-----\n{head}\n[REDACTED:jwt]\n{tail}\n-----END {kind}-----\n");
    let done = redact(&text).text;
    assert!(!done.contains(&head) && !done.contains(&tail), "{done}");
    assert_eq!(redact(&done).text, done);
}

#[test]
fn a_megabyte_is_no_trouble() {
    let mut text = String::new();
    let (some, mut n) = (negative(), 0);
    while text.len() < 1 << 20 {
        text.push_str(&some[n % some.len()]);
        text.push('\n');
        n += 1;
    }
    assert_eq!(redact(&text), Redacted { text: text.clone(), n_secrets: 0 });
    let token = format!("{}{}", "ghp_", alnum(36));
    let middle = text.floor_char_boundary(text.len() / 2);
    text.insert_str(middle, &format!("\n{token}\n"));
    let done = redact(&text);
    assert_eq!(done.n_secrets, 1);
    assert!(!done.text.contains(&token));
}

#[test]
fn odd_text_is_no_trouble() {
    for text in [
        "",
        "\u{0}",
        "🦀",
        "password = \"🦀🦀🦀🦀🦀🦀",
        "://:@",
        "[REDACTED:",
        "[REDACTED:]",
        "[REDACTED:ü]",
    ] {
        assert_eq!(redact(text).text, text);
    }
}

/// Lines of files with a secret, and the secret.
fn secrets_of_files() -> Vec<(String, String)> {
    let plain = |text: &str, secret: &str| (text.replace('%', secret), secret.to_owned());
    vec![
        plain("API=\"%\"", &format!("{}{}", "sk_live_", alnum(24))),
        plain(
            "const key = '%';",
            &format!("{}{}", "AKIA", noise("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16)),
        ),
        plain("aws_secret_access_key = \"%\"", &alnum(40)),
        plain("// push with %", &format!("{}{}", "ghp_", alnum(36))),
        plain("  password: %\n  user: bob", concat!("hunter2", "zebra9")),
        plain("db:\n  password: \"%\"", concat!("hunter2", "zebra9")),
        plain("password: %", concat!("Tr0ub4", "dor&3")),
        plain("password: %", concat!("Hunter2", "zebra9")),
        plain("DB_PASSWORD=%", concat!("hunter", "22")),
        plain("export API_TOKEN=%", &hex(32)),
        plain(
            "SECRET_KEY = '%'",
            concat!("l!t+dmzf97rt9s*yrsux1py_1@odvz1sz", "r&6&m!f@-nxq6k%%p"),
        ),
        plain("url = 'postgres://u:%@host'", "pw"),
        plain("postgres://bob:%@db.internal:5432/app", concat!("hun", "ter2")),
        plain("the db password is %", concat!("Tr0ub4", "dor&3")),
        plain("password = \"%\"", concat!("hun", "ter2")),
        plain("password: %", concat!("a1b2", "c3d9")),
        plain("password: %", concat!("char", "lie42x")),
        plain("password = '%'", concat!("admin", "8842")),
        plain("POSTGRES_PASSWORD=%", concat!("sword", "fish")),
    ]
}

/// Files without a secret, or with an example of one.
const FILES_WITHOUT_SECRETS: &[&str] = &[
    "password: String,",
    "token = get_token()",
    "secret_key = os.environ[\"X\"]",
    "password: ${DB_PASSWORD}",
    "api_key: \"your-api-key-here\"",
    "password = \"test\"",
    "password = 'testpass123'",
    "password=\"secret\"",
    "{\"password\": \"Passwort\"}",
    "client.login(username='testclient', password='password')",
    "token: 'my-secret-token1'",
    "secret = \"0123456789abcdef\"",
    "postgres://user:password@localhost/db",
    "redis://:password@hostname:port/db_number",
    "dynamodb://aws_access_key_id:aws_secret_access_key@region:port/table",
    "OAuth2Authorization authorization = TestOAuth2Authorizations.authorization(client).build();",
    "val credential: Saml2X509Credential = Saml2X509Credential.verification(certificate)",
    "ansible-vault view --vault-password-file vault-password format_1_1_AES256.yml",
    "lookup('password', output_dir + '/lookup/password length=8')",
    "vcenter_password: @VMWARE_PASSWORD",
    "s3_secret_access_key = 's3-secret-access-key'",
    "version = \"1.0.2\"\nsource = \"registry+https://example.com/index\"\nchecksum = \"5d9b39be18770d11421cdb1b9947a45dd3f37e93092cbf377614828a319d5fee\"",
    "\"integrity\": \"sha512-v2kDEe57lecTulaDIuNTPy3Ry4gLGJ6Z1O3vE1krgXZNrsQ+LFTGHVxVjcXPs17LhbZVGedAJv8XZ1tvj5FvSg==\"",
    "    pass\n    pwd = os.getcwd()\n    pw = conv2d(x, w)",
    "if password is None or len(password) < MIN_LENGTH_2:",
    "krb5_password: \"{{ lookup('env', 'KRB5_PASSWORD') }}\"",
    "emptyPassword=\\u7528\\u6237\\u540d",
    "for (Saml2X509Credential credential : verificationX509Credentials) {",
    "MYSQL_PASSWORD=changeme\nDB_PASSWORD_FILE=secrets/db.txt\nDB_PASSWORD=test1234",
    "interface Login { password: string; token?: string | null }",
    "<label for=\"password\">Password: <input type=\"password\"></label>",
];

#[test]
fn secrets_of_files_are_taken_out() {
    for (text, secret) in secrets_of_files() {
        let done = redact_file(&text);
        assert!(
            !done.text.contains(&secret) || secret.len() < 3 && done.text != text,
            "{text} → {}",
            done.text
        );
        assert_eq!(done.found.len(), 1, "{text}: {:?}", done.found);
    }
}

#[test]
fn examples_in_files_stay() {
    let changed: Vec<_> = FILES_WITHOUT_SECRETS
        .iter()
        .map(|text| (text, redact_file(text)))
        .filter(|(_, done)| !done.found.is_empty())
        .collect();
    assert!(changed.is_empty(), "{changed:#?}");
    for text in negative() {
        assert_eq!(
            redact_file(&text),
            RedactedFile { text: Cow::Borrowed(&text), found: Vec::new() }
        );
    }
}

#[test]
fn a_file_keeps_its_lines_and_each_finding_names_its_own() {
    let body = (0..20).map(|_| alnum(64) + "\n").collect::<String>();
    let kind = "EC PRIVATE KEY";
    let token = format!("{}{}", "ghp_", alnum(36));
    let text =
        format!("a\n-----BEGIN {kind}-----\n{body}-----END {kind}-----\r\nb = \"{token}\"\n\nend");
    let done = redact_file(&text);
    let lines: Vec<&str> = done.text.lines().collect();
    assert_eq!(lines.len(), text.lines().count());
    assert_eq!(
        (lines[0], lines[1], lines[2], lines[22]),
        ("a", "[REDACTED:private-key]", "", "[REDACTED:private-key]")
    );
    assert_eq!((lines[23], lines[24], lines[25]), ("b = \"[REDACTED:github-pat]\"", "", "end"));
    assert_eq!(done.found, [(2, "private-key"), (24, "github-pat")]);
    let key_alone = format!("a\n-----BEGIN {kind}-----\n{body}-----END {kind}-----");
    assert_eq!(redact_file(&key_alone).text.lines().count(), key_alone.lines().count());
}

/// Sentences with a password, and the password.
const SAID: &[(&str, &str)] = &[
    ("the db password is %", "Tr0ub4dor&3"),
    ("The password is %.", "Tr0ub4dor3"),
    ("The password is: %", "hunter2"),
    ("password is '%'", "correct horse 7 battery"),
    ("password is now `%`, tell nobody", "Tr0ub4dor&3"),
    ("the password for the staging db is %", "Tr0ub4dor&3"),
    ("password of root@db1: %", "Tr0ub4dor&3"),
    ("I set the password to %", "Tr0ub4dor&3"),
    ("The password (prod) was % until May", "Zebra!9xyz"),
    ("password: %", "Tr0ub4dor&3"),
    ("password: % (do not share)", "Tr0ub4dor;3"),
    ("Password: %, user: bob", "hunter2zebra9"),
    ("pw = %", "Tr0ub4dor&3"),
    ("pw: %", "hunter2zebra9"),
    ("pwd is %", "hunter2zebra9"),
    ("use pw % for the db", "Tr0ub4dor&3"),
    ("log in with the password %, please", "Tr0ub4dor&3"),
    ("% is the db password", "Tr0ub4dor&3"),
    ("passphrase is %", "Tr0ub4dor&3"),
    ("the passphrase: %", "correct horse battery staple"),
    ("passphrase is \"%\"", "correct horse battery staple"),
    ("the passcode is %", "9a7b3c!x"),
];

/// Sentences about passwords that contain none.
const ONLY_SAID: &[&str] = &[
    "the password is required",
    "the token is refreshed hourly",
    "the password is stored hashed",
    "the password is hashed with SHA-256, the salt is 16 bytes",
    "The password is at least 12 characters long; the passphrase 20.",
    "the password is 16-byte random data",
    "password is OAuth2-based now",
    "the password was changed on 2024-05-01",
    "The password is in 1Password, the passphrase in the vault.",
    "the passphrase is used to derive the key for the vault",
    "passphrase: at least four words that nobody knows",
    "if the password is None or empty, login fails",
    "The password is validated by validate_password2()",
    "reset the password to the default in config.yml",
    "password to login2.example.org is asked by bob@example.org",
    "the pw column is varchar(255)",
    "We store the password in AWS_SECRET_2 and read it at start.",
    "The password of the db is in src/config/db2.rs.",
];

#[test]
fn passwords_in_sentences_are_taken_out() {
    let redacted = |&(text, secret): &(&'static str, &'static str)| {
        (text.replace('%', secret), redact(&text.replace('%', secret)), secret)
    };
    let missed: Vec<_> =
        SAID.iter().map(redacted).filter(|(_, done, secret)| done.text.contains(secret)).collect();
    assert!(missed.is_empty(), "{missed:#?}");
    for (text, secret) in SAID {
        let once = redact(&text.replace('%', secret)).text;
        assert_eq!(redact(&once).text, once);
    }
    let changed: Vec<_> = ONLY_SAID
        .iter()
        .map(|text| (text, redact(text)))
        .filter(|(_, done)| done.n_secrets > 0)
        .collect();
    assert!(changed.is_empty(), "{changed:#?}");
}

#[test]
fn a_rule_finds_the_same_among_many_lines() {
    let around = "let x = 1;\n".repeat(20);
    for (text, secret) in positive() {
        let done = redact(&format!("{around}{text}\n{around}")).text;
        assert!(!done.contains(&secret), "{done}");
        assert_eq!(
            done.replace(&around, ""),
            format!("{}\n", redact(&text).text).replace(&around, "")
        );
    }
}

/// Common forms of secrets, one a line: a name, ` | `, and a text. `«kind:length»` stands for a
/// random value.
const FORMS: &str = include_str!("tests.txt");

/// Returns the text of a form, and its longest value.
fn filled(form: &str, seed: u64) -> (String, String) {
    const LETTERS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    let mut state = seed.wrapping_mul(7919).wrapping_add(form.len() as u64);
    let mut noise = |alphabet: &str, len: usize| -> String {
        let alphabet = alphabet.as_bytes();
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            char::from(alphabet[(state >> 33) as usize % alphabet.len()])
        };
        (0..len).map(|_| next()).collect()
    };
    let form = form.replace("\\r", "\r").replace("\\n", "\n");
    let (mut text, mut longest) = (String::new(), String::new());
    let mut parts = form.split(['«', '»']);
    while let Some(plain) = parts.next() {
        text += plain;
        let Some(kind) = parts.next() else { break };
        let (kind, len) = kind.split_once(':').unwrap_or((kind, "0"));
        let len: usize = len.parse().unwrap();
        let value = match kind {
            // A password that a person makes up.
            "pw" => {
                let head =
                    noise("ABCDEFGHJKLMNPRSTUVWXYZ", 1) + &noise("abcdefghjkmnpqrstuvwxyz", 3);
                head + &noise("123456789", 2) + &noise(LETTERS, 5) + &noise("!-_.+%x", 1)
            }
            "b64" => noise(&format!("{LETTERS}+/"), len - 2) + "==",
            "uuid" => [8, 4, 4, 4, 12].map(|n| noise("0123456789abcdef", n)).join("-"),
            "hex" => noise("0123456789abcdef", len),
            "num" => noise("123456789", len),
            "up" => noise("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", len),
            "alnum" => noise(LETTERS, len),
            _ => panic!("{kind}"),
        };
        text += &value;
        if value.len() > longest.len() {
            longest = value;
        }
    }
    (text, longest)
}

#[test]
fn common_forms_of_secrets_are_taken_out() {
    const SEEDS: u64 = 20;
    const N_SEEDS: usize = 20;
    let mut through = Vec::new();
    let mut n_through = 0;
    for line in FORMS.lines() {
        let (name, form) = line.split_once(" | ").unwrap();
        for redacted in
            [|text: &str| redact_file(text).text.into_owned(), |text: &str| redact(text).text]
        {
            // A random value can look like a name or a placeholder.
            let missed: Vec<String> = (0..SEEDS)
                .map(|seed| filled(form, seed))
                .filter_map(|(text, value)| Some(redacted(&text)).filter(|t| t.contains(&value)))
                .collect();
            n_through += missed.len();
            if missed.len() * 4 > N_SEEDS {
                through.push(format!("{name}: {}/{SEEDS} {:?}", missed.len(), missed[0]));
            }
        }
    }
    assert!(through.is_empty(), "{} forms: {through:#?}", through.len());
    let n_texts = FORMS.lines().count() * 2 * N_SEEDS;
    assert!(n_through * 100 < n_texts, "{n_through} of {n_texts} values");
}

#[test]
fn placeholders_in_common_forms_stay() {
    let mut changed = Vec::new();
    for line in FORMS.lines() {
        let (name, form) = line.split_once(" | ").unwrap();
        let form = form.replace("\\r", "\r").replace("\\n", "\n");
        for value in
            ["changeme", "${SECRET_VALUE}", "xxxxxxxxxxxx", "your-token-here", "<password>"]
        {
            let text: String = form
                .split(['«', '»'])
                .enumerate()
                .map(|(i, part)| if i % 2 == 0 { part } else { value })
                .collect();
            let done = redact_file(&text);
            if !done.found.is_empty() {
                changed.push(format!("{name}: {text:?} → {:?}", done.text));
            }
        }
    }
    assert!(changed.is_empty(), "{} forms: {changed:#?}", changed.len());
}

/// Lines of ordinary code with the words of secrets, and none.
const CODE: &[&str] = &[
    "void testArgon2Password() throws Exception {",
    "public const string DeviceAuthKey = \"pm-27581-device-auth-key\";",
    "HasV2UpgradeToken = hasV2UpgradeToken",
    "get \"/login/forgot_password\" => \"login#forgot_password\",",
    "'password' => 'required|alpha_dash|string|max:255',",
    "values_list(\"auth_token\", \"token_last_4\", \"app_id\")",
    "{ token: 'support.class.actionscript.2', regex: x }",
    "<JetInputError :message=\"form.errors.password\" class=\"mt-2\" />",
    "<a class=\"token\" href=\"#/s:9Alamofire26NetworkReachabilityManagerC\">x</a>",
    "db-password: {{ .Values.externalDatabase.password | b64enc | quote }}",
    "msbuild x.vcxproj /p:configuration=\"Release DLL\" /p:platform=x64",
    "- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef:\n      name: db2-credentials\n      key: password1",
    "let token = get_token(\"oauth2-prod-12\");",
    "data \"aws_secretsmanager_secret\" \"db_v2\" {",
    "variable \"db_password\" {\n  type = string\n  sensitive = true\n}",
    "password = os.environ.get(\"DB_PASSWORD\")",
];

#[test]
fn ordinary_code_is_not_redacted() {
    let changed: Vec<_> =
        CODE.iter().map(|text| redact_file(text)).filter(|done| !done.found.is_empty()).collect();
    assert!(changed.is_empty(), "{changed:#?}");
}

/// Lines of files in which `%` is a password: names, languages of people, and formats.
const WITH_A_PASSWORD: &[&str] = &[
    // Commands.
    "lftp -u user,% ftp://box",
    "snmpwalk -v3 -u bob -A % box",
    "ipmitool -H box -U root -P % chassis status",
    "isql -v DSN user %",
    "net user bob % /add",
    "useradd -m -p % bob",
    "echo root:% | chpasswd",
    "sudo -S apt update <<< \"%\"",
    "read -r PW <<< '%'",
    "rclone config create box webdav user bob pass %",
    "mc alias set box http://box:9000 minio %",
    "kubectl create secret generic x --from-literal api=%",
    "send \"%\\r\"",
    "child.sendline(\"%\")",
    // Directives.
    "    auth_pass %",
    "rootpw --plaintext %",
    "enable secret 0 %",
    "username admin privilege 15 password 0 %",
    "olcRootPW: %",
    "smtp_sasl_password_maps = static:bob:%",
    // Arguments and values that stand apart.
    "server.login(USER, \"%\")",
    "bcrypt.hash(\"%\", 10)",
    "btoa(\"admin:%\")",
    "sql.Open(\"mysql\", \"root:%@/db\")",
    "password.set(\"%\")",
    "cy.get(\"#password\").type(\"%\")",
    "page.getByLabel('Password').fill('%')",
    "- key: DB_PASSWORD\n  val: %",
    "<property name=\"password\"><value>%</value></property>",
    "<setting name=\"Password\" serializeAs=\"String\">\n  <value>%</value>",
    "INSERT INTO users (name, password) VALUES ('bob', '%');",
    // Notes.
    "| Password | % |",
    "* Password:: %",
    "creds: admin:%",
    "mdp: %",
    "Das Kennwort für root ist %",
    "La password di root è %",
    "A senha do banco é %",
    "Contraseña del servidor: %",
    "Mot de passe du serveur : %",
    // Names that are written as one word.
    "export SSHPASS=%",
    "DBPASS=%",
    "ROOTPW=%",
    "  - SMTPPASS=%",
    "pw=%",
    "pw: %",
    "db_pw = \"%\"",
    "const dbPass = '%';",
    "PG_PW=%",
    "$rootpw = '%';",
    "ldapPwd: %",
    // Words of other languages.
    "kennwort: %",
    "Passwort = %",
    "contraseña: %",
    "CONTRASENA=%",
    "contrasena = \"%\"",
    "clave: %",
    "mot_de_passe: %",
    "motDePasse = \"%\";",
    "senha: \"%\"",
    "wachtwoord: %",
    "hasło: %",
    "heslo=%",
    "lösenord: %",
    "salasana = %",
    "adgangskode: %",
    "jelszó: %",
    "şifre: %",
    "пароль: %",
    "Пароль = \"%\"",
    "密码: %",
    "パスワード: %",
    "비밀번호: %",
    // Sentences.
    "Das Passwort lautet %",
    "Das Kennwort ist %.",
    "La contraseña es %",
    "La clave es %",
    "Le mot de passe est %",
    "A senha é %",
    "Het wachtwoord is %.",
    "Пароль: %",
    "パスワードは %",
    "密码是 %",
    "password → `%`",
    "password -> %",
    "Password — %",
    "Login with admin / %",
    "- credentials: `deploy` / `%`",
    // Formats and programs.
    "const dsn = \"user:%@tcp(localhost:3306)/db\"",
    "dsn: root:%@unix(/run/mysqld.sock)/app",
    "{\"Default\": \"Server=db;User Id=sa;Password=%;Encrypt=yes\"}",
    "Data Source=db;Uid=app;Pwd=%;",
    "sshpass -p % ssh root@10.0.0.1",
    "sshpass -p '%' scp a b:",
    "kubectl create secret generic db --from-literal=password=%",
    "$p = ConvertTo-SecureString \"%\" -AsPlainText -Force",
    "smtp.login(\"me@x.com\", \"%\")",
    "client_secret: %",
    "clientSecret = '%'",
    "CREATE ROLE app LOGIN PASSWORD '%';",
    "<kennwort>%</kennwort>",
    "<setting name=\"senha\" value=\"%\"/>",
    "| user | password |\n|---|---|\n| admin | % |",
    "user | Passwort | host\n:--|:-:|--:\nroot | `%` | db1",
    "host,user,password\nlocalhost,root,x\ndb1,app,%",
    "name;contraseña\nana;\"%\"",
];

/// Lines of files that name a secret and hold none.
const WITHOUT_A_PASSWORD: &[&str] = &[
    // Numbers.
    "#define X_PW 0x0000018C",
    "#define PSA_KEY_TYPE_PASSWORD ((psa_key_type_t)0x1203)",
    "#define PSA_KEY_TYPE_PASSWORD_HASH             ((psa_key_type_t) 0x1205)",
    "#define AUTH_TYPE_PASSWORD 0x18CUL",
    "#define ERR_WRONG_PASSWORD (-0x6E00)",
    "#define TAG_PASSWORD (1u << 12)",
    "#define REG_PW REG32(0x1C8)",
    "pub const ERROR_INVALID_PASSWORD: u32 = 86u32;",
    "pub const LOGON_PASSWORD: u32 = 0x8009_0327;",
    "static const uint8_t kPassword = 0b00101101;",
    "PASSWORD_TTL=86400",
    "PASS_MAX_DAYS   99999",
    "password: string2Schema",
    "| Field | Password |\n|---|---|\n| type | varchar255 |",
    "{\"password\": {\"type\": \"string\"}, \"token\": \"#/definitions/Token2\"}",
    "pass: kShadowPass1,",
    "login(USER, settings.PASSWORD2)",
    "login(user1, password1)",
    "bcrypt.hash(password1, 10)",
    "read -r PW <<< \"$PASS1\"",
    "echo \"root:$ROOT_PW1\" | chpasswd",
    "kubectl create secret generic x --from-literal=api=$API_KEY1",
    "INSERT INTO users (name, password) VALUES ($1, $2);",
    "| password | string | required |",
    "cy.get(\"#password\").type(Cypress.env(\"PW1\"))",
    "import { a1b } from \"@/lib2/x\"",
    "passwd = 1_000usize",
    "clave = 0x2A4Bu32",
    // Calls, casts and types.
    "password = (char *)p2->data",
    "pw = getpwuid(uid2)",
    "pw = conv2d_x1",
    "password = bytes(raw2)",
    "password = password.encode(\"latin1\")",
    "contraseña = leer_contraseña(archivo2)",
    "Passwort = liesPasswort(datei1)",
    "let password: [u8; 32] = derive(pw2);",
    "password: Utf8PathBuf,",
    "token: Base64Token,",
    "generate_private_key: x25519_generate_private_key,",
    "senha: string;",
    "senha: novaSenha2",
    "Passwort: neuesPasswort1",
    "motDePasse = nouveauMotDePasse2",
    "password: e.target.value2",
    "password: *db_password2",
    "PASSWORD EQU 0x1A2B",
    "my $password = 0x1F2E3D;",
    "password: {{ vault_db_password2 }}",
    "kennwort: Option<String>,",
    // References.
    "password: config.password1",
    "password = $PASSWORD1",
    "DBPASS=$DB_PASS_2",
    "ROOTPW=${ROOTPW}",
    "$p = $env:DB_PASS2",
    "password: $env:DB_PASS2",
    "password: env:DB_PASSWORD_2",
    "password: vault:secret/data/db2#password",
    "password: arn:aws:secretsmanager:eu-west-1:123456789012:secret:db2",
    "password = os.environ[\"DB_PASSWORD2\"]",
    "clave = diccionario.clave2",
    "pw=%PW%",
    "user:$DB_PASS@tcp(db:3306)/app",
    "root:${MYSQL_PW}@tcp(db:3306)/app",
    "sshpass -p \"$SSHPASS\" ssh box",
    "sshpass -e ssh root@10.0.0.1",
    "kubectl create secret generic db --from-literal=password=${DB_PW}",
    // Words, placeholders and sentences.
    "DBPASS=changeme",
    "pw: changeme",
    "contraseña: <contraseña>",
    "Das Passwort ist mindestens 8 Zeichen lang.",
    "Le mot de passe est obligatoire (12 caractères).",
    "La clave es única en la tabla.",
    "Login with OAuth2 / OpenID",
    "The password — at least 12 characters — is hashed with sha256.",
    "Compass = north2",
    "BYPASS=cache_v2",
    "if (a | password | b) { c2d(); }",
    "| field | password |\n|---|---|\n| type | string |\n| length | 12 |\n| hash | argon2id |",
    "user,password\n\nhost1,db2x9",
    "    username, password\n    other2x, another3y",
    "password: XMLHttpRequestURL",
    "passwordField: PasswordTextFieldController",
    "password_hasher = \"PBKDF2PasswordHasher\"",
];

#[test]
fn passwords_in_files_of_all_languages_and_formats_are_taken_out() {
    let random = alnum(14);
    let values = [concat!("hunter2", "zebra9"), concat!("tencYFJE", "eAgYzQJj"), random.as_str()];
    let mut missed = Vec::new();
    for form in WITH_A_PASSWORD {
        for value in values {
            let text = form.replace('%', value);
            for done in [redact_file(&text).text.into_owned(), redact(&text).text] {
                if done.contains(value) {
                    missed.push((text.clone(), done));
                }
            }
        }
    }
    assert!(missed.is_empty(), "{} missed: {missed:#?}", missed.len());
}

#[test]
fn numbers_calls_types_and_references_beside_the_name_of_a_password_stay() {
    let changed: Vec<_> = WITHOUT_A_PASSWORD
        .iter()
        .map(|text| redact_file(text))
        .filter(|done| !done.found.is_empty())
        .collect();
    assert!(changed.is_empty(), "{changed:#?}");
}

#[test]
fn a_row_of_a_table_begins_no_other_one() {
    let row = format!("password,{}\n", concat!("hunter2", "zebra9"));
    let text = format!("user,password\n{}", row.repeat(2000));
    assert_eq!(redact_file(&text).found.len(), 2000);
}
