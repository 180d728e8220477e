"""Runs git in a repository that may be anybody's.

The configuration of a repository can name programs, servers and files that are pipes. None of the programs is run,
nothing is fetched or written, and git is ended when its time is over, with all processes that it has started.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

_OPTIONS = (
    "--no-pager",
    "--literal-pathspecs",
    *("-c", "core.fsmonitor="),
    *("-c", f"core.hooksPath={os.devnull}"),
    *("-c", "core.deltaBaseCacheLimit=64m"),
    *("-c", "safe.bareRepository=explicit"),
    *("-c", "protocol.allow=never"),
)
_MAX_ALLOCATION = 512 << 20
_MAX_FIELD = 1 << 16
_PIECE = 1 << 16


class GitError(Exception):
    """Git cannot be asked about a work tree, does not answer in time, or answers with an error."""


def find_git() -> str | None:
    """The absolute path of git. A program in the current folder is not it, as that folder may be anybody's."""
    found = shutil.which("git")
    return found if found and os.path.isabs(found) else None  # noqa: PTH117 - as text


@contextmanager
def git_fields(git: str, folder: Path, arguments: Sequence[str], deadline: float) -> Iterator[Iterator[str]]:
    """The fields of an output that ends each with NUL, as they come. The end of the block ends git.

    Args:
        git: the program.
        folder: the top of a work tree.
        arguments: the command and its arguments, with `-z`.
        deadline: when git must have ended, by `time.monotonic`.

    Raises:
        GitError: git cannot be started. The iterator raises it too: git fails or takes longer, or a field has more than
            64 KiB.
    """
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        raise GitError("git has no time left")
    command = [git, *_OPTIONS, "-C", str(folder), *arguments]
    try:
        process = subprocess.Popen(  # noqa: S603 - no shell, and no program that the repository names
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise GitError(str(error)) from error
    timer = threading.Timer(seconds, _kill, [process])
    timer.start()
    try:
        yield _fields(process)
    finally:
        timer.cancel()
        timer.join()
        _kill(process)
        process.stdout.close()  # type: ignore[union-attr]
        process.wait()


def _fields(process: subprocess.Popen[bytes]) -> Iterator[str]:
    rest = b""
    while piece := process.stdout.read1(_PIECE):  # type: ignore[union-attr] # it is a pipe
        *whole, rest = (rest + piece).split(b"\0")
        if len(rest) > _MAX_FIELD:
            raise GitError("a field is too long")
        yield from map(os.fsdecode, whole)
    if process.wait():
        raise GitError(f"git ended with {process.returncode}")


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End git and what it has started, which could hold its output open."""
    if process.returncode is None:
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL) if os.name == "posix" else process.kill()


def _environment() -> dict[str, str]:
    """Ours, without what says which repository is meant, and with what keeps git from asking, fetching and locking."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | {
        "GIT_ALLOC_LIMIT": str(_MAX_ALLOCATION),  # a few kilobytes can unpack to a folder of gigabytes
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
    }
