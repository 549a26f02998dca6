#!/usr/bin/env python3
"""Replaces the parse tables in a program for Linux by their compressed form: `pack.py PROGRAM OUT`.

PROGRAM was built with BUILD_PACKED=1 and has its symbols. OUT has none, is smaller by 60 MB, and unpacks
a table when it is first used (src/languages/packed.rs). Both must find the same in the sample of every language.
Needs `strip` and `zstd`.
"""

import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

SECTION = ".ts_tables"
TABLES = ("ts_parse_table", "ts_small_parse_table")
MAGIC = b"CTX1"
ROOM = 0x400000  # as in tables.ld
PAGE = 4096
LOAD, WRITABLE, READABLE = 1, 2, 4


class Elf:
    """A 64-bit little-endian ELF file."""

    def __init__(self, data):
        if data[:6] != b"\x7fELF\x02\x01":
            sys.exit("error: the program is no 64-bit little-endian ELF file")
        self.data = bytearray(data)
        self.phoff, self.shoff = struct.unpack_from("<QQ", data, 32)
        self.phnum, _, self.shnum, names = struct.unpack_from("<HHHH", data, 56)
        self.names = self.section(names)

    def section(self, i):
        """Returns name, type, flags, address, offset, size, link, info, alignment, entry size."""
        return struct.unpack_from("<IIQQQQIIQQ", self.data, self.shoff + 64 * i)

    def name(self, section):
        start = self.names[4] + section[0]
        return self.data[start : self.data.index(0, start)].decode()

    def find(self, name):
        for i in range(self.shnum):
            if self.name(self.section(i)) == name:
                return i, self.section(i)
        sys.exit(f"error: the program has no section {name}: build it with BUILD_PACKED=1")

    def symbols(self):
        """Yields name, address and size of each symbol."""
        _, table = self.find(".symtab")
        strings = self.section(table[6])[4]
        for at in range(table[4], table[4] + table[5], 24):
            name, _, _, _, address, size = struct.unpack_from("<IBBHQQ", self.data, at)
            start = strings + name
            yield self.data[start : self.data.index(0, start)].decode(), address, size


def compressed(data):
    return subprocess.run(["zstd", "-19", "-q", "-c"], input=data, stdout=subprocess.PIPE, check=True).stdout


def check(program, packed):
    """Ends with a message unless both programs parse every language alike."""
    samples = Path(__file__).resolve().parent.parent.glob("src/languages/*/*.*.txt")
    with tempfile.TemporaryDirectory() as project:
        names = []
        for sample in sorted(samples):
            shutil.copy(sample, Path(project, sample.stem))
            names.append(sample.stem)
        answers = []
        for path in (program, packed):
            done = [subprocess.run([path.resolve(), "outline", name], cwd=project, stdout=subprocess.PIPE) for name in names]
            answers.append([(one.returncode, one.stdout) for one in done])
            shutil.rmtree(Path(project, ".cortex"))
    for name, a, b in zip(names, *answers):
        if a != b or a[0]:
            sys.exit(f"error: the packed program parses {name} in another way")
    if len(names) < 30:
        sys.exit("error: the samples of the languages are missing")


def main():
    program, out = map(Path, sys.argv[1:3])
    whole = Elf(program.read_bytes())
    start = whole.find(SECTION)[1][4]
    if whole.data[start : start + len(MAGIC)] == MAGIC:
        shutil.copy(program, out)
        return
    subprocess.run(["strip", "-o", out, program], check=True)
    elf = Elf(out.read_bytes())
    index, (_, _, _, address, offset, size, *_) = elf.find(SECTION)
    if whole.find(SECTION)[1][3] != address:
        sys.exit("error: strip moved the tables")
    tables = sorted({(a - address, n) for name, a, n in whole.symbols() if name in TABLES and n})
    if not tables or any(at < ROOM or at + n > size for at, n in tables):
        sys.exit("error: the tables are not in their section: the linker did not follow release/tables.ld")
    at, frames, rows = len(MAGIC) + 4 + 16 * len(tables), b"", b""
    for place, n in tables:
        frame = compressed(bytes(elf.data[offset + place : offset + place + n]))
        rows += struct.pack("<IIII", place, n, at + len(frames), len(frame))
        frames += frame
    packed = MAGIC + struct.pack("<I", len(tables)) + rows + frames
    if len(packed) > ROOM:
        sys.exit(f"error: the compressed tables take {len(packed)} bytes: enlarge the room in tables.ld and pack.py")
    # What follows in the file moves by whole pages.
    packed += bytes((size - len(packed)) % PAGE)
    removed = size - len(packed)
    for i in range(elf.phnum):
        header = elf.phoff + 56 * i
        kind, flags, start, at, physical, in_file, in_memory, align = struct.unpack_from("<IIQQQQQQ", elf.data, header)
        if kind == LOAD and at <= address < at + in_memory:
            if start + in_file != offset + size:
                sys.exit("error: something follows the tables in their segment: the linker did not follow release/tables.ld")
            flags, in_file = READABLE | WRITABLE, in_file - removed
        elif start > offset:
            start -= removed
        struct.pack_into("<IIQQQQQQ", elf.data, header, kind, flags, start, at, physical, in_file, in_memory, align)
    for i in range(elf.shnum):
        header = list(elf.section(i))
        if i == index:
            header[5] = len(packed)
        elif header[4] > offset:
            header[4] -= removed
        struct.pack_into("<IIQQQQIIQQ", elf.data, elf.shoff + 64 * i, *header)
    struct.pack_into("<Q", elf.data, 40, elf.shoff - removed if elf.shoff > offset else elf.shoff)
    out.write_bytes(elf.data[:offset] + packed + elf.data[offset + size :])
    out.chmod(0o755)
    check(program, out)
    print(f"{out}: {len(elf.data) - removed} bytes, {sum(n for _, n in tables)} bytes of tables as {len(rows + frames)}")


main()
