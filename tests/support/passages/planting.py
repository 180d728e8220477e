"""Texts with passages of others planted in them, and where these lie."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from simdoc_search.analysis.words import placed_words
from tests.support.passages.rewording import Vocabulary

__all__ = ["Material", "Pair", "excerpts", "interrupted", "log_uniform", "plant"]

Span = tuple[int, int]
_WORD = re.compile(r"\w+")
_SAME = 6
"""Paragraphs that share a run of so many words are not both material: what is not planted is not shared."""
_RELATED = 20
"""Documents that share more than one of so many runs are not both material."""
_PART = 25
"""Words of the shortest part of a passage that is interrupted."""
_APART = 100
"""Words between two passages, in both texts: else they were one."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A text and what it was copied from.

    Attributes:
        suspicious: the text that passages were planted in.
        source: the text that they are from.
        spans: the place of each in the suspicious text and in the source, in characters.
    """

    suspicious: str
    source: str
    spans: tuple[tuple[Span, Span], ...]


class Material:
    """Documents, in paragraphs, no two of which share a run of 6 words.

    Of documents that have more than 1 of 20 such runs in common, as versions of one have, the first alone is taken:
    what such have in common otherwise would be reuse that is not known of.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._documents: list[list[tuple[str, int]]] = []
        seen: set[tuple[str, ...]] = set()
        for text in texts:
            runs = _runs(text)
            if len(runs & seen) * _RELATED <= len(runs):
                document = [
                    (paragraph.strip("\r\n"), len(_WORD.findall(paragraph)))
                    for paragraph in re.split(r"\n\s*\n", text)
                    if _is_new(_all_runs(paragraph), seen)
                ]
                self._documents += [document] if document else []
            seen |= runs

    @property
    def words(self) -> int:
        """How many words there are."""
        return sum(words for document in self._documents for _, words in document)

    @property
    def vocabulary(self) -> Vocabulary:
        """The words, by frequency."""
        return Vocabulary.of(paragraph for document in self._documents for paragraph, _ in document)

    def halves(self, rng: random.Random) -> tuple[Material, Material]:
        """Two parts of about the same number of words, without a document in common."""
        halves = Material(()), Material(())
        for document in rng.sample(self._documents, len(self._documents)):
            min(halves, key=lambda half: half.words)._documents.append(document)
        return halves

    def text(self, rng: random.Random, words: int) -> str:
        """A text of at least so many words and not much more; of all there are if they are fewer.

        It begins anywhere in a document; where that ends another one follows.
        """
        paragraphs: list[str] = []
        length = 0
        first, *others = rng.sample(self._documents, len(self._documents))
        begin = rng.randrange(len(first))
        for document in (first[begin:], *others, first[:begin]):
            for paragraph, count in document:
                if length >= words:
                    return "\n\n".join(paragraphs)
                paragraphs.append(paragraph)
                length += count
        return "\n\n".join(paragraphs)


def log_uniform(rng: random.Random, shortest: int, longest: int) -> int:
    """A number from a range, each order of size as often as the others."""
    return round(math.exp(rng.uniform(math.log(shortest), math.log(longest))))


def excerpts(rng: random.Random, source: str, lengths: Iterable[int]) -> list[Pair]:
    """Runs of so many successive words of a source, each as a text of its own; all of it where it has fewer."""
    found, pairs = _words(source), []
    for length in lengths:
        words = min(length, len(found))
        start = rng.randint(0, len(found) - words)
        b = found[start][0], found[start + words - 1][1]
        text = source[b[0] : b[1]]
        pairs.append(Pair(text, source, (((0, len(text)), b),)))
    return pairs


