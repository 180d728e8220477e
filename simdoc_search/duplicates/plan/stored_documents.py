"""Reads the current state of a plan's documents in the store, and removes documents whose files were dropped."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from simdoc_search.corpus.formats import determine_format
from simdoc_search.documents import DocumentKey
from simdoc_search.duplicates.plan.journal import PlanIndex
from simdoc_search.duplicates.plan.rows import DocumentState, FileState, LeftAloneError, PlanRow
from simdoc_search.errors import StoreError
from simdoc_search.stores.base import Store
from simdoc_search.stores.location import MEMORY_LOCATION, absolute_location
from simdoc_search.stores.record import DOCUMENT_CHANGED, NOT_IN_STORE, RemovalCondition


def read_content_hashes(store: Store | None, keys: Collection[DocumentKey]) -> dict[DocumentKey, str]:
    """Return `DocumentHashes.content` of the documents with these keys. Keys without a document are omitted."""
    hashes = {} if store is None else store.current_hashes(keys)
    return {key: current.content for key, current in hashes.items()}


def require_content_hash(hashes: Mapping[DocumentKey, str], row: PlanRow) -> str:
    """Return the hash of a document without a file, if the document has not changed since the plan was written.

    Raises:
        LeftAloneError: the document is not in the store, or has changed.
    """
    if row.key not in hashes:
        raise LeftAloneError(NOT_IN_STORE, needs_new_plan=True)
    if row.state is None:
        raise row.missing_state_error()
    if not isinstance(row.state, DocumentState) or hashes[row.key] != row.state.hash:
        raise LeftAloneError(DOCUMENT_CHANGED, needs_new_plan=True)
    return row.state.hash


def find_plan_index(store: Store | None, paths: Iterable[str]) -> PlanIndex:
    """Return the location of the store and the indexed folders of these files. If there are none, it is not known.

    `paths` are absolute. If an indexed folder contains another one, only the outer one is returned.
    """
    if store is None:
        return PlanIndex()
    folders: dict[str, str] = {}
    not_indexed: set[Path] = set()
    with suppress(StoreError):  # files can be moved without the store
        for path in map(Path, paths):
            for folder in (*reversed(path.parents), path):
                if str(folder) in folders:
                    break
                if folder not in not_indexed and store.count(str(folder)):
                    record = next(store.scan(root_folder=str(folder)), None)
                    folders[str(folder)] = record.origin.prefix if record and record.origin else ""
                    break
                not_indexed.add(folder)
        if folders and store.location != MEMORY_LOCATION:
            return PlanIndex(absolute_location(store.location), folders)
    return PlanIndex()


def remove_documents_of_files(store: Store, rows: Iterable[PlanRow]) -> tuple[int, Mapping[DocumentKey, str]]:
    """Remove the documents of dropped files from the store, unless they were indexed from another version of the file.

    The documents of a dropped e-mail are the e-mail and its attachments. Those of a dropped archive are its members.

    Returns:
        The number of removed documents, and the reason for each document that could not be removed.
    """
    by_key = {row.key: row for row in rows}
    removals: dict[DocumentKey, RemovalCondition] = {}
    for key, row in by_key.items():
        if row.path is not None and determine_format(row.path).kind == "archive":
            removals |= _find_members(store, key.id, row.path)
    for record in store.records(dict.fromkeys(key.id for key in by_key)):
        dropped, origin = by_key.get(record.key), record.origin
        if dropped is None or origin is None or not isinstance(dropped.state, FileState):
            continue
        is_same_version = (origin.size, origin.mtime_ns) == (dropped.state.size, dropped.state.mtime_ns)
        if is_same_version and origin.path_of(record.id) == dropped.path:
            removals[record.key] = RemovalCondition(text_hash=record.text_hash)
            if determine_format(dropped.path).has_attachments:
                removals |= _find_members(store, record.id, dropped.path)
    problems = store.remove(removals) if removals else {}
    return len(removals) - len(problems), problems


def _find_members(store: Store, id: str, path: str) -> dict[DocumentKey, RemovalCondition]:
    """Return the members of an archive, or the attachments of an e-mail, that are documents."""
    return {
        record.key: RemovalCondition(text_hash=record.text_hash)
        for record in store.scan(filters=[{"path": f"{id}!"}])
        if record.origin and record.origin.path_of(record.id).startswith(f"{path}!")
    }
