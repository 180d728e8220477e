"""How well shared passages are found: the official measure on planted ones, by kind, must not fall."""

from __future__ import annotations

import random
from functools import cache, partial

import pytest

from simdoc_search.passages.align import align
from tests.support import texts
from tests.support.passages.plagdet import Reuse, score
from tests.support.passages.planting import Material, Pair, log_uniform, plant
from tests.support.passages.rewording import Vocabulary, changed

PAIRS, PASSAGE, DOCUMENT, CLEAN = 8, (50, 500), 1_500, 40


@cache
def material() -> Material:
    """What documents are made of: 20,000 words."""
    return Material(texts.text(random.Random(f"document {number}"), 500) for number in range(40))


@cache
def halves() -> tuple[Material, Material]:
    """That of hosts and that of sources."""
    return material().halves(random.Random(0))


@cache
def vocabulary() -> Vocabulary:
    """Its words."""
    return material().vocabulary


def pair(kind: str, number: int, passages: int) -> Pair:
    """A host with passages of a source."""
    rng = random.Random(f"{kind} {number}")
    host, source = (half.text(rng, DOCUMENT) for half in halves())
    lengths = [log_uniform(rng, *PASSAGE) for _ in range(passages)]
    return plant(rng, host, source, lengths, partial(changed, rng, kind, vocabulary()))


def found(of: Pair, name: str = "") -> list[Reuse]:
    """What alignment says they share."""
    return [Reuse((name, ""), passage.a, passage.b) for passage in align(of.suspicious, of.source)]


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
    """plagdet of passages of 50 to 500 words, two in a document; scripts/bench_passages.py measures real texts."""
    planted, detected = [], []
    for number in range(PAIRS):
        made = pair(kind, number, 2)
        planted += [Reuse((f"{number}", ""), a, b) for a, b in made.spans]
        detected += found(made, f"{number}")

    assert floor <= score(planted, detected).plagdet


def test_clean_pairs_raise_no_alarm() -> None:
    """Texts that share nothing but common words share no passage."""
    assert [] == [alarm for number in range(CLEAN) for alarm in found(pair("verbatim", number, 0))]
