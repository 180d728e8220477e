"""Keys for a join by somebody else: alike for documents that overlap, the same in any batch, few for others."""

from __future__ import annotations

import random

import pytest

from simdoc_search import fingerprints
from simdoc_search.duplicates import band_keys
from simdoc_search.errors import QuerySyntaxError
from tests.support.texts import documents, overlapping


@pytest.mark.parametrize(("overlap", "words"), [(0.8, 8), (0.8, 40), (0.8, 200), (0.5, 120)])
def test_documents_of_the_overlap_have_a_key_alike(overlap: float, words: int) -> None:
    """All 60 pairs of it, long ones and short ones; most of others have none."""
    rng = random.Random(f"{overlap}{words}")
    texts = [each for _ in range(60) for each in overlapping(rng, words, overlap)]
    keys = [set(each.tolist()) for each in band_keys(list(fingerprints(texts)), overlap)]

    assert 59 <= sum(bool(a & b) for a, b in zip(keys[::2], keys[1::2], strict=True))
    assert 20 > sum(bool(a & b) for a, b in zip(keys[::2], keys[3::2], strict=False))


def test_keys_do_not_depend_on_the_batch() -> None:
    """As machines that know nothing of each other make them; a text without words has none, and no key comes twice."""
    made = list(fingerprints([*(each.text for each in documents("some", 20, 90)), "..."]))
    together = [each.tolist() for each in band_keys(made, 0.8)]

    assert together == [each.tolist() for one in made for each in band_keys([one], 0.8)]
    assert [] == together[-1]
    assert all(len(set(each)) == len(each) > 0 for each in together[:-1])
    assert [] == band_keys([], 0.8)


def test_a_percentage_is_no_overlap() -> None:
    """The message says so."""
    with pytest.raises(QuerySyntaxError, match="overlap must be a fraction from 0 to 1, not 80"):
        band_keys(list(fingerprints(["some words of a text"])), 80)
