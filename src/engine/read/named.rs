//! Says what a definition consists of, and how much uses it, if somebody searches for its name.

use std::collections::BTreeMap;

use crate::engine::Call;
use crate::engine::door::rows::ResultRow;
use crate::engine::door::serving::Engine;
use crate::engine::read::grep::{GrepRequest, matcher, wanted};
use crate::excerpt::members_of;
use crate::search::{Corpus, LanguageFilter, PathFilter};
use crate::text::place_of_word;

/// Most folders that are named with their numbers of uses.
const MAX_FOLDERS: usize = 3;
/// So few lines with the name are listed.
const FEW_USES: usize = 8;
/// In a project of more files, the look at all of them would take longer than the search.
const MAX_FILES: usize = 20_000;

/// What a project has of a definition.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NamedFacts {
    /// The functions of a type, each with its first line, in their order.
    pub members: Vec<(String, u32)>,
    /// Number of lines with the name, besides its definition, and of their files.
    pub n_uses: usize,
    pub n_files: usize,
    /// The folders with the most of these lines, with their numbers.
    pub most_in: Vec<(String, usize)>,
    /// The lines, by file, if there are few.
    pub uses: Vec<(String, Vec<u32>)>,
    /// Whether the name is that of a member of a type, and other types may have members of this name.
    pub is_member: bool,
}

impl Engine {
    /// Returns what is known of the definition that a row stands for; `None` if it stands for something
    /// else, or belongs to another project.
    pub(in crate::engine) fn facts_of(
        &self,
        row: &ResultRow,
        corpus: &Corpus,
        call: &Call,
    ) -> Option<NamedFacts> {
        let lines = row.hit.definition?;
        let path = row.path.as_deref().filter(|_| row.repo.is_none() && row.package.is_none())?;
        let chunks = corpus.chunks().read_file(path);
        let mut names = chunks.iter().flat_map(|chunk| &chunk.metadata.names);
        let named = names.find(|of| (of.start_line, of.end_line) == lines)?;
        let name = &*named.name;
        let is_type = !named.is_function();
        let members = if is_type { members_of(&chunks, name, lines) } else { Vec::new() };
        let is_member = named.depth > 0 || named.kind == "method";
        let mut facts = NamedFacts { members, is_member, ..NamedFacts::default() };
        let files = wanted(corpus, &PathFilter::default(), &LanguageFilter::default());
        if files.len() > MAX_FILES {
            return Some(facts);
        }
        let request =
            GrepRequest { pattern: name.to_string(), word: true, ..GrepRequest::default() };
        let found = self.lines_in(&files, &matcher(&request).ok()?, &call.work());
        let mut by_folder: BTreeMap<&str, usize> = BTreeMap::new();
        let of_files: Vec<(&str, usize)> =
            found.files.iter().map(|(at, n)| (files[*at], *n)).collect();
        let depth = shared_folders(of_files.iter().map(|of| of.0));
        for (of, n) in &of_files {
            // The line of the definition is none.
            let n = n - usize::from(*of == path);
            facts.n_uses += n;
            facts.n_files += usize::from(n > 0);
            *by_folder.entry(folder(of, depth)).or_default() += n;
        }
        if facts.n_uses <= FEW_USES {
            facts.uses = self.uses_in(name, &of_files, (path, row.hit.line));
        }
        let mut folders: Vec<(&str, usize)> = by_folder.into_iter().collect();
        folders.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        folders.retain(|of| !of.0.is_empty());
        facts.most_in =
            folders.iter().take(MAX_FOLDERS).map(|(name, n)| ((*name).to_string(), *n)).collect();
        Some(facts)
    }

    /// Returns the lines of files that have a name, but for one.
    fn uses_in(
        &self,
        name: &str,
        files: &[(&str, usize)],
        but: (&str, Option<u32>),
    ) -> Vec<(String, Vec<u32>)> {
        let of_file = |path: &str| -> Vec<u32> {
            let text = self.project.read_text(path).unwrap_or_default();
            let lines =
                (1..).zip(text.lines()).filter(|(_, line)| place_of_word(line, name).is_some());
            lines.map(|(number, _)| number).filter(|number| (path, Some(*number)) != but).collect()
        };
        let all = files.iter().map(|(path, _)| ((*path).to_string(), of_file(path)));
        all.filter(|(_, lines)| !lines.is_empty()).collect()
    }
}

/// Returns the number of folders that most paths share, so that the next one tells them apart.
fn shared_folders<'p>(paths: impl Iterator<Item = &'p str>) -> usize {
    let paths: Vec<&str> = paths.collect();
    let mut depth = 0;
    loop {
        let mut n: BTreeMap<&str, usize> = BTreeMap::new();
        for path in &paths {
            *n.entry(folder(path, depth)).or_default() += 1;
        }
        let most = n.iter().max_by_key(|of| *of.1).map_or(("", 0), |of| (*of.0, *of.1));
        if most.0.is_empty() || most.1 * 10 < paths.len() * 9 || depth > 8 {
            return depth;
        }
        depth += 1;
    }
}

/// Returns the first folders of a path, one more than `depth`; empty if it has fewer.
fn folder(path: &str, depth: usize) -> &str {
    path.match_indices('/').nth(depth).map_or("", |(at, _)| &path[..at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_that_all_paths_share_tell_nothing() {
        let paths = ["src/main/a/x.rs", "src/main/a/y.rs", "src/main/b/z.rs"];
        let depth = shared_folders(paths.into_iter());
        assert_eq!(folder(paths[0], depth), "src/main/a");
        assert_eq!(folder("x.rs", depth), "");
    }
}
