"""Which id has the document of a file, by the path that a shell gives it?"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import PurePosixPath

from simdoc_search.documents import MAX_ID_BYTES
from simdoc_search.stores.record import Record


def possible_ids(path: str) -> list[str]:
    """The ids that the document of a file can have, the longest first: the path, without its first folders.

    None for what is no path: a name alone, `https://host/page`.
    """
    if "://" in path or len(path) > 8 * MAX_ID_BYTES:
        return []
    parts = _parts(path)
    ids = ["/".join(parts[at:]) for at in range(len(parts))]
    return [each for each in ids if each != path and len(each) <= MAX_ID_BYTES]


def fitting(path: str, records: Iterable[Record]) -> list[str]:
    """The ids of those that were read from the file at this path; if none was, of the one that has it as its id."""
    found = list(records)
    posix = _posix(path)
    places = {_posix(os.path.abspath(posix)), _posix(os.path.realpath(posix))}  # noqa: PTH100 - links as they are, too
    read = [each.id for each in found if places & _files_of(each)]
    if not read and not posix.startswith("/"):
        read = [each.id for each in found if each.id == "/".join(_parts(path))]
    return list(dict.fromkeys(read))  # behind an alias, several can have one id


def _files_of(record: Record) -> set[str]:
    """The paths that its file can have: the root is the folder, or the file itself."""
    if record.origin is None:
        return set()
    root = _posix(record.origin.root)
    below = record.id.removeprefix(record.origin.prefix)
    folder, _, name = root.rpartition("/")
    is_itself = below == name or below.startswith(f"{name}!")  # a member of an archive that was named
    return {f"{root.rstrip('/')}/{below}"} | ({f"{folder}/{below}"} if is_itself else set())


def _parts(path: str) -> list[str]:
    """The folders and the name, without `.` and `..` where that can be said without looking."""
    parts: list[str] = []
    for part in PurePosixPath(_posix(path)).parts:
        if part == ".." and parts:
            parts.pop()
        elif part not in ("/", "//", ".", ".."):
            parts.append(part)
    return parts


def _posix(path: str) -> str:
    return path.replace("\\", "/")
