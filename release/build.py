#!/usr/bin/env python3
"""Makes the packages of a release from compiled programs. README.md beside this file lists them.

    release/build.py --binaries DIR --target TRIPLE --out DIR     the packages of one platform
    release/build.py --out DIR                                    only the files that cover all platforms

The second form is for packages that were made on several machines and then copied to one directory.
"""

import argparse
import base64
import gzip
import hashlib
import io
import json
import os
import re
import struct
import subprocess
import sys
import tarfile
import tempfile
import time
import uuid
import zipfile
from pathlib import Path
from typing import NamedTuple, Optional

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = ["cortex", "cortex-codesearch"]
LICENCES = ["LICENSE-APACHE", "LICENSE-MIT"]
AUTHOR = "The Cortex contributors"
SERVER_SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
PLUGIN_SCHEMAS = "https://agent-plugins.org/schemas/1.0.0"
MARKETPLACE_SCHEMA = "https://json.schemastore.org/claude-code-marketplace.json"


class Target(NamedTuple):
    """The names of one platform in the registries."""

    os: str  # npm and .mcpb
    cpu: str  # npm
    libc: Optional[str]  # npm
    wheel: str  # the tag of a wheel; {glibc} is what the programs need


TARGETS = {
    "x86_64-unknown-linux-gnu": Target("linux", "x64", "glibc", "manylinux_{glibc}_x86_64"),
    "aarch64-unknown-linux-gnu": Target("linux", "arm64", "glibc", "manylinux_{glibc}_aarch64"),
    "x86_64-unknown-linux-musl": Target("linux", "x64", "musl", "musllinux_1_1_x86_64"),
    "aarch64-unknown-linux-musl": Target("linux", "arm64", "musl", "musllinux_1_1_aarch64"),
    # The oldest macOS that Rust supports.
    "x86_64-apple-darwin": Target("darwin", "x64", None, "macosx_10_12_x86_64"),
    "aarch64-apple-darwin": Target("darwin", "arm64", None, "macosx_11_0_arm64"),
    "x86_64-pc-windows-msvc": Target("win32", "x64", None, "win_amd64"),
}


class File(NamedTuple):
    """A file of a package."""

    name: str
    data: bytes
    is_program: bool = False


class Release:
    """What all packages share."""

    def __init__(self, out, level):
        command = ["cargo", "metadata", "--no-deps", "--format-version", "1"]
        metadata = json.loads(run(command))
        # The members of the workspace are parts of the program.
        main = str(Path(metadata["workspace_root"]) / "Cargo.toml")
        crate = next(crate for crate in metadata["packages"] if crate["manifest_path"] == main)
        self.name = crate["name"]
        self.version = crate["version"]
        self.description = crate["description"]
        self.licence = crate["license"]
        self.keywords = crate["keywords"]
        self.repository = crate["repository"]
        self.out = out
        self.level = level
        # One time for all files makes equal packages from equal programs.
        epoch = os.environ.get("SOURCE_DATE_EPOCH") or run(["git", "log", "-1", "--format=%ct"])
        self.time = int(epoch)

    @property
    def server_name(self):
        """The name in the registry of MCP servers, whose namespace is the owner of the repository."""
        owner = self.repository.rstrip("/").split("/")[-2]
        return f"io.github.{owner}/{self.name}"

    def download(self, file):
        """Returns the URL of a file of this release."""
        return f"{self.repository}/releases/download/v{self.version}/{file}"

    def licences(self):
        """Returns the licences of this project."""
        return [File(name, (ROOT / name).read_bytes()) for name in LICENCES]

    def readme(self):
        """Returns the README with links that work outside of the repository."""
        text = (ROOT / "README.md").read_text(encoding="utf-8")
        base = f"{self.repository}/blob/v{self.version}/"
        return re.sub(r"\]\((?!https?:|#)", f"]({base}", text)

    def write(self, name, data):
        (self.out / name).write_bytes(data)
        print(f"{len(data):>12} {name}")

    def write_json(self, name, value):
        self.write(name, to_json(value))

    def write_tar(self, name, files, prefix):
        raw = io.BytesIO()
        with gzip.GzipFile("", "wb", self.level, raw, mtime=self.time) as packed:
            with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar:
                for file in sorted(files):
                    entry = tarfile.TarInfo(f"{prefix}/{file.name}")
                    entry.size = len(file.data)
                    entry.mtime = self.time
                    entry.mode = 0o755 if file.is_program else 0o644
                    tar.addfile(entry, io.BytesIO(file.data))
        self.write(name, raw.getvalue())

    def write_zip(self, name, files):
        raw = io.BytesIO()
        with zipfile.ZipFile(raw, "w") as zipped:
            for file in files:
                entry = zipfile.ZipInfo(file.name, time.gmtime(self.time)[:6])
                entry.create_system = 3  # Unix, so that the mode counts
                entry.external_attr = (0o100755 if file.is_program else 0o100644) << 16
                entry.compress_type = zipfile.ZIP_DEFLATED
                zipped.writestr(entry, file.data, compresslevel=self.level)
        self.write(name, raw.getvalue())


