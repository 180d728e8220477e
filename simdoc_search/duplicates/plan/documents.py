"""Documents that leave the store: those without files that a plan drops, and those whose files are dropped."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from simdoc_search.documents import Place
from simdoc_search.duplicates.paths import file_path
from simdoc_search.duplicates.plan.rows import FileState, LeftAloneError, PlanRow, TextState
from simdoc_search.stores.base import Store
from simdoc_search.stores.removal import NOT_THERE, TEXT_CHANGED, Removal


def text_hashes(store: Store | None, places: Collection[Place]) -> dict[Place, str]:
    """The `text_hash` of the documents at some places, of those that are there."""
    found = store.records(dict.fromkeys(each.id for each in places)) if places and store is not None else ()
    return {each.place: each.text_hash for each in found if each.place in places}


def check_document(hashes: Mapping[Place, str], row: PlanRow) -> str:
    """Make sure that a document without a file has the text that it had; the hash of that.

    Args:
        hashes: those of the documents as they are now.
        row: what the plan says of it.

    Raises:
        LeftAloneError: it has not.
    """
    if row.place not in hashes:
        raise LeftAloneError(NOT_THERE)
    if not isinstance(row.state, TextState) or hashes[row.place] != row.state.hash:
        raise LeftAloneError(TEXT_CHANGED if row.state else row.unknown)
    return row.state.hash


def forget_files(store: Store, rows: Iterable[PlanRow]) -> tuple[int, Mapping[Place, str]]:
    """Remove from a store the documents of files that are gone by now, where they are just those of the plan.

    Returns:
        How many were removed, and why others were not.
    """
    by_place = {row.place: row for row in rows}
    wanted = {}
    for record in store.records(dict.fromkeys(each.id for each in by_place)):
        row, origin = by_place.get(record.place), record.origin
        if row is None or origin is None or not isinstance(row.state, FileState):
            continue
        state = origin.size, origin.mtime_ns
        if file_path(origin.root, origin.prefix, record.id) == row.path and state == (
            row.state.size,
            row.state.mtime_ns,
        ):
            wanted[record.place] = Removal(record.text_hash)
    left = store.remove(wanted) if wanted else {}
    return len(wanted) - len(left), left
