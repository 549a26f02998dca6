//! Extracts sentences from comments, documents and commit subjects, cleans them of markup, and
//! judges whether they can be questions.

use std::collections::HashSet;
use std::ops::Range;

/// Fewest and most words of a question.
const WORDS: (usize, usize) = (5, 25);
/// Fewest letters of a content word. Content words, which are not stop words, make
/// a question specific.
const CONTENT_LETTERS: usize = 4;
const MIN_CONTENT_WORDS: usize = 2;
/// Least share of letters among all characters except white space, and of plain
/// words among all words.
const MIN_LETTERS: f64 = 0.85;
const MIN_PLAIN_WORDS: f64 = 0.75;

/// Stop words of four letters and more.
const EMPTY_WORDS: &str = " about after again also another because been before being both could does doing done each either else even ever every from \
given gets have having here however instead into itself just like made make makes many might more most much must need needs never only other others over \
same should some such sure than that their them then there these they this those through thus under until upon used user uses using very want wants were \
what when where whether which while will with within without would your return returns returned function method methods value values ";

/// The kind of a line of a document.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LineKind {
    Blank,
    Plain,
    /// A rule or a heading. A paragraph may begin on the next line.
    Rule,
    /// A list item, a table or code. Lines that follow without a blank line belong to it.
    Other,
}

fn line_kind(line: &str) -> LineKind {
    let text = line.trim_end();
    if text.trim().is_empty() {
        return LineKind::Blank;
    }
    let Some(first) = text.chars().next() else { return LineKind::Blank };
    if text.chars().all(|c| c.is_ascii_punctuation())
        || (text.starts_with('#') && text.contains("# "))
    {
        return LineKind::Rule;
    }
    // `**bold**` and `*italic*` begin a paragraph, `* item` does not.
    let marked = matches!(first, '*' | '_' | '[' | '`' | ':' | '"' | '\'' | '(')
        && !text.starts_with("* ")
        && !text.starts_with("[[");
    let numbered = first.is_ascii_digit();
    let tabular = text.contains(" | ") || text.contains('\t');
    if (first.is_alphabetic() || marked) && !numbered && !tabular {
        LineKind::Plain
    } else {
        LineKind::Other
    }
}

/// Returns the paragraphs of a document as byte ranges: plain text at the left margin, without
/// headings, lists, tables and code.
pub(super) fn paragraphs(text: &str) -> Vec<Range<usize>> {
    let (mut out, mut open) = (Vec::new(), None::<Range<usize>>);
    let (mut fence, mut skipping) = (None::<&str>, false);
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let range = start..start + line.len();
        start = range.end;
        let trimmed = line.trim_start();
        if let Some(mark) = ["```", "~~~"].into_iter().find(|m| trimmed.starts_with(m)) {
            fence = match fence {
                None => Some(mark),
                Some(opened) => Some(opened).filter(|o| *o != mark),
            };
            out.extend(open.take());
            continue;
        }
        if fence.is_some() {
            continue;
        }
        match line_kind(line) {
            LineKind::Plain if !skipping => {
                open = Some(open.map_or(range.clone(), |o| o.start..range.end));
            }
            LineKind::Plain => {}
            kind => {
                out.extend(open.take());
                skipping = kind == LineKind::Other;
            }
        }
    }
    out.extend(open);
    out
}

/// Abbreviations after which a full stop does not end a sentence.
const ABBREVIATIONS: [&str; 12] =
    ["e.g", "i.e", "etc", "vs", "cf", "mr", "dr", "no", "fig", "approx", "resp", "incl"];

/// Returns the sentences of a paragraph as byte ranges with their full stops. The
/// last one may have none.
pub(super) fn sentences(text: &str) -> Vec<Range<usize>> {
    let (mut out, mut start) = (Vec::new(), 0);
    let ends: Vec<usize> = text.match_indices(['.', '!', '?', ':']).map(|(i, _)| i).collect();
    for i in ends {
        if i < start {
            continue;
        }
        let after = &text[i + 1..];
        let closing =
            after.len() - after.trim_start_matches(['"', '\'', ')', '`', '*', '_', '”']).len();
        let rest = &after[closing..];
        let next = rest.trim_start();
        let word = text[..i]
            .rsplit(|c: char| c.is_whitespace() || c == '(')
            .next()
            .unwrap_or_default()
            .to_lowercase();
        let ends_here = (rest.is_empty() || rest.starts_with(char::is_whitespace))
            && !next.starts_with(char::is_lowercase)
            && !(text[i..].starts_with('.') && ABBREVIATIONS.contains(&&*word));
        // A colon only ends a sentence at the end of the text: `Note: …` is one sentence.
        if ends_here && (!text[i..].starts_with(':') || next.is_empty()) {
            out.push(start..i + 1 + closing);
            start = text.len() - next.len();
        }
    }
    if !text[start..].trim().is_empty() {
        out.push(start..text.len());
    }
    out
}

