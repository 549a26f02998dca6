"""Answers lines of JSON for measure.py: makes a semble index of a folder, and asks it.

    semble_server.py REPOSITORY MODEL

If the folder MODEL does not exist, a model of random vectors is made there: 256 numbers for each of
the most frequent words of the repository, which take as much time as learned ones.
"""

import collections
import importlib.metadata
import json
import pathlib
import re
import sys
import time

WORDS = 30_000
DIMENSIONS = 256


def make_model(repository, to):
    import numpy
    from model2vec import StaticModel
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    counts = collections.Counter()
    for path in repository.rglob("*"):
        if path.is_file() and ".cortex" not in path.parts and path.stat().st_size < 1 << 20:
            counts.update(re.findall(r"[a-z]+", path.read_text(errors="replace").lower()))
    vocabulary = ["[PAD]", "[UNK]"] + [word for word, _ in counts.most_common(WORDS)]
    tokenizer = Tokenizer(models.WordPiece({word: i for i, word in enumerate(vocabulary)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    vectors = numpy.random.default_rng(1).standard_normal((len(vocabulary), DIMENSIONS)).astype("float32")
    StaticModel(vectors, tokenizer).save_pretrained(str(to))


def main():
    repository, model = map(pathlib.Path, sys.argv[1:])
    from semble import SembleIndex

    if not model.exists():
        make_model(repository, model)
    build = lambda: SembleIndex.from_path(str(repository), model_path=str(model))
    # The first index also imports what it needs, and loads the model.
    index = build()
    for line in sys.stdin:
        message = json.loads(line)
        start = time.perf_counter()
        if message["do"] == "index":
            index = build()
        elif message["do"] == "ask":
            index.search(message["question"], top_k=10)
        answer = {"id": message["id"], "seconds": time.perf_counter() - start, "version": importlib.metadata.version("semble")}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
