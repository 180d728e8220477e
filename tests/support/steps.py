"""Processes that are killed or stopped before a certain step: before one of the things that change a disk."""

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
"""Events after which a disk may be another one than before; the audit hook hears of each before it happens."""

STATES = os.WUNTRACED if hasattr(os, "WUNTRACED") else 0


class Process:
    """A process of its own that sends itself a signal before a step.

    Args:
        at: the number of the step, or the event that its first step of a kind has; None: it runs to its end.
        act: what it does; an exception ends it with the status 1.
        by: SIGSTOP or SIGKILL.
    """

    def __init__(self, at: int | str | None, act: Callable[[], object], by: signal.Signals = signal.SIGSTOP) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it runs nothing but this, so threads of others do not matter
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
        """Whether it waits before its step."""
        return os.WIFSTOPPED(self._status)

    @property
    def killed(self) -> bool:
        """Whether it was killed before its step."""
        return os.WIFSIGNALED(self._status)

    @property
    def failed(self) -> bool:
        """Whether it has ended with an exception."""
        return os.WIFEXITED(self._status) and os.WEXITSTATUS(self._status) != 0

    def end(self, by: signal.Signals = signal.SIGCONT) -> None:
        """Let a stopped process run to its end, or kill it."""
        if self.stopped:
            os.kill(self._id, by)
            self._wait()

    def _wait(self) -> None:
        _, self._status = os.waitpid(self._id, STATES)


def killed(at: int, act: Callable[[], object]) -> bool:
    """Whether a process that does this was killed before its step of that number; else it ended well."""
    process = Process(at, act, signal.SIGKILL)
    assert not process.failed
    return process.killed
