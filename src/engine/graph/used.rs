//! Says how often each symbol of a file is used, and how far the code graph is to be trusted there.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::door::freshness::AnswerState;
use crate::engine::door::serving::Engine;
use crate::engine::read::outline::{OutlineRequest, OutlineSymbol, Outlined};
use crate::engine::{AskError, Call};
use crate::languages::{LanguageKind, detect, precision};

/// Most symbols of a file whose uses are counted, and how long that may take.
const MAX_SYMBOLS: usize = 300;
const TIME: Duration = Duration::from_millis(500);

/// Asks about a file.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct FileUsesRequest {
    /// Relative to the root.
    pub path: String,
}

/// How often the symbols of a file are used.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct FileUses {
    /// The symbols that the code graph knows, in their order. Those are missing whose count would
    /// take too long.
    pub symbols: Vec<SymbolUses>,
    /// The language of the file.
    pub language: String,
    /// Whether the code graph knows the language.
    pub is_code: bool,
    /// How often the calls that it infers in this language were right; nothing if nobody measured it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precision: Option<MeasuredPrecision>,
    #[serde(flatten)]
    pub state: AnswerState,
}

/// Number of symbols that use a symbol.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SymbolUses {
    pub name: String,
    /// First line, as in the outline.
    pub line: u32,
    /// Number of symbols that use it, except tests.
    pub users: usize,
    /// Number of tests that use it.
    pub tests: usize,
}

/// The share of the shown calls that were right in the measured repositories, in percent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MeasuredPrecision {
    /// Number of these repositories.
    pub repositories: usize,
    pub lowest: u8,
    pub highest: u8,
}

impl Engine {
    /// Counts the users of each symbol of a file.
    ///
    /// # Errors
    /// When the path is not in the index, or the index or the graph cannot be read.
    pub fn file_uses(&self, request: &FileUsesRequest, call: &Call) -> Result<FileUses, AskError> {
        let request = OutlineRequest { path: request.path.clone() };
        let outlined = self.outline(&request, call)?;
        let language = detect(&outlined.path, "");
        let is_code = matches!(language.kind, LanguageKind::Code(_));
        let mut answer = FileUses {
            symbols: Vec::new(),
            language: language.name.into(),
            is_code,
            precision: precision(language.name).map(|measured| MeasuredPrecision {
                repositories: measured.repositories,
                lowest: measured.lowest,
                highest: measured.highest,
            }),
            state: outlined.state,
        };
        let Outlined::File(mut symbols) = outlined.outline else { return Ok(answer) };
        symbols.truncate(MAX_SYMBOLS);
        if !is_code || symbols.is_empty() {
            return Ok(answer);
        }
        let target = |symbol: &OutlineSymbol| format!("{}:{}", outlined.path, symbol.start_line);
        let targets: Vec<(&str, String)> =
            symbols.iter().map(|symbol| (&*symbol.name, target(symbol))).collect();
        let work = call.work().at_most(TIME);
        let (found, _) = self.ask_graph(call, |graph| graph.count_users(&targets, &work))?;
        for (symbol, users) in symbols.iter().zip(found) {
            answer.symbols.extend(users.map(|users| SymbolUses {
                name: symbol.name.clone(),
                line: symbol.start_line,
                users: users.others,
                tests: users.tests,
            }));
        }
        Ok(answer)
    }
}
