"""Finds the passages that two texts share: common runs of words, joined across small changes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from simdoc_search.analysis.settings import Analysis
from simdoc_search.analysis.words import PlacedWords, placed_words
from simdoc_search.cancellation import check_stopped
from simdoc_search.passages.chains import chains, cut_overlaps, dense_runs, hull, split_at_gaps, uncovered_runs
from simdoc_search.passages.chance import RunEvidence, WeightedOverlap, trim_ends
from simdoc_search.passages.passage import Passage
from simdoc_search.passages.runs import common_runs, covering_runs, unique_runs
from simdoc_search.passages.windows import Ints, Windows
from simdoc_search.passages.word_spans import Mask, span_of

Preset = Literal["edited", "verbatim"]

SHORT_TEXT = 1_000
"""The maximum number of words of a short text."""
SHORT_RUN, LONG_RUN = 6, 12
"""The default minimum run length, in words: for a short first text, and for a longer one."""

_MIN_EDITED_WORDS = 15
"""The minimum number of matched words in a passage of several runs."""
_MIN_NEARBY_WORDS, _NEARBY_REACH, _MIN_LONE_RUN = 10, 30, 8
"""A run may be part of an edited passage if at least 10 equal words are within about 30 words of it, or if it has 8."""
_MAX_PAIRS = 4
"""A window of words is rare if its number of occurrences in one text times that in the other is at most 4.

