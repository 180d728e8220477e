"""How work that somebody no longer waits for ends."""

from __future__ import annotations

import threading
from weakref import WeakSet

__all__ = ["Stop", "StoppedError"]


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
