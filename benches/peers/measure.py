#!/usr/bin/env python3
"""Measures Cortex and other programs on one corpus with the same questions, and prints a table.

    benches/peers/measure.py CORTEX REPOSITORY [--questions FILE] [--rounds 5] [--go-design DIR]

CORTEX is the program, REPOSITORY a folder of sources, which is copied first. FILE has a question on
each line. The programs, alternating in each round:

- Cortex: as commands, and as a server that an agent asks.
- ripgrep (`rg`): all files with one of the words of the question.
- semble (`pip install semble`), in a process of its own that loads its model before the clock starts.
  The weights of its model are on no package registry. Random ones of the same shape take the same time.
- zoekt (`zoekt-index`, `zoekt`) and ck (`ck`).
- The Go design: a Go program in DIR that loads a folder of chunk files, compares it with a second
  load, and prints both times. It has no search and no indexer, so it gets the chunk files of Cortex.

Programs that are not installed, or that fail, are named below the table. Memory is the peak of the
process that answers, or the resident memory of a server after all questions.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

QUESTIONS = [
    "where is the configuration read", "how are errors reported", "parse the arguments of the command line",
    "open and read a file", "write output to the terminal", "match a pattern against a line",
    "cache of results", "run work in several threads", "convert a path to text", "test helper that creates a directory",
]
COPIED = shutil.ignore_patterns(".git", ".cortex", "target", "node_modules", ".venv")
STOP = set("a an the is are of to in and or that where how with".split())


class Failed(Exception):
    """The program is not there, or cannot do this."""


def run(command, cwd, env=None):
    """Runs a command; returns its seconds, the peak of its memory in bytes, and its output."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.perf_counter()
        try:
            process = subprocess.Popen(command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        except OSError as e:
            raise Failed(f"cannot be started: {e.strerror}")
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0), err.seek(0)
        text, error = out.read().decode(errors="replace"), err.read().decode(errors="replace")
    # 1 is "nothing found" of ripgrep, and of Cortex.
    if process.returncode not in (0, 1) or (process.returncode == 1 and error.strip()):
        last = (error.strip().splitlines() or [f"exit code {process.returncode}"])[-1]
        raise Failed(f"`{' '.join(map(str, command[:2]))}` failed: {last[:120]}")
    scale = 1 if sys.platform == "darwin" else 1024
    return seconds, usage.ru_maxrss * scale, text


def words(question):
    return [w for w in re.findall(r"\w+", question) if w.lower() not in STOP]


class Peer:
    """A program: its times to index, its times to answer in seconds, and its memory in bytes."""

    def __init__(self, name, corpus, scratch):
        self.name, self.corpus, self.scratch = name, corpus, scratch
        self.indexed, self.asked, self.memory = [], [], []

    def index(self):
        """Makes the index anew. A program without one does nothing."""

    def ask(self, question):
        raise NotImplementedError

    def end(self):
        pass


class Command(Peer):
    """A program that is run once for each question."""

    def __init__(self, name, corpus, scratch, program, index, ask, removed=None, env=None):
        super().__init__(name, corpus, scratch)
        if shutil.which(program) is None:
            raise Failed("not installed")
        self.index_command, self.ask_command, self.removed, self.env = index, ask, removed, env

    def index(self):
        if self.index_command:
            shutil.rmtree(self.removed, ignore_errors=True)
            self.removed.mkdir(parents=True)
            self.indexed.append(run(self.index_command, self.corpus, self.env)[0])

    def ask(self, question):
        seconds, memory, _ = run(self.ask_command(question), self.corpus, self.env)
        self.asked.append(seconds)
        self.memory.append(memory)


