use proptest::prelude::*;

use super::*;

fn chunks(text: &str) -> Vec<TextChunk> {
    chunked(text, &TextChunker::default())
}

/// Returns the chunks, after checking all laws that hold for every text.
fn chunked(text: &str, chunker: &TextChunker) -> Vec<TextChunk> {
    let chunks = chunker.chunk_text(text, "notes/a.md").unwrap();
    let hash = sha256(text.as_bytes());
    let (mut restored, mut restored_chars) = (String::new(), 0);
    let (mut starts, mut ends) = (Vec::new(), Vec::new());
    for (i, chunk) in chunks.iter().enumerate() {
        let m = &chunk.metadata;
        assert_eq!((m.chunk_index as usize, m.total_chunks as usize), (i, chunks.len()));
        assert_eq!((m.file_path.as_str(), &m.original_file_hash), ("notes/a.md", &hash));

        let n_chars = chunk.content.chars().count();
        let n_words = chunk.content.split_whitespace().count();
        assert!((1..=MAX_CONTENT_CHARS).contains(&n_chars), "{n_chars} characters");
        assert_eq!(chunk.word_count as usize, n_words);
        assert!(n_words <= chunker.chunk_size);

        let start = m.char_offset as usize;
        let overlap = restored_chars - start;
        assert!(overlap < n_chars, "every chunk has something new");
        restored.extend(chunk.content.chars().skip(overlap));
        restored_chars += n_chars - overlap;
        starts.push(start);
        ends.push(restored_chars);
    }
    assert!(restored == text, "the chunks are not the text");
    assert!(starts.is_sorted_by(|a, b| a < b) && ends.is_sorted_by(|a, b| a < b));
    check_places(text, &chunks, chunker.chunk_size);
    chunks
}

/// Checks character by character: lines, needless ends, words and graphemes that are cut.
fn check_places(text: &str, chunks: &[TextChunk], size: usize) {
    let all: Vec<char> = text.chars().collect();
    let mut line_of = Vec::with_capacity(all.len());
    let mut line = 1;
    for c in &all {
        line_of.push(line);
        line += u32::from(*c == '\n');
    }
    for chunk in chunks {
        let m = &chunk.metadata;
        let start = m.char_offset as usize;
        let end = start + chunk.content.chars().count();
        assert!(chunk.content.chars().eq(all[start..end].iter().copied()));
        assert_eq!((m.start_line, m.end_line), (line_of[start], line_of[end - 1]));
        let last_word = chunk.content.trim_end().trim_end_matches(CLOSERS);
        if end < all.len()
            && (chunk.word_count as usize) < size - size / 5
            && !last_word.ends_with(SENTENCE_TERMINATORS)
        {
            let next = all[end..].iter().position(|c| c.is_whitespace()).unwrap_or(all.len() - end);
            let blanks = all[end + next..].iter().take_while(|c| c.is_whitespace()).count();
            assert!(end - start + next + blanks > MAX_CONTENT_CHARS, "the chunk ends too early");
        }
        for at in [start, end] {
            let new_word = at == 0
                || at == all.len()
                || (all[at - 1].is_whitespace() && !all[at].is_whitespace());
            if new_word {
                continue;
            }
            // Between two pieces of one word or its white space: allowed only if the whole does not
            // fit in a chunk.
            let back = all[..at].iter().rev();
            let blanks = back.clone().take_while(|c| c.is_whitespace()).count();
            let word = back.skip(blanks).take_while(|c| !c.is_whitespace()).count();
            let rest = all[at..].iter();
            let rest_of_word = if blanks > 0 {
                0
            } else {
                rest.clone().take_while(|c| !c.is_whitespace()).count()
            };
            let rest_of_blanks = rest.skip(rest_of_word).take_while(|c| c.is_whitespace()).count();
            assert!(blanks + word + rest_of_word + rest_of_blanks > MAX_CONTENT_CHARS);
            if rest_of_word > 0 {
                assert!(word + rest_of_word > MAX_CONTENT_CHARS, "a word that fits was cut");
            }
            let around: String =
                all[at - blanks - word..at + rest_of_word + rest_of_blanks].iter().collect();
            let mut offset = 0;
            let inside = around.graphemes(true).map(|g| g.chars().count()).find(|n| {
                offset += n;
                offset > blanks + word
            });
            let fits = |n: usize| n <= MAX_CONTENT_CHARS;
            assert!(
                inside.is_none_or(|n| offset - n == blanks + word || !fits(n)),
                "a grapheme that fits was cut"
            );
        }
    }
}

