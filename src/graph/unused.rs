//! Finds symbols that nothing in the project seems to use.
//!
//! The text decides: a symbol is listed only if every place of its name, in any indexed file, is
//! explained. It is the definition of a symbol of this name, it is in the symbol itself, in other
//! unused code, in a comment or a document. Anything else keeps the symbol: a call that may mean
//! another symbol of this name, a string, a template. So no list of references can be incomplete.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::answer::{LEAST_CONFIDENCE, Node};
use super::error::GraphError;
use super::names;
use super::rename::PLAIN_BASES;
use super::resolver::Resolver;
use super::rows::{BaseRow, FileId, SymbolId, SymbolRow};
use super::words::{MAX_PLACES, WordPlace, Words};
use crate::languages::{
    Declaration, Examples, LanguageKind, OutsideUser, TestRole, detect, is_test_file, is_test_path,
    other_spellings, used_from_outside,
};
use crate::syntax::{PlaceKind, Places, SymbolKind};
use crate::text::file_stem;

/// Most files that are parsed to tell comments from code. In the others, each place counts as code.
const MAX_PARSED: usize = 300;
/// Words in the names of files that tests share.
const TEST_WORDS: &[&str] = &["test", "tests", "testing", "testutil", "testutils", "testlib"];
/// Most lines of which the symbols are noted, in all files together.
const MAX_LINES: usize = 50_000_000;
/// Most symbols around a place, and most supertypes above a type, that are looked at.
const MAX_AROUND: usize = 32;
/// Most rounds in which unused code makes more code unused.
const MAX_ROUNDS: usize = 50;

/// A question about unused symbols.
#[derive(Clone, Copy)]
pub struct UnusedQuery<'a> {
    /// All indexed files. A name in any of them is a use.
    pub files: &'a [&'a str],
    /// Returns the text of a file.
    pub read: &'a (dyn Fn(&str) -> Option<String> + Sync),
    /// Whether symbols of a file may be listed: it is part of the question, and the project wrote it.
    pub is_asked: &'a dyn Fn(&str) -> bool,
    /// Whether a file belongs to a library that other projects use.
    pub is_library: &'a dyn Fn(&str, &str) -> bool,
    /// Whether public symbols of libraries are listed, too.
    pub with_public: bool,
}

/// Why a symbol counts as unused. The surest reason first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum WhyUnused {
    /// No other line has the name.
    Nowhere,
    /// Only its own lines have the name.
    OnlyItself,
    /// The name is elsewhere only as that of other symbols, which nothing uses either.
    OnlyNamesakes,
    /// The name is elsewhere only in comments and documents.
    OnlyComments,
    /// The other places of the name are in this symbol, which is unused.
    OnlyUnused(String),
    /// Only tests, what they share, or examples use it.
    OnlyTests,
}

/// Why a symbol without a use is not listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exempt {
    /// Other projects may use it.
    Public,
    /// It is in a test or an example, or a test itself.
    Test,
    /// Programs begin with it.
    Entry,
    /// The language calls it.
    Language,
    /// A framework finds it.
    Framework,
    /// A type outside of the project, or an interface, may declare the method.
    Overrides,
    /// Its name may be built at run time.
    Built,
}

/// A symbol that nothing seems to use.
#[derive(Debug, Clone)]
pub struct UnusedSymbol {
    pub node: Node,
    pub why: WhyUnused,
}

/// The symbols that nothing seems to use.
#[derive(Debug, Clone, Default)]
pub struct UnusedAnswer {
    /// The surest first, then by file and line.
    pub results: Vec<UnusedSymbol>,
    /// Number of symbols without a use that are not listed, by the reason.
    pub exempt: BTreeMap<Exempt, usize>,
    /// Whether the search stopped early. Then nothing is listed, because a use may not have been seen.
    pub is_cut: bool,
}

/// A symbol of the graph.
struct KnownSymbol {
    row: SymbolRow,
    /// Position of its name among the searched ones.
    name: usize,
    /// Position of its file among the indexed ones.
    file: u32,
    /// The symbol around it.
    parent: Option<usize>,
    /// The only type of the name to which it belongs.
    of_type: Option<usize>,
    may_be_listed: bool,
    in_test: bool,
    /// Where its name is, in its definition.
    defined: Option<(u32, u32)>,
}

