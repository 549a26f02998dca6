//! Memories without secrets. The database takes no others.

use std::ops::Deref;

use super::{CodeReference, MAX_CONTENT_CHARS, Memory, MemorySource};
use crate::secrets::redact;

/// Longest text that is stored, in characters. A text longer than one memory may be is stored in
/// pieces.
pub(super) const MAX_TEXT_CHARS: usize = 200_000;

/// A memory from whose name and content the secrets were taken. Only the functions here make one.
#[derive(Debug, Clone)]
pub struct RedactedMemory(Memory);

impl Deref for RedactedMemory {
    type Target = Memory;

    fn deref(&self) -> &Memory {
        &self.0
    }
}

impl RedactedMemory {
    /// Takes the secrets out of a memory, and returns how many there were. A text longer than
    /// [`MAX_TEXT_CHARS`] is cut.
    pub(super) fn of(memory: Memory) -> (Self, usize) {
        let (content, name) = (redact(&memory.content), redact(&memory.name));
        let n_secrets = content.n_secrets + name.n_secrets;
        let content = shortened(content.text, MAX_TEXT_CHARS);
        (Self(Memory { content, name: name.text, ..memory }), n_secrets)
    }

    /// Takes the secrets out of a memory that is stored, and cuts it to its length. Texts of hooks, answers
    /// and files may be cut, because no caller could shorten them. A content that redaction made too
    /// long is cut as well. `text` is what the memory was made of: whatever still is that text is not
    /// redacted again, but a sentence is, because it joins lines that a rule saw apart.
    pub(super) fn for_store(memory: Memory, text: Option<&Self>) -> (Self, usize) {
        let may_be_cut = !matches!(&memory.source, MemorySource::Episode(_))
            || memory.content.chars().count() <= MAX_CONTENT_CHARS;
        let is_text = |text: &Self| text.content == memory.content && text.name == memory.name;
        let (Self(memory), n_secrets) =
            if text.is_some_and(is_text) { (Self(memory), 0) } else { Self::of(memory) };
        let content =
            if may_be_cut { shortened(memory.content, MAX_CONTENT_CHARS) } else { memory.content };
        (Self(Memory { content, ..memory }), n_secrets)
    }

    /// Ties the memory to the code that it names.
    pub(super) fn tie_to(&mut self, code: Vec<CodeReference>) {
        self.0.code = code;
    }
}

/// Ends a content that was cut.
const CUT: &str = "\n[the rest is not kept]";

fn shortened(text: String, n_chars: usize) -> String {
    if text.chars().count() <= n_chars {
        return text;
    }
    let kept = text.char_indices().nth(n_chars - CUT.len()).map_or(text.len(), |(at, _)| at);
    format!("{}{CUT}", &text[..kept])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::ResponseType;

    #[test]
    fn only_what_still_is_the_redacted_text_is_not_redacted_again() {
        let answered = |content: &str| {
            let response_type = ResponseType::StopResponse;
            Memory::new(content, MemorySource::ClaudeResponse { response_type }, "s")
        };
        let key = format!("sk-ant-api03-{}", "aB3dE6gH9".repeat(10));
        let (text, n) = RedactedMemory::of(answered(&format!("the key is {key} and works")));
        assert!(n == 1 && !text.content.contains(&key), "{}", text.content);

        let (same, n) = RedactedMemory::for_store(Memory::clone(&text), Some(&text));
        assert_eq!((&same.content, n), (&text.content, 0));
        for made_of in [None, Some(&text)] {
            let made = answered(&format!("again {key}"));
            let (made, n) = RedactedMemory::for_store(made, made_of);
            assert!(n == 1 && !made.content.contains(&key), "{}", made.content);
            let named = Memory { name: format!("again {key}"), ..Memory::clone(&text) };
            assert!(!RedactedMemory::for_store(named, made_of).0.name.contains(&key));
        }
    }
}
