"""Tests whether equal words in two texts are there only by chance. All logarithms are natural."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from simdoc_search.cancellation import check_stopped
from simdoc_search.passages.chains import bounding_box
from simdoc_search.passages.subsequences import heaviest_increasing_subsequence
from simdoc_search.passages.windows import Ints, Windows

_MAX_TESTED_END_WORDS = 40
"""The maximum number of words that are tested at each end of a chain."""
_CHANCE_RATE = 0.02
"""The expected number of rare words or phrases that both texts share by chance, per word of a text."""
_LOG_ODDS_PER_WORD = 0.7
"""The evidence that a run gains with each word after its first. The evidence is the logarithm of the odds that the run
is part of a passage."""
_MAX_EXPECTED_RUN_WORDS, _MIN_EXPECTED_GAP = 3, 0.5
"""The expected gap is the number of unmatched words per matched word, times the average run length, plus half a word.
At most 3 words count as the run length, because gaps in a nearly verbatim passage are short even if runs are long."""

_MIN_EVIDENCE = 3.0
"""The minimum evidence of a run that is kept. The expected number of such runs by chance is exp(-3), about 1/20."""
_MIN_EVIDENCE_WORDS = 100
"""Two texts with fewer words in total are treated as if they had 100. Otherwise, all words would seem frequent."""

_MIN_DICE, _MIN_SHORT_DICE = 0.35, 0.6
"""The minimum Dice coefficient of the word weights, in general and for a passage of the minimum length."""
_MIN_CONTAINMENT, _MIN_CONTAINED_LENGTH_RATIO = 0.6, 1.5
"""A passage also counts if the shared words have at least 60 % of the weight of all words of the passage in one of the
texts. This rule finds summaries. At least 1.5 times the minimum number of words must be equal and in the same order,
because the other text may be long, and a long text has many of the words somewhere."""
_WEIGHT_FACTOR, _MIN_WEIGHT_WORDS = 40, 400
"""A word that makes up more than 1/40 of a text has no weight. A text with fewer than 400 words counts as 400 words."""


def trim_ends(runs: Ints, min_kept_length: int) -> Ints:
    """Remove the runs at both ends of a chain, or of a part of it, that are probably equal by chance.

    The gaps next to the runs decide. A gap inside a passage is expected to be as long as the average gap. A gap between
    words that are equal by chance is expected to be much longer. Both gap lengths have exponential distributions. Runs
    of at least `min_kept_length` words are kept.
    """
    for column in (0, 1):
        if len(runs) < 2:
            break
        starts, ends = runs[:, column], runs[:, column] + runs[:, 2]
        words = int(runs[:, 2].sum())
        between = max(int(ends.max() - starts.min()) - words, 0)
        gap = between / words * min(words / len(runs), _MAX_EXPECTED_RUN_WORDS) + _MIN_EXPECTED_GAP
        order, backwards = np.argsort(starts, kind="stable"), np.argsort(-ends, kind="stable")
        max_words = min(_MAX_TESTED_END_WORDS, words // 2)
        first = _count_chance_runs(starts[order], ends[order], gap, max_words, min_kept_length)
        last = _count_chance_runs(-ends[backwards], -starts[backwards], gap, max_words, min_kept_length)
        kept = np.ones(len(runs), bool)
        kept[order[:first]] = kept[backwards[:last]] = False
        runs = runs[kept]
    return runs


def _count_chance_runs(starts: Ints, ends: Ints, expected_gap: float, max_words: int, min_kept_length: int) -> int:
    """Count the runs at the start of a chain that are probably equal by chance."""
    words = count = 0
    evidence = minimum = 0.0
    for number in range(min(len(starts) - 1, max_words)):
        size = int(ends[number] - starts[number])
        words += size
        if words > max_words or size >= min_kept_length:
            break
        gap = max(0, int(starts[number + 1] - ends[number]))
        evidence += _LOG_ODDS_PER_WORD * (size - 1)
        evidence += -math.log(expected_gap) - gap / expected_gap - math.log(_CHANCE_RATE) + _CHANCE_RATE * gap
        if evidence < minimum:
            minimum, count = evidence, number + 1
    return count


class RunEvidence:
    """Computes the evidence that runs are not equal by chance.

    The information of a word is -log f, where f is its relative frequency in the two texts together. The information of
    a run is the sum over its words. Let da and db be the numbers of words between a run and its neighbour in the
    passage, in the first and in the second text. An equal run could then begin at about (da + 1)(db + 1) pairs of
    positions. If da = db, words were probably replaced one by one, and only da + 1 pairs are possible. If the two runs
    are in the opposite order in the second text, the run could be before or after its neighbour in each text, so there
    are 4 times as many pairs. The evidence is the information minus the logarithm of the number of pairs.
    """

    def __init__(self, windows: Windows) -> None:
        a, b = windows.classes(1)
        counts = np.bincount(np.concatenate((a, b)))
        information = -_log(counts / max(len(a) + len(b), _MIN_EVIDENCE_WORDS))
        self._sums = np.concatenate(([0.0], np.cumsum(information[a])))

    def drop_chance_runs(self, runs: Ints, min_kept_length: int) -> Ints:
        """Remove the runs of a passage that may be equal by chance. Runs of at least `min_kept_length` words are kept.

        `runs` must be in the order of the first text and must not overlap.
        """
        while len(runs) > 1:
            check_stopped()
            evidence = self._compute_evidence(runs)
            weak = (evidence < _MIN_EVIDENCE) & (runs[:, 2] < min_kept_length)
            if not weak.any():
                break
            # Removing a run changes the evidence of its neighbours. So remove only weak runs that have less evidence
            # than both neighbours, then compute the evidence again.
            padded = np.concatenate(([np.inf], np.where(weak, evidence, np.inf), [np.inf]))
            runs = runs[~(weak & (evidence <= padded[:-2]) & (evidence < padded[2:]))]
        return runs

    def _compute_evidence(self, runs: Ints) -> NDArray[np.float64]:
        i, j, size = runs.T
        da = i[1:] - i[:-1] - size[:-1]
        db = np.maximum(j[1:] - j[:-1] - size[:-1], j[:-1] - j[1:] - size[1:])
        is_ordered = j[1:] > j[:-1]
        area = (da + 1) * (db + 1)
        pairs = np.where(is_ordered, np.where(da == db, da + 1, area), 4 * area).astype(np.float64)
        fewest = np.minimum(np.append(np.inf, pairs), np.append(pairs, np.inf))
        evidence: NDArray[np.float64] = self._sums[i + size] - self._sums[i] - _log(fewest)
        return evidence


class WeightedOverlap:
    """Compares stretches of two texts by their shared words, in any order.

    Rare words weigh more. The weight is log(1 / (40 f)), where f is the higher of the word's relative frequencies in
    the two texts. Passages that were reworded, shuffled, or translated back and forth have a Dice coefficient over 0.4.
    Unrelated texts have a coefficient under 0.3.

    Source: Sanchez-Perez, Sidorov, Gelbukh 2014, A winning approach to text alignment for text reuse detection. They
    compare whole sentences and weight words by inverse sentence frequency.
    """

    def __init__(self, windows: Windows) -> None:
        self._a, self._b = windows.classes(1)
        size = int(max(self._a.max(), self._b.max())) + 1
        a, b = (np.bincount(words, minlength=size) / max(len(words), _MIN_WEIGHT_WORDS) for words in (self._a, self._b))
        self._weights = -_log(_WEIGHT_FACTOR * np.maximum(a, b)).clip(max=0)

    def is_one_passage(self, runs: Ints, min_words: int) -> bool:
        """Return whether runs, in the order of the first text, are one passage of at least `min_words` words."""
        a_first, a_end, b_first, b_end = bounding_box(runs)
        if min(a_end - a_first, b_end - b_first) < min_words:
            return False
        a, counts_a = np.unique(self._a[a_first:a_end], return_counts=True)
        b, counts_b = np.unique(self._b[b_first:b_end], return_counts=True)
        _, in_a, in_b = np.intersect1d(a, b, assume_unique=True, return_indices=True)
        shared = self._weigh(a[in_a], np.minimum(counts_a[in_a], counts_b[in_b]))
        weight_a, weight_b = self._weigh(a, counts_a), self._weigh(b, counts_b)
        dice = 2 * shared / (weight_a + weight_b) if weight_a + weight_b else 1.0
        if dice >= _MIN_DICE and dice * runs[:, 2].sum() >= _MIN_SHORT_DICE * min_words:
            return True
        if shared < _MIN_CONTAINMENT * min(weight_a, weight_b):
            return False
        ordered = heaviest_increasing_subsequence([(i, j, size) for i, j, size in runs.tolist()])
        return sum(size for _, _, size in ordered) >= _MIN_CONTAINED_LENGTH_RATIO * min_words

    def _weigh(self, words: Ints, counts: Ints) -> float:
        """Return the weight of all words. They are summed one by one, as in the native kernel."""
        return float(np.cumsum(self._weights[words] * counts)[-1]) if len(words) else 0.0


def _log(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the logarithms that the C library computes, as in the native kernel. Those of numpy can differ."""
    distinct_values, numbers = np.unique(values, return_inverse=True)
    logarithms: NDArray[np.float64] = np.array([math.log(value) for value in distinct_values.tolist()])[numbers]
    return logarithms
