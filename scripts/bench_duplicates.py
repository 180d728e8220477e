"""Duplicates in a whole collection: simdoc-search beside datasketch, rensa and text-dedup's way, in one run.

    pip install '.[bench,cli]'
    python scripts/bench_duplicates.py pairs FOLDER...        all pairs >= 50 %: time, and recall against exact truth
    python scripts/bench_duplicates.py texts FOLDER...        text to groups, end to end, documents a second and core
    python scripts/bench_duplicates.py growth [COUNT...]      synthetic fingerprints: time, memory, candidate pairs
    python scripts/bench_duplicates.py stars                  10,000 in a chain, of a template, with one boilerplate
    python scripts/bench_duplicates.py fold                   a page of 100 hits, folded: milliseconds
    python scripts/bench_duplicates.py engine URL FOLDER...   the same from an engine, streaming included

Seconds are of the processor. Each peer has the bands that find a pair of the overlap with 99 %, and as many rows as
fit into its permutations. Of the folders at most 12,000 documents are taken, in a seeded random order; none twice for
`pairs`.
"""

from __future__ import annotations

import os

os.environ.update(RAYON_NUM_THREADS="1", OMP_NUM_THREADS="1")

import random
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from bench_duplicates_material import DOCUMENTS, read, synthetic, table_of
from bench_duplicates_peers import (
    OVERLAP,
    RECALL,
    Pairs,
    bands_of_permutations,
    connected,
    shingles,
    timed,
    with_datasketch,
    with_rensa,
)

from simdoc_search import Analysis, Document, SimilaritySearch, fingerprints, open_store
from simdoc_search.attach import fingerprint_fields
from simdoc_search.duplicates import VIA, duplicates_among, fold_near_duplicates
from simdoc_search.duplicates.measures import Measure
from simdoc_search.duplicates.pairs import join
from simdoc_search.duplicates.verification import shingle_hashes
from simdoc_search.passages.exact import jaccard, shingle_set
from simdoc_search.sketch.settings import Settings

GROWTH = (12_000, 100_000, 1_000_000)


# --- pairs ---


def pairs(folders: Sequence[str]) -> None:
    """All pairs of the overlap among fingerprints that are made already."""
    made = {each.words_hash: (text, each) for text, each in
            ((text, each) for texts in [read(folders)] for text, each in
             zip(texts, fingerprints(texts, words_hash=True), strict=True)) if each.shingles}  # fmt: skip
    texts, sketches = [text for text, _ in made.values()], [each for _, each in made.values()]
    order = sorted(range(len(texts)), key=lambda number: -sketches[number].shingles)
    texts, sketches = [texts[each] for each in order], [sketches[each] for each in order]
    truth = exact_pairs(texts)
    print(f"{len(texts)} documents, {len(truth)} pairs of at least {float(OVERLAP):.0%}")
    print(f"{'':<12}{'seconds':>9}{'recall':>9}{'pairs given':>13}{'looked at':>12}")
    table = table_of([each.codes() for each in sketches], [each.shingles for each in sketches])
    measure = Measure("jaccard", OVERLAP)
    found, seconds = timed(lambda: join(table, np.arange(len(texts)), measure, recall=RECALL))
    row("ours", seconds, set(zip(found.first.tolist(), found.second.tolist(), strict=True)), truth, found.looked_at)
    for name, way in (("rensa", with_rensa), ("datasketch", with_datasketch)):
        given, seconds = way([shingles(text) for text in texts])
        row(name, seconds, given, truth, len(given))


def row(name: str, seconds: float, found: Pairs, truth: Pairs, looked_at: int) -> None:
    """One line of the table."""
    print(f"{name:<12}{seconds:>9.2f}{len(found & truth) / max(1, len(truth)):>9.4f}{len(found):>13}{looked_at:>12}")


