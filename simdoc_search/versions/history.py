"""When was a file last committed? Asked of git, if the file lies in a work tree.

Git is asked about the history alone: whether a file has changed since is seen here, as git would filter it through
programs that the repository names.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple

from simdoc_search.passages.dates import Date, date_of_nanoseconds
from simdoc_search.small_files import open_regular
from simdoc_search.versions.git import GitError, find_git, git_fields

_SECONDS = 10
_AT_ONCE = 200
_PIECE = 1 << 20
_MAX_DIGITS = 12
_SHA256 = 64
_LFS = "version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize %d\n"
_CHANGE, _COMMIT, _OF_FILES = ":", "@", "100"

# The configuration could hide commits, name other files, or have git wait for a pipe.
_LOG = (
    *("-c", "diff.orderFile=/dev/null"),  # git knows this name on every system
    *("-c", "diff.relative=false"),
    *("-c", "log.follow=false"),
    *("-c", "log.showRoot=true"),
    *("-c", "log.showSignature=false"),
    *("log", "-z", "--raw", f"--format={_COMMIT}%ct", "--no-color", "--no-decorate", "--no-ext-diff", "--no-mailmap"),
    *("--no-notes", "--no-renames", "--no-textconv", "--"),
)
_TREE = ("ls-tree", "-z", "-l", "--full-tree", "HEAD", "--")


def commit_dates(paths: Sequence[Path | None], *, seconds: float = _SECONDS) -> list[Date | None]:
    """The date of the last commit that changed each file, or of its own change if it differs from it; in UTC.

    Args:
        paths: where the files lie; None: there is none.
        seconds: how long it may take for all of them.

    Returns:
        None for a file that is in no work tree, was never committed, or whose last commit has no valid date; for all
        files of a work tree that git does not read, as it belongs to someone else, is damaged, or takes too long.
    """
    deadline = time.monotonic() + seconds
    git = find_git()
    inside: dict[Path, list[tuple[int, str]]] = {}
    for number, path in enumerate(paths):
        if git and path is not None and (found := _work_tree(path)):
            inside.setdefault(found[0], []).append((number, found[1]))
    dates: list[Date | None] = [None] * len(paths)
    for top, files in inside.items():
        with suppress(GitError):
            known = _dates(_Repository(git or "", top, deadline), sorted({name for _, name in files}))
            for number, name in files:
                dates[number] = known.get(name)
    return dates


def _work_tree(path: Path) -> tuple[Path, str] | None:
    """The work tree in which a file lies, and its path there."""
    try:
        folder = path.parent.resolve(strict=True)
        if not path.is_file():
            return None
        top = next((each for each in (folder, *folder.parents) if (each / ".git").exists()), None)
    except OSError:
        return None
    return None if top is None else (top, (folder / path.name).relative_to(top).as_posix())


class _Repository(NamedTuple):
    """Which git is asked, about which work tree, and when it must have answered."""

    git: str
    top: Path
    deadline: float

    def fields(self, *arguments: str) -> AbstractContextManager[Iterator[str]]:
        """As `git_fields`."""
        return git_fields(self.git, self.top, arguments, self.deadline)


class _Blob(NamedTuple):
    """The bytes of a file in a commit: their hash, 40 or 64 hexadecimal digits, and how many there are."""

    digest: str
    size: int


def _dates(repository: _Repository, names: Sequence[str]) -> dict[str, Date | None]:
    found: dict[str, Date | None] = {}
    for first in range(0, len(names), _AT_ONCE):
        committed = _last_commits(repository, names[first : first + _AT_ONCE])
        found |= committed
        if dated := {name: date for name, date in committed.items() if date is not None}:
            found |= _changed_since(repository, dated)
    return found


def _last_commits(repository: _Repository, names: Sequence[str]) -> dict[str, Date | None]:
    """The dates of the files that were ever committed; None: the last commit has no valid date."""
    found: dict[str, Date | None] = {}
    wanted = set(names)
    with repository.fields(*_LOG, *names) as fields:
        date: Date | None = None
        for field in fields:
            about = field.removeprefix("\n")
            if about.startswith(_CHANGE):  # the next field is a path, whatever it begins with
                if (name := next(fields, "")) in wanted:
                    found.setdefault(name, date)  # the newest commit comes first
                    if len(found) == len(wanted):
                        break
            elif about.startswith(_COMMIT):
                date = _date(about.removeprefix(_COMMIT))
    return found


def _date(seconds: str) -> Date | None:
    """A committer date, which is whatever digits the commit has, or empty."""
    is_possible = seconds.isdecimal() and len(seconds) <= _MAX_DIGITS
    return date_of_nanoseconds(int(seconds) * 10**9) if is_possible else None


def _changed_since(repository: _Repository, committed: Mapping[str, Date]) -> dict[str, Date | None]:
    """The files whose bytes differ from those of the last commit, each with the time of its change; None: unknown."""
    found: dict[str, Date | None] = {}
    for name, blob in _blobs(repository, list(committed)):
        with suppress(OSError), open_regular(repository.top / name) as file:
            changed = date_of_nanoseconds(os.fstat(file.fileno()).st_mtime_ns)
            if changed is None or changed <= committed[name]:
                continue
            if blob is None:
                found[name] = None
            elif not _is_blob(file, blob, repository.deadline):
                found[name] = changed
    return found


def _blobs(repository: _Repository, names: Sequence[str]) -> Iterator[tuple[str, _Blob | None]]:
    """The files of the last commit with their bytes; None: the repository does not have these."""
    wanted = set(names)
    with repository.fields(*_TREE, *names) as fields:
        for about, _, name in (field.partition("\t") for field in fields):
            if about.startswith(_OF_FILES) and name in wanted:
                _, _, digest, size = about.split()
                yield name, _Blob(digest, int(size)) if size.isdecimal() else None


def _is_blob(file: BinaryIO, blob: _Blob, deadline: float) -> bool:
    """Whether a file, the same with line ends of Unix, or Git LFS's pointer to it, is what git has.

    Only a file whose size fits is read. Raises GitError if that takes too long.
    """
    size = os.fstat(file.fileno()).st_size
    algorithm = "sha256" if len(blob.digest) == _SHA256 else "sha1"
    header = b"blob %d\0" % blob.size
    if size == blob.size and blob.digest == _digest(algorithm, header, file, deadline):
        return True
    may_be_text = blob.size < size <= 2 * blob.size
    if may_be_text and blob.digest == _digest(algorithm, header, file, deadline, is_text=True):
        return True
    if len(_LFS % ("0" * _SHA256, size)) != blob.size:
        return False
    pointer = _LFS % (_digest("sha256", b"", file, deadline), size)
    return blob.digest == hashlib.new(algorithm, header + pointer.encode(), usedforsecurity=False).hexdigest()


def _digest(algorithm: str, header: bytes, file: BinaryIO, deadline: float, *, is_text: bool = False) -> str:
    """The hash of a header and a file, which may be text whose lines are to end as on Unix."""
    digest = hashlib.new(algorithm, header, usedforsecurity=False)
    held = b""
    file.seek(0)
    while piece := file.read(_PIECE):
        if time.monotonic() > deadline:
            raise GitError("the files take too long")
        if is_text:
            whole = held + piece
            held = b"\r" if whole.endswith(b"\r") else b""  # the next piece may begin with the other half
            piece = whole[: len(whole) - len(held)].replace(b"\r\n", b"\n")
        digest.update(piece)
    digest.update(held)
    return digest.hexdigest()
