"""Defines an attack, and runs commands under it. A command must succeed or end with an error message."""

from __future__ import annotations

import atexit
import functools
import itertools
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.support.cli import environment
from tests.support.forked_commands import MAX_SECONDS, Running

__all__ = ["Attack", "CommandResult", "Place", "command", "fresh_command", "killed"]

_numbers = itertools.count()


@dataclass(frozen=True)
class Place:
    """An empty folder for an attack, and the address of a real engine if it needs one."""

    folder: Path
    engine: str = ""


@dataclass(frozen=True)
class Attack:
    """An attack. `run` raises AssertionError if something is wrong afterwards."""

    name: str
    run: Callable[[random.Random, Place], None]
    needs_engine: bool = False


@dataclass(frozen=True)
class CommandResult:
    """The exit status, stdout and stderr of a command that has ended."""

    code: int
    out: str
    err: str

    def check_exit(self) -> CommandResult:
        """Check that there is no traceback, that no signal ended it, and that a failure has a message."""
        assert "Traceback (most recent call last)" not in self.err, self.err[-3000:]
        assert self.code in {0, 1, 2}, (self.code, self.err[-1000:])
        assert not self.code or self.err.strip() or self.out.strip(), "it failed without a message"
        return self


@functools.cache
def _logs() -> Path:
    folder = tempfile.mkdtemp(prefix="simdoc-logs-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def _running(arguments: tuple[object, ...], cwd: Path) -> Running:
    return Running([*map(str, arguments)], cwd, _logs() / str(next(_numbers)))


def command(*arguments: object, cwd: Path) -> CommandResult:
    """Run a command in a forked process."""
    running = _running(arguments, cwd)
    code = running.wait()
    return CommandResult(code, running.out, running.err).check_exit()


def killed(after: float, *arguments: object, cwd: Path) -> bool:
    """Kill a command after some seconds. Return whether it was still running."""
    return _running(arguments, cwd).killed_after(after)


def fresh_command(*arguments: object, cwd: Path) -> CommandResult:
    """Run a command in a new interpreter, as a user does."""
    program = Path(sys.executable).with_name("simdoc-search")  # `python -m` imports from its working directory
    done = subprocess.run(
        [program, *map(str, arguments)],
        check=False,
        cwd=cwd,
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=MAX_SECONDS,
    )
    return CommandResult(done.returncode, done.stdout, done.stderr).check_exit()
