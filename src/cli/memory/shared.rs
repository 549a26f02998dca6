//! Shared by several subcommands of `cortex memory`.

use crate::memory::Memory;

/// Returns the memory's name, or its first line.
pub(super) fn title(memory: &Memory) -> &str {
    if memory.name.is_empty() {
        memory.content.trim_start().lines().next().unwrap_or_default()
    } else {
        &memory.name
    }
}
