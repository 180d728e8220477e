"""Reads pairs of documents that a person labelled, and learns the threshold that best separates yes from no."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from simdoc_search.errors import CorpusError

_LABELS = {"yes": True, "no": False}
_MAX_FOLDS = 20
_MAX_ERROR_RATE = 0.25

Setting = TypeVar("Setting")
LabelledValues = Sequence[tuple[float, bool]]
"""The value of each pair to compare with a threshold, and whether the pair is labelled yes."""


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """Two documents that a person labelled yes or no."""

    first_id: str
    second_id: str
    is_yes: bool
    line_number: int = 0  # line number in the file, from 1


@dataclass(frozen=True, slots=True)
class ConfusionCounts:
    """How a threshold classifies labelled pairs."""

    true_positives: int  # number of pairs labelled yes that are classified as yes
    positives: int  # number of pairs labelled yes
    false_positives: int  # number of pairs labelled no that are classified as yes
    negatives: int  # number of pairs labelled no

    @property
    def precision(self) -> float | None:
        """Share of the pairs classified as yes that are labelled yes, 0..1; None if no pair is classified as yes."""
        classified_as_yes = self.true_positives + self.false_positives
        return self.true_positives / classified_as_yes if classified_as_yes else None

    @property
    def recall(self) -> float:
        """Share of the pairs labelled yes that are classified as yes, 0..1."""
        return self.true_positives / self.positives if self.positives else 0.0

    @property
    def balanced_error(self) -> int:
        """Sum of the error rates of both labels, multiplied by `positives * negatives`."""
        return (self.positives - self.true_positives) * self.negatives + self.false_positives * self.positives

    @property
    def is_useful(self) -> bool:
        """Whether the mean error rate of both labels is at most 1/4. Guessing gives 1/2."""
        return self.balanced_error <= 2 * _MAX_ERROR_RATE * self.positives * self.negatives

    def __add__(self, other: ConfusionCounts) -> ConfusionCounts:
        return ConfusionCounts(
            self.true_positives + other.true_positives,
            self.positives + other.positives,
            self.false_positives + other.false_positives,
            self.negatives + other.negatives,
        )


@dataclass(frozen=True, slots=True)
class LearnedThreshold(Generic[Setting]):
    """The setting and the threshold that best classify labelled pairs."""

    setting: Setting  # the best setting
    threshold: float  # minimum value of a pair that is classified as yes
    counts: ConfusionCounts  # how the threshold classifies the pairs
    cross_validated_counts: ConfusionCounts  # how thresholds learned from the other pairs classify each pair (20-fold)
    misclassified_pairs: tuple[LabelledPair, ...]


def read_pairs(lines: Iterable[str], name: str) -> list[LabelledPair]:
    """Read labelled pairs. Each line has two ids and yes or no, separated by tabs. Comments begin with #.

    Args:
        lines: the lines of the file.
        name: name of the file, for messages.

    Raises:
        CorpusError: a line is malformed, no pair is labelled yes, or no pair is labelled no.
    """
    pairs = []
    for number, line in enumerate(lines, 1):
        text = line.rstrip("\r\n")
        if not text.strip() or text.startswith("#"):
            continue
        cells = [cell.strip() for cell in text.split("\t")]
        if len(cells) != 3 or not all(cells) or cells[2].lower() not in _LABELS:
            raise CorpusError(
                f"line {number} of {name} is not a pair: {text[:60]!r}; write two ids and yes or no, separated by tabs"
            )
        if cells[0] == cells[1]:
            raise CorpusError(f"line {number} of {name} contains the id {cells[0]!r} twice; write two different ids")
        pairs.append(LabelledPair(cells[0], cells[1], _LABELS[cells[2].lower()], number))
    if {True, False} != {pair.is_yes for pair in pairs}:
        raise CorpusError(f"{name} must contain at least one pair labelled yes and one labelled no; label more pairs")
    return pairs


def check_ids(pairs: Iterable[LabelledPair], known_ids: Iterable[str]) -> None:
    """Raise CorpusError unless the ids of all pairs are known."""
    ids = set(known_ids)
    for pair in pairs:
        for id in (pair.first_id, pair.second_id):
            if id not in ids:
                raise CorpusError(
                    f"line {pair.line_number} of the pairs file: no document has the id {id!r:.80}; correct the id"
                )


def learn_threshold(
    values: Mapping[Setting, Sequence[float]],
    pairs: Sequence[LabelledPair],
    *,
    current_choice: tuple[Setting, float] | None = None,
    min_threshold: float = 0.0,
) -> LearnedThreshold[Setting]:
    """Find the setting and the threshold that classify labelled pairs with the least balanced error.

    Args:
        values: the value of each pair, by setting. Of equally good settings, the first one is returned.
        pairs: the labelled pairs.
        current_choice: the current setting and threshold. They are returned unless others are better.
        min_threshold: minimum threshold.
    """
    folds = min(_MAX_FOLDS, len(pairs))
    setting, threshold = _find_best_setting(values, pairs, range(len(pairs)), current_choice, min_threshold)
    cross_validated_counts = ConfusionCounts(0, 0, 0, 0)
    for fold in range(folds):
        training_positions = [position for position in range(len(pairs)) if position % folds != fold]
        fold_setting, fold_threshold = _find_best_setting(
            values, pairs, training_positions, current_choice, min_threshold
        )
        fold_positions = range(fold, len(pairs), folds)
        cross_validated_counts += count_classifications(values[fold_setting], pairs, fold_threshold, fold_positions)
    misclassified_pairs = tuple(
        pair for pair, value in zip(pairs, values[setting], strict=True) if (value >= threshold) != pair.is_yes
    )
    counts = count_classifications(values[setting], pairs, threshold)
    return LearnedThreshold(setting, threshold, counts, cross_validated_counts, misclassified_pairs)


def count_classifications(
    values: Sequence[float], pairs: Sequence[LabelledPair], threshold: float, positions: Sequence[int] | None = None
) -> ConfusionCounts:
    """Count how a threshold classifies the pairs at some positions, or all pairs."""
    positions = range(len(pairs)) if positions is None else positions
    yes = [values[position] >= threshold for position in positions if pairs[position].is_yes]
    no = [values[position] >= threshold for position in positions if not pairs[position].is_yes]
    return ConfusionCounts(sum(yes), len(yes), sum(no), len(no))


def find_best_threshold(values: LabelledValues) -> float:
    """Return the threshold with the least balanced error. It has no more digits than are needed to separate the values.

    The error rates of both labels are added, because one label may have many more pairs than the other (Youden 1950,
    "Index for rating diagnostic tests"). Of equally good thresholds, the middle of the widest gap is returned.
    """
    ordered = sorted(values)
    all_yes = sum(label for _, label in ordered)
    all_no = len(ordered) - all_yes
    false_negatives, false_positives = 0, all_no  # this is the result if all pairs are classified as yes
    best = (false_positives * all_yes, 0.0, ordered[0][0])
    for position, (value, label) in enumerate(ordered):
        if label:
            false_negatives += 1
        else:
            false_positives -= 1
        next_value = ordered[position + 1][0] if position + 1 < len(ordered) else 1.0
        if next_value > value:
            cost = false_negatives * all_no + false_positives * all_yes
            best = min(best, (cost, value - next_value, (value + next_value) / 2))
    threshold = best[2]
    lower_bound = max((value for value, _ in values if value < threshold), default=0.0)
    upper_bound = min((value for value, _ in values if value >= threshold), default=1.0)
    rounded = (round(threshold, digits) for digits in range(1, 7))
    return next((candidate for candidate in rounded if lower_bound < candidate <= upper_bound), round(threshold, 6))


def _find_best_setting(
    values: Mapping[Setting, Sequence[float]],
    pairs: Sequence[LabelledPair],
    positions: Sequence[int],
    current_choice: tuple[Setting, float] | None,
    min_threshold: float,
) -> tuple[Setting, float]:
    choices = [current_choice] if current_choice else []
    for setting, pair_values in values.items():
        threshold = find_best_threshold([(pair_values[position], pairs[position].is_yes) for position in positions])
        choices.append((setting, max(threshold, min_threshold)))
    return min(
        choices, key=lambda choice: count_classifications(values[choice[0]], pairs, choice[1], positions).balanced_error
    )
