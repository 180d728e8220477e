"""Two texts side by side: how much they share, which passages, and what differs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from simdoc_search.analysis.words import PlacedWords, placed_words
from simdoc_search.passages.align import Alignment, Preset, align_words
from simdoc_search.passages.differences import differences, disjoint_runs
from simdoc_search.passages.exact import is_of_words, measures, measures_of_words
from simdoc_search.passages.key_changes import key_changes
from simdoc_search.passages.matched_words import matched_words
from simdoc_search.passages.passage import Comparison, Difference, KeyChange, Passage, SignDifference
from simdoc_search.passages.signs import signs
from simdoc_search.sketch.fingerprint import fingerprint
from simdoc_search.sketch.settings import Settings


class Changes(NamedTuple):
    """What differs between two texts; see `Comparison`.

    Attributes:
        words: the words that differ.
        signs: the signs that differ beside equal words.
        keys: those of both that change a negation, a number, a date or a name.
    """

    words: list[Difference]
    signs: list[SignDifference]
    keys: list[KeyChange]


def compare(
    text_a: str, text_b: str, *, preset: Preset | Alignment = "edited", settings: Settings | None = None
) -> Comparison:
    """How two texts are alike: exact measures, the estimate beside them, what they share, and what differs.

    Args:
        text_a: the first text.
        text_b: the second text.
        preset: what counts as a shared passage: `edited`, `verbatim`, or settings of your own.
        settings: what words, shingles and fingerprints are; None: the default.

    Raises:
        ValueError: there is no such preset.
    """
    settings = settings or Settings()
    a, b = placed_words(text_a, settings.analysis), placed_words(text_b, settings.analysis)
    passages = align_words(a, b, preset)
    by_word = is_of_words(settings.analysis)
    exact = measures_of_words(a, b, settings.analysis) if by_word else measures(text_a, text_b, settings.analysis)
    changes = what_differs((text_a, text_b), (a, b), passages)
    first, second = (fingerprint(text, settings.analysis, settings.minhash) for text in (text_a, text_b))
    return Comparison(
        jaccard=exact.jaccard,
        containment=exact.containment,
        contained=exact.contained,
        multiset=exact.multiset,
        estimate=first.overlap(second),
        interval=first.interval(second),
        words=(len(a.words), len(b.words)),
        matched=(int(matched_words(a, passages).sum()), int(matched_words(b, passages, second=True).sum())),
        passages=tuple(passages),
        differences=tuple(changes.words),
        signs=tuple(changes.signs),
        key_changes=tuple(changes.keys),
    )


def what_differs(
    texts: tuple[str, str], words: tuple[PlacedWords, PlacedWords], passages: Sequence[Passage]
) -> Changes:
    """What differs between two texts that share passages."""
    found = differences(*words, passages)
    of_signs = signs(*texts, *words, disjoint_runs(*words, passages))
    return Changes(found, of_signs, key_changes(*texts, found, of_signs))
