"""Measures what FINGERPRINT queries promise, on a corpus folder with `docs/` and `truth.tsv`.

    python scripts/recall.py CORPUS [STORE]    # a new store in memory, or at a path or an address

`truth.tsv` names pairs of documents to look at (columns a and b; further columns are not used). Their exact overlap is
computed here, with our own analysis, and compared with what the queries find and what the tokens estimate.

    recall of _20      share of the pairs with exact overlap >= 20 % that the query lists
    clear of it        the same for pairs beyond the estimate's error (3 standard deviations above the threshold)
    at the overlap     the same for pairs within 3 points above it: what the probability promises
    precision          share of the hits whose exact overlap reaches the one asked for
"""

from __future__ import annotations

import csv
import math
import sys
import time
from collections import defaultdict
from fractions import Fraction
from pathlib import Path

import numpy as np

from simdoc_search import SimilaritySearch, open_store
from simdoc_search.corpus import read_corpus
from simdoc_search.passages.exact import jaccard, shingle_set
from simdoc_search.query import Threshold
from simdoc_search.query.planner import PLANNERS, Planner
from simdoc_search.query.plans import Plan
from simdoc_search.query.syntax import FingerprintQuery
from simdoc_search.sketch.estimate import shared_and_union
from simdoc_search.sketch.tokens import hash_bits

QUERIES = ((20, None), (50, None), (80, None), (20, 80), (50, 80), (80, 80), (80, 95))
EVERYTHING = 1_000_000

Pairs = dict[tuple[str, str], float]
Sets = dict[str, frozenset[str]]


def main() -> None:
    """Print the tables for one corpus."""
    corpus, store = Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ":memory:"
    search = SimilaritySearch(open_store(store, create=True))
    report = search.index(read_corpus([str(corpus / "docs")]))
    print(f"{corpus.name}: {report.indexed} documents, {len(report.skipped)} skipped, {report.seconds:.1f} s to index")
    sets = {record.id: shingle_set(record.text or "") for record in search.store.scan(text=True)}
    pairs = exact_overlaps(sets, corpus / "truth.tsv")
    print_error(search, pairs)
    for verify in (True, False):
        how = "by texts" if verify else "estimated"
        print(f"\n{how:<10}{'planner':<9}{'plan':<22}{'recall':>8}{'clear':>8}{'at it':>8}{'pairs':>7}"
              f"{'promised':>10}{'precision':>11}{'hits':>9}{'ms':>7}")  # fmt: skip
        for overlap, probability in QUERIES:
            for planner in PLANNERS if probability else PLANNERS[:1]:
                query = FingerprintQuery(
                    "", Fraction(overlap, 100), None if probability is None else Fraction(probability, 100)
                )
                print_recall(search, sets, pairs, query, planner, verify=verify)


def exact_overlaps(sets: Sets, truth: Path) -> Pairs:
    """The exact overlap of every named pair, in both directions."""
    pairs: Pairs = {}
    with truth.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            a, b = row["a"], row["b"]
            if a in sets and b in sets:
                pairs[a, b] = pairs[b, a] = jaccard(sets[a], sets[b])
    return pairs


def print_error(search: SimilaritySearch, pairs: Pairs) -> None:
    """RMSE and bias of the estimate."""
    settings = search.store.settings
    codes = {record.id: record.codes for record in search.store.scan()}
    errors = []
    for (a, b), overlap in pairs.items():
        if a < b:
            shared, union = shared_and_union(codes[a], codes[b], hash_bits(settings.minhash))
            errors.append(shared / union - overlap)
    array = np.array(errors)
    rmse, bias = math.sqrt(float(np.mean(array**2))), float(np.mean(array))
    print(f"estimate over {len(errors)} pairs: RMSE {rmse:.4f} (goal <= 0.0125), bias {bias:+.4f} (goal within 0.002)")


def print_recall(
    search: SimilaritySearch, sets: Sets, pairs: Pairs, asked: FingerprintQuery, planner: Planner, *, verify: bool
) -> None:
    """One row of the table."""
    overlap, probability = asked.overlap or Fraction(0), asked.probability
    wanted: dict[str, list[tuple[str, float]]] = defaultdict(list)
    for (a, b), exact in pairs.items():
        if exact >= overlap:
            wanted[a].append((b, exact))
    outcomes: list[tuple[float, bool]] = []
    hits, right, spent, promised = 0, 0, 0.0, []
    largest: Plan = Threshold((), 0)
    for id, others in wanted.items():
        began = time.perf_counter()
        query = FingerprintQuery(id, overlap, probability)
        result = search.similar(query, size=EVERYTHING, planner=planner, verify=verify)
        spent += time.perf_counter() - began
        ids = {hit.id for hit in result.hits}
        hits += len(ids)
        right += sum(jaccard(sets[id], sets[each]) >= overlap for each in ids)
        outcomes += [(exact, other in ids) for other, exact in others]
        promised.append(result.plan.probability_of_finding(float(overlap)))
        largest = max(largest, result.plan, key=lambda plan: len(plan.tokens))
    margin = 3 * math.sqrt(float(overlap * (1 - overlap)) / search.store.settings.minhash.places)
    at = [was for exact, was in outcomes if exact < overlap + Fraction(3, 100)]
    clear = [was for exact, was in outcomes if exact >= float(overlap) + margin]
    name = f"_{overlap * 100}" + (f"_{probability * 100}" if probability else "")
    goal = f"{np.mean(promised):.3f}" if probability else "-"
    print(f"{name:<10}{planner if probability else '-':<9}{shape(largest):<22}{share([was for _, was in outcomes]):>8}"
          f"{share(clear):>8}{share(at):>8}{len(at):>7}{goal:>10}{right / max(hits, 1):>11.4f}"
          f"{hits / len(wanted):>9.1f}{1000 * spent / len(wanted):>7.1f}")  # fmt: skip


def shape(plan: Plan) -> str:
    """A plan in a few words."""
    if isinstance(plan, Threshold):
        return f"{plan.minimum_match} of {len(plan.tokens)}"
    return f"{len(plan.bands)} bands of {plan.rows}"


def share(outcomes: list[bool]) -> str:
    """How many are true, as text."""
    return f"{sum(outcomes) / len(outcomes):.4f}" if outcomes else "-"


if __name__ == "__main__":
    main()
