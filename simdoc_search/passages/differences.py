"""Finds the words that differ between two texts: replaced, inserted, removed and moved words."""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import numpy as np

from simdoc_search.analysis.words import WordPositions
from simdoc_search.cancellation import check_stopped
from simdoc_search.passages.chains import group_moved_runs
from simdoc_search.passages.passage import Difference, Passage, Span
from simdoc_search.passages.subsequences import EqualRun, heaviest_increasing_subsequence, longest_common_subsequence
from simdoc_search.passages.word_spans import Mask, empty_mask, mask_to_word_ranges, words_to_span

_MAX_WORD_PAIRS = 1 << 22
"""A stretch (unmatched words of both texts) is one difference if the product of its two word counts is larger."""

_MAX_WORDS_PER_EQUAL_WORD = 50
"""Two differences are joined if the larger one has more than 50 words for each equal word between them."""

Stretch = tuple[int, int, int, int]
"""The index of the first word and the index after the last word, in the first text and then in the second."""


def find_differences(a: WordPositions, b: WordPositions, passages: Sequence[Passage]) -> list[Difference]:
    """Return the differences between two texts that share these passages, in the order of the first text.

    Outside the differences, both texts have equal words in the same order. The words of a `moved` difference are equal
    in both texts. Each word is in at most one difference.
    """
    runs = select_disjoint_runs(a, b, passages)
    unmoved = heaviest_increasing_subsequence(runs)
    blocks = list(group_moved_runs(runs, unmoved))
    ends = [(block[0], block[-1]) for block in blocks]
    blocks_a = sorted((first[0], last[0] + last[2]) for first, last in ends)
    blocks_b = sorted((first[1], last[1] + last[2]) for first, last in ends)
    stretches: list[Stretch] = []
    for gap in _find_gaps(unmoved, (0, len(a.words), 0, len(b.words))):
        stretches += _cut_out_blocks(gap, blocks_a, blocks_b)
    for block in blocks:
        (i, j, size), (end, other_end, _) = block[0], block[-1]
        stretches += _find_gaps(block[1:-1], (i + size, end, j + size, other_end)) if len(block) > 1 else []
    result = [_make_difference(a, b, "moved", (i, i + size, j, j + size)) for block in blocks for i, j, size in block]
    for stretch in stretches:
        check_stopped()
        result += [_make_difference(a, b, _classify(part), part) for part in _split_stretch(a.words, b.words, stretch)]
    return sorted(result, key=lambda difference: (difference.a, difference.b))


def remove_words_from_differences(
    differences: Iterable[Difference], a: WordPositions, b: WordPositions, is_ignored: tuple[Mask, Mask]
) -> list[Difference]:
    """Return the differences without the ignored words of each text. Ignored words cut a difference in two."""
    result = []
    for difference in differences:
        i, j = int(np.searchsorted(a.starts, difference.a[0])), int(np.searchsorted(b.starts, difference.b[0]))
        end, other_end = i + difference.removed_word_count, j + difference.added_word_count
        kept_a, kept_b = ~is_ignored[0][i:end], ~is_ignored[1][j:other_end]
        if difference.kind == "moved":
            kept_a = kept_b = kept_a & kept_b
        parts_a = [(i + first, i + last) for first, last in mask_to_word_ranges(kept_a)]
        parts_b = [(j + first, j + last) for first, last in mask_to_word_ranges(kept_b)]
        for stretch in _pair_parts(parts_a, parts_b, end, other_end):
            kind: Literal["replaced", "inserted", "removed", "moved"] = (
                "moved" if difference.kind == "moved" else _classify(stretch)
            )
            result.append(_make_difference(a, b, kind, stretch))
    return sorted(result, key=lambda difference: (difference.a, difference.b))


