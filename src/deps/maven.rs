//! Maven and Gradle: `pom.xml` and `gradle.lockfile`; the archives of sources in their caches.

use std::collections::{HashMap, HashSet};

use roxmltree::{Document, Node, ParsingOptions};

use super::dependency::{Ecosystem, List, Sources};
use super::folder::{Folder, archive, around, folders, is_name, join, open};
use crate::dir::Dir;

const LOCK: &str = "gradle.lockfile";
const MANIFEST: &str = "pom.xml";
const ADVICE: &str = "no archive of its sources: `mvn dependency:sources` gets it";
/// The files of Gradle in which a dependency is named.
const BUILD_FILES: [&str; 3] = ["build.gradle", "build.gradle.kts", "gradle/libs.versions.toml"];
/// Most nodes of a manifest.
const MAX_NODES: u32 = 1_000_000;
/// Most properties that a property may name, one after the other.
const MAX_STEPS: usize = 8;
/// Most manifests around one that it inherits from.
const MAX_PARENTS: usize = 8;

/// Lists what a lock file of Gradle or a manifest of Maven names.
pub(super) fn read(folder: &Folder, list: &mut List) -> bool {
    if let Some(lock) = folder.lock(LOCK, list) {
        gradle(folder, &lock, list);
    }
    if let Some(manifest) = folder.manifest(MANIFEST, list) {
        maven(folder, &manifest, list);
    }
    // Each module of a build has its own manifest.
    false
}

fn gradle(folder: &Folder, lock: &str, list: &mut List) {
    let path = folder.at(LOCK);
    let builds: Vec<String> =
        BUILD_FILES.iter().filter_map(|name| folder.manifest(name, list)).collect();
    let direct: HashSet<String> = builds.iter().flat_map(|build| named_in(build)).collect();
    let caches = Caches::open(folder);
    for line in lock.lines().filter(|line| !line.starts_with('#')) {
        let id = line.split('=').next().unwrap_or_default();
        let [group, artifact, version] = id.split(':').collect::<Vec<_>>()[..] else { continue };
        let name = format!("{group}:{artifact}");
        let is_direct = direct.contains(&name);
        list.add(Ecosystem::Maven, &path, &name, version, is_direct, || {
            caches.find(group, artifact, version)
        });
    }
}

/// Returns each `group:artifact` that a build file may mean: `"group:artifact:version"`, or the two in
/// texts that follow each other.
fn named_in(build: &str) -> Vec<String> {
    let mut named = Vec::new();
    for line in build.lines() {
        let texts: Vec<&str> = line.split(['"', '\'']).skip(1).step_by(2).collect();
        named.extend(texts.windows(2).map(|pair| pair.join(":")));
        named
            .extend(texts.iter().map(|text| text.split(':').take(2).collect::<Vec<_>>().join(":")));
    }
    named
}

/// What a manifest and those that it inherits from say about versions.
#[derive(Default)]
struct Inherited {
    properties: HashMap<String, String>,
    /// By `group:artifact`.
    managed: HashMap<String, String>,
}

fn maven(folder: &Folder, manifest: &str, list: &mut List) {
    let path = folder.at(MANIFEST);
    let mut inherited = Inherited::default();
    let parsed = match parse(manifest) {
        Ok(parsed) => parsed,
        Err(e) => return list.warn(format!("{path}: not valid XML: {e}")),
    };
    inherited.add(parsed.root_element());
    for outer in around(folder.path).skip(1).take(MAX_PARENTS) {
        if let Some(parent) = folder.manifest_at(&join(outer, MANIFEST), list)
            && let Ok(parent) = parse(&parent)
        {
            inherited.add(parent.root_element());
        }
    }
    let caches = Caches::open(folder);
    let named = child(parsed.root_element(), "dependencies");
    for dependency in named.into_iter().flat_map(|named| named.children()) {
        if !dependency.has_tag_name_of("dependency") {
            continue;
        }
        let of = |key| inherited.resolved(text_of(dependency, key));
        let (group, artifact) = (of("groupId"), of("artifactId"));
        let name = format!("{group}:{artifact}");
        let mut version = of("version");
        if version.is_empty() {
            let managed = inherited.managed.get(&name).map(String::as_str);
            version = inherited.resolved(managed.unwrap_or_default());
        }
        let is_own = inherited.properties.get("project.groupId") == Some(&group)
            && inherited.properties.get("project.version") == Some(&version);
        if !is_own {
            list.add(Ecosystem::Maven, &path, &name, &version, true, || {
                caches.find(&group, &artifact, &version)
            });
        }
    }
}

