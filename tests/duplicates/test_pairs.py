"""Nearly all pairs with the minimum overlap are found, whatever their length. Long runs have a linear cost."""

from __future__ import annotations

import tracemalloc
from fractions import Fraction
from itertools import chain

import numpy as np
import pytest

from simdoc_search.duplicates import key_files
from simdoc_search.duplicates import pairs as module
from simdoc_search.duplicates.fingerprint_table import FingerprintTable
from simdoc_search.duplicates.measures import Measure
from simdoc_search.duplicates.pairs import JoinedPairs, choose_run_limit, join
from simdoc_search.duplicates.verification import PairOverlaps
from simdoc_search.sketch.tokens import HASH_BITS
from tests.support.fingerprints import BUCKETS, Shingles, pair, shingles, table

SIZES = [1, 2, 3, 5, 8, 13, 20, 35, 60, 100, 170, 300, 500, 1000, 3000]
PAIRS = 40
MAX_BYTES_PER_PAIR = 40  # it is 94 if the documents of all pairs are two arrays of int64


def find_pairs(sets: list[Shingles], overlap: str, name: str = "jaccard", **options: object) -> JoinedPairs:
    """Find the pairs among sets of shingles. Earlier sets are preferred."""
    return join(table(sets), np.arange(len(sets)), Measure(name, Fraction(overlap)), **options)  # type: ignore[arg-type]


def pairs_of(found: JoinedPairs) -> set[tuple[int, int]]:
    return set(zip(found.first.tolist(), found.second.tolist(), strict=True))


def sets_of_template(rng: np.random.Generator, count: int, shared: int, own: int) -> list[Shingles]:
    """Return sets with `shared` common shingles and `own` different shingles each."""
    template = shingles(rng, shared)
    return [np.concatenate((template, shingles(rng, own))) for _ in range(count)]


# --- which pairs are found ---


@pytest.mark.parametrize("overlap", ["1/2", "19/20"])
def test_pairs_with_the_minimum_overlap_are_found_whatever_their_length(overlap: str) -> None:
    """At least 99 % of the pairs with exactly the minimum overlap are found, with 1 to 3,000 shingles."""
    rng = np.random.default_rng(4)
    made = [pair(rng, size, float(Fraction(overlap))) for size in SIZES for _ in range(PAIRS)]
    reaching = {n for n, (a, b) in enumerate(made) if (s := len(np.intersect1d(a, b))) >= Fraction(overlap) * (
        len(a) + len(b) - s)}  # fmt: skip
    found = pairs_of(find_pairs(list(chain.from_iterable(made)), overlap))
    missed = [n for n in reaching if (2 * n, 2 * n + 1) not in found]

    assert len(reaching) > len(made) / 2
    assert len(missed) <= len(reaching) / 100


