#!/usr/bin/env python3
"""Asks who wrote lines that a formatter or a move changed later, and counts the right answers.

usage: benches/why.py CORTEX CLONE...

CORTEX is the program, and each CLONE a clone with a work tree. The lines come from commits that only
formatted (named in .git-blame-ignore-revs, or by their subjects) or that renamed or moved files. The
right answer is what `git blame -w` says in the parent of that commit about the corresponding line. A
line corresponds only if its letters and digits occur once in both versions, so the truth is certain.
Beside `cortex why`, `git blame` and `git blame -w -M -C` answer.
"""

import json
import random
import re
import statistics
import subprocess
import sys
import time

SUBJECT = re.compile(
    r"\b(rustfmt|cargo fmt|clang-format|black|prettier|gofmt|gofumpt|re-?format\w*|run formatter|"
    r"stylua|scalafmt|ktlint|yapf|code style|indentation|white ?space|tabs)\b",
    re.I,
)
PER_CLONE, PER_COMMIT, LEAST = 12, 2, 14
MAX_TRACE = 5


def git(clone, *arguments):
    command = ["git", "-C", clone, "-c", "core.quotePath=false", *arguments]
    out = subprocess.run(command, capture_output=True, timeout=120)
    return out.stdout.decode("utf-8", "replace") if out.returncode == 0 else ""


def letters(text):
    return re.sub(r"[\W_]+", "", text)


class Version:
    """The text of a file in a commit, with the line of each letter."""

    def __init__(self, clone, commit, path):
        self.lines = git(clone, "show", f"{commit}:{path}").split("\n")
        self.letters, self.line_of = [], []
        for number, line in enumerate(self.lines, 1):
            own = letters(line)
            self.letters.append(own)
            self.line_of += [number] * len(own)
        self.letters = "".join(self.letters)

    def place(self, text):
        """The lines that hold the letters of a line, if they occur once."""
        at = self.letters.find(text)
        if at < 0 or self.letters.find(text, at + 1) >= 0:
            return None
        return self.line_of[at], self.line_of[at + len(text) - 1]


def blamed(clone, commit, path, lines, *options):
    first, last = lines
    out = git(clone, "blame", "--porcelain", *options, "-L", f"{first},{last}", commit, "--", path)
    return set(re.findall(r"^([0-9a-f]{40}) \d+ \d+", out, re.M))


def mass_commits(clone):
    ids = set()
    for line in git(clone, "show", "HEAD:.git-blame-ignore-revs").split("\n"):
        ids.update(re.findall(r"^[0-9a-f]{40}", line))
    for line in git(clone, "log", "--no-merges", "--format=%H %s").split("\n"):
        commit, _, subject = line.partition(" ")
        if SUBJECT.search(subject):
            ids.add(commit)
    known = set(git(clone, "rev-list", "--no-merges", "HEAD").split("\n"))
    return ids & known


def moves(clone):
    """Renames with edits, and files whose lines came from another file: commit, before, after."""
    out = git(clone, "log", "--no-merges", "-n", "4000", "-M50%", "--diff-filter=R", "--raw", "--format=@%H")
    commit, found = "", []
    for line in out.split("\n"):
        if line.startswith("@"):
            commit = line[1:]
        elif line.startswith(":"):
            _, before, after = (line.split("\t") + ["", ""])[:3]
            if " R100" not in line and re.search(r"\.(py|rs|c|h|cc|cpp|ts|js|go|rb|java|scala|tsx)$", after):
                found.append((commit, before, after))
    return found


def introduced(clone, commit, text):
    """Whether a commit wrote a line, and did not move it: it removed no such letters anywhere."""
    patch = git(clone, "show", "-U0", "--no-renames", "--format=", commit)
    removed = "".join(letters(line[1:]) for line in patch.split("\n") if re.match(r"-(?!-- )", line))
    return text not in removed


