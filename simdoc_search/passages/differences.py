"""What differs between two texts that share passages: words replaced, inserted, removed, and blocks moved."""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np

from simdoc_search.analysis.words import PlacedWords
from simdoc_search.cancellation import check_stopped
from simdoc_search.passages.passage import Difference, Passage, Span
from simdoc_search.passages.subsequences import EqualRun, common_words, in_order

_SMALL = 1 << 22
"""Stretches of more pairs of words than that are not looked into: they differ as a whole."""

_MOVED = 5
"""Words of the shortest run that is said to have moved; shorter ones were removed here and inserted there."""

_TOGETHER = 10
"""Words between two moved runs that moved together, at most."""

Stretch = tuple[int, int, int, int]
"""The first word and the one after the last, in the first text and in the second."""


def differences(a: PlacedWords, b: PlacedWords, passages: Sequence[Passage]) -> list[Difference]:
    """What differs, in the order of the first text.

    All words that lie in none of the differences are equal, and in the same order in both texts. What is in one that is
    `moved` is equal in its two places; no two differences have a word in common.

    Args:
        a: the words of the first text.
        b: those of the second.
        passages: what they share.
    """
    runs = disjoint_runs(a, b, passages)
    staying = in_order(runs)
    stays = set(staying)
    blocks = list(_blocks([run for run in runs if run not in stays and run[2] >= _MOVED], runs))
    places = _hulls(blocks)
    gaps = _between(staying, (0, len(a.words), 0, len(b.words)))
    changed = [part for gap in gaps for part in _parts(gap, *places)]
    for block in blocks:
        changed += _between(block[1:-1], _inner(block)) if len(block) > 1 else []
    found = [_difference(a, b, "moved", _stretch(run)) for block in blocks for run in block]
    for part in changed:
        check_stopped()
        found += [_difference(a, b, _kind(each), each) for each in _refined(a.words, b.words, part)]
    return sorted(found, key=lambda each: (each.a, each.b))


def disjoint_runs(a: PlacedWords, b: PlacedWords, passages: Sequence[Passage]) -> list[EqualRun]:
    """The runs of the passages, in words, in the order of the first text: no word is in two of them."""
    return _disjoint(_runs(a, b, passages), len(a.words), len(b.words))


def _runs(a: PlacedWords, b: PlacedWords, passages: Sequence[Passage]) -> list[EqualRun]:
    spans = [run for passage in passages for run in passage.runs]
    if not spans:
        return []
    starts = np.searchsorted(a.starts, [span[0] for span, _ in spans])
    ends = np.searchsorted(a.ends, [span[1] for span, _ in spans]) + 1
    others = np.searchsorted(b.starts, [span[0] for _, span in spans])
    return list(zip(starts.tolist(), others.tolist(), (ends - starts).tolist(), strict=True))


def _disjoint(runs: list[EqualRun], first: int, second: int) -> list[EqualRun]:
    """The runs whose words no longer one has, in the order of the first text."""
    kept = []
    taken_a, taken_b = np.zeros(first, bool), np.zeros(second, bool)
    for i, j, size in sorted(runs, key=lambda run: -run[2]):
        if not taken_a[i : i + size].any() and not taken_b[j : j + size].any():
            taken_a[i : i + size] = taken_b[j : j + size] = True
            kept.append((i, j, size))
    return sorted(kept)


def _blocks(moved: list[EqualRun], runs: list[EqualRun]) -> Iterator[list[EqualRun]]:
    """Moved runs that moved together: little is between them, in both texts, and no other run."""
    after_a, after_b = _next(runs), _next(sorted(runs, key=lambda run: run[1]))
    block: list[EqualRun] = []
    for run in moved:
        if block:
            i, j, size = last = block[-1]
            near = run[0] - i - size <= _TOGETHER and 0 <= run[1] - j - size <= _TOGETHER
            if not (near and after_a.get(last) == run == after_b.get(last)):
                yield block
                block = []
        block.append(run)
    if block:
        yield block


