"""In which order may documents have been written?"""

from __future__ import annotations

import itertools
import random
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.passages.dates import Date
from simdoc_search.sketch.simhash import Simhashes
from simdoc_search.versions import text_order
from simdoc_search.versions.matching import matched
from simdoc_search.versions.text_order import UNCHANGED_BITS, proposed_order, unchanged_counts

from .test_matching import documents


def history(count: int, seed: int, *, added: int = 12) -> list[Simhashes]:
    """Documents of which each is the one before with more sentences, and some written anew."""
    rng = np.random.default_rng(seed)
    found = [rng.integers(0, 2**63, 40).astype(np.uint64)]
    for _ in range(count - 1):
        kept = found[-1][np.sort(rng.permutation(len(found[-1]))[3:])]
        found.append(np.concatenate((kept, rng.integers(0, 2**63, added).astype(np.uint64))))
    return found


@given(st.lists(documents(), max_size=6))
@pytest.mark.slow
def test_it_is_counted_as_by_comparing_each_with_each(some: list[list[int]]) -> None:
    """Without comparing them: all sentences are looked up together."""
    values = [np.array(each, np.uint64) for each in some]
    wanted = [[round(matched(a, b, UNCHANGED_BITS).share * len(np.unique(a))) for b in values] for a in values]

    assert wanted == unchanged_counts(values).tolist()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_order, "_VALUES_AT_ONCE", 3)
        patch.setattr(text_order, "_PAIRS_AT_ONCE", 2)
        assert wanted == unchanged_counts(values).tolist()


@pytest.mark.slow
def test_of_hundreds_that_are_all_alike_pairs_are_looked_at_and_not_triples() -> None:
    """Each sentence is near to hundreds: with four times the documents it takes 16 times as long, not 64 times."""
    rng = np.random.default_rng(1)
    base = rng.integers(0, 2**63, 15).astype(np.uint64)
    spent = []
    for count in (100, 400):
        alike = [base ^ np.uint64(1) << rng.integers(0, 63, 15, dtype=np.uint64) for _ in range(count)]
        times = []
        for _ in range(3):
            began = time.process_time()
            assert (unchanged_counts(alike) == 15).all()
            times.append(time.process_time() - began)
        spent.append(min(times))

    assert spent[1] < 30 * spent[0], spent


@given(st.integers(2, 6), st.integers(0, 10_000))
def test_no_other_path_changes_less(count: int, seed: int) -> None:
    """Of a few documents, whatever they have in common."""
    rng = np.random.default_rng(seed)
    found = rng.integers(0, 20, (count, count))
    np.fill_diagonal(found, rng.integers(20, 40, count))
    removed = np.diagonal(found)[:, np.newaxis] - found

    def changed(path: tuple[int, ...] | list[int]) -> int:
        return sum(int(removed[a, b] + removed[b, a]) for a, b in itertools.pairwise(path))

    assert min(map(changed, itertools.permutations(range(count)))) == changed(proposed_order(found))


@pytest.mark.parametrize("count", [1, 2, 5, text_order.MAX_EXACT_DOCUMENTS, text_order.MAX_EXACT_DOCUMENTS + 1, 40])
def test_a_history_is_found_again(count: int) -> None:
    """Whatever order the documents come in; with many, too."""
    for seed in range(5):
        written = history(count, seed)
        mixed = random.Random(seed).sample(range(count), count)
        found = proposed_order(unchanged_counts([written[at] for at in mixed]))

        assert list(range(count)) == [mixed[at] for at in found]


def test_a_day_that_is_named_decides() -> None:
    """A text that was shortened is newer if it names a later day; one that names none is put where it fits."""
    short, middle, long = history(3, 1)
    found = unchanged_counts([short, middle, long])
    days: list[Date | None] = [(2022, 5, 1), (2021, 3, 12), (2021, 3, 11)]

    assert [0, 1, 2] == proposed_order(found)
    assert [2, 1, 0] == proposed_order(found, days)
    assert [2, 1, 0] == proposed_order(found, [days[0], None, days[2]])
    assert [0, 1, 2] == proposed_order(found, [(2021,), (2021, 3), (2021, 3, 1)])


def test_what_changed_most_changed_first() -> None:
    """Where no text is longer: a draft is rewritten, what is done is corrected."""
    rng = np.random.default_rng(0)
    values = [rng.integers(0, 2**63, 40).astype(np.uint64)]
    for rewritten in (20, 8, 2):
        values.append(values[-1].copy())
        values[-1][:rewritten] = rng.integers(0, 2**63, rewritten)

    assert [0, 1, 2, 3] == proposed_order(unchanged_counts(values))
    assert [3, 2, 1, 0] == proposed_order(unchanged_counts(values[::-1]))


def test_none_and_one_have_their_order() -> None:
    """And two that say nothing."""
    nothing = np.zeros(0, np.uint64)

    assert [] == proposed_order(unchanged_counts([]))
    assert [0] == proposed_order(unchanged_counts([nothing]))
    assert [0, 1] == proposed_order(unchanged_counts([nothing, nothing]))


@pytest.mark.slow
def test_a_thousand_are_quick() -> None:
    """A second or so, although each has something of each."""
    import time

    written = history(1_000, 3, added=4)
    begin = time.perf_counter()
    found = proposed_order(unchanged_counts(written))

    assert time.perf_counter() - begin < 15
    assert sorted(found) == list(range(1_000))
    assert np.corrcoef(found, range(1_000))[0, 1] > 0.99