/// Beginnings of lines, in lower case, that end the prose of a comment: tags,
/// sections, lists, code.
const STOPS: &str = "@|\\|:param|:return|:rtype|:type|:raise|:class|:arg|:keyword|args:|arguments|parameters|params:|returns:|return:|return value|raises|\
yields|throws|example|usage|# |## |>>>|```|~~~|<pre|<code|<param|<typeparam|<return|<remark|<exception|<value|{{{|.. |iex>|- |+ |* |$ |% |input:|output:";

/// Returns the prose of a comment without its markers: the lines up to the first
/// tag or piece of code.
pub(super) fn comment_text(lines: &[&str]) -> String {
    let first = lines.first().map_or("", |l| l.trim());
    let block = first.starts_with("/*");
    let line_marker = ["//", "#", "--", ";", "%"].into_iter().find(|m| first.starts_with(m));
    let mut out = String::new();
    let mut margin = None;
    for (i, line) in lines.iter().enumerate() {
        let mut text = line.trim_end();
        if block {
            text = text.trim_end_matches("*/").trim_end_matches('*');
            let inner = text.trim_start();
            text = if i == 0 {
                inner.trim_start_matches(['/', '*', '!'])
            } else {
                inner.strip_prefix('*').unwrap_or(text)
            };
        } else if let Some(marker) = line_marker {
            let Some(inner) = text.trim_start().strip_prefix(marker) else { break };
            text = inner.trim_start_matches(['/', '!', '#', ';', '%']);
            text = ["-", " |", " ^", "|"]
                .into_iter()
                .find_map(|m| text.strip_prefix(m))
                .unwrap_or(text);
        } else {
            text = without_quotes(text, i == 0);
        }
        let indent = text.len() - text.trim_start().len();
        let text = text.trim();
        if text.is_empty() {
            out.push('\n');
            continue;
        }
        // The first line is next to the marker; the line after it sets the margin.
        let is_beside = i == 0 && line_marker.is_none();
        let is_indented = !is_beside && indent > *margin.get_or_insert(indent) + 1;
        let lower = text.to_lowercase();
        if is_indented || STOPS.split('|').any(|s| lower.starts_with(s)) {
            break;
        }
        out.push_str(text);
        out.push('\n');
    }
    out
}

/// Removes the quotes of a documentation string, and the text before the opening ones.
fn without_quotes(line: &str, is_first: bool) -> &str {
    let mut text = line;
    if is_first {
        let inner = text.trim_start();
        let inner = inner
            .strip_prefix("@doc")
            .or_else(|| inner.strip_prefix("@moduledoc"))
            .unwrap_or(inner)
            .trim_start();
        let inner = inner.strip_prefix("~S").or_else(|| inner.strip_prefix("~s")).unwrap_or(inner);
        text = inner.trim_start_matches(['r', 'R', 'u', 'U', 'b', 'f']);
        if !text.starts_with(['"', '\'']) {
            text = inner;
        }
        text = text
            .trim_start_matches("{-")
            .trim_start_matches([' ', '|', '^'])
            .trim_start_matches(['"', '\'']);
    }
    text.trim_end_matches("-}").trim_end_matches(['"', '\''])
}

/// Returns the text of a sentence without markup, in one line. `None` if it has more
/// markup than prose has.
pub(super) fn clean(raw: &str) -> Option<String> {
    let text = fold(raw);
    if text.contains("![") || text.contains("```") || text.contains("://") || text.contains("{{") {
        return None;
    }
    let text = without_tags(&text);
    let text = without_links(&text);
    let text = without_roles(&text);
    let words = text.split_whitespace().map(|word| {
        let word = word.replace("``", "").replace(['`', '“', '”', '"'], "").replace("**", "");
        let lead = word.trim_start_matches(['*', '_', '~', '\'', '@', '|', '[', '#']);
        // Punctuation at the end is kept; marks before it are removed: `'foo',` becomes `foo,`.
        let body = lead.trim_end_matches(['.', ',', ';', ':', ')', '?', '!']);
        let tail = &lead[body.len()..];
        format!("{}{tail}", body.trim_end_matches(['*', '_', '\'', '@', '|', ']']))
    });
    let text = words.filter(|w| !w.is_empty()).collect::<Vec<_>>().join(" ");
    let text = text.trim_end_matches(['.', '!', ' ', ',', ';']).trim().to_string();
    (!text.is_empty()).then_some(text)
}

