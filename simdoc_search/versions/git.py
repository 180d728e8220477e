"""Runs git in an untrusted repository.

The configuration of a repository can name programs to run and servers to contact. This module prevents git from running
these programs, from contacting these servers, and from writing anything. At the deadline, it kills git and all
processes that git started.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

_SAFETY_OPTIONS = (
    "--no-pager",
    "--literal-pathspecs",
    *("-c", "core.fsmonitor="),
    *("-c", f"core.hooksPath={os.devnull}"),
    *("-c", "core.deltaBaseCacheLimit=64m"),
    *("-c", "safe.bareRepository=explicit"),
    *("-c", "protocol.allow=never"),
)
_MAX_ALLOCATION_BYTES = 512 << 20
_MAX_FIELD_BYTES = _BUFFER_BYTES = 1 << 16


class GitError(Exception):
    """Git cannot read a work tree, or takes too long."""


class WorkTree(NamedTuple):
    """A git work tree.

    Git is killed at `deadline`, on the clock of `time.monotonic`.
    """

    git: str
    top: Path
    deadline: float

    @contextmanager
    def run_and_read_fields(self, *arguments: str) -> Iterator[Iterator[str]]:
        """Run a git command that has the option `-z`, and iterate over the fields of its output.

        Fields are read while git runs. When the `with` block ends, git is killed.

        Raises:
            GitError: git cannot be started. The iterator raises it if git fails, takes too long, or prints a field of
                more than 64 KiB.
        """
        seconds = self.deadline - time.monotonic()
        if seconds <= 0:
            raise GitError("the time limit for reading the git history has passed")
        try:
            process = subprocess.Popen(  # noqa: S603 - git runs without a shell, and starts no program that the repository names
                [self.git, *_SAFETY_OPTIONS, "-C", str(self.top), *arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=_make_environment(),
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise GitError(str(error)) from error
        timer = threading.Timer(seconds, _kill, [process])
        timer.start()
        try:
            yield _read_fields(process)
        finally:
            timer.cancel()
            timer.join()
            _kill(process)
            process.stdout.close()  # type: ignore[union-attr]
            process.wait()


def find_git() -> str | None:
    """Return the absolute path of git; None if git is not installed. A program in the current folder is not trusted."""
    path = shutil.which("git")
    return path if path and os.path.isabs(path) else None  # noqa: PTH117 - paths are strings


def _read_fields(process: subprocess.Popen[bytes]) -> Iterator[str]:
    rest = b""
    while data := process.stdout.read1(_BUFFER_BYTES):  # type: ignore[union-attr] # stdout is a pipe
        *fields, rest = (rest + data).split(b"\0")
        if len(rest) > _MAX_FIELD_BYTES:
            raise GitError(f"git printed a field of more than {_MAX_FIELD_BYTES:,} bytes")
        yield from map(os.fsdecode, fields)
    if process.wait():
        raise GitError(f"git exited with status {process.returncode}")


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill git and the processes that it started, because these could keep the pipe open."""
    if process.returncode is None:
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL) if os.name == "posix" else process.kill()


def _make_environment() -> dict[str, str]:
    """Return the environment without `GIT_` variables, but with variables that forbid prompts, fetches and locks."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | {
        "GIT_ALLOC_LIMIT": str(_MAX_ALLOCATION_BYTES),  # an object of a few kilobytes can unpack to gigabytes
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
    }
