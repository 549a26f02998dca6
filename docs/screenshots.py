#!/usr/bin/env python3
"""Writes docs/src/page/: each view of the page of `cortex serve` in a clone of this repository with a few memories, light and dark, on a screen and a phone.

    cargo build --release && target/clients/venv/bin/python docs/screenshots.py target/release/cortex

Needs what tests/it/clients/install.sh installs, and Pillow: target/clients/venv/bin/pip install pillow==13.0.0. A view is a line of VIEWS in tests/it/clients/chromium.py."""

import subprocess
import sys
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/it/clients"))
from chromium import VIEWS, WIDTHS, Tab, chromium, served

FOLDER = ROOT / "docs/src/page"
MOST_BYTES = 1_500_000
# The letters stay sharp, and a picture takes a quarter of the bytes.
COLOURS = 64
# Where this copy is on this machine is of no interest.
# What agents could have remembered here.
MEMORIES = [
    ["--pin", "Releases are cut from main; a tag on a branch is a mistake"],
    ["--name", "one manifest", "We write the manifest last, in src/store/writer.rs, because a reader that sees it sees a complete generation"],
    ["`ChunkManager::reload` in src/live/manager.rs publishes one snapshot for all feeds"],
]
HIDE = """(root) => document.querySelectorAll("main dd").forEach((e) => (e.textContent = e.textContent.replace(root, "~/cortex")))"""


def main(program="target/release/cortex"):
    pictures = {}
    program = str(Path(program).absolute())
    with TemporaryDirectory() as folder:
        clone = Path(folder) / "cortex"
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        for memory in MEMORIES:
            subprocess.run([program, "memory", "add", *memory], cwd=clone, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        subprocess.run([program, "index"], cwd=clone, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        take(program, clone, pictures)
    total = sum(map(len, pictures.values()))
    print(f"{len(pictures)} pictures, {total} bytes")
    if total > MOST_BYTES:
        sys.exit(f"that is more than {MOST_BYTES}")
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob("*.webp"):
        old.unlink()
    for name, content in pictures.items():
        (FOLDER / name).write_bytes(content)


def take(program, root, pictures):
    """Adds the pictures of each view of a project, by their names."""
    with served(program, root) as base, chromium() as browser:
        for dark in [False, True]:
            for size in WIDTHS:
                tab = Tab(browser, base, size=size, dark=dark)
                for view in VIEWS:
                    tab.open(view.address, view.shows)
                    tab.page.evaluate(HIDE, str(root))
                    picture = Image.open(BytesIO(tab.page.screenshot())).convert("RGB")
                    few = picture.quantize(COLOURS, dither=Image.Dither.NONE).convert("RGB")
                    few.save(written := BytesIO(), "WEBP", lossless=True, quality=100, method=6)
                    pictures[f"{view.name}-{size}-{'dark' if dark else 'light'}.webp"] = written.getvalue()
                for wrong in tab.close():
                    sys.exit(f"{size}, dark {dark}: {wrong}")


main(*sys.argv[1:])
