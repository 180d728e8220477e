"""Reads the current state of files. No function of this module changes a file."""

from __future__ import annotations

import hashlib
import os
import stat
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from typing import TypeVar

from simdoc_search.duplicates.plan.rows import FileState, LeftAloneError

GONE = "the file is gone"

_BLOCK_BYTES = 1 << 20
_HASH_BYTES = 16
_OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)

Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class FileIdentity:
    """Identifies a file in its current state. The identity changes if the file changes."""

    inode: tuple[int, int]  # device and inode, which are equal for hard links to one file
    size: int  # size in bytes
    mtime_ns: int  # modification time in nanoseconds
    link_count: int = field(compare=False)  # number of hard links; not part of the identity

    @classmethod
    def from_stat(cls, info: os.stat_result) -> FileIdentity:
        """Return the identity in the result of `os.stat`."""
        return cls((info.st_dev, info.st_ino), info.st_size, info.st_mtime_ns, info.st_nlink)


def count_freed_bytes(files: Mapping[Key, FileIdentity]) -> dict[Key, int]:
    """Return how many bytes each file frees if all of these files are deleted.

    Hard links to one file are counted once, under the first key. They are omitted if another hard link remains.
    """
    link_counts = Counter(file.inode for file in files.values())
    first: dict[tuple[int, int], Key] = {}
    for key, file in files.items():
        first.setdefault(file.inode, key)
    return {key: files[key].size for inode, key in first.items() if link_counts[inode] >= files[key].link_count}


@contextmanager
def open_file(path: str) -> Iterator[int]:
    """Open a regular file for reading, and yield its descriptor.

    Raises:
        LeftAloneError: the file does not exist, is not a regular file, or cannot be read.
    """
    try:
        _require_regular(os.lstat(path))
        descriptor = os.open(path, _OPEN_FLAGS)
    except FileNotFoundError:
        raise LeftAloneError(GONE, needs_new_plan=True) from None
    except (OSError, ValueError) as error:
        raise unreadable_error(error) from None
    try:
        _require_regular(os.fstat(descriptor))
        yield descriptor
    finally:
        os.close(descriptor)


def read_state(path: str) -> tuple[FileState, os.stat_result]:
    """Read a file and return its state.

    Raises:
        LeftAloneError: as in `open_file`, or the file changes while it is read.
    """
    with open_file(path) as descriptor:
        return _read_state(descriptor)


def require_state(path: str, state: FileState) -> os.stat_result:
    """Read a file and raise `LeftAloneError` if its size or hash differs from the recorded state."""
    return _require_content(state, *read_state(path))


def has_state(path: str, state: FileState) -> bool:
    """Return whether a file has the size and hash of the recorded state."""
    try:
        require_state(path, state)
    except LeftAloneError:
        return False
    return True


class OpenKeptFile:
    """A kept file that is held open, so that no other file can get its identity. Its content is checked on opening.

    Raises:
        LeftAloneError: as in `open_file`, or the size or hash of the file differs from the recorded state.
    """

    def __init__(self, path: str, state: FileState) -> None:
        self.path = path
        with ExitStack() as stack:
            descriptor = stack.enter_context(open_file(path))
            self._identity = FileIdentity.from_stat(_require_content(state, *_read_state(descriptor)))
            with suppress(OSError):  # some file systems cannot sync a file that is open for reading
                os.fsync(descriptor)  # the content must be on disk before the other copies are removed
            self.close: Callable[[], None] = stack.pop_all().close

    def is_unchanged(self) -> bool:
        """Return whether the path still leads to this file, and the file is unchanged."""
        try:
            return FileIdentity.from_stat(os.lstat(self.path)) == self._identity
        except (OSError, ValueError):
            return False


def read_hash(descriptor: int, on_block: Callable[[bytes], object] = lambda _: None) -> str:
    """Read the rest of a file and return its hash, as in `FileState`. `on_block` is called with each block."""
    digest = hashlib.blake2b(digest_size=_HASH_BYTES)
    while block := os.read(descriptor, _BLOCK_BYTES):
        digest.update(block)
        on_block(block)
    return digest.hexdigest()


def unreadable_error(error: Exception) -> LeftAloneError:
    """Return the error for a file that cannot be read."""
    return LeftAloneError(f"the file cannot be read ({describe_error(error)})")


def describe_error(error: Exception, path: str = "") -> str:
    """Return the reason of an error, with the file that it concerns if this is not the file at `path`."""
    if not isinstance(error, OSError):
        return str(error)
    concerns_other = path and error.filename not in (None, path)
    return f"{error.strerror or error}" + (f": {error.filename}" if concerns_other else "")


def directory_entry(path: str) -> Hashable:
    """Return a value that identifies a directory entry. Links in the path of the folder do not change it."""
    folder, name = os.path.split(path)
    try:
        info = os.stat(folder)  # noqa: PTH116 - paths are strings
    except (OSError, ValueError):
        return path
    return info.st_dev, info.st_ino, name


def is_same_entry(path: str, other: str) -> bool:
    """Return whether two paths lead to the same directory entry, so that removing one removes the other."""
    if directory_entry(path) == directory_entry(other):
        return True
    info, other_info = os.lstat(path), os.lstat(other)
    return os.path.samestat(info, other_info) and info.st_nlink < 2


def _read_state(descriptor: int) -> tuple[FileState, os.stat_result]:
    try:
        before = os.fstat(descriptor)
        digest = read_hash(descriptor)
        after = os.fstat(descriptor)
    except OSError as error:
        raise unreadable_error(error) from None
    if FileIdentity.from_stat(before) != FileIdentity.from_stat(after):
        raise LeftAloneError("the file changed during this run", needs_new_plan=True)
    return FileState(after.st_size, after.st_mtime_ns, digest), after


def _require_regular(info: os.stat_result) -> None:
    if not stat.S_ISREG(info.st_mode):
        raise LeftAloneError("the path leads to a link, a folder or a device, not a regular file")


def _require_content(state: FileState, current_state: FileState, info: os.stat_result) -> os.stat_result:
    if (current_state.size, current_state.hash) != (state.size, state.hash):
        raise LeftAloneError("the content of the file has changed since the plan was written", needs_new_plan=True)
    return info
