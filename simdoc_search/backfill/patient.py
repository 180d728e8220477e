"""Requests that wait for an engine that is busy or away, and stop waiting when the run ends."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from simdoc_search.errors import StoreError
from simdoc_search.stores import patience
from simdoc_search.stores.rest import Engine

__all__ = ["Patience", "PatientEngine", "StoppedError"]

Result = TypeVar("Result")


class StoppedError(Exception):
    """The run ends; what waited is given up."""


class PatientEngine:
    """An engine that is asked again while it is busy or away.

    Attributes:
        engine: the way to it.
        stopped: set it, and nothing waits any longer.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.stopped = threading.Event()

    def ask(self, method: str, path: list[str], body: Any = None, **options: Any) -> Any:
        """`Engine.call`, as often as it takes; for requests that do no harm when they are sent twice.

        Raises:
            StoreUnavailableError: patience is at an end.
            StoreError: what will not pass.
            StoppedError: the run ends.
        """
        return self.patiently(lambda: self.engine.call(method, path, body, **options))

    def patiently(self, action: Callable[[], Result]) -> Result:
        """Do something as often as it takes. Raises as `ask`."""
        waiting = self.patience()
        while True:
            try:
                return action()
            except StoreError as error:
                waiting.wait_after(error)

    def patience(self) -> Patience:
        """New patience."""
        return Patience(self.stopped)


class Patience:
    """Waits between attempts, longer each time, until nothing has got through for too long."""

    def __init__(self, stopped: threading.Event) -> None:
        self._stopped = stopped
        self.progress()

    def progress(self) -> None:
        """Something got through: patience is new."""
        self._pauses, self._began = patience.pauses(), time.monotonic()

    def wait_after(self, error: StoreError) -> None:
        """Wait, if the error is one that passes; raises it, or what `wait` raises."""
        if not patience.is_passing(error):
            raise error
        self.wait(str(error))

    def wait(self, why: str) -> None:
        """Wait a while.

        Raises:
            StoreUnavailableError: patience is at an end.
            StoppedError: the run ends.
        """
        if time.monotonic() - self._began > patience.PATIENCE:
            raise patience.given_up(why)
        if self._stopped.wait(next(self._pauses)):
            raise StoppedError