def _next(runs: list[EqualRun]) -> dict[EqualRun, EqualRun]:
    return dict(itertools.pairwise(runs))


def _between(runs: Sequence[EqualRun], whole: Stretch) -> Iterator[Stretch]:
    """What of a stretch lies before, between and after the runs in it that are in order in both texts."""
    i, end, j, other_end = whole
    for start, other, size in [*runs, (end, other_end, 0)]:
        if i < start or j < other:
            yield i, start, j, other
        i, j = start + size, other + size


def _stretch(run: EqualRun) -> Stretch:
    i, j, size = run
    return i, i + size, j, j + size


def _inner(block: list[EqualRun]) -> Stretch:
    """What lies between the first run of a block and its last."""
    (i, j, size), (end, other_end, _) = block[0], block[-1]
    return i + size, end, j + size, other_end


def _hulls(blocks: Sequence[list[EqualRun]]) -> tuple[list[Span], list[Span]]:
    """The first word of each block and the one after its last, in either text, ascending."""
    ends = [(*_stretch(block[0]), *_stretch(block[-1])) for block in blocks]
    return sorted((each[0], each[5]) for each in ends), sorted((each[2], each[7]) for each in ends)


def _parts(gap: Stretch, blocks_a: list[Span], blocks_b: list[Span]) -> Iterator[Stretch]:
    """A gap without the moved blocks in it."""
    i, end, j, other_end = gap
    pieces_a, pieces_b = list(_outside(i, end, blocks_a)), list(_outside(j, other_end, blocks_b))
    both = min(len(pieces_a), len(pieces_b))
    yield from ((*one, *other) for one, other in zip(pieces_a[:both], pieces_b[:both], strict=True))
    yield from ((*one, other_end, other_end) for one in pieces_a[both:])
    yield from ((end, end, *other) for other in pieces_b[both:])


def _outside(begin: int, end: int, blocks: list[Span]) -> Iterator[Span]:
    """The pieces from `begin` to `end` between blocks."""
    for at in range(bisect_left(blocks, (begin, begin)), len(blocks)):
        start, stop = blocks[at]
        if start >= end:
            break
        if begin < start:
            yield begin, start
        begin = stop
    if begin < end:
        yield begin, end


def _refined(a: Sequence[str], b: Sequence[str], part: Stretch) -> Iterator[Stretch]:
    """What differs in a stretch of both texts.

    Equal words between differences that are larger on both sides are there by chance, and read better as one of them.
    """
    i, end, j, other_end = part
    if not (end - i) * (other_end - j) <= _SMALL:
        yield part
        return
    equal = [(i + at, j + other, size) for at, other, size in common_words(a[i:end], b[j:other_end])]
    gaps = list(_between(equal, part))
    last: Stretch | None = None
    for gap in gaps:
        if last is not None and gap[0] - last[1] < min(_size(last), _size(gap)):
            last = (last[0], gap[1], last[2], gap[3])
            continue
        if last is not None:
            yield last
        last = gap
    if last is not None:
        yield last


def _size(part: Stretch) -> int:
    return max(part[1] - part[0], part[3] - part[2])


def _kind(part: Stretch) -> Literal["replaced", "inserted", "removed"]:
    i, end, j, other_end = part
    return "inserted" if i == end else "removed" if j == other_end else "replaced"


def _difference(
    a: PlacedWords, b: PlacedWords, kind: Literal["replaced", "inserted", "removed", "moved"], part: Stretch
) -> Difference:
    i, end, j, other_end = part
    return Difference(kind, _span(a, i, end), _span(b, j, other_end), _size(part))


def _span(text: PlacedWords, first: int, end: int) -> Span:
    """The characters of some words; of none the place after the word before them."""
    if first < end:
        return int(text.starts[first]), int(text.ends[end - 1])
    place = int(text.ends[first - 1]) if first else 0
    return place, place
