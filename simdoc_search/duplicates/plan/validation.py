"""Checks that no group of an edited plan loses its kept document."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field

from simdoc_search.duplicates.plan.files import directory_entry
from simdoc_search.duplicates.plan.rows import FileState, PlanRow


@dataclass(frozen=True, slots=True)
class Drop:
    """A document to drop, and the document that is kept instead."""

    row: PlanRow
    kept_row: PlanRow

    @property
    def has_equal_bytes(self) -> bool:
        """Whether both documents have files, with the same bytes when the plan was written."""
        state, kept = self.row.state, self.kept_row.state
        return isinstance(state, FileState) and isinstance(kept, FileState) and state.hash == kept.hash


@dataclass(slots=True)
class CheckedPlan:
    """The documents to drop, and the groups that are left unchanged."""

    drops: list[Drop] = field(default_factory=list)
    refused_groups: dict[int, str] = field(default_factory=dict)  # for each group that is left unchanged, the reason


def document_identity(row: PlanRow) -> Hashable:
    """Return a value that is equal for rows with the same document, even if their paths differ."""
    return row.key if row.path is None else directory_entry(row.path)


def check_groups(
    rows: Iterable[PlanRow], identify_document: Callable[[PlanRow], Hashable] = document_identity
) -> CheckedPlan:
    """Check that each dropped document has a kept document that is in the same group and is not dropped.

    The column `kept` names the document that is kept instead of the one in the row. If that document is dropped too,
    the column `kept` of its own row applies. The column is empty in the first row of a group. If that row says
    `drop`, exactly one document of the group must have the action `keep`. It is kept instead.
    """
    groups: dict[int, list[PlanRow]] = defaultdict(list)
    for row in rows:
        groups[row.group].append(row)
    identities = {id(row): identify_document(row) for group in groups.values() for row in group}
    row_counts = Counter(identities.values())
    dropped = {identities[id(row)] for group in groups.values() for row in group if row.action == "drop"}
    plan = CheckedPlan()
    for number, group in sorted(groups.items()):
        rows_by_name: dict[str, list[PlanRow]] = defaultdict(list)
        for row in group:
            rows_by_name[row.name].append(row)
        drops, kept_names = [], {row.name for row in group if row.action == "keep"}
        kept_name = kept_names.pop() if len(kept_names) == 1 else ""
        for row in (row for row in group if row.action == "drop"):
            kept = _kept_rows(row, rows_by_name, kept_name)
            is_replacement_dropped = any(identities[id(other)] in dropped for other in kept)
            problem = _find_problem(
                row,
                row.kept_name or kept_name,
                kept,
                row_counts[identities[id(row)]],
                is_replacement_dropped=is_replacement_dropped,
            )
            if problem:
                plan.refused_groups[number] = problem
                break
            drops.append(Drop(row, kept[0]))
        else:
            plan.drops += drops
    return plan


def _kept_rows(row: PlanRow, rows_by_name: dict[str, list[PlanRow]], kept_name: str) -> list[PlanRow]:
    """Return the rows of the document that is kept instead of the one in `row`.

    If the column `kept` is empty, `kept_name` is used. It names the document with the action `keep`, if exactly one
    document of the group has it.
    """
    kept, visited = rows_by_name.get(row.kept_name or kept_name, []), {row.name}
    while (
        kept
        and kept[0].action == "drop"
        and kept[0].name not in visited
        and (following := rows_by_name.get(kept[0].kept_name or kept_name))
    ):
        visited.add(kept[0].name)
        kept = following
    return kept


def _find_problem(
    row: PlanRow, kept_name: str, kept_rows: list[PlanRow], row_count: int, *, is_replacement_dropped: bool
) -> str:
    """Return why a document cannot be dropped; empty if it can."""
    if row_count > 1:
        return f"{row.name} is in several rows; remove all but one"
    if not kept_name:
        return (
            f"{row.name} is the kept document of a group, but its row says 'drop'; write 'keep' in this row, or in "
            "exactly one other row of the group"
        )
    if not kept_rows:
        advice = "add the row, or edit column 'kept'"
        return (
            f"the row of {row.name} says that {kept_name} is kept, but the group has no row for {kept_name}; {advice}"
        )
    if is_replacement_dropped:
        return f"{kept_name} is kept instead of {row.name}, but its own row says 'drop'; write 'keep' in its row"
    return ""