/// Replaces each run of white space by one space.
fn fold(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Removes tags but keeps the names that they refer to: `<see cref="Foo"/>` → `Foo`,
/// `{@link Foo}` → `Foo`.
fn without_tags(text: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(i) = rest.find(['<', '{']) {
        let is_tag = rest[i..].starts_with("{@")
            || rest[i + 1..].starts_with(|c: char| c.is_ascii_alphabetic() || c == '/');
        let close = if rest[i..].starts_with('<') { '>' } else { '}' };
        let Some(end) = rest[i..].find(close).filter(|_| is_tag) else {
            out.push_str(&rest[..=i]);
            rest = &rest[i + 1..];
            continue;
        };
        out.push_str(&rest[..i]);
        let inner = &rest[i + 1..i + end];
        if let Some(link) = inner.strip_prefix('@') {
            let words: Vec<&str> = link.split_whitespace().skip(1).collect();
            // `{@link Foo label}`
            out.push_str(
                words
                    .get(1..)
                    .filter(|label| !label.is_empty())
                    .map_or(words.concat(), |l| l.join(" "))
                    .trim_start_matches('#'),
            );
        } else if let Some((_, name)) = inner
            .split_once("ref=\"")
            .or_else(|| inner.split_once("name=\""))
            .or_else(|| inner.split_once("word=\""))
        {
            let name = name.split('"').next().unwrap_or_default();
            out.push_str(name.rsplit([':', '.']).next().unwrap_or(name));
        }
        rest = &rest[i + end + 1..];
    }
    out + rest
}

/// Replaces links by their text: `[text](url)`, `[text][ref]` and `[text]` → `text`.
fn without_links(text: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(open) = rest.find('[') {
        let Some(close) = rest[open..].find(']').map(|c| open + c) else { break };
        out.push_str(&rest[..open]);
        out.push_str(&rest[open + 1..close]);
        rest = &rest[close + 1..];
        for (from, to) in [('(', ')'), ('[', ']')] {
            if let Some(end) = rest.starts_with(from).then(|| rest.find(to)).flatten() {
                rest = &rest[end + 1..];
                break;
            }
        }
    }
    out + rest
}

/// Replaces roles by their text: ``:class:`~a.Foo` `` → `a.Foo`, `` `text <target>`_ `` → `text`.
fn without_roles(text: &str) -> String {
    let mut out = String::new();
    for (i, piece) in text.split('`').enumerate() {
        if i % 2 == 1 {
            let shown = piece.split(" <").next().unwrap_or(piece);
            out.push('`');
            out.push_str(shown.trim_start_matches(['~', '!', '.']));
            out.push('`');
            continue;
        }
        // The role precedes the opening quote, and `_` follows the closing one.
        let piece = if i > 0 { piece.trim_start_matches('_') } else { piece };
        let role = piece
            .rfind(" :")
            .map(|p| p + 1)
            .or_else(|| piece.starts_with(':').then_some(0))
            .or_else(|| piece.rfind("(:").map(|p| p + 1));
        let is_role = role
            .filter(|r| piece.ends_with(':') && piece.len() > r + 2 && !piece[*r..].contains(' '));
        out.push_str(is_role.map_or(piece, |r| &piece[..r]));
    }
    out
}

/// First words of sentences that depend on another one, address the reader, or are not statements.
const DEPENDENT: &str = " this these those it its they that otherwise however also then but and or so here see note example examples todo fixme deprecated \
same alias like instead therefore thus hence additionally furthermore moreover again similarly finally likewise both such he she which yes no ok okay \
copyright licensed private warning caution important attention notice tip hint nb ditto e.g i.e eg ie xxx hack now just thanks thank please let lets we \
our more suppose ";
/// Such beginnings of more than one word.
const DEPENDENT_PHRASES: [&str; 10] = [
    "for example", "for more", "for this", "in such", "in this", "in that", "in these", "can also",
    "on the other hand", "let's",
];
/// Words that refer to another place.
const POINTERS: &str = " following below above previous previously earlier aforementioned ";

/// Whether a cleaned sentence can be a question. `first`: no sentence before it
/// that it could refer to.
pub(super) fn is_question(text: &str, first: bool) -> bool {
    let words: Vec<&str> = text.split(' ').collect();
    if !(WORDS.0..=WORDS.1).contains(&words.len())
        || !(WORDS.0..=WORDS.1).contains(&tokens(text).count())
    {
        return false;
    }
    if !text.starts_with(char::is_alphabetic)
        || text.ends_with(':')
        || text.contains(['{', '}', '=', '<', '>', ';', '|', '\\', '$', '→', '…'])
    {
        return false;
    }
    if text.contains("...") || text.contains("--") {
        return false;
    }
    let lower = text.to_lowercase();
    let opening = words[0].trim_matches(|c: char| !c.is_alphabetic()).to_lowercase();
    let depends = is_in(DEPENDENT, &opening) && !(first && opening == "this")
        || DEPENDENT_PHRASES.iter().any(|p| lower.starts_with(p));
    if depends || tokens(&lower).any(|w| is_in(POINTERS, w)) {
        return false;
    }
    let n_solid = text.chars().filter(|c| !c.is_whitespace()).count() as f64;
    let n_letters = text.chars().filter(char::is_ascii_alphabetic).count() as f64;
    let is_plain = |w: &&&str| {
        let w = w.trim_matches(['(', ')', ',', '.', ':', '?', '\'', '!']);
        !w.is_empty()
            && w.chars().all(|c| c.is_alphabetic() || matches!(c, '-' | '\'' | '’' | '/'))
            && !w.chars().skip(1).any(char::is_uppercase)
    };
    let n_plain = words.iter().filter(is_plain).count() as f64;
    let content: HashSet<String> = tokens(text)
        .map(str::to_lowercase)
        .filter(|w| w.len() >= CONTENT_LETTERS && !is_in(EMPTY_WORDS, w))
        .collect();
    n_letters / n_solid >= MIN_LETTERS
        && n_plain / words.len() as f64 >= MIN_PLAIN_WORDS
        && content.len() >= MIN_CONTENT_WORDS
}

/// Whether a word is in a list in which spaces surround each word.
pub(super) fn is_in(list: &str, word: &str) -> bool {
    list.contains(&format!(" {word} "))
}

/// Returns the runs of letters and digits of a text.
pub(super) fn tokens(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty())
}

