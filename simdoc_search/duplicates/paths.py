"""Where is the file of a document, and is it still there?"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection

from simdoc_search.corpus.member_names import archive_of
from simdoc_search.stores.record import Record

FILE_GONE, ARCHIVE_GONE, SYMBOLIC_LINK = "its file is gone", "its archive is gone", "it is a symbolic link"


def file_path(root: str, prefix: str, id: str) -> str:
    """The path of a file by its root, which is a folder, or the file or the archive itself."""
    below, name = id.removeprefix(prefix), os.path.basename(root)  # noqa: PTH119 - as text
    if (below == name or below.startswith(f"{name}!")) and not os.path.isdir(root):  # noqa: PTH112
        return root + below.removeprefix(name)
    return os.path.join(root, below)  # noqa: PTH118


def missing(record: Record) -> str:
    """Why the file of a document cannot be compared; empty if it is there, or the document was read from none.

    On a machine without the folder that was indexed nothing is said: its files may be on another one.
    """
    if record.origin is None:
        return ""
    path = file_path(record.origin.root, record.origin.prefix, record.id)
    archive = archive_of(path) if record.origin.content else None
    try:
        mode = os.lstat(archive or path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        gone = ARCHIVE_GONE if archive else FILE_GONE
        return gone if os.path.lexists(record.origin.root) else ""
    except (OSError, ValueError):
        return ""  # it may be there
    return SYMBOLIC_LINK if stat.S_ISLNK(mode) and not archive else ""


def is_within(record: Record, folders: Collection[str]) -> bool:
    """Whether the file of a document is in one of these folders."""
    if record.origin is None:
        return False
    path = file_path(record.origin.root, record.origin.prefix, record.id)
    return any(path.startswith(os.path.join(each, "")) for each in folders)  # noqa: PTH118
