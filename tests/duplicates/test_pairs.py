"""Which documents are compared: nearly all pairs of the overlap, whatever their length; and a flood stays linear."""

from __future__ import annotations

from fractions import Fraction
from itertools import chain, pairwise

import numpy as np
import pytest

from simdoc_search.duplicates import pairs as module
from simdoc_search.duplicates.bands import BandPass, passes, shingles_that_fill
from simdoc_search.duplicates.measures import LENGTHS, Measure
from simdoc_search.duplicates.pairs import Joined, join, run_limit
from tests.support.fingerprints import Shingles, pair, shingles, table

SIZES = [1, 2, 3, 5, 8, 13, 20, 35, 60, 100, 170, 300, 500, 1000, 3000]
MANY = 60


def joined(sets: list[Shingles], overlap: str, name: str = "jaccard", **options: object) -> Joined:
    """The pairs of sets of shingles, the first of which would be kept."""
    return join(table(sets), np.arange(len(sets)), Measure(name, Fraction(overlap)), **options)  # type: ignore[arg-type]


def pairs_of(found: Joined) -> set[tuple[int, int]]:
    return set(zip(found.first.tolist(), found.second.tolist(), strict=True))


# --- which pairs are found ---


@pytest.mark.parametrize("overlap", ["1/2", "4/5", "19/20"])
def test_pairs_of_the_overlap_are_found_whatever_their_length(overlap: str) -> None:
    """Of pairs that overlap just as much as asked for, from 1 shingle to 3,000, at least 99 of 100 are compared."""
    rng = np.random.default_rng(4)
    made = [pair(rng, size, float(Fraction(overlap))) for size in SIZES for _ in range(MANY)]
    reaching = {n for n, (a, b) in enumerate(made) if (s := len(np.intersect1d(a, b))) >= Fraction(overlap) * (
        len(a) + len(b) - s)}  # fmt: skip
    found = pairs_of(joined(list(chain.from_iterable(made)), overlap))
    missed = [n for n in reaching if (2 * n, 2 * n + 1) not in found]

    assert len(reaching) > len(made) / 2
    assert len(missed) <= len(reaching) / 100