class Lines(Peer):
    """A process that answers each line of JSON with a line of JSON."""

    def start(self, command, env=None):
        self.process = subprocess.Popen(
            command, cwd=self.corpus, env=env, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )

    def call(self, message):
        try:
            self.process.stdin.write(json.dumps(message) + "\n")
            self.process.stdin.flush()
            while True:
                line = self.process.stdout.readline()
                if not line:
                    errors = self.process.stderr.read().strip().splitlines()
                    raise Failed(f"ended: {(errors or ['without an error'])[-1][:120]}")
                answer = json.loads(line)
                if answer.get("id") == message["id"]:
                    return answer
        except BrokenPipeError:
            raise Failed("ended: " + (self.process.stderr.read().strip().splitlines() or [""])[-1][:120])

    def resident(self):
        try:
            status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        except OSError:
            return
        self.memory.append(int(re.search(r"VmRSS:\s+(\d+)", status).group(1)) * 1024)

    def end(self):
        self.process.stdin.close()
        self.process.kill()
        self.process.wait()


class CortexServer(Lines):
    def __init__(self, corpus, scratch, cortex, env):
        super().__init__("Cortex, server", corpus, scratch)
        self.start([cortex, "mcp", "--alone", "--no-watch"], env)
        self.n = 0
        client = {"name": "peers", "version": "1"}
        self.rpc("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        self.process.stdin.write('{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
        start = time.perf_counter()
        while self.search(QUESTIONS[0]).startswith("nothing found"):
            if time.perf_counter() - start > 30:
                raise Failed("found nothing for 30 s")
            time.sleep(0.01)

    def rpc(self, method, params):
        self.n += 1
        return self.call({"jsonrpc": "2.0", "id": self.n, "method": method, "params": params})["result"]

    def search(self, question):
        return self.rpc("tools/call", {"name": "cortex_search", "arguments": {"query": question}})["content"][0]["text"]

    def ask(self, question):
        start = time.perf_counter()
        self.search(question)
        self.asked.append(time.perf_counter() - start)
        self.resident()


class Semble(Lines):
    def __init__(self, corpus, scratch):
        super().__init__("semble, in process", corpus, scratch)
        if run([sys.executable, "-c", "import importlib.util as u; print(u.find_spec('semble') is not None)"], corpus)[2].strip() != "True":
            raise Failed("not installed (pip install semble)")
        # The model is made once, and this process ends before any other program is measured.
        server = pathlib.Path(__file__).with_name("semble_server.py")
        env = {**os.environ, "HF_HUB_OFFLINE": "1"}
        self.start([sys.executable, str(server), str(corpus), str(scratch / "semble-model")], env)
        self.n = 0
        self.version = self.do("version")["version"]

    def do(self, what, **more):
        self.n += 1
        return self.call({"id": self.n, "do": what, **more})

    def index(self):
        self.indexed.append(self.do("index")["seconds"])

    def ask(self, question):
        self.asked.append(self.do("ask", question=question)["seconds"])
        self.resident()


class GoDesign(Peer):
    def __init__(self, corpus, scratch, source, chunks):
        super().__init__("Go design: load the chunks and compare", corpus, scratch)
        if source is None:
            raise Failed("no program given (--go-design)")
        if shutil.which("go") is None:
            raise Failed("Go is not installed")
        self.program, self.chunks = scratch / "go-design", chunks
        run(["go", "build", "-o", str(self.program), "."], source)

    def index(self):
        _, memory, text = run([str(self.program), str(self.chunks)], self.corpus)
        self.memory.append(memory)
        # Its process repeats the work, and prints the median in milliseconds.
        found = re.search(r"median ([\d.]+)", text)
        if not found:
            raise Failed(f"prints no milliseconds: {text[:80]!r}")
        self.indexed.append(float(found.group(1)) / 1000)

    def ask(self, question):
        pass


def cell(values, unit):
    if not values:
        return "–"
    scale, name = {"ms": (1e3, "ms"), "MB": (1e-6, "MB")}[unit]
    digits = 0 if statistics.median(values) * scale >= 20 else 1
    return f"{statistics.median(values) * scale:.{digits}f} {name}"


def p99(values):
    return sorted(values)[min(len(values) - 1, len(values) * 99 // 100)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cortex")
    parser.add_argument("repository", type=pathlib.Path)
    parser.add_argument("--questions", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--go-design", type=pathlib.Path)
    args = parser.parse_args()
    cortex = str(pathlib.Path(args.cortex).resolve())
    questions = args.questions.read_text().splitlines() if args.questions else QUESTIONS
    load = os.getloadavg()[0]

    with tempfile.TemporaryDirectory(prefix="cortex-peers-") as scratch:
        scratch = pathlib.Path(scratch)
        corpus = scratch / "corpus"
        shutil.copytree(args.repository, corpus, ignore=COPIED, symlinks=True)
        env = {k: v for k, v in os.environ.items() if not k.startswith("CORTEX_")}
        # Nothing is known from other projects, and nothing is kept for them.
        env.update(CORTEX_INDEX_KNOWN_MB="0", XDG_STATE_HOME=str(scratch / "state"), XDG_CACHE_HOME=str(scratch / "cache"))
        # Cortex makes its index first, since its server and the Go design need it.
        index = lambda program, command, removed: dict(program=program, index=command, removed=removed)
        made = [
            lambda: Command("Cortex, command", corpus, scratch, ask=lambda q: [cortex, "search", "--json", q], env=env,
                            **index(cortex, [cortex, "index"], corpus / ".cortex")),
            lambda: CortexServer(corpus, scratch, cortex, env),
            lambda: Command("ripgrep, any of the words", corpus, scratch, ask=lambda q: ["rg", "-il", "|".join(words(q)), "."],
                            **index("rg", None, None)),
            lambda: Semble(corpus, scratch),
            lambda: Command("zoekt", corpus, scratch,
                            ask=lambda q: ["zoekt", "-index_dir", str(scratch / "zoekt"), " or ".join(words(q))],
                            **index("zoekt-index", ["zoekt-index", "-index", str(scratch / "zoekt"), str(corpus)], scratch / "zoekt")),
            lambda: Command("ck", corpus, scratch, ask=lambda q: ["ck", "--sem", q, "."],
                            **index("ck", ["ck", "--index", "."], corpus / ".ck")),
            lambda: GoDesign(corpus, scratch, args.go_design, corpus / ".cortex/chunks"),
        ]
        names = ["Cortex", "Cortex, server", "ripgrep", "semble", "zoekt", "ck", "the Go design"]
        peers, left_out = [], []
        for name, make in zip(names, made):
            try:
                peer = make()
                peer.index()
                peers.append(peer)
            except Failed as e:
                left_out.append(f"{name}: {e}")
        for round in range(args.rounds):
            # Servers have loaded their index, so a new one changes nothing for them; the chunks are equal.
            for peer in list(peers):
                try:
                    if round > 0:
                        peer.index()
                    for question in questions:
                        peer.ask(question)
                except Failed as e:
                    left_out.append(f"{peer.name}: {e}")
                    peers.remove(peer)
        files = sum(1 for p in corpus.rglob("*") if p.is_file() and ".cortex" not in p.parts)
        size = sum(p.stat().st_size for p in corpus.rglob("*") if p.is_file() and ".cortex" not in p.parts)
        print(f"{args.repository.name}: {files} files, {size / 1e6:.1f} MB; {len(questions)} questions, {args.rounds} rounds, "
              f"{os.cpu_count()} cores, load of the machine before {load:.1f}, after {os.getloadavg()[0]:.1f}; medians\n")
        print("| program | index | query | query, p99 | memory |\n|---|---|---|---|---|")
        for peer in peers:
            slow = cell([p99(peer.asked)] if peer.asked else [], "ms")
            print(f"| {peer.name} | {cell(peer.indexed, 'ms')} | {cell(peer.asked, 'ms')} | {slow} | {cell(peer.memory, 'MB')} |")
        for line in left_out:
            print(f"\nLeft out: {line}")
        for peer in peers:
            peer.end()


if __name__ == "__main__":
    main()
