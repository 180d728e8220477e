"""Which groups of an edited plan may be applied? None that would leave nothing of what goes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field

from simdoc_search.duplicates.plan.files import entry_of
from simdoc_search.duplicates.plan.rows import PlanRow


@dataclass(frozen=True, slots=True)
class Drop:
    """A document that goes, and the one that stays for it."""

    row: PlanRow
    kept: PlanRow


@dataclass(slots=True)
class CheckedPlan:
    """What is to be done by a plan.

    Attributes:
        drops: who goes for whom.
        refused: group to reason, of groups that are left as they are.
    """

    drops: list[Drop] = field(default_factory=list)
    refused: dict[int, str] = field(default_factory=dict)


def entry(row: PlanRow) -> Hashable:
    """What tells a document from another one, however it is named."""
    return row.place if row.path is None else entry_of(row.path)


def judged(rows: Iterable[PlanRow], entry: Callable[[PlanRow], Hashable] = entry) -> CheckedPlan:
    """Each document that goes must go for one that stays: a row of its group that no other row lets go.

    If the document in column `kept` goes itself, it is the one that stays for that document.

    Args:
        rows: of a plan as a person may have edited it.
        entry: what tells a document from another one.
    """
    groups: dict[int, list[PlanRow]] = defaultdict(list)
    for row in rows:
        groups[row.group].append(row)
    entries = {id(row): entry(row) for group in groups.values() for row in group}
    times = Counter(entries.values())
    going = {entries[id(row)] for group in groups.values() for row in group if row.action == "drop"}
    found = CheckedPlan()
    for number, group in sorted(groups.items()):
        by_name: dict[str, list[PlanRow]] = defaultdict(list)
        for row in group:
            by_name[row.name].append(row)
        drops = [(row, _kept_for(row, by_name)) for row in group if row.action == "drop"]
        problems = (
            _problem(row, kept, times[entries[id(row)]], any(entries[id(each)] in going for each in kept))
            for row, kept in drops
        )
        if problem := next(filter(None, problems), ""):
            found.refused[number] = problem
        else:
            found.drops += [Drop(row, kept[0]) for row, kept in drops]
    return found


def _kept_for(row: PlanRow, by_name: dict[str, list[PlanRow]]) -> list[PlanRow]:
    """The rows of the document that stays for a row."""
    kept, passed = by_name.get(row.kept, []) if row.kept else [], {row.name}
    while kept and kept[0].action == "drop" and kept[0].kept and kept[0].name not in passed:
        passed.add(kept[0].name)
        kept = by_name.get(kept[0].kept, [])
    return kept


def _problem(row: PlanRow, kept: list[PlanRow], times: int, kept_goes: bool) -> str:
    """Why a row cannot be dropped; empty if it can."""
    if times > 1:
        return f"{row.name} stands in several rows; leave one of them"
    if not row.kept:
        return (
            f"{row.name}, which was to stay for the others, is to be dropped; write keep in its row, or the path of "
            "another one that stays into the column kept of each row that says drop"
        )
    if not kept:
        return f"no row of it is {row.kept}, which is to stay for {row.name}"
    return f"{row.kept} is to be dropped, and to stay for {row.name}; write keep in its row" if kept_goes else ""
