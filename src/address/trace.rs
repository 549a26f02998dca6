//! Finds the addresses in stack traces, compiler messages and questions.

use std::sync::LazyLock;

use regex::Regex;

use super::{Address, plain};
use crate::text::{head, regex};

/// Longer texts are read up to here.
const MAX_BYTES: usize = 200_000;
/// Number of addresses that are returned.
const MAX_ADDRESSES: usize = 400;
/// A path with an extension, or a Windows path.
const PATH: &str = r"(?<p>(?:[A-Za-z]:)?[\w./\\~@+$%-]*[\w)]\.[A-Za-z]\w{0,9})";

/// How an address is written; the first that matches a place in a line counts.
static FORMS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    [
        // Links to a line of a file on GitHub, GitLab and Bitbucket, of a branch or commit.
        r"/(?:blob|blame|src)/[^/\s#]+/(?<p>[^\s#?<>()]+)(?:\?[^\s#]*)?#(?:L|lines-)(?<l>\d+)(?:C\d+)?(?:[-:]L?(?<e>\d+))?".into(),
        // Python and OCaml.
        r#"File "(?<p>[^"<>]+)", lines? (?<l>\d+)"#.to_string(),
        // Java, Kotlin and Scala name the package, and the file without its folder.
        r"\bat (?:[\w.@$-]+/)*(?<q>(?:[\w$]+\.)+)[\w$<>]+\((?<p>[\w$-]+\.\w+):(?<l>\d+)\)".into(),
        // Erlang.
        r#"\{file,\s*"(?<p>[^"]+)"\},\s*\{line,\s*(?<l>\d+)\}"#.into(),
        // C#, PHP, Perl, shells.
        format!(r"{PATH}(?: on |: ?|, ?| )line (?<l>\d+)"),
        // MSBuild, the compilers of TypeScript and C#, PHP.
        format!(r"{PATH}\((?<l>\d+)(?:,\d+)?\)"),
        // People.
        format!(r"{PATH}#L(?<l>\d+)(?:C\d+)?(?:-L?(?<e>\d+))?"),
        // R.
        format!(r"{PATH}#(?<l>\d+)\b"),
        // Most others.
        format!(r"{PATH}:(?<l>\d+)(?:-(?<e>\d+))?(?::\d+)?"),
    ]
    .iter()
    .map(|pattern| regex(pattern))
    .collect()
});

/// A place that a text names, with what the text says of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Frame {
    pub address: Address,
    /// The line of the text without its path, and the line before it if that names no place, as in traces
    /// of Go and Rust.
    pub said: String,
    /// The line after it if that names no place: Python quotes the code there.
    pub quoted: String,
}

/// Returns the places that a text names by file and line, in the order in which a reader wants them:
/// the innermost frame of a stack trace first.
#[must_use]
pub fn addresses_in(text: &str) -> Vec<Address> {
    frames_in(text).into_iter().map(|frame| frame.address).collect()
}

/// Returns the same places with what the text says of them.
#[must_use]
pub fn frames_in(text: &str) -> Vec<Frame> {
    let text = head(text, MAX_BYTES);
    let mut found: Vec<Frame> = Vec::new();
    let mut is_last_first = false;
    // The compilers of C say which files lead to the one with the error.
    let all: Vec<&str> = text.lines().collect();
    let order = |included: bool| {
        let all = &all;
        (0..all.len()).filter(move |at| is_include(all[*at]) == included)
    };
    let says = |at: Option<usize>| {
        let line = at.and_then(|at| all.get(at)).filter(|line| in_line(line).is_empty());
        line.map_or_else(String::new, |line| (*line).to_string())
    };
    for at in order(false).chain(order(true)) {
        let line = all[at];
        is_last_first |= line.contains("most recent call last");
        // pytest lists calls from the outermost, and the error at the end.
        is_last_first |= is_end_of_python(line);
        for address in in_line(line) {
            let is_known = found.iter().any(|frame| frame.address == address);
            if !is_known && found.len() < MAX_ADDRESSES {
                let line = line.replace('\\', "/").replace(&address.path, " ");
                let said = format!("{line} {}", says(at.checked_sub(1)));
                found.push(Frame { address, said, quoted: says(Some(at + 1)) });
            }
        }
    }
    if is_last_first {
        found.reverse();
    }
    found
}

fn is_include(line: &str) -> bool {
    static INCLUDE: LazyLock<Regex> =
        LazyLock::new(|| regex(r"^(?:In file included from |\s+from \S+:\d+(?::\d+)?[,:]$)"));
    INCLUDE.is_match(line)
}

fn is_end_of_python(line: &str) -> bool {
    static END: LazyLock<Regex> =
        LazyLock::new(|| regex(r"^\S+\.py:\d+: (?:\w+(?:Error|Exception|Exit|Interrupt)?)?$"));
    END.is_match(line)
}

/// Returns the addresses of one line, in order.
fn in_line(line: &str) -> Vec<Address> {
    let mut taken: Vec<std::ops::Range<usize>> = Vec::new();
    let mut found: Vec<(usize, Address)> = Vec::new();
    for form in FORMS.iter() {
        for captures in form.captures_iter(line) {
            let (Some(path), Some(number)) = (captures.name("p"), captures.name("l")) else {
                continue;
            };
            let span = path.start()..number.end();
            let overlaps = |t: &std::ops::Range<usize>| t.start < span.end && span.start < t.end;
            // A web address has a port.
            let is_url = line[..path.start()].ends_with("//") && !line.contains("file://");
            if taken.iter().any(overlaps) || is_url {
                continue;
            }
            let parse = |text: &str| text.parse::<u32>().ok().filter(|n| *n > 0);
            let Some(first) = parse(number.as_str()) else { continue };
            let last = captures.name("e").and_then(|e| parse(e.as_str())).unwrap_or(first);
            let path = match captures.name("q") {
                Some(package) => in_package(package.as_str(), path.as_str()),
                None => plain(path.as_str()),
            };
            let lines = Some((first, last.max(first)));
            found.push((span.start, Address { path, lines, ..Address::default() }));
            taken.push(span);
        }
    }
    found.sort_by_key(|(start, _)| *start);
    found.into_iter().map(|(_, address)| address).collect()
}

/// Returns the path of a file in the folder of a Java package: `org.a.B.` and `B.java` give
/// `org/a/B.java`.
fn in_package(qualified: &str, file: &str) -> String {
    let parts = qualified.split('.').filter(|part| !part.is_empty());
    let folders: Vec<&str> =
        parts.take_while(|part| part.starts_with(char::is_lowercase)).collect();
    if folders.is_empty() { file.to_string() } else { format!("{}/{file}", folders.join("/")) }
}
