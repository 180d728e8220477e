"""Two texts side by side."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings

from simdoc_search import Analysis, Settings, compare, fingerprint
from simdoc_search.analysis.words import placed_words
from simdoc_search.passages.align import align
from simdoc_search.passages.differences import differences
from simdoc_search.passages.exact import measures
from tests.support import strategies, texts

OTHER = Settings(analysis=Analysis(profile="lowercase", shingle_size=3))


def pair() -> tuple[str, str]:
    """A text, and another one that has a passage of it, with a change."""
    rng = random.Random("pair")
    passage = texts.text(rng, 80)
    words = passage.split()
    changed = " ".join([*words[:40], "not", *words[40:]])
    return f"{texts.text(rng, 120)} {passage}", f"{changed} {texts.text(rng, 60)}"


@pytest.mark.parametrize("settings", [None, OTHER])
def test_a_comparison_has_what_each_part_says(settings: Settings | None) -> None:
    """Exact measures, the estimate of the fingerprints, passages and differences; by the settings that are given."""
    a, b = pair()
    analysis = (settings or Settings()).analysis
    found = compare(a, b, settings=settings)
    exact = measures(a, b, analysis)
    first, second = fingerprint(a, analysis), fingerprint(b, analysis)
    words = placed_words(a, analysis), placed_words(b, analysis)

    assert (exact.jaccard, exact.containment, exact.contained) == (found.jaccard, found.containment, found.contained)
    assert exact.multiset == found.multiset
    assert (first.overlap(second), first.interval(second)) == (found.estimate, found.interval)
    assert tuple(align(a, b, analysis=analysis)) == found.passages
    assert tuple(differences(*words, found.passages)) == found.differences
    assert (200, 141) == found.words


def test_the_share_is_that_of_the_matched_words() -> None:
    """Of each text: 80 words of 200, and 80 of 141; the word that was inserted is not matched."""
    a, b = pair()
    found = compare(a, b, preset="verbatim")

    assert (80, 80) == found.matched
    assert (80 / 200, 80 / 141) == found.covered
    assert ["inserted"] == [each.kind for each in found.differences if b[slice(*each.b)] == "not"]


@hypothesis_settings(max_examples=25)
@given(strategies.texts())
def test_a_text_compared_with_itself(text: str) -> None:
    """All of it is shared, and nothing differs; of a text without words nothing can be shared."""
    found = compare(text, text)
    whole = 1.0 if placed_words(text).words else 0.0

    assert (whole, whole, whole) == (found.jaccard, found.containment, found.contained) == found.multiset
    assert (whole, (whole, whole), ()) == (found.estimate, found.covered, found.differences)
    assert int(whole) == len(found.passages)


def test_texts_without_words_can_be_compared() -> None:
    """Nothing is shared; what the other one has was inserted."""
    empty, other = compare("", "..."), compare("", "some words")

    assert (0.0, (0, 0), (0.0, 0.0), (), ()) == (
        empty.jaccard,
        empty.words,
        empty.covered,
        empty.passages,
        empty.differences,
    )
    assert [("inserted", (0, 0), (0, 10), 2)] == [(each.kind, each.a, each.b, each.words) for each in other.differences]


def test_an_unknown_preset_is_refused() -> None:
    """As by `align`."""
    with pytest.raises(ValueError, match="preset must be 'edited' or 'verbatim', not 'all'"):
        compare("a", "b", preset="all")  # type: ignore[arg-type]
