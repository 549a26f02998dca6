//! Svelte: the scripts of a component as TypeScript, and the components that its markup uses.

use super::{Grammar, Spec};

pub(super) static LANGUAGE: Grammar =
    Grammar::new(Spec { extensions: &["svelte"], ..Spec::of_components("svelte") });
