"""Finds the passages that two texts share: common runs of words, joined across small changes."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from simdoc_search.analysis.native import kernel
from simdoc_search.analysis.settings import Analysis
from simdoc_search.analysis.word_ids import WordIds
from simdoc_search.analysis.words import WordPositions
from simdoc_search.cancellation import check_stopped
from simdoc_search.passages.chains import (
    bounding_box,
    cut_overlaps,
    drop_displaced_words,
    join_into_chains,
    select_dense_runs,
    select_uncovered_runs,
    split_at_gaps,
)
from simdoc_search.passages.chance import RunEvidence, WeightedOverlap, trim_ends
from simdoc_search.passages.passage import Passage
from simdoc_search.passages.runs import add_covering_runs, find_common_runs, unique_runs
from simdoc_search.passages.typography import locate_unified_words
from simdoc_search.passages.windows import Ints, Windows
from simdoc_search.passages.word_spans import Mask, words_to_span

Preset = Literal["edited", "verbatim"]

MAX_SHORT_TEXT_WORDS = 1_000
"""The maximum number of words of a short text."""
SHORT_TEXT_MIN_RUN, LONG_TEXT_MIN_RUN = 6, 12
"""The default minimum run lengths, in words, if the first text is short and if it is longer."""

_MIN_EDITED_WORDS = 15
"""The minimum number of matched words in a passage of several runs."""
_MIN_NEARBY_WORDS, _NEARBY_REACH, _MIN_LONE_RUN = 10, 30, 8
"""A run may be part of an edited passage if it has at least 8 words, or if there are at least 10 equal words within
about 30 words of the run. A run of at least 8 words at the end of a passage is not there by chance."""
_MAX_WINDOW_PAIRS = 4
"""A window of words that occurs m times in one text and n times in the other is rare if m * n is at most 4.

Runs that are shorter than the minimum length are found only around rare windows.
"""
MAX_NATIVE_WORDS = 1_000_000
"""The maximum number of words of both texts for the native kernel, because the kernel cannot be stopped."""
_MAX_CHAIN_GAP = 50
"""The maximum gap between two runs of a chain, in words; see `join_into_chains`."""
_MAX_REPLACED_WORDS = 60
"""The maximum number of replaced words between two runs of a passage."""
_MIN_DENSITY = 0.3
"""The minimum share of matched words in an edited passage, in the text where the passage is shorter."""


@dataclass(frozen=True, slots=True)
class AlignmentSettings:
    """Settings that decide which passages of two texts count as shared.

    Attributes:
        min_run: The minimum run length, in words; at least 1. Every run of equal words of this length is found. If
            None, the minimum is 6 words if the first text has at most 1,000 words, otherwise 12. In a very short text,
            a run of five sixths of its words is long enough.
        edited: Whether a passage may contain changes. An edited passage has a run of the minimum length, or at least 15
            matched words. In the text where the passage is shorter, at least 30 % of its words are matched.
        max_gap: The maximum number of unmatched words between two runs of a passage, in the first text; at least 0. Up
            to 60 unmatched words are allowed if they replace words of the second text.
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

    def min_run_for(self, word_count: int) -> int:
        """Return the minimum run length if the first text has `word_count` words."""
        if self.min_run is not None:
            return self.min_run
        return SHORT_TEXT_MIN_RUN if word_count <= MAX_SHORT_TEXT_WORDS else LONG_TEXT_MIN_RUN


EDITED = AlignmentSettings()
"""Also finds passages in which words were replaced, removed, inserted or shuffled."""

VERBATIM = AlignmentSettings(edited=False)
"""Finds only passages with equal words in the same order. Letter case, punctuation and symbols may differ."""

PRESETS: dict[str, AlignmentSettings] = {"edited": EDITED, "verbatim": VERBATIM}


def align(
    a: str, b: str, preset: Preset | AlignmentSettings = "edited", analysis: Analysis | None = None
) -> list[Passage]:
    """Return the passages that two texts share, in the order of the first text.

    Words are compared after normalisation. Every run of at least `min_run` equal words is in a passage, in both texts.

    Args:
        a: The first text.
        b: The second text.
        preset: `edited`, `verbatim`, or your own settings.
        analysis: How texts are split into words. If None, the default analysis is used.

    Raises:
        ValueError: The preset is unknown.
    """
    return align_words(locate_unified_words(a, analysis), locate_unified_words(b, analysis), preset)


def align_words(a: WordPositions, b: WordPositions, preset: Preset | AlignmentSettings = "edited") -> list[Passage]:
    """Return the passages shared by two texts that are already split into words; see `align`."""
    if isinstance(preset, str):
        if preset not in PRESETS:
            raise ValueError(f"preset must be {' or '.join(map(repr, PRESETS))}, not {preset!r}")
        preset = PRESETS[preset]
    if not a.words or not b.words:
        return []
    passages = [
        _make_passage(a, b, runs) for runs in _find_passages(Windows(a.words, b.words, only_shared=True), preset)
    ]
    return sorted(passages, key=lambda passage: (passage.a, passage.b))


def align_word_ids(a: WordIds, b: WordIds, settings: AlignmentSettings) -> list[Ints]:
    """Return the matched runs of each passage shared by two texts, which are given as the ids of their words."""
    if not len(a) or not len(b):
        return []
    native = kernel() if len(a) + len(b) <= MAX_NATIVE_WORDS else None
    if native is None:
        return list(_find_passages(Windows(a.tolist(), b.tolist(), only_shared=True), settings))
    check_stopped()
    rows = native.passages(a.tobytes(), b.tobytes(), settings.min_run_for(len(a)), settings.edited, settings.max_gap)
    runs = np.frombuffer(rows, np.int64).reshape(-1, 4)
    return np.split(runs[:, 1:], np.flatnonzero(np.diff(runs[:, 0])) + 1) if len(runs) else []


