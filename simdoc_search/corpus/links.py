"""Checks whether links lead out of an indexed folder."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from simdoc_search.corpus.file_source import FileId

LINK_OUT_REASON = "a link out of the folder"

_MAX_LINKS = 40  # the limit of Linux


def leads_out(path: str | Path, boundary: FileId, descriptor: int | None = None) -> bool:
    """Return whether a path leads outside a folder because of a link.

    The check starts at the real location of the file and goes up until it reaches the folder. It compares inodes,
    because the names of the folders above the indexed folder may be unreadable.

    If the path leads to another file than the open `descriptor`, the result is True, because the path may have been
    replaced with a link while the file was being opened.

    Raises:
        OSError: the file does not exist.
    """
    real = _resolve_last_name(os.fspath(path))
    info = os.stat(real)  # noqa: PTH116 - paths are strings
    if descriptor is not None and not os.path.samestat(info, os.fstat(descriptor)):
        return True
    folder = real if stat.S_ISDIR(info.st_mode) else os.path.dirname(real) or os.curdir  # noqa: PTH120 - paths are strings
    try:
        while (current := file_id(folder)) != boundary:
            folder = os.path.join(folder, os.pardir) if os.name == "posix" else os.path.dirname(folder)  # noqa: PTH118, PTH120
            if file_id(folder) == current:  # `folder` is the root of the file system
                return True
    except PermissionError:  # every folder inside the boundary is readable, so this one is outside
        return True
    return False


def file_id(path: str | Path) -> FileId:
    """Return the device and inode of a file or folder."""
    info = os.stat(path)  # noqa: PTH116 - paths are strings
    return info.st_dev, info.st_ino


def _resolve_last_name(path: str) -> str:
    """Resolve the last component of a path while it is a link."""
    if os.name != "posix":  # on Windows, `x/..` is the folder that contains the link x
        return os.path.realpath(path)
    for _ in range(_MAX_LINKS):
        if not os.path.islink(path):  # noqa: PTH114
            break
        path = os.path.join(os.path.dirname(path), os.readlink(path))  # noqa: PTH115, PTH118, PTH120
    return path
