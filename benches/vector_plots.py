#!/usr/bin/env python3
"""Draws the plots of specs/vector-search.md from what the benchmark prints.

    cargo bench --bench vector | tee vector.txt
    python3 benches/vector_plots.py vector.txt specs

`vector-time.svg`: the time of a query by the number of vectors; dashed where it is extrapolated.
`vector-recall.svg`: what the quicker ways find at 100 000 vectors, by their time.
"""
import math
import re
import sys

WIDTH, HEIGHT = 640, 360
LEFT, RIGHT, TOP, BOTTOM = 64, 196, 20, 44
COLOURS = ["#4269d0", "#ff725c", "#6cc5b0", "#9c6b4e"]
UNITS = {"ns": 1e-6, "µs": 1e-3, "us": 1e-3, "ms": 1.0, "s": 1e3}


def read(path):
    """Times in ms and recalls at 10 and 100, by (number of vectors, method)."""
    times, recalls, last = {}, {}, None
    for line in open(path, encoding="utf-8"):
        if named := re.match(r"(\d+)/(.+?)\s*(?:recall: (\S+) (\S+)|time: .*|built .*)?$", line.rstrip()):
            last = (int(named[1]), named[2].strip())
            if named[3]:
                recalls[last] = (float(named[3]), float(named[4]))
        if found := re.search(r"time:\s+\[\S+ \S+ (\S+) (\S+) \S+ \S+\]", line):
            times[last] = float(found[1]) * UNITS[found[2]]
    return times, recalls


class Plot:
    def __init__(self, x, y, x_ticks, y_ticks, x_title, y_title):
        """x, y: (least, greatest, logarithmic?); ticks: (value, label)."""
        self.x, self.y, self.out, self.n = x, y, [], 0
        for value, label in x_ticks:
            at = self.at(value, y[0])
            self.out.append(f'<path class="grid" d="M{at[0]:.0f} {TOP}V{HEIGHT - BOTTOM}"/>')
            self.text(at[0], HEIGHT - BOTTOM + 16, label, "middle")
        for value, label in y_ticks:
            at = self.at(x[0], value)
            self.out.append(f'<path class="grid" d="M{LEFT} {at[1]:.0f}H{WIDTH - RIGHT}"/>')
            self.text(LEFT - 6, at[1] + 4, label, "end")
        self.text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, x_title, "middle")
        self.text(6, 10, y_title, "start")

    def at(self, x, y):
        def share(value, axis):
            least, greatest, is_log = axis
            f = math.log if is_log else float
            return (f(value) - f(least)) / (f(greatest) - f(least))

        return LEFT + share(x, self.x) * (WIDTH - RIGHT - LEFT), HEIGHT - BOTTOM - share(y, self.y) * (HEIGHT - BOTTOM - TOP)

    def text(self, x, y, text, anchor):
        self.out.append(f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}">{text}</text>')

    def line(self, name, points, guessed=()):
        """`guessed`: further points, joined to the last one by a dashed line."""
        colour, self.n = COLOURS[self.n], self.n + 1
        points = [self.at(*p) for p in points]
        further = [points[-1], *[self.at(*p) for p in guessed]] if guessed else []
        for style, part in (("", points), (' stroke-dasharray="5 4"', further)):
            if part:
                d = "L".join(f"{x:.1f} {y:.1f}" for x, y in part)
                self.out.append(f'<path fill="none" stroke="{colour}" stroke-width="2"{style} d="M{d}"/>')
        self.out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in points]
        at = TOP + 18 * self.n
        self.out.append(f'<path stroke="{colour}" stroke-width="2" d="M{WIDTH - RIGHT + 12} {at - 4}h18"/>')
        self.text(WIDTH - RIGHT + 36, at, name, "start")

    def write(self, path):
        style = "text{font:12px sans-serif;fill:#555}.grid{stroke:#ddd}"
        head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}">'
        white = f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>'
        body = "\n".join([head, f"<style>{style}</style>", white, *self.out, "</svg>\n"])
        open(path, "w", encoding="utf-8").write(body)


def main():
    times, recalls = read(sys.argv[1])
    folder = sys.argv[2]
    sizes = sorted({n for n, _ in times})
    largest = sizes[-1]
    ticks = [(n, f"{n:,}".replace(",", " ")) for n in sizes]
    plot = Plot((sizes[0], largest, True), (0.05, 100, True), ticks, [(t, f"{t:g}") for t in (0.1, 1, 10, 100)], "vectors", "ms a query")
    for name, method in (("f32, scanned", "f32"), ("8 bits, scanned", "int8"), ("bits, 2 000 rescored", "bits, 2000 rescored"), ("graph, 300 found", "graph, 300 found")):
        points = [(n, times[n, method]) for n in sizes if (n, method) in times]
        guessed = []
        if points[-1][0] < largest:
            (n0, t0), (n1, t1) = points[-2:]
            guessed = [(largest, t1 * (largest / n1) ** (math.log(t1 / t0) / math.log(n1 / n0)))]
        plot.line(name, points, guessed)
    plot.write(f"{folder}/vector-time.svg")

    n = 100_000
    ways = {kind: sorted((times[key], recalls[key]) for key in recalls if key[0] == n and key[1].startswith(kind)) for kind in ("bits", "graph")}
    slowest = max(t for way in ways.values() for t, _ in way)
    x_ticks = [(t, f"{t:g}") for t in range(int(slowest) + 2)]
    y_ticks = [(r / 100, f".{r}" if r < 100 else "1") for r in range(75, 101, 5)]
    plot = Plot((0, int(slowest) + 1, False), (0.75, 1, False), x_ticks, y_ticks, "ms a query", "recall, " + f"{n:,} vectors".replace(",", " "))
    for kind in ways:
        for i, at in enumerate((10, 100)):
            plot.line(f"{kind}, of the {at} nearest", [(t, r[i]) for t, r in ways[kind]])
    plot.write(f"{folder}/vector-recall.svg")


main()
