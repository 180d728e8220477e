"""The rows of the groups that were found, each with what the document is at this moment."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from simdoc_search.display import estimate, percent
from simdoc_search.documents import Place
from simdoc_search.duplicates.plan.documents import text_hashes
from simdoc_search.duplicates.plan.files import GONE, state_of
from simdoc_search.duplicates.plan.rows import IN_ARCHIVE, Action, FileState, LeftAloneError, PlanRow, State, TextState
from simdoc_search.duplicates.plan.table import write_table
from simdoc_search.stores.base import Store

if TYPE_CHECKING:
    from simdoc_search.duplicates.finder import Duplicates
    from simdoc_search.duplicates.result import Duplicate, Group, Kept

_GROUPS_AT_ONCE = 256


def write_plan(
    found: Duplicates,
    path: str | Path,
    store: Store,
    *,
    command: str | None = None,
    progress: Callable[[float], None] = lambda _: None,
) -> int:
    """Write what was found as a plan: a table of tabs that people edit.

    All files of the groups are read. If a file has changed since it was indexed, its row and those of the documents for
    which it would be kept say `decide`.

    Args:
        found: the duplicates.
        path: where to; nothing may be there.
        store: what they were found in.
        command: how the plan is applied, for people; None: as it is where the store is the usual one.
        progress: called with the share of groups that is read, 0..1.

    Returns:
        How many rows there are.

    Raises:
        PlanError: something is there, or it cannot be written.
        StoreError: the store cannot be read.
    """
    rows = list(plan_rows(found, store, progress))
    write_table(Path(path), rows, command or f"simdoc-search apply {path} --move-to DIR --dry-run", found.drop)
    return len(rows)


def plan_rows(found: Duplicates, store: Store, progress: Callable[[float], None] = lambda _: None) -> Iterator[PlanRow]:
    """The rows of a plan, made as they are asked for; arguments and errors as of `write_plan`."""
    groups = enumerate(found.groups(), 1)
    while some := list(islice(groups, _GROUPS_AT_ONCE)):
        members = (each for _, group in some for each in (group.kept, *group.duplicates))
        hashes = text_hashes(store, {each.place for each in members if each.path is None})
        for number, group in some:
            yield from _group(number, group, hashes)
            progress(number / found.group_count)


def _group(number: int, group: Group, hashes: dict[Place, str]) -> Iterator[PlanRow]:
    members = {each.place: each for each in (group.kept, *group.duplicates)}
    states = {place: _state(each, hashes) for place, each in members.items()}
    state, note = states[group.kept.place]
    action: Action = "decide" if note == GONE else "keep"
    first = PlanRow(action, number, group.kept.place, group.kept.path, "", state, changed=_day(group.kept), note=note)
    yield first
    for each in group.duplicates:
        (its, note), (others, problem) = states[each.place], states[each.duplicate_of]
        action, note = each.action, note or problem
        if each.kind == "identical" and its != others and isinstance(its, FileState) and isinstance(others, FileState):
            note = note or ("" if its.hash == others.hash else "its content has changed")
        reason = each.reason if not note or note in each.reason else f"{each.reason}; {note}"
        kept = members[each.duplicate_of]
        name = PlanRow("keep", number, kept.place, kept.path, "", None).name
        yield PlanRow(
            "decide" if note else action, number, each.place, each.path, name, its, _how_much(each), each.kind,
            _day(each), reason,
        )  # fmt: skip


def _state(each: Kept, hashes: dict[Place, str]) -> tuple[State | None, str]:
    """What a document is, or why that is not known."""
    if each.path is None:
        text = hashes.get(each.place)
        return (TextState(text), "") if text else (None, "its text is not known")
    if each.archive is not None:
        return None, IN_ARCHIVE
    try:
        state, _ = state_of(each.path)
    except LeftAloneError as error:
        return None, str(error)
    if (state.size, state.mtime_ns) != (each.size, each.changed):
        return None, "it has changed since it was indexed"
    return state, ""


def _how_much(each: Duplicate) -> str:
    return (percent(each.overlap) if each.exact else estimate(each.overlap)).removesuffix(" %")


def _day(each: Kept) -> str:
    return "" if each.changed is None else f"{datetime.fromtimestamp(each.changed / 1e9, timezone.utc):%Y-%m-%d}"
