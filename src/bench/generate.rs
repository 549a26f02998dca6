//! Generates source trees from a seed: the same on every machine, and as similar to real
//! ones as benchmarks need.
//!
//! Words are distributed as in real code (the k-th most frequent word is about 1/k as frequent as
//! the first). Each folder and each file prefers some words, so that files have subjects and
//! vectors form clusters. A file consists of filled-in templates of a language; the indexer decides
//! where chunks begin and end.

use fastrand::Rng;

/// Bytes of generated text for each chunk of the index, as measured.
const BYTES_PER_CHUNK: usize = 690;
/// Number of files in a folder. They share a subject.
const FOLDER_FILES: usize = 12;
/// Number of functions, types and constants each that a folder uses from elsewhere. Files also
/// use what they define.
const IMPORTED: usize = 6;
/// Number of variables of a file.
const VARIABLES: usize = 12;
/// Number of words that a file prefers.
const FILE_WORDS: usize = 6;
/// Number of words that a folder prefers.
const SUBJECT_WORDS: usize = 24;
/// Binary logarithm of the number of words in the vocabulary.
const VOCABULARY_BITS: usize = 14;

/// The most frequent words. All others are built from [`SYLLABLES`].
const WORDS: &str = "value index file path node state read data load name list result key item type size cache line text token parse \
error query map entry count buffer store update request chunk start find check build message field write user \
group event client server stream block page task queue thread lock handle session config option default limit offset length \
source target parent child root tree graph edge range point column row record model view render layout style color image \
filter match pattern rule merge split sort order score rank weight batch retry timeout delay worker schedule job signal \
connect close open send receive encode decode format convert validate verify resolve register notify publish commit revert \
version snapshot backup restore delete insert append remove replace copy move create destroy allocate release flush sync";
const SYLLABLES: &str = "ar bel cor dan el fin gor hal is jun kal lor men nor ob pel qua ris sol tan ul ver win xen yor zan bri cla dro fle";

/// The templates of a language, with placeholders: `$v` variable, `$f` function, `$T` type, `$C`
/// constant, the last three as `$F`, `$D`, `$K` where they are defined; `$n` number, `$s`
/// sentence, `$w` word.
struct Language {
    folder: &'static str,
    extension: &'static str,
    camel_case: bool,
    /// Written once, at the top.
    head: &'static str,
    /// Each is written once, after the head.
    declarations: &'static [&'static str],
    /// The beginning of a function, before the lines of its body.
    open: &'static str,
    close: &'static str,
    statements: &'static [&'static str],
}

const LANGUAGES: [Language; 3] = [
    Language {
        folder: "src",
        extension: "rs",
        camel_case: false,
        head: "//! $s\n//! $s\n\nuse super::$w::$T;\nuse std::$w::{$T, $T};\n\n",
        declarations: &[
            "/// $s\nconst $K: usize = $n;\n\n",
            "/// $s\npub struct $D {\n    /// $s\n    pub $v: $T,\n    $v: Vec<$T>,\n    $v: usize,\n}\n\n",
            "/// $s\n#[derive(Debug)]\npub enum $D {\n    /// $s\n    $T,\n    $T($T),\n    $T,\n}\n\n",
        ],
        open: "/// $s\n/// $s\npub fn $F($v: &$T, $v: usize) -> Option<$T> {\n",
        close: "    Some($v)\n}\n\n",
        statements: &[
            "    let $v = $v.$f($v, $n)?;\n",
            "    let mut $v: Vec<$T> = $f(&$v);\n",
            "    // $s\n",
            "    if $v.$w() > $C {\n        return $f($v, \"$s\");\n    }\n",
            "    for $v in $v.iter().filter(|$w| $w.$v < $n) {\n        $f($v, $n);\n        $v.$w($v);\n    }\n",
            "    match $v {\n        $T::$T => $v.$f(),\n        _ => $f($n),\n    };\n",
            "    $v.$f($T::new($v), \"$w $w\");\n",
        ],
    },
    Language {
        folder: "tools",
        extension: "py",
        camel_case: false,
        head: "\"\"\"$s\n\n$s\n\"\"\"\n\nimport $w\nfrom $w.$w import $f, $T\n\n",
        declarations: &["$K = $n\n\n", "$K = {\"$w\": $n, \"$w\": \"$s\"}\n\n"],
        open: "def $F($v, $v=$n):\n    \"\"\"$s\n\n    $s\n    \"\"\"\n",
        close: "    return $v\n\n\n",
        statements: &[
            "    $v = $w.$f($v, $n)\n",
            "    # $s\n",
            "    if $v and $v[\"$w\"] > $C:\n        raise $T(\"$s\")\n",
            "    for $v in $f($v):\n        $v.append($w.$f($v))\n",
            "    with $f($v) as $v:\n        $v = $v.$w(\"$w $w\")\n",
            "    $v = [$f($w) for $w in $v if $w.$v]\n",
        ],
    },
    Language {
        folder: "web",
        extension: "ts",
        camel_case: true,
        head: "/** $s */\nimport { $f, $T } from \"../$w/$w\";\nimport $T from \"./$w\";\n\n",
        declarations: &[
            "export const $K = $n;\n\n",
            "/** $s */\nexport interface $D {\n  $v: string;\n  /** $s */\n  $v: $T[];\n  $v?: number;\n}\n\n",
        ],
        open: "/**\n * $s\n * $s\n */\nexport async function $F($v: $T, $v: number): Promise<$T> {\n",
        close: "  return $v;\n}\n\n",
        statements: &[
            "  const $v = await $w.$f($v, { $w: $n, $v });\n",
            "  // $s\n",
            "  if ($v.$w > $C) {\n    throw new $T(`$s`);\n  }\n",
            "  for (const $v of $f($v)) {\n    $v.push($v.$w);\n    $f($v, $n);\n  }\n",
            "  $v.$w = $v.map(($w) => $w.$f($v));\n",
        ],
    },
];

