"""Planted passages are at the given places, and the texts share nothing else."""

from __future__ import annotations

import random
import re
from functools import partial
from itertools import pairwise

import pytest

from tests.support import texts
from tests.support.passages.planting import Material, Pair, plant
from tests.support.passages.rewording import KINDS, changed

LENGTHS = [120, 50, 300]
MATERIAL = Material(texts.text(random.Random(f"material {number}"), 400) for number in range(20))
VOCABULARY = MATERIAL.vocabulary


def planted(kind: str, seed: int = 0) -> Pair:
    """A pair of texts with three planted passages."""
    rng = random.Random(f"{kind} {seed}")
    hosts, sources = MATERIAL.halves(rng)
    change = partial(changed, rng, kind, VOCABULARY)
    return plant(rng, hosts.text(rng, 900), sources.text(rng, 900), LENGTHS, change)


def words(text: str) -> list[str]:
    """The words of a text."""
    return re.findall(r"\w+", text.lower())


def runs(text: str, size: int) -> set[tuple[str, ...]]:
    """The runs of `size` words of a text."""
    row = words(text)
    return {tuple(row[index : index + size]) for index in range(len(row) - size + 1)}


@pytest.mark.parametrize("kind", KINDS)
def test_passages_are_at_the_given_places(kind: str) -> None:
    """The rest of the text is the host. At least 99 words are between two passages."""
    pair = planted(kind)
    host = MATERIAL.halves(rng := random.Random(f"{kind} 0"))[0].text(rng, 900)
    rest = pair.suspicious
    for (start, end), _ in sorted(pair.spans, reverse=True):
        rest = rest[:start] + rest[end:]

    assert words(host) == words(rest)
    assert sorted(LENGTHS) == sorted(len(words(pair.source[slice(*b)])) for _, b in pair.spans)
    for text, spans in (
        (pair.suspicious, sorted(a for a, _ in pair.spans)),
        (pair.source, sorted(b for _, b in pair.spans)),
    ):
        assert min(len(words(text[one[1] : two[0]])) for one, two in pairwise(spans)) >= 99
    assert pair == planted(kind)


def kept(kind: str) -> tuple[float, float]:
    """The shares of words and of runs of five words that the planted passages keep."""
    pair = planted(kind)

    def share(size: int) -> float:
        pairs = [(runs(pair.suspicious[slice(*a)], size), runs(pair.source[slice(*b)], size)) for a, b in pair.spans]
        return sum(len(a & b) for a, b in pairs) / sum(len(b) for _, b in pairs)

    return share(1), share(5)


def test_a_kind_is_a_degree_of_change() -> None:
    """Verbatim passages differ only in line breaks."""
    assert (1.0, 1.0) == kept("verbatim")
    for kind in ("shuffled", "reworded"):
        low, high = kept(f"{kind}-low"), kept(f"{kind}-high")
        assert 0.6 < high[0] < low[0] < 1
        assert 0 < high[1] < low[1] < 0.7
    assert 0.2 < kept("shortened")[0] < 0.75


def test_only_planted_passages_are_shared() -> None:
    """A paragraph of several documents is only in one half."""
    same = texts.text(random.Random("same"), 30)
    own = [texts.text(random.Random(number), 700) for number in range(8)]
    material = Material(f"{text}\n\n{same}" for text in own)
    hosts, sources = material.halves(random.Random(0))
    host, source = hosts.text(random.Random(1), 10_000), sources.text(random.Random(2), 10_000)

    assert set() == runs(host, 6) & runs(source, 6)
    assert sorted(words(" ".join([*own, same]))) == sorted(words(host + " " + source))


def test_a_short_source_is_refused() -> None:
    """The passages are not shortened instead."""
    with pytest.raises(ValueError, match="too few for passages of 80, 80 words"):
        plant(random.Random(0), texts.text(random.Random(1), 500), texts.text(random.Random(2), 200), [80, 80], str)
