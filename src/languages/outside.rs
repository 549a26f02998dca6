//! Tells which symbols something outside of a project may use, though nothing in it names them: the
//! language, a framework, or the loader of a program.

use super::testing::is_listed;

/// A symbol, as [`used_from_outside`] sees it.
#[derive(Debug, Clone, Copy)]
pub struct Declaration<'a> {
    pub language: &'a str,
    pub path: &'a str,
    pub name: &'a str,
    /// The type or module that it belongs to; empty if there is none.
    pub owner: &'a str,
    /// Its lines before the name: comments, attributes and the declaration.
    pub head: &'a str,
    /// Whether `head` only belongs to a type around it.
    pub is_around: bool,
}

/// What uses a symbol from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum OutsideUser {
    /// It is compiled for tests only.
    Tests,
    /// It is where a program begins.
    Loader,
    /// The language or its library calls symbols of this name.
    Language,
    /// An attribute, a decorator or the folder hands it to a framework.
    Framework,
}

/// The rules of a family of languages. Most lists are words with blanks between them.
struct Rules {
    languages: &'static [&'static str],
    /// Names of functions with which programs begin.
    entries: &'static str,
    /// Names that the language or its library calls.
    names: &'static str,
    /// Beginnings of such names.
    prefixes: &'static [&'static str],
    /// Attributes that do not hand a symbol to anybody.
    inert: &'static str,
    /// Words before a name that hand it out.
    words: &'static [&'static str],
    /// Folders (`a/b/`), beginnings (`name*`) and ends (`.ext`) of paths, or names of files, whose
    /// symbols a framework finds by itself.
    found: &'static str,
}

