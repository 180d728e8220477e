"""Measure what near-duplicates and old versions cost a retriever. Print the table of docs/rag.md.

    python scripts/bench_rag.py

The corpus is generated: 300 policies of 8 sections of 120 words, each in 1 to 4 dated versions that change 2 % of the
words, and half of the files saved twice. A question is 12 words of a section. The retriever ranks by shared rare words.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from typing import NamedTuple

import numpy as np

from simdoc_search import ShownHit, ShownVersion, fold_near_duplicates, fold_older_versions
from simdoc_search.dedupe import DedupeOptions, deduplicate
from simdoc_search.versions import DateSources

TOP, CANDIDATES, QUESTIONS = 10, 50, 300


class Chunk(NamedTuple):
    """A section of a file. Chunks with the same `section` have the same content, in some version."""

    file: str
    section: tuple[int, int]
    is_newest: bool
    text: str


def make_chunks(rng: random.Random) -> list[Chunk]:
    """Return the chunks of all files."""
    vocabulary = [f"word{number}" for number in range(8_000)]
    chunks = []
    for policy in range(300):
        sections = [rng.choices(vocabulary, k=120) for _ in range(8)]
        count = rng.choice((1, 1, 2, 3, 4))
        for version in range(count):
            if version:
                sections = [[rng.choice(vocabulary) if rng.random() < 0.02 else word for word in s] for s in sections]
            name = f"policy{policy}_{2024 - count + version + 1}-03-01"
            for file in (f"{name}.txt", f"backup/{name}.txt")[: rng.choice((1, 2))]:
                for number, words in enumerate(sections):
                    chunks.append(Chunk(file, (policy, number), version == count - 1, " ".join(words)))
    return chunks


def retrieve(chunks: list[Chunk], rng: random.Random) -> list[list[Chunk]]:
    """Return the best chunks for each question."""
    words = [set(chunk.text.split()) for chunk in chunks]
    frequencies = Counter(word for of_chunk in words for word in of_chunk)
    results = []
    for _ in range(QUESTIONS):
        text = rng.choice(chunks).text.split()
        begin = rng.randrange(len(text) - 12)
        weights = {word: np.log(len(chunks) / frequencies[word]) for word in text[begin : begin + 12]}
        scores = [sum(weights[word] for word in weights.keys() & of_chunk) for of_chunk in words]
        best = sorted(range(len(chunks)), key=lambda number: -scores[number])[:CANDIDATES]
        results.append([chunks[number] for number in best])
    return results


def report(name: str, shown: list[list[Chunk]], milliseconds: float | None = None) -> None:
    """Print one row of the table."""
    pages = [page[:TOP] for page in shown]
    different = sum(len({chunk.section for chunk in page}) for page in pages) / len(pages)
    old = sum(not chunk.is_newest for page in pages for chunk in page) / sum(map(len, pages))
    took = "" if milliseconds is None else f"{milliseconds:.1f} ms"
    print(f"| {name} | {different:.1f} | {old:.0%} | {took} |")


def main() -> None:
    """Print the table."""
    rng = random.Random(4)
    chunks = make_chunks(rng)
    rows = [{"file": chunk.file, "number": number, "text": chunk.text} for number, chunk in enumerate(chunks)]
    began = time.process_time()
    kept = deduplicate(rows, DedupeOptions(text="text", overlap=1)).data
    seconds = time.process_time() - began
    kept_chunks = [chunks[row["number"]] for row in kept]
    print(f"{len(chunks):,} chunks; {len(kept_chunks):,} without copies, in {seconds:.1f} s of processor time")
    print(f"| | different sections in the first {TOP} | old versions | time per question |\n|---|---|---|---|")
    report("all chunks", retrieve(chunks, random.Random(1)))
    found = retrieve(kept_chunks, random.Random(1))
    report("copies removed before embedding", found)
    began = time.process_time()
    folded: list[list[ShownHit]] = [fold_near_duplicates(page, 0.6, key=lambda chunk: chunk.text) for page in found]
    took = 1e3 * (time.process_time() - began) / QUESTIONS
    report("and near-duplicates folded", [[hit for hit, _ in page] for page in folded], took)
    began = time.process_time()
    newest: list[list[ShownVersion]] = [
        fold_older_versions(page, lambda chunk: DateSources(chunk.file), 0.6, key=lambda chunk: chunk.text)
        for page in found
    ]
    took = 1e3 * (time.process_time() - began) / QUESTIONS
    report("and only the newest version", [[version.hit for version in page] for page in newest], took)


if __name__ == "__main__":
    main()
