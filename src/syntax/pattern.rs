//! Finds code that matches a pattern of ast-grep (`$A` matches one node, `$$$A` any number) in the
//! syntax trees of this module.

use std::collections::BTreeSet;

use ast_grep_core::tree_sitter::StrDoc;
use ast_grep_core::{AstGrep, Language, Pattern as Shape};

use super::outline::{nesting, tree};
use crate::languages::{Grammar, Lang, grammar, grammars};

/// Longest pattern. Matching recurses into it, and each level takes at least a byte.
const MAX_BYTES: usize = 2_000;
/// Most levels of the syntax tree of a pattern. A level takes about a kilobyte of the stack.
const MAX_NESTING: usize = 200;

/// A pattern in one language.
pub struct Pattern {
    grammar: &'static Grammar,
    shape: Shape,
    /// The literal words of the pattern. A text without one of them need not be parsed.
    words: BTreeSet<String>,
}

/// Why a pattern cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    #[error(
        "{language} has no grammar here, so patterns cannot match it; languages with a grammar: {known}"
    )]
    NotParsed { language: String, known: String },
    #[error(
        "`{pattern}` is not a valid {language} pattern: {message}; write it as code, with $NAME for one part and $$$NAME for any number of them"
    )]
    Malformed { language: String, pattern: String, message: String },
}

impl Pattern {
    /// Parses a pattern.
    ///
    /// # Errors
    /// When the language has no grammar here, or the pattern is not code in it.
    pub fn new(language: &str, pattern: &str) -> Result<Self, PatternError> {
        let Some(grammar) = grammar(language) else {
            let known =
                grammars().iter().map(|grammar| grammar.spec.name).collect::<Vec<_>>().join(", ");
            return Err(PatternError::NotParsed { language: language.into(), known });
        };
        let malformed = |message: &str| PatternError::Malformed {
            language: language.into(),
            pattern: pattern.trim().into(),
            message: message.into(),
        };
        if pattern.len() > MAX_BYTES {
            return Err(malformed("it is longer than 2 000 bytes"));
        }
        let lang = Lang(grammar);
        if nesting(grammar, &lang.pre_process_pattern(pattern.trim())) > MAX_NESTING {
            return Err(malformed("it nests more than 200 levels deep"));
        }
        let shape = Shape::try_new(pattern.trim(), lang)
            .map_err(|e| malformed(e.to_string().split(". ").next().unwrap_or_default()))?;
        if shape.has_error() {
            return Err(malformed("it is not complete"));
        }
        Ok(Self { grammar, shape, words: words(pattern) })
    }

    /// Returns the first and last line, 1-based, of every match, in order.
    #[must_use]
    pub fn find(&self, text: &str) -> Vec<(u32, u32)> {
        if self
            .words
            .iter()
            .any(|word| memchr::memmem::find(text.as_bytes(), word.as_bytes()).is_none())
        {
            return Vec::new();
        }
        let Some((tree, _)) = tree(self.grammar, text) else { return Vec::new() };
        let document: StrDoc<Lang> =
            StrDoc { src: text.to_string(), lang: Lang(self.grammar), tree };
        let line = |n: usize| u32::try_from(n + 1).unwrap_or(u32::MAX);
        let root = AstGrep::doc(document);
        root.root()
            .find_all(&self.shape)
            .map(|found| (line(found.start_pos().line()), line(found.end_pos().line())))
            .collect()
    }
}

/// Returns the words of a pattern that are not variables.
fn words(pattern: &str) -> BTreeSet<String> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut words = BTreeSet::new();
    let mut rest = pattern;
    while let Some(start) = rest.find(is_part) {
        let end = rest[start..].find(|c| !is_part(c)).map_or(rest.len(), |n| start + n);
        if !rest[..start].ends_with('$') {
            words.insert(rest[start..end].to_string());
        }
        rest = &rest[end..];
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::languages::detect;

    fn find(file: &str, pattern: &str, text: &str) -> Result<Vec<(u32, u32)>, PatternError> {
        Ok(Pattern::new(detect(file, "").name, pattern)?.find(text))
    }

    #[test]
    fn code_of_a_shape_is_found_in_every_kind_of_language() {
        let rust = "fn main() {\n    let a = load(path).unwrap();\n    // load(path).unwrap()\n    load(\n        other,\n    ).unwrap();\n}\n";
        assert_eq!(
            find("a.rs", "load($A).unwrap()", rust),
            Ok(vec![(2, 2), (4, 6)]),
            "not in comments"
        );
        assert_eq!(find("a.rs", "fn $NAME($$$) { $$$ }", rust), Ok(vec![(1, 7)]));
        let python = "def f():\n    print(1, 2)\n    prints(1)\n    x.print(3)\n";
        assert_eq!(find("a.py", "print($$$A)", python), Ok(vec![(2, 2)]));
        assert_eq!(
            find(
                "a.go",
                "if err != nil { return $$$ }",
                "package a\nfunc f() error {\n\tif err != nil {\n\t\treturn err\n\t}\n}\n"
            ),
            Ok(vec![(3, 5)])
        );
        assert_eq!(
            find("a.ts", "console.log($A)", "console.log('a');\nconsole.log(1, 2);\n"),
            Ok(vec![(1, 1)])
        );
        assert_eq!(
            find("a.tsx", "$A.map($B)", "const a = <div>{list.map(f)}</div>;\n"),
            Ok(vec![(1, 1)])
        );
    }

    #[test]
    fn the_same_part_is_the_same() {
        assert_eq!(
            find("a.rs", "$A == $A", "fn f() {\n    a == b;\n    a.b == a.b;\n}\n"),
            Ok(vec![(3, 3)])
        );
    }

    #[test]
    fn what_is_no_pattern_is_told() {
        for (file, pattern, why) in [
            ("a.md", "x", "languages with a grammar: bash, c,"),
            ("a.rs", "", "is not a valid rust pattern"),
            ("a.rs", "fn f( {", "is not a valid rust pattern"),
            ("a.rs", "$$$A", "is not a valid rust pattern"),
        ] {
            let e = find(file, pattern, "").unwrap_err().to_string();
            assert!(e.contains(why), "{pattern}: {e}");
        }
    }

    #[test]
    fn garbage_holds_nobody_up() {
        let garbage = "f(x) {[(\"".repeat(50_000);
        assert!(find("a.rs", "f(x)", &garbage).is_ok());
    }

    #[test]
    fn words_of_a_pattern_are_those_that_are_no_variables() {
        assert_eq!(
            words("let $A = foo_bar($$$B, 1)").into_iter().collect::<Vec<_>>(),
            ["1", "foo_bar", "let"]
        );
    }
}
