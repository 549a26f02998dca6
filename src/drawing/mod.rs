//! Draws symbols and their uses: columns from left to right, in which every edge leads from the user
//! to what it uses. [`Drawing::new`] computes the positions, and [`Drawing::text`] writes the formats.
//! The module knows neither the graph nor files.

mod formats;
mod layout;
mod picture;

#[cfg(test)]
mod tests;

pub use self::formats::DrawingFormat;
pub use self::picture::{Drawing, DrawnEdge, DrawnNode, MAX_NODES};
