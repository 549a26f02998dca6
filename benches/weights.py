#!/usr/bin/env python3
"""Fits the weights of src/search/rank.rs to questions, and tells how well they do on repositories that were left out.

    cortex eval --queries A.jsonl --repos repos --features a.features
    cortex eval --queries B.jsonl --repos other --features b.features
    pip install numpy scipy
    python3 benches/weights.py a.features b.features

Each file is one kind of question and counts alike, however many questions it has. A listwise softmax over the candidates of
a question is fitted with signs held to what a feature can only mean; in four rounds a quarter of the repositories is left
out and scored. The table in rank.rs is the fit, rounded by hand where that changes nothing.
"""
import json
import math
import sys

import numpy as np
from scipy.optimize import minimize

ROUNDS = 4
RIDGE = 0.02
NEGATIVE = {"size", "depth", "document", "ordered_document", "test", "config", "aside"}
# Too rare among the questions to be fitted.
FIXED = {"path"}


def read(path):
    questions = [json.loads(line) for line in open(path)]
    for q in questions:
        q["files"].sort(key=lambda f: f["path"])
    return [q for q in questions if q["files"]]


def ndcg(question, scores):
    ranks = {}
    for rank, i in enumerate(np.argsort(-scores, kind="stable"), 1):
        for target in question["files"][i]["targets"]:
            ranks.setdefault(target, rank)
    gain = sum(1 / math.log2(r + 1) for r in {r for r in ranks.values() if r <= 10})
    return gain / sum(1 / math.log2(i + 2) for i in range(min(10, question["n_targets"])))


def fit(questions, names, weight):
    """The weights that make the targets likely."""
    questions = [q for q in questions if any(f["targets"] for f in q["files"])]
    sizes = [len(q["files"]) for q in questions]
    starts = np.cumsum([0, *sizes[:-1]])
    x = np.array([[f["x"].get(n, 0.0) for n in names] for q in questions for f in q["files"]])
    scale = x.std(0) + 1e-9
    x /= scale
    hit = np.array([bool(f["targets"]) for q in questions for f in q["files"]], float)
    wanted = hit / np.repeat(np.add.reduceat(hit, starts), sizes)
    importance = np.array([weight(q) for q in questions])
    importance = np.repeat(importance / importance.sum(), sizes)

    def loss(w):
        score = x @ w
        score -= np.repeat(np.maximum.reduceat(score, starts), sizes)
        e = np.exp(score)
        p = e / np.repeat(np.add.reduceat(e, starts), sizes)
        value = -(importance * wanted * np.log(p + 1e-30)).sum() + RIDGE * (w @ w) / 2
        return value, -x.T @ (importance * (wanted - p)) + RIDGE * w

    bounds = [(None, 0) if n in NEGATIVE else (0, None) for n in names]
    return minimize(loss, np.zeros(len(names)), jac=True, method="L-BFGS-B", bounds=bounds).x / scale


def main(paths):
    kinds = [read(p) for p in paths]
    everything = [q for kind in kinds for q in kind]
    names = sorted({n for q in everything for f in q["files"] for n in f["x"]} - FIXED)
    size = {id(q): 1 / len(kind) for kind in kinds for q in kind}
    repositories = sorted({q["repo"].lower() for q in everything})
    round_of = {r: i % ROUNDS for i, r in enumerate(repositories)}
    result = {}
    for i in range(ROUNDS):
        w = fit([q for q in everything if round_of[q["repo"].lower()] != i], names, lambda q: size[id(q)])
        for q in everything:
            if round_of[q["repo"].lower()] == i:
                result[id(q)] = ndcg(q, np.array([[f["x"].get(n, 0.0) for n in names] for f in q["files"]]) @ w)
    for path, kind in zip(paths, kinds):
        print(f"{path}: NDCG@10 {np.mean([result[id(q)] for q in kind]):.4f} on repositories left out, {len(kind)} questions")
        for category in sorted({q["category"] for q in kind}):
            print(f"  {category}: {np.mean([result[id(q)] for q in kind if q['category'] == category]):.3f}")
    for name, w in zip(names, fit(everything, names, lambda q: size[id(q)])):
        print(f"{name:20} {w:6.2f}")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1:])
