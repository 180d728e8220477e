"""Exact overlap and containment, against their definitions."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.analysis.settings import Analysis
from simdoc_search.analysis.shingles import shingles
from simdoc_search.passages.exact import containment, jaccard, measures, shingle_set
from tests.support import strategies
from tests.support.texts import overlapping

small_sets = st.frozensets(st.sampled_from("abcdefgh"))


@given(small_sets, small_sets)
def test_jaccard_is_the_shared_part_of_all_there_is(a: frozenset[str], b: frozenset[str]) -> None:
    """jaccard is the number of elements in both over the number in either, and 0 where there are none."""
    both = sum(each in a and each in b for each in "abcdefgh")
    either = sum(each in a or each in b for each in "abcdefgh")

    assert float(Fraction(both, either) if either else 0) == jaccard(a, b)


@given(small_sets, small_sets)
def test_jaccard_does_not_depend_on_the_order(a: frozenset[str], b: frozenset[str]) -> None:
    """A overlaps B as B overlaps A, and a set that is not empty overlaps itself wholly."""
    assert jaccard(b, a) == jaccard(a, b)
    assert float(bool(a)) == jaccard(a, a)


@given(small_sets, small_sets)
def test_containment_is_the_share_of_the_first(a: frozenset[str], b: frozenset[str]) -> None:
    """containment is the share of the first set's elements that the second has, and 0 if the first is empty."""
    had = [each in b for each in a]

    assert float(Fraction(sum(had), len(had)) if had else 0) == containment(a, b)


@given(small_sets, small_sets)
def test_overlap_follows_from_containment_and_sizes(a: frozenset[str], b: frozenset[str]) -> None:
    """J = C |A| / (|A| + |B| - C |A|), by which containment queries are planned."""
    shared = containment(a, b) * len(a)
    union = len(a) + len(b) - shared

    assert pytest.approx(shared / union if union else 0.0) == jaccard(a, b)


def test_empty_sets_share_nothing() -> None:
    """Two empty sets have overlap 0, not 1: texts without words are not alike."""
    empty: frozenset[str] = frozenset()

    assert (0.0, 0.0) == (jaccard(empty, empty), containment(empty, empty))
    assert (0.0, 0.0) == (jaccard(empty, frozenset("a")), containment(empty, frozenset("a")))
    assert 0.0 == containment(frozenset("a"), empty)


def test_a_shingle_counts_once() -> None:
    """shingle_set has each shingle of a text once, folded as the analysis says."""
    expected = {
        "one two three four five",
        "two three four five one",
        "three four five one two",
        "four five one two three",
    }

    assert expected | {"five one two three four"} == shingle_set("One two three four five. " * 3)
    assert {"a b"} == shingle_set("a b, a b; A b", Analysis(shingle_size=2)) - {"b a"}


def test_a_text_without_words_has_no_shingles() -> None:
    """Signs alone make no shingle, and a text shorter than a shingle makes one of all its words."""
    assert frozenset() == shingle_set(" ... \n --- ")
    assert {"two words"} == shingle_set("Two words")
    assert frozenset() == shingle_set("Two words", Analysis(short_texts=False))


@pytest.mark.parametrize("overlap", [0.1, 0.5, 0.9])
def test_made_texts_overlap_as_asked(overlap: float) -> None:
    """The texts that other tests measure recall with do share what they should, and are the same each time."""
    pairs = [overlapping(random.Random(seed), 400, overlap) for seed in range(20)]
    exact = [jaccard(shingle_set(a), shingle_set(b)) for a, b in pairs]

    assert [overlap] * 20 == pytest.approx(exact, abs=0.02)
    assert pairs[3] == overlapping(random.Random(3), 400, overlap)


def share(shared: Counter[str], whole: Counter[str]) -> float:
    """How much of a multiset another one is; of an empty one nothing."""
    return shared.total() / whole.total() if whole else 0.0


@given(strategies.texts(), strategies.texts(), strategies.analyses())
def test_measures_of_texts_are_those_of_their_shingles(a: str, b: str, analysis: Analysis) -> None:
    """Of the sets, and of the multisets by Python's own counting, with any settings of the analysis."""
    text = a + b  # so that something is shared
    sets = [shingle_set(each, analysis) for each in (a, text)]
    bags = [Counter(shingles(each, analysis)) for each in (a, text)]
    found = measures(a, text, analysis)

    assert (jaccard(*sets), containment(*sets), containment(*reversed(sets))) == (
        found.jaccard,
        found.containment,
        found.contained,
    )
    shared = bags[0] & bags[1]
    assert found.multiset == (
        share(shared, bags[0] + bags[1] - shared),
        share(shared, bags[0]),
        share(shared, bags[1]),
    )


def test_words_that_become_several_make_the_same_shingles() -> None:
    """One ligature that is four words, normalised, equals these four, as in the fingerprints."""
    one, four = "\ufdfa", "صلى الله عليه وسلم"
    a, b = f"a b {one} c d", f"a b {four} c d"

    assert measures(a, b).jaccard == jaccard(shingle_set(a), shingle_set(b))
    assert measures(one, four, Analysis(shingle_size=4)).jaccard == 1.0


def test_a_repeated_shingle_counts_in_the_multiset_alone() -> None:
    """Twice the same text has the same shingles, but for those across the border."""
    once, twice = "a b c d e f", "a b c d e f. a b c d e f"
    found = measures(once, twice)

    assert (2 / 6, 1.0, 2 / 6) == (found.jaccard, found.containment, found.contained)
    assert (2 / 8, 1.0, 2 / 8) == found.multiset