const RULES: [Rules; 9] = [
    Rules {
        languages: &["rust"],
        entries: "main",
        names: "",
        prefixes: &[],
        inert: "allow expect warn deny inline must_use doc cfg cfg_attr derive cold track_caller \
            non_exhaustive repr deprecated error from source serde default rustfmt::skip rustfmt \
            skip clippy instrument async_trait diagnostic on_unimplemented automatically_derived \
            macro_use target_feature optimize pin_project cfg_accessible",
        words: &["extern"],
        found: "build.rs",
    },
    Rules {
        languages: &["python"],
        entries: "main setup application app",
        names: "",
        prefixes: &["__", "do_", "pytest_"],
        inert: "staticmethod classmethod property cached_property override abstractmethod \
            overload contextmanager asynccontextmanager wraps lru_cache cache final deprecated \
            dataclass total_ordering runtime_checkable no_type_check unique define attrs frozen \
            setter deleter getter singledispatch abstractproperty coroutine",
        words: &[],
        found: "migrations/ management/commands/ conftest.py conf.py setup.py noxfile.py tasks.py \
            settings.py manage.py gunicorn* hooks/",
    },
    Rules {
        languages: &["go"],
        entries: "main init",
        names: "",
        prefixes: &[],
        inert: "",
        words: &["//export", "//go:linkname", "//go:wasmexport"],
        found: "magefile.go magefiles/",
    },
    Rules {
        languages: &["c", "cpp", "objc"],
        entries: "main wmain WinMain wWinMain DllMain _start LLVMFuzzerTestOneInput \
            LLVMFuzzerInitialize",
        names: "begin end cbegin cend swap what value_type iterator const_iterator reference \
            pointer difference_type iterator_category hash",
        prefixes: &["operator", "_", "JNI_", "Java_", "PyInit_"],
        inert: "nodiscard noreturn maybe_unused deprecated fallthrough likely",
        words: &[
            "__attribute__((constructor", "__attribute__((destructor", "__attribute__((used",
            "__attribute__ ((constructor", "__attribute__ ((used", "__declspec(dllexport)",
            "EMSCRIPTEN_KEEPALIVE", "JNIEXPORT",
        ],
        found: "compat/",
    },
    Rules {
        languages: &["java", "kotlin", "scala", "groovy", "csharp"],
        entries: "main Main",
        names: "toString hashCode equals compareTo clone finalize readObject writeObject \
            readResolve writeReplace readObjectNoData serialVersionUID premain agentmain apply \
            unapply invoke ToString Equals GetHashCode Dispose values valueOf",
        prefixes: &["component", "operator"],
        inert: "Override Deprecated SuppressWarnings Nullable NonNull NotNull Nonnull \
            VisibleForTesting FunctionalInterface SafeVarargs Immutable ThreadSafe NotThreadSafe \
            JvmStatic JvmOverloads JvmField Throws Suppress CheckForNull GuardedBy \
            CheckReturnValue CanIgnoreReturnValue Obsolete Generated SuppressFBWarnings tailrec \
            inline",
        words: &["native ", "external "],
        found: ".gradle .gradle.kts buildSrc/",
    },
    Rules {
        languages: &["javascript", "jsx", "typescript", "tsx", "vue", "svelte"],
        entries: "main activate deactivate",
        names: "constructor toString toJSON valueOf then connectedCallback disconnectedCallback \
            attributeChangedCallback adoptedCallback render componentDidMount \
            componentWillUnmount componentDidUpdate componentDidCatch shouldComponentUpdate \
            getDerivedStateFromProps getDerivedStateFromError getSnapshotBeforeUpdate \
            getServerSideProps getStaticProps getStaticPaths generateMetadata \
            generateStaticParams middleware handler setup data mounted created unmounted loader \
            action get set has deleteProperty ownKeys apply construct transform GET POST PUT \
            PATCH DELETE HEAD OPTIONS",
        prefixes: &["ng", "["],
        inert: "",
        words: &["export default ", "declare module", "declare global"],
        found: ".config.ts .config.js .config.mjs .config.mts .config.cjs pages/ app/routes/ \
            src/routes/ playground/ api/",
    },
    Rules {
        languages: &["php"],
        entries: "main",
        names: "handle boot register rules authorize up down run toArray jsonSerialize via toMail \
            broadcastOn definition failed render configure schedule messages attributes casts \
            middleware mount newFactory offsetGet offsetSet offsetExists offsetUnset current key \
            next rewind valid",
        prefixes: &["__"],
        inert: "Override Deprecated SensitiveParameter ReturnTypeWillChange Pure",
        words: &[],
        found: "app/Http/Controllers/ app/Console/Commands/ app/Providers/ app/Policies/ \
            app/Listeners/ app/Observers/ app/Models/ database/ app/Exceptions/ \
            app/Http/Middleware/ config/ Controllers/ app/View/ app/Nova/ artisan public/",
    },
    Rules {
        languages: &["ruby"],
        entries: "main",
        names: "initialize method_missing respond_to_missing? inherited included extended \
            prepended method_added const_missing to_s to_str to_a to_ary to_h to_hash to_proc \
            to_sym to_i to_json as_json inspect hash eql? each coerce call perform up down change \
            respond_to? initialize_copy marshal_dump marshal_load to_liquid to_param encode_with \
            init_with <=> == === [] []=",
        prefixes: &[],
        inert: "",
        words: &[],
        found: "app/controllers/ db/ app/mailers/ app/jobs/ app/channels/ config/ .rake Rakefile \
            Gemfile app/policies/ app/components/ app/admin/ test/mailers/previews/ \
            lib/generators/ bin/",
    },
    Rules {
        languages: &["lua", "bash", "perl", "r", "elixir", "swift", "dart", "zig"],
        entries: "main",
        names: "init deinit hash body description build start child_spec handle_call handle_cast \
            handle_info terminate import DESTROY AUTOLOAD",
        prefixes: &["__"],
        inert: "doc spec impl moduledoc discardableResult override inlinable available MainActor \
            deprecated protected visibleForTesting",
        words: &["export ", "@objc", "@IBAction", "@_cdecl"],
        found: "migrations/ mix.exs Package.swift build.zig",
    },
];

/// Returns what uses a symbol from outside of the project, if the text says so.
#[must_use]
pub fn used_from_outside(declared: Declaration) -> Option<OutsideUser> {
    let Declaration { language, path, name, owner, head, is_around } = declared;
    let rules = RULES.iter().find(|rules| rules.languages.contains(&language))?;
    if !is_around {
        if owner.is_empty() && is_listed(rules.entries, name) {
            return Some(OutsideUser::Loader);
        }
        let is_operator = !name.chars().any(char::is_alphanumeric) || name.starts_with('~');
        let is_constructor = !owner.is_empty() && name == owner;
        let begins = rules.prefixes.iter().any(|start| name.starts_with(start));
        if is_operator || is_constructor || begins || is_listed(rules.names, name) {
            return Some(OutsideUser::Language);
        }
        if rules.found.split_ascii_whitespace().any(|rule| is_found(path, rule)) {
            return Some(OutsideUser::Framework);
        }
    }
    if language == "rust" && head.lines().any(|line| line.trim_start().starts_with("#[cfg(test")) {
        return Some(OutsideUser::Tests);
    }
    let mut lines = head.lines().filter(|line| !line.trim_start().starts_with("* "));
    if lines.any(|line| rules.words.iter().any(|word| line.contains(word))) {
        return Some(OutsideUser::Framework);
    }
    let attributes = super::testing::attributes(head, false);
    let hands_out = attributes.iter().any(|one| !is_listed(rules.inert, one));
    hands_out.then_some(OutsideUser::Framework)
}

