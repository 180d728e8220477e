"""The families of versions are those that comparing all documents with all finds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simdoc_search.documents import Place
from simdoc_search.groups import sentences as module
from simdoc_search.groups.collection import AllDocuments
from simdoc_search.groups.sentences import VersionPairs, version_pairs
from simdoc_search.sketch.limits import BITS, Limits
from simdoc_search.sketch.simhash import Simhashes
from simdoc_search.versions.matching import matched, shares_of_pairs

CENTRES = [0x0123456789ABCDEF, 0xFEDCBA9876543210, 0x5555AAAA3333CCCC, 0xFFFFFFFFFFFFFFFF, 0x0F0F3C3C5A5A9999]


@st.composite
def documents(draw: st.DrawFn) -> list[int]:
    """Sentences around few centres, so that many are near, some just so, and some equal."""
    found = []
    for _ in range(draw(st.integers(1, 8))):
        flipped = draw(st.sets(st.integers(0, 63), max_size=BITS + 2))
        found.append(draw(st.sampled_from(CENTRES)) ^ sum(1 << bit for bit in flipped))
    return found


def joined(read: Sequence[Sequence[int]]) -> AllDocuments:
    """Documents as they are read from a store."""
    values = [np.unique(np.array(each, np.uint64)) for each in read]
    counts = np.array([len(each) for each in values], np.int64)
    places = [Place(f"d{number}") for number in range(len(values))]
    return AllDocuments(places, np.concatenate(values), np.cumsum(counts) - counts, counts)


def brute_force(read: Sequence[Sequence[int]], limits: Limits) -> Iterator[tuple[int, int, float]]:
    """Each with each, as `versions` compares two."""
    for a, b in combinations(range(len(read)), 2):
        score = limits.score_of(matched(np.array(read[a], np.uint64), np.array(read[b], np.uint64)))
        if score is not None:
            yield a, b, score


def plain(found: VersionPairs) -> list[tuple[int, int, float]]:
    """The same form."""
    pairs = found.pairs
    rows = zip(pairs.first.tolist(), pairs.second.tolist(), pairs.scores.tolist(), strict=True)
    return list(rows)


@given(st.lists(documents(), min_size=2, max_size=9), st.sampled_from([0.3, 0.5, 0.7, 1.0]))
@settings(max_examples=25)
def test_all_versions_are_found_as_by_brute_force(read: list[list[int]], enough: float) -> None:
    """Whatever share of sentences is enough; the scores are the same too."""
    limits = Limits(enough, min(0.1, enough))
    found = version_pairs(joined(read), limits, lambda _stage, _share: None)

    expected = list(brute_force(read, limits))
    assert [each[:2] for each in expected] == [each[:2] for each in plain(found)]
    assert [each[2] for each in expected] == pytest.approx([each[2] for each in plain(found)])
    assert found.all_near
    assert 0 == found.crowded


@given(st.lists(documents(), min_size=2, max_size=6))
def test_many_pairs_are_compared_as_two_are(read: list[list[int]]) -> None:
    """Their shares, and so their scores, are those of `matched`."""
    made = joined(read)
    first, second = np.array(list(combinations(range(len(read)), 2))).T
    shares = shares_of_pairs(made.sentences, made.begins, made.counts, (first, second))
    expected = [
        matched(np.array(read[a], np.uint64), np.array(read[b], np.uint64)) for a, b in zip(first, second, strict=True)
    ]

    assert [each.share for each in expected] == pytest.approx(shares.share.tolist())
    assert [each.share_of_other for each in expected] == pytest.approx(shares.share_of_other.tolist())
    scores = [-1.0 if (score := Limits().score_of(each)) is None else score for each in expected]
    assert scores == pytest.approx(shares.scores(Limits()).tolist())


def edited(values: Simhashes, bits: int, draw: np.random.Generator) -> list[int]:
    """Each sentence with so many random bits flipped."""
    return [int(each) ^ sum(1 << int(bit) for bit in draw.choice(64, bits, replace=False)) for each in values]


def test_of_many_sentences_a_sample_of_the_near_ones_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Versions with equal sentences are all found; with 20 edited ones nearly all."""
    monkeypatch.setattr(module, "ALL_NEAR", 0)
    draw = np.random.default_rng(5)
    read = []
    for number in range(200):
        values = draw.integers(0, 2**64, 20, dtype=np.uint64)
        read += [values.tolist(), edited(values, 3, draw) if number % 2 else [*values[:12].tolist(), number]]
    found = version_pairs(joined(read), Limits(), lambda _stage, _share: None)
    pairs = set(zip(found.pairs.first.tolist(), found.pairs.second.tolist(), strict=True))

    assert not found.all_near
    assert {(at, at + 1) for at in range(0, 400, 4)} <= pairs
    assert pairs <= {(at, at + 1) for at in range(0, 400, 2)}
    assert len(pairs) >= 198


def test_a_sentence_of_very_many_documents_costs_little_and_is_said() -> None:
    """500 copies are one family, though each is compared with a few; documents that only share a footer are in none."""
    draw = np.random.default_rng(6)
    footer = int(draw.integers(0, 2**63))
    text = draw.integers(0, 2**64, 10, dtype=np.uint64).tolist()
    others = [[*draw.integers(0, 2**64, 9, dtype=np.uint64).tolist(), footer] for _ in range(500)]
    found = version_pairs(joined([[*text, footer]] * 500 + others), Limits(), lambda _stage, _share: None)

    assert {*range(500)} == {*found.pairs.first.tolist(), *found.pairs.second.tolist()}
    assert found.pairs.compared < 500 * 2 * module.ANCHORS
    assert 500 == found.crowded