pub(super) fn unused(
    mut resolver: Resolver,
    query: UnusedQuery,
) -> Result<UnusedAnswer, GraphError> {
    let mut search = Search::new(&mut resolver, query)?;
    if !search.words.is_complete {
        return Ok(UnusedAnswer { is_cut: true, ..UnusedAnswer::default() });
    }
    search.follow(false)?;
    search.follow(true)?;
    search.answer()
}

struct Search<'s> {
    resolver: &'s mut Resolver,
    query: UnusedQuery<'s>,
    symbols: Vec<KnownSymbol>,
    words: Words,
    /// By the file: the innermost symbol of each line, counted from 1; 0 for none.
    lines: HashMap<u32, Vec<u32>>,
    /// Positions of further spellings, by the symbol.
    spellings: HashMap<usize, Vec<usize>>,
    is_document: Vec<bool>,
    is_test: Vec<bool>,
    bases: HashMap<SymbolId, Vec<BaseRow>>,
    trees: HashMap<u32, Option<Arc<Places>>>,
    text: Option<(u32, Arc<str>)>,
    exempt: HashMap<usize, Option<Exempt>>,
    /// Modules that are imported as a whole, each with the file that imports it.
    whole_imports: Option<Vec<(String, FileId)>>,
    /// The symbols without a use that are not listed.
    left_out: BTreeMap<usize, Exempt>,
    /// The symbols without a use.
    unused: BTreeMap<usize, WhyUnused>,
}

/// What the places of a name say of a symbol.
enum Verdict {
    Used,
    Unused(WhyUnused),
    Exempt(Exempt),
}

impl<'s> Search<'s> {
    fn new(resolver: &'s mut Resolver, query: UnusedQuery<'s>) -> Result<Self, GraphError> {
        let positions: HashMap<&str, u32> = query.files.iter().copied().zip(0..).collect();
        let of_file: HashMap<FileId, u32> = (resolver.scopes.files.iter())
            .filter_map(|file| Some((file.row.id, *positions.get(&*file.row.path)?)))
            .collect();
        let examples = Examples::of(query.files.iter().copied());
        let is_outside = |path: &&str| {
            is_test_file(path) || is_test_path(path) || is_for_tests(path) || examples.holds(path)
        };
        let is_test: Vec<bool> = query.files.iter().map(is_outside).collect();
        // A page of MDX holds code.
        let is_document = |path: &&str| {
            let is_mdx = path.rsplit_once('.').is_some_and(|(_, end)| end == "mdx");
            matches!(detect(path, "").kind, LanguageKind::Document(_)) && !is_mdx
        };
        let is_document = query.files.iter().map(is_document).collect();
        let asked: Vec<bool> = query.files.iter().map(|path| (query.is_asked)(path)).collect();
        let rows = resolver.scopes.tables.symbols()?;
        let mut names: Vec<String> = Vec::new();
        let mut ids: FxHashMap<String, usize> = FxHashMap::default();
        let mut id_of = |name: &str| match ids.get(name) {
            Some(id) => *id,
            None => {
                names.push(name.to_string());
                ids.insert(name.to_string(), names.len() - 1);
                names.len() - 1
            }
        };
        let mut symbols: Vec<KnownSymbol> = Vec::new();
        let mut first = (FileId::MIN, 0);
        let mut spellings = HashMap::new();
        for row in rows {
            let Some(&file) = of_file.get(&row.id.file) else { continue };
            if first.0 != row.id.file {
                first = (row.id.file, symbols.len());
            }
            let parent = usize::try_from(row.parent).ok().map(|n| first.1 + n);
            let parent = parent.filter(|parent| *parent < symbols.len());
            let outer = parent.map(|parent| &symbols[parent]);
            let in_test = is_test[file as usize]
                || row.role != TestRole::Other
                || (row.kind == SymbolKind::Module && matches!(&*row.name, "test" | "tests"))
                || outer.is_some_and(|outer| outer.in_test);
            let name = key(&row.name);
            let family = resolver.scopes.family(row.id.file);
            let may_be_listed = asked[file as usize] && is_listed_kind(&row, outer, family);
            if may_be_listed {
                let others = other_spellings(resolver.scopes.language(row.id.file), name);
                if !others.is_empty() {
                    let others = others.iter().map(|name| id_of(name)).collect();
                    spellings.insert(symbols.len(), others);
                }
            }
            let name = id_of(name);
            symbols.push(KnownSymbol {
                name,
                file,
                parent,
                of_type: None,
                may_be_listed,
                in_test,
                defined: None,
                row,
            });
        }
        let by_name: Vec<&str> = names.iter().map(String::as_str).collect();
        let read = |i: usize| (query.read)(query.files[i]);
        let words = Words::find(&by_name, query.files.len(), &read, &resolver.work);
        let mut bases: HashMap<SymbolId, Vec<BaseRow>> = HashMap::new();
        for base in resolver.scopes.tables.bases()? {
            bases.entry(base.symbol).or_default().push(base);
        }
        let mut search = Self {
            resolver,
            query,
            symbols,
            words,
            lines: HashMap::new(),
            spellings,
            is_document,
            is_test,
            bases,
            trees: HashMap::new(),
            text: None,
            exempt: HashMap::new(),
            whole_imports: None,
            left_out: BTreeMap::new(),
            unused: BTreeMap::new(),
        };
        search.note_lines();
        search.note_definitions();
        search.note_types();
        Ok(search)
    }

