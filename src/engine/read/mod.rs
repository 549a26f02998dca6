//! Questions about the text: search, read, grep, outlines and surveys.

pub(in crate::engine) mod beside;
pub(in crate::engine) mod coloured;
pub(in crate::engine) mod early;
pub(in crate::engine) mod edit;
pub(in crate::engine) mod frames;
pub(in crate::engine) mod grep;
pub(in crate::engine) mod kinds;
pub(in crate::engine) mod named;
pub(in crate::engine) mod outline;
pub(in crate::engine) mod patterns;
pub(in crate::engine) mod places;
pub(in crate::engine) mod related;
pub(in crate::engine) mod scan;
pub(in crate::engine) mod search;
pub(in crate::engine) mod unknown;

pub use coloured::{ColoursAnswer, ColoursRequest};
pub use grep::{FileLines, GrepAnswer, GrepFile, GrepLine, GrepLines, GrepRequest};
pub use kinds::Fold;
pub use named::NamedFacts;
pub use outline::{FileOutline, OutlineAnswer, OutlineRequest, OutlineSymbol, Outlined};
pub use patterns::{ReadPattern, pattern_in};
pub use places::{ReadAnswer, ReadGap, ReadPlace, ReadRange, ReadRequest, ReadRow};
pub use related::{RelatedAnswer, RelatedRequest, RelatedTo};
pub use scan::{
    CountBy, CountSort, FileCount, FilesAnswer, FilesRequest, PatternAnswer, PatternRequest,
};
pub use search::{SearchAnswer, SearchMode, SearchRequest, SearchStats};
