"""Makes the rows of a plan from groups of duplicates. Each row has the current state of its document."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
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
    DocumentState,
    LeftAloneError,
    PlanRow,
    State,
    describe_kept_problem,
)
from simdoc_search.duplicates.plan.table import write_table
from simdoc_search.stores.base import Store
from simdoc_search.stores.record import NOT_IN_STORE, DocumentHashes

if TYPE_CHECKING:
    from simdoc_search.duplicates.duplicates_result import Duplicate, Duplicates, Group, GroupedDocument

_GROUPS_AT_ONCE = 256
_CHANGED_TEXT = "the text has changed since it was compared"


def write_plan(
    duplicates: Duplicates,
    path: str | Path,
    store: Store,
    *,
    command: str | None = None,
    progress: Callable[[float], None] = lambda _: None,
) -> int:
    """Write a plan: a tab-separated table for people to edit.

    All files in the groups are read, and all documents without files. If a duplicate, or the one to keep instead, has
    changed since it was indexed or compared, the action of the duplicate is `decide`.

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
    rows = list(plan_rows(duplicates.groups(), duplicates, store, progress))
    write_table(
        Path(path), rows, command or f"simdoc-search apply {path} --move-to DIR --dry-run", duplicates.drop_scope
    )
    return len(rows)


def plan_rows(
    groups: Iterable[Group],
    duplicates: Duplicates,
    store: Store,
    progress: Callable[[float], None] = lambda _: None,
) -> Iterator[PlanRow]:
    """Yield the rows of a plan for some groups of `duplicates`. See `write_plan` for other arguments and errors."""
    for batch in split_by_count(enumerate(groups, 1), _GROUPS_AT_ONCE):
        members = (member for _, group in batch for member in (group.kept, *group.duplicates))
        hashes = store.current_hashes({member.key for member in members if member.path is None})
        for number, group in batch:
            yield from _make_plan_rows(number, group, hashes, duplicates.had_text_hash)
            progress(number / duplicates.group_count)


def _make_plan_rows(
    number: int, group: Group, hashes: Mapping[DocumentKey, DocumentHashes], had_text_hash: Callable[[int, str], bool]
) -> Iterator[PlanRow]:
    members = {member.key: member for member in (group.kept, *group.duplicates)}
    states = {key: _read_state(member, hashes.get(key), had_text_hash) for key, member in members.items()}
    unread = {key for key, current in hashes.items() if not current.text}
    kept = group.kept
    state, problem = states[kept.key]
    action: Action = "decide" if problem == GONE else "keep"
    yield PlanRow(
        action, number, kept.key, kept.path, "", state, modified_on=_format_date(kept), note=problem, problem=problem
    )
    for duplicate in group.duplicates:
        (state, problem), (other_state, other_problem) = states[duplicate.key], states[duplicate.duplicate_of]
        problem = problem or describe_kept_problem(other_problem)
        if duplicate.kind == "identical" and state and other_state and type(state) is type(other_state):
            name = "document" if duplicate.path is None else "file"
            problem = problem or ("" if state.hash == other_state.hash else f"the content of the {name} has changed")
        elif duplicate.action == "drop" and not unread.isdisjoint((duplicate.key, duplicate.duplicate_of)):
            problem = problem or "the text cannot be read"
        note = duplicate.reason if problem in duplicate.reason else f"{duplicate.reason}; {problem}"
        other = members[duplicate.duplicate_of]
        other_name = PlanRow("keep", number, other.key, other.path, "", None).name
        yield PlanRow(
            "decide" if problem else duplicate.action, number, duplicate.key, duplicate.path, other_name, state,
            _format_overlap(duplicate), duplicate.kind, _format_date(duplicate), note, problem,
        )  # fmt: skip


def _read_state(
    member: GroupedDocument, current: DocumentHashes | None, had_text_hash: Callable[[int, str], bool]
) -> tuple[State | None, str]:
    """Return the state of a document, and an empty string; or None and the reason why the state is unknown."""
    if member.path is None:
        if current is None:
            return None, NOT_IN_STORE
        is_changed = current.text and not had_text_hash(member.number, current.text)
        return (None, _CHANGED_TEXT) if is_changed else (DocumentState(current.content), "")
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
