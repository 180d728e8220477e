"""Requests that wait for an engine that is busy or away, and stop waiting when the run ends."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

from simdoc_search.stores.patience import Patience, patiently
from simdoc_search.stores.rest import Engine

__all__ = ["PatientEngine"]

Result = TypeVar("Result")


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
        return patiently(action, self.stopped)

    def patience(self) -> Patience:
        """New patience."""
        return Patience(self.stopped)