/// Returns other spellings under which frameworks look a symbol up: Rails' associations name a class in
/// lower case, and Laravel's models have accessors and scopes.
#[must_use]
pub fn other_spellings(language: &str, name: &str) -> Vec<String> {
    match language {
        "ruby" if name.starts_with(char::is_uppercase) => {
            let snake = snake_case(name);
            let plural = snake.strip_suffix('y').map(|stem| format!("{stem}ies"));
            let mut all = vec![format!("{snake}s"), format!("{snake}es"), snake];
            all.extend(plural);
            all
        }
        "php" => {
            let between = |start, end| name.strip_prefix(start)?.strip_suffix(end);
            let accessor = between("get", "Attribute").or_else(|| between("set", "Attribute"));
            let scope = name.strip_prefix("scope").map(|rest| {
                let mut chars = rest.chars();
                let first = chars.next().map(|c| c.to_lowercase().to_string());
                first.unwrap_or_default() + chars.as_str()
            });
            // An accessor may also be a method that returns an `Attribute`.
            let plain = (!name.contains('_')).then(|| snake_case(name)).filter(|s| s != name);
            accessor.map(snake_case).into_iter().chain(scope).chain(plain).collect()
        }
        _ => shorter_name(language, name).map(str::to_string).into_iter().collect(),
    }
}

/// Returns the shorter name by which a language lets a symbol be used: C# writes the class
/// `AuditAttribute` as `[Audit]`.
#[must_use]
pub fn shorter_name<'n>(language: &str, name: &'n str) -> Option<&'n str> {
    let is_csharp = language == "csharp";
    name.strip_suffix("Attribute").filter(|short| is_csharp && !short.is_empty())
}

/// Whether a type of this language may implement an interface, or a protocol of Python, without naming
/// it, although most name it.
#[must_use]
pub fn implements_silently(language: &str) -> bool {
    matches!(language, "typescript" | "tsx" | "vue" | "svelte" | "python")
}

/// Returns `story_text` of `StoryText`.
fn snake_case(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 4);
    let mut before = None;
    for c in name.chars() {
        if c.is_uppercase() && before.is_some_and(char::is_lowercase) {
            out.push('_');
        }
        out.extend(c.to_lowercase());
        before = Some(c);
    }
    out
}

/// Whether a path is one that a rule of [`Rules::found`] names.
fn is_found(path: &str, rule: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    match rule {
        folder if folder.ends_with('/') => {
            path.starts_with(folder) || path.contains(&format!("/{folder}"))
        }
        start if start.ends_with('*') => name.starts_with(start.trim_end_matches('*')),
        end if end.starts_with('.') => path.ends_with(end),
        whole => name == whole,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_that_hand_a_symbol_out_are_told_from_those_that_describe_it() {
        let of = |language, path, name, owner, head| {
            used_from_outside(Declaration { language, path, name, owner, head, is_around: false })
        };
        let framework = Some(OutsideUser::Framework);
        for (language, path, head, want) in [
            ("python", "a.py", "@app.route('/x')\ndef f():", framework),
            ("python", "a.py", "@functools.wraps(g)\ndef f():", None),
            ("rust", "a.rs", "#[inline]\n#[no_mangle]\npub extern \"C\" fn f() {", framework),
            ("rust", "a.rs", "/// See [a link].\n#[must_use]\nfn f() {", None),
            ("java", "A.java", "@Bean\npublic Pool f() {", framework),
            ("java", "A.java", "@Deprecated\nprivate Pool f() {", None),
            ("typescript", "src/app.config.ts", "export function f() {", framework),
            ("go", "a.go", "//export f\nfunc f() {", framework),
        ] {
            assert_eq!(of(language, path, "f", "", head), want, "{head}");
        }
        assert_eq!(of("go", "a.go", "main", "", "func main() {"), Some(OutsideUser::Loader));
        assert_eq!(of("python", "a.py", "__len__", "A", ""), Some(OutsideUser::Language));
    }
}
