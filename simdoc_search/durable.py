"""Files and folders that are whole or not there, whatever happens meanwhile."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from simdoc_search.errors import StoreError

MAKE_ROOM = "free some disk space, then run the same command again"
"""What to do about an error that `is_full`."""

PRIVATE = 0o700
"""The permissions of a folder that is made for a store: it holds the texts of files that may be private."""

_READABLE = 0o666
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
_LONGEST_NAME = 50  # of the file's name in that of the temporary file


def is_full(error: OSError) -> bool:
    """Whether the disk, a quota or a limit on the size of files left no room."""
    return error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def write_whole(path: Path, content: bytes) -> None:
    """Write a file of a store. After a crash it is complete and durable, or as it was before.

    Whoever may read the folder may read the file.
    """
    with _replacement(path, path.parent.stat().st_mode & _READABLE) as file:
        file.write(content)
    sync_folder(path.parent)


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A file that a person named, open for writing. It is complete after the block, or after an error as it was before.

    A link is followed, and an existing file keeps its permissions. A pipe or a device is written directly.

    Raises:
        OSError: the file cannot be written.
    """
    if path.exists() and not path.is_file():
        with path.open("wb") as stream:
            yield stream
        return
    target = path.resolve()
    with _replacement(target, target.stat().st_mode & 0o777 if target.exists() else None) as file:
        yield file


@contextmanager
def _replacement(path: Path, mode: int | None) -> Iterator[BinaryIO]:
    """A temporary file that takes the place of a file when the block ends without an error.

    Nobody can foresee its name, and it is never a link. Without a mode it gets the permissions of any new file.
    """
    temporary = path.with_name(f".{path.name[:_LONGEST_NAME]}.{secrets.token_hex(8)}.tmp")
    handle = os.open(temporary, _NEW, _READABLE if mode is None else 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            temporary.chmod(mode)
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


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
