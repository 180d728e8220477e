"""How work that somebody no longer waits for ends."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from weakref import WeakSet

TURN = 0.25
"""Seconds after which we look whether a result is still wanted."""


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


def wait_for(
    future: Future[Any],
    seconds: float | None,
    stopped: threading.Event | None,
    is_lost: Callable[[], bool] = lambda: False,
) -> None:
    """Wait until a future is done.

    Args:
        future: what is waited for.
        seconds: how long at most; None: without a limit.
        stopped: is set when nobody wants the result any longer; None: it is always wanted.
        is_lost: whether the future cannot be done any more, so that waiting ends, too.

    Raises:
        StoppedError: `stopped` was set.
        TimeoutError: it takes longer.
    """
    deadline = None if seconds is None else time.monotonic() + seconds
    while not future.done() and not is_lost():
        if stopped is not None and stopped.is_set():
            raise StoppedError
        left = TURN if deadline is None else deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        wait([future], timeout=min(TURN, left))