    /// Notes the innermost symbol of each line.
    fn note_lines(&mut self) {
        let mut n_lines = 0;
        for (i, symbol) in self.symbols.iter().enumerate() {
            let (first, last) = (symbol.row.start_line as usize, symbol.row.end_line as usize);
            n_lines += (last + 1).saturating_sub(first);
            if n_lines > MAX_LINES {
                self.words.is_complete = false;
                return;
            }
            let lines = self.lines.entry(symbol.file).or_default();
            if lines.len() <= last {
                n_lines += last + 1 - lines.len();
                if n_lines > MAX_LINES {
                    self.words.is_complete = false;
                    return;
                }
                lines.resize(last + 1, 0);
            }
            if first <= last {
                lines[first..=last].fill(u32::try_from(i + 1).unwrap_or(0));
            }
        }
    }

    /// Notes where the name of each symbol is, in its definition.
    fn note_definitions(&mut self) {
        for symbol in &mut self.symbols {
            let places = &self.words.places[symbol.name];
            let from =
                places.partition_point(|p| (p.file, p.line) < (symbol.file, symbol.row.line));
            symbol.defined = places
                .get(from)
                .filter(|p| p.file == symbol.file && p.line <= symbol.row.end_line)
                .map(|p| (p.line, p.column));
        }
    }

