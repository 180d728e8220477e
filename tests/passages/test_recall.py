"""How many planted passages are found."""

from __future__ import annotations

import random
from functools import cache, partial

import pytest

from simdoc_search.passages.align import align
from tests.support import texts
from tests.support.passages.plagdet import Reuse, score
from tests.support.passages.planting import Material, Pair, log_uniform, plant
from tests.support.passages.rewording import changed

PAIRS, PASSAGE_WORDS, DOCUMENT_WORDS, CLEAN_PAIRS = 8, (50, 500), 1_500, 30


@cache
def material() -> Material:
    """The paragraphs of the documents: 20,000 words."""
    return Material(texts.text(random.Random(f"document {number}"), 500) for number in range(40))


@cache
def halves() -> tuple[Material, Material]:
    """One half of the material for hosts, the other for sources."""
    return material().halves(random.Random(0))


vocabulary = cache(lambda: material().vocabulary)


def pair(kind: str, number: int, passages: int) -> Pair:
    """A host with planted passages of a source."""
    rng = random.Random(f"{kind} {number}")
    host, source = (half.text(rng, DOCUMENT_WORDS) for half in halves())
    lengths = [log_uniform(rng, *PASSAGE_WORDS) for _ in range(passages)]
    return plant(rng, host, source, lengths, partial(changed, rng, kind, vocabulary()))


@pytest.mark.parametrize(
    ("kind", "floor"),
    [
        ("verbatim", 0.995),
        ("shuffled-low", 0.98),
        ("shuffled-high", 0.97),
        ("reworded-low", 0.98),
        ("reworded-high", 0.97),
        ("shortened", 0.85),
    ],
)
@pytest.mark.slow
def test_planted_passages_are_found(kind: str, floor: float) -> None:
    """The measure is plagdet. scripts/bench_passages.py measures the same with real texts."""
    planted, detected = [], []
    for number in range(PAIRS):
        names, case = (f"{number}", ""), pair(kind, number, 2)
        planted += [Reuse(names, a, b) for a, b in case.spans]
        detected += [Reuse(names, passage.a, passage.b) for passage in align(case.suspicious, case.source)]

    assert floor <= score(planted, detected).plagdet


def test_clean_pairs_share_no_passage() -> None:
    """The texts share only frequent words."""
    pairs = [pair("verbatim", number, 0) for number in range(CLEAN_PAIRS)]

    assert [] == [passage for clean in pairs for passage in align(clean.suspicious, clean.source)]