/// Returns the parts of a name in lower case: `HTTPServer_v2` → `http`, `server`, `v2`.
pub(super) fn name_parts(name: &str) -> Vec<String> {
    let mut out = Vec::new();
    for run in tokens(name) {
        let chars: Vec<char> = run.chars().collect();
        let mut part = String::new();
        for (i, c) in chars.iter().enumerate() {
            let after_lower = i > 0 && chars[i - 1].is_lowercase();
            let before_lower = chars.get(i + 1).is_some_and(|n| n.is_lowercase());
            if c.is_uppercase()
                && (after_lower || (before_lower && i > 0 && chars[i - 1].is_uppercase()))
            {
                out.push(std::mem::take(&mut part));
            }
            part.extend(c.to_lowercase());
        }
        out.push(part);
    }
    out.retain(|p| !p.is_empty());
    out
}

/// Returns roughly the stem of a word: `parser`, `parses` and `parsing` → `pars`.
fn stem(word: &str) -> &str {
    const ENDINGS: [&str; 14] = [
        "ations", "ation", "ings", "ions", "ing", "ion", "ers", "ors", "ies", "er", "or", "ed",
        "es", "s",
    ];
    let cut = ENDINGS.iter().find_map(|e| word.strip_suffix(e)).unwrap_or(word);
    let cut = cut.trim_end_matches(['e', 'y']);
    if cut.len() >= 3 { cut } else { word }
}

/// Whether a text contains one of these parts of a name, in any form of the word. Parts of less
/// than four letters do not count.
pub(super) fn echoes(text: &str, parts: &[String]) -> bool {
    let words: HashSet<String> = name_parts(text).iter().map(|w| stem(w).to_string()).collect();
    let whole = text.to_lowercase();
    parts
        .iter()
        .filter(|p| p.len() >= 4)
        .any(|p| words.contains(stem(p)) || tokens(&whole).any(|t| t == p))
}

