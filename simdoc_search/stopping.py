"""How work that somebody no longer waits for ends."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from weakref import WeakSet

__all__ = ["Stop", "StoppedError", "check_stopped", "current_stop", "until"]


class StoppedError(Exception):
    """The run ends, so nothing is waited for any longer."""


class Stop(threading.Event):
    """An event that, once it is set, sets all that were made below it, and not the other way round."""

    def __init__(self) -> None:
        super().__init__()
        self._below: WeakSet[Stop] = WeakSet()
        self._making = threading.Lock()

    def below(self) -> Stop:
        """A new one, which is set with this one or alone."""
        other = Stop()
        with self._making:
            self._below.add(other)
        if self.is_set():
            other.set()
        return other

    def set(self) -> None:
        """Let those who wait for it go on, and those who wait for one below it."""
        super().set()
        with self._making:
            below = list(self._below)
        for each in below:
            each.set()

    def check(self) -> None:
        """Raise StoppedError if it is set."""
        if self.is_set():
            raise StoppedError


_current: ContextVar[Stop | None] = ContextVar("stop", default=None)


@contextmanager
def until(stop: Stop) -> Iterator[None]:
    """Work in the block may be stopped: once `stop` is set, `check_stopped` raises StoppedError there."""
    before = _current.set(stop)
    try:
        yield
    finally:
        _current.reset(before)


def current_stop() -> Stop | None:
    """What stops the work at hand; None: nothing."""
    return _current.get()


def check_stopped() -> None:
    """Raise StoppedError if the work at hand is to stop. Long computations call it every second or so."""
    if (stop := _current.get()) is not None:
        stop.check()
