"""What an attack is, and how a command must end under it: right, or with an error; never wrong in silence."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.support.cli import environment

__all__ = ["Attack", "Done", "Place", "command", "killed"]

SECONDS = 120
"""What no command may take, whatever it meets."""


@dataclass(frozen=True)
class Place:
    """Where an attack takes place: an empty folder, and the address of a real engine where it needs one."""

    folder: Path
    engine: str = ""


@dataclass(frozen=True)
class Attack:
    """Something that must be held; `run` raises AssertionError where it was not."""

    name: str
    run: Callable[[random.Random, Place], None]
    needs_engine: bool = False


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str

    def check_manners(self) -> Done:
        """No traceback, no signal, and a sentence where it failed."""
        assert "Traceback (most recent call last)" not in self.err, self.err[-3000:]
        assert self.code in {0, 1, 2}, (self.code, self.err[-1000:])
        assert not self.code or self.err.strip() or self.out.strip(), "it failed without a word"
        return self


def _start(*arguments: object, cwd: Path, **values: str) -> subprocess.Popen[str]:
    program = Path(sys.executable).with_name("simdoc-search")  # `python -m` itself imports from the folder it stands in
    line = [program, *map(str, arguments)]
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(line, cwd=cwd, env=environment(**values), text=True, errors="replace", **pipes)  # type: ignore[call-overload, no-any-return]


def command(*arguments: object, cwd: Path, **values: str) -> Done:
    """A command in a process of its own, which must have manners."""
    with _start(*arguments, cwd=cwd, **values) as process:
        try:
            out, err = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            raise AssertionError(f"{arguments} took more than {SECONDS} s") from None
    return Done(process.returncode, out, err).check_manners()


def killed(after: float, *arguments: object, cwd: Path) -> bool:
    """A command that is killed after so many seconds; whether it was still at work."""
    with _start(*arguments, cwd=cwd) as process:
        try:
            process.communicate(timeout=after)
        except subprocess.TimeoutExpired:
            os.kill(process.pid, signal.SIGKILL)
            process.communicate()
            return True
    return False
