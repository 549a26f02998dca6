//! Sources beside the project: packages, projects that are tied to it, several projects at once, and published repositories.

pub(in crate::engine) mod deps;
pub(in crate::engine) mod many;
pub(in crate::engine) mod outside;
pub(in crate::engine) mod package_search;
pub(in crate::engine) mod packages;
pub(in crate::engine) mod scope;
pub(in crate::engine) mod team;
pub(in crate::engine) mod tied;

pub use deps::{DependenciesAnswer, DependenciesRequest, Dependency, Ecosystem};
pub use many::search_many;
pub use outside::OutsideName;
pub use packages::{PackageRow, PackagesAnswer, UNUSED, remove_packages};
pub use scope::{AskedProject, Mentions, Scope};
pub use team::{PublishedRepository, Team, ToPublish};
