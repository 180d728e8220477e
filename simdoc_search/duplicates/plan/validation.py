"""Which groups of an edited plan can be applied? Each dropped document needs a kept one."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field

from simdoc_search.duplicates.plan.files import entry_of
from simdoc_search.duplicates.plan.rows import PlanRow


@dataclass(frozen=True, slots=True)
class Drop:
    """A document to drop, and the one that is kept instead."""

    row: PlanRow
    kept: PlanRow


@dataclass(slots=True)
class CheckedPlan:
    """The parts of a plan that can be applied.

    Attributes:
        drops: the documents to drop.
        refused: group to reason, of groups that are left unchanged.
    """

    drops: list[Drop] = field(default_factory=list)
    refused: dict[int, str] = field(default_factory=dict)


def entry(row: PlanRow) -> Hashable:
    """Equal for rows of the same document, also under different names."""
    return row.place if row.path is None else entry_of(row.path)


def check_groups(rows: Iterable[PlanRow], entry: Callable[[PlanRow], Hashable] = entry) -> CheckedPlan:
    """Check that each dropped document has a kept one: a row of its group that no other row drops.

    If the document in column `kept` is dropped too, the document that is kept instead of that one counts.

    Args:
        rows: a plan, possibly edited.
        entry: equal for rows of the same document.
    """
    groups: dict[int, list[PlanRow]] = defaultdict(list)
    for row in rows:
        groups[row.group].append(row)
    entries = {id(row): entry(row) for group in groups.values() for row in group}
    times = Counter(entries.values())
    dropped = {entries[id(row)] for group in groups.values() for row in group if row.action == "drop"}
    found = CheckedPlan()
    for number, group in sorted(groups.items()):
        by_name: dict[str, list[PlanRow]] = defaultdict(list)
        for row in group:
            by_name[row.name].append(row)
        drops = [(row, _kept_for(row, by_name)) for row in group if row.action == "drop"]
        problems = (
            _problem(row, kept, times[entries[id(row)]], any(entries[id(each)] in dropped for each in kept))
            for row, kept in drops
        )
        if problem := next(filter(None, problems), ""):
            found.refused[number] = problem
        else:
            found.drops += [Drop(row, kept[0]) for row, kept in drops]
    return found


def _kept_for(row: PlanRow, by_name: dict[str, list[PlanRow]]) -> list[PlanRow]:
    """The rows of the document that is kept instead."""
    kept, passed = by_name.get(row.kept, []) if row.kept else [], {row.name}
    while kept and kept[0].action == "drop" and kept[0].kept and kept[0].name not in passed:
        passed.add(kept[0].name)
        kept = by_name.get(kept[0].kept, [])
    return kept


def _problem(row: PlanRow, kept: list[PlanRow], times: int, kept_is_dropped: bool) -> str:
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
    return f"{row.kept} is to be dropped, and to stay for {row.name}; write keep in its row" if kept_is_dropped else ""
