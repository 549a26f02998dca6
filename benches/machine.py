#!/usr/bin/env python3
"""Measures the server of a machine: many projects, one agent each, with edits and questions.

    benches/machine.py BINARY REPOSITORY [REPOSITORY …] [--projects 30] [--minutes 60] [--pace 0.2]

Copies the repositories, in turn, to as many projects below a temporary home, gives each a function
that no other one has, and starts `cortex mcp` in each. Then it asks and edits at random until the
time is over. It prints the times of answers, what the processes hold, and how many replies were of
another project, which must be none.
"""

import argparse
import json
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import tempfile
import time

QUESTIONS = ["where is the configuration read", "how are errors reported", "parse the arguments"]
COPIED = shutil.ignore_patterns(".cortex", "target", "node_modules", ".venv")


class Agent:
    def __init__(self, binary, root, env):
        start = time.perf_counter()
        self.process = subprocess.Popen(
            [binary, "mcp", "--project", str(root)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env,
        )
        self.n = 0
        client = {"name": "bench", "version": "1"}
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        self.started_ms = (time.perf_counter() - start) * 1000

    def ask(self, method, params):
        self.n += 1
        message = {"jsonrpc": "2.0", "id": self.n, "method": method, "params": params}
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()
        while True:
            answer = json.loads(self.process.stdout.readline())
            if answer.get("id") == self.n:
                return answer

    def search(self, query, **more):
        start = time.perf_counter()
        answer = self.ask("tools/call", {"name": "cortex_search", "arguments": {"query": query, "limit": 5, **more}})
        text = answer["result"]["content"][0]["text"]
        return text, (time.perf_counter() - start) * 1000, answer["result"].get("isError", False)


def resident(pid):
    """Returns the resident, the private and the proportional memory of a process in MB."""
    text = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text()
    value = {line.split(":")[0]: int(line.split()[1]) / 1024 for line in text.splitlines()[1:]}
    return value["Rss"], value["Private_Clean"] + value["Private_Dirty"], value["Pss"]


def descriptors(pid):
    """Returns the numbers of open files, of inotify instances and of watches."""
    n, instances, watches = 0, 0, 0
    for fd in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        try:
            n += 1
            if "inotify" in os.readlink(fd):
                instances += 1
                watches += pathlib.Path(f"/proc/{pid}/fdinfo/{fd.name}").read_text().count("inotify wd")
        except FileNotFoundError:
            pass
    return n, instances, watches


def times(label, values):
    if values:
        values = sorted(values)
        at = lambda share: values[min(len(values) - 1, int(len(values) * share))]
        print(f"{label:<34}{len(values):>7}  p50 {at(.5):8.1f}  p95 {at(.95):8.1f}  p99 {at(.99):8.1f}  max {values[-1]:8.1f} ms")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("repositories", nargs="+", type=pathlib.Path)
    parser.add_argument("--projects", type=int, default=30)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--pace", type=float, default=.2, help="seconds between two actions")
    parser.add_argument("--memory-mb", type=int, default=1024)
    parser.add_argument("--idle-minutes", type=int, default=30)
    args = parser.parse_args()
    binary = os.path.abspath(args.binary)
    with tempfile.TemporaryDirectory() as temporary:
        home = pathlib.Path(temporary)
        env = {
            "HOME": str(home), "PATH": os.environ["PATH"], "CORTEX_SERVE_MEMORY_MB": str(args.memory_mb),
            "CORTEX_SERVE_IDLE_MINUTES": str(args.idle_minutes),
        }
        agents = []
        for i in range(args.projects):
            root = home / "work" / f"project{i}"
            shutil.copytree(args.repositories[i % len(args.repositories)], root, ignore=COPIED, symlinks=True)
            (root / f"only_in_{i}.py").write_text(f"def quetzal_{i}():\n    return {i}\n")
            agents.append((i, root, Agent(binary, root, env)))
        status = lambda: json.loads(subprocess.run([binary, "server", "status", "--json"], env=env, capture_output=True).stdout)
        for _, _, agent in agents:
            agent.search("quetzal", wait_ms=60000)
        print(f"{args.projects} projects, all indexed")
        warm, reopened, edited, wrong, failed = [], [], [], 0, 0
        largest, most = 0, (0, 0, 0)
        end, next_look = time.monotonic() + 60 * args.minutes, 0
        while time.monotonic() < end:
            # Some projects are asked often, others seldom.
            i, root, agent = agents[min(int(random.expovariate(8 / len(agents)) * 2), len(agents) - 1)]
            if random.random() < .1:
                word = f"axolotl_{i}_{random.randrange(10**9)}"
                (root / f"only_in_{i}.py").write_text(f"def quetzal_{i}():\n    return {i}\n\n\ndef {word}():\n    return 1\n")
                text, ms, is_error = agent.search(word, wait_ms=20000)
                edited.append(ms)
                wrong += word not in text and not is_error
            else:
                before = {p["root"]: p["open"] for p in status()["servers"][0]["projects"]} if random.random() < .2 else {}
                query = "quetzal" if random.random() < .5 else random.choice(QUESTIONS)
                text, ms, is_error = agent.search(query)
                (reopened if before.get(str(root)) is False else warm).append(ms)
                wrong += not is_error and query == "quetzal" and f"quetzal_{i}" not in text
            others = [j for j, _, _ in agents if j != i and f"only_in_{j}.py" in text]
            wrong += len(others)
            failed += is_error
            if time.monotonic() > next_look:
                next_look = time.monotonic() + 10
                pid = status()["servers"][0]["pid"]
                largest = max(largest, resident(pid)[0])
                most = tuple(map(max, zip(most, descriptors(pid))))
            time.sleep(random.random() * 2 * args.pace)
        server = status()["servers"][0]
        print(f"open at the end: {sum(p['open'] for p in server['projects'])} of {len(server['projects'])}")
        times("question", warm)
        times("question to a closed project", reopened)
        times("edit until it is found", edited)
        times("start of an agent", [agent.started_ms for _, _, agent in agents])
        rss, private, pss = (statistics.median(v) for v in zip(*(resident(a.process.pid) for _, _, a in agents)))
        print(f"agent's process, median: resident {rss:.1f} MB, private {private:.1f}, proportional {pss:.1f}")
        print(f"server: at most {largest:.0f} MB resident of {args.memory_mb}; now {resident(server['pid'])[0]:.0f}")
        print(f"server: at most {most[0]} descriptors, {most[1]} inotify instances, {most[2]} watches")
        print(f"replies of another project or without the right one: {wrong}; calls that failed: {failed}")
        for _, _, agent in agents:
            agent.process.stdin.close()
        subprocess.run([binary, "server", "stop"], env=env, capture_output=True)
    raise SystemExit(wrong > 0)


if __name__ == "__main__":
    main()
