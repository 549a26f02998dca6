//! Passes on what a run finds out about each file besides its chunks, so that nothing else parses the
//! file again.

use crate::store::Layout;
use crate::syntax::Relations;

/// The relations of a file that a run parsed.
#[derive(Debug)]
pub struct FileRelations<'a> {
    /// Relative to the root.
    pub path: &'a str,
    /// The hash of its content, as in the table of the index.
    pub hash: &'a str,
    /// Its text, without secrets.
    pub text: &'a str,
    /// `None` if its language is not parsed, or the parser has no usable result.
    pub relations: Option<Relations>,
}

/// Receives the relations of the files that index runs parse. A failure of it is its own: it neither
/// stops a run nor delays it for long.
pub trait RelationsSink: Send + Sync {
    /// Begins to receive the files of a run that parses so many. Returns `None` if it receives none.
    fn begin(&self, n_files: usize) -> Option<Box<dyn RelationsRun>>;

    /// Takes the data of another working tree of the repository, or of an archive, as its beginning.
    /// `is_checked`: `from` need not be of this user, because the caller knows where it came from.
    fn take_over(&self, from: &Layout, is_checked: bool);
}

/// Receives the files of one run, on all its threads. When it is dropped, the files are in the index,
/// or the run has failed.
pub trait RelationsRun: Send + Sync {
    /// Whether the relations of this file are not known yet.
    fn wants(&self, path: &str, hash: &str) -> bool;

    /// Takes a file on a thread that parses, and returns what hands it on. The run calls that in the
    /// order of paths, so that equal trees give equal data. Stores the data in `known`, as JSON.
    fn take(&self, file: FileRelations, known: Option<&mut Option<String>>) -> HandOn;

    /// Takes a file whose data an earlier run made, as JSON. Returns `None` if it is not of use.
    fn take_known(&self, path: &str, hash: &str, known: &str) -> Option<HandOn>;
}

/// Hands on the data of one file.
pub type HandOn = Box<dyn FnOnce() + Send>;
