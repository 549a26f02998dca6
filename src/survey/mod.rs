//! What can be said of files as they are on disk now: where code has a shape, how much there is of what.

mod shapes;
mod sizes;

pub use shapes::{Place, Places, find, patterns};
pub use sizes::{By, Group, Size, Sort, grouped, sizes, total};
