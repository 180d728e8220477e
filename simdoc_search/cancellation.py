"""Cancels long computations whose results are no longer needed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from queue import Empty, SimpleQueue
from typing import TypeVar
from weakref import WeakSet

Item = TypeVar("Item")

POLL_SECONDS = 0.25
"""Interval at which a waiting thread checks whether the computation was cancelled."""


class StoppedError(Exception):
    """The caller cancelled the computation."""


class StopEvent(threading.Event):
    """Cancels computations when it is set. Setting an event also sets its children, but not its parent."""

    def __init__(self) -> None:
        super().__init__()
        self._children: WeakSet[StopEvent] = WeakSet()
        self._lock = threading.Lock()

    def make_child(self) -> StopEvent:
        """Return a new event that is also set when this one is set."""
        child = StopEvent()
        with self._lock:
            self._children.add(child)
        if self.is_set():
            child.set()
        return child

    def set(self) -> None:
        """Set this event and its children."""
        super().set()
        with self._lock:
            children = list(self._children)
        for child in children:
            child.set()

    def check(self) -> None:
        """Raise StoppedError if the event is set."""
        if self.is_set():
            raise StoppedError


_current_event: ContextVar[StopEvent | None] = ContextVar("stop", default=None)


@contextmanager
def cancellable_by(stop: StopEvent) -> Iterator[None]:
    """Make a block cancellable. In the block, `check_stopped` raises StoppedError once `stop` is set."""
    token = _current_event.set(stop)
    try:
        yield
    finally:
        _current_event.reset(token)


def current_stop_event() -> StopEvent | None:
    """Return the event that cancels the current computation, or None."""
    return _current_event.get()


def check_stopped() -> None:
    """Raise StoppedError if the current computation is cancelled. Long computations call it about once a second."""
    if (stop := _current_event.get()) is not None:
        stop.check()


def receive(
    queue: SimpleQueue[Item],
    seconds: float | None,
    cancel_event: threading.Event | None,
    is_lost: Callable[[], bool] = lambda: False,
) -> Item:
    """Wait for the next item of a queue, and return it.

    Args:
        queue: the queue.
        seconds: maximum time to wait; None for no limit.
        cancel_event: an event that is set when the item is no longer needed, or None.
        is_lost: returns whether no item can arrive any more.

    Raises:
        StoppedError: `cancel_event` was set, or no item can arrive any more.
        TimeoutError: no item arrived within `seconds`.
    """
    deadline = None if seconds is None else time.monotonic() + seconds
    while not is_lost():
        if cancel_event is not None and cancel_event.is_set():
            raise StoppedError
        remaining = POLL_SECONDS if deadline is None else deadline - time.monotonic()
        if remaining <= 0:
            raise TimeoutError
        with suppress(Empty):
            return queue.get(timeout=min(POLL_SECONDS, remaining))
    raise StoppedError