def run(command):
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout.decode()


def to_json(value):
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()


def sha256(data):
    return hashlib.sha256(data)


def read_programs(directory, target):
    """Returns the compiled programs, or ends with a message."""
    suffix = ".exe" if TARGETS[target].os == "win32" else ""
    programs = []
    for name in PROGRAMS:
        path = directory / (name + suffix)
        if not path.is_file():
            sys.exit(f"error: there is no {path} (build both programs, then set --binaries to their directory)")
        programs.append(File(path.name, path.read_bytes(), True))
    return programs


def tarball(release, target, programs, licences):
    stem = f"{release.name}-{release.version}-{target}"
    readme = File("README.md", (ROOT / "README.md").read_bytes())
    release.write_tar(f"{stem}.tar.gz", [*programs, *licences, readme], stem)


def wheel(release, target, programs, licences):
    name = release.name.replace("-", "_")
    version = python_version(release.version)
    stem = f"{name}-{version}"
    tag = TARGETS[target].wheel
    if TARGETS[target].libc:
        needs = max(newest_glibc(program, target) for program in programs)
        if (TARGETS[target].libc == "glibc") != bool(needs):
            sys.exit(f"error: the programs {'use' if needs else 'do not use'} glibc (set --target to the platform they were built for)")
        tag = tag.format(glibc="_".join(map(str, needs)))

    metadata = [
        "Metadata-Version: 2.4",
        f"Name: {release.name}",
        f"Version: {version}",
        f"Summary: {release.description}",
        f"License-Expression: {release.licence}",
        *(f"License-File: {file.name}" for file in licences),
        f"Keywords: {','.join(release.keywords)}",
        f"Project-URL: Repository, {release.repository}",
        "Requires-Python: >=3.8",
        "Description-Content-Type: text/markdown",
        "",
        release.readme(),
        # The registry of MCP servers looks for this line.
        f"<!-- mcp-name: {release.server_name} -->",
        "",
    ]
    about = f"Wheel-Version: 1.0\nGenerator: release/build.py\nRoot-Is-Purelib: false\nTag: py3-none-{tag}\n"
    info = f"{stem}.dist-info"
    files = [
        *(File(f"{stem}.data/scripts/{program.name}", program.data, True) for program in programs),
        File(f"{info}/METADATA", "\n".join(metadata).encode()),
        File(f"{info}/WHEEL", about.encode()),
        *(File(f"{info}/licenses/{file.name}", file.data) for file in licences),
    ]
    record = ""
    for file in files:
        digest = base64.urlsafe_b64encode(sha256(file.data).digest()).decode().rstrip("=")
        record += f"{file.name},sha256={digest},{len(file.data)}\n"
    record += f"{info}/RECORD,,\n"
    files.append(File(f"{info}/RECORD", record.encode()))
    release.write_zip(f"{stem}-py3-none-{tag}.whl", files)


def python_version(version):
    """Returns a version in Python's form: 1.2.0-rc.1 is 1.2.0rc1."""
    short = {"alpha": "a", "beta": "b", "rc": "rc"}
    return re.sub(r"-(alpha|beta|rc)\.?", lambda found: short[found[1]], version)


