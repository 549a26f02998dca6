//! A part of a text file that is ours, between two marks: in Markdown, or below a key of a YAML file.

/// How a mark is written in a kind of file.
#[derive(Debug, Clone, Copy)]
struct Marks {
    start: &'static str,
    end: &'static str,
}

const MARKDOWN: Marks = Marks { start: "<!-- CORTEX_START -->", end: "<!-- CORTEX_END -->" };
const YAML: Marks = Marks { start: "# CORTEX_START", end: "# CORTEX_END" };

/// Returns the bytes of the lines from the first mark to the second.
fn fenced(text: &str, marks: Marks) -> Result<Option<std::ops::Range<usize>>, String> {
    let line_with = |mark: &str, from: usize| {
        let mut at = from;
        text[from..].split_inclusive('\n').find_map(|line| {
            let range = at..at + line.len();
            at = range.end;
            (line.trim() == mark).then_some(range)
        })
    };
    let Some(start) = line_with(marks.start, 0) else { return Ok(None) };
    let Some(end) = line_with(marks.end, start.end) else {
        return Err(format!("the line {} has no {} after it", marks.start, marks.end));
    };
    Ok(Some(start.start..end.end))
}

/// Puts lines at the end of a Markdown file, or in place of those that are there.
pub(super) fn put(text: &str, lines: &str) -> Result<String, String> {
    let block = format!("{}\n{}\n{}\n", MARKDOWN.start, lines.trim_end(), MARKDOWN.end);
    if let Some(old) = fenced(text, MARKDOWN)? {
        return Ok(format!("{}{block}{}", &text[..old.start], &text[old.end..]));
    }
    let gap = match text {
        "" => "",
        t if t.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    Ok(format!("{text}{gap}{block}"))
}

/// Removes the lines of [`put`], and the empty line before them.
pub(super) fn take(text: &str) -> Result<String, String> {
    let Some(old) = fenced(text, MARKDOWN)? else { return Ok(text.to_string()) };
    let before = &text[..old.start];
    let before = before.strip_suffix("\n").filter(|b| b.is_empty() || b.ends_with('\n'));
    Ok(format!("{}{}", before.unwrap_or(&text[..old.start]), &text[old.end..]))
}

/// Puts lines below a key at the left margin of a YAML file. They become its first children, or
/// the key is added at the end.
pub(super) fn put_below(text: &str, key: &str, lines: &str) -> Result<String, String> {
    parse(text)?;
    let text = take_from(text)?;
    // The entry's name is in its first line: `cortex:` or `- name: cortex`.
    if let Some(entry) = lines.lines().next()
        && text.lines().any(|line| line.trim() == entry.trim())
    {
        return Err("it has an entry cortex already, which is not ours: rename it first".into());
    }
    let mut at = 0;
    let mut rows = text.split_inclusive('\n').map(|line| {
        at += line.len();
        (at, line)
    });
    let found = rows.find(|(_, line)| {
        line.strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with(':'))
    });
    let after = match found {
        None => {
            let gap = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
            let block = block("", &format!("{key}:\n{}", block_lines("  ", lines)));
            format!("{text}{gap}{block}")
        }
        Some((end, line)) => {
            let rest = line[key.len()..].trim_start().trim_start_matches(':').trim();
            if !(rest.is_empty() || rest.starts_with('#')) {
                return Err(format!("the value of {key} is on its own line: {}", line.trim_end()));
            }
            let first = text[end..].lines().find(|l| {
                let l = l.trim_start();
                !(l.is_empty() || l.starts_with('#'))
            });
            let indent = first.map_or("  ", |l| &l[..l.len() - l.trim_start().len()]);
            // A sequence may begin at the margin of its key.
            let is_sequence = first.is_some_and(|l| l.trim_start().starts_with("- "));
            let is_child = !indent.is_empty() || is_sequence;
            let indent = if is_child { indent } else { "  " };
            let gap = if line.ends_with('\n') { "" } else { "\n" };
            format!(
                "{}{gap}{}{}",
                &text[..end],
                block(indent, &block_lines(indent, lines)),
                &text[end..]
            )
        }
    };
    parse(&after).map_err(|e| format!("the change would make it invalid: {e}"))?;
    Ok(after)
}

fn block(indent: &str, lines: &str) -> String {
    format!("{indent}{}\n{lines}{indent}{}\n", YAML.start, YAML.end)
}

fn block_lines(indent: &str, lines: &str) -> String {
    lines.trim_end().lines().map(|line| format!("{indent}{line}\n")).collect()
}

/// Removes the lines of [`put_below`].
pub(super) fn take_from(text: &str) -> Result<String, String> {
    parse(text)?;
    let Some(old) = fenced(text, YAML)? else { return Ok(text.to_string()) };
    Ok(format!("{}{}", &text[..old.start], &text[old.end..]))
}

/// Returns the lines between the marks of a YAML file.
pub(super) fn in_yaml(text: &str) -> Option<&str> {
    fenced(text, YAML).ok().flatten().map(|range| &text[range])
}

/// Returns whether the lines between the marks are `lines`, whatever their indentation: below a key
/// that [`put_below`] added, or by themselves.
pub(super) fn holds(text: &str, lines: &str) -> bool {
    let Some(there) = in_yaml(text) else { return false };
    let rows: Vec<&str> = there.lines().filter(|l| !l.trim().starts_with('#')).collect();
    let wanted: Vec<&str> = lines.trim_end().lines().collect();
    // The key is in the fence if it was added with the entry.
    let rows = if rows.len() > wanted.len() { &rows[1..] } else { &rows[..] };
    let indent = rows.first().map_or(0, |row| row.len() - row.trim_start().len());
    rows.len() == wanted.len()
        && rows.iter().zip(wanted).all(|(row, line)| row.get(indent..) == Some(line))
}

/// Checks that a file is YAML.
fn parse(text: &str) -> Result<(), String> {
    saphyr_parser::Parser::new_from_str(text)
        .try_for_each(|event| event.map(drop))
        .map_err(|e| e.to_string())
}
