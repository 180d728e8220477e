"""When was a file last committed? Asked of git, if the file lies in a work tree.

The repository may be anybody's, and its configuration could name programs: none of them is run. Nothing is fetched,
nothing is written, and git is asked about the history alone, not about the files as they are now.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path

from simdoc_search.versions.dates import Date

__all__ = ["commit_dates"]

_SECONDS = 10
_AT_ONCE = 200
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


def commit_dates(paths: Sequence[Path | None], *, seconds: float = _SECONDS) -> list[Date | None]:
    """The date of the last commit that changed each file, in UTC; what was changed since is not looked at.

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
        said = _said(git, top, names[first : first + _AT_ONCE], seconds)
        for name, date in _named(said):
            found.setdefault(name, date)  # the newest commit comes first
    return found


def _said(git: str, top: Path, names: Sequence[str], seconds: float) -> str:
    command = [git, *_OPTIONS, "-C", str(top), *_LOG, f"--format={_MARK}%ct", "--name-only", "-z", "--", *names]
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
