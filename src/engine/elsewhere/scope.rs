//! Decides from the parts of a question which source is asked: this project, another project or
//! package, or a published repository.

use std::sync::Arc;

use crate::engine::door::serving::{Engine, OpenProject};
use crate::engine::elsewhere::team::{PublishedRepository, Team};
use crate::engine::read::patterns::pattern_in;
use crate::engine::{AskError, Call};
use crate::projects::{KnownProject, Projects, split_place};
use crate::team::Shared;

/// Most projects that an error names.
const SHOWN: usize = 20;

/// The parts of a question that may name another source than the project of the engine.
#[derive(Default)]
pub struct Mentions<'q> {
    /// Files and symbols. Each may begin with the name of a project, as results of several projects do.
    places: Vec<&'q mut String>,
    /// The projects that answer together, if the question can be asked of several.
    repos: Option<&'q mut Vec<String>>,
    /// Whether the question can be asked of a published repository.
    may_be_published: bool,
}

impl<'q> Mentions<'q> {
    /// Returns the mentions of a question about some places. A pattern among them is not a place: a
    /// colon in it is not behind the name of a project.
    #[must_use]
    pub fn of(places: impl IntoIterator<Item = &'q mut String>) -> Self {
        let is_place = |place: &&mut String| pattern_in(place).is_none();
        let places = places.into_iter().filter(is_place).collect();
        Self { places, repos: None, may_be_published: true }
    }

    /// Adds the projects that the question names itself.
    #[must_use]
    pub fn and_repos(self, repos: &'q mut Vec<String>) -> Self {
        Self { repos: Some(repos), ..self }
    }
}

/// The engine puts a question to this source.
pub enum Scope<'c> {
    /// The project of the engine, or the projects that the question's `repos` names.
    Here,
    /// Another project, or a package.
    Other(AskedProject),
    /// A repository that a team published.
    Published(Box<PublishedRepository<'c>>),
}

/// A project that is asked, with the name by which results name it.
#[derive(Clone)]
pub struct AskedProject {
    pub name: String,
    pub engine: Arc<Engine>,
    /// Whether it is a package that the project depends on. Its paths begin with its name.
    pub is_package: bool,
}

/// Returns the source that the places of a question name, or `found`, and takes its name off them.
///
/// # Errors
/// When the question names several sources, or `named` fails.
fn named_by<T>(
    mut found: Option<T>,
    places: &mut [&mut String],
    named: impl Fn(&str) -> Result<Option<T>, AskError>,
    name_of: impl Fn(&T) -> &str,
) -> Result<Option<T>, AskError> {
    for place in places {
        let Some((name, rest)) = split_place(place) else { continue };
        if found.as_ref().is_none_or(|first| name_of(first) != name) {
            let Some(this) = named(name)? else { continue };
            let (name, first) = (name_of(&this), found.as_ref().map(&name_of));
            if let Some(first) = first.filter(|first| *first != name) {
                return Err(AskError::Arguments(format!(
                    "`{place}` is in {name}, and the question is about {first}: ask them one after the other"
                )));
            }
            found = Some(this);
        }
        **place = rest.to_string();
    }
    Ok(found)
}

