"""Which passages two texts share, and where: common runs of words, chained over small changes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from simdoc_search.analysis.settings import Analysis
from simdoc_search.analysis.words import PlacedWords, placed_words
from simdoc_search.passages.chains import chains, dense, disjoint, trimmed, uncovered
from simdoc_search.passages.likeness import Likeness
from simdoc_search.passages.passage import Passage, Span
from simdoc_search.passages.runs import common_runs, covering_runs, distinct
from simdoc_search.passages.windows import Ints, Windows
from simdoc_search.stopping import check_stopped

__all__ = ["EDITED", "PRESETS", "VERBATIM", "Alignment", "Preset", "align", "align_words"]

Preset = Literal["edited", "verbatim"]

_REACH, _LONG = 30, 8
"""How near the words of an edited passage lie to each other; how long a run need not be near others."""


@dataclass(frozen=True, slots=True)
class Alignment:
    """What counts as a shared passage.

    Attributes:
        shingle: words of the shortest equal run that is part of one, at least 1.
        least: equal words of the shortest passage, at least 1. Of a text that has fewer, five sixths are enough.
        gap: words that may differ between two runs of a passage, in each of the texts, at least 0.
        often: a shingle that the texts have in more than so many pairs of places finds no passage, and only
            is part of one; at least 1.
        near: how many equal words there must be close to a run, its own among them, at least 0. With 0 runs alone make
            a passage. Else the words of its two places must also be alike as a whole (see `Likeness`), and where next
            to nothing differs in one text, more may in the other.
    """

    shingle: int = 1
    least: int = 15
    gap: int = 50
    often: int = 4
    near: int = 10

    def __post_init__(self) -> None:
        for name, minimum in (("shingle", 1), ("least", 1), ("gap", 0), ("often", 1), ("near", 0)):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < minimum:
                raise ValueError(f"{name} must be a whole number of at least {minimum}, not {value!r}")


EDITED = Alignment()
"""Finds passages with words changed, dropped, inserted or shuffled too."""

VERBATIM = Alignment(shingle=5, least=20, gap=40, often=16, near=0)
"""Finds what was copied word for word, with a change here and there."""

PRESETS: dict[str, Alignment] = {"edited": EDITED, "verbatim": VERBATIM}


def align(a: str, b: str, preset: Preset | Alignment = "edited", analysis: Analysis | None = None) -> list[Passage]:
    """The passages that two texts share, in the order of the first text.

    Words are compared as the analysis normalises them, places are those of the texts as they are. Every run of at least
    `least` equal words lies in a passage, in both texts.

    Args:
        a: the first text.
        b: the second text.
        preset: `edited`, `verbatim`, or settings of your own.
        analysis: what the words are; None: the default.

    Raises:
        ValueError: there is no such preset.
    """
    return align_words(placed_words(a, analysis), placed_words(b, analysis), preset)


def align_words(a: PlacedWords, b: PlacedWords, preset: Preset | Alignment = "edited") -> list[Passage]:
    """The same for texts whose words are known."""
    if isinstance(preset, str):
        if preset not in PRESETS:
            raise ValueError(f"preset must be {' or '.join(map(repr, PRESETS))}, not {preset!r}")
        preset = PRESETS[preset]
    if not a.words or not b.words:
        return []
    shorter = min(len(a.words), len(b.words))
    least = min(preset.least, shorter - shorter // 6)
    windows = Windows(a.words, b.words)
    runs = _runs(windows, preset, least)
    taken_a, taken_b = np.zeros(len(a.words), bool), np.zeros(len(b.words), bool)
    found = []
    for chain in _accepted(runs, windows, preset, least):
        check_stopped()
        kept = disjoint(chain, taken_a, taken_b)
        first, end, other, other_end = _hull(chain)
        taken_a[first:end] = taken_b[other:other_end] = False
        found.append(
            Passage(
                _span(a, first, end),
                _span(b, other, other_end),
                end - first,
                tuple((_span(a, i, i + size), _span(b, j, j + size)) for i, j, size in kept.tolist()),
            )
        )
    return sorted(found, key=lambda each: (each.a, each.b))


def _runs(windows: Windows, preset: Alignment, least: int) -> Ints:
    """The runs that passages are made of."""
    sizes = range(min(preset.shingle, least), min(max(preset.shingle, 3), least) + 1)
    runs = distinct(np.concatenate([common_runs(windows, size, preset.often) for size in sizes]))
    if preset.near:
        runs = dense(runs, _REACH, preset.near * least // preset.least, _LONG)
    runs = covering_runs(windows, least, runs)
    return uncovered(runs, windows.first, windows.second, least)


def _accepted(runs: Ints, windows: Windows, preset: Alignment, least: int) -> Iterator[Ints]:
    """The chains that are shared passages; of one that is none, perhaps parts that lie closer together."""
    likeness = Likeness(windows)
    waiting, gap = [runs], preset.gap
    while waiting:
        rejected: list[Ints] = []
        for chain in itertools.chain.from_iterable(chains(part, gap, uneven=preset.near > 0) for part in waiting):
            own = trimmed(chain, least) if preset.near else chain
            words = int(own[:, 2].sum())
            if words < least:
                continue
            if not preset.near or len(own) == 1 or likeness.shown(_hull(own), words, least):
                yield own
            else:
                rejected.append(own)
        waiting, gap = rejected, gap // 2


def _hull(runs: Ints) -> tuple[int, int, int, int]:
    """The first word of some runs and the one after the last, in both texts."""
    ends = runs[:, :2] + runs[:, 2:]
    return int(runs[:, 0].min()), int(ends[:, 0].max()), int(runs[:, 1].min()), int(ends[:, 1].max())


def _span(text: PlacedWords, first: int, end: int) -> Span:
    """The characters of some words."""
    return int(text.starts[first]), int(text.ends[end - 1])
