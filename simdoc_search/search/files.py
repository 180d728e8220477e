"""Finds the documents of files by their paths."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path, PurePath, PurePosixPath
from typing import NamedTuple

from simdoc_search.documents import MAX_ID_BYTES, DocumentKey
from simdoc_search.stores.base import Store
from simdoc_search.stores.record import Record


class FileDocument(NamedTuple):
    """The document that was read from a file."""

    id: str  # if the document is not stored, the id that `index` would give it
    key: DocumentKey | None  # None if the document is not stored


class IndexedFiles:
    """Finds the documents of indexed files and folders.

    Args:
        store: the store with the documents. It is read once per folder.
    """

    def __init__(self, store: Store) -> None:
        from simdoc_search.indexing.input_paths import InputPaths  # noqa: PLC0415 - most queries name no file

        self._store = store
        self._folders = InputPaths(store, None)

    def get(self, path: str | Path) -> FileDocument | None:
        """Return the document of a file; None if neither the file nor a folder that contains it was indexed."""
        from simdoc_search.indexing.input_paths import absolute_path  # noqa: PLC0415 - most queries name no file

        file = absolute_path(path)
        folder = self._folders.get_or_add(str(PurePath(file).parent))
        if folder.stored_count:
            id = folder.make_id(file)
        elif self._store.count(file):  # the file was indexed without its folder
            id = next(self._store.scan(root_folder=file)).id
        else:
            return None
        keys = (record.key for record in self._store.records([id]) if find_ids_by_file(file, [record]))
        return FileDocument(id, next(keys, None))


def list_possible_ids(path: str) -> list[str]:
    """Return all proper suffixes of a path, longest first. The id of the document of a file is such a suffix.

    A name without folders and a URL such as `https://host/page` have no suffixes.
    """
    if "://" in path or len(path) > 8 * MAX_ID_BYTES:
        return []
    parts = _split_path(path)
    ids = ["/".join(parts[start:]) for start in range(len(parts))]
    return [id for id in ids if id != path and len(id) <= MAX_ID_BYTES]


def find_ids_by_file(path: str, records: Iterable[Record]) -> list[str]:
    """Return the ids of the records that were read from a file. If there are none, return ids that equal the path."""
    candidates = list(records)
    posix = _to_posix(path)
    paths = {_to_posix(os.path.abspath(posix)), _to_posix(os.path.realpath(posix))}  # noqa: PTH100 - abspath keeps links
    ids = [record.id for record in candidates if paths & _find_possible_paths(record)]
    if not ids and not posix.startswith("/"):
        ids = [record.id for record in candidates if record.id == "/".join(_split_path(path))]
    return list(dict.fromkeys(ids))  # behind an alias, several documents can have the same id


def _find_possible_paths(record: Record) -> set[str]:
    """Return the possible paths of a record's file."""
    if record.origin is None:
        return set()
    root = _to_posix(record.origin.root)
    relative_path = record.id.removeprefix(record.origin.prefix)
    folder, _, name = root.rpartition("/")
    # The root is the file itself, or the archive that contains it.
    is_root = relative_path == name or relative_path.startswith(f"{name}!")
    return {f"{root.rstrip('/')}/{relative_path}"} | ({f"{folder}/{relative_path}"} if is_root else set())


def _split_path(path: str) -> list[str]:
    """Return the folders and the file name in a path, without `.` and `..`."""
    parts: list[str] = []
    for part in PurePosixPath(_to_posix(path)).parts:
        if part == ".." and parts:
            parts.pop()
        elif part not in ("/", "//", ".", ".."):
            parts.append(part)
    return parts


def _to_posix(path: str) -> str:
    return path.replace("\\", "/")
