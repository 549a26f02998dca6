//! `cortex_pattern`: finds code by its structure.

use super::budget::fit;
use super::reply::{Reply, printable};
use super::tool::{Question, ToolGroup};
use crate::engine::{AnswerState, AskError, Call, Engine, PatternAnswer, PatternRequest};
use crate::text::count;

impl Question for PatternRequest {
    const NAME: &'static str = "cortex_pattern";
    const TITLE: &'static str = "Find code by its structure";
    const DESCRIPTION: &'static str = "Find code with a given structure, independent of names, line breaks and comments: `$A.unwrap()`, `foo($$$ARGS)`, \
`class $C(Base): $$$`. A name that occurs twice matches the same code both times. Use it where text search finds too much or too little.";
    const GROUP: ToolGroup = ToolGroup::Graph;
    type Reply = PatternAnswer;

    fn answer(
        self,
        engine: &Engine,
        call: &Call,
        max_tokens: usize,
    ) -> Result<PatternAnswer, AskError> {
        let answer = engine.pattern(&self, call)?;
        Ok(fit(max_tokens, answer.places.len(), |n| PatternAnswer {
            places: answer.places[..n].to_vec(),
            ..answer.clone()
        }))
    }
}

impl Reply for PatternAnswer {
    fn state(&self) -> &AnswerState {
        &self.state
    }

    fn lines(&self) -> Vec<String> {
        let head =
            format!("{} ({} searched)", count(self.total, "place"), count(self.files, "file"));
        let shown = if self.places.len() < self.total {
            format!(", the first {} shown", self.places.len())
        } else {
            String::new()
        };
        let mut lines = vec![head + &shown];
        for place in &self.places {
            lines.push(format!(
                "{}:{}-{}",
                printable(&place.path),
                place.start_line,
                place.end_line
            ));
            lines.extend(place.text.lines().map(|line| format!("  {}", printable(line))));
        }
        lines
    }
}
