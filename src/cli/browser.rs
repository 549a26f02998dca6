//! Opens an address in the user's browser.

use crate::platform::has_display;

/// Shows an address, which was printed already. Without a display, says what to do with it.
pub(super) fn show(address: &str) {
    if !has_display() {
        tell!("there is no display here: open the address in a browser of this machine");
    } else if let Err(e) = open::that_detached(address) {
        tell!("no browser was started ({e}): open the address yourself");
    }
}
