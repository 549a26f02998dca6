//! Bundler: `Gemfile.lock` and the folders of gems.

use std::collections::{BTreeSet, HashSet};
use std::env::consts::ARCH;
use std::path::{Path, PathBuf};

use super::dependency::{Ecosystem, List, Sources};
use super::folder::{Folder, folder_in, folders, is_name, open, path_of};
use crate::dir::Dir;

const LOCK: &str = "Gemfile.lock";
const ADVICE: &str = "not installed: `bundle install` does that";
/// Folders with a folder for each version of Ruby, below the home directory and of the system.
const OF_VERSIONS: [&str; 7] = [
    ".gem/ruby", ".local/share/gem/ruby", ".rvm/gems", "/var/lib/gems", "/usr/lib/ruby/gems",
    "/usr/local/lib/ruby/gems", "/opt/homebrew/lib/ruby/gems",
];
/// Folders of version managers, with a folder for each Ruby.
const OF_MANAGERS: [&str; 4] =
    [".rbenv/versions", ".rubies", ".asdf/installs/ruby", ".local/share/mise/installs/ruby"];
const OF_SYSTEM: [&str; 1] = ["/usr/share/gems"];
/// The last part of the folders in which Debian describes its gems.
const OF_DEBIAN: &str = "rubygems-integration";
/// Where Debian puts the files of the gems that have no folder.
const LOAD_PATH_OF_DEBIAN: &str = "/usr/lib/ruby/vendor_ruby";

/// Lists the gems of a lock file. Those of a `PATH` are the project's own.
pub(super) fn read(folder: &Folder, list: &mut List) -> bool {
    let Some(lock) = folder.lock(LOCK, list) else { return false };
    let path = folder.at(LOCK);
    let mut direct: HashSet<&str> = HashSet::new();
    let mut gems: Vec<(&str, &str, bool, &str)> = Vec::new();
    let (mut section, mut revision) = ("", "");
    for line in lock.lines() {
        let text = line.trim();
        match line.len() - line.trim_start().len() {
            0 => (section, revision) = (text, ""),
            2 if section == "DEPENDENCIES" => {
                direct.insert(text.split([' ', '!']).next().unwrap_or(text));
            }
            2 => revision = text.strip_prefix("revision: ").unwrap_or(revision),
            4 if matches!(section, "GEM" | "GIT") => {
                if let Some((name, version)) = text.split_once(" (") {
                    let version = version.trim_end_matches(')');
                    gems.push((name, version, section == "GIT", revision));
                }
            }
            _ => {}
        }
    }
    let homes = homes(folder);
    for (name, version, is_of_git, revision) in gems {
        list.add(Ecosystem::Bundler, &path, name, version, direct.contains(name), || {
            if is_of_git {
                return checked_out(&homes, name, revision);
            }
            let id = format!("{name}-{version}");
            if !is_name(&id) {
                return Sources::missing("its name is not valid");
            }
            homes.iter().fold(Sources::missing(ADVICE), |found, home| match found {
                Sources::Missing(_) => installed(home, name, &id).unwrap_or(found),
                _ => found,
            })
        });
    }
    true
}

/// Looks for a gem in a folder of gems. A gem that comes with Ruby has an empty folder there, and one
/// that Debian packs may have none; both are described.
fn installed(home: &Dir, name: &str, id: &str) -> Option<Sources> {
    let is_described = |below: &str| home.has_file(format!("specifications/{below}{id}.gemspec"));
    if is_described("default/") {
        return Some(in_load_path(home, name));
    }
    let own = folder_in(home, &format!("gems/{id}"), ADVICE);
    if own == Sources::missing(ADVICE) {
        return is_described("").then(|| in_load_path(home, name));
    }
    Some(own)
}

/// Looks for the files of a gem in the folder from which a Ruby loads its own: those of `net-http` are
/// `net/http.rb` and all in `net/http`.
fn in_load_path(home: &Dir, name: &str) -> Sources {
    let Some(dir) = open(load_path(home.path())) else { return Sources::missing(ADVICE) };
    let below = name.replace('-', "/");
    let all = [format!("{name}.rb"), format!("{below}.rb"), name.to_string(), below];
    let is_there = |part: &String| matches!(dir.stat(part), Ok(Some(_)));
    let parts: BTreeSet<String> = all.into_iter().filter(is_there).collect();
    if parts.is_empty() {
        return Sources::missing("installed, but without a Ruby file of its name");
    }
    let parts = parts.into_iter().collect();
    path_of(dir.path()).map_or_else(Sources::Missing, |root| Sources::Parts(root, parts))
}

/// Returns the folder from which the Ruby of a folder of gems loads its own files: `lib/ruby/3.3.0`
/// for `lib/ruby/gems/3.3.0`.
fn load_path(home: &Path) -> Option<PathBuf> {
    let (version, around) = (home.file_name()?, home.parent()?);
    match around.file_name()?.to_str()? {
        "gems" => Some(around.with_file_name(version)),
        OF_DEBIAN => Some(LOAD_PATH_OF_DEBIAN.into()),
        _ => None,
    }
}

/// Looks for a gem in the checkouts of Bundler: `bundler/gems/REPOSITORY-COMMIT`.
fn checked_out(homes: &[Dir], name: &str, revision: &str) -> Sources {
    for home in homes {
        let Ok(checkouts) = home.dir("bundler/gems") else { continue };
        let is_it = |folder: &String| {
            folder
                .rsplit_once('-')
                .is_some_and(|(_, commit)| commit.len() >= 7 && revision.starts_with(commit))
        };
        if let Some(checkout) = folders(&checkouts).into_iter().find(is_it) {
            // A repository may hold several gems.
            let own = format!("{checkout}/{name}");
            let has_own = is_name(name) && checkouts.has_file(format!("{own}/{name}.gemspec"));
            return folder_in(&checkouts, if has_own { &own } else { &checkout }, ADVICE);
        }
    }
    Sources::missing(ADVICE)
}

/// Opens the folders that hold a folder `gems`, the nearest to the project first.
fn homes(folder: &Folder) -> Vec<Dir> {
    let machine = folder.machine;
    let mut homes = versions_in(folder.dir("vendor/bundle/ruby"));
    let named = machine.listed("GEM_HOME").into_iter().chain(machine.listed("GEM_PATH"));
    let system = OF_SYSTEM.iter().map(PathBuf::from);
    homes.extend(named.chain(system).filter_map(|path| open(Some(path))));
    let at = |path: &str| {
        if Path::new(path).is_absolute() { Some(path.into()) } else { machine.below_home(path) }
    };
    homes.extend(OF_VERSIONS.iter().flat_map(|path| versions_in(open(at(path)))));
    let of_debian = ["/usr/share".to_string(), format!("/usr/lib/{ARCH}-linux-gnu")];
    let of_debian = of_debian.iter().map(|path| Path::new(path).join(OF_DEBIAN));
    homes.extend(of_debian.flat_map(|path| versions_in(open(Some(path)))));
    let rubies = OF_MANAGERS.iter().flat_map(|path| versions_in(open(at(path))));
    homes.extend(rubies.flat_map(|ruby| versions_in(ruby.dir("lib/ruby/gems").ok())));
    homes
}

fn versions_in(dir: Option<Dir>) -> Vec<Dir> {
    let Some(dir) = dir else { return Vec::new() };
    folders(&dir).into_iter().filter_map(|version| dir.dir(version).ok()).collect()
}