@pytest.mark.parametrize("size", [20, 80, 400, 2000])
def test_documents_of_different_length_are_paired(size: int) -> None:
    """One document is a part of the other. Their overlap is exactly the minimum."""
    rng = np.random.default_rng(5)
    wholes = [shingles(rng, size) for _ in range(PAIRS)]
    found = pairs_of(find_pairs([side for whole in wholes for side in (whole, whole[: size // 2])], "1/2"))

    assert PAIRS - 1 <= sum((2 * n, 2 * n + 1) in found for n in range(PAIRS))


def test_pairs_with_too_little_overlap_are_not_found() -> None:
    rng = np.random.default_rng(6)

    assert set() == pairs_of(find_pairs([*pair(rng, 2000, 0.3), *(shingles(rng, 500) for _ in range(50))], "4/5"))
    assert set() == pairs_of(find_pairs([], "1/2"))


@pytest.mark.parametrize(
    ("name", "part_first", "part_second"), [("containment", 0, 1), ("reverse_containment", 1, 0), ("jaccard", 0, 0)]
)
def test_a_part_of_a_document_is_found_by_containment(name: str, part_first: int, part_second: int) -> None:
    """The measure `reverse_containment` finds the pair if the part is the preferred document."""
    whole = shingles(np.random.default_rng(8), 1500)
    part = whole[:500]

    assert (part_first, part_second) == tuple(
        len(find_pairs(sets, "9/10", name).first) for sets in ([part, whole], [whole, part])
    )


def test_pairs_are_sorted_and_have_an_estimated_overlap() -> None:
    shares: list[float] = []
    found = find_pairs([shingles(np.random.default_rng(12), 700)] * 3, "1/2", progress=shares.append)

    assert [(0, 1), (0, 2), (1, 2)] == list(zip(found.first.tolist(), found.second.tolist(), strict=True))
    assert [1.0, 1.0, 1.0] == found.estimates.tolist()
    assert sorted(shares) == shares
    assert 1.0 == shares[-1]


# --- new documents ---


@pytest.mark.parametrize("first_new_index", [0, 1, 60, 119, 120])
def test_only_pairs_with_a_new_document_are_found(first_new_index: int) -> None:
    rng = np.random.default_rng(19)
    sets = [side for n in range(60) for side in pair(rng, 40 + 10 * n, 0.9)]
    mixed = [sets[n] for n in rng.permutation(120)]
    everything, found = find_pairs(mixed, "4/5"), find_pairs(mixed, "4/5", first_new_index=first_new_index)

    assert {pair for pair in pairs_of(everything) if pair[1] >= first_new_index} == pairs_of(found)
    assert found.compared_count <= everything.compared_count
    assert 0 < len(everything.first)


@pytest.mark.parametrize("new", [1, 3])
def test_few_new_documents_are_compared_with_a_whole_long_run(new: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the last of 300 old documents overlaps the new ones."""
    monkeypatch.setattr(module, "RUN_LIMIT_RANGE", (60, 60))
    many = sets_of_template(np.random.default_rng(20), 300, 600, 400)
    found = find_pairs([*many, *([many[-1]] * new)], "3/5", first_new_index=300)

    assert {(299, 300 + n) for n in range(new)} <= pairs_of(found)
    assert 0 == found.skipped_comparison_count


# --- long runs ---


@pytest.fixture
def small_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make runs of 9 or more documents long."""
    monkeypatch.setattr(module, "RUN_LIMIT_RANGE", (8, 8))


@pytest.mark.usefixtures("small_runs")
def test_all_documents_of_a_long_run_are_compared_with_the_first() -> None:
    """300 documents with one template need few comparisons."""
    found = find_pairs(sets_of_template(np.random.default_rng(13), 300, 600, 30), "4/5")

    assert {(0, other) for other in range(1, 300)} <= pairs_of(found)
    assert found.compared_count < 300 * 30
    assert list(range(300)) == found.partly_compared_documents.tolist()
    assert 0 == found.skipped_comparison_count


@pytest.mark.usefixtures("small_runs")
def test_skipped_comparisons_in_a_long_run_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """100 documents share boilerplate, but are not duplicates."""
    monkeypatch.setattr(module, "ANCHOR_COUNT", 2)
    found = find_pairs(sets_of_template(np.random.default_rng(14), 100, 600, 400), "3/5")

    assert 0 < len(found.partly_compared_documents)
    assert 0 < found.skipped_comparison_count
    assert found.compared_count < 100 * 99 / 2


def test_short_documents_are_not_paired_by_boilerplate() -> None:
    """2,000 short documents share a third of their shingles. Their rare tokens differ."""
    found = find_pairs(sets_of_template(np.random.default_rng(15), 2000, 8, 16), "9/10")

    assert set() == pairs_of(found)
    assert found.compared_count < 2000
    assert 0 == len(found.partly_compared_documents)


def test_the_limit_of_a_run_bounds_the_memory_of_pairs() -> None:
    assert [1000, 1000, 400, 64, 64] == [choose_run_limit(count) for count in (1, 40_000, 100_000, 1_000_000, 10**9)]


@pytest.mark.parametrize("keys_at_once", [10, 1000])
def test_keys_are_regrouped_so_that_equal_ones_are_together(keys_at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With small parts, they are in temporary files."""
    monkeypatch.setattr(key_files, "_KEYS_AT_ONCE", keys_at_once)
    keys = np.random.default_rng(16).integers(0, 50, 200).astype(np.uint64)
    parts = list(key_files.regroup_by_key([(keys[:90], np.arange(90)), (keys[90:], np.arange(90, 200))], 200))
    places = {key: {number for number, (part, _) in enumerate(parts) if key in part} for key in set(keys.tolist())}
    entries = [entry for part, owners in parts for entry in zip(part.tolist(), owners.tolist(), strict=True)]

    assert sorted(zip(keys.tolist(), range(200), strict=True)) == sorted(entries)
    assert {1} == set(map(len, places.values()))
    assert (len(parts) > 2) == (keys_at_once == 10)


@pytest.mark.slow
def test_each_further_pair_needs_few_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """In sets of 200 documents that all overlap each other, nearly all memory is that of the pairs."""
    monkeypatch.setattr(module, "_PAIRS_AT_ONCE", 1 << 16)
    monkeypatch.setattr(module, "_PAIRS_IN_CACHE", 1 << 14)

    def measure_peak(set_count: int) -> tuple[int, int]:
        tokens = np.repeat(np.random.default_rng(17).integers(0, 512, (set_count, 40), np.uint32), 200, axis=0)
        token_ids = (np.arange(40, dtype=np.uint32) << HASH_BITS | tokens).ravel()
        counts = np.full(len(tokens), 40)
        made = FingerprintTable(token_ids, np.arange(len(tokens)) * 40, counts, counts, BUCKETS)
        pairs = PairOverlaps(Measure("jaccard", Fraction(4, 5)), None)
        tracemalloc.start()
        pairs.add(join(made, np.arange(len(tokens)), Measure("jaccard", Fraction(4, 5))))
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return peak, len(pairs.keys)

    small, large = measure_peak(30), measure_peak(90)

    assert 90 * 199 * 100 == large[1]
    assert (large[0] - small[0]) / (large[1] - small[1]) < MAX_BYTES_PER_PAIR
