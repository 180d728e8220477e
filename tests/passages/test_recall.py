"""How many planted passages are found."""

from __future__ import annotations

import random

import pytest

from simdoc_search.passages.align import align
from tests.support import texts
from tests.support.passages.plagdet import Reuse, score
from tests.support.passages.planting import Change, Pair, plant

PAIRS, PASSAGE_WORDS, DOCUMENT_WORDS, CLEAN_PAIRS = 8, (50, 500), 1_500, 30


def pair(name: str, passages: int, change: Change | None = None) -> Pair:
    """A host with planted passages of a source."""
    rng = random.Random(name)
    host, source = (texts.text(rng, DOCUMENT_WORDS) for _ in range(2))
    lengths = [rng.randint(*PASSAGE_WORDS) for _ in range(passages)]
    return plant(rng, host, source, lengths, change or Change())


@pytest.mark.parametrize(
    ("change", "floor"),
    [
        pytest.param(Change(), 0.995, id="verbatim"),
        pytest.param(Change(0.06, 0.04, 0.04, piece=6, reach=3), 0.99, id="shuffled a little"),
        pytest.param(Change(0.15, 0.1, 0.1, piece=3, reach=6), 0.985, id="shuffled"),
        pytest.param(Change(0.08, 0.04, 0.04), 0.99, id="reworded a little"),
        pytest.param(Change(0.2, 0.1, 0.1), 0.985, id="reworded"),
        pytest.param(Change(0.05, 0.1, kept=0.5), 0.88, id="shortened"),
    ],
)
@pytest.mark.slow
def test_planted_passages_are_found(change: Change, floor: float) -> None:
    """The measure is plagdet."""
    planted, detected = [], []
    for number in range(PAIRS):
        names, case = (f"{number}", ""), pair(f"{change} {number}", 2, change)
        planted += [Reuse(names, a, b) for a, b in case.spans]
        detected += [Reuse(names, passage.a, passage.b) for passage in align(case.suspicious, case.source)]

    assert floor <= score(planted, detected).plagdet


def test_clean_pairs_share_no_passage() -> None:
    """The texts share only frequent words."""
    pairs = [pair(f"clean {number}", 0) for number in range(CLEAN_PAIRS)]

    assert [] == [passage for clean in pairs for passage in align(clean.suspicious, clean.source)]
