#!/usr/bin/env python3
"""Measures a team's depot: publishing many repositories, and questions to a server over them.

    benches/team.py BINARY URL REPOSITORY [REPOSITORY …] [--repositories 100] [--questions 200]

Publishes the given repositories in turn under as many names, changes ten files of one and publishes it
again, then starts `cortex serve --from` and asks it: one repository, one repository at the first
question, and all of them. The binary is built with `--features team`. It removes what it published.
"""

import argparse
import json
import os
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import tempfile
import time
import urllib.request

COPIED = shutil.ignore_patterns(".cortex", "target", "node_modules", ".venv", ".git")
TOKEN = "a token of the benchmark"


def at(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * share))]


def show(label, ms):
    print(f"{label:<42}{len(ms):>5}  p50 {at(ms, .5):8.1f}  p95 {at(ms, .95):8.1f}  p99 {at(ms, .99):8.1f} ms")


def questions(root, n):
    """Returns questions of three words that stand beside each other in some file."""
    random.seed(7)
    files = [f for f in root.rglob("*") if f.is_file() and f.suffix in (".rs", ".py", ".js", ".ts", ".go", ".rb", ".md")]
    found = []
    while len(found) < n:
        words = re.findall(r"[A-Za-z]{4,}", random.choice(files).read_text(errors="ignore"))
        if len(words) > 40:
            start = random.randrange(len(words) - 3)
            found.append(" ".join(words[start:start + 3]))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("url")
    parser.add_argument("repositories", nargs="+", type=pathlib.Path)
    parser.add_argument("--repositories", dest="n", type=int, default=100)
    parser.add_argument("--questions", type=int, default=200)
    args = parser.parse_args()
    binary = os.path.abspath(args.binary)
    with tempfile.TemporaryDirectory() as temporary:
        home = pathlib.Path(temporary)
        env = {"HOME": str(home), "PATH": os.environ["PATH"], "CORTEX_TEAM_URL": args.url}
        run = lambda *words: json.loads(subprocess.run([binary, *words, "--json"], env=env, capture_output=True, check=True).stdout)
        roots = []
        for i, repository in enumerate(args.repositories):
            roots.append(home / f"r{i}")
            shutil.copytree(repository, roots[-1], ignore=COPIED, symlinks=True)
            subprocess.run([binary, "index", "-q", str(roots[-1])], env=env, capture_output=True)
        names = [f"bench/r{i}" for i in range(args.n)]
        start, rows, stored = time.perf_counter(), 0, 0
        for i, name in enumerate(names):
            done = run("publish", "--project", str(roots[i % len(roots)]), "--repo", name)
            rows, stored = rows + done["rows"], stored + done["bytes"]
        seconds = time.perf_counter() - start
        print(f"{args.n} repositories, {rows} rows: published in {seconds:.0f} s, {rows / seconds:.0f} rows/s, {stored / rows:.0f} bytes of facts a row")
        changed = [f for f in roots[0].rglob("*") if f.is_file() and f.suffix in (".rs", ".py", ".js", ".ts", ".go", ".rb")][:10]
        for file in changed:
            file.write_text(file.read_text(errors="ignore") + "\n# changed\n")
        start = time.perf_counter()
        done = run("publish", "--project", str(roots[0]), "--repo", names[0])
        print(f"ten files changed: {time.perf_counter() - start:.2f} s, {done['stored']} files, {done['rows']} rows, {done['bytes']} bytes of facts")
        server = subprocess.Popen([binary, "serve", "--from", "team", "--port", "0"], env={**env, "CORTEX_SERVE_TOKEN": TOKEN}, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        url = server.stdout.readline().strip()

        def ask(query, **more):
            body = json.dumps({"query": query, "limit": 5, **more}).encode()
            request = urllib.request.Request(f"{url}/api/cortex_search", body, {"authorization": f"Bearer {TOKEN}", "content-type": "application/json"})
            start = time.perf_counter()
            answer = json.load(urllib.request.urlopen(request))
            return (time.perf_counter() - start) * 1000, answer

        asked = questions(roots[0], args.questions)
        show("one repository", [ask(q, repos=[names[0]])[0] for q in asked])
        show("the same questions again", [ask(q, repos=[names[0]])[0] for q in asked])
        show("another repository each time", [ask(q, repos=[random.choice(names)])[0] for q in asked])
        show("all repositories", [ask(q)[0] for q in asked])
        status = pathlib.Path(f"/proc/{server.pid}/status").read_text()
        peak = int(re.search(r"VmHWM:\s+(\d+)", status)[1]) / 1024
        resident = int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024
        print(f"server: {resident:.0f} MB resident, {peak:.0f} at its peak")
        server.terminate()
        server.wait()
        for name in names:
            subprocess.run([binary, "team", "remove", name], env=env, capture_output=True)


if __name__ == "__main__":
    main()
