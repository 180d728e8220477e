"""What is this file now, and is it another name of that one? Nothing here changes a file."""

from __future__ import annotations

import hashlib
import os
import stat
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from simdoc_search.duplicates.plan.rows import FileState, LeftAloneError, PlanRow

GONE = "it is gone"

_PIECE = 1 << 20
_BYTES = 16

Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class FileNow:
    """A file as it is now.

    Attributes:
        inode: device and inode, which are equal for hard links of one file.
        links: how many names it has.
        size: in bytes.
    """

    inode: tuple[int, int]
    links: int
    size: int

    @classmethod
    def of(cls, info: os.stat_result) -> FileNow:
        """What the system says of it."""
        return cls((info.st_dev, info.st_ino), info.st_nlink, info.st_size)


def freed(files: Mapping[Key, FileNow]) -> dict[Key, int]:
    """Bytes that are free once these files are deleted, by the first name of each file.

    A file of which another hard link remains frees nothing.
    """
    names = Counter(file.inode for file in files.values())
    first: dict[tuple[int, int], Key] = {}
    for key, file in files.items():
        first.setdefault(file.inode, key)
    return {key: files[key].size for inode, key in first.items() if names[inode] >= files[key].links}


Seen = tuple[int, int, int, int]
"""Device, inode, size and time of change: what tells at once that a file is still the one that was read."""


def seen(info: os.stat_result) -> Seen:
    """What tells a file from another one, or from itself after a change."""
    return info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns


@contextmanager
def opened(path: str) -> Iterator[int]:
    """Open a regular file for reading; gives its descriptor.

    Raises:
        LeftAloneError: it is gone, a link, a folder or a device, or cannot be read.
    """
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            raise LeftAloneError("it is not a regular file but a link, a folder or a device")
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        handle = os.open(path, flags)
    except FileNotFoundError:
        raise LeftAloneError(GONE) from None
    except (OSError, ValueError) as error:
        raise _unreadable(error) from None
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise LeftAloneError("it is not a regular file but a link, a folder or a device")
        yield handle
    finally:
        os.close(handle)


def state_of(path: str) -> tuple[FileState, os.stat_result]:
    """What a file is: all of it is read.

    Raises:
        LeftAloneError: it is gone, not a regular file, cannot be read, or changes while it is read.
    """
    with opened(path) as handle:
        return _state(handle)


def _state(handle: int) -> tuple[FileState, os.stat_result]:
    try:
        before = os.fstat(handle)
        digest = hash_of(handle)
        after = os.fstat(handle)
    except OSError as error:
        raise _unreadable(error) from None
    if seen(before) != seen(after):
        raise LeftAloneError("it is being changed")
    return FileState(after.st_size, after.st_mtime_ns, digest), after


def _unreadable(error: Exception) -> LeftAloneError:
    return LeftAloneError(f"it cannot be read ({getattr(error, 'strerror', None) or error})")


class Pinned:
    """A kept file: open, and read through that handle, so that no other file can take its identity.

    Args:
        path: the file.
        state: the content that it must have.

    Raises:
        LeftAloneError: it is gone, cannot be read, or has another content.
    """

    def __init__(self, path: str, state: FileState) -> None:
        self.path = path
        with ExitStack() as stack:
            handle = stack.enter_context(opened(path))
            self.known: Seen = seen(_require(state, *_state(handle)))
            with suppress(OSError):  # a file system that cannot
                os.fsync(handle)  # a copy that is still on its way to the disk must not be the only one left
            self.close: Callable[[], None] = stack.pop_all().close

    def is_unchanged(self) -> bool:
        """Whether the path still names this file, with the size and time that it had."""
        try:
            return seen(os.lstat(self.path)) == self.known
        except (OSError, ValueError):
            return False


def hash_of(handle: int, also: Callable[[bytes], object] = lambda _: None) -> str:
    """The hash of what is read from a descriptor to its end, as in `FileState`; `also` gets each piece."""
    digest = hashlib.blake2b(digest_size=_BYTES)
    while piece := os.read(handle, _PIECE):
        digest.update(piece)
        also(piece)
    return digest.hexdigest()


def as_it_was(path: str, state: FileState) -> os.stat_result:
    """Make sure that a file has the content it had.

    Raises:
        LeftAloneError: it has not.
    """
    return _require(state, *state_of(path))


def _require(state: FileState, now: FileState, info: os.stat_result) -> os.stat_result:
    if (now.size, now.hash) != (state.size, state.hash):
        raise LeftAloneError("its content has changed since the plan was written")
    return info


def is_as_it_was(path: str, state: FileState) -> bool:
    """Whether a file has the content it had."""
    try:
        as_it_was(path, state)
    except LeftAloneError:
        return False
    return True


def entry_of(path: str) -> Hashable:
    """The entry of a folder that a path names, the same by whatever links the folder is reached."""
    folder, name = os.path.split(path)
    try:
        info = os.stat(folder)  # noqa: PTH116 - as text
    except (OSError, ValueError):
        return path
    return info.st_dev, info.st_ino, name


def one_file(path: str, other: str) -> bool:
    """Whether two paths are one entry of one folder, so that what is done to one is done to the other."""
    if entry_of(path) == entry_of(other):
        return True
    one, two = os.lstat(path), os.lstat(other)
    return os.path.samestat(one, two) and one.st_nlink < 2


def indexed_around(rows: Iterable[PlanRow], folder: str) -> list[str]:
    """The indexed folders of a plan's files in which another folder lies, so that what is put there is indexed again.

    None where its path has a part that begins with a dot below them, as those are passed over.
    """
    target = Path(os.path.realpath(folder))
    roots = {_root(row) for row in rows if row.path is not None}
    around = {each: Path(os.path.realpath(each)) for each in roots}
    return sorted(each for each, real in around.items() if target.is_relative_to(real) and not _is_hidden(target, real))


def _root(row: PlanRow) -> str:
    """The folder that was indexed: the path of a file without what its id has in common with it."""
    path, below = Path(row.path or ""), Path(row.place.id)
    while path.name and path.name == below.name:
        path, below = path.parent, below.parent
    return str(path)


def _is_hidden(target: Path, root: Path) -> bool:
    return any(part.startswith(".") for part in target.relative_to(root).parts)
