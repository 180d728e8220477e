"""When was a file last committed? Asked of git, if the file lies in a work tree.

The repository may be anybody's, and its configuration could name programs: none of them is run. Nothing is fetched,
nothing is written. Git is asked about the history alone: whether a file has changed since is seen here, as git would
filter it through such programs.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path

from simdoc_search.versions.dates import Date, of_nanoseconds

__all__ = ["commit_dates"]

_SECONDS = 10
_AT_ONCE = 200
_OF_FILES = "100"
_SHA256 = 64
_LFS = "version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize %d\n"
_OPTIONS = (
    "--no-pager",
    "--literal-pathspecs",
    *("-c", "core.fsmonitor="),
    *("-c", f"core.hooksPath={os.devnull}"),
    *("-c", "log.showSignature=false"),
    *("-c", "safe.bareRepository=explicit"),
    *("-c", "protocol.allow=never"),
)
_LOG = ("log", "--no-ext-diff", "--no-textconv", "--no-renames", "--no-notes", "--no-mailmap", "--no-color")
_MARK = "\1"
_TREE = ("ls-tree", "-z", "HEAD", "--")


def commit_dates(paths: Sequence[Path | None], *, seconds: float = _SECONDS) -> list[Date | None]:
    """The date of the last commit that changed each file, or of its own change if it differs from it; in UTC.

    Args:
        paths: where the files lie; None: there is none.
        seconds: how long git may take for each work tree.

    Returns:
        None for a file that is in none, or was never committed; for all of a work tree that git does not read, as it
        belongs to someone else or its history takes too long.
    """
    git = shutil.which("git")
    inside: dict[Path, list[tuple[int, str]]] = {}
    for number, path in enumerate(paths):
        if git and path is not None and (found := _work_tree(path)):
            inside.setdefault(found[0], []).append((number, found[1]))
    dates: list[Date | None] = [None] * len(paths)
    for top, files in inside.items():
        known = _last_commits(git or "", top, sorted({name for _, name in files}), seconds)
        for number, name in files:
            dates[number] = known.get(name)
    return dates


def _work_tree(path: Path) -> tuple[Path, str] | None:
    """The work tree in which a file lies, and its path there."""
    try:
        folder = path.parent.resolve(strict=True)
        if not path.is_file():
            return None
    except OSError:
        return None
    top = next((each for each in (folder, *folder.parents) if (each / ".git").exists()), None)
    return None if top is None else (top, (folder / path.name).relative_to(top).as_posix())


def _last_commits(git: str, top: Path, names: Sequence[str], seconds: float) -> Mapping[str, Date]:
    found: dict[str, Date] = {}
    for first in range(0, len(names), _AT_ONCE):
        some = names[first : first + _AT_ONCE]
        for name, date in _named(
            _said(git, top, [*_LOG, f"--format={_MARK}%ct", "--name-only", "-z", "--", *some], seconds)
        ):
            found.setdefault(name, date)  # the newest commit comes first
        if found:
            found |= _changed_since(top, _said(git, top, [*_TREE, *some], seconds), found)
    return found


def _changed_since(top: Path, said: str, committed: Mapping[str, Date]) -> Iterator[tuple[str, Date]]:
    """The committed files whose bytes differ from those of the commit, each with the time of its change."""
    for name, blob in _blobs(said):
        with suppress(OSError):
            date = of_nanoseconds((top / name).stat().st_mtime_ns)
            is_later = date is not None and name in committed and date > committed[name]
            if is_later and date and not _is_blob((top / name).read_bytes(), blob):
                yield name, date


def _blobs(said: str) -> Iterator[tuple[str, str]]:
    """The files of a tree, each with what git calls its bytes."""
    for about, tab, name in (part.partition("\t") for part in said.split("\0")):
        if tab and about.startswith(_OF_FILES):
            yield name, about.split()[2]


def _is_blob(data: bytes, wanted: str) -> bool:
    """Whether bytes, these with the ends of lines of Unix, or Git LFS's pointer to them, have a name that git gives."""
    pointer = _LFS % (hashlib.sha256(data).hexdigest(), len(data))
    make = hashlib.sha256 if len(wanted) == _SHA256 else hashlib.sha1
    return any(
        make(b"blob %d\0" % len(each) + each, usedforsecurity=False).hexdigest() == wanted
        for each in (data, data.replace(b"\r\n", b"\n"), pointer.encode())
    )


def _said(git: str, top: Path, asked: Sequence[str], seconds: float) -> str:
    command = [git, *_OPTIONS, "-C", str(top), *asked]
    try:
        done = subprocess.run(  # noqa: S603 - no shell, and no program that the repository names
            command, capture_output=True, stdin=subprocess.DEVNULL, timeout=seconds, check=True, env=_environment()
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return ""
    return done.stdout.decode("utf-8", "surrogateescape")


def _environment() -> dict[str, str]:
    """Ours, without what says which repository is meant, and with what keeps git from asking, fetching and locking."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | {
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "none",
        "LC_ALL": "C",
    }


def _named(said: str) -> Iterator[tuple[str, Date]]:
    """The files of each commit with its date."""
    date: Date | None = None
    for part in said.split("\0"):
        if part.startswith(_MARK):
            at = datetime.fromtimestamp(int(part[1:]), timezone.utc)
            date = at.year, at.month, at.day, at.hour, at.minute, at.second
        elif (name := part.removeprefix("\n")) and date is not None:
            yield name, date
