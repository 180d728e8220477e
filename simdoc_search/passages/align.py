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
from simdoc_search.passages.chains import chains, dense, disjoint, hull, parted, uncovered
from simdoc_search.passages.chance import Likeness, RunEvidence, trimmed
from simdoc_search.passages.passage import Passage
from simdoc_search.passages.runs import common_runs, covering_runs, unique_runs
from simdoc_search.passages.windows import Ints, Windows
from simdoc_search.passages.word_spans import Mask, span_of

Preset = Literal["edited", "verbatim"]

SHORT_TEXT = 1_000
SHORT_RUN, LONG_RUN = 6, 12
"""Every equal run of 6 words is found if the first text has at most 1,000 words, else every run of 12 words."""

_MIN_EDITED_WORDS = 15
"""Equal words of the shortest passage that has no run of the minimum length."""
_NEAR_WORDS, _NEAR_REACH, _LONG_RUN = 10, 30, 8
"""How many equal words such a passage has near each run, how near they are, and how long a run is without others."""
_MAX_PAIRS = 4
"""A window that occurs in more pairs of places starts no passage, but may be part of one."""
_CHAIN_GAP = 50
"""The maximum number of different words between two runs of a chain, in both texts."""
_MAX_REPLACED = 60
"""The maximum number of words that were replaced inside a passage."""
_MIN_DENSITY = 0.3
"""The minimum share of matched words in an edited passage, in the text with fewer words there."""


@dataclass(frozen=True, slots=True)
class Alignment:
    """What counts as a shared passage.

    Attributes:
        least: Every equal run of this many words is found; at least 1. None: 6 if the first text has at most 1,000
            words, else 12. If a text has fewer words, five sixths of them are enough.
        edited: Whether a passage may have changes inside. It then has a run of the minimum length, or at least 15 equal
            words. These are at least 30 % of its words in the text with fewer words there.
        gap: The maximum number of the author's own words between two parts of a passage, in the first text; at
            least 0. If they replace words of the second text, there may be more.
    """

    least: int | None = None
    edited: bool = True
    gap: int = 20

    def __post_init__(self) -> None:
        for name, value, minimum in (("least", self.least, 1), ("gap", self.gap, 0)):
            if name == "least" and value is None:
                continue
            if not isinstance(value, int) or isinstance(value, bool) or value < minimum:
                raise ValueError(f"{name} must be a whole number of at least {minimum}, not {value!r}")

    def least_of(self, words: int) -> int:
        """The length of the runs that are always found if the first text has `words` words."""
        if self.least is not None:
            return self.least
        return SHORT_RUN if words <= SHORT_TEXT else LONG_RUN


EDITED = Alignment()
"""Also finds passages with words replaced, left out, inserted or shuffled."""

VERBATIM = Alignment(edited=False)
"""Finds equal words in the same order. Only case and punctuation may differ."""

PRESETS: dict[str, Alignment] = {"edited": EDITED, "verbatim": VERBATIM}


