"""Which passages two texts share, and where: common runs of words, chained over small changes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.settings import Analysis
from simdoc_search.analysis.words import PlacedWords, placed_words
from simdoc_search.cancellation import check_stopped
from simdoc_search.passages.chains import chains, dense, disjoint, hull, parted, trimmed, uncovered
from simdoc_search.passages.evidence import RunEvidence
from simdoc_search.passages.passage import Passage, Span
from simdoc_search.passages.runs import common_runs, covering_runs, distinct
from simdoc_search.passages.similarity import Likeness
from simdoc_search.passages.windows import Ints, Windows

Preset = Literal["edited", "verbatim"]

SHORT_TEXT = 1_000
SHORT_RUN, LONG_RUN = 6, 12
"""Every equal run of 6 words is found if the first text has up to 1,000 words, of 12 words if it has more."""

_EDITED = 15
"""Equal words of the shortest passage that has no run of the least length."""
_NEAR, _REACH, _LONG = 10, 30, 8
"""How many equal words such a passage has near each run, how near these are, and how long a run needs no others."""
_OFTEN = 4
"""A window that the texts have in more than this many pairs of places finds no passage, and is only part of one."""
_CHAINED = 50
"""Different words between two runs, in both texts, that are looked at together."""
_REPLACED = 60
"""Words that were replaced by others inside a passage, at most."""
_DENSITY = 0.3
"""Matched words of an edited passage as a share of its words in the text that has fewer, at least."""


@dataclass(frozen=True, slots=True)
class Alignment:
    """What counts as a shared passage.

    Attributes:
        least: every equal run of this many words is found, at least 1. None: 6 if the first text has up to 1,000 words,
            else 12. Of a text with fewer words five sixths of them are enough.
        edited: whether a passage may have changes inside. It then has at least 15 equal words, which are at least 30 %
            of its words in the text that has fewer there; or it has a run of the least length.
        gap: the author's own words between two parts of a passage, in the first text, at most; at least 0. Where they
            replace words of the second text there may be more.
    """

    least: int | None = None
    edited: bool = True
    gap: int = 20

    def __post_init__(self) -> None:
        for name, minimum in (("least", 1), ("gap", 0)):
            value = getattr(self, name)
            if name == "least" and value is None:
                continue
            if not isinstance(value, int) or isinstance(value, bool) or value < minimum:
                raise ValueError(f"{name} must be a whole number of at least {minimum}, not {value!r}")

    def least_of(self, words: int) -> int:
        """Every equal run of this many words is found, if the first text has `words` words."""
        if self.least is not None:
            return self.least
        return SHORT_RUN if words <= SHORT_TEXT else LONG_RUN


EDITED = Alignment()
"""Finds passages with words changed, left out, inserted or shuffled too."""

VERBATIM = Alignment(edited=False)
"""Finds equal words in the same order; only case and punctuation may differ."""

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
    windows = Windows(a.words, b.words)
    least = _five_sixths_at_most(preset.least_of(len(a.words)), windows)
    if preset.edited:
        found = _edited(windows, least, preset.gap)
    else:
        runs = uncovered(covering_runs(windows, least, common_runs(windows, least, _OFTEN)), *windows.sizes, least)
        found = (runs[at : at + 1] for at in range(len(runs)))
    passages = [_passage(a, b, runs) for runs in _without_nested(list(found), len(a.words))]
    return sorted(passages, key=lambda each: (each.a, each.b))


def _five_sixths_at_most(words: int, windows: Windows) -> int:
    """A number of words, but no more than five sixths of those that the shorter text has."""
    shorter = min(windows.sizes)
    return min(words, shorter - shorter // 6)


def _edited(windows: Windows, least: int, gap: int) -> Iterator[Ints]:
    """The matched runs of each passage, in the order of the first text."""
    enough = max(_five_sixths_at_most(_EDITED, windows), least)
    windows_of = range(1, min(3, enough) + 1)
    runs = distinct(np.concatenate([common_runs(windows, size, _OFTEN) for size in windows_of]))
    runs = dense(runs, _REACH, _NEAR * enough // _EDITED, _LONG)
    runs = uncovered(covering_runs(windows, least, runs), *windows.sizes, least)
    likeness, evidence = Likeness(windows), RunEvidence(windows)
    taken = [np.zeros(size, bool) for size in windows.sizes]
    waiting, reach = [runs], _CHAINED
    while waiting:
        rejected: list[Ints] = []
        for whole in itertools.chain.from_iterable(chains(part, reach) for part in waiting):
            check_stopped()
            chain = trimmed(whole, least)
            if not len(chain):
                continue
            once = disjoint(chain, *taken)
            yield from _left_out(chain, least, *taken)
            first, end, other, other_end = hull(chain)
            taken[0][first:end] = taken[1][other:other_end] = False
            for part in parted(evidence.credible(once, least), min(gap, reach), _REPLACED):
                if len(part) == 1 or _is_one(part, likeness, enough):
                    if part[:, 2].sum() >= (least if len(part) == 1 else enough):
                        yield part
                else:
                    rejected.append(part)
        waiting, reach = rejected, reach // 2


def _left_out(chain: Ints, least: int, taken_a: NDArray[np.bool_], taken_b: NDArray[np.bool_]) -> Iterator[Ints]:
    """The long runs of a chain whose words stand in it more than once, so that longer runs have the other places."""
    for run in chain[chain[:, 2] >= least]:
        i, j, size = run.tolist()
        if not (taken_a[i : i + size].all() and taken_b[j : j + size].all()):
            yield run[np.newaxis]


def _without_nested(found: list[Ints], words: int) -> Iterator[Ints]:
    """The passages without those that lie in a larger one in both texts and match no further word of the first text."""
    larger: list[tuple[int, int, int, int]] = []
    owner = np.full(words, -1)  # which of them matches each word of the first text
    for runs in sorted(found, key=lambda each: -int(each[:, 2].sum())):
        first, end, other, other_end = hull(runs)
        owners = set(np.concatenate([owner[i : i + size] for i, _, size in runs.tolist()]).tolist())
        around = [larger[at] for at in owners if at >= 0]
        if -1 in owners or not any(
            i <= first and end <= to and j <= other and other_end <= stop for i, to, j, stop in around
        ):
            for i, _, size in runs.tolist():
                owner[i : i + size] = len(larger)
            larger.append((first, end, other, other_end))
            yield runs


def _is_one(runs: Ints, likeness: Likeness, enough: int) -> bool:
    """Whether runs are one passage: there are enough of them, near each other, and the words around are alike too."""
    words = int(runs[:, 2].sum())
    first, end, other, other_end = hull(runs)
    if words < enough or words < _DENSITY * min(end - first, other_end - other):
        return False
    return likeness.shown((first, end, other, other_end), words, enough)


def _passage(a: PlacedWords, b: PlacedWords, runs: Ints) -> Passage:
    first, end, other, other_end = hull(runs)
    spans = tuple((_span(a, i, i + size), _span(b, j, j + size)) for i, j, size in runs.tolist())
    return Passage(_span(a, first, end), _span(b, other, other_end), int(runs[:, 2].sum()), spans)


def _span(text: PlacedWords, first: int, end: int) -> Span:
    """The characters of some words."""
    return int(text.starts[first]), int(text.ends[end - 1])
