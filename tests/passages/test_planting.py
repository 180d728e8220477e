"""The measuring ground for shared passages: what is planted lies where the truth says, and nothing else is shared."""

from __future__ import annotations

import random
import re
from functools import cache, partial
from itertools import pairwise

import pytest

from tests.support import texts
from tests.support.passages.planting import Material, Pair, excerpts, log_uniform, plant
from tests.support.passages.rewording import KINDS, Vocabulary, changed

LENGTHS = [120, 50, 300]
MATERIAL = Material(texts.text(random.Random(f"material {number}"), 400) for number in range(20))


@cache
def vocabulary() -> Vocabulary:
    """The words of the material."""
    return MATERIAL.vocabulary


def planted(kind: str, seed: int = 0) -> Pair:
    """Three passages, planted."""
    rng = random.Random(f"{kind} {seed}")
    hosts, sources = MATERIAL.halves(rng)
    change = partial(changed, rng, kind, vocabulary())
    return plant(rng, hosts.text(rng, 900), sources.text(rng, 900), LENGTHS, change)


def words(text: str) -> list[str]:
    """Its words, as the planting counts them."""
    return re.findall(r"\w+", text.lower())


def runs(text: str, size: int) -> set[tuple[str, ...]]:
    """Its runs of so many words."""
    row = words(text)
    return {tuple(row[at : at + size]) for at in range(len(row) - size + 1)}


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_planted_lies_where_it_is_said(kind: str) -> None:
    """Without the planted passages the host is what it was; the spans in the source have the words asked for."""
    pair = planted(kind)
    rng = random.Random(f"{kind} 0")
    host = MATERIAL.halves(rng)[0].text(rng, 900)
    rest = pair.suspicious
    for (start, end), _ in sorted(pair.spans, reverse=True):
        rest = rest[:start] + rest[end:]

    assert words(host) == words(rest)
    assert sorted(LENGTHS) == sorted(len(words(pair.source[start:end])) for _, (start, end) in pair.spans)


def test_verbatim_passages_are_equal_but_for_line_breaks() -> None:
    """A verbatim passage has the signs of its source; some are wrapped anew, and some are not."""
    pairs = [planted("verbatim", seed) for seed in range(4)]
    passages = [(pair.suspicious[slice(*a)], pair.source[slice(*b)]) for pair in pairs for a, b in pair.spans]

    assert all(a.split() == b.split() for a, b in passages)
    assert {True, False} == {a == b for a, b in passages}


def test_shuffled_words_are_elsewhere() -> None:
    """Most words of a shuffled passage stay, and of the runs of five few, the fewer the higher the degree."""
    low, high = kept("shuffled-low"), kept("shuffled-high")

    assert 0.8 < low[0] < 1
    assert 0.65 < high[0] < low[0]
    assert 0 < high[1] < 0.1 < low[1] < 0.5


def test_reworded_words_keep_their_order() -> None:
    """The words of a reworded passage that its source has are in its order; the higher the degree the fewer."""
    low, high = kept("reworded-low"), kept("reworded-high")

    assert 0.8 < low[0] < 1
    assert 0.6 < high[0] < low[0]
    assert 0.05 < high[1] < low[1] < 0.7


def test_shortened_passages_are_shorter() -> None:
    """About half of the sentences are left, and what is left is in order."""
    pair = planted("shortened")
    shares = [len(words(pair.suspicious[slice(*a)])) / len(words(pair.source[slice(*b)])) for a, b in pair.spans]

    assert all(0.2 < share < 0.75 for share in shares)


def kept(kind: str) -> tuple[float, float]:
    """The shares of a source passage's words and of its runs of five that the planted passage has."""
    pair = planted(kind)
    here = [pair.suspicious[slice(*a)] for a, _ in pair.spans]
    there = [pair.source[slice(*b)] for _, b in pair.spans]

    def share(size: int) -> float:
        pairs = [(runs(a, size), runs(b, size)) for a, b in zip(here, there, strict=True)]
        return sum(len(a & b) for a, b in pairs) / sum(len(b) for _, b in pairs)

    return share(1), share(5)


def test_nothing_is_shared_that_was_not_planted() -> None:
    """A paragraph that many documents have is in one half at most; what is a document's own stays."""
    same = texts.text(random.Random("same"), 30)
    own = [texts.text(random.Random(number), 700) for number in range(8)]
    material = Material(f"{text}\n\n{same}" for text in own)
    hosts, sources = material.halves(random.Random(0))
    host, source = hosts.text(random.Random(1), 10_000), sources.text(random.Random(2), 10_000)

    assert 8 * 700 + 30 == material.words
    assert set() == runs(host, 6) & runs(source, 6)
    assert sorted(words(" ".join([*own, same]))) == sorted(words(host + " " + source))


def test_related_documents_are_no_material_together() -> None:
    """Of two documents that have a tenth of their words in common the second is left out, its own paragraphs too."""
    same, *own = (texts.text(random.Random(number), 60) for number in range(19))
    material = Material(["\n\n".join([same, *own[:9]]), "\n\n".join([*own[9:], same])])

    assert 10 * 60 == material.words
    assert sorted(words(" ".join([same, *own[:9]]))) == sorted(words(material.text(random.Random(0), 600)))


def test_the_same_seed_plants_the_same() -> None:
    """Two runs are equal, character for character, and another seed gives another pair."""
    assert planted("shuffled-high") == planted("shuffled-high")
    assert planted("shuffled-high") != planted("shuffled-high", seed=1)


def test_passages_lie_apart() -> None:
    """Between two planted passages are at least a hundred words, in both texts: they are two, not one."""
    pair = planted("verbatim")
    for text, spans in (
        (pair.suspicious, sorted(a for a, _ in pair.spans)),
        (pair.source, sorted(b for _, b in pair.spans)),
    ):
        between = [len(words(text[one[1] : two[0]])) for one, two in pairwise(spans)]

        assert 99 <= min(between)


def test_an_excerpt_is_a_run_of_its_source() -> None:
    """An excerpt is so many successive words of its source, without a host around; all of a source that has fewer."""
    source = texts.text(random.Random("source"), 500)
    short, whole = excerpts(random.Random(3), source, [21, 1000])
    ((a, b),) = short.spans

    assert (0, len(short.suspicious)) == a
    assert short.suspicious == source[slice(*b)]
    assert [21, 500] == [len(words(each.suspicious)) for each in (short, whole)]


def test_too_long_passages_are_refused() -> None:
    """A source shorter than what is to be planted is an error, not a shorter passage."""
    with pytest.raises(ValueError, match="too few for passages of 80, 80 words"):
        plant(random.Random(0), texts.text(random.Random(1), 500), texts.text(random.Random(2), 200), [80, 80], str)


def test_lengths_are_drawn_by_order_of_size() -> None:
    """Of lengths from 50 to 2,000 words about half are under 316, the middle by order of size."""
    rng = random.Random(0)
    drawn = [log_uniform(rng, 50, 2000) for _ in range(2000)]

    assert 50 <= min(drawn) < max(drawn) <= 2000
    assert 0.45 < sum(each < 316 for each in drawn) / 2000 < 0.55