def newest_glibc(program, target):
    """Returns the newest version of glibc that a program needs, read from the versions of its symbols; () for none."""
    elf = program.data
    machine = {"x86_64": 62, "aarch64": 183}[target.split("-")[0]]
    if elf[:6] != b"\x7fELF\x02\x01" or struct.unpack_from("<H", elf, 18)[0] != machine:
        sys.exit(f"error: {program.name} is not a program of {target} (set --target to the platform it was built for)")
    (table,) = struct.unpack_from("<Q", elf, 40)
    size, count = struct.unpack_from("<HH", elf, 58)
    sections = [struct.unpack_from("<IIQQQQII", elf, table + i * size) for i in range(count)]
    found = []
    for _, kind, _, _, offset, _, link, libraries in sections:
        if kind != 0x6FFFFFFE:  # SHT_GNU_verneed
            continue
        strings = sections[link][4]
        for _ in range(libraries):
            _, versions, _, at, next_library = struct.unpack_from("<HHIII", elf, offset)
            at += offset
            for _ in range(versions):
                _, _, _, name, next_version = struct.unpack_from("<IHHII", elf, at)
                version = re.match(rb"GLIBC_(\d+)\.(\d+)", elf[strings + name : strings + name + 40])
                if version:
                    found.append((int(version[1]), int(version[2])))
                at += next_version
            offset += next_library
    return max(found, default=())


def npm_platform_name(target):
    """Returns the name of the npm package with the programs of a platform."""
    t = TARGETS[target]
    return f"{t.os}-{t.cpu}" + ("-musl" if t.libc == "musl" else "")


def npm_package(release, name, fields):
    """Returns package.json."""
    package = {
        "name": name,
        "version": release.version,
        "description": release.description,
        "license": release.licence,
        "repository": {"type": "git", "url": f"git+{release.repository}.git"},
        **fields,
    }
    return File("package.json", to_json(package))


def npm_platform(release, target, programs, licences):
    t = TARGETS[target]
    platform = npm_platform_name(target)
    fields = {"os": [t.os], "cpu": [t.cpu]}
    if t.libc:
        fields["libc"] = [t.libc]
    # Yarn otherwise keeps packages in archives, from which no program starts.
    fields["preferUnplugged"] = True
    text = f"The programs of [{release.name}](https://www.npmjs.com/package/{release.name}) for {target}. Install that package instead.\n"
    files = [
        npm_package(release, f"@{release.name}/{platform}", fields),
        File("README.md", text.encode()),
        *licences,
        # The launcher starts `cortex` under both names.
        *(File(f"bin/{p.name}", p.data, True) for p in programs[:1]),
    ]
    # The name that `npm pack` gives, and the layout.
    release.write_tar(f"{release.name}-{platform}-{release.version}.tgz", files, "package")


def npm_launcher(release, targets):
    fields = {
        "keywords": [*release.keywords, "mcp"],
        "mcpName": release.server_name,
        "bin": {program: "launcher.js" for program in PROGRAMS},
        "engines": {"node": ">=18"},
        "optionalDependencies": {
            f"@{release.name}/{npm_platform_name(target)}": release.version for target in targets
        },
    }
    files = [
        npm_package(release, release.name, fields),
        File("launcher.js", (ROOT / "release/npm/launcher.js").read_bytes(), True),
        File("README.md", release.readme().encode()),
        *release.licences(),
    ]
    release.write_tar(f"{release.name}-{release.version}.tgz", files, "package")


def bundle_name(release, target):
    return f"{release.name}-{release.version}-{target}.mcpb"


def bundle(release, target, programs, licences):
    t = TARGETS[target]
    program = programs[0]
    manifest = {
        "manifest_version": "0.3",
        "name": release.name,
        "display_name": "Cortex",
        "version": release.version,
        "description": release.description,
        "author": {"name": AUTHOR},
        "repository": {"type": "git", "url": f"{release.repository}.git"},
        "license": release.licence,
        "keywords": release.keywords,
        "server": {
            "type": "binary",
            "entry_point": f"server/{program.name}",
            "mcp_config": {
                "command": f"${{__dirname}}/server/{program.name}",
                "args": ["mcp", "--project", "${user_config.project}"],
                "env": {},
            },
        },
        # A desktop program has no current directory that means anything.
        "user_config": {
            "project": {
                "type": "directory",
                "title": "Repository",
                "description": "The directory of the code that Cortex searches. Its index goes to the folder .cortex in it.",
                "required": True,
            }
        },
        "tools_generated": True,
        "compatibility": {"platforms": [t.os]},
    }
    files = [
        File("manifest.json", to_json(manifest)),
        File(f"server/{program.name}", program.data, True),
        *licences,
    ]
    release.write_zip(bundle_name(release, target), files)


