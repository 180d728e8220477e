"""Measures fingerprints per second on one thread, compared with datasketch and rensa on the same documents.

    pip install '.[bench]'
    python scripts/bench_fingerprint.py PATH...

A PATH is a folder or a file. The table has one row for each. The text is cut into documents of 724 words; if it is too
short, words are drawn from it at random. datasketch and rensa get shingles of `text.lower().split()`. The three
libraries take turns, so that noise affects all equally, and the fastest of 5 rounds is printed.
"""

from __future__ import annotations

import os

os.environ.update(RAYON_NUM_THREADS="1", OMP_NUM_THREADS="1")

import random
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import datasketch
import numpy as np
import rensa

from simdoc_search import fingerprints
from simdoc_search.analysis.word_break import word_spans

WORDS, DOCUMENTS, ROUNDS, SHINGLE = 724, 400, 5, 5


def with_simdoc(texts: Sequence[str]) -> None:
    """Use simdoc-search."""
    for _ in fingerprints(texts):
        pass


def with_rensa(texts: Sequence[str]) -> None:
    """Use RMinHash of rensa with 512 permutations."""
    for text in texts:
        sketch = rensa.RMinHash(num_perm=512, seed=42)
        sketch.update(shingles(text))
        sketch.digest()


def with_datasketch(texts: Sequence[str]) -> None:
    """Use MinHash of datasketch with 512 permutations."""
    for text in texts:
        sketch = datasketch.MinHash(num_perm=512)
        sketch.update_batch([shingle.encode("utf-8") for shingle in shingles(text)])


def shingles(text: str) -> list[str]:
    """Return the shingles for datasketch and rensa."""
    words = text.lower().split()
    return [" ".join(words[start : start + SHINGLE]) for start in range(max(1, len(words) - SHINGLE + 1))]


def documents(path: Path) -> list[str]:
    """Return texts of 724 words from a path, with the characters between the words."""
    files = sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]
    pieces: list[str] = []
    for file in files:
        text = file.read_text("utf-8", "replace")
        starts = word_spans(np.frombuffer(text.encode("utf-32-le"), np.uint32))[0].tolist()
        pieces += [text[a:b] for a, b in zip(starts, [*starts[1:], len(text)], strict=True)]
    generator = random.Random(1)
    if len(pieces) < WORDS * DOCUMENTS:
        pieces = [generator.choice(pieces) for _ in range(WORDS * DOCUMENTS)]
    return ["".join(pieces[start : start + WORDS]) for start in range(0, WORDS * DOCUMENTS, WORDS)]


def main() -> None:
    """Print one row for each path: fingerprints per second, and how many times faster simdoc-search is."""
    libraries: dict[str, Callable[[Sequence[str]], None]] = {
        "simdoc": with_simdoc, "rensa": with_rensa, "datasketch": with_datasketch,
    }  # fmt: skip
    heads = f"{'simdoc/s':>9}{'rensa/s':>9}{'datask./s':>10}{'/ rensa':>9}{'/ datask.':>10}"
    print(f"{'documents':<24}{'chars':>7}{heads}")
    for path in sys.argv[1:]:
        texts = documents(Path(path))
        best = dict.fromkeys(libraries, 0.0)
        for _ in range(ROUNDS):
            for name, run in libraries.items():
                began = time.perf_counter()
                run(texts)
                best[name] = max(best[name], len(texts) / (time.perf_counter() - began))
        characters = sum(map(len, texts)) // len(texts)
        print(f"{'/'.join(Path(path).parts[-2:]):<24}{characters:>7}{best['simdoc']:>9.0f}{best['rensa']:>9.0f}"
              f"{best['datasketch']:>10.0f}{best['simdoc'] / best['rensa']:>9.2f}"
              f"{best['simdoc'] / best['datasketch']:>10.2f}")  # fmt: skip


if __name__ == "__main__":
    main()
