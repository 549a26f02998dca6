//! Lists of English words.

/// Returns whether `list`, words with blanks between and around them, contains `word`.
pub(super) fn is_one_of(list: &str, word: &str) -> bool {
    !word.is_empty() && !word.contains(' ') && list.contains(&format!(" {word} "))
}

/// Words that do not help to choose a file.
const STOP_WORDS: &str = " a an and are as at be been but by can could do does did for from had has have how i if in into is it its me my no not of \
on or our out over own per should so such than that the their them then there these they this those through to under until up via vs was we were what \
when where which while who why will with would you your each between across about after before during without within using use used uses work works \
working implementation implement implements implemented handle handles handled handling code function functions file files class classes method methods ";

/// Returns whether a lower-case word is ignored in searches (unless the query has no other).
pub(crate) fn is_stop_word(word: &str) -> bool {
    is_one_of(STOP_WORDS, word)
}
