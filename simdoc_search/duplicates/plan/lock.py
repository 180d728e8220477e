"""Locks folders and undo files, so that only one `apply` or undo at a time uses them.

The locks are `flock`s on existing folders and files. So no lock files remain, and a lock ends with its process. Windows
and some network file systems have no such locks. No content is lost there either; see moves.py.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from simdoc_search.duplicates.plan.rows import PlanError

if sys.platform != "win32":
    import fcntl

_MAX_TREES = 100


def lock_file(descriptor: int, *, shared: bool = False) -> bool:
    """Lock an open file or folder until it is closed.

    Returns:
        False if another process holds the lock; True if the file is locked, or if the system has no such locks.
    """
    if sys.platform != "win32":
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:  # the file system does not support locks
            pass
    return True


@contextmanager
def lock_trees(folders: Iterable[str]) -> Iterator[None]:
    """Lock folders, given by absolute path, and everything below them.

    The top folder of each tree gets an exclusive lock. Each folder above it gets a shared lock. So two runs exclude
    each other if a tree of one run is inside a tree of the other. A folder that does not exist is not locked.

    Raises:
        PlanError: another process has locked one of the folders, a folder above it, or a folder below it.
    """
    tops = _top_folders(folders)
    above = {folder for top in tops for folder in top.parents}
    with ExitStack() as stack:
        for folder in sorted(above | tops):
            try:
                descriptor = os.open(folder, os.O_RDONLY)
            except OSError:  # the folder does not exist, or cannot be read
                continue
            stack.callback(os.close, descriptor)
            if not lock_file(descriptor, shared=folder not in tops):
                raise PlanError(
                    f"another run of `apply` is changing files in {folder}; wait until that run ends, then try again"
                )
        yield


def _top_folders(folders: Iterable[str]) -> set[Path]:
    """Return the folders that are not inside other folders. If they are too many, return their parents, and so on."""
    tops = {Path(os.path.realpath(folder)) for folder in set(folders)}
    while True:
        tops = {folder for folder in tops if tops.isdisjoint(folder.parents)}
        if len(tops) <= _MAX_TREES:
            return tops
        tops = {folder.parent for folder in tops}
