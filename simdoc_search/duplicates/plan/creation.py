"""Makes the rows of a plan from groups of duplicates. Each row has the current state of its document."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

from simdoc_search.batches import split_by_count
from simdoc_search.display import format_estimate, format_percent
from simdoc_search.documents import DocumentKey
from simdoc_search.duplicates.plan.files import GONE, read_state
from simdoc_search.duplicates.plan.rows import (
    IN_ARCHIVE,
    Action,
    FileState,
    LeftAloneError,
    PlanRow,
    State,
    TextState,
    describe_kept_problem,
)
from simdoc_search.duplicates.plan.stored_documents import read_text_hashes
from simdoc_search.duplicates.plan.table import write_table
from simdoc_search.stores.base import Store

if TYPE_CHECKING:
    from simdoc_search.duplicates.duplicates_result import Duplicate, Duplicates, Group, GroupedDocument

_GROUPS_AT_ONCE = 256


def write_plan(
    duplicates: Duplicates,
    path: str | Path,
    store: Store,
    *,
    command: str | None = None,
    progress: Callable[[float], None] = lambda _: None,
) -> int:
    """Write a plan: a tab-separated table for people to edit.

    All files in the groups are read. If the file of a duplicate, or the file to keep instead, has changed since it was
    indexed, the action of the duplicate is `decide`.

    Args:
        duplicates: the duplicates.
        path: path of the plan.
        store: the store of the documents.
        command: the command that applies the plan, for the comment in the plan; None for the default.
        progress: called with the share of the groups that is done, 0..1.

    Returns:
        The number of rows.

    Raises:
        PlanError: the plan or its undo file already exists, or the plan cannot be written.
        StoreError: the store cannot be read.
    """
    rows = list(plan_rows(duplicates.groups(), duplicates.group_count, store, progress))
    write_table(
        Path(path), rows, command or f"simdoc-search apply {path} --move-to DIR --dry-run", duplicates.drop_scope
    )
    return len(rows)


def plan_rows(
    groups: Iterable[Group], group_count: int, store: Store, progress: Callable[[float], None] = lambda _: None
) -> Iterator[PlanRow]:
    """Yield the rows of a plan for some groups. Other arguments and errors are those of `write_plan`."""
    for batch in split_by_count(enumerate(groups, 1), _GROUPS_AT_ONCE):
        members = (member for _, group in batch for member in (group.kept, *group.duplicates))
        hashes = read_text_hashes(store, {member.key for member in members if member.path is None})
        for number, group in batch:
            yield from _make_plan_rows(number, group, hashes)
            progress(number / group_count)


def _make_plan_rows(number: int, group: Group, hashes: dict[DocumentKey, str]) -> Iterator[PlanRow]:
    members = {member.key: member for member in (group.kept, *group.duplicates)}
    states = {key: _read_state(member, hashes) for key, member in members.items()}
    kept = group.kept
    state, problem = states[kept.key]
    action: Action = "decide" if problem == GONE else "keep"
    yield PlanRow(
        action, number, kept.key, kept.path, "", state, modified_on=_format_date(kept), note=problem, problem=problem
    )
    for duplicate in group.duplicates:
        (state, problem), (other_state, other_problem) = states[duplicate.key], states[duplicate.duplicate_of]
        problem = problem or describe_kept_problem(other_problem)
        if duplicate.kind == "identical" and isinstance(state, FileState) and isinstance(other_state, FileState):
            problem = problem or ("" if state.hash == other_state.hash else "the content of the file has changed")
        note = duplicate.reason if problem in duplicate.reason else f"{duplicate.reason}; {problem}"
        other = members[duplicate.duplicate_of]
        other_name = PlanRow("keep", number, other.key, other.path, "", None).name
        yield PlanRow(
            "decide" if problem else duplicate.action, number, duplicate.key, duplicate.path, other_name, state,
            _format_overlap(duplicate), duplicate.kind, _format_date(duplicate), note, problem,
        )  # fmt: skip


def _read_state(member: GroupedDocument, hashes: dict[DocumentKey, str]) -> tuple[State | None, str]:
    """Return the state of a document, and an empty string; or None and the reason why the state is unknown."""
    if member.path is None:
        text_hash = hashes.get(member.key)
        return (TextState(text_hash), "") if text_hash else (None, "the text is unknown")
    if member.archive is not None:
        return None, IN_ARCHIVE
    try:
        state, _ = read_state(member.path)
    except LeftAloneError as error:
        return None, str(error)
    if (state.size, state.mtime_ns) != (member.size, member.mtime_ns):
        return None, "the file has changed since it was indexed"
    return state, ""


def _format_overlap(duplicate: Duplicate) -> str:
    return (format_percent(duplicate.overlap) if duplicate.exact else format_estimate(duplicate.overlap)).removesuffix(
        " %"
    )


def _format_date(member: GroupedDocument) -> str:
    return "" if member.mtime_ns is None else f"{datetime.fromtimestamp(member.mtime_ns / 1e9, timezone.utc):%Y-%m-%d}"
