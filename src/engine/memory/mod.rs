//! What agents remember: memories, sessions, and the hooks that store and tell them.

pub(in crate::engine) mod hook;
pub(in crate::engine) mod recall;
pub(in crate::engine) mod timeline;

pub use hook::{Hook, HookError, SessionEvent};
pub use recall::{
    BriefingAnswer, RecallAnswer, RecallRequest, RememberAnswer, RememberRequest, SessionRow,
    SessionsAnswer,
};
pub use timeline::{
    BriefingRequest, BriefingText, MemoriesAnswer, MemoriesRequest, MemoryRow, PinRequest,
};