class Texts:
    """The texts that `cortex init` writes for agents. The program prints them."""

    def __init__(self, program, project):
        self.command = [program, "init", "--print", "--json", "--scope", "project", "--project", project]
        self.command += ["--program", PROGRAMS[1]]

    def __call__(self, agent, part):
        """Returns the file of an agent that has this part and no other."""
        (file,) = json.loads(run([*self.command, "--agents", agent, "--parts", part]))["files"]
        return file["text"]

    def hooks(self, agent):
        """Returns the hooks. Where the program is not installed they do nothing, and the agent shows no error."""
        hooks = json.loads(self(agent, "hooks"))
        for event in hooks["hooks"].values():
            for entry in event:
                for hook in entry.get("hooks", [entry]):
                    hook["command"] += " || exit 0"
        return to_json(hooks)


def plugins(release, binaries, programs):
    """Makes the plugins for agents; README.md beside this file says which agent reads which file."""
    with tempfile.TemporaryDirectory() as project:
        texts = Texts(binaries / programs[0].name, project)
        try:
            files = [*cortex_plugin(release, texts), *agent_plugin(release, texts), *gemini_extension(release, texts)]
        except OSError as e:
            print(f"note: no plugins, because {programs[0].name} does not run on this machine: {e}")
            return
    release.write_zip(f"cortex-plugin-{release.version}.zip", [*files, *marketplaces(release)])


def plugin_about(release):
    """Returns the fields that the manifests share."""
    return {
        "name": "cortex",
        "version": release.version,
        "description": release.description,
        "author": {"name": AUTHOR},
        "homepage": release.repository,
        "repository": release.repository,
        "license": release.licence,
        "keywords": release.keywords,
    }


def plugin_servers(release, *options, **fields):
    """Returns the MCP server of a plugin. `npx` starts the program that npm installed, else downloads the newest."""
    server = {**fields, "command": "npx", "args": ["-y", release.name, "mcp", *options]}
    return {"mcpServers": {"cortex": server}}


def cortex_plugin(release, texts):
    """Returns one folder for all agents whose files have names of their own."""
    about = plugin_about(release)
    claude = {
        **about,
        "agents": ["./claude/cortex-search.md"],
        "hooks": "./claude/hooks.json",
        **plugin_servers(release, "--project", "${CLAUDE_PROJECT_DIR}"),
    }
    codex = {
        **about,
        "skills": "./skills/",
        "hooks": "./codex/hooks.json",
        # Without `cwd`, Codex starts it in the directory of the session.
        **plugin_servers(release),
        "interface": {
            "displayName": "Cortex",
            "shortDescription": release.description,
            "developerName": AUTHOR,
            "category": "Developer Tools",
            "websiteURL": release.repository,
        },
    }
    copilot = {
        **about,
        "skills": "skills/",
        "agents": "copilot/",
        "hooks": "copilot/hooks.json",
        # Copilot CLI starts it in the folder of the plugin, but knows the variables of its own environment.
        **plugin_servers(release, "--project", "${PWD}", type="stdio"),
    }
    # Claude Code puts the name of the plugin into the names of its tools.
    subagent = texts("claude", "subagent").replace("mcp__cortex__", "mcp__plugin_cortex_cortex__")
    files = {
        "skills/cortex/SKILL.md": texts("claude", "skill").encode(),
        ".claude-plugin/plugin.json": to_json(claude),
        "claude/cortex-search.md": subagent.encode(),
        "claude/hooks.json": texts.hooks("claude"),
        ".codex-plugin/plugin.json": to_json(codex),
        "codex/hooks.json": texts.hooks("codex"),
        # Antigravity reads this too, and finds the server in `mcp_config.json`.
        "plugin.json": to_json(copilot),
        "copilot/cortex-search.agent.md": texts("copilot", "subagent").encode(),
        "copilot/hooks.json": texts.hooks("copilot"),
        "mcp_config.json": to_json(plugin_servers(release)),
    }
    return in_folder("cortex-plugin", files, release)


