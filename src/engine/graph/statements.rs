//! Shows the statement at the use of a symbol.

use std::collections::HashMap;

use crate::engine::door::serving::Engine;
use crate::engine::graph::query::GraphRow;
use crate::text::cut;

/// Most lines over which a statement goes on, and most characters of it that are shown.
const MAX_OF_STATEMENT: usize = 8;
const MAX_CHARS: usize = 160;

impl Engine {
    /// Sets the statement at the first use of each row.
    pub(in crate::engine) fn add_statements<'r>(
        &self,
        rows: impl Iterator<Item = &'r mut GraphRow>,
    ) {
        let mut texts: HashMap<String, String> = HashMap::new();
        for row in rows {
            let Some(line) = row.sites.first() else { continue };
            let read = || self.project.read_text(&row.used_in).unwrap_or_default();
            let text = texts.entry(row.used_in.clone()).or_insert_with(read);
            row.text = statement_at(text, *line);
        }
    }
}

/// Returns the code at a line, with the lines after it while a parenthesis is open.
fn statement_at(text: &str, line: u32) -> Option<String> {
    let mut joined = String::new();
    for line in text.lines().skip((line as usize).saturating_sub(1)).take(MAX_OF_STATEMENT) {
        let gap = if joined.is_empty() || joined.ends_with('(') { "" } else { " " };
        joined = joined + gap + line.trim();
        if joined.matches('(').count() <= joined.matches(')').count() {
            break;
        }
    }
    (!joined.is_empty()).then(|| cut(&joined, MAX_CHARS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_goes_on_while_a_parenthesis_is_open() {
        let text = "a\n    return total(\n        items,\n        rate=3,\n    )\nb\n";
        assert_eq!(statement_at(text, 2).as_deref(), Some("return total(items, rate=3, )"));
        assert_eq!(statement_at(text, 6).as_deref(), Some("b"));
        assert_eq!(statement_at(text, 7), None);
    }
}