impl Engine {
    /// Decides which source answers a question: the one of the name `repo`, or the one whose name
    /// the places of the question begin with, which is taken off them. A `repo` that may be a published
    /// repository becomes one of the question's `repos`, if it has these.
    ///
    /// # Errors
    /// When the question names several sources or one that is not known, the caller may not ask it, it
    /// cannot be opened, or there is no project to ask.
    pub fn scope<'c>(
        &self,
        mut repo: Option<&str>,
        mut mentions: Mentions,
        call: &'c Call,
    ) -> Result<Scope<'c>, AskError> {
        match (&mut mentions.repos, &call.team) {
            (Some(repos), _) if !repos.is_empty() => {
                self.check_alone(repo, &mentions.places, call)?;
            }
            (Some(repos), Some(_)) => {
                let named = repo.take_if(|name| !self.has_project(name, call));
                repos.extend(named.map(String::from));
            }
            (None, Some(team)) if mentions.may_be_published => {
                match self.published(team, repo, &mut mentions.places, call)? {
                    Some(found) if self.is_checkout_of(&found) => repo = None,
                    Some(found) => {
                        let repository = PublishedRepository(team.waited(found, call)?);
                        return Ok(Scope::Published(Box::new(repository)));
                    }
                    None => {}
                }
            }
            _ => {}
        }
        let other = self.other(repo, &mut mentions.places, call)?;
        let engine = other.as_ref().map_or(self, |other| &*other.engine);
        if let Some(why) = engine.project.is_absent()
            && mentions.repos.is_none_or(|repos| repos.is_empty())
        {
            return Err(AskError::NotFound(engine.no_project(why, call)));
        }
        Ok(other.map_or(Scope::Here, Scope::Other))
    }

    /// Returns the projects of this machine that the caller may name.
    #[must_use]
    pub fn known_projects(&self, call: &Call) -> Projects {
        let roots = call.others.iter().flat_map(|others| others.roots());
        roots.fold(self.project.all(), |known, root| known.with(root))
    }

    /// Whether a name is that of a project here that the caller may ask.
    pub(in crate::engine) fn has_project(&self, name: &str, call: &Call) -> bool {
        let is_unknown = || self.known_projects(call).named(name).is_err_and(|e| e.is_nowhere());
        call.others.is_some() && !is_unknown()
    }

    /// Refuses what names one project in a question whose `repos` name others: one of the two would
    /// be left out.
    fn check_alone(
        &self,
        repo: Option<&str>,
        places: &[&mut String],
        call: &Call,
    ) -> Result<(), AskError> {
        if let Some(repo) = repo {
            return Err(AskError::Arguments(format!(
                "`repo` (`{repo}`) and `repos` cannot be combined, because `repo` asks one project: name all projects in `repos`, or leave it out"
            )));
        }
        for place in places {
            if let Some((name, rest)) = split_place(place)
                && self.has_project(name, call)
            {
                return Err(AskError::Arguments(format!(
                    "`{place}` is in {name}, and `repos` names the projects to ask: leave `repos` out, or write `{rest}`"
                )));
            }
        }
        Ok(())
    }

    /// Finds the published repository that a question is about: the one of the name `repo`, or the one
    /// whose name its places begin with (`shop/api:src/x.rs:12`), which is taken off them. `None` if the
    /// question is about a project of this machine.
    fn published<'c>(
        &self,
        team: &'c Team,
        repo: Option<&str>,
        places: &mut [&mut String],
        call: &Call,
    ) -> Result<Option<Shared<'c>>, AskError> {
        let named = |name: &str| -> Result<Option<Shared<'c>>, AskError> {
            if self.has_project(name, call) { Ok(None) } else { Ok(team.named(name)?) }
        };
        let found = repo.map_or(Ok(None), named)?;
        match (named_by(found, places, named, Shared::name)?, repo) {
            (None, Some(repo)) if team.asks_all => Err(AskError::NotFound(format!(
                "no published repository is named `{repo}`: cortex_status lists them"
            ))),
            (None, None) if team.asks_all => Err(AskError::Arguments(
                "name the repository, by `repo` or before the path (`NAME:src/x.rs:12`), as results do"
                    .into(),
            )),
            (found, _) => Ok(found),
        }
    }

    /// Opens the project or package that a question is about: the one of the name `repo`, or the project
    /// whose name its places begin with (`helix:src/x.rs:12`), which is taken off them. `None` is the
    /// project of this engine.
    fn other(
        &self,
        repo: Option<&str>,
        places: &mut [&mut String],
        call: &Call,
    ) -> Result<Option<AskedProject>, AskError> {
        match repo {
            None if call.others.is_none() => return Ok(None),
            // A caller that reaches one project learns no names of others.
            Some(name) if !self.has_project(name, call) => {
                if let Some((name, engine)) = self.package_named(name, call)? {
                    return Ok(Some(AskedProject { name, engine, is_package: true }));
                }
            }
            _ => {}
        }
        let others = others(call)?;
        if repo.is_none() && places.iter().all(|place| split_place(place).is_none()) {
            return Ok(None);
        }
        let known = self.known_projects(call);
        let named = repo.map(|name| known.named(name)).transpose();
        let found = named.map_err(|e| AskError::Arguments(e.to_string()))?;
        let named = |name: &str| Ok(known.named(name).ok());
        let found = named_by(found, places, named, |project| &project.name)?;
        let Some(KnownProject { name, root }) =
            found.filter(|project| project.root != self.project.layout.root())
        else {
            return Ok(None);
        };
        let (name, engine) = (name.clone(), others.engine(root)?);
        Ok(Some(AskedProject { name, engine, is_package: false }))
    }

    /// Says what an agent can do that works where no project is.
    fn no_project(&self, why: &str, call: &Call) -> String {
        let known = self.project.all().there;
        if call.others.is_none() || known.is_empty() {
            return why.to_string();
        }
        let names: Vec<&str> = known.iter().take(SHOWN).map(|project| &*project.name).collect();
        let more = if known.len() > SHOWN { ", …" } else { "" };
        format!("{why}. Or ask another project of the user by `repo`: {}{more}", names.join(", "))
    }
}

/// Returns what opens the other projects of the user.
///
/// # Errors
/// When the caller may ask one project only.
pub(in crate::engine) fn others(call: &Call) -> Result<&dyn OpenProject, AskError> {
    call.others.as_deref().ok_or_else(|| {
        AskError::Arguments("this server answers for one project only (over HTTP, or by serve.other_projects): leave `repo` and `repos` out".into())
    })
}
