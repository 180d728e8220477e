"""Move, delete, link: so that a kill at any moment loses nothing, and doing it again ends as if there had been none.

Nothing is ever overwritten but by its own content. What is written lies under a name of its own, the same each time,
until it is whole: a second run removes what a killed one has left there.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from contextlib import suppress
from pathlib import Path

from simdoc_search.duplicates.plan.files import Seen, hash_of, seen
from simdoc_search.duplicates.plan.rows import FileState, LeftAloneError
from simdoc_search.stores.local.durable import sync_folder

__all__ = ["copy_new", "delete", "discard_scratch", "move", "replace_by_copy", "replace_by_link", "split_move"]


def move(path: str, to: str, state: FileState, known: Seen) -> None:
    """Move a file to where nothing is, also onto another disk.

    Args:
        path: the file.
        to: where to; folders on the way are made.
        state: what the file is.
        known: which file it is.

    Raises:
        LeftAloneError: something is there, or the file has changed.
        OSError: it is not possible.
    """
    _make_folders(Path(to).parent)
    discard_scratch(to)
    try:
        os.link(path, to)  # unlike a renaming it overwrites nothing
    except FileExistsError:
        raise LeftAloneError(f"{to} is there already") from None
    except OSError:  # another disk, or one that knows no links
        copy_new(path, to, state)
    try:
        delete(path, known)
    except OSError:  # say in a folder that may not be written
        with suppress(OSError, LeftAloneError):
            _check(path, known)  # all of it is still where it was
            os.unlink(to)  # noqa: PTH108 - as text
        raise


def split_move(path: str, to: str, known: Seen) -> None:
    """Finish a move that was cut short while the file was in both places."""
    discard_scratch(to)
    sync_folder(Path(to).parent)
    delete(path, known)


def delete(path: str, known: Seen) -> None:
    """Remove a file.

    Raises:
        LeftAloneError: it is another one by now.
        OSError: it is not possible.
    """
    _check(path, known)
    os.unlink(path)  # noqa: PTH108 - as text
    sync_folder(Path(path).parent)


def replace_by_link(path: str, kept: str, known: Seen, known_kept: Seen) -> None:
    """Make a file another name of an equal one.

    Raises:
        LeftAloneError: one of them is another one by now.
        OSError: it is not possible.
    """
    scratch = discard_scratch(path)
    os.link(kept, scratch)
    try:
        _check(scratch, known_kept)
        _check(path, known)
        os.replace(scratch, path)  # noqa: PTH105 - as text
    finally:
        discard_scratch(path)
    sync_folder(Path(path).parent)


def copy_new(source: str, to: str, state: FileState, mode: int | None = None) -> None:
    """Copy a file to where nothing is.

    Args:
        source: the file.
        to: where to.
        state: what the copy is to be.
        mode: its permissions; None: those of the source, with all else that is known of it.

    Raises:
        LeftAloneError: something is there, or the source has another content.
        OSError: it is not possible.
    """
    scratch = _copied(source, to, state, mode)
    try:
        os.link(scratch, to)
    except FileExistsError:
        raise LeftAloneError(f"{to} is there already") from None
    except OSError:  # a disk that knows no links
        if os.path.lexists(to):
            raise LeftAloneError(f"{to} is there already") from None
        os.rename(scratch, to)  # noqa: PTH104 - as text
    finally:
        discard_scratch(to)
    sync_folder(Path(to).parent)


def replace_by_copy(path: str, state: FileState, mode: int) -> None:
    """Give a file that shares its content with another name a copy of its own, as it was before.

    Raises:
        LeftAloneError: it has another content by now.
        OSError: it is not possible.
    """
    scratch = _copied(path, path, state, mode)
    os.replace(scratch, path)  # noqa: PTH105 - as text
    sync_folder(Path(path).parent)


def discard_scratch(path: str) -> str:
    """Remove what a process that was killed has left beside a path; the name under which it may be written."""
    folder, name = os.path.split(path)
    digest = hashlib.blake2b(os.fsencode(name), digest_size=8).hexdigest()
    scratch = os.path.join(folder, f".simdoc-{digest}.tmp")  # noqa: PTH118 - as text
    with suppress(FileNotFoundError):
        os.unlink(scratch)  # noqa: PTH108
    return scratch


def _check(path: str, known: Seen) -> None:
    info = os.lstat(path)
    if seen(info) != known or not stat.S_ISREG(info.st_mode):
        raise LeftAloneError("it has changed just now")


def _copied(source: str, to: str, state: FileState, mode: int | None) -> str:
    """A copy beside where it is to be, whole and on disk."""
    scratch = discard_scratch(to)
    try:
        flags = getattr(os, "O_BINARY", 0)
        with open(scratch, "xb") as file:  # noqa: PTH123 - as text
            handle = os.open(source, os.O_RDONLY | flags | getattr(os, "O_NOFOLLOW", 0))
            try:
                if hash_of(handle, file.write) != state.hash:
                    raise LeftAloneError("its content has changed just now")
            finally:
                os.close(handle)
            file.flush()
            if mode is None:
                shutil.copystat(source, scratch)
            else:
                os.chmod(scratch, mode)  # noqa: PTH101
                os.utime(scratch, ns=(state.mtime_ns, state.mtime_ns))
            os.fsync(file.fileno())
    except BaseException:
        discard_scratch(to)
        raise
    return scratch


def _make_folders(folder: Path) -> None:
    """A folder with those around it, durable."""
    missing = [each for each in (folder, *folder.parents) if not each.is_dir()]
    folder.mkdir(parents=True, exist_ok=True)
    for each in missing:
        sync_folder(each.parent)
