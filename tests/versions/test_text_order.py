"""The order of documents is guessed from their texts."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from simdoc_search.passages.dates import Date
from simdoc_search.sketch.simhash import Simhashes
from simdoc_search.versions import text_order
from simdoc_search.versions.matching import match_sentences
from simdoc_search.versions.text_order import (
    MAX_UNCHANGED_DISTANCE,
    count_unchanged_sentences,
    order_by_texts,
    propose_order,
)

from .test_matching import documents


def history(count: int, seed: int, *, added: int = 12) -> list[Simhashes]:
    """Return documents, each of which has most sentences of the one before and some new ones."""
    rng = np.random.default_rng(seed)
    written = [rng.integers(0, 2**63, 40).astype(np.uint64)]
    for _ in range(count - 1):
        kept = written[-1][np.sort(rng.permutation(len(written[-1]))[3:])]
        written.append(np.concatenate((kept, rng.integers(0, 2**63, added).astype(np.uint64))))
    return written


@given(st.lists(documents(), max_size=6))
def test_counts_of_unchanged_sentences_are_those_of_matching_each_pair(sentences: list[list[int]]) -> None:
    values = [np.array(each, np.uint64) for each in sentences]
    expected = [
        [round(match_sentences(a, b, MAX_UNCHANGED_DISTANCE).share * len(np.unique(a))) for b in values] for a in values
    ]

    assert expected == count_unchanged_sentences(values).tolist()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_order, "_VALUES_PER_BATCH", 3)
        patch.setattr(text_order, "_PAIRS_PER_BATCH", 2)
        assert expected == count_unchanged_sentences(values).tolist()


@given(st.integers(2, 6), st.integers(0, 10_000))
def test_the_path_through_few_documents_has_the_fewest_changes(count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    unchanged = rng.integers(0, 20, (count, count))
    np.fill_diagonal(unchanged, rng.integers(20, 40, count))
    removed = np.diagonal(unchanged)[:, np.newaxis] - unchanged

    def changed(path: tuple[int, ...] | list[int]) -> int:
        return sum(int(removed[a, b] + removed[b, a]) for a, b in itertools.pairwise(path))

    assert min(map(changed, itertools.permutations(range(count)))) == changed(propose_order(unchanged))


@pytest.mark.parametrize("count", [0, 1, 2, text_order.MAX_EXACT_DOCUMENTS, text_order.MAX_EXACT_DOCUMENTS + 1, 40])
def test_the_order_of_a_history_is_guessed_right(count: int) -> None:
    for seed in range(2):
        written = history(count, seed) if count else []
        mixed = random.Random(seed).sample(range(count), count)
        order = propose_order(count_unchanged_sentences([written[at] for at in mixed]))

        assert list(range(count)) == [mixed[at] for at in order]


def test_dates_in_texts_determine_the_order() -> None:
    """A shortened text is newer if it mentions a later date. A text without a date is placed where it fits."""
    short, middle, long = history(3, 1)
    unchanged = count_unchanged_sentences([short, middle, long])
    days: list[Date | None] = [(2022, 5, 1), (2021, 3, 12), (2021, 3, 11)]

    assert [0, 1, 2] == propose_order(unchanged)
    assert [2, 1, 0] == propose_order(unchanged, days)
    assert [2, 1, 0] == propose_order(unchanged, [days[0], None, days[2]])
    assert [0, 1, 2] == propose_order(unchanged, [(2021,), (2021, 3), (2021, 3, 1)])


def test_the_largest_changes_come_first_if_all_texts_are_equally_long() -> None:
    rng = np.random.default_rng(0)
    values = [rng.integers(0, 2**63, 40).astype(np.uint64)]
    for rewritten in (20, 8, 2):
        values.append(values[-1].copy())
        values[-1][:rewritten] = rng.integers(0, 2**63, rewritten)

    assert [0, 1, 2, 3] == propose_order(count_unchanged_sentences(values))
    assert [3, 2, 1, 0] == propose_order(count_unchanged_sentences(values[::-1]))


@pytest.mark.slow
def test_the_order_of_a_thousand_documents_is_nearly_right() -> None:
    order = order_by_texts(history(1_000, 3, added=4), [None] * 1_000)

    assert sorted(order) == list(range(1_000))
    assert np.corrcoef(order, range(1_000))[0, 1] > 0.99


def test_documents_outside_the_sample_follow_the_most_similar_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_order, "MAX_SAMPLED_DOCUMENTS", 20)
    order = order_by_texts(history(60, 3, added=4), [None] * 60)

    assert sorted(order) == list(range(60))
    assert np.corrcoef(order, range(60))[0, 1] > 0.99


def test_dates_determine_the_order_of_documents_outside_the_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every fourth document has no date, so it follows a similar document."""
    monkeypatch.setattr(text_order, "MAX_SAMPLED_DOCUMENTS", 20)
    dates = [None if number % 4 == 1 else (2021, 12 - number // 5, 1) for number in range(60)]
    order = order_by_texts(history(60, 3, added=4), dates)
    ordered_dates = [date for number in order if (date := dates[number])]

    assert sorted(order) == list(range(60))
    assert sorted(ordered_dates) == ordered_dates
    assert np.corrcoef(order, range(60))[0, 1] < -0.95


def test_the_number_of_compared_documents_grows_linearly(monkeypatch: pytest.MonkeyPatch) -> None:
    counts: list[int] = []

    def count(documents: Sequence[Simhashes]) -> NDArray[np.int64]:
        counts.append(len(documents))
        return count_unchanged_sentences(documents)

    monkeypatch.setattr(text_order, "MAX_SAMPLED_DOCUMENTS", 20)
    monkeypatch.setattr(text_order, "count_unchanged_sentences", count)
    order_by_texts(history(200, 3, added=4), [None] * 200)

    assert [20, *[40] * 10] == counts
