"""Where does the file of a document lie, and is it still there?"""

from __future__ import annotations

import os
from collections.abc import Collection

from simdoc_search.corpus.member_names import archive_of
from simdoc_search.stores.record import Record

__all__ = ["file_path", "gone", "path_within"]


def file_path(root: str, prefix: str, id: str) -> str:
    """The path of a file by its root, which is a folder, or the file or the archive itself."""
    below, name = id.removeprefix(prefix), os.path.basename(root)  # noqa: PTH119 - as text
    if (below == name or below.startswith(f"{name}!")) and not os.path.isdir(root):  # noqa: PTH112
        return root + below.removeprefix(name)
    return os.path.join(root, below)  # noqa: PTH118


def gone(path: str) -> str:
    """Why a file cannot be compared any more; empty if it is there, or the archive in which it lies is."""
    archive = archive_of(path)
    if os.path.exists(path) or (archive and os.path.exists(archive)):  # noqa: PTH110
        return ""
    return "its archive is gone" if archive else "its file is gone"


def path_within(record: Record, folders: Collection[str]) -> str | None:
    """The path of the file, if it lies there."""
    if record.origin is None:
        return None
    path = file_path(record.origin.root, record.origin.prefix, record.id)
    return path if any(path.startswith(os.path.join(each, "")) for each in folders) else None  # noqa: PTH118
