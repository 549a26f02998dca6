//! `cortex_pattern`: finds code by its structure.

use super::budget::{TokenBudget, fit};
use super::reply::{Look, Reply, printable};
use super::tool::{Question, ToolGroup};
use crate::engine::{AnswerState, AskError, Call, Engine, Mentions, PatternAnswer, PatternRequest};
use crate::text::count;

impl Question for PatternRequest {
    const NAME: &'static str = "cortex_pattern";
    const TITLE: &'static str = "Find code by its structure";
    const WHEN: &'static str =
        "code with a given structure (`$A.unwrap()`), where text finds too much.";
    const DESCRIPTION: &'static str = "Find code by structure, whatever its names and line breaks: `$A.unwrap()`, `class $C(Base): $$$`. Use it where text finds too much or too little.";
    const GROUP: ToolGroup = ToolGroup::Graph;
    const MENTIONS: fn(&mut Self) -> Mentions<'_> = |q| Mentions::of(&mut q.paths);
    type Reply = PatternAnswer;

    fn answer(
        self,
        engine: &Engine,
        call: &Call,
        budget: TokenBudget,
    ) -> Result<PatternAnswer, AskError> {
        let answer = engine.pattern(&self, call)?;
        Ok(fit(budget, answer.places.len(), |n| PatternAnswer {
            places: answer.places[..n].to_vec(),
            ..answer.clone()
        }))
    }
}

impl Reply for PatternAnswer {
    fn state(&self) -> &AnswerState {
        &self.state
    }

    fn shown(&self, look: &dyn Look) -> Vec<String> {
        let head =
            format!("{} ({} searched)", count(self.total, "place"), count(self.files, "file"));
        let shown = if self.places.len() < self.total {
            format!(", the first {} shown", self.places.len())
        } else {
            String::new()
        };
        let mut lines = vec![head + &shown];
        lines.extend(self.note.as_deref().map(printable));
        for place in &self.places {
            let at = format!("{}-{}", place.start_line, place.end_line);
            lines.push(look.lines(&place.path, &at));
            lines.extend(look.code(place.first_line as usize, &place.text));
        }
        lines
    }
}
