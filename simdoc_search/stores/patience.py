"""Waiting for an engine that is busy or away: for how long, and what is worth waiting for."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

from simdoc_search.errors import StoreError, StoreUnavailableError
from simdoc_search.stores.rest import RequestError

__all__ = ["BUSY", "PATIENCE", "Patience", "StoppedError", "is_passing", "patiently"]

PATIENCE = 300.0
"""Seconds after which an engine that takes nothing is given up."""

FIRST_PAUSE, LONGEST_PAUSE = 0.2, 20.0
"""Seconds before a request is sent again; doubled each time, and drawn at random up to that."""

BUSY = frozenset({429, 502, 503, 504})
"""Statuses that pass: full queues, circuit breakers, shards that are on their way."""

Answer = TypeVar("Answer")


def _pauses() -> Iterator[float]:
    """Seconds to wait before each further attempt, without end."""
    longest = FIRST_PAUSE
    while True:
        yield random.uniform(longest / 2, longest)  # noqa: S311 - so that not all come back at once
        longest = min(2 * longest, LONGEST_PAUSE)


def is_passing(error: StoreError) -> bool:
    """Whether the same request may succeed later."""
    return isinstance(error, StoreUnavailableError) or (isinstance(error, RequestError) and error.status in BUSY)


def _given_up(why: str) -> StoreUnavailableError:
    """What is said in the end."""
    return StoreUnavailableError(f"{why}; waited {PATIENCE:.0f} s, run it again later")


class StoppedError(Exception):
    """The run ends; what waited is given up."""


class Patience:
    """Waits between attempts, longer each time, until nothing has got through for too long.

    Args:
        stopped: set it, and nothing waits any longer.
    """

    def __init__(self, stopped: threading.Event) -> None:
        self._stopped = stopped
        self.progress()

    def progress(self) -> None:
        """Something got through: patience is new."""
        self._pauses, self._began = _pauses(), time.monotonic()

    def wait_after(self, error: StoreError) -> None:
        """Wait, if the error is one that passes; raises it, or what `wait` raises."""
        if not is_passing(error):
            raise error
        self.wait(str(error))

    def wait(self, why: str) -> None:
        """Wait a while.

        Raises:
            StoreUnavailableError: patience is at an end.
            StoppedError: the run ends.
        """
        if time.monotonic() - self._began > PATIENCE:
            raise _given_up(why)
        if self._stopped.wait(next(self._pauses)):
            raise StoppedError


def patiently(action: Callable[[], Answer], stopped: threading.Event | None = None) -> Answer:
    """Do something as often as it takes, or until patience is at an end.

    Raises:
        StoreUnavailableError: it is.
        StoreError: what will not pass.
        StoppedError: `stopped` was set meanwhile.
    """
    waiting = Patience(stopped or threading.Event())
    while True:
        try:
            return action()
        except StoreError as error:
            waiting.wait_after(error)
