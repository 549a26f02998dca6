//! What can be said of files as they are on disk now: where code has a shape, how much there is of
//! what.

mod pattern;
mod sizes;

pub use pattern::{PatternMatch, PatternMatches, find, patterns};
pub use sizes::{By, Size, SizeGroup, Sort, grouped, sizes, total};
