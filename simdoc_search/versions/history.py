"""Reads the dates of the last commits of files from git.

Git is used only to read the history. To find out whether a file has changed since its last commit, this module compares
the contents. Git is not used for this, because it would run filter programs from the configuration of the repository.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple

from simdoc_search.passages.dates import Date, date_from_nanoseconds
from simdoc_search.small_files import open_regular_file
from simdoc_search.versions.git import GitError, WorkTree, find_git

_TIMEOUT_SECONDS = 10
_FILES_PER_COMMAND = 200
_BUFFER_BYTES = 1 << 20
_MAX_TIME_DIGITS = 12
_SHA256_DIGITS = 64
_LFS_POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize %d\n"
_CHANGE_PREFIX, _COMMIT_PREFIX, _FILE_MODE_PREFIX = ":", "@", "100"

# These options override settings that could hide commits, list additional files, or block git (`diff.orderFile` can be
# a named pipe).
_LOG_ARGUMENTS = (
    *("-c", "diff.orderFile=/dev/null"),  # git accepts this path on every system
    *("-c", "diff.relative=false"),
    *("-c", "log.follow=false"),
    *("-c", "log.showRoot=true"),
    *("-c", "log.showSignature=false"),
    *("log", "-z", "--raw", f"--format={_COMMIT_PREFIX}%ct", "--no-color", "--no-decorate", "--no-ext-diff"),
    *("--no-mailmap", "--no-notes", "--no-renames", "--no-textconv", "--"),
)
_TREE_ARGUMENTS = ("ls-tree", "-z", "-l", "--full-tree", "HEAD", "--")


def read_commit_dates(paths: Sequence[Path | None], *, timeout_seconds: float = _TIMEOUT_SECONDS) -> list[Date | None]:
    """Return the date of the last commit of each file, in UTC.

    For a file that changed after its last commit, return its modification time.

    Args:
        paths: paths of the files; None for a document without a file.
        timeout_seconds: time limit for all files together.

    Returns:
        The dates. A date is None if the file is not in a work tree, if it was never committed, or if its commit has no
        valid date. It is also None if git cannot read the work tree in time, or if the work tree belongs to another
        user.
    """
    deadline = time.monotonic() + timeout_seconds
    git = find_git()
    by_top: dict[Path, list[tuple[int, str]]] = {}
    for number, path in enumerate(paths):
        if git and path is not None and (inside := _find_work_tree(path)):
            by_top.setdefault(inside[0], []).append((number, inside[1]))
    dates: list[Date | None] = [None] * len(paths)
    for top, files in by_top.items():
        with suppress(GitError):
            known = _read_dates(WorkTree(git or "", top, deadline), sorted({name for _, name in files}))
            for number, name in files:
                dates[number] = known.get(name)
    return dates


def _find_work_tree(path: Path) -> tuple[Path, str] | None:
    """Return the top folder of a file's work tree, and the path of the file in it; None if there is no work tree."""
    try:
        folder = path.parent.resolve(strict=True)
        if not path.is_file():
            return None
        top = next((parent for parent in (folder, *folder.parents) if (parent / ".git").exists()), None)
    except OSError:
        return None
    return None if top is None else (top, (folder / path.name).relative_to(top).as_posix())


class _Blob(NamedTuple):
    """Identifies the content of a file in a commit."""

    digest: str  # hash of the content, 40 or 64 hexadecimal digits
    size: int  # size in bytes


def _read_dates(tree: WorkTree, names: Sequence[str]) -> dict[str, Date | None]:
    dates: dict[str, Date | None] = {}
    for first in range(0, len(names), _FILES_PER_COMMAND):
        committed = _read_commit_dates(tree, names[first : first + _FILES_PER_COMMAND])
        dates |= committed
        if dated := {name: date for name, date in committed.items() if date is not None}:
            dates |= _read_modification_dates(tree, dated)
    return dates


