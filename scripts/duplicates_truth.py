"""Measures recall and precision of `duplicates` on folders, against exact overlaps.

    python scripts/duplicates_truth.py FOLDER [FOLDER...]

The exact overlap of each pair that shares a shingle is computed from both sets of shingles. A pair is found if
`pairs()` returns it. A duplicate is wrong if its exact overlap with the kept document is too small.
"""

from __future__ import annotations

import sys
import time
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import combinations

from simdoc_search import SimilaritySearch, open_store
from simdoc_search.corpus import read_corpus
from simdoc_search.passages.exact_overlap import jaccard, shingle_set

OVERLAPS = (50, 80, 90)


def main() -> None:
    """Print a row for each overlap and method."""
    search = SimilaritySearch(open_store(":memory:"))
    report = search.index(read_corpus(sys.argv[1:]))
    print(f"{report.added_count} documents")
    sets = {record.id: shingle_set(record.text or "", search.store.settings.analysis)
            for record in search.store.scan(with_text=True)}  # fmt: skip
    shared = common_shingles(sets)
    print(f"{'overlap':>8}{'method':>10}{'truth':>8}{'found':>8}{'recall':>9}{'precision':>11}{'F1':>9}{'groups':>8}"
          f"{'wrong':>7}{'s':>7}")  # fmt: skip
    for percent in OVERLAPS:
        overlap = Fraction(percent, 100)
        truth = {
            pair for pair, count in shared.items()
            if count >= overlap * (len(sets[pair[0]]) + len(sets[pair[1]]) - count)
        }  # fmt: skip
        for method, verify in (("verified", True), ("estimated", False)):
            began = time.perf_counter()
            found = search.duplicates(overlap=overlap, verify=verify)
            pairs = {(min(pair.a.id, pair.b.id), max(pair.a.id, pair.b.id)) for pair in found.pairs()}
            spent = time.perf_counter() - began
            right = len(pairs & truth)
            recall, precision = right / max(1, len(truth)), right / max(1, len(pairs))
            f1 = 2 * recall * precision / max(1e-9, recall + precision)
            wrong = sum(
                jaccard(sets[group.kept.id], sets[duplicate.id]) < overlap
                for group in found.groups() for duplicate in group.duplicates
            )  # fmt: skip
            print(f"{percent:>6} %{method:>10}{len(truth):>8}{len(pairs):>8}{recall:>9.4f}{precision:>11.4f}{f1:>9.4f}"
                  f"{found.group_count:>8}{wrong:>7}{spent:>7.2f}")  # fmt: skip


def common_shingles(sets: dict[str, frozenset[str]]) -> Counter[tuple[str, str]]:
    """Return the number of common shingles for each pair that has any."""
    owners: dict[str, list[str]] = defaultdict(list)
    for id, shingles in sets.items():
        for shingle in shingles:
            owners[shingle].append(id)
    shared: Counter[tuple[str, str]] = Counter()
    for ids in owners.values():
        shared.update(combinations(sorted(ids), 2))
    return shared


if __name__ == "__main__":
    main()