def align(a: str, b: str, preset: Preset | Alignment = "edited", analysis: Analysis | None = None) -> list[Passage]:
    """The passages that two texts share, in the order of the first text.

    Words are compared after normalisation. Every run of at least `least` equal words is in a passage, in both texts.

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
    """The passages of two texts that are split into words; see `align`."""
    if isinstance(preset, str):
        if preset not in PRESETS:
            raise ValueError(f"preset must be {' or '.join(map(repr, PRESETS))}, not {preset!r}")
        preset = PRESETS[preset]
    if not a.words or not b.words:
        return []
    windows = Windows(a.words, b.words)
    least = _at_most_five_sixths(preset.least_of(len(a.words)), windows)
    if preset.edited:
        found = list(_edited_passages(windows, least, preset.gap))
    else:
        runs = covering_runs(windows, least, common_runs(windows, least, _MAX_PAIRS))
        found = list(uncovered(runs, windows.sizes, least)[:, np.newaxis])
    passages = [_passage(a, b, runs) for runs in _without_nested(found, len(a.words))]
    return sorted(passages, key=lambda passage: (passage.a, passage.b))


def _at_most_five_sixths(words: int, windows: Windows) -> int:
    """A number of words, or five sixths of the shorter text if it has fewer."""
    shorter = min(windows.sizes)
    return min(words, shorter - shorter // 6)


def _edited_passages(windows: Windows, least: int, gap: int) -> Iterator[Ints]:
    """The matched runs of each passage, in the order of the first text."""
    min_words = max(_at_most_five_sixths(_MIN_EDITED_WORDS, windows), least)
    lengths = range(1, min(3, min_words) + 1)
    runs = unique_runs(np.concatenate([common_runs(windows, length, _MAX_PAIRS) for length in lengths]))
    runs = dense(runs, _NEAR_REACH, _NEAR_WORDS * min_words // _MIN_EDITED_WORDS, _LONG_RUN)
    runs = uncovered(covering_runs(windows, least, runs), windows.sizes, least)
    likeness, evidence = Likeness(windows), RunEvidence(windows)
    taken_a, taken_b = (np.zeros(size, bool) for size in windows.sizes)
    groups, reach = [runs], _CHAIN_GAP
    while groups:
        rejected: list[Ints] = []
        for whole in itertools.chain.from_iterable(chains(group, reach) for group in groups):
            check_stopped()
            chain = trimmed(whole, least)
            if not len(chain):
                continue
            once = disjoint(chain, taken_a, taken_b)
            yield from _repeated_runs(chain, least, taken_a, taken_b)
            first, end, other, other_end = hull(chain)
            taken_a[first:end] = taken_b[other:other_end] = False
            for part in parted(evidence.credible(once, least), min(gap, reach), _MAX_REPLACED):
                if len(part) == 1 or _is_one_passage(part, likeness, min_words):
                    if part[:, 2].sum() >= (least if len(part) == 1 else min_words):
                        yield part
                else:
                    rejected.append(part)
        groups, reach = rejected, reach // 2


def _repeated_runs(chain: Ints, least: int, taken_a: Mask, taken_b: Mask) -> Iterator[Ints]:
    """The long runs of a chain that lost words to longer runs, as the chain has these words more than once."""
    for run in chain[chain[:, 2] >= least]:
        i, j, size = run.tolist()
        if not (taken_a[i : i + size].all() and taken_b[j : j + size].all()):
            yield run[np.newaxis]


def _without_nested(found: list[Ints], words: int) -> Iterator[Ints]:
    """The passages without those inside a larger one in both texts that match no further word of the first text."""
    larger: list[tuple[int, int, int, int]] = []
    owner = np.full(words, -1)  # which larger passage matches each word of the first text
    for runs in sorted(found, key=lambda runs: -int(runs[:, 2].sum())):
        first, end, other, other_end = hull(runs)
        owners = set(np.concatenate([owner[i : i + size] for i, _, size in runs.tolist()]).tolist())
        around = [larger[number] for number in owners if number >= 0]
        if -1 in owners or not any(
            i <= first and end <= i_end and j <= other and other_end <= j_end for i, i_end, j, j_end in around
        ):
            for i, _, size in runs.tolist():
                owner[i : i + size] = len(larger)
            larger.append((first, end, other, other_end))
            yield runs


def _is_one_passage(runs: Ints, likeness: Likeness, min_words: int) -> bool:
    words = int(runs[:, 2].sum())
    first, end, other, other_end = place = hull(runs)
    if words < min_words or words < _MIN_DENSITY * min(end - first, other_end - other):
        return False
    return likeness.is_one_passage(place, words, min_words)


def _passage(a: PlacedWords, b: PlacedWords, runs: Ints) -> Passage:
    first, end, other, other_end = hull(runs)
    spans = tuple((span_of(a, i, i + size), span_of(b, j, j + size)) for i, j, size in runs.tolist())
    return Passage(span_of(a, first, end), span_of(b, other, other_end), int(runs[:, 2].sum()), spans)
