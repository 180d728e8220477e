"""Pairs of documents that a person labelled, and the threshold that separates yes from no best."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from simdoc_search.errors import CorpusError

_LABELS = {"yes": True, "no": False}
_FOLDS = 20
_MAX_ERROR = 0.25

Setting = TypeVar("Setting")
Values = Sequence[tuple[float, bool]]
"""What is compared with a threshold, and whether the pair is labelled yes."""


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """Two documents, by id, and whether a person said yes; with the line of the file, from 1."""

    a: str
    b: str
    label: bool
    line: int = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a threshold classifies labelled pairs."""

    found: int  # number of pairs labelled yes that it classifies as yes
    yes: int  # number of pairs labelled yes
    taken: int  # number of pairs labelled no that it classifies as yes
    no: int  # number of pairs labelled no

    @property
    def precision(self) -> float | None:
        """Share of the pairs classified as yes that are labelled yes, 0..1; None if there are none."""
        return self.found / (self.found + self.taken) if self.found + self.taken else None

    @property
    def recall(self) -> float:
        """Share of the pairs labelled yes that are classified as yes, 0..1."""
        return self.found / self.yes if self.yes else 0.0

    @property
    def cost(self) -> int:
        """Balanced error: the shares of both labels that are classified wrongly, added up, times both numbers."""
        return (self.yes - self.found) * self.no + self.taken * self.yes

    @property
    def is_useful(self) -> bool:
        """Whether the balanced error is at most a quarter; guessing gives a half."""
        return self.cost <= 2 * _MAX_ERROR * self.yes * self.no

    def __add__(self, other: Outcome) -> Outcome:
        return Outcome(self.found + other.found, self.yes + other.yes, self.taken + other.taken, self.no + other.no)


@dataclass(frozen=True, slots=True)
class Lesson(Generic[Setting]):
    """The setting and the threshold that classify labelled pairs best."""

    setting: Setting  # the setting
    threshold: float  # a pair is yes from this value on
    outcome: Outcome  # how they classify the pairs
    unseen: Outcome  # how pairs are classified by what the others teach (20-fold cross-validation)
    wrong: tuple[LabelledPair, ...]  # the pairs that are classified wrongly


def read_pairs(lines: Iterable[str], name: str) -> list[LabelledPair]:
    """Read labelled pairs: two ids and yes or no per line, separated by tabs. Comments begin with #.

    Raises:
        CorpusError: a line is malformed, or there is not at least one yes and one no.
    """
    pairs = []
    for number, line in enumerate(lines, 1):
        text = line.rstrip("\r\n")
        if not text.strip() or text.startswith("#"):
            continue
        cells = [cell.strip() for cell in text.split("\t")]
        if len(cells) != 3 or not all(cells) or cells[2].lower() not in _LABELS:
            raise CorpusError(
                f"line {number} of {name} is not a pair: {text[:60]!r}; write two ids and yes or no, with tabs"
            )
        if cells[0] == cells[1]:
            raise CorpusError(f"line {number} of {name} names {cells[0]!r} twice; a pair has two documents")
        pairs.append(LabelledPair(cells[0], cells[1], _LABELS[cells[2].lower()], number))
    if {True, False} != {pair.label for pair in pairs}:
        raise CorpusError(f"{name} needs pairs with yes and pairs with no, to learn what separates them")
    return pairs


def check_ids(pairs: Iterable[LabelledPair], known: Iterable[str]) -> None:
    """Raise CorpusError if a pair names a document that is not known."""
    ids = set(known)
    for pair in pairs:
        for id in (pair.a, pair.b):
            if id not in ids:
                raise CorpusError(f"line {pair.line} of the pairs names {id!r:.80}, which is not one of the documents")


def learn(
    values: Mapping[Setting, Sequence[float]],
    pairs: Sequence[LabelledPair],
    *,
    before: tuple[Setting, float] | None = None,
    minimum: float = 0.0,
) -> Lesson[Setting]:
    """Find the setting and the threshold that classify labelled pairs with the least balanced error.

    `values` has the value of each pair by setting. Setting and threshold `before` are kept unless others are better; of
    equally good settings the first one is taken.
    """
    folds = min(_FOLDS, len(pairs))
    setting, threshold = _best(values, pairs, range(len(pairs)), before, minimum)
    unseen = Outcome(0, 0, 0, 0)
    for fold in range(folds):
        rest = [place for place in range(len(pairs)) if place % folds != fold]
        taught, at = _best(values, pairs, rest, before, minimum)
        unseen += outcome_of(values[taught], pairs, at, range(fold, len(pairs), folds))
    wrong = tuple(
        pair for pair, value in zip(pairs, values[setting], strict=True) if (value >= threshold) != pair.label
    )
    return Lesson(setting, threshold, outcome_of(values[setting], pairs, threshold), unseen, wrong)


def outcome_of(
    values: Sequence[float], pairs: Sequence[LabelledPair], threshold: float, places: Sequence[int] | None = None
) -> Outcome:
    """Count how a threshold classifies some of the pairs; by default all."""
    places = range(len(pairs)) if places is None else places
    yes = [values[place] >= threshold for place in places if pairs[place].label]
    no = [values[place] >= threshold for place in places if not pairs[place].label]
    return Outcome(sum(yes), len(yes), sum(no), len(no))


def best_threshold(values: Values) -> float:
    """Return the threshold with the least balanced error, with as few digits as separate the same values.

    The shares of both labels that are wrong are added up, because there may be many more of one (Youden 1950, "Index
    for rating diagnostic tests"). Of equally good thresholds, it is the middle of the widest gap.
    """
    ordered = sorted(values)
    all_yes = sum(label for _, label in ordered)
    all_no = len(ordered) - all_yes
    missed, taken = 0, all_no  # everything is classified as yes
    best = (taken * all_yes, 0.0, ordered[0][0])
    for place, (value, label) in enumerate(ordered):
        missed, taken = (missed + 1, taken) if label else (missed, taken - 1)
        upper = ordered[place + 1][0] if place + 1 < len(ordered) else 1.0
        if upper > value:
            best = min(best, (missed * all_no + taken * all_yes, value - upper, (value + upper) / 2))
    threshold = best[2]
    low = max((value for value, _ in values if value < threshold), default=0.0)
    high = min((value for value, _ in values if value >= threshold), default=1.0)
    rounded = (round(threshold, digits) for digits in range(1, 7))
    return next((candidate for candidate in rounded if low < candidate <= high), round(threshold, 6))


def _best(
    values: Mapping[Setting, Sequence[float]],
    pairs: Sequence[LabelledPair],
    places: Sequence[int],
    before: tuple[Setting, float] | None,
    minimum: float,
) -> tuple[Setting, float]:
    options = [before] if before else []
    for setting, of_pairs in values.items():
        threshold = best_threshold([(of_pairs[place], pairs[place].label) for place in places])
        options.append((setting, max(threshold, minimum)))
    return min(options, key=lambda option: outcome_of(values[option[0]], pairs, option[1], places).cost)
