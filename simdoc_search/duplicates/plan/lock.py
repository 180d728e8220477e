"""Locks: one `apply` or `undo` at a time for a tree of folders, and for an undo file.

They are `flock`s on folders and files that exist anyway, so they leave nothing behind and end with the process. Windows
and some network file systems have none. Nothing is lost there either: see moves.py for the order that prevents it.
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

_MOST_TREES = 100


def lock_file(handle: int, *, shared: bool = False) -> bool:
    """Lock an open file or folder until it is closed; False if another process holds the lock.

    True where the system has no such locks.
    """
    if sys.platform == "win32":
        return True
    try:
        fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True


@contextmanager
def locked_trees(folders: Iterable[str]) -> Iterator[None]:
    """Lock some folders with all that is below them.

    The top folder of each tree gets an exclusive lock, each folder above it a shared one. So two runs exclude each
    other if a tree of one lies inside a tree of the other.

    Args:
        folders: absolute paths; a folder that does not exist needs no lock.

    Raises:
        PlanError: another process has locked one of them, a folder above it, or one below it.
    """
    tops = _tops(folders)
    above = {each for top in tops for each in top.parents}
    with ExitStack() as held:
        for folder in sorted(above | tops):
            try:
                handle = os.open(folder, os.O_RDONLY)
            except OSError:  # gone, or not readable for us
                continue
            held.callback(os.close, handle)
            if not lock_file(handle, shared=folder not in tops):
                raise PlanError(f"another apply is running in {folder}; wait until it has ended, then try again")
        yield


def _tops(folders: Iterable[str]) -> set[Path]:
    """The folders that lie in none of the others; a few folders around them if they are too many."""
    tops = {Path(os.path.realpath(each)) for each in set(folders)}
    while True:
        tops = {each for each in tops if tops.isdisjoint(each.parents)}
        if len(tops) <= _MOST_TREES:
            return tops
        tops = {each.parent for each in tops}