@pytest.mark.parametrize("size", [20, 80, 400, 2000])
def test_documents_of_different_length_meet(size: int) -> None:
    """One is a part of the other, at just the overlap: the passes reach over each other."""
    rng = np.random.default_rng(5)
    sets: list[Shingles] = []
    for _ in range(MANY):
        whole = shingles(rng, size)
        sets += [whole, whole[: size // 2]]
    found = pairs_of(joined(sets, "1/2"))

    assert MANY - 1 <= sum((2 * n, 2 * n + 1) in found for n in range(MANY))


def test_others_are_not_kept() -> None:
    """Documents that share nothing, or clearly less than asked for, are no pairs."""
    rng = np.random.default_rng(6)
    sets = [*pair(rng, 2000, 0.3), *(shingles(rng, 500) for _ in range(50))]

    assert set() == pairs_of(joined(sets, "4/5"))


def test_lengths_that_rule_an_overlap_out_are_not_looked_at() -> None:
    """A document that is contained in one of twice its length overlaps it by half: for 80 % nothing is counted."""
    rng = np.random.default_rng(7)
    whole = shingles(rng, 1000)

    assert 0 == joined([whole, whole[:500]], "4/5").looked_at
    assert 1 == joined([whole, whole[:900]], "4/5").looked_at


@pytest.mark.parametrize(("name", "count"), [("containment", 1), ("contained", 0), ("jaccard", 0)])
def test_a_part_of_a_longer_document_is_found_by_containment(name: str, count: int) -> None:
    """A third of a document has nothing of its own; the whole is found in it by a third."""
    rng = np.random.default_rng(8)
    whole = shingles(rng, 1500)

    assert count == len(joined([whole, whole[:500]], "9/10", name).first)


def test_a_share_of_a_shorter_document_that_is_kept_is_found_by_contained() -> None:
    """Where the short one is preferred, `contained` asks how much of it the long one has."""
    rng = np.random.default_rng(9)
    whole = shingles(rng, 1500)

    assert 1 == len(joined([whole[:500], whole], "9/10", "contained").first)
    assert 0 == len(joined([whole[:500], whole], "9/10", "containment").first)


def test_the_bands_of_containment_reach_four_times_the_length() -> None:
    """They are planned for the Jaccard similarity that is left there."""
    measure = Measure("containment", Fraction(4, 5))

    assert Fraction(4, 5) / (1 + LENGTHS - Fraction(4, 5)) == measure.planned


def test_only_those_who_are_asked_for_are_paired() -> None:
    """Of three equal documents two."""
    same = shingles(np.random.default_rng(10), 100)
    made = table([same, same, same])

    assert {(0, 2)} == pairs_of(join(made, np.array([0, 2]), Measure("jaccard", Fraction(1))))


@pytest.mark.parametrize("sets", [0, 1])
def test_nothing_to_compare_gives_no_pairs(sets: int) -> None:
    """None, or one document."""
    assert set() == pairs_of(joined([shingles(np.random.default_rng(11), 9)] * sets, "1/2"))


def test_the_estimate_comes_with_each_pair() -> None:
    """Pairs are in order, each once; equal fingerprints have 1."""
    same = shingles(np.random.default_rng(12), 700)
    found = joined([same, same, same], "1/2")

    assert [(0, 1), (0, 2), (1, 2)] == list(zip(found.first.tolist(), found.second.tolist(), strict=True))
    assert [1.0, 1.0, 1.0] == found.estimate.tolist()


# --- plans ---


def test_the_plan_of_the_docstring() -> None:
    """50 % with 99 % in 512 buckets."""
    planned = passes(Fraction(1, 2), Fraction(99, 100), 512)

    assert [(4, 72), (3, 35), (2, 17), (0, 0)] == [(each.rows, each.bands) for each in planned]
    assert [424, 118, 36, 0] == [int(np.ceil(each.least)) for each in planned]
    assert [846, 235, 70] == [int(each.most) for each in planned[1:]]


@pytest.mark.parametrize("percent", [1, 5, 20, 50, 77, 80, 95, 100])
@pytest.mark.parametrize("buckets", [1, 8, 512, 4096])
def test_any_two_lengths_of_the_overlap_meet_in_a_pass(percent: int, buckets: int) -> None:
    """Each pass begins where the one before ends, and reaches over it by the greatest ratio of lengths."""
    planned = passes(Fraction(percent, 100), Fraction(99, 100), buckets)
    for longer, shorter in pairwise(planned):
        assert shorter.most == pytest.approx(longer.least * 100 / percent)
    assert float("inf") == planned[0].most
    assert BandPass(0, 0, 0, planned[-1].most) == planned[-1]


def test_the_shingles_that_fill_buckets() -> None:
    """The inverse of what is filled on average: 512 * (1 - exp(-1)) buckets by 512 shingles."""
    assert 512 == pytest.approx(shingles_that_fill(324, 512), abs=2)
    assert float("inf") == shingles_that_fill(512, 512)


# --- only fresh ones ---


@pytest.mark.parametrize("fresh_from", [0, 1, 60, 119, 120])
def test_only_fresh_documents_are_compared_with_all(fresh_from: int) -> None:
    """The pairs are those of which one document is fresh, and no others are looked at."""
    rng = np.random.default_rng(19)
    sets = [each for n in range(60) for each in pair(rng, 40 + 10 * n, 0.9)]
    mixed = [sets[n] for n in rng.permutation(120)]
    everything, found = joined(mixed, "4/5"), joined(mixed, "4/5", fresh_from=fresh_from)

    assert {each for each in pairs_of(everything) if each[1] >= fresh_from} == pairs_of(found)
    assert found.looked_at <= everything.looked_at
    assert 0 < len(everything.first)


@pytest.mark.parametrize("fresh", [1, 3])
def test_a_fresh_document_is_compared_with_all_of_a_flood(fresh: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few fresh ones cost no more with many than a short run with itself; only the last of the many is near to one."""
    monkeypatch.setattr(module, "RUN_LIMITS", (60, 60))
    rng = np.random.default_rng(20)
    template = shingles(rng, 600)
    many = [np.concatenate((template, shingles(rng, 400))) for _ in range(300)]
    found = joined([*many, *([many[-1]] * fresh)], "3/5", fresh_from=300)

    assert {(299, 300 + n) for n in range(fresh)} <= pairs_of(found)
    assert 0 == found.left_over


@pytest.mark.parametrize("fresh", [4, 150])
def test_what_fresh_documents_are_not_compared_with_is_counted(fresh: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many more than a short run has, each fresh one is compared with some."""
    monkeypatch.setattr(module, "RUN_LIMITS", (10, 10))
    rng = np.random.default_rng(21)
    template = shingles(rng, 600)
    found = joined([np.concatenate((template, shingles(rng, 400))) for _ in range(300)], "3/5", fresh_from=300 - fresh)

    assert found.left_over > 0
    assert set() < set(found.flooded.tolist()) <= set(range(300 - fresh, 300))
    assert found.looked_at < 300 * fresh


# --- floods ---


@pytest.fixture
def small_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Floods begin at 8 documents."""
    monkeypatch.setattr(module, "RUN_LIMITS", (8, 8))


@pytest.mark.usefixtures("small_runs")
def test_a_flood_is_compared_with_a_few() -> None:
    """300 documents of one template: each is paired with the first, and few comparisons are made; that is said."""
    rng = np.random.default_rng(13)
    template = shingles(rng, 600)
    found = joined([np.concatenate((template, shingles(rng, 30))) for _ in range(300)], "4/5")

    assert {(0, other) for other in range(1, 300)} <= pairs_of(found)
    assert found.looked_at < 300 * 30
    assert list(range(300)) == found.flooded.tolist()
    assert 0 == found.left_over


@pytest.mark.usefixtures("small_runs")
def test_what_is_left_over_in_a_flood_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """100 documents that share a boilerplate and are no duplicates: not all are compared with all, and that is said."""
    monkeypatch.setattr(module, "ANCHORS", 2)
    rng = np.random.default_rng(14)
    boilerplate = shingles(rng, 600)
    found = joined([np.concatenate((boilerplate, shingles(rng, 400))) for _ in range(100)], "3/5")

    assert 0 < len(found.flooded)
    assert 0 < found.left_over
    assert found.looked_at < 100 * 99 / 2


def test_boilerplate_in_short_documents_pairs_nobody() -> None:
    """2,000 short documents share a third of their shingles: rare tokens come first, so few are looked at."""
    rng = np.random.default_rng(15)
    boilerplate = shingles(rng, 8)
    found = joined([np.concatenate((boilerplate, shingles(rng, 16))) for _ in range(2000)], "9/10")

    assert set() == pairs_of(found)
    assert found.looked_at < 2000
    assert 0 == len(found.flooded)


def test_the_limit_of_a_run_leaves_room_for_all_pairs() -> None:
    """1,000 of some thousand documents, 64 of many millions; the pairs of all runs take a few hundred MB."""
    assert [1000, 1000, 400, 64, 64] == [run_limit(each) for each in (1, 40_000, 100_000, 1_000_000, 10**9)]


def test_pairs_that_are_known_are_asked_for_no_more() -> None:
    """Of three pairs one is known."""
    same = shingles(np.random.default_rng(16), 50)
    found = joined([same, same, same], "1/2", known=(np.array([0]), np.array([2])))

    assert {(0, 1), (1, 2)} == pairs_of(found)


@pytest.mark.usefixtures("small_runs")
def test_who_is_known_to_be_near_to_one_of_a_flood_is_compared_with_the_next() -> None:
    """All pairs of the first document are known; then the second one is compared with all."""
    same = shingles(np.random.default_rng(18), 300)
    found = joined([same] * 30, "1/2", known=(np.zeros(29, np.int64), np.arange(1, 30)))

    assert {(1, other) for other in range(2, 30)} <= pairs_of(found)
    assert 0 not in found.first


def test_progress_ends_with_all() -> None:
    """It grows, and its last value is 1."""
    shares: list[float] = []
    joined([shingles(np.random.default_rng(17), 900)] * 2, "1/2", progress=shares.append)

    assert sorted(shares) == shares
    assert 1.0 == shares[-1]
