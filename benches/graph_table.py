#!/usr/bin/env python3
"""Prints the tables of specs/graph.md and specs/graph-measured.md from answers of `cortex eval --graph --json`.

Usage: graph_table.py NAME=FILE.json ...
Each file holds the answer for one repository. A row is one language of one repository.
"""

import json
import sys


def share(n, of):
    return f"{n / of:.2f}".lstrip("0") if of and n < of else ("1.00" if of else "–")


def rows(arguments):
    for argument in arguments:
        name, path = argument.split("=", 1)
        with open(path, encoding="utf-8") as file:
            languages = json.load(file)["languages"]
        for language, counts in languages.items():
            if counts["pairs"] >= 100:
                yield name, language, counts


def main(arguments):
    found = sorted(rows(arguments), key=lambda row: (row[1], row[0]))
    print("| repository | pairs | precision | recall | members: precision | recall | called | no caller inferred | not even a candidate |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, language, c in found:
        print(
            f"| {name} ({language}) | {c['pairs']} "
            f"| {share(c['right'], c['right'] + c['wrong'])} | {share(c['right'], c['pairs'])} "
            f"| {share(c['member_right'], c['member_right'] + c['member_wrong'])} | {share(c['member_right'], c['member_pairs'])} "
            f"| {c['called']} | {c['without_caller']} | {c['without_candidate']} |"
        )
    print()
    steps = {}
    for _, language, c in found:
        for start, n, right in c["confidences"]:
            of_language = steps.setdefault(language, {})
            before = of_language.get(start, (0, 0))
            of_language[start] = (before[0] + n, before[1] + right)
    starts = sorted({start for of_language in steps.values() for start in of_language})
    print("| confidence from | " + " | ".join(f"{start:.1f}" for start in starts) + " |")
    print("|---" * (len(starts) + 1) + "|")
    for language, of_language in sorted(steps.items()):
        cells = (of_language.get(start, (0, 0)) for start in starts)
        # Of a few meanings, a share says nothing.
        print(f"| {language} | " + " | ".join(share(right, n) if n >= 20 else "–" for n, right in cells) + " |")


if __name__ == "__main__":
    main(sys.argv[1:])
