"""Runs processes that are killed or stopped before a step that changes the disk."""

from __future__ import annotations

import itertools
import os
import signal
import sys
import warnings
from collections.abc import Callable
from typing import Any

__all__ = ["Process", "killed"]

STEPS = {"open", "os.link", "os.rename", "os.remove", "os.truncate", "os.mkdir", "os.chmod", "os.utime"}
"""Audit events that precede a change of the disk."""

STATES = os.WUNTRACED if hasattr(os, "WUNTRACED") else 0


class Process:
    """A process that sends itself a signal before a step.

    Args:
        at: the number of the step, or the name of its event. None: the process runs to its end.
        act: the function that the process calls. An exception ends it with status 1.
        by: SIGSTOP or SIGKILL.
    """

    def __init__(self, at: int | str | None, act: Callable[[], object], by: signal.Signals = signal.SIGSTOP) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # warns about other threads, which the process does not need
            self._id = os.fork()
        if not self._id:
            steps = itertools.count()

            def hook(event: str, _: Any) -> None:
                if event in STEPS and at in (next(steps), event):
                    os.kill(os.getpid(), by)

            sys.addaudithook(hook)
            try:
                act()
            finally:
                os._exit(0 if sys.exc_info() == (None, None, None) else 1)
        self._wait()

    @property
    def stopped(self) -> bool:
        """Whether the process is stopped before its step."""
        return os.WIFSTOPPED(self._status)

    @property
    def killed(self) -> bool:
        """Whether the process was killed before its step."""
        return os.WIFSIGNALED(self._status)

    @property
    def failed(self) -> bool:
        """Whether the process has ended with an exception."""
        return os.WIFEXITED(self._status) and os.WEXITSTATUS(self._status) != 0

    def end(self, by: signal.Signals = signal.SIGCONT) -> None:
        """Let a stopped process run to its end, or kill it."""
        if self.stopped:
            os.kill(self._id, by)
            self._wait()

    def _wait(self) -> None:
        _, self._status = os.waitpid(self._id, STATES)


def killed(at: int, act: Callable[[], object]) -> bool:
    """Run `act` in a process. Return whether it was killed before the step with this number."""
    process = Process(at, act, signal.SIGKILL)
    assert not process.failed
    return process.killed
