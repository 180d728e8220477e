"""Finds the documents of files by their paths."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path, PurePath, PurePosixPath
from typing import NamedTuple

from simdoc_search.documents import MAX_ID_BYTES, Place
from simdoc_search.indexing.roots import NamedPaths, absolute
from simdoc_search.stores.base import Store
from simdoc_search.stores.record import Record


class IndexedFile(NamedTuple):
    """The document of a file.

    Attributes:
        id: the id of the document. If it is not in the store, the id that `index` would give it.
        place: the place of the document; None if it is not in the store.
    """

    id: str
    place: Place | None


class IndexedFiles:
    """Finds the documents of the files and folders that a store was made from.

    Args:
        store: the store. It is read once per folder.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._folders = NamedPaths(store, None)

    def get(self, path: str | Path) -> IndexedFile | None:
        """Return the document of a file; None if neither the file nor a folder above it was indexed."""
        file = absolute(path)
        folder = self._folders.get_or_add(str(PurePath(file).parent))
        if folder.stored_count:
            id = folder.id_of(file)
        elif self._store.count(file):  # the file was indexed without its folder
            id = next(self._store.scan(root=file)).id
        else:
            return None
        places = (record.place for record in self._store.records([id]) if ids_of_file(file, [record]))
        return IndexedFile(id, next(places, None))


def possible_ids(path: str) -> list[str]:
    """Return the possible ids of the document of a file: the path without its leading folders, longest first.

    There are none for a name without folders, and for an address such as `https://host/page`.
    """
    if "://" in path or len(path) > 8 * MAX_ID_BYTES:
        return []
    parts = _parts(path)
    ids = ["/".join(parts[start:]) for start in range(len(parts))]
    return [id for id in ids if id != path and len(id) <= MAX_ID_BYTES]


def ids_of_file(path: str, records: Iterable[Record]) -> list[str]:
    """Return the ids of the records that were read from this file. If there are none, return ids equal to the path."""
    candidates = list(records)
    posix = _posix(path)
    paths = {_posix(os.path.abspath(posix)), _posix(os.path.realpath(posix))}  # noqa: PTH100 - with links and without
    ids = [record.id for record in candidates if paths & _paths_of(record)]
    if not ids and not posix.startswith("/"):
        ids = [record.id for record in candidates if record.id == "/".join(_parts(path))]
    return list(dict.fromkeys(ids))  # behind an alias, several documents can have the same id


def _paths_of(record: Record) -> set[str]:
    """Return the possible paths of the file of a record. Its root can be a folder or the file itself."""
    if record.origin is None:
        return set()
    root = _posix(record.origin.root)
    below = record.id.removeprefix(record.origin.prefix)
    folder, _, name = root.rpartition("/")
    is_root = below == name or below.startswith(f"{name}!")  # the root is the file, or the archive that contains it
    return {f"{root.rstrip('/')}/{below}"} | ({f"{folder}/{below}"} if is_root else set())


def _parts(path: str) -> list[str]:
    """Return the folders and the file name in a path, without `.` and `..`."""
    parts: list[str] = []
    for part in PurePosixPath(_posix(path)).parts:
        if part == ".." and parts:
            parts.pop()
        elif part not in ("/", "//", ".", ".."):
            parts.append(part)
    return parts


def _posix(path: str) -> str:
    return path.replace("\\", "/")