def _read_commit_dates(tree: WorkTree, names: Sequence[str]) -> dict[str, Date | None]:
    """Return the date of the last commit of each file; None if the date is not valid.

    Files that were never committed are omitted.
    """
    dates: dict[str, Date | None] = {}
    wanted = set(names)
    with tree.run_and_read_fields(*_LOG_ARGUMENTS, *names) as fields:
        date: Date | None = None
        for field in fields:
            line = field.removeprefix("\n")
            if line.startswith(_CHANGE_PREFIX):  # the next field is a path, even if it looks like a commit or a change
                if (name := next(fields, "")) in wanted:
                    # Git prints the newest commit first, so an older one does not change the date.
                    dates.setdefault(name, date)
                    if len(dates) == len(wanted):
                        break
            elif line.startswith(_COMMIT_PREFIX):
                # Git does not validate the time of a damaged commit, and may print nothing for it.
                seconds = line.removeprefix(_COMMIT_PREFIX)
                is_valid = seconds.isdecimal() and len(seconds) <= _MAX_TIME_DIGITS
                date = date_from_nanoseconds(int(seconds) * 10**9) if is_valid else None
    return dates


def _read_modification_dates(tree: WorkTree, commit_dates: Mapping[str, Date]) -> dict[str, Date | None]:
    """Return the modification time of each file that differs from its last commit; None if git lacks that version."""
    dates: dict[str, Date | None] = {}
    for name, blob in _read_blobs(tree, list(commit_dates)):
        with suppress(OSError), open_regular_file(tree.top / name) as file:
            changed = date_from_nanoseconds(os.fstat(file.fileno()).st_mtime_ns)
            if changed is None or changed <= commit_dates[name]:
                continue
            if blob is None:
                dates[name] = None
            elif not _matches_blob(file, blob, tree.deadline):
                dates[name] = changed
    return dates


def _read_blobs(tree: WorkTree, names: Sequence[str]) -> Iterator[tuple[str, _Blob | None]]:
    """Yield the name and the blob of each file in the last commit. The blob is None if the repository lacks it."""
    wanted = set(names)
    with tree.run_and_read_fields(*_TREE_ARGUMENTS, *names) as fields:
        for line, _, name in (field.partition("\t") for field in fields):
            if line.startswith(_FILE_MODE_PREFIX) and name in wanted:
                _, _, digest, size = line.split()
                yield name, _Blob(digest, int(size)) if size.isdecimal() else None


def _matches_blob(file: BinaryIO, blob: _Blob, deadline: float) -> bool:
    """Return whether a file matches a blob.

    It also matches if only its line endings differ (CR LF in the file, LF in the blob), or if the blob is the Git LFS
    pointer of the file. If the size of the file rules out a match, its content is not read.

    Raises:
        GitError: the deadline has passed.
    """
    size = os.fstat(file.fileno()).st_size
    algorithm = "sha256" if len(blob.digest) == _SHA256_DIGITS else "sha1"
    header = b"blob %d\0" % blob.size
    if size == blob.size and blob.digest == _hash_file(algorithm, header, file, deadline):
        return True
    may_be_text = blob.size < size <= 2 * blob.size
    if may_be_text and blob.digest == _hash_file(algorithm, header, file, deadline, convert_line_endings=True):
        return True
    if len(_LFS_POINTER % ("0" * _SHA256_DIGITS, size)) != blob.size:
        return False
    pointer = _LFS_POINTER % (_hash_file("sha256", b"", file, deadline), size)
    return blob.digest == hashlib.new(algorithm, header + pointer.encode(), usedforsecurity=False).hexdigest()


def _hash_file(
    algorithm: str, header: bytes, file: BinaryIO, deadline: float, *, convert_line_endings: bool = False
) -> str:
    """Return the hash of a header and a file. With `convert_line_endings`, Windows line endings become Unix ones."""
    digest = hashlib.new(algorithm, header, usedforsecurity=False)
    held = b""
    file.seek(0)
    while data := file.read(_BUFFER_BYTES):
        if time.monotonic() > deadline:
            raise GitError("the time limit for reading the git history passed while files were hashed")
        if convert_line_endings:
            data = held + data
            # The line feed of a CR LF may be at the start of the next block.
            held = b"\r" if data.endswith(b"\r") else b""
            data = data[: len(data) - len(held)].replace(b"\r\n", b"\n")
        digest.update(data)
    digest.update(held)
    return digest.hexdigest()
