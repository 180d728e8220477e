"""Writes files and folders atomically: after a crash, they are either complete or unchanged."""

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

from simdoc_search.errors import CorpusError, StoreError

DISK_FULL_ADVICE = "free some disk space, then run the same command again"
"""The advice in the messages of errors for which `is_disk_full` is true."""

PRIVATE_MODE = 0o700
"""Permissions of a new store folder. Its texts may be private."""

_READ_WRITE_MODE = 0o666
_CREATE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
_MAX_NAME_CHARACTERS = 50  # a temporary file's name begins with up to 50 characters of the name of its target


def is_disk_full(error: OSError) -> bool:
    """Return whether the disk is full, or a quota or a file size limit is exceeded."""
    return error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file of a store atomically and durably. Everyone who can read the folder can read the file."""
    with _open_replacement(path, path.parent.stat().st_mode & _READ_WRITE_MODE) as file:
        file.write(content)
    sync_folder(path.parent)


def check_output_folder(path: Path) -> None:
    """Raise a CorpusError if the folder of an output file or folder does not exist."""
    if not path.resolve().parent.is_dir():
        raise CorpusError(f"cannot write {path}, because its folder does not exist; create the folder")


@contextmanager
def atomic_file(path: Path) -> Iterator[BinaryIO]:
    """Open an output file that the user chose. If the block raises an error, an existing file is not changed.

    Links are followed. An existing file keeps its permissions. A pipe or a device is written to directly.

    Raises:
        OSError: the file cannot be written.
    """
    if path.exists() and not path.is_file():
        with path.open("wb") as stream:
            yield stream
        return
    target = path.resolve()
    with _open_replacement(target, target.stat().st_mode & 0o777 if target.exists() else None) as file:
        yield file


@contextmanager
def _open_replacement(path: Path, mode: int | None) -> Iterator[BinaryIO]:
    """Open a temporary file that replaces `path` when the block ends without an error.

    Nobody can predict the name of the temporary file, and it is never a link. If `mode` is None, the file gets the
    default permissions of a new file.
    """
    temporary = path.with_name(f".{path.name[:_MAX_NAME_CHARACTERS]}.{secrets.token_hex(8)}.tmp")
    handle = os.open(temporary, _CREATE_FLAGS, _READ_WRITE_MODE if mode is None else 0o600)
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
    """Sync the entries of a folder to disk, so that new and renamed files survive a crash. Does nothing on Windows."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def atomic_folder(target: Path) -> Iterator[Path]:
    """Create a temporary folder that is renamed to `target` when the block ends without an error.

    After an error, the temporary folder is removed. If the process is killed, it remains. Its name begins with a dot
    and ends with `.partial`.

    Raises:
        StoreError: the target exists and is not an empty folder.
    """
    if target.exists() and not (target.is_dir() and not any(target.iterdir())):
        raise StoreError(f"{target} already exists and is not an empty folder; choose another folder")
    target.parent.mkdir(parents=True, exist_ok=True)
    working = Path(tempfile.mkdtemp(".partial", f".{target.name}.", target.parent))
    try:
        yield working
        if target.exists():
            shutil.copymode(target, working)
            target.rmdir()
        working.rename(target)
    except BaseException:
        shutil.rmtree(working, ignore_errors=True)
        raise
    sync_folder(target.parent)
