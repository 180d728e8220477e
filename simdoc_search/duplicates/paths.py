"""Checks the files that documents were read from."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection

from simdoc_search.corpus.member_names import find_archive
from simdoc_search.stores.record import Record

FILE_GONE, ARCHIVE_GONE, SYMBOLIC_LINK = "the file is gone", "the archive is gone", "the path is a symbolic link"


def find_file_problem(record: Record) -> str:
    """Return why the file of a document cannot be compared; empty if it can, or if the document has no file.

    If the indexed folder does not exist, for example on another machine, its files are not reported as missing.
    """
    if record.origin is None:
        return ""
    path = record.origin.path_of(record.id)
    archive = find_archive(path) if record.origin.content_hash else None
    try:
        mode = os.lstat(archive or path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        gone = ARCHIVE_GONE if archive else FILE_GONE
        return gone if os.path.lexists(record.origin.root) else ""
    except (OSError, ValueError):
        return ""  # the path cannot be checked, so the file may exist
    return SYMBOLIC_LINK if stat.S_ISLNK(mode) else ""


def is_within(record: Record, folders: Collection[str]) -> bool:
    """Return whether the file of a document is in one of these folders."""
    if record.origin is None:
        return False
    path = record.origin.path_of(record.id)
    return any(path.startswith(os.path.join(folder, "")) for folder in folders)  # noqa: PTH118
