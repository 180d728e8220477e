"""Files and folders that are whole or not there, whatever happens meanwhile."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from simdoc_search.errors import StoreError

__all__ = ["PRIVATE", "finished_folder", "sync_folder", "write_whole"]

PRIVATE = 0o700
"""The permissions of a folder that is made for a store: it holds the texts of files that may be private."""

_READABLE = 0o666


def write_whole(path: Path, content: bytes) -> None:
    """Write a file that is there whole and durable after a crash, or as it was before.

    The temporary file has a name that nobody can foresee and is never a link; whoever may read the folder may read the
    file.
    """
    handle, temporary = tempfile.mkstemp(".tmp", f".{path.name}.", path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(path.parent.stat().st_mode & _READABLE)
        Path(temporary).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(temporary).unlink()
        raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable, where the system has a way to."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def finished_folder(target: Path) -> Iterator[Path]:
    """A folder to fill, which gets its name when the block ends without an error, and is removed otherwise.

    Only a process that is killed leaves it, under a name that begins with a dot and ends in `.partial`.

    Raises:
        StoreError: something is at the target already.
    """
    if target.exists() and not (target.is_dir() and not any(target.iterdir())):
        raise StoreError(f"{target} exists already; name a new folder")
    target.parent.mkdir(parents=True, exist_ok=True)
    working = Path(tempfile.mkdtemp(".partial", f".{target.name}.", target.parent))
    try:
        yield working
        if target.exists():
            shutil.copymode(target, working)  # whoever made the folder said who may see it
            target.rmdir()
        working.rename(target)
    except BaseException:
        shutil.rmtree(working, ignore_errors=True)
        raise
    sync_folder(target.parent)