def plant(rng: random.Random, host: str, source: str, lengths: Sequence[int], change: Callable[[str], str]) -> Pair:
    """Plant passages of the source, of so many words each, in the host, changed, in any order.

    They are at least 100 words apart in both texts.

    Raises:
        ValueError: a text is too short for so many and so long passages.
    """
    words, gaps = _words(source), _words(host)
    starts = _scattered(rng, len(words), lengths)
    passages = [(words[at][0], words[at + length - 1][1]) for at, length in zip(starts, lengths, strict=True)]
    rng.shuffle(passages)
    places = [gaps[at][0] for at in _scattered(rng, len(gaps) - 1, [0] * len(lengths))]
    parts: list[str] = []
    spans: list[tuple[Span, Span]] = []
    last = length = 0
    for place, b in zip(places, passages, strict=True):
        gap = rng.choice((" ", "\n\n"))
        before = host[last:place].rstrip() + gap
        text = change(source[b[0] : b[1]])
        start = length + len(before)
        spans.append(((start, start + len(text)), b))
        parts += [before, text, gap]
        last, length = place, start + len(text) + len(gap)
    return Pair("".join([*parts, host[last:]]), source, tuple(spans))


def interrupted(rng: random.Random, pair: Pair, own: Callable[[int], str]) -> Pair:
    """A pair whose longer passages the author interrupts with 20 to 60 words of his own; each part is a passage.

    Args:
        rng: where, and with how many words.
        pair: whose passages stand word for word in both texts.
        own: gives at least so many words.
    """
    parts: list[str] = []
    spans: list[tuple[Span, Span]] = []
    last = length = 0
    for (begin, end), (other, other_end) in sorted(pair.spans):
        words = _words(pair.suspicious[begin:end])
        others = _words(pair.source[other:other_end])
        if len(words) < 2 * _PART or len(words) != len(others):
            cuts = [(0, 0)]
        else:
            at = rng.randint(_PART, len(words) - _PART)
            cuts = [(0, 0), (words[at][0], others[at][0])]
        for number, (start, other_start) in enumerate(cuts):
            whole = number == len(cuts) - 1
            stop = end if whole else begin + words[at - 1][1]
            other_stop = other_end if whole else other + others[at - 1][1]
            if number:
                wanted = rng.randint(20, 60)
                text = own(wanted)
                inserted = " " + text[: _words(text)[:wanted][-1][1]] + " "
                parts.append(inserted)
                length += len(inserted)
                last = begin + start
            piece = pair.suspicious[last:stop]
            place = length + begin + start - last
            parts.append(piece)
            length += len(piece)
            spans.append(((place, length), (other + other_start, other_stop)))
            last = stop
    return Pair("".join([*parts, pair.suspicious[last:]]), pair.source, tuple(spans))


def _runs(text: str) -> set[tuple[str, ...]]:
    """The runs of 6 words; of fewer words the one of all."""
    return set(_all_runs(text))


def _all_runs(text: str) -> list[tuple[str, ...]]:
    words = _WORD.findall(text.lower())
    return [tuple(words[at : at + _SAME]) for at in range(max(1, len(words) - _SAME + 1))] if words else []


def _is_new(runs: list[tuple[str, ...]], seen: set[tuple[str, ...]]) -> bool:
    """True if there are some, each once, and none was seen, which they are from now on."""
    distinct = set(runs)
    new = bool(runs) and len(distinct) == len(runs) and seen.isdisjoint(distinct)
    seen |= distinct
    return new


def _words(text: str) -> list[Span]:
    """The places of the words, as they are counted everywhere else."""
    placed = placed_words(text)
    return list(zip(placed.starts.tolist(), placed.ends.tolist(), strict=True))


def _scattered(rng: random.Random, total: int, lengths: Sequence[int]) -> list[int]:
    """Where pieces of these lengths may begin in a row of so many words, in order."""
    free = total - sum(lengths) - _APART * max(0, len(lengths) - 1)
    if free < 0:
        raise ValueError(f"{total} words are too few for passages of {', '.join(map(str, lengths))} words")
    at, starts = 0, []
    for skipped, length in zip(sorted(rng.randint(0, free) for _ in lengths), lengths, strict=True):
        starts.append(skipped + at)
        at += length + _APART
    return starts