def origin(clone, mass, commit, path, text):
    """What `git blame -w` says before a commit, and before further ones that only formatted."""
    for _ in range(MAX_TRACE):
        place = Version(clone, f"{commit}^", path).place(text)
        if place is None:
            return None
        found = blamed(clone, f"{commit}^", path, place, "-w")
        if len(found) != 1:
            return None
        commit = found.pop()
        if commit not in mass:
            return commit if introduced(clone, commit, text) else None
        if not Version(clone, commit, path).place(text):
            return None
    return None


def questions(clone, random):
    mass = mass_commits(clone)
    formatted = []
    for commit in sorted(mass):
        for line in git(clone, "diff-tree", "-r", "--no-renames", "--diff-filter=M", "--name-only", "--no-commit-id", commit).split("\n"):
            if re.search(r"\.(py|rs|c|h|cc|cpp|ts|js|go|rb|java|scala|tsx)$", line):
                formatted.append((commit, line, line))
    moved = moves(clone)
    random.shuffle(formatted)
    random.shuffle(moved)
    of_commit, found = {}, []
    for kind, cases in (("formatted", formatted), ("moved", moved)):
        n = tries = 0
        for commit, before, after in cases:
            if n >= PER_CLONE // 2 or tries > 150:
                break
            if of_commit.get(commit, 0) >= PER_COMMIT:
                continue
            tries += 1
            if any(part.startswith(".") for part in after.split("/")):
                continue  # hidden files are not answered for
            now = Version(clone, "HEAD", after)
            if len(now.lines) < 5:
                continue
            then, old = Version(clone, commit, after), Version(clone, f"{commit}^", before)
            old_lines = {line.strip() for line in old.lines}
            lines = list(enumerate(then.lines, 1))
            random.shuffle(lines)
            for number, line in lines[:400]:
                text = letters(line)
                if len(text) < LEAST or kind == "formatted" and line.strip() in old_lines:
                    continue
                place, there, here = now.place(text), then.place(text), old.place(text)
                if not (place and there and here) or place[0] != place[1]:
                    continue
                if letters(now.lines[place[0] - 1]) != text:
                    continue
                truth = origin(clone, mass, commit, before, text)
                if truth is None:
                    continue
                found.append((kind, after, place[0], truth, commit, len(now.lines)))
                of_commit[commit] = of_commit.get(commit, 0) + 1
                n += 1
                break
    return found


def main():
    cortex, clones = sys.argv[1], sys.argv[2:]
    right, asked, times, large = {}, {}, [], []
    for clone in clones:
        for kind, path, line, truth, commit, n_lines in questions(clone, random.Random(45)):
            answers = {
                "git blame": blamed(clone, "HEAD", path, (line, line)),
                "git blame -w -M -C": blamed(clone, "HEAD", path, (line, line), "-w", "-M", "-C"),
            }
            start = time.monotonic()
            command = [cortex, "why", "--project", clone, "--json", "--", f"{path}:{line}"]
            out = subprocess.run(command, capture_output=True, text=True)
            took = 1000 * (time.monotonic() - start)
            times.append(took)
            if 1500 <= n_lines <= 3000:
                large.append(took)
            commits = json.loads(out.stdout)["commits"] if out.returncode == 0 else []
            answers["cortex why"] = {commits[0]["id"]} if commits else set()
            asked[kind] = asked.get(kind, 0) + 1
            for name, answer in answers.items():
                right[name, kind] = right.get((name, kind), 0) + (answer == {truth})
            if answers["cortex why"] != {truth}:
                said = commits[0]["id"][:9] if commits else out.stderr.strip()
                print(f"{clone} {kind} {commit[:9]} {path}:{line} is {truth[:9]}, said {said}")
    total = sum(asked.values())
    for name in ("cortex why", "git blame -w -M -C", "git blame"):
        n = sum(right.get((name, kind), 0) for kind in asked)
        parts = ", ".join(f"{kind} {right.get((name, kind), 0)}/{asked[kind]}" for kind in asked)
        print(f"{name}: {n}/{total} = {n / max(total, 1):.2f} ({parts})")
    for what, ms in (("all files", times), ("files of 1500 to 3000 lines", large)):
        if ms:
            print(f"{what}: median {statistics.median(ms):.0f} ms, worst {max(ms):.0f} ms, of {len(ms)}")


if __name__ == "__main__":
    main()
