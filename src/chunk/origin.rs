//! Says who wrote a file: the project, a program, or another project.

/// The origin of a file. Search ranks files that are not ordinary last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The project wrote it.
    Ordinary,
    /// A program wrote it.
    Generated,
    /// Another project wrote it.
    Vendored,
}

impl Origin {
    /// Returns the origin that the folders of a path name.
    #[must_use]
    pub fn of_path(path: &str) -> Self {
        if is_vendored(path) { Self::Vendored } else { Self::Ordinary }
    }

    /// Returns its name in chunk files and replies.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ordinary => "ordinary",
            Self::Generated => "generated",
            Self::Vendored => "vendored",
        }
    }

    /// Returns the origin of this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Ordinary, Self::Generated, Self::Vendored].into_iter().find(|o| o.as_str() == name)
    }
}

/// Returns whether a path names a folder of code of other projects.
fn is_vendored(path: &str) -> bool {
    const NAMES: [&str; 12] = [
        "vendor", "vendors", "vendored", "_vendor", "third_party", "third-party", "thirdparty",
        "3rdparty", "3rd_party", "3rd-party", "node_modules", "bower_components",
    ];
    let (folders, _) = path.rsplit_once('/').unwrap_or_default();
    folders.split('/').any(|folder| NAMES.contains(&folder.to_lowercase().as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::Metadata;

    #[test]
    fn vendored_paths() {
        for (path, want) in [
            ("vendor/a/b.go", true),
            ("lib/Third_Party/b.c", true),
            ("web/node_modules/react/index.js", true),
            ("src/vendor.rs", false),
            ("src/vendor/mod.rs", true),
            ("src/vendoring/a.rs", false),
        ] {
            assert_eq!(Origin::of_path(path) == Origin::Vendored, want, "{path}");
        }
    }

    #[test]
    fn a_chunk_without_an_origin_has_that_of_its_path() {
        let mut metadata =
            Metadata { file_path: Some("vendor/a.go".into()), ..Metadata::default() };
        assert_eq!(metadata.origin(), Origin::Vendored);
        metadata.extra.insert("origin".into(), "https://example.com".into());
        assert_eq!(metadata.origin(), Origin::Vendored, "another program means something else");
        metadata.set_origin(Origin::Ordinary);
        assert_eq!(metadata.origin(), Origin::Ordinary);
    }
}