def agent_plugin(release, texts):
    """Returns a folder of its own: agents that know the standard start its server in the folder of the plugin."""
    plugin = {"$schema": f"{PLUGIN_SCHEMAS}/plugin.schema.json", **plugin_about(release)}
    servers = {"$schema": f"{PLUGIN_SCHEMAS}/mcp.schema.json", **plugin_servers(release, type="stdio")}
    files = {
        "plugin.json": to_json(plugin),
        "mcp.json": to_json(servers),
        "skills/cortex/SKILL.md": texts("vscode", "skill").encode(),
        "com.github.copilot/agents/cortex-search.agent.md": texts("vscode", "subagent").encode(),
        "com.github.copilot/hooks/hooks.json": texts.hooks("copilot"),
    }
    return in_folder("agent-plugin", files, release)


def gemini_extension(release, texts):
    """Returns a folder of its own: Gemini CLI reads hooks and sub-agents where Claude Code does, in another form."""
    extension = {
        "name": "cortex",
        "version": release.version,
        "description": release.description,
        **plugin_servers(release, "--project", "${workspacePath}"),
    }
    files = {
        "gemini-extension.json": to_json(extension),
        "skills/cortex/SKILL.md": texts("gemini", "skill").encode(),
        "agents/cortex-search.md": texts("gemini", "subagent").encode(),
        "commands/cortex.toml": texts("gemini", "command").encode(),
        "hooks/hooks.json": texts.hooks("gemini"),
    }
    return in_folder("gemini-extension", files, release)


def marketplaces(release):
    """Returns the files that make the unpacked zip a marketplace: Claude Code's, which Copilot CLI reads too, and Codex's."""
    source = "./cortex-plugin"
    claude = {
        "$schema": MARKETPLACE_SCHEMA,
        "name": "cortex",
        "owner": {"name": AUTHOR},
        "metadata": {"description": release.description},
        "plugins": [{"name": "cortex", "source": source, "description": release.description, "category": "development"}],
    }
    codex = {
        "name": "cortex",
        "interface": {"displayName": "Cortex"},
        "plugins": [{
            "name": "cortex",
            "source": {"source": "local", "path": source},
            "policy": {"installation": "AVAILABLE", "authentication": "ON_INSTALL"},
            "category": "Developer Tools",
        }],
    }
    return [
        File(".claude-plugin/marketplace.json", to_json(claude)),
        File(".agents/plugins/marketplace.json", to_json(codex)),
    ]


def in_folder(folder, files, release):
    files = [*(File(name, data) for name, data in files.items()), *release.licences()]
    return [File(f"{folder}/{file.name}", file.data) for file in files]


def server_json(release, targets):
    stdio = {"type": "stdio"}
    mcp = [{"type": "positional", "value": "mcp"}]
    packages = []
    for registry, version, runner in [("pypi", python_version(release.version), "uvx"), ("npm", release.version, "npx")]:
        packages.append({
            "registryType": registry,
            "identifier": release.name,
            "version": version,
            "runtimeHint": runner,
            "transport": stdio,
            "packageArguments": mcp,
        })
    for target in targets:
        file = bundle_name(release, target)
        packages.append({
            "registryType": "mcpb",
            "identifier": release.download(file),
            "fileSha256": sha256((release.out / file).read_bytes()).hexdigest(),
            "transport": stdio,
        })
    release.write_json("server.json", {
        "$schema": SERVER_SCHEMA,
        "name": release.server_name,
        "title": "Cortex",
        "description": release.description,
        "version": release.version,
        "repository": {"url": release.repository, "source": "github"},
        "packages": packages,
    })