/// A section of a document.
const DOCUMENT: &str =
    "## $w $w $w\n\n$s $s $s\n$s $s\n\n- `$f`: $s\n- `$T`: $s\n\n$s $s $s $s\n\n";
const SETTINGS: &str = "# $s\n[$w.$w]\n$w = $n\n$w = \"$w/$w\"\n$w = [$n, $n, $n]\n\n";

/// A generated file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceText {
    /// Path relative to the root, with `/` as separator.
    pub path: String,
    pub text: String,
}

/// Generates files in three programming languages, with documents and settings, that yield about
/// `n_chunks` chunks (within a tenth, from a thousand on). Equal seeds give equal trees, and more
/// chunks only add files.
pub fn source_tree(seed: u64, n_chunks: usize) -> impl Iterator<Item = SourceText> {
    let (mut writer, mut bytes) = (Writer::new(seed), 0);
    (0..)
        .map(move |i| writer.file(i))
        // The file that reaches the wanted size is the last one.
        .take_while(move |file| {
            let goes_on = bytes < n_chunks * BYTES_PER_CHUNK;
            bytes += file.text.len();
            goes_on
        })
}

struct Writer {
    random: Rng,
    vocabulary: Vec<String>,
    folder: Folder,
    file: File,
}

/// Words and names that the files of a folder share.
#[derive(Default)]
struct Folder {
    /// Ranks of the preferred words.
    subject: Vec<usize>,
    camel_case: bool,
    functions: Vec<String>,
    types: Vec<String>,
    constants: Vec<String>,
}

/// Words and names of one file.
#[derive(Default)]
struct File {
    /// Ranks of the preferred words.
    subject: Vec<usize>,
    variables: Vec<String>,
}

impl Writer {
    fn new(seed: u64) -> Self {
        Self {
            random: Rng::with_seed(seed),
            vocabulary: vocabulary(),
            folder: Folder::default(),
            file: File::default(),
        }
    }

    fn file(&mut self, i: usize) -> SourceText {
        let folder = i / FOLDER_FILES;
        let language = &LANGUAGES[folder % LANGUAGES.len()];
        self.file.subject = (0..FILE_WORDS).map(|_| self.rank()).collect();
        if i.is_multiple_of(FOLDER_FILES) {
            self.folder.camel_case = language.camel_case;
            self.folder.subject = (0..SUBJECT_WORDS).map(|_| self.rank()).collect();
            self.folder.functions = (0..IMPORTED).map(|_| self.name(2, 3)).collect();
            self.folder.types = (0..IMPORTED).map(|_| self.type_name()).collect();
            self.folder.constants = (0..IMPORTED).map(|_| self.constant()).collect();
        }
        self.file.variables = (0..VARIABLES).map(|_| self.name(1, 2)).collect();
        // The names contain numbers, so that all paths are different.
        let place =
            format!("{}/{}_{folder}", language.folder, self.vocabulary[self.folder.subject[0]]);
        let name = format!("{}_{}_{i}", self.word(), self.word());
        match i % FOLDER_FILES {
            0 => self.plain(format!("docs/{place}.md"), "# $w $w\n\n$s\n\n", DOCUMENT),
            1 if folder.is_multiple_of(4) => {
                self.plain(format!("{place}/{name}.toml"), "", SETTINGS)
            }
            _ => self.code(format!("{place}/{name}.{}", language.extension), language),
        }
    }

