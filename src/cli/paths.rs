//! Prints the paths of results.

use super::render::printable;
use crate::engine::Project;

/// Prints paths relative to the working directory if that is in the project, so that a printed path
/// can be opened from there. Otherwise paths stay relative to the root.
pub(super) struct Paths {
    /// The working directory relative to the root.
    folder: String,
}

impl Paths {
    pub(super) fn of(project: &Project) -> Self {
        Self { folder: project.folder.to_str().unwrap_or_default().to_string() }
    }

    /// Returns a path as it is printed. `path` is relative to the root.
    pub(super) fn shown(&self, path: &str) -> String {
        printable(&relative(path, &self.folder))
    }

    /// Formats a place: `path:start-end`.
    pub(super) fn place(&self, lines: Option<(u32, u32)>, path: &str) -> String {
        let path = self.shown(path);
        match lines {
            Some((a, b)) if a != b => format!("{path}:{a}-{b}"),
            Some((a, _)) => format!("{path}:{a}"),
            None => path,
        }
    }
}

/// Returns a path relative to a folder. Both are relative to the root. A path that another program
/// wrote may lead out of the project, and stays as it is.
fn relative(path: &str, folder: &str) -> String {
    if folder.is_empty() || path.is_empty() || !is_inside(path) {
        return path.to_string();
    }
    let path: Vec<&str> = path.split('/').filter(|part| *part != ".").collect();
    let folder: Vec<&str> = folder.split('/').collect();
    let n_shared = path.iter().zip(&folder).take_while(|(a, b)| a == b).count();
    let up = std::iter::repeat_n("..", folder.len() - n_shared);
    let shown = up.chain(path[n_shared..].iter().copied()).collect::<Vec<_>>().join("/");
    if shown.is_empty() { ".".into() } else { shown }
}

/// Whether a path names something in the project.
fn is_inside(path: &str) -> bool {
    !path.starts_with('/') && !path.split('/').any(|part| part == "..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_relative_to_the_folder() {
        for (path, folder, want) in [
            ("src/a.rs", "", "src/a.rs"),
            ("src/a.rs", "src", "a.rs"),
            ("src/in/a.rs", "src", "in/a.rs"),
            ("src/a.rs", "src/in", "../a.rs"),
            ("a.rs", "src/in", "../../a.rs"),
            ("srcs/a.rs", "src", "../srcs/a.rs"),
            ("src", "src", "."),
            (".", "src", ".."),
            ("", "src", ""),
            ("/etc/passwd", "src", "/etc/passwd"),
            ("../x", "src", "../x"),
        ] {
            assert_eq!(relative(path, folder), want, "{path} from {folder}");
        }
    }
}