class Crates:
    """The crates that are linked into the programs of a platform."""

    def __init__(self, target):
        command = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", target, "--features", "team"]
        metadata = json.loads(run(command))
        self.own = set(metadata["workspace_members"])
        self.about = {crate["id"]: crate for crate in metadata["packages"]}
        self.root = metadata["resolve"]["root"]
        nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
        self.uses, to_visit = {}, [self.root]
        while to_visit:
            crate = to_visit.pop()
            if crate not in self.uses:
                self.uses[crate] = [d["pkg"] for d in nodes[crate]["deps"] if self.is_linked(d)]
                to_visit += self.uses[crate]
        self.sorted = sorted(self.uses, key=self.purl)

    def is_linked(self, dependency):
        # A macro runs in the compiler; other kinds are for the build script and the tests.
        is_macro = any("proc-macro" in t["kind"] for t in self.about[dependency["pkg"]]["targets"])
        return not is_macro and any(kind["kind"] is None for kind in dependency["dep_kinds"])

    def purl(self, crate):
        return f"pkg:cargo/{self.about[crate]['name']}@{self.about[crate]['version']}"

    def notices(self):
        """Returns the licence texts of all crates, each once. Most licences demand that they go along with a program."""
        users, without = {}, []
        for crate in self.sorted:
            folder = Path(self.about[crate]["manifest_path"]).parent
            if crate == self.root:
                texts = [folder / "src/secrets/betterleaks-LICENSE", folder / "src/embed/model/README.md"]
            elif crate in self.own:
                continue
            else:
                texts = sorted(f for f in folder.iterdir() if f.is_file() and re.match(r"(?i)(licen[cs]e|copying|notice|unlicense)", f.name))
            if not texts:
                about = self.about[crate]
                without.append(f"{about['name']}@{about['version']}: {about['license']}, {about['repository']}")
            for path in texts:
                text = "\n".join(path.read_text(encoding="utf-8", errors="replace").split("\r\n")).strip()
                users.setdefault(text, []).append(self.purl(crate).split("/")[1])
        parts = [f"{', '.join(dict.fromkeys(names))}\n\n{text}\n" for text, names in users.items()]
        parts.append("\n".join(["The packages of these crates have no licence text:", "", *without, ""]))
        return File("THIRD-PARTY-NOTICES", f"\n{'=' * 80}\n\n".join(parts).encode())

    def component(self, crate):
        """Returns the entry of a crate in the bill of materials."""
        about = self.about[crate]
        fields = {
            "type": "application" if crate == self.root else "library",
            "bom-ref": self.purl(crate),
            "name": about["name"],
            "version": about["version"],
            "purl": self.purl(crate),
        }
        if about["license"]:
            # Some crates still write `MIT/Apache-2.0`.
            fields["licenses"] = [{"expression": re.sub(r"\s*/\s*", " OR ", about["license"])}]
        return fields


def bill_of_materials(release, target, crates):
    name = f"{release.name}-{release.version}-{target}.cdx.json"
    when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(release.time))
    release.write_json(name, {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, release.download(name))}",
        "version": 1,
        "metadata": {"timestamp": when, "component": crates.component(crates.root)},
        "components": [crates.component(crate) for crate in crates.sorted if crate != crates.root],
        "dependencies": [
            {"ref": crates.purl(crate), "dependsOn": sorted(map(crates.purl, crates.uses[crate]))}
            for crate in crates.sorted
        ],
    })


def checksums(release):
    name = "SHA256SUMS"
    files = sorted(path for path in release.out.iterdir() if path.is_file() and path.name != name)
    lines = [f"{sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    release.write(name, "".join(lines).encode())


def main():
    parser = argparse.ArgumentParser(description="Make the packages of a release from compiled programs")
    parser.add_argument("--binaries", type=Path, metavar="DIR", help="Take the programs cortex and cortex-codesearch from this directory")
    parser.add_argument("--target", choices=TARGETS, metavar="TRIPLE", help=f"The platform that they were built for: {', '.join(TARGETS)}")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="Write the packages here, beside those of other platforms")
    # Level 9 takes three times as long as 6, for files that are 0.7 % smaller.
    parser.add_argument("--level", type=int, choices=range(1, 10), default=6, metavar="1-9", help="Compress this much [default: 6]")
    args = parser.parse_args()
    if (args.binaries is None) != (args.target is None):
        parser.error("--binaries and --target need each other")

    args.out.mkdir(parents=True, exist_ok=True)
    release = Release(args.out, args.level)
    if args.binaries:
        programs = read_programs(args.binaries, args.target)
        crates = Crates(args.target)
        licences = [*release.licences(), crates.notices()]
        for package in [wheel, tarball, npm_platform, bundle]:
            package(release, args.target, programs, licences)
        plugins(release, args.binaries.resolve(), programs)
        bill_of_materials(release, args.target, crates)
    # These cover every platform whose packages are there.
    targets = [target for target in TARGETS if (args.out / bundle_name(release, target)).exists()]
    npm_launcher(release, targets)
    server_json(release, targets)
    checksums(release)


if __name__ == "__main__":
    main()