Runs that are shorter than the minimum length are only found around rare windows.
"""
_CHAIN_GAP = 50
"""The maximum gap between two runs of a chain, in words; see `chains`."""
_MAX_REPLACED = 60
"""The maximum number of replaced words between two runs of a passage."""
_MIN_DENSITY = 0.3
"""The minimum share of matched words in an edited passage, in the text where the passage is shorter."""


@dataclass(frozen=True, slots=True)
class Alignment:
    """Which passages of two texts count as shared.

    Attributes:
        min_run: The minimum run length, in words; at least 1. Every run of equal words that is this long is found.
            None: 6 if the first text has at most 1,000 words, otherwise 12. For a very short text, five sixths of its
            words are enough.
        edited: Whether a passage may contain changes. An edited passage has a run of the minimum length, or at least 15
            matched words. In the text where the passage is shorter, at least 30 % of its words are matched.
        max_gap: The maximum number of unmatched words between two runs of a passage, in the first text; at least 0. Up
            to 60 are allowed if they replace words of the second text.
    """

    min_run: int | None = None
    edited: bool = True
    max_gap: int = 20

    def __post_init__(self) -> None:
        for name, value, minimum in (("min_run", self.min_run, 1), ("max_gap", self.max_gap, 0)):
            if name == "min_run" and value is None:
                continue
            if not isinstance(value, int) or isinstance(value, bool) or value < minimum:
                raise ValueError(f"{name} must be a whole number of at least {minimum}, not {value!r}")

    def min_run_for(self, words: int) -> int:
        """The minimum run length if the first text has `words` words."""
        if self.min_run is not None:
            return self.min_run
        return SHORT_RUN if words <= SHORT_TEXT else LONG_RUN


EDITED = Alignment()
"""Also finds passages in which words were replaced, removed, inserted or shuffled."""

VERBATIM = Alignment(edited=False)
"""Finds equal words in the same order. Only letter case, punctuation and symbols may differ."""

PRESETS: dict[str, Alignment] = {"edited": EDITED, "verbatim": VERBATIM}


def align(a: str, b: str, preset: Preset | Alignment = "edited", analysis: Analysis | None = None) -> list[Passage]:
    """The passages that two texts share, in the order of the first text.

    Words are compared after normalisation. Every run of at least `min_run` equal words is in a passage, in both texts.

    Args:
        a: The first text.
        b: The second text.
        preset: `edited`, `verbatim`, or your own settings.
        analysis: How texts are split into words. None: the default.

    Raises:
        ValueError: There is no such preset.
    """
    return align_words(placed_words(a, analysis), placed_words(b, analysis), preset)


def align_words(a: PlacedWords, b: PlacedWords, preset: Preset | Alignment = "edited") -> list[Passage]:
    """The passages that two texts share, already split into words; see `align`."""
    if isinstance(preset, str):
        if preset not in PRESETS:
            raise ValueError(f"preset must be {' or '.join(map(repr, PRESETS))}, not {preset!r}")
        preset = PRESETS[preset]
    if not a.words or not b.words:
        return []
    windows = Windows(a.words, b.words)
    min_run = _at_most_five_sixths(preset.min_run_for(len(a.words)), windows)
    if preset.edited:
        candidates = list(_edited_passages(windows, min_run, preset.max_gap))
    else:
        runs = covering_runs(windows, min_run, common_runs(windows, min_run, _MAX_PAIRS))
        candidates = list(uncovered_runs(runs, windows.sizes, min_run)[:, np.newaxis])
    passages = [_passage(a, b, runs) for runs in _without_nested(candidates, len(a.words))]
    return sorted(passages, key=lambda passage: (passage.a, passage.b))


def _at_most_five_sixths(words: int, windows: Windows) -> int:
    """A number of words, limited to five sixths of the shorter text."""
    shorter = min(windows.sizes)
    return min(words, shorter - shorter // 6)


def _edited_passages(windows: Windows, min_run: int, max_gap: int) -> Iterator[Ints]:
    """The matched runs of each passage, in the order of the first text."""
    min_words = max(_at_most_five_sixths(_MIN_EDITED_WORDS, windows), min_run)
    lengths = range(1, min(3, min_words) + 1)
    runs = unique_runs(np.concatenate([common_runs(windows, length, _MAX_PAIRS) for length in lengths]))
    runs = dense_runs(runs, _NEARBY_REACH, _MIN_NEARBY_WORDS * min_words // _MIN_EDITED_WORDS, _MIN_LONE_RUN)
    runs = uncovered_runs(covering_runs(windows, min_run, runs), windows.sizes, min_run)
    overlap, evidence = WeightedOverlap(windows), RunEvidence(windows)
    taken_a, taken_b = (np.zeros(size, bool) for size in windows.sizes)
    groups, chain_gap = [runs], _CHAIN_GAP
    while groups:
        rejected: list[Ints] = []
        for untrimmed in itertools.chain.from_iterable(chains(group, chain_gap) for group in groups):
            check_stopped()
            chain = trim_ends(untrimmed, min_run)
            if not len(chain):
                continue
            cut_runs = cut_overlaps(chain, taken_a, taken_b)
            yield from _repeated_runs(chain, min_run, taken_a, taken_b)
            a_first, a_end, b_first, b_end = hull(chain)
            taken_a[a_first:a_end] = taken_b[b_first:b_end] = False
            for part in split_at_gaps(evidence.credible(cut_runs, min_run), min(max_gap, chain_gap), _MAX_REPLACED):
                if len(part) == 1 or _is_one_passage(part, overlap, min_words):
                    if part[:, 2].sum() >= (min_run if len(part) == 1 else min_words):
                        yield part
                else:
                    rejected.append(part)
        groups, chain_gap = rejected, chain_gap // 2


def _repeated_runs(chain: Ints, min_run: int, taken_a: Mask, taken_b: Mask) -> Iterator[Ints]:
    """The long runs of a chain that `cut_overlaps` removed or shortened, because the chain repeats their words."""
    for run in chain[chain[:, 2] >= min_run]:
        i, j, size = run.tolist()
        if not (taken_a[i : i + size].all() and taken_b[j : j + size].all()):
            yield run[np.newaxis]


def _without_nested(passages: list[Ints], words: int) -> Iterator[Ints]:
    """The passages that are not nested in a larger one.

    A nested passage is inside the larger one in both texts and matches no additional word of the first text.
    """
    larger: list[tuple[int, int, int, int]] = []
    owner = np.full(words, -1)  # the larger passage that matches each word of the first text, or -1
    for runs in sorted(passages, key=lambda runs: -int(runs[:, 2].sum())):
        a_first, a_end, b_first, b_end = hull(runs)
        owners = set(np.concatenate([owner[i : i + size] for i, _, size in runs.tolist()]).tolist())
        overlapping = [larger[number] for number in owners if number >= 0]
        if -1 in owners or not any(
            i <= a_first and a_end <= i_end and j <= b_first and b_end <= j_end for i, i_end, j, j_end in overlapping
        ):
            for i, _, size in runs.tolist():
                owner[i : i + size] = len(larger)
            larger.append((a_first, a_end, b_first, b_end))
            yield runs


def _is_one_passage(runs: Ints, overlap: WeightedOverlap, min_words: int) -> bool:
    words = int(runs[:, 2].sum())
    a_first, a_end, b_first, b_end = area = hull(runs)
    if words < min_words or words < _MIN_DENSITY * min(a_end - a_first, b_end - b_first):
        return False
    return overlap.is_one_passage(area, words, min_words)


def _passage(a: PlacedWords, b: PlacedWords, runs: Ints) -> Passage:
    a_first, a_end, b_first, b_end = hull(runs)
    spans = tuple((span_of(a, i, i + size), span_of(b, j, j + size)) for i, j, size in runs.tolist())
    return Passage(span_of(a, a_first, a_end), span_of(b, b_first, b_end), int(runs[:, 2].sum()), spans)