fn parse(text: &str) -> Result<Document<'_>, roxmltree::Error> {
    // Without a DTD there are no entities that grow.
    let options = ParsingOptions { allow_dtd: false, nodes_limit: MAX_NODES, ..<_>::default() };
    Document::parse_with_options(text, options)
}

trait HasTagName {
    fn has_tag_name_of(&self, name: &str) -> bool;
}

impl HasTagName for Node<'_, '_> {
    /// Whether the element has this name, in whatever namespace.
    fn has_tag_name_of(&self, name: &str) -> bool {
        self.is_element() && self.tag_name().name() == name
    }
}

fn child<'a, 'b>(node: Node<'a, 'b>, name: &str) -> Option<Node<'a, 'b>> {
    node.children().find(|child| child.has_tag_name_of(name))
}

fn text_of<'a>(node: Node<'a, '_>, name: &str) -> &'a str {
    child(node, name).and_then(|child| child.text()).unwrap_or_default().trim()
}

impl Inherited {
    /// Adds what a manifest says, unless one nearer to the module says it.
    fn add(&mut self, project: Node) {
        let parent = child(project, "parent");
        for key in ["groupId", "version"] {
            let own = text_of(project, key);
            let inherited = parent.map_or("", |parent| text_of(parent, key));
            let value = if own.is_empty() { inherited } else { own };
            if !value.is_empty() {
                let known = self.properties.entry(format!("project.{key}"));
                known.or_insert_with(|| value.to_string());
            }
        }
        for property in child(project, "properties").into_iter().flat_map(|p| p.children()) {
            if property.is_element() {
                let value = property.text().unwrap_or_default().trim().to_string();
                self.properties.entry(property.tag_name().name().to_string()).or_insert(value);
            }
        }
        let managed = child(project, "dependencyManagement");
        let managed = managed.and_then(|managed| child(managed, "dependencies"));
        for dependency in managed.into_iter().flat_map(|managed| managed.children()) {
            let of = |key| self.resolved(text_of(dependency, key));
            let name = format!("{}:{}", of("groupId"), of("artifactId"));
            let version = text_of(dependency, "version").to_string();
            self.managed.entry(name).or_insert(version);
        }
    }

    /// Returns a value with its properties replaced; empty if one is not known.
    fn resolved(&self, value: &str) -> String {
        let mut value = value.to_string();
        for _ in 0..MAX_STEPS {
            let Some((before, rest)) = value.split_once("${") else { return value };
            let Some((name, after)) = rest.split_once('}') else { break };
            let Some(known) = self.properties.get(name) else { break };
            if before.len() + known.len() + after.len() > 1000 {
                break;
            }
            value = format!("{before}{known}{after}");
        }
        String::new()
    }
}

struct Caches {
    /// `~/.m2/repository`.
    maven: Option<Dir>,
    /// `~/.gradle/caches/modules-2/files-2.1`.
    gradle: Option<Dir>,
}

impl Caches {
    fn open(folder: &Folder) -> Self {
        let gradle = folder.machine.folder("GRADLE_USER_HOME", ".gradle");
        let gradle = gradle.map(|gradle| gradle.join("caches/modules-2/files-2.1"));
        let maven = folder.machine.below_home(".m2/repository");
        Self { maven: open(maven), gradle: open(gradle) }
    }

    fn find(&self, group: &str, artifact: &str, version: &str) -> Sources {
        if version.is_empty() {
            return Sources::missing("its version is in a manifest that is not in this project");
        }
        if [group, artifact, version].iter().any(|part| !is_name(part)) {
            return Sources::missing("its name is not valid");
        }
        let jar = format!("{artifact}-{version}-sources.jar");
        let maven = self.maven.as_ref().and_then(|maven| {
            maven.dir(format!("{}/{artifact}/{version}", group.replace('.', "/"))).ok()
        });
        // Gradle has a folder for each hash.
        let gradle = self
            .gradle
            .as_ref()
            .and_then(|gradle| gradle.dir(format!("{group}/{artifact}/{version}")).ok());
        let hashes = gradle.iter().flat_map(|dir| {
            folders(dir).into_iter().filter_map(|hash| dir.dir(hash).ok()).collect::<Vec<_>>()
        });
        let found = maven.into_iter().chain(hashes).find(|dir| dir.has_file(&jar));
        found.map_or_else(|| Sources::missing(ADVICE), |dir| archive(&dir, &jar))
    }
}