    fn plain(&mut self, path: String, head: &str, part: &str) -> SourceText {
        let mut text = self.fill(head);
        for _ in 0..self.below(3, 9) {
            text += &self.fill(part);
        }
        SourceText { path, text }
    }

    fn code(&mut self, path: String, language: &Language) -> SourceText {
        let mut text = self.fill(language.head);
        for declaration in language.declarations {
            text += &self.fill(declaration);
        }
        for _ in 0..self.below(2, 8) {
            text += &self.fill(language.open);
            for _ in 0..self.below(3, 18) {
                let statement = pick(&mut self.random, language.statements);
                text += &self.fill(statement);
            }
            text += &self.fill(language.close);
        }
        SourceText { path, text }
    }

    fn fill(&mut self, template: &str) -> String {
        let mut parts = template.split('$');
        let mut out = parts.next().unwrap_or_default().to_string();
        for part in parts {
            let (what, rest) = part.split_at(1);
            let filled = match what {
                "v" => pick(&mut self.random, &self.file.variables).clone(),
                "f" => pick(&mut self.random, &self.folder.functions).clone(),
                "T" => pick(&mut self.random, &self.folder.types).clone(),
                "C" => pick(&mut self.random, &self.folder.constants).clone(),
                "F" => self.name(2, 3),
                "D" => self.type_name(),
                "K" => self.constant(),
                "n" => self.below(0, 4096).to_string(),
                "s" => self.sentence(),
                _ => self.word(),
            };
            out += &filled;
            match what {
                "F" => self.folder.functions.push(filled),
                "D" => self.folder.types.push(filled),
                "K" => self.folder.constants.push(filled),
                _ => {}
            }
            out += rest;
        }
        out
    }

    /// Returns a name of `least` to `most` words, such as `load_chunk_table` or `loadChunkTable`.
    fn name(&mut self, least: usize, most: usize) -> String {
        let n = self.below(least, most + 1);
        let words: Vec<String> = (0..n).map(|_| self.word()).collect();
        if self.folder.camel_case {
            words[0].clone() + &words[1..].iter().map(|w| capitalised(w)).collect::<String>()
        } else {
            words.join("_")
        }
    }

    /// Returns a name such as `ChunkTable`.
    fn type_name(&mut self) -> String {
        let n = self.below(1, 4);
        (0..n).map(|_| capitalised(&self.word())).collect()
    }

    /// Returns a name such as `CHUNK_TABLE`.
    fn constant(&mut self) -> String {
        [self.word(), self.word()].join("_").to_uppercase()
    }

    fn sentence(&mut self) -> String {
        let n = self.below(5, 13);
        let words: Vec<String> = (0..n)
            .map(|i| if i % 3 == 1 { self.filler().to_string() } else { self.word() })
            .collect();
        capitalised(&words.join(" ")) + "."
    }

    fn filler(&mut self) -> &'static str {
        const FILLERS: [&str; 10] =
            ["the", "of", "a", "to", "and", "is", "when", "with", "for", "before"];
        pick::<&str>(&mut self.random, &FILLERS)
    }

    /// Returns a random word: a third of them are the folder's, a third the file's.
    fn word(&mut self) -> String {
        let rank = match self.below(0, 3) {
            0 => *pick(&mut self.random, &self.folder.subject),
            1 => *pick(&mut self.random, &self.file.subject),
            _ => self.rank(),
        };
        self.vocabulary[rank].clone()
    }

    /// Returns a random rank. Ranks from 2^k to 2^(k + 1) together are equally frequent for each k:
    /// about Zipf's law, without floats, which another processor could round differently.
    fn rank(&mut self) -> usize {
        let first = 1 << self.below(0, VOCABULARY_BITS);
        first + self.below(0, first) - 1
    }

    fn below(&mut self, least: usize, end: usize) -> usize {
        least + below(&mut self.random, end - least)
    }
}

