//! Surveys files as they are on disk now: finds code by a syntax pattern, and counts files, lines
//! and bytes.

mod grep;
mod pattern;
mod sizes;
mod unread;

pub use grep::{BadPattern, FoundLine, LineCounts, LineMatcher, LineQuery, grep, lines_of};
pub use pattern::{PatternMatch, PatternMatches, find, patterns};
pub use sizes::{By, CountSort, FileCount, Size, grouped, sizes, total};
pub use unread::Unread;
