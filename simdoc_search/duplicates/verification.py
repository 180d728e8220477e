"""How much do two texts really share? The texts of many pairs, read in bulk and compared as sets of shingles.

A shingle is known by 64 bits of SipHash with a key that is drawn anew for each run: two different ones are taken for
the same in one of 10**13 pairs of long texts, and nobody can make two that are. The text itself is kept no longer than
that takes; of the numbers, those that were needed last are kept.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np

from simdoc_search.analysis.settings import Analysis
from simdoc_search.analysis.shingles import ShingleBatch, shingles_of_texts
from simdoc_search.duplicates.table import Ints, Keys, distinct
from simdoc_search.sketch.estimate import count_common
from simdoc_search.sketch.hash_functions import siphash_2_4_128
from simdoc_search.sketch.hashing import numbered
from simdoc_search.sketch.long_text import LONG, shingles_in_pieces

ReadTexts = Callable[[Sequence[int]], Iterable[tuple[int, str | None]]]
"""The texts of documents, asked for by their numbers; one that is not kept is None, or left out."""

KEPT_BYTES = 1 << 28
"""Of numbers of shingles that are kept for the next pair."""

_CHARACTERS_AT_ONCE = 1 << 16
_TEXTS_AT_ONCE = 100
_NOT_THERE = None


class Verifier:
    """Exact numbers of shared shingles.

    Args:
        texts: gives the texts of documents.
        analysis: what a shingle is.
        kept_bytes: of numbers of shingles that are kept in memory.
    """

    def __init__(self, texts: ReadTexts, analysis: Analysis, kept_bytes: int = KEPT_BYTES) -> None:
        self._texts = texts
        self._analysis = analysis
        self._key = (secrets.randbits(64), secrets.randbits(64))
        self._left = kept_bytes
        self._known: OrderedDict[int, Keys | None] = OrderedDict()

    def shared(self, first: Ints, second: Ints) -> tuple[Ints, Ints, Ints]:
        """For each pair the distinct shingles that both texts have, and those of the first and of the second.

        -1 where a text is not to be had.
        """
        found = np.full((3, len(first)), -1, np.int64)
        for start in range(0, len(first), _TEXTS_AT_ONCE // 2):
            some = slice(start, start + _TEXTS_AT_ONCE // 2)
            numbers = self._numbers([*first[some].tolist(), *second[some].tolist()])
            for at, (a, b) in enumerate(zip(first[some].tolist(), second[some].tolist(), strict=True), start):
                left, right = numbers[a], numbers[b]
                if left is not None and right is not None:
                    few, many = sorted((left, right), key=len)
                    found[:, at] = count_common(many, few), len(left), len(right)
        return found[0], found[1], found[2]

    def _numbers(self, who: Sequence[int]) -> Mapping[int, Keys | None]:
        """The numbers of the shingles of some documents, in order, none twice."""
        needed = dict.fromkeys(who)
        new = [each for each in needed if each not in self._known]
        found = dict.fromkeys(new, _NOT_THERE) | dict(self._read(new)) if new else {}
        for each in needed:
            if each in found:
                self._known[each] = found[each]
                self._left -= _size(found[each])
            else:
                found[each] = self._known[each]
                self._known.move_to_end(each)
        while self._left < 0 and self._known:
            self._left += _size(self._known.popitem(last=False)[1])
        return found

    def _read(self, who: Sequence[int]) -> Iterator[tuple[int, Keys]]:
        names: list[int] = []
        texts: list[str] = []
        for number, text in self._texts(who):
            if text is None:
                continue
            names.append(number)
            texts.append(text)
            if sum(map(len, texts)) >= _CHARACTERS_AT_ONCE:
                yield from zip(names, shingle_numbers(texts, self._analysis, self._key), strict=True)
                names, texts = [], []
        yield from zip(names, shingle_numbers(texts, self._analysis, self._key), strict=True)


def shingle_numbers(texts: Sequence[str], analysis: Analysis, key: tuple[int, int]) -> list[Keys]:
    """For each text a number for each of its distinct shingles, in order; uint64."""
    if analysis.unit == "word" and analysis.is_plain and any(len(each) >= LONG for each in texts):
        return [_of_pieces(each, analysis, key) for each in texts]
    _, batch = shingles_of_texts(texts, analysis)
    return [distinct(each) for each in np.split(_hashed(batch, key), np.cumsum(batch.counts)[:-1])] if texts else []


def _of_pieces(text: str, analysis: Analysis, key: tuple[int, int]) -> Keys:
    pieces = [distinct(_hashed(each, key)) for each in shingles_in_pieces(text, analysis)]
    return distinct(np.concatenate(pieces)) if pieces else np.zeros(0, np.uint64)


def _hashed(batch: ShingleBatch, key: tuple[int, int]) -> Keys:
    if not len(batch.starts):
        return np.zeros(0, np.uint64)
    hashes = siphash_2_4_128(batch.units, batch.starts, batch.ends, key)[0]
    return numbered(hashes, batch.counts) if batch.with_frequencies else hashes


def _size(numbers: Keys | None) -> int:
    return 100 + (0 if numbers is None else numbers.nbytes)
