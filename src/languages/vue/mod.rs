//! Vue: the scripts of a component as TypeScript, and the components that its template uses.

use super::{Grammar, Spec};

pub(super) static LANGUAGE: Grammar =
    Grammar::new(Spec { extensions: &["vue"], ..Spec::of_components("vue") });
