#!/usr/bin/env python3
"""Writes docs/src/transcript.svg: what the real program prints for some commands in this repository.

    cargo build --release && docs/transcript.py target/release/cortex
"""

import html
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COMMANDS = [
    'cortex search "which chunks changed between two sets" -n 1',
    "cortex graph path Indexer::run IndexPlan::new",
]
COLUMNS = 96
LINE = 17  # pixels
CHARACTER = 7.83
COLORS = {"31": "#e06c75", "32": "#98c379", "33": "#e5c07b", "34": "#61afef", "35": "#c678dd", "36": "#56b6c2"}


def answer(program, command):
    """Returns the lines that a command prints, with the codes of their colors."""
    words = re.findall(r'"[^"]*"|\S+', command)
    words = [program] + [word.strip('"') for word in words[1:]] + ["--color", "always"]
    done = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return [cut(line) for line in done.stdout.rstrip("\n").split("\n")]


def cut(line):
    """Cuts a line to the width of the picture. Codes of colors take no room."""
    room, kept = COLUMNS, ""
    for part in re.split(r"(\x1b\[[0-9;]*m)", line):
        if part.startswith("\x1b"):
            kept += part
        elif len(part) <= room:
            kept, room = kept + part, room - len(part)
        else:
            kept, room = kept + part[: max(room - 1, 0)] + ("…" if room else ""), 0
    return kept


def styled(line):
    """Returns a line as SVG: each run of text with its color and weight."""
    spans, fill, bold, dim = "", "", False, False
    for part in re.split(r"(\x1b\[[0-9;]*m)", line):
        if part.startswith("\x1b"):
            for code in part[2:-1].split(";"):
                fill = COLORS.get(code, "" if code in ("", "0", "39") else fill)
                bold = code == "1" or (bold and code not in ("", "0", "22"))
                dim = code == "2" or (dim and code not in ("", "0", "22"))
        elif part:
            style = (f' fill="{fill}"' if fill else "") + (' font-weight="bold"' if bold else "")
            style += ' opacity=".6"' if dim else ""
            spans += f"<tspan{style}>{html.escape(part)}</tspan>"
    return spans


def main():
    program = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "target/release/cortex")
    lines = []
    for command in COMMANDS:
        lines += ["\x1b[32m$\x1b[0m \x1b[1m" + command + "\x1b[0m"] + answer(program, command) + [""]
    lines.pop()
    width, height = int(COLUMNS * CHARACTER) + 32, len(lines) * LINE + 32
    rows = "\n".join(
        f'<text x="16" y="{28 + i * LINE}" xml:space="preserve">{styled(line)}</text>'
        for i, line in enumerate(lines)
    )
    svg = f"""<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">
<rect width="{width}" height="{height}" rx="8" fill="#282c34"/>
<g font-family="ui-monospace, Menlo, Consolas, monospace" font-size="13" fill="#dcdfe4">
{rows}
</g>
</svg>
"""
    (ROOT / "docs/src/transcript.svg").write_text(svg, encoding="utf-8")


main()
