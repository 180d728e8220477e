"""Learns from labelled pairs which overlap separates yes from no, if any does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from simdoc_search.errors import CorpusError

_ANSWERS = {"yes": True, "no": False}
_FOLDS = 20
_MOST_WRONG = 0.25


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """Two documents, and whether a person labelled them as duplicates.

    Attributes:
        a: the id of one.
        b: the id of the other.
        same: yes or no.
        line: the line of the file that says so, from 1.
    """

    a: str
    b: str
    same: bool
    line: int = 0


@dataclass(frozen=True, slots=True)
class Learned:
    """The overlap at which pairs become duplicates.

    Attributes:
        overlap: from which on a pair is called yes, 0..1.
        missed: how many a yes it calls no, and how many a no yes.
        judged: how many a yes and how many a no there are.
        unseen: the share of pairs that is called right by what the others teach, 0..1.
        gap: the greatest overlap of a no and the least of a yes; separable if the first is less.
        worst: the no that overlaps most, with how much it does.
    """

    overlap: float
    missed: tuple[int, int]
    judged: tuple[int, int]
    unseen: float
    gap: tuple[float, float]
    worst: LabelledPair

    @property
    def wrong(self) -> float:
        """The share of each kind that it calls otherwise than the person, on average, 0..1."""
        return sum(missed / all_ for missed, all_ in zip(self.missed, self.judged, strict=True)) / 2

    @property
    def teaches(self) -> bool:
        """Whether it calls at least three of four as the person does; one of two is what guessing does."""
        return self.wrong <= _MOST_WRONG

    @property
    def separable(self) -> bool:
        """Whether one overlap separates all."""
        return self.gap[0] < self.gap[1]


def read_pairs(lines: Iterable[str], name: str) -> list[LabelledPair]:
    """Read pairs, one of a line: id, id, yes or no, with tabs between; empty lines and those that begin with # not.

    Raises:
        CorpusError: a line is none; or there is not at least one yes and one no.
    """
    found = []
    for number, line in enumerate(lines, 1):
        text = line.rstrip("\r\n")
        if not text.strip() or text.startswith("#"):
            continue
        parts = [each.strip() for each in text.split("\t")]
        if len(parts) != 3 or not all(parts) or parts[2].lower() not in _ANSWERS:
            raise CorpusError(
                f"line {number} of {name} is no pair: {text[:60]!r}; write two ids and yes or no, with tabs"
            )
        if parts[0] == parts[1]:
            raise CorpusError(f"line {number} of {name} names {parts[0]!r} twice; a pair is of two documents")
        found.append(LabelledPair(parts[0], parts[1], _ANSWERS[parts[2].lower()], number))
    if {True, False} != {each.same for each in found}:
        raise CorpusError(f"{name} needs pairs with yes and pairs with no, to learn what separates them")
    return found


def learned(judged: Sequence[LabelledPair], overlaps: Sequence[float]) -> Learned:
    """The overlap that makes the fewest mistakes, see `_cut`.

    Args:
        judged: pairs, with at least one yes and one no.
        overlaps: the exact overlap of each, 0..1.
    """
    values = [(overlap, each.same) for overlap, each in zip(overlaps, judged, strict=True)]
    overlap, missed, taken = _cut(values)
    nos = [(value, each) for value, each in zip(overlaps, judged, strict=True) if not each.same]
    most_no, worst = max(nos, key=lambda each: each[0])
    least_yes = min(value for value, same in values if same)
    counts = len(values) - len(nos), len(nos)
    return Learned(overlap, (missed, taken), counts, _unseen(values), (most_no, least_yes), worst)


def _cut(values: Sequence[tuple[float, bool]]) -> tuple[float, int, int]:
    """The best overlap, with how many a yes it misses and how many a no it takes for one.

    The share of each kind that it gets wrong is added up, as there may be many more of one (Youden 1950, "Index for
    rating diagnostic tests"); of several as good the middle of the widest gap.
    """
    ordered = sorted(values)
    all_yes = sum(same for _, same in ordered)
    all_no = len(ordered) - all_yes
    missed, taken = 0, all_no  # everything is called yes
    best = (taken * all_yes, 0.0, ordered[0][0], missed, taken)
    for place, (value, same) in enumerate(ordered):
        missed, taken = (missed + 1, taken) if same else (missed, taken - 1)
        upper = ordered[place + 1][0] if place + 1 < len(ordered) else 1.0
        if upper > value:
            cost = missed * all_no + taken * all_yes
            best = min(best, (cost, value - upper, (value + upper) / 2, missed, taken))
    return best[2:]


def best_cut(values: Sequence[tuple[float, bool]]) -> float:
    """The value from which on to say yes, with the fewest mistakes; see `_cut`."""
    return _cut(values)[0]


def rounded_cut(values: Sequence[tuple[float, bool]], cut: float) -> float:
    """A value with few digits, at most six, that separates the same values as a cut does, or nearly."""
    low = max((value for value, _ in values if value < cut), default=0.0)
    high = min((value for value, _ in values if value >= cut), default=1.0)
    found = (round(cut, digits) for digits in range(1, 7))
    return next((each for each in found if low < each <= high), round(cut, 6))


def _unseen(values: Sequence[tuple[float, bool]]) -> float:
    """How many of pairs that were left out are called right by what the others teach, as a share."""
    folds = min(_FOLDS, len(values))
    right = 0
    for fold in range(folds):
        rest = [each for place, each in enumerate(values) if place % folds != fold]
        cut, _, _ = _cut(rest)
        right += sum((value >= cut) == same for value, same in values[fold::folds])
    return right / len(values)
