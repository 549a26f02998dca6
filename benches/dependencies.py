#!/usr/bin/env python3
"""Asks the questions of tests/data/dependencies.jsonl and prints how often the right file is first.

usage: benches/dependencies.py BINARY NAME=FOLDER...

NAME is the project of a question, and FOLDER is where it lies with its dependencies installed. Only
results from packages count, because the best results of the project come before them.
"""

import collections
import json
import pathlib
import subprocess
import sys
import time

QUESTIONS = pathlib.Path(__file__).parent.parent / "tests/data/dependencies.jsonl"


def rank(binary, folder, question):
    """Returns the place of the right file, from 1, or 0; and the time of the command in seconds."""
    start = time.monotonic()
    command = [binary, "search", "--deps", "--json", "-n", "15", "--", question["query"]]
    out = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    took = time.monotonic() - start
    place, last = 0, ""
    seen = []
    for row in json.loads(out.stdout or '{"results": []}')["results"]:
        path = row.get("path", "")
        package, at, rest = path[1:].partition("@")
        if not at or "/" not in rest or path in seen:
            continue
        seen.append(path)
        name = path[0] + package
        below = rest.split("/", 1)[1]
        is_right = any(below == f or below.endswith("/" + f) for f in question["files"])
        if name == question["package"] and is_right:
            place = len(seen)
            break
    return place, took, seen[0] if seen else "nothing"


def main():
    binary = str(pathlib.Path(sys.argv[1]).absolute())
    folders = dict(argument.split("=", 1) for argument in sys.argv[2:])
    places, times = collections.defaultdict(list), []
    for line in QUESTIONS.read_text().splitlines():
        question = json.loads(line)
        folder = folders.get(question["project"])
        if folder is None:
            continue
        place, took, first = rank(binary, folder, question)
        places[question["project"]].append(place)
        times.append(took)
        if place != 1:
            print(f'{place:3} {question["project"]}: {question["query"]} (first: {first})')
    for project, found in sorted(places.items()):
        first = sum(place == 1 for place in found)
        five = sum(1 <= place <= 5 for place in found)
        print(f"{project}: {len(found)} questions, {first} first, {five} in the first five")
    times.sort()
    print(f"median {times[len(times) // 2]:.2f} s, slowest {times[-1]:.2f} s for a command")


if __name__ == "__main__":
    main()
