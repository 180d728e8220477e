"""Exact measures of overlap, against their definitions."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.analysis.settings import Analysis
from simdoc_search.analysis.shingles import shingles
from simdoc_search.passages.exact_overlap import containment, jaccard, measures, shingle_set
from tests.support import strategies
from tests.support.texts import overlapping

small_sets = st.frozensets(st.sampled_from("abcdefgh"))


@given(small_sets, small_sets)
def test_jaccard_and_containment_follow_their_definitions(a: frozenset[str], b: frozenset[str]) -> None:
    """An empty set has 0."""
    both = sum(letter in a and letter in b for letter in "abcdefgh")
    either = sum(letter in a or letter in b for letter in "abcdefgh")

    assert float(Fraction(both, either) if either else 0) == jaccard(a, b) == jaccard(b, a)
    assert float(Fraction(both, len(a)) if a else 0) == containment(a, b)


@pytest.mark.parametrize("overlap", [0.1, 0.5, 0.9])
def test_the_texts_of_other_tests_have_the_given_overlap(overlap: float) -> None:
    """The texts are the same in every run of the tests."""
    pairs = [overlapping(random.Random(seed), 400, overlap) for seed in range(20)]
    exact = [jaccard(shingle_set(a), shingle_set(b)) for a, b in pairs]

    assert [overlap] * 20 == pytest.approx(exact, abs=0.02)
    assert pairs[3] == overlapping(random.Random(3), 400, overlap)


@given(strategies.texts(), strategies.texts(), strategies.analyses())
def test_the_measures_are_those_of_the_shingles(a: str, b: str, analysis: Analysis) -> None:
    """The measures of sets and of multisets are checked."""
    text = a + b  # so that both share something
    sets = [shingle_set(one_text, analysis) for one_text in (a, text)]
    first, second = (Counter(shingles(one_text, analysis)) for one_text in (a, text))
    result = measures(a, text, analysis)
    shared, union = (first & second).total(), (first | second).total()

    sets_measures = jaccard(*sets), containment(*sets), containment(*reversed(sets))
    assert sets_measures == (result.jaccard, result.containment, result.reverse_containment)
    wholes = union, first.total(), second.total()
    assert tuple(shared / whole if whole else 0.0 for whole in wholes) == result.multiset


def test_a_ligature_of_several_words_equals_these_words() -> None:
    one, four = "\ufdfa", "صلى الله عليه وسلم"
    a, b = f"a b {one} c d", f"a b {four} c d"

    assert measures(a, b).jaccard == jaccard(shingle_set(a), shingle_set(b))
    assert measures(one, four, Analysis(shingle_size=4)).jaccard == 1.0
