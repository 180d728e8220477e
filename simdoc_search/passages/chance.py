"""Tests whether equal words are in two texts by chance. All logarithms are natural."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from simdoc_search.cancellation import check_stopped
from simdoc_search.passages.windows import Ints, Windows

_END_WORDS = 40
"""Words at either end of a chain that are tested."""
_CHANCE_PER_WORD = 0.02
"""How often a rare word or phrase is in both texts by chance, per word."""
_LOG_ODDS = 0.7
"""How much more likely each further word of a run is in a passage than by chance, as a logarithm."""
_MAX_RUN, _MIN_GAP = 3, 0.5
"""The expected gap is computed as if runs had at most 3 words, and gaps at least half a word. A passage that is nearly
whole has short gaps, however long its runs are."""

_MIN_EVIDENCE = 3.0
"""A run is kept if chance gives an equally good run at its place in less than 1 of 20 cases: exp(-3)."""
_MIN_EVIDENCE_WORDS = 100
"""Two texts of fewer words are treated as if they had 100: a word of a short text is not rare for that reason."""

_MIN_DICE, _MIN_SHORT_DICE = 0.35, 0.6
"""The minimum Dice coefficient of the words' weights. A passage of the minimum length needs the second one."""
_MIN_INSIDE, _INSIDE_LENGTH = 0.6, 1.5
"""Or so much of one text's weight must be in the other, as in a summary, with 1.5 times the minimum length."""
_FREQUENT, _MIN_LIKENESS_WORDS = 40, 400
"""A word that is more than one of 40 words has no weight. Frequencies are those of a text of at least 400 words."""


def trimmed(runs: Ints, keep_length: int) -> Ints:
    """A chain without the runs at its ends that are there by chance, judging by the gaps before them.

    Gaps inside a passage are assumed to be as long as its average gap, and gaps between words that are equal by chance
    much longer. Both are exponentially distributed, and the more likely one is believed. Runs of `keep_length` words
    are kept.
    """
    for column in (0, 1):
        if len(runs) < 2:
            break
        starts, ends = runs[:, column], runs[:, column] + runs[:, 2]
        words = int(runs[:, 2].sum())
        between = max(int(ends.max() - starts.min()) - words, 0)
        gap = between / words * min(words / len(runs), _MAX_RUN) + _MIN_GAP
        order, backwards = np.argsort(starts, kind="stable"), np.argsort(-ends, kind="stable")
        max_words = min(_END_WORDS, words // 2)
        first = _runs_by_chance(starts[order], ends[order], gap, max_words, keep_length)
        last = _runs_by_chance(-ends[backwards], -starts[backwards], gap, max_words, keep_length)
        kept = np.ones(len(runs), bool)
        kept[order[:first]] = kept[backwards[:last]] = False
        runs = runs[kept]
    return runs


def _runs_by_chance(starts: Ints, ends: Ints, expected_gap: float, max_words: int, keep_length: int) -> int:
    """How many of the first runs are there by chance."""
    words = count = 0
    evidence = minimum = 0.0
    for at in range(min(len(starts) - 1, max_words)):
        size = int(ends[at] - starts[at])
        words += size
        if words > max_words or size >= keep_length:
            break
        gap = max(0, int(starts[at + 1] - ends[at]))
        evidence += _LOG_ODDS * (size - 1)
        evidence += -math.log(expected_gap) - gap / expected_gap - math.log(_CHANCE_PER_WORD) + _CHANCE_PER_WORD * gap
        if evidence < minimum:
            minimum, count = evidence, at + 1
    return count


class RunEvidence:
    """The evidence that equal runs of two texts are not there by chance.

    The information of a word is -log f, where f is its frequency in both texts together. That of a run is the sum over
    its words. If da and db words are between a run and its neighbour in the passage, about (da + 1)(db + 1) runs could
    be equal there. If da = db, words were probably replaced one by one, and only da + 1 runs could be equal. The
    evidence is the information less the logarithm of this number.
    """

    def __init__(self, windows: Windows) -> None:
        a, b = windows.classes(1)
        counts = np.bincount(np.concatenate((a, b)))
        information = -np.log(counts / max(len(a) + len(b), _MIN_EVIDENCE_WORDS))
        self._sums = np.concatenate(([0.0], np.cumsum(information[a])))

    def credible(self, runs: Ints, keep_length: int) -> Ints:
        """The runs of a passage that chance does not explain, and those of at least `keep_length` words.

        All are in the order of the first text. No word is in two of them.
        """
        while len(runs) > 1:
            check_stopped()
            evidence = self._evidence(runs)
            weak = (evidence < _MIN_EVIDENCE) & (runs[:, 2] < keep_length)
            if not weak.any():
                break
            # A run is removed if it is weaker than its neighbours. These are judged again without it.
            padded = np.concatenate(([np.inf], np.where(weak, evidence, np.inf), [np.inf]))
            runs = runs[~(weak & (evidence <= padded[:-2]) & (evidence < padded[2:]))]
        return runs

    def _evidence(self, runs: Ints) -> NDArray[np.float64]:
        i, j, size = runs.T
        da = i[1:] - i[:-1] - size[:-1]
        db = np.maximum(j[1:] - j[:-1] - size[:-1], j[:-1] - j[1:] - size[1:])
        places = np.where((da == db) & (j[1:] > j[:-1]), da + 1, (da + 1) * (db + 1)).astype(np.float64)
        fewest = np.minimum(np.append(np.inf, places), np.append(places, np.inf))
        evidence: NDArray[np.float64] = self._sums[i + size] - self._sums[i] - np.log(fewest)
        return evidence


class Likeness:
    """Compares stretches of two texts by their common words, in any order.

    Rare words have more weight: log(1 / (40 f)), where f is the higher frequency of the word in the two texts.
    Passages that were reworded, translated there and back, or shuffled have a Dice coefficient over 0.4. Unrelated
    texts have one under 0.3.

    Source: Sanchez-Perez, Sidorov, Gelbukh 2014, A winning approach to text alignment for text reuse detection (both
    measures of whole sentences, weighted by their inverse frequency).
    """

    def __init__(self, windows: Windows) -> None:
        self._a, self._b = windows.classes(1)
        size = int(max(self._a.max(), self._b.max())) + 1
        a, b = (
            np.bincount(words, minlength=size) / max(len(words), _MIN_LIKENESS_WORDS) for words in (self._a, self._b)
        )
        self._weights = -np.log(_FREQUENT * np.maximum(a, b)).clip(max=0)

    def is_one_passage(self, place: tuple[int, int, int, int], words: int, min_words: int) -> bool:
        """Whether two stretches with `words` equal words are one passage. A passage has at least `min_words`."""
        first, end, other, other_end = place
        if min(end - first, other_end - other) < min_words:
            return False
        a, times_a = np.unique(self._a[first:end], return_counts=True)
        b, times_b = np.unique(self._b[other:other_end], return_counts=True)
        _, in_a, in_b = np.intersect1d(a, b, assume_unique=True, return_indices=True)
        shared = float(self._weights[a[in_a]] @ np.minimum(times_a[in_a], times_b[in_b]))
        weight_a, weight_b = float(self._weights[a] @ times_a), float(self._weights[b] @ times_b)
        dice = 2 * shared / (weight_a + weight_b) if weight_a + weight_b else 1.0
        if dice >= _MIN_DICE and dice * words >= _MIN_SHORT_DICE * min_words:
            return True
        return words >= _INSIDE_LENGTH * min_words and shared >= _MIN_INSIDE * min(weight_a, weight_b)
