"""Tests of the plan of passes, and of band keys for a join in a data frame or a database."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest

from simdoc_search import fingerprints
from simdoc_search.duplicates import band_keys
from simdoc_search.duplicates.bands import BandingPass, plan_passes
from simdoc_search.errors import QuerySyntaxError
from tests.support.texts import documents, overlapping


def test_the_plan_of_passes_is_the_example_in_the_docstring() -> None:
    passes = plan_passes(Fraction(1, 2), 512)

    assert [(4, 108), (3, 52), (2, 25), (0, 0)] == [(band.rows_per_band, band.band_count) for band in passes]
    assert [951, 187, 53, 0] == [int(np.ceil(band.min_shingles)) for band in passes]
    assert [1900, 372, 105] == [int(band.max_shingles) for band in passes[1:]]


def test_two_documents_with_the_overlap_take_part_in_a_common_pass() -> None:
    """The size ranges of consecutive passes overlap by the largest possible ratio of sizes."""
    for percent, buckets in product((1, 50, 80, 100), (1, 8, 512, 4096)):
        passes = plan_passes(Fraction(percent, 100), buckets)
        for longer, shorter in pairwise(passes):
            assert shorter.max_shingles == pytest.approx(longer.min_shingles * 100 / percent)
        assert float("inf") == passes[0].max_shingles
        assert BandingPass(0, 0, 0, passes[-1].max_shingles) == passes[-1]


@pytest.mark.parametrize(("overlap", "words"), [(0.8, 8), (0.8, 40), (0.8, 200), (0.5, 120)])
def test_documents_that_overlap_have_a_key_in_common(overlap: float, words: int) -> None:
    """At least 59 of 60 overlapping pairs share a key. Most other pairs share none."""
    rng = random.Random(f"{overlap}{words}")
    texts = [side for _ in range(60) for side in overlapping(rng, words, overlap)]
    keys = [set(document_keys.tolist()) for document_keys in band_keys(list(fingerprints(texts)), overlap)]

    assert 59 <= sum(bool(a & b) for a, b in zip(keys[::2], keys[1::2], strict=True))
    assert 20 > sum(bool(a & b) for a, b in zip(keys[::2], keys[3::2], strict=False))


def test_keys_do_not_depend_on_other_documents() -> None:
    """A text without words has no keys, and no document has a key twice."""
    made = list(fingerprints([*(document.text for document in documents("some", 20, 90)), "..."]))
    together = [keys.tolist() for keys in band_keys(made, 0.8)]

    assert together == [keys.tolist() for one in made for keys in band_keys([one], 0.8)]
    assert [] == together[-1]
    assert all(len(set(keys)) == len(keys) > 0 for keys in together[:-1])
    assert [] == band_keys([], 0.8)


def test_a_percentage_is_not_an_overlap() -> None:
    with pytest.raises(QuerySyntaxError, match="overlap must be a fraction from 0 to 1, not 80"):
        band_keys(list(fingerprints(["some words of a text"])), 80)