/// Returns all words by rank, the most frequent first.
fn vocabulary() -> Vec<String> {
    let frequent = WORDS.split_ascii_whitespace().map(String::from);
    let syllables: Vec<&str> = SYLLABLES.split_ascii_whitespace().collect();
    // Rare words have three syllables, so that none equals a frequent word.
    let n = syllables.len();
    let rare =
        (0..).map(|i| [syllables[i % n], syllables[i / n % n], syllables[i / n / n % n]].concat());
    frequent.chain(rare).take(1 << VOCABULARY_BITS).collect()
}

/// Returns a random number below `n`, also the same on machines with a 32-bit `usize`.
fn below(random: &mut Rng, n: usize) -> usize {
    random.u32(0..u32::try_from(n).unwrap_or(u32::MAX)) as usize
}

fn pick<'a, T>(random: &mut Rng, all: &'a [T]) -> &'a T {
    &all[below(random, all.len())]
}

fn capitalised(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map(|c| c.to_ascii_uppercase()).into_iter().chain(chars).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::chunk::ChunkType;
    use crate::index::chunk_file;

    #[test]
    fn a_seed_is_a_tree() {
        let tree = |seed, n| source_tree(seed, n).collect::<Vec<_>>();
        let small = tree(1, 300);
        assert_eq!(small, tree(1, 300));
        assert_ne!(small, tree(2, 300));
        assert_eq!(small, tree(1, 600)[..small.len()], "a larger tree begins like a smaller one");
        let hash = xxhash_rust::xxh3::xxh3_64(
            small.iter().map(|f| f.path.clone() + &f.text).collect::<String>().as_bytes(),
        );
        assert_eq!(
            hash, 0x2783_a3b9_cdc1_2217,
            "figures of other versions and machines are no longer comparable"
        );
    }

    #[test]
    fn chunks_are_as_many_and_as_large_as_promised() {
        let files: Vec<SourceText> = source_tree(1, 2_000).collect();
        let paths: BTreeSet<&str> = files.iter().map(|f| &*f.path).collect();
        assert_eq!(paths.len(), files.len(), "no path twice");
        let chunks: Vec<_> = files.iter().flat_map(|f| chunk_file(&f.path, &f.text)).collect();
        assert!(
            (1_800..2_200).contains(&chunks.len()),
            "{} chunks of {} files",
            chunks.len(),
            files.len()
        );
        let mut by_file: BTreeMap<&str, usize> = BTreeMap::new();
        for chunk in &chunks {
            *by_file.entry(chunk.metadata.file_path.as_deref().unwrap()).or_default() += 1;
        }
        for t in ChunkType::SEARCHED {
            let n = chunks.iter().filter(|c| c.chunk_type == t).count();
            assert!(n > 40, "{n} chunks of {}", t.as_str());
        }
        let typical = by_file.values().filter(|n| (3..=14).contains(*n)).count();
        assert!(
            typical * 10 > by_file.len() * 9,
            "{typical} of {} files have 3 to 14 chunks",
            by_file.len()
        );
        let mut sizes: Vec<usize> = chunks
            .iter()
            .filter(|c| c.chunk_type == ChunkType::Definitions)
            .map(|c| c.text.len())
            .collect();
        sizes.sort_unstable();
        let (low, high) = (sizes[sizes.len() / 10], sizes[sizes.len() * 9 / 10]);
        assert!(low > 250 && high < 2_500, "nine definitions of ten have {low} to {high} bytes");
        let named = chunks
            .iter()
            .filter(|c| !c.metadata.names.is_empty() && c.metadata.signature.is_some())
            .count();
        assert!(named * 3 > chunks.len(), "{named} chunks have names and signatures");
    }

    #[test]
    fn words_are_distributed_as_in_code() {
        let mut n: BTreeMap<String, usize> = BTreeMap::new();
        for file in source_tree(1, 2_000) {
            for word in file.text.split(|c: char| !c.is_ascii_alphabetic()).filter(|w| w.len() > 2)
            {
                *n.entry(word.to_lowercase()).or_default() += 1;
            }
        }
        let mut counts: Vec<usize> = n.into_values().collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let (total, top): (usize, usize) = (counts.iter().sum(), counts[..100].iter().sum());
        assert!(
            (25..75).contains(&(top * 100 / total)),
            "the hundred most frequent words are {} %",
            top * 100 / total
        );
        assert!(
            counts.len() > 5_000 && counts.iter().filter(|n| **n < 5).count() * 3 > counts.len(),
            "most words are rare"
        );
    }
}