def exact_pairs(texts: Sequence[str]) -> Pairs:
    """Those whose sets of shingles overlap enough, by all with all."""
    sets = [shingle_hashes([text], Analysis(), (1, 2))[0] for text in texts]
    sizes = np.array([len(each) for each in sets])
    _, columns = np.unique(np.concatenate(sets), return_inverse=True)
    rows = np.repeat(np.arange(len(sets)), sizes)
    matrix = scipy.sparse.csr_matrix((np.ones(len(rows), np.int32), (rows, columns)))
    other = matrix.T.tocsr()
    found: Pairs = set()
    for start in range(0, len(sets), 200):
        shared = (matrix[start : start + 200] @ other).tocoo()
        a, b = shared.row + start, shared.col
        enough = (a < b) & (shared.data >= float(OVERLAP) * (sizes[a] + sizes[b] - shared.data))
        found.update(zip(a[enough].tolist(), b[enough].tolist(), strict=True))
    return found


# --- texts to groups ---


def texts(folders: Sequence[str]) -> None:
    """Text to groups at 80 %; pieces of 2 kB, every tenth of them changed a little and added again."""
    rng = random.Random(2)
    pieces = [text[at : at + 2000] for text in read(folders) for at in range(0, len(text) - 1999, 2000)]
    pieces = rng.sample(pieces, min(len(pieces), DOCUMENTS))
    pieces += [f"{piece[:1000]} changed {piece[1000:]}" for piece in rng.sample(pieces, len(pieces) // 10)]
    rng.shuffle(pieces)
    print(f"{len(pieces)} texts of 2 kB")
    print(f"{'':<12}{'documents/s':>12}{'groups':>9}{'wrong':>8}")
    ways: dict[str, Callable[[], list[list[int]]]] = {
        "ours": lambda: groups_of_ours(pieces, verify=True),
        "ours, est.": lambda: groups_of_ours(pieces, verify=False),
        "rensa": lambda: connected(with_rensa([shingles(each) for each in pieces], Fraction(4, 5))[0], len(pieces)),
        "text-dedup": lambda: connected(bands_of_permutations(pieces, Fraction(4, 5)), len(pieces)),
    }
    for name, way in ways.items():
        groups, seconds = timed(way)
        sets = {number: shingle_set(pieces[number]) for group in groups for number in group}
        wrong = sum(jaccard(sets[group[0]], sets[each]) < 0.8 for group in groups for each in group[1:])
        print(f"{name:<12}{len(pieces) / seconds:>12.0f}{len(groups):>9}{wrong:>8}")


def groups_of_ours(pieces: Sequence[str], *, verify: bool) -> list[list[int]]:
    """The document that stays first."""
    documents = (Document(str(number), each) for number, each in enumerate(pieces))
    found = duplicates_among(documents, verify=verify)
    return [[int(group.kept.id), *(int(each.id) for each in group.duplicates)] for group in found.groups()]


# --- growth ---


def growth(counts: Sequence[str]) -> None:
    """Each size in a process of its own, whose memory is measured."""
    print(f"{'documents':>10}{'overlap':>9}{'seconds':>9}{'looked at':>12}{'pairs':>9}{'recall':>8}{'tokens MB':>11}"
          f"{'peak MB':>9}{'bytes/doc':>11}", flush=True)  # fmt: skip
    for count in counts or GROWTH:
        for overlap in ("1/2", "4/5"):
            subprocess.run([sys.executable, __file__, "grown", str(count), overlap], check=True)


def grown(count: int, overlap: str) -> None:
    """One row."""
    table, near = synthetic(count)
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before = memory("VmRSS")
    found, seconds = timed(
        lambda: join(table, np.arange(len(table.counts)), Measure("jaccard", Fraction(overlap)), recall=RECALL)
    )
    peak = memory("VmHWM")
    wanted = {(a, b) for a, b, share in near if share >= Fraction(overlap) + Fraction(2, 100)}
    given = set(zip(found.first.tolist(), found.second.tolist(), strict=True))
    tokens = table.codes.nbytes / 1e6
    print(f"{count:>10}{float(Fraction(overlap)):>9.0%}{seconds:>9.2f}{found.looked_at:>12}{len(found.first):>9}"
          f"{len(wanted & given) / max(1, len(wanted)):>8.4f}{tokens:>11.0f}{peak:>9.0f}"
          f"{(peak - before) * 1e6 / count:>11.0f}", flush=True)  # fmt: skip


def memory(what: str) -> float:
    """Of this process, in MB."""
    lines = Path("/proc/self/status").read_text("ascii").splitlines()
    return next(int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith(f"{what}:"))


# --- stars ---


def stars(_: Sequence[str]) -> None:
    """What went wrong for others: chains, templates and boilerplate, at 10,000 documents."""
    rng = random.Random(4)
    words = [f"w{rng.randrange(50_000)}" for _ in range(10_000 * 12)]
    foot = " ".join(words[-120:])
    collections = {
        "chain": [" ".join(words[at * 10 : at * 10 + 100]) for at in range(10_000)],
        "template": [f"{' '.join(words[:200])} invoice {number}" for number in range(10_000)],
        "boilerplate": [f"{' '.join(rng.choices(words, k=120))} {foot}" for _ in range(10_000)],
    }
    print(f"{'':<12}{'groups':>8}{'members':>9}{'wrong':>7}{'seconds':>9}  floods")
    for name, pieces in collections.items():
        documents = [Document(f"{number:05}", each) for number, each in enumerate(pieces)]
        found, seconds = timed(partial(duplicates_among, documents, keep="first"))
        wrong = sum(
            jaccard(shingle_set(pieces[int(group.kept.id)]), shingle_set(pieces[int(each.id)])) < 0.8
            for group in found.groups() for each in group.duplicates
        )  # fmt: skip
        print(f"{name:<12}{found.group_count:>8}{found.duplicate_count:>9}{wrong:>7}{seconds:>9.1f}  {found.floods}")


# --- a page of hits ---


def fold(_: Sequence[str]) -> None:
    """100 hits of 400 and 4,000 words, so that not all and all 512 buckets are filled; some are alike."""
    rng = random.Random(5)
    words = [f"w{number}" for number in range(5_000)]
    print(f"{'':<12}{'tokens':>8}{'shown':>7}{'best ms':>9}{'median ms':>11}")
    for words_each in (400, 4_000):
        for name, different in (("none alike", 100), ("half alike", 50), ("all alike", 1)):
            pieces = [" ".join(rng.choices(words, k=words_each)) for _ in range(different)]
            fields = fingerprint_fields([pieces[number % different] for number in range(100)], Settings())
            hits = [{"_id": str(number), "_source": {"simdoc": each}} for number, each in enumerate(fields)]
            took = []
            for _each in range(300):
                began = time.perf_counter()
                shown = fold_near_duplicates(hits)
                took.append(time.perf_counter() - began)
            tokens = sum(each["buckets"] for each in fields if each) / len(fields)
            print(f"{name:<12}{tokens:>8.0f}{len(shown):>7}{1e3 * min(took):>9.2f}{1e3 * sorted(took)[100]:>11.2f}")


# --- engine ---


def engine(arguments: Sequence[str]) -> None:
    """From an index of an engine, which is removed afterwards."""
    place = f"{arguments[0]}/dups-bench"
    pieces = read(arguments[1:])
    stores: Iterator[tuple[str, Any]] = iter(
        [("memory", open_store(":memory:")), ("engine", open_store(place, create=True))]
    )
    try:
        for name, store in stores:
            search = SimilaritySearch(store)
            search.index(Document(f"{number:05}", each) for number, each in enumerate(pieces))
            for via in VIA if name == "engine" else VIA[:1]:
                marks: dict[str, float] = {}
                began = time.perf_counter()
                found = search.duplicates(
                    via=via,
                    progress=lambda stage, _: marks.update({stage: time.perf_counter() - began}),  # noqa: B023
                )
                told = ", ".join(f"{stage} until {at:.1f} s" for stage, at in marks.items())
                print(f"{name} via {via:<8}{found.documents} documents, {found.group_count} groups: {told}")
    finally:
        urllib.request.urlopen(urllib.request.Request(place, method="DELETE")).close()  # noqa: S310


def main() -> None:
    """Run one part."""
    parts: dict[str, Callable[[Sequence[str]], None]] = {
        "pairs": pairs, "texts": texts, "growth": growth, "stars": stars, "fold": fold, "engine": engine,
        "grown": lambda given: grown(int(given[0]), given[1]),
    }  # fmt: skip
    parts[sys.argv[1]](sys.argv[2:])


if __name__ == "__main__":
    main()
