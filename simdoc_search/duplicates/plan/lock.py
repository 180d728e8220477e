"""Locks: one `apply` or undo at a time in a tree of folders, and for an undo file.

They are `flock`s on folders and files that exist anyway, so they leave nothing behind and end with the process. Windows
and some network file systems have no such locks. Nothing is lost there either: see moves.py.
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


def lock_file(handle: int, *, shared: bool = False) -> bool:
    """Lock an open file or folder until it is closed; False if another process holds the lock.

    Returns True where the system has no such locks.
    """
    if sys.platform != "win32":
        try:
            fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:  # a file system without locks
            pass
    return True


@contextmanager
def locked_trees(folders: Iterable[str]) -> Iterator[None]:
    """Lock folders, given by absolute paths, with everything below them.

    The top folder of each tree gets an exclusive lock, each folder above it a shared one. So two runs exclude each
    other if a tree of one is inside a tree of the other. A folder that does not exist needs no lock.

    Raises:
        PlanError: another process has locked one of the folders, a folder above it, or one below it.
    """
    tops = _tops(folders)
    above = {folder for top in tops for folder in top.parents}
    with ExitStack() as held:
        for folder in sorted(above | tops):
            try:
                handle = os.open(folder, os.O_RDONLY)
            except OSError:  # it is gone, or we may not read it
                continue
            held.callback(os.close, handle)
            if not lock_file(handle, shared=folder not in tops):
                raise PlanError(f"another apply is running in {folder}; wait until it has ended, then try again")
        yield


def _tops(folders: Iterable[str]) -> set[Path]:
    """Return the folders that are in none of the others; if they are too many, a few folders around them."""
    tops = {Path(os.path.realpath(folder)) for folder in set(folders)}
    while True:
        tops = {folder for folder in tops if tops.isdisjoint(folder.parents)}
        if len(tops) <= _MAX_TREES:
            return tops
        tops = {folder.parent for folder in tops}
