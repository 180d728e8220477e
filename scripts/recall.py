"""Measures recall and precision of FINGERPRINT queries on a corpus folder with `docs/` and `truth.tsv`.

    python scripts/recall.py CORPUS [STORE]    # STORE: a new store; by default in memory

`truth.tsv` has the columns a and b, which contain the ids of pairs of documents. The script computes the exact overlap
of each pair, and compares it with the hits of queries and with the estimate from tokens. A query has a minimum overlap.

    recall      of the pairs with the minimum overlap, the share that the query finds
    clear       recall for pairs whose overlap is greater than the minimum by 3 standard deviations of the estimate
    near        recall for pairs whose overlap is greater than the minimum by less than 3 percentage points
    pairs       number of the pairs that `near` counts
    promised    the probability of finding a pair with the minimum overlap, according to the plan; compare with `near`
    precision   of the hits, the share with the minimum overlap
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
from simdoc_search.passages.exact_overlap import jaccard, shingle_set
from simdoc_search.query import ThresholdPlan
from simdoc_search.query.planner import PLANNERS, Planner
from simdoc_search.query.plans import Plan
from simdoc_search.query.syntax import FingerprintQuery
from simdoc_search.sketch.estimate import compare_token_ids

QUERIES = ((20, None), (50, None), (80, None), (20, 80), (50, 80), (80, 80), (80, 95))
ALL_HITS = 1_000_000

Pairs = dict[tuple[str, str], float]
Sets = dict[str, frozenset[str]]


def main() -> None:
    """Print the tables for one corpus."""
    corpus, store = Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ":memory:"
    search = SimilaritySearch(open_store(store, create=True))
    report = search.index(read_corpus([str(corpus / "docs")]))
    print(
        f"{corpus.name}: {report.added_count} documents, {len(report.skipped)} skipped, {report.seconds:.1f} s to index"
    )
    sets = {record.id: shingle_set(record.text or "") for record in search.store.scan(load={"text"})}
    pairs = exact_overlaps(sets, corpus / "truth.tsv")
    print_error(search, pairs)
    for verify in (True, False):
        method = "by texts" if verify else "estimated"
        print(f"\n{method:<10}{'planner':<9}{'plan':<22}{'recall':>8}{'clear':>8}{'near':>8}{'pairs':>7}"
              f"{'promised':>10}{'precision':>11}{'hits':>9}{'ms':>7}")  # fmt: skip
        for overlap, probability in QUERIES:
            for planner in PLANNERS if probability else PLANNERS[:1]:
                query = FingerprintQuery(
                    "", Fraction(overlap, 100), None if probability is None else Fraction(probability, 100)
                )
                print_recall(search, sets, pairs, query, planner, verify=verify)


def exact_overlaps(sets: Sets, truth: Path) -> Pairs:
    """Return the exact overlap of each pair in the file, in both directions."""
    pairs: Pairs = {}
    with truth.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            a, b = row["a"], row["b"]
            if a in sets and b in sets:
                pairs[a, b] = pairs[b, a] = jaccard(sets[a], sets[b])
    return pairs


def print_error(search: SimilaritySearch, pairs: Pairs) -> None:
    """Print the RMSE and the bias of the estimate."""
    token_ids = {record.id: record.token_ids for record in search.store.scan()}
    errors = []
    for (a, b), overlap in pairs.items():
        if a < b:
            estimated = compare_token_ids(token_ids[a], token_ids[b]).overlap
            errors.append(estimated - overlap)
    array = np.array(errors)
    rmse, bias = math.sqrt(float(np.mean(array**2))), float(np.mean(array))
    print(f"estimate over {len(errors)} pairs: RMSE {rmse:.4f} (goal <= 0.0125), bias {bias:+.4f} (goal within 0.002)")


def print_recall(
    search: SimilaritySearch, sets: Sets, pairs: Pairs, options: FingerprintQuery, planner: Planner, *, verify: bool
) -> None:
    """Print one row of the table. `options` has the overlap and the probability of the queries."""
    overlap, probability = options.overlap or Fraction(0), options.probability
    similar: dict[str, list[tuple[str, float]]] = defaultdict(list)  # documents that must be found, by source
    for (a, b), exact in pairs.items():
        if exact >= overlap:
            similar[a].append((b, exact))
    outcomes: list[tuple[float, bool]] = []  # the exact overlap of a pair, and whether it was found
    hits, correct, seconds, promised = 0, 0, 0.0, []
    largest: Plan = ThresholdPlan((), 0)
    for id, others in similar.items():
        began = time.perf_counter()
        query = FingerprintQuery(id, overlap, probability)
        result = search.similar(query, size=ALL_HITS, planner=planner, verify=verify)
        seconds += time.perf_counter() - began
        ids = {hit.id for hit in result.hits}
        hits += len(ids)
        correct += sum(jaccard(sets[id], sets[other]) >= overlap for other in ids)
        outcomes += [(exact, other in ids) for other, exact in others]
        promised.append(result.plan.probability_of_finding(float(overlap)))
        largest = max(largest, result.plan, key=lambda plan: len(plan.tokens))
    margin = 3 * math.sqrt(float(overlap * (1 - overlap)) / search.store.settings.sketch.slot_count)
    recalled = [is_found for _, is_found in outcomes]
    near = [is_found for exact, is_found in outcomes if exact < overlap + Fraction(3, 100)]
    clear = [is_found for exact, is_found in outcomes if exact >= float(overlap) + margin]
    name = f"_{overlap * 100}" + (f"_{probability * 100}" if probability else "")
    goal = f"{np.mean(promised):.3f}" if probability else "-"
    print(f"{name:<10}{planner if probability else '-':<9}{shape(largest):<22}{share(recalled):>8}"
          f"{share(clear):>8}{share(near):>8}{len(near):>7}{goal:>10}{correct / max(hits, 1):>11.4f}"
          f"{hits / len(similar):>9.1f}{1000 * seconds / len(similar):>7.1f}")  # fmt: skip


def shape(plan: Plan) -> str:
    """Describe a plan."""
    if isinstance(plan, ThresholdPlan):
        return f"{plan.minimum_match} of {len(plan.tokens)}"
    return f"{len(plan.bands)} bands of {plan.tokens_per_band}"


def share(outcomes: list[bool]) -> str:
    """Return the share of values that are true, as text."""
    return f"{sum(outcomes) / len(outcomes):.4f}" if outcomes else "-"


if __name__ == "__main__":
    main()