def _find_passages(windows: Windows, settings: AlignmentSettings) -> Iterable[Ints]:
    """Return the matched runs of each passage."""
    if kernel() is not None and sum(windows.sizes) <= MAX_NATIVE_WORDS:
        a, b = (ids.astype(np.int32) for ids in windows.classes(1))
        return align_word_ids(a, b, settings)
    min_run = _limit_to_five_sixths(settings.min_run_for(windows.sizes[0]), windows)
    if settings.edited:
        candidates = list(_find_edited_passages(windows, min_run, settings.max_gap))
    else:
        runs = add_covering_runs(windows, min_run, find_common_runs(windows, min_run, _MAX_WINDOW_PAIRS))
        candidates = list(select_uncovered_runs(runs, windows.sizes, min_run)[:, np.newaxis])
    return _drop_nested_passages(candidates, windows.sizes[0])


def _limit_to_five_sixths(word_count: int, windows: Windows) -> int:
    """Return `word_count`, but at most five sixths of the words of the shorter text."""
    shorter = min(windows.sizes)
    return min(word_count, shorter - shorter // 6)


def _find_edited_passages(windows: Windows, min_run: int, max_gap: int) -> Iterator[Ints]:
    """Yield the matched runs of each edited passage, in the order of the first text."""
    min_words = max(_limit_to_five_sixths(_MIN_EDITED_WORDS, windows), min_run)
    runs = _find_runs(windows, min_run, min_words)
    overlap, evidence = WeightedOverlap(windows), RunEvidence(windows)
    is_taken_a, is_taken_b = (np.zeros(size, bool) for size in windows.sizes)
    min_kept_length = min(min_run, _MIN_LONE_RUN)
    groups, chain_gap = [runs], _MAX_CHAIN_GAP
    while groups:
        rejected: list[Ints] = []
        for untrimmed in itertools.chain.from_iterable(join_into_chains(group, chain_gap) for group in groups):
            check_stopped()
            chain = trim_ends(untrimmed, min_kept_length)
            if not len(chain):
                continue
            cut_runs = cut_overlaps(chain, is_taken_a, is_taken_b)
            for i, j, size in cut_runs[cut_runs[:, 2] < min_run].tolist():  # these may be dropped below
                is_taken_a[i : i + size] = is_taken_b[j : j + size] = False
            yield from _find_repeated_runs(chain, min_run, is_taken_a, is_taken_b)
            a_first, a_end, b_first, b_end = bounding_box(chain)
            is_taken_a[a_first:a_end] = is_taken_b[b_first:b_end] = False
            kept = drop_displaced_words(evidence.drop_chance_runs(cut_runs, min_run), min_run)
            for untrimmed_part in split_at_gaps(kept, min(max_gap, chain_gap), _MAX_REPLACED_WORDS):
                part = trim_ends(untrimmed_part, min_kept_length)  # the ends of a part were inside the chain
                if len(part) <= 1 or _is_one_passage(part, overlap, min_words):
                    if part[:, 2].sum() >= (min_run if len(part) <= 1 else min_words):
                        yield part
                else:
                    rejected.append(part)
        groups, chain_gap = rejected, chain_gap // 2


def _find_runs(windows: Windows, min_run: int, min_words: int) -> Ints:
    """Return the runs that may be part of a passage, by descending length."""
    max_window, min_nearby_words = min(3, min_words), _MIN_NEARBY_WORDS * min_words // _MIN_EDITED_WORDS
    runs_by_length = [find_common_runs(windows, length, _MAX_WINDOW_PAIRS) for length in range(1, max_window + 1)]
    found = unique_runs(np.concatenate(runs_by_length))
    found = select_dense_runs(found, _NEARBY_REACH, min_nearby_words, _MIN_LONE_RUN)
    return select_uncovered_runs(add_covering_runs(windows, min_run, found), windows.sizes, min_run)


def _find_repeated_runs(chain: Ints, min_run: int, is_taken_a: Mask, is_taken_b: Mask) -> Iterator[Ints]:
    """Yield the long runs of a chain that `cut_overlaps` removed or shortened.

    Some of their words are matched twice in one text, because they occur twice in the other text. The masks mark the
    words of the long runs that `cut_overlaps` returned.
    """
    for run in chain[chain[:, 2] >= min_run]:
        i, j, size = run.tolist()
        if not (is_taken_a[i : i + size].all() and is_taken_b[j : j + size].all()):
            yield run[np.newaxis]


def _drop_nested_passages(passages: list[Ints], word_count: int) -> Iterator[Ints]:
    """Yield the passages that are not nested in a larger one.

    A nested passage is inside the larger one in both texts and matches no additional word of the first text.
    """
    larger: list[tuple[int, int, int, int]] = []
    owner = np.full(word_count, -1)  # for each word of the first text, the index in `larger` of its passage, or -1
    for runs in sorted(passages, key=lambda runs: -int(runs[:, 2].sum())):
        a_first, a_end, b_first, b_end = bounding_box(runs)
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
    a_first, a_end, b_first, b_end = bounding_box(runs)
    if words < min_words or words < _MIN_DENSITY * min(a_end - a_first, b_end - b_first):
        return False
    return overlap.is_one_passage(runs, min_words)


def _make_passage(a: WordPositions, b: WordPositions, runs: Ints) -> Passage:
    a_first, a_end, b_first, b_end = bounding_box(runs)
    spans = tuple((words_to_span(a, i, i + size), words_to_span(b, j, j + size)) for i, j, size in runs.tolist())
    return Passage(words_to_span(a, a_first, a_end), words_to_span(b, b_first, b_end), int(runs[:, 2].sum()), spans)