/// Computes the first and last word of each chunk directly from the rules, for short words.
fn by_the_rules(text: &str, size: usize, overlap: usize) -> Vec<(usize, usize)> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let ends_sentence = |w: &str| w.trim_end_matches(CLOSERS).ends_with(SENTENCE_TERMINATORS);
    let mut out: Vec<(usize, usize)> = Vec::new();
    let mut start = 0;
    loop {
        let full = start + size;
        if full >= words.len() {
            out.push((start, words.len()));
            return out;
        }
        let least = (full - size / 5 + 1).max(out.last().map_or(0, |l| l.1 + 1));
        let end = (least..=full).rev().find(|e| ends_sentence(words[*e - 1])).unwrap_or(full);
        out.push((start, end));
        start = end.saturating_sub(overlap).max(start + 1).min(words.len() - MIN_CHUNK_WORDS);
    }
}

fn spans(chunks: &[TextChunk]) -> Vec<(usize, usize)> {
    let span = |c: &TextChunk| {
        (c.metadata.word_offset as usize, (c.metadata.word_offset + c.word_count) as usize)
    };
    chunks.iter().map(span).collect()
}

/// Returns `w0 w1 w2 …`; each ending is added to the word with its number.
fn numbered(n: usize, endings: &[(usize, &str)]) -> String {
    let ending = |i| endings.iter().find(|(at, _)| *at == i).map_or("", |(_, e)| e);
    (0..n).map(|i| format!("w{i}{}", ending(i))).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_short_text_is_one_chunk() {
    let text = "  # Title\n\nOne line.\n\n";
    let expected = TextChunk {
        content: text.to_string(),
        word_count: 4,
        metadata: ChunkMetadata {
            file_path: "a.md".to_string(),
            chunk_index: 0,
            total_chunks: 1,
            word_offset: 0,
            char_offset: 0,
            original_file_hash: sha256(text.as_bytes()),
            start_line: 1,
            end_line: 4,
        },
    };
    assert_eq!(TextChunker::default().chunk_text(text, "a.md").unwrap(), [expected]);
    for text in ["word", "word\n", "\tword", "."] {
        assert_eq!(spans(&chunks(text)), [(0, 1)]);
    }
    assert_eq!(
        spans(&chunks(&numbered(200, &[(170, ".")]))),
        [(0, 200)],
        "a full chunk is not cut"
    );
}

#[test]
fn the_hash_is_that_of_the_file() {
    let hash = &chunks("abc")[0].metadata.original_file_hash;
    assert_eq!(hash, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

#[test]
fn no_text_is_an_error_and_blanks_are_no_chunk() {
    let chunker = TextChunker::default();
    assert_eq!(chunker.chunk_text("", "a.md"), Err(ChunkerError::EmptyContent));
    assert_eq!(chunker.chunk_bytes(b"", "a.md"), Err(ChunkerError::EmptyContent));
    for blank in [" ", "\r\n\t\u{3000}\u{a0}", &" \n".repeat(50_000)] {
        assert_eq!(chunker.chunk_text(blank, "a.md"), Ok(Vec::new()));
    }
}

#[test]
fn bytes_must_be_utf8() {
    let chunker = TextChunker::default();
    assert_eq!(
        chunker.chunk_bytes("é wide".as_bytes(), "a.md"),
        chunker.chunk_text("é wide", "a.md")
    );
    for (bytes, offset) in [(&b"\xff"[..], 0), (b"abc \xc3\xa9\xff x", 6), (b"cut \xe4\xb8", 4)] {
        assert_eq!(chunker.chunk_bytes(bytes, "a.md"), Err(ChunkerError::InvalidUtf8 { offset }));
    }
    assert_eq!(
        ChunkerError::InvalidUtf8 { offset: 6 }.to_string(),
        "the text is not valid UTF-8 at byte 6 (save it as UTF-8)"
    );
}

#[test]
fn sizes_must_make_sense() {
    for (size, overlap) in [(0, 0), (49, 0), (50, 50), (200, 200), (200, 201), (60, usize::MAX)] {
        let error = TextChunker::new(size, overlap).unwrap_err();
        assert!(
            matches!(&error, ChunkerError::ConfigError { message } if message.contains(&size.to_string())),
            "{error}"
        );
    }
    for (size, overlap) in [(50, 0), (50, 49), (200, 199), (usize::MAX, usize::MAX - 1)] {
        let chunker = TextChunker::new(size, overlap).unwrap();
        chunked(&"long-word ".repeat(1_500), &chunker);
    }
    assert_eq!(TextChunker::new(CHUNK_SIZE_WORDS, OVERLAP_WORDS), Ok(TextChunker::default()));
}

#[test]
fn without_sentences_chunks_are_full() {
    let found = chunks(&numbered(500, &[]));
    assert_eq!(spans(&found), [(0, 200), (150, 350), (300, 500)]);
    assert!(
        found[0].content.ends_with("w199 ")
            && found[1].content.starts_with("w150 ")
            && found[2].content.ends_with("w499")
    );
    assert_eq!(spans(&chunks(&numbered(201, &[]))), [(0, 200), (150, 201)]);
}

#[test]
fn a_chunk_ends_with_a_sentence_of_its_last_fifth() {
    let ends = |endings: &[(usize, &str)]| spans(&chunks(&numbered(300, endings)))[0].1;
    assert_eq!(ends(&[(180, ".")]), 181);
    assert_eq!(ends(&[(170, "."), (180, "?"), (185, ",")]), 181, "the last sentence");
    assert_eq!(ends(&[(199, "!")]), 200);
    assert_eq!(ends(&[(160, "!")]), 161, "the first of the 40 words");
    assert_eq!(ends(&[(159, "!"), (200, ".")]), 200, "too early, and too late");
    for ending in [".\"", "!**", "?)", ".*_", ".’)", ".`", "...", "?!"] {
        assert_eq!(ends(&[(180, ending)]), 181, "{ending}");
    }
    for ending in [":", ".x", "\"", "**", ".,", "。"] {
        assert_eq!(ends(&[(180, ending)]), 200, "{ending}");
    }
    assert_eq!(
        spans(&chunks(&numbered(300, &[(180, ".")]))),
        [(0, 181), (131, 300)],
        "the overlap counts from the end"
    );
}

#[test]
fn a_last_chunk_is_not_too_small() {
    let chunker = TextChunker::new(100, 10).unwrap();
    assert_eq!(spans(&chunked(&numbered(105, &[]), &chunker)), [(0, 100), (55, 105)]);
    assert_eq!(spans(&chunked(&numbered(140, &[]), &chunker)), [(0, 100), (90, 140)]);
    // 50 words of this length do not fit in a chunk, so a small last chunk cannot be avoided.
    let long = format!("{} ", "x".repeat(299)).repeat(40);
    assert_eq!(spans(&chunks(&long)), [(0, 33), (17, 40)]);
    // The white space before the last words is too long for the last chunk.
    let blanks = format!("x{}{}", " ".repeat(9_999 + 9_900), numbered(50, &[]));
    assert_eq!(spans(&chunks(&blanks)), [(0, 1), (1, 28), (1, 51)]);
}

#[test]
fn an_end_is_always_further_than_the_one_before() {
    let chunker = TextChunker::new(50, 49).unwrap();
    let text = numbered(100, &[(45, "."), (60, ".")]);
    for text in [&text, &format!("\n\n{text}\n")] {
        assert_eq!(spans(&chunked(text, &chunker))[..3], [(0, 46), (1, 51), (2, 52)]);
    }
}

#[test]
fn a_huge_word_is_cut_between_graphemes() {
    let found = chunks(&"漢".repeat(25_000));
    assert_eq!(
        found.iter().map(|c| c.content.chars().count()).collect::<Vec<_>>(),
        [10_000, 10_000, 5_000]
    );
    assert_eq!(spans(&found), [(0, 1), (1, 2), (2, 3)]);

    let family = "👩\u{200d}👩\u{200d}👧\u{200d}👦"; // 7 characters.
    let found = chunks(&family.repeat(4_000));
    assert_eq!(found.len(), 3);
    assert!(found.iter().all(|c| c.content.replace(family, "").is_empty()));

    for grapheme in ["e\u{301}\u{323}", "🇫🇷", "👍🏽\u{fe0f}", "각", "क्षि", "นี้", "שָׁ"]
    {
        let found = chunks(&format!("x{}", grapheme.repeat(12_000)));
        assert!(
            found.iter().skip(1).all(|c| c.content.replace(grapheme, "").is_empty()),
            "{grapheme}"
        );
    }
    // One grapheme that does not fit in a chunk.
    let marks = format!("xe{}", "\u{301}".repeat(25_000));
    let found = TextChunker::default().chunk_text(&marks, "a.md").unwrap();
    assert_eq!(
        found.iter().map(|c| c.content.chars().count()).collect::<Vec<_>>(),
        [1, 10_000, 10_000, 5_001]
    );
    assert_eq!(found.iter().map(|c| c.content.as_str()).collect::<String>(), marks);
}

#[test]
fn a_long_word_that_fits_stays_whole() {
    let (word, full) = ("ไ".repeat(9_000), "ไ".repeat(10_000));
    assert_eq!(spans(&chunks(&word)), [(0, 1)]);
    assert_eq!(spans(&chunks(&full)), [(0, 1)]);
    let found = chunks(&format!("{} {word} {full}\r\nthe end", numbered(100, &[])));
    assert_eq!(spans(&found), [(0, 101), (101, 102), (102, 104)]);
    assert_eq!(
        (&found[1].content, found[2].content.as_str()),
        (&full, "\r\nthe end"),
        "a line break is not cut"
    );
}

#[test]
fn long_words_end_a_chunk_early_and_of_them_at_most_half_is_shared() {
    let text = format!("{} ", "語".repeat(399)).repeat(100);
    let found = chunks(&text);
    assert_eq!(spans(&found)[..3], [(0, 25), (13, 38), (26, 51)]);
    // A full chunk shares the full overlap.
    let text = format!("{}{}end", "a ".repeat(150), format!("{} ", "語".repeat(150)).repeat(50));
    assert_eq!(spans(&chunks(&text)), [(0, 200), (150, 201)]);
    // Little fits beside huge words: only that is shared, and no huge word is.
    let text = format!("{} {}\n", numbered(60, &[]), "語".repeat(9_900)).repeat(3);
    assert_eq!(
        spans(&chunks(&text)),
        [(0, 60), (36, 62), (61, 121), (97, 123), (122, 182), (158, 183)]
    );
}

#[test]
fn masses_of_blanks_are_cut_and_kept() {
    for (blank, n) in [(" ", 200_000), ("\r\n", 30_001), ("\u{3000}\n", 9_998)] {
        let blanks = blank.repeat(n);
        for text in [
            format!("one{blanks}two. {blanks}"),
            format!("{blanks}one two"),
            format!("{}{blanks}x", numbered(300, &[])),
        ] {
            let found = chunks(&text);
            assert!(!found.iter().any(|c| c.content.ends_with('\r')), "a line break is not cut");
            assert!(found.len() <= 4 + 2 * text.chars().count() / MAX_CONTENT_CHARS);
        }
    }
}

#[test]
fn scripts_from_right_to_left() {
    let text = "שלום עולם, זה משפט ארוך מאוד. هذا نص عربي طويل؟ ".repeat(60);
    let found = chunks(&text);
    assert_eq!(spans(&found), by_the_rules(&text, 200, 50));
    assert!(found[0].content.starts_with("שלום עולם") && found[0].content.ends_with("מאוד. "));
}

#[test]
fn markdown_survives_byte_for_byte() {
    let section = "## Head *one*\r\n\r\n| a  |  b |\r\n|----|:--:|\r\n| `x`|  1 |\r\n\r\n```rust\r\nfn  main() {\r\n\tlet x = 1;  \r\n}\r\n```\r\n\r\n\
                   - item\r\n    - nested  \r\n\r\n> Quote.\r\n\r\n";
    let text = section.repeat(30);
    let found = chunks(&text);
    assert!(found.len() > 4);
    assert_eq!(spans(&found), by_the_rules(&text, 200, 50));
    let table = "| a  |  b |\r\n|----|:--:|\r\n| `x`|  1 |\r\n\r\n```rust\r\nfn  main() {\r\n\tlet x = 1;  \r\n}\r\n```\r\n";
    assert!(found.iter().all(|c| c.content.contains(table) && !c.content.starts_with('\n')));
    let last = &found[found.len() - 1].metadata;
    assert_eq!(last.end_line as usize, text.matches('\n').count());
}

#[test]
fn lines_are_those_of_the_first_and_the_last_character() {
    let text = format!("\n{}", "a b\r\nc d\n\n".repeat(100));
    let lines = |c: &TextChunk| (c.metadata.start_line, c.metadata.end_line);
    assert_eq!(
        chunks(&text).iter().map(lines).collect::<Vec<_>>(),
        [(1, 151), (114, 263), (227, 301)]
    );
}

#[test]
fn five_megabytes_of_anything_are_divided() {
    const SIZE: usize = 5 << 20;
    let samples = [
        "## A head\n\nSome words of *text*, and `code`. More of it follows (always).\n\n| a | b |\n",
        "a ",
        "漢",
        " ",
        "x           \r\n",
        "\u{301}",
        "🇫🇷",
        "👩\u{200d}",
        "क्",
        &format!("{} ", "語".repeat(333)),
        &format!("{} {} ", "a ".repeat(100), "語".repeat(9_700)),
    ];
    for sample in samples {
        let text = format!("x{}x", sample.repeat(SIZE / sample.len()));
        let found = TextChunker::default().chunk_text(&text, "a.md").unwrap();
        let chars: usize = found.iter().map(|c| c.content.chars().count()).sum();
        let name: String = sample.chars().take(10).collect();
        assert!(chars <= 2 * text.chars().count(), "{name:?}: {chars} characters in all chunks");
    }
    let text = samples[0].repeat(SIZE / samples[0].len());
    assert_eq!(spans(&chunks(&text)), by_the_rules(&text, 200, 50));
}

/// Words and white space as in prose.
fn prose() -> impl Strategy<Value = String> {
    let word = prop_oneof![8 => "[a-z]{1,9}", 2 => "[a-z]{1,5}[.!?][\"')*_]{0,2}", 1 => "[#|>`*-]{1,3}", 1 => "\\PC{1,12}"];
    let blank = prop_oneof![8 => Just(" "), 1 => Just("\n"), 1 => Just("\r\n"), 1 => Just(" \t\u{3000}\n\n")];
    let start = prop_oneof![Just(""), Just("\n"), Just(" \r\n\r\n")];
    let text = |(start, all): (&str, Vec<(String, &str)>)| {
        all.into_iter().fold(start.to_string(), |text, (w, b)| text + &w + b)
    };
    (start, prop::collection::vec((word, blank), 1..700)).prop_map(text)
}

/// Runs of all kinds, some longer than a chunk.
fn wild() -> impl Strategy<Value = String> {
    let unit = prop_oneof![
        4 => "[a-z]{1,8} ",
        1 => "[a-z]{1,8}[.!?]\\)? ",
        1 => prop::sample::select(vec![" ", "\n", "\r\n", "\r", "\t", "\u{3000}", "\u{a0}", "\u{85}"]).prop_map(str::to_string),
        1 => prop::sample::select(vec!["漢", "字。", "ไทย", "\u{301}", "e\u{301}", "👩\u{200d}👧", "🇫🇷", "👍🏽", "क्षि", "각", "ש", "\u{200d}"])
            .prop_map(str::to_string),
        1 => "\\PC{1,4}",
    ];
    let times = prop_oneof![6 => 1..10_usize, 3 => 10..300_usize, 1 => 300..6_000_usize];
    // So many marks in a row would be one grapheme that does not fit in a chunk.
    let run = (unit, times)
        .prop_map(|(unit, times)| unit.repeat(times.min(30_000 / unit.chars().count())));
    prop::collection::vec(run, 1..40).prop_map(|runs| runs.concat())
}

fn chunker() -> impl Strategy<Value = TextChunker> {
    let size = prop_oneof![50..60_usize, 50..400_usize, Just(200)];
    size.prop_flat_map(|size| {
        prop_oneof![0..size, Just(size - 1), Just(size / 4)]
            .prop_map(move |o| TextChunker::new(size, o).unwrap())
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 32 } else { 512 }))]

    #[test]
    fn prose_is_divided_by_the_rules(text in prose(), chunker in chunker()) {
        prop_assume!(!text.trim().is_empty());
        prop_assert_eq!(spans(&chunked(&text, &chunker)), by_the_rules(&text, chunker.chunk_size, chunker.overlap));
    }

    #[test]
    fn any_text_is_divided_without_loss(text in wild(), chunker in chunker()) {
        prop_assume!(!text.trim().is_empty());
        chunked(&text, &chunker);
    }
}
