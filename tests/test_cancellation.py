"""Long computations are cancelled."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from simdoc_search import Document, SimilaritySearch, compare, fingerprint, open_store
from simdoc_search.analysis.words import words
from simdoc_search.cancellation import StopEvent, StoppedError, cancellable_by, check_stopped, current_stop_event
from simdoc_search.sketch.long_text import MIN_LONG_TEXT_LENGTH
from tests.support.texts import text

PROSE = text(random.Random("stopping"), 2000)


def search() -> SimilaritySearch:
    search = SimilaritySearch(open_store(":memory:"))
    search.index([Document("prose", PROSE)])
    return search


@pytest.mark.parametrize(
    "work",
    [
        lambda: words("👩" * 10),
        lambda: fingerprint("word " * (MIN_LONG_TEXT_LENGTH // 5 + 1)),
        lambda: compare(PROSE, PROSE[1000:]),
        lambda: search().passages(text=PROSE),
        lambda: search().similar(text=PROSE),
    ],
    ids=("words", "fingerprint", "compare", "passages", "verify"),
)
def test_a_cancelled_computation_ends_at_its_next_check(work: Callable[[], object]) -> None:
    stop = StopEvent()
    with cancellable_by(stop):
        work()
        stop.set()
        with pytest.raises(StoppedError):
            work()

    work()


def test_the_innermost_block_decides_what_is_cancelled() -> None:
    outer, inner = StopEvent(), StopEvent()
    with cancellable_by(outer):
        with cancellable_by(inner):
            outer.set()
            check_stopped()
            assert inner is current_stop_event()
        with pytest.raises(StoppedError):
            check_stopped()
    check_stopped()
