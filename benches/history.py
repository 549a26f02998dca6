#!/usr/bin/env python3
"""Asks `cortex history` and `git log --grep` for commits, with questions made from their bodies.

    python3 benches/history.py CORTEX CLONE... [--questions 20] [--save FILE]

A question is the first sentence of a commit's body, and of no other's, with at least six words that
say something, after the words of the subject and everything that looks like code were taken away. The commits are those
with the smallest hashes of their ids, so that every run asks the same. A question counts as answered
when its commit is among the first five. `git log --grep` gets the words that are not stop words, any
of which may match, without regard to case; its answers are ordered by the number of different words
that a message holds, the newest of equals first, which is kinder than git's own order.
"""

import argparse
import hashlib
import json
import re
import statistics
import subprocess
import time
from collections import Counter
from pathlib import Path

FIRST = 5
STOP = set(
    """a about above after again against all also although always am an and any are as at be because been
    before being below between both but by can cannot could did do does doing done down during each either
    even ever every few for from further get gets got had has have having he her here hers him his how
    however i if in instead into is it its itself just let like make makes many may me might more most much
    must my need needs no nor not now of off on once one only or other our out over own per same see set she
    should since so some still such than that the their them then there these they this those though through
    thus to too two under until up upon us use used uses using very via was way we well were what when where
    whether which while who why will with within without would yet you your""".split()
)
TRAILER = re.compile(r"^[A-Z][A-Za-z-]+(-by|-to|-id|: #|es|ed)?: |^(cc|fix(es)?|close[sd]?|ref|see|bug|pr|issue)[ :#]", re.I)
CODE = re.compile(r"[_./\\:<>=(){}\[\]#@|&%$+*~^\d]|[a-z][A-Z]|^[A-Z]{2,}")


def git(clone, *args):
    out = subprocess.run(["git", "-C", str(clone), *args], capture_output=True, check=False)
    return out.stdout.decode("utf-8", "replace")


def stem(word):
    return word.lower()[:5]


def sentences(body):
    """Returns the sentences of a body, without code, trailers and addresses."""
    lines = []
    for line in body.splitlines():
        if re.match(r"(\s{4}|\t|>|\$|[+-]{2})", line):
            continue
        if TRAILER.match(line.strip()) or "://" in line:
            line = ""
        lines.append(re.sub(r"^\s*([-*]|\d+[.)])\s+", "\n\n", line).strip())
    found = []
    for paragraph in re.split(r"\n\s*\n", "\n".join(lines)):
        paragraph = re.sub(r"`[^`]*`|\"[^\"]*\"|'[^' ]*'", " ", paragraph.replace("\n", " "))
        found += re.split(r"(?<=[.!?;])\s+", paragraph)
    return [" ".join(sentence.split()) for sentence in found]


def question(subject, body, told):
    """Returns the words of the first sentence that is a question, or None. `told` counts in how many
    commits each sentence is: one of a template says nothing about a commit."""
    hidden = {stem(word) for word in re.findall(r"[A-Za-z]+", subject)}
    for sentence in sentences(body):
        if told[sentence] > 1:
            continue
        words = []
        for token in sentence.split():
            token = token.strip(".,;:!?()[]{}'\"`*")
            if not token or CODE.search(token) or stem(token) in hidden:
                continue
            words.append(token)
        said = [word for word in words if word.lower() not in STOP and len(word) > 2]
        if len(said) >= 6:
            return " ".join(words[:40])
    return None


def questions(clone, n):
    log = git(clone, "log", "--no-merges", "--format=%x00%H%x01%s%x01%b")
    commits = [entry.split("\x01", 2) for entry in log.split("\0")[1:]]
    told = Counter(sentence for _, _, body in commits for sentence in set(sentences(body)))
    commits.sort(key=lambda c: hashlib.sha256(c[0].encode()).digest())
    found = []
    for commit, subject, body in commits:
        if len(found) == n:
            break
        asked = question(subject, body, told)
        if not asked:
            continue
        files = git(clone, "show", "--no-renames", "--name-only", "--format=", commit).split("\n")
        if 1 <= len([f for f in files if f]) <= 30:
            found.append((commit, asked))
    return found, len(commits)


def by_git(clone, asked):
    words = {w.lower() for w in asked.split() if w.lower() not in STOP and len(w) > 2}
    grep = [f"--grep={word}" for word in sorted(words)]
    start = time.monotonic()
    log = git(clone, "log", "--no-merges", "-F", "-i", *grep, "--format=%x00%H%x01%B")
    ms = (time.monotonic() - start) * 1000
    found = [entry.split("\x01", 1) for entry in log.split("\0")[1:]]
    plain = [commit for commit, _ in found[:FIRST]]
    found.sort(key=lambda c: -sum(word in c[1].lower() for word in words))
    return plain, [commit for commit, _ in found[:FIRST]], ms


def by_cortex(cortex, clone, asked):
    start = time.monotonic()
    out = subprocess.run(
        [cortex, "history", "--json", "--limit", str(FIRST), "--", asked],
        cwd=clone, capture_output=True, check=False,
    )
    ms = (time.monotonic() - start) * 1000
    if out.returncode > 1:
        raise SystemExit(out.stderr.decode())
    return [commit["id"] for commit in json.loads(out.stdout)["commits"]], ms


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cortex")
    parser.add_argument("clones", nargs="+", type=Path)
    parser.add_argument("--questions", type=int, default=20, help="of each clone")
    parser.add_argument("--save", type=Path, help="where the questions and ranks go, as JSON lines")
    args = parser.parse_args()
    ask = ["cortex", "git log", "by words"]
    found = {name: [] for name in ask}
    times = {name: [] for name in ask}
    rows = []
    print(f"{'clone':<20}{'commits':>8}" + "".join(f"{name:>10}" for name in ask))
    for clone in args.clones:
        asked, n = questions(clone, args.questions)
        here = {name: [] for name in ask}
        for commit, text in asked:
            row = {"clone": clone.name, "commit": commit, "question": text}
            own, ms = by_cortex(args.cortex, clone, text)
            plain, ordered, git_ms = by_git(clone, text)
            for name, answer, ms in zip(ask, (own, plain, ordered), (ms, git_ms, git_ms)):
                rank = answer.index(commit) + 1 if commit in answer else None
                here[name].append(rank is not None)
                times[name].append(ms)
                row[name] = rank
            rows.append(row)
        for name in ask:
            found[name] += here[name]
        print(f"{clone.name[:19]:<20}{n:>8}" + "".join(f"{sum(here[name]):>7}/{len(asked):<2}" for name in ask))
    for name in ask:
        share = sum(found[name]) / max(len(found[name]), 1)
        print(f"{name}: {share:.3f} of {len(found[name])} in the first {FIRST}; {statistics.median(times[name]):.0f} ms")
    if args.save:
        args.save.write_text("".join(json.dumps(row) + "\n" for row in rows))


if __name__ == "__main__":
    main()