    /// Notes the type to which each member belongs, if only one type has the name.
    fn note_types(&mut self) {
        let mut types: HashMap<(String, &'static str), Option<usize>> = HashMap::new();
        let mut of_type = Vec::new();
        for (i, symbol) in self.symbols.iter().enumerate() {
            if symbol.row.is_type() && symbol.row.kind != SymbolKind::Impl && !symbol.row.prototype
            {
                let key =
                    (symbol.row.name.clone(), self.resolver.scopes.family(symbol.row.id.file));
                types.entry(key).and_modify(|known| *known = None).or_insert(Some(i));
            }
        }
        for symbol in &self.symbols {
            let name = match symbol.row.kind {
                SymbolKind::Impl => &symbol.row.name,
                _ => &symbol.row.owner,
            };
            let family = self.resolver.scopes.family(symbol.row.id.file);
            of_type.push(types.get(&(name.clone(), family)).copied().flatten());
        }
        for (symbol, of_type) in self.symbols.iter_mut().zip(of_type) {
            symbol.of_type = of_type;
        }
    }

    /// Returns the symbols around a line, from the inside out.
    fn around(&self, file: u32, line: u32) -> impl Iterator<Item = usize> {
        let innermost = self.lines.get(&file).and_then(|lines| lines.get(line as usize));
        let innermost = innermost.and_then(|i| (*i as usize).checked_sub(1));
        std::iter::successors(innermost, |i| self.symbols[*i].parent).take(MAX_AROUND)
    }

    /// Returns the unused symbol that a symbol is, or is a part of.
    fn unused_around(&self, symbol: usize) -> Option<usize> {
        std::iter::successors(Some(symbol), |i| self.symbols[*i].parent)
            .take(MAX_AROUND)
            .flat_map(|i| [Some(i), self.symbols[i].of_type])
            .flatten()
            .find(|i| self.unused.contains_key(i))
    }

    /// Finds unused symbols until there are no more. `without_tests`: what only tests use counts, too.
    fn follow(&mut self, without_tests: bool) -> Result<(), GraphError> {
        let mut open: Vec<usize> = (0..self.symbols.len())
            .filter(|i| {
                let symbol = &self.symbols[*i];
                symbol.may_be_listed
                    && !self.unused.contains_key(i)
                    && !self.left_out.contains_key(i)
                    && self.words.places[symbol.name].len() <= MAX_PLACES
            })
            .collect();
        for _ in 0..MAX_ROUNDS {
            let n_before = self.unused.len();
            let mut left = Vec::new();
            for i in open {
                if !self.resolver.work.goes_on() {
                    return Ok(());
                }
                let exempt = match self.judge(i, without_tests)? {
                    Verdict::Used => {
                        left.push(i);
                        continue;
                    }
                    Verdict::Exempt(why) => Some(why),
                    Verdict::Unused(why) => {
                        let exempt = self.exempt(i)?;
                        if exempt.is_none() {
                            self.unused.insert(i, why);
                        }
                        exempt
                    }
                };
                if let Some(why) = exempt {
                    self.left_out.insert(i, why);
                }
            }
            open = left;
            if self.unused.len() == n_before {
                break;
            }
        }
        Ok(())
    }

    /// Judges a symbol by the places of its name.
    fn judge(&mut self, i: usize, without_tests: bool) -> Result<Verdict, GraphError> {
        let (name, own_file) = (self.symbols[i].name, self.symbols[i].file);
        let is_spelled = self.spellings.get(&i).is_some_and(|others| {
            others.iter().any(|other| *other != name && !self.words.places[*other].is_empty())
        });
        // A definition whose name is not where the rows say was not understood.
        let Some(defined) = self.symbols[i].defined.filter(|_| !is_spelled) else {
            return Ok(Verdict::Used);
        };
        let mut why = WhyUnused::Nowhere;
        let mut possible: Vec<WordPlace> = Vec::new();
        let mut namesakes = Vec::new();
        for n in 0..self.words.places[name].len() {
            let place = self.words.places[name][n];
            if (place.file, place.line, place.column) == (own_file, defined.0, defined.1) {
                continue;
            }
            let around: Vec<usize> = self.around(place.file, place.line).collect();
            let found = if around.iter().any(|other| self.is_same(*other, i)) {
                // Its own comment does not use it.
                if place.may_be_comment { WhyUnused::Nowhere } else { WhyUnused::OnlyItself }
            } else if let Some(namesake) = around.iter().copied().find(|other| {
                self.symbols[*other].name == name
                    && self.symbols[*other].defined == Some((place.line, place.column))
            }) {
                namesakes.push(namesake);
                if self.is_declaration_of(namesake, i) {
                    WhyUnused::Nowhere
                } else {
                    WhyUnused::OnlyNamesakes
                }
            } else if let Some(root) = around.first().and_then(|at| self.unused_around(*at)) {
                if self.unused[&root] == WhyUnused::OnlyTests {
                    WhyUnused::OnlyTests
                } else {
                    WhyUnused::OnlyUnused(self.symbols[root].row.name.clone())
                }
            } else if self.is_document[place.file as usize] {
                WhyUnused::OnlyComments
            } else if without_tests
                && (self.is_test[place.file as usize]
                    || around.iter().any(|at| self.symbols[*at].in_test))
            {
                WhyUnused::OnlyTests
            } else if place.may_be_comment {
                possible.push(place);
                WhyUnused::OnlyComments
            } else {
                return Ok(Verdict::Used);
            };
            why = why.max(found);
        }
        for place in possible {
            if !self.is_comment(place) {
                return Ok(Verdict::Used);
            }
        }
        for namesake in namesakes {
            if let Some(exempt) = self.shared_exemption(i, namesake)? {
                return Ok(Verdict::Exempt(exempt));
            }
        }
        Ok(Verdict::Unused(why))
    }

    /// Whether a symbol is the same as another one, or belongs to that type.
    fn is_same(&self, other: usize, i: usize) -> bool {
        let (a, b) = (&self.symbols[other], &self.symbols[i]);
        if other == i {
            return true;
        }
        let is_variant = a.name == b.name
            && a.row.owner == b.row.owner
            && a.row.id.file == b.row.id.file
            && a.row.kind.is_callable() == b.row.kind.is_callable()
            && a.parent == b.parent
            && b.parent.is_some();
        let is_part = b.row.is_type()
            && self.resolver.scopes.family(a.row.id.file)
                == self.resolver.scopes.family(b.row.id.file)
            && (a.row.owner == b.row.name
                || (a.row.kind == SymbolKind::Impl && a.row.name == b.row.name));
        // A definition does not use itself; see `judge`.
        let defines = |symbol: &KnownSymbol| symbol.defined == self.symbols[i].defined;
        (is_variant && !defines(a)) || is_part
    }

    /// Whether a symbol declares another one: a prototype in a header.
    fn is_declaration_of(&self, other: usize, i: usize) -> bool {
        let (a, b) = (&self.symbols[other].row, &self.symbols[i].row);
        (a.prototype || a.kind == SymbolKind::Impl)
            && a.owner == b.owner
            && self.resolver.scopes.family(a.id.file) == self.resolver.scopes.family(b.id.file)
    }

    /// Whether a place is in a comment.
    fn is_comment(&mut self, place: WordPlace) -> bool {
        if !self.trees.contains_key(&place.file) {
            if self.trees.len() >= MAX_PARSED {
                return false;
            }
            let path = self.query.files[place.file as usize];
            let tree = (self.query.read)(path).and_then(|text| match detect(path, &text).kind {
                LanguageKind::Code(grammar) => Places::new(grammar, &text).map(Arc::new),
                _ => None,
            });
            self.trees.insert(place.file, tree);
        }
        let tree = self.trees.get(&place.file).and_then(Option::as_ref);
        tree.is_some_and(|tree| tree.kind(place.line, place.column as usize) == PlaceKind::Comment)
    }

    /// Returns why a method is not listed because of another one of its name: who calls that one may
    /// mean this one.
    fn shared_exemption(
        &mut self,
        i: usize,
        namesake: usize,
    ) -> Result<Option<Exempt>, GraphError> {
        let (a, b) = (&self.symbols[i].row, &self.symbols[namesake].row);
        let is_member = |row: &SymbolRow| !row.owner.is_empty() && row.kind.is_callable();
        if !is_member(a) || !is_member(b) || a.id == b.id {
            return Ok(None);
        }
        if b.prototype && a.owner != b.owner {
            return Ok(Some(Exempt::Overrides));
        }
        let shared = self.exempt(namesake)?;
        Ok(shared.filter(|why| !matches!(why, Exempt::Public | Exempt::Test)))
    }

    /// Returns why a symbol without a use is not listed.
    fn exempt(&mut self, i: usize) -> Result<Option<Exempt>, GraphError> {
        if let Some(known) = self.exempt.get(&i) {
            return Ok(*known);
        }
        let why = self.find_exemption(i)?;
        self.exempt.insert(i, why);
        Ok(why)
    }

    fn find_exemption(&mut self, i: usize) -> Result<Option<Exempt>, GraphError> {
        let row = self.symbols[i].row.clone();
        let path = self.query.files[self.symbols[i].file as usize];
        let language = self.resolver.scopes.language(row.id.file).to_string();
        if self.symbols[i].in_test {
            return Ok(Some(Exempt::Test));
        }
        if row.name.chars().count() < 2 || !key(&row.name).chars().all(is_word) {
            return Ok(Some(Exempt::Language));
        }
        let around: Vec<usize> =
            std::iter::successors(Some(i), |i| self.symbols[*i].parent).take(MAX_AROUND).collect();
        let by_type = self.symbols[i].of_type.filter(|of| !around.contains(of));
        for at in around.into_iter().chain(by_type) {
            let of = self.symbols[at].row.clone();
            let head = self.head(at);
            let declared = Declaration {
                language: &language,
                path,
                name: &of.name,
                owner: &of.owner,
                head: &head,
                is_around: at != i,
            };
            if at != i && of.kind.is_callable() {
                continue;
            }
            match used_from_outside(declared) {
                Some(OutsideUser::Tests) => return Ok(Some(Exempt::Test)),
                Some(OutsideUser::Loader) => return Ok(Some(Exempt::Entry)),
                Some(OutsideUser::Language) => return Ok(Some(Exempt::Language)),
                // What is private is nothing for a framework.
                Some(OutsideUser::Framework) if at == i || !is_private(&row) => {
                    return Ok(Some(Exempt::Framework));
                }
                _ => {}
            }
        }
        if self.words.may_be_built(&row.name) {
            return Ok(Some(Exempt::Built));
        }
        if self.is_in_namespace_import(i)? {
            return Ok(Some(Exempt::Built));
        }
        if self.may_be_global(i)? || self.adds_to_global(i) {
            return Ok(Some(Exempt::Framework));
        }
        if self.may_override(i)? {
            return Ok(Some(Exempt::Overrides));
        }
        let is_public = self.is_public(i, &language);
        if is_public && (self.query.is_library)(path, &language) && !self.query.with_public {
            return Ok(Some(Exempt::Public));
        }
        Ok(None)
    }

    /// Returns the lines of a definition up to its name: comments, attributes and the declaration.
    fn head(&mut self, i: usize) -> String {
        let KnownSymbol { file, row, defined, .. } = &self.symbols[i];
        let (file, first) = (*file, row.start_line.max(1) as usize);
        let last = defined.map_or(row.line, |(line, _)| line.max(row.line)) as usize;
        if self.text.as_ref().is_none_or(|(of, _)| *of != file) {
            let text = (self.query.read)(self.query.files[file as usize]).unwrap_or_default();
            self.text = Some((file, text.into()));
        }
        let text = self.text.as_ref().map(|(_, text)| text.clone()).unwrap_or_default();
        let lines = text.lines().skip(first - 1).take((last + 1).saturating_sub(first));
        lines.collect::<Vec<_>>().join("\n")
    }

    /// Whether a module takes all that a file exports as one value (`import * as schema`), and may look
    /// at each part of it.
    fn is_in_namespace_import(&mut self, i: usize) -> Result<bool, GraphError> {
        let row = &self.symbols[i].row;
        let (file, is_exported) = (row.id.file, row.exported && row.parent < 0);
        if !is_exported || !self.resolver.scopes.is_npm(file) {
            return Ok(false);
        }
        if self.whole_imports.is_none() {
            let all = self.resolver.scopes.tables.imports()?;
            let whole = all.into_iter().filter(|i| i.name.is_empty() && !i.alias.is_empty());
            self.whole_imports = Some(whole.map(|i| (i.module, i.file)).collect());
        }
        let whole = self.whole_imports.iter().flatten();
        let scopes = &mut self.resolver.scopes;
        Ok(whole.into_iter().any(|(module, from)| {
            *from != file && scopes.module_matches(module, *from, file) >= LEAST_CONFIDENCE
        }))
    }

    /// Whether a symbol is in a script of JavaScript that is no module: pages and other scripts see it.
    fn may_be_global(&mut self, i: usize) -> Result<bool, GraphError> {
        let file = self.symbols[i].row.id.file;
        if self.resolver.scopes.language(file) != "javascript" {
            return Ok(false);
        }
        let scope = self.resolver.scopes.scope_of(file)?;
        Ok(scope.imports.is_empty() && !scope.symbols.iter().any(|symbol| symbol.exported))
    }

    /// Whether a declaration adds to one outside of the project: `declare global { interface Window {} }`.
    fn adds_to_global(&mut self, i: usize) -> bool {
        let row = &self.symbols[i].row;
        let is_candidate = row.kind == SymbolKind::Interface && row.parent < 0;
        is_candidate
            && self.resolver.scopes.is_npm(row.id.file)
            && self.head(i).lines().last().is_some_and(|line| line.starts_with([' ', '\t']))
    }

    /// Whether a type outside of the project may declare a method, so that its calls are not here, or
    /// may find a type that extends it.
    fn may_override(&mut self, i: usize) -> Result<bool, GraphError> {
        let symbol = &self.symbols[i];
        let file = self.resolver.scopes.file(symbol.row.id.file);
        let is_structural = file.is_some_and(|file| file.names.structural);
        let names = file.map(|file| file.names);
        let is_method = symbol.row.kind.is_callable();
        if symbol.row.owner.is_empty() && !symbol.row.is_type() {
            // A member of an object or a type without a name.
            let own = names.map_or(&[][..], |names| names.own_value);
            let parameters = symbol.row.signature.split_once('(').map_or("", |(_, rest)| rest);
            let first = parameters.split([',', ')', ':']).next().unwrap_or_default();
            let first = first.rsplit(['&', ' ']).next().unwrap_or_default();
            return Ok(symbol.row.kind == SymbolKind::Method || own.contains(&first));
        }
        // So is a member of a constant: a table of functions.
        if symbol.parent.is_some_and(|outer| self.symbols[outer].row.kind.is_data()) {
            return Ok(is_method);
        }
        if is_structural && is_method && symbol.row.exported {
            return Ok(true);
        }
        if is_private(&symbol.row) {
            return Ok(false);
        }
        if is_method && names.is_some_and(|names| names.is_common_method(&symbol.row.name)) {
            return Ok(true);
        }
        let mut types: Vec<usize> =
            std::iter::successors(symbol.parent, |i| self.symbols[*i].parent)
                .take(MAX_AROUND)
                .filter(|i| self.symbols[*i].row.is_type())
                .take(1)
                .collect();
        types.extend(symbol.of_type);
        if !is_method {
            // Only the `impl` around an associated type says more than the type itself.
            types.retain(|i| self.symbols[*i].row.kind == SymbolKind::Impl);
            types.push(i);
        }
        let is_impl = types.iter().any(|i| {
            let row = &self.symbols[*i].row;
            row.kind == SymbolKind::Impl && self.bases.contains_key(&row.id)
        });
        if is_impl {
            return Ok(true);
        }
        let mut seen = Vec::new();
        while let Some(at) = types.pop() {
            if seen.contains(&at) || seen.len() > MAX_AROUND {
                continue;
            }
            seen.push(at);
            let id = self.symbols[at].row.id;
            for base in self.bases.get(&id).cloned().unwrap_or_default() {
                let last = names::last(&base.written);
                let last = last.split(['<', '[', '(']).next().unwrap_or(last);
                let is_error = ["Error", "Exception"].iter().any(|end| last.ends_with(end));
                if PLAIN_BASES.contains(&last) || (!is_method && is_error) {
                    continue;
                }
                let sure: Vec<SymbolId> = (self.resolver.base_meanings(&base)?.iter())
                    .filter(|meaning| meaning.confidence >= LEAST_CONFIDENCE)
                    .map(|meaning| meaning.symbol)
                    .collect();
                if sure.is_empty() {
                    return Ok(true);
                }
                types.extend(sure.iter().filter_map(|id| self.position(*id)));
            }
        }
        Ok(false)
    }

    fn position(&self, id: SymbolId) -> Option<usize> {
        self.symbols.binary_search_by_key(&id, |symbol| symbol.row.id).ok()
    }

    /// Whether other projects can name a symbol, if its file belongs to a library.
    fn is_public(&self, i: usize, language: &str) -> bool {
        let symbol = &self.symbols[i];
        let path = self.query.files[symbol.file as usize];
        let row = &symbol.row;
        let outer = std::iter::successors(symbol.parent, |i| self.symbols[*i].parent);
        let is_local = outer.take(MAX_AROUND).any(|i| self.symbols[i].row.kind.is_callable());
        let words = |wanted: &[&str]| {
            wanted.iter().any(|word| row.signature.split([' ', '\t']).any(|w| w.starts_with(word)))
        };
        if is_local || words(&["pub(crate", "pub(super", "pub(in", "pub(self", "internal"]) {
            return false;
        }
        if !row.exported {
            return words(&["protected"]);
        }
        match language {
            "go" => {
                let package = self.resolver.scopes.file(row.id.file);
                package.is_none_or(|file| file.row.package != "main")
                    && !path.split('/').any(|part| part == "internal")
            }
            "python" => {
                let is_hidden = |part: &str| part.starts_with('_') && !part.starts_with("__");
                // Objects of private types reach the users of a library.
                !path.split('/').any(is_hidden)
            }
            "c" | "cpp" | "objc" => {
                let is_header = |file: u32| {
                    let path = self.query.files[file as usize];
                    path.rsplit('.').next().is_some_and(|end| end.starts_with('h'))
                };
                let places = &self.words.places[symbol.name];
                is_header(symbol.file) || places.iter().any(|place| is_header(place.file))
            }
            _ => true,
        }
    }

    fn answer(self) -> Result<UnusedAnswer, GraphError> {
        let mut answer =
            UnusedAnswer { is_cut: self.resolver.work.is_spent(), ..UnusedAnswer::default() };
        if answer.is_cut {
            return Ok(answer);
        }
        for why in self.left_out.values() {
            *answer.exempt.entry(*why).or_default() += 1;
        }
        for (i, why) in &self.unused {
            // A part of an unused symbol goes with it.
            let symbol = &self.symbols[*i];
            let mut around = [symbol.parent, symbol.of_type].into_iter().flatten();
            if !around.any(|at| at != *i && self.unused_around(at).is_some()) {
                let node = self.resolver.scopes.node(symbol.row.id)?;
                answer.results.push(UnusedSymbol { node, why: why.clone() });
            }
        }
        let tier = |why: &WhyUnused| match why {
            WhyUnused::OnlyUnused(_) => WhyUnused::OnlyUnused(String::new()),
            other => other.clone(),
        };
        answer.results.sort_by_cached_key(|UnusedSymbol { node, why }| {
            (tier(why), node.file.clone(), node.line)
        });
        Ok(answer)
    }
}

/// Returns a name as texts have it: without the `$`, `#`, `?` or `=` that some languages write with it.
fn key(name: &str) -> &str {
    name.trim_matches(['$', '#', '@', '?', '!', '='])
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || !c.is_ascii()
}

/// Whether the declaration says that a symbol is nothing for other types. An underscore does not: a
/// class may override private methods of a library.
fn is_private(row: &SymbolRow) -> bool {
    row.name.starts_with('#') || row.signature.split([' ', '\t']).any(|word| word == "private")
}

/// Whether a file holds what tests share.
fn is_for_tests(path: &str) -> bool {
    let stem = file_stem(path).to_lowercase();
    stem.split(['_', '-']).any(|word| TEST_WORDS.contains(&word))
}

/// Whether symbols of this kind are listed: functions, types, macros, and constants outside of
/// functions and types.
fn is_listed_kind(row: &SymbolRow, outer: Option<&KnownSymbol>, family: &str) -> bool {
    let is_top = outer.is_none_or(|outer| outer.row.kind == SymbolKind::Module);
    match row.kind {
        _ if row.prototype => false,
        // Its members are used without its name.
        SymbolKind::Enum => family != "c",
        // The use of a macro that defines something: `PYBIND11_MODULE(_re2, module) { … }`.
        SymbolKind::Function if family == "c" && !row.name.chars().any(char::is_lowercase) => false,
        SymbolKind::Function
        | SymbolKind::Method
        | SymbolKind::Macro
        | SymbolKind::Class
        | SymbolKind::Struct
        | SymbolKind::Interface
        | SymbolKind::Trait
        | SymbolKind::Type => true,
        // In Go, a constant without a value of its own counts on from the one above it.
        SymbolKind::Constant if family == "go" => {
            is_top && row.signature.contains('=') && !row.signature.contains("iota")
        }
        SymbolKind::Constant => is_top,
        _ => false,
    }
}