/// Whether a text contains the whole name, as one word or as its parts in sequence.
pub(super) fn names(text: &str, name: &str) -> bool {
    let (words, parts) = (name_parts(text), name_parts(name));
    let one = [name_parts(name).concat()];
    !parts.is_empty()
        && (words.windows(parts.len()).any(|w| w == parts)
            || (parts.len() == 1 && echoes(text, &parts))
            || echoes(text, &one))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_lose_their_markers_and_end_at_tags() {
        for (comment, want) in [
            (
                "/// Adds two.\n/// And more.\n///\n/// # Errors\n/// None.",
                "Adds two.\nAnd more.\n\n",
            ),
            ("    /**\n     * Adds two.\n     *\n     * @param a one\n     */", "\nAdds two.\n\n"),
            ("/* Adds two */", "Adds two\n"),
            (
                "    \"\"\"Adds two.\n\n    More text.\n\n    :param a: one\n    \"\"\"",
                "Adds two.\n\nMore text.\n\n",
            ),
            ("# Adds two.\n#   code()\n", "Adds two.\n"),
            ("-- | Adds two.\n-- More.", "Adds two.\nMore.\n"),
            ("  @doc \"\"\"\n  Adds two.\n\n      iex> add(1)\n  \"\"\"", "\nAdds two.\n\n"),
        ] {
            let lines: Vec<&str> = comment.lines().collect();
            assert_eq!(comment_text(&lines), want, "{comment}");
        }
    }

    #[test]
    fn sentences_end_where_a_reader_would_say() {
        let text = "Reads a file, e.g. one of ours, from v1.2 on. It\nis closed. `Foo.bar` stays (see there.) The end";
        let found: Vec<&str> = sentences(text).into_iter().map(|r| &text[r]).collect();
        assert_eq!(
            found,
            [
                "Reads a file, e.g. one of ours, from v1.2 on.",
                "It\nis closed.",
                "`Foo.bar` stays (see there.)",
                "The end"
            ]
        );
    }

    #[test]
    fn markup_goes_and_its_text_stays() {
        for (raw, want) in [
            ("Use :class:`~flask.Flask` to **start** it.", "Use flask.Flask to start it"),
            ("Opens the [file](a.md), or [`that`][x].", "Opens the file, or that"),
            ("Calls <see cref=\"T:A.Foo\"/> and {@link Bar#baz it}.", "Calls Foo and it"),
            ("The `docs <there>`_ and ``x``\n  say 'so'.", "The docs and x say so"),
            ("Map @foo@ over <b>all</b> keys.", "Map foo over all keys"),
        ] {
            assert_eq!(clean(raw).as_deref(), Some(want), "{raw}");
        }
        assert_eq!(clean("See ![x](y.png) there."), None);
    }

    #[test]
    fn questions_are_prose_of_some_length() {
        assert!(is_question("Waits longer after each failed attempt", true));
        for text in [
            "Too short",
            "This depends upon the sentence before there",
            "foo_bar(x) baz_qux(y) a_b(z) and more of it",
            "for example the sentence before this one there",
            "x = the value of the other thing here",
            "It is to be in the of and or",
        ] {
            assert!(!is_question(text, false), "{text}");
        }
    }

    #[test]
    fn names_are_echoed_in_any_form() {
        let parts = |name: &str| name_parts(name);
        assert_eq!(parts("HTTPServer_v2"), ["http", "server", "v2"]);
        assert!(echoes("How requests are routed here", &parts("router")));
        assert!(echoes("the SessionStore is opened", &parts("sessions")));
        assert!(!echoes("an app that runs", &parts("app")));
        assert!(
            names("the url for a view", "url_for")
                && names("calls urlFor there", "url_for")
                && names("parses a line", "parse")
        );
        assert!(!names("the url of a view", "url_for"));
    }

    #[test]
    fn paragraphs_leave_lists_tables_and_code_out() {
        let text = "# Title\nFirst line\nsecond line.\n\n- item\n  more\n\n```\ncode here\n```\nAfter the fence.\n\n| a | b |\n\n    indented\n\nTitle\n=====\nLast.\n";
        let found: Vec<&str> = paragraphs(text).into_iter().map(|r| text[r].trim_end()).collect();
        assert_eq!(found, ["First line\nsecond line.", "After the fence.", "Title", "Last."]);
    }
}