def select_disjoint_runs(a: WordPositions, b: WordPositions, passages: Sequence[Passage]) -> list[EqualRun]:
    """Return the runs of passages, in the order of the first text. A run that overlaps a longer run is omitted."""
    spans = [run for passage in passages for run in passage.runs]
    if not spans:
        return []
    starts = np.searchsorted(a.starts, [span[0] for span, _ in spans]).tolist()
    ends = (np.searchsorted(a.ends, [span[1] for span, _ in spans]) + 1).tolist()
    others = np.searchsorted(b.starts, [span[0] for _, span in spans]).tolist()
    runs = [(i, j, end - i) for i, j, end in zip(starts, others, ends, strict=True)]
    kept = []
    taken_a, taken_b = empty_mask(len(a.words)), empty_mask(len(b.words))
    for i, j, size in sorted(runs, key=lambda run: -run[2]):
        if not taken_a[i : i + size].any() and not taken_b[j : j + size].any():
            taken_a[i : i + size] = taken_b[j : j + size] = True
            kept.append((i, j, size))
    return sorted(kept)


def _find_gaps(runs: Sequence[EqualRun], stretch: Stretch) -> Iterator[Stretch]:
    """Yield the parts of a stretch before, between and after runs that are in the same order in both texts."""
    i, end, j, other_end = stretch
    for start, other, size in [*runs, (end, other_end, 0)]:
        if i < start or j < other:
            yield i, start, j, other
        i, j = start + size, other + size


def _cut_out_blocks(gap: Stretch, blocks_a: list[Span], blocks_b: list[Span]) -> Iterator[Stretch]:
    """Yield the parts of a gap that are outside all moved blocks."""
    i, end, j, other_end = gap
    parts_a, parts_b = _subtract_blocks((i, end), blocks_a), _subtract_blocks((j, other_end), blocks_b)
    yield from _pair_parts(parts_a, parts_b, end, other_end)


def _pair_parts(parts_a: Iterable[Span], parts_b: Iterable[Span], end: int, other_end: int) -> Iterator[Stretch]:
    """Pair the parts of both texts, in order. If one text has more parts, pair the rest with empty parts at the end."""
    nothing_a, nothing_b = (end, end), (other_end, other_end)
    for part_a, part_b in itertools.zip_longest(parts_a, parts_b):
        yield (*(part_a or nothing_a), *(part_b or nothing_b))


def _subtract_blocks(span: Span, blocks: list[Span]) -> Iterator[Span]:
    """Yield the parts of a span of words that are outside all blocks."""
    begin, end = span
    for number in range(bisect_left(blocks, (begin, begin)), len(blocks)):
        start, stop = blocks[number]
        if start >= end:
            break
        if begin < start:
            yield begin, start
        begin = stop
    if begin < end:
        yield begin, end


def _split_stretch(a: Sequence[str], b: Sequence[str], stretch: Stretch) -> Iterator[Stretch]:
    """Yield the differences inside a stretch.

    Two differences are joined if the equal words between them are fewer than the words of the smaller difference, or
    less than a fiftieth of the words of the larger one. Such words are probably equal by chance.
    """
    i, end, j, other_end = stretch
    if (end - i) * (other_end - j) > _MAX_WORD_PAIRS:
        yield stretch
        return
    equal = [
        (i + first, j + second, size) for first, second, size in longest_common_subsequence(a[i:end], b[j:other_end])
    ]
    last: Stretch | None = None
    for gap in _find_gaps(equal, stretch):
        if last is not None:
            smaller, larger = sorted(map(_count_longer_side, (last, gap)))
            if gap[0] - last[1] < max(smaller, larger / _MAX_WORDS_PER_EQUAL_WORD):
                last = (last[0], gap[1], last[2], gap[3])
                continue
            yield last
        last = gap
    if last is not None:
        yield last


def _count_longer_side(stretch: Stretch) -> int:
    return max(stretch[1] - stretch[0], stretch[3] - stretch[2])


def _classify(stretch: Stretch) -> Literal["replaced", "inserted", "removed"]:
    i, end, j, other_end = stretch
    return "inserted" if i == end else "removed" if j == other_end else "replaced"


def _make_difference(
    a: WordPositions, b: WordPositions, kind: Literal["replaced", "inserted", "removed", "moved"], stretch: Stretch
) -> Difference:
    i, end, j, other_end = stretch
    return Difference(kind, words_to_span(a, i, end), words_to_span(b, j, other_end), end - i, other_end - j)
