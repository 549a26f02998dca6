use cortex_depot::shelf::Shelf;

use crate::laws::{self, Precision};

#[test]
fn a_shelf_keeps_the_laws() {
    laws::all(&Shelf::default(), Precision { words: 0.0, vector: 0.0 });
}
