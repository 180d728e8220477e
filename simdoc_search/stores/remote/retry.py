"""Waiting for an engine that is busy or away: for which errors, for how long, and what is said meanwhile."""

from __future__ import annotations

import logging
import math
import os
import random
import threading
import time
from collections.abc import Iterator

from simdoc_search.cancellation import StoppedError
from simdoc_search.errors import StoreError, StoreUnavailableError
from simdoc_search.stores.remote.errors import RequestError

PATIENCE = 300.0
"""Seconds that indexing and backfill wait for an engine that takes nothing."""

QUESTION_PATIENCE = 30.0
"""Seconds that a question waits, as somebody waits for the answer."""

FIRST_PAUSE, LONGEST_PAUSE = 0.2, 20.0
"""Seconds before a request is sent again: drawn at random up to the first, which doubles each time up to the last."""

SAID_EVERY = 30.0
"""Seconds after which it is said again that we wait, whatever we wait for."""

BUSY = frozenset({429, 502, 503, 504})
"""Statuses that pass: full queues, circuit breakers, shards that are on their way."""

VARIABLE = "SIMDOC_PATIENCE"
"""The environment variable that says how many seconds a question waits."""

_log = logging.getLogger("simdoc_search")
_said = threading.Lock()
_said_last = [float("-inf")]


def is_passing(error: StoreError) -> bool:
    """Whether the same request may succeed later."""
    return isinstance(error, StoreUnavailableError) or (isinstance(error, RequestError) and error.status in BUSY)


def asked_seconds(
    variable: str = VARIABLE, *, advice: str = "write 30, or 0 not to wait at all", least: float = 0.0
) -> float | None:
    """The seconds that an environment variable says; None: it is not set.

    Args:
        variable: its name; without one: how long a question waits.
        advice: what to write instead.
        least: the smallest number that is allowed.

    Raises:
        StoreError: the variable is not a number of seconds, or is smaller.
    """
    said = os.environ.get(variable)
    if not said:
        return None
    try:
        seconds = float(said)
    except ValueError:
        seconds = math.nan
    if not least <= seconds < math.inf:
        raise StoreError(f"{variable} is {said!r}, which is not a number of seconds; {advice}")
    return seconds


class Patience:
    """Pauses between attempts, each longer than the one before, until nothing has got through for too long.

    Args:
        stopped: once it is set, no pause lasts any longer.
        seconds: how long to go on without any success; None: PATIENCE.
    """

    def __init__(self, stopped: threading.Event, seconds: float | None = None) -> None:
        self._stopped = stopped
        self._seconds = PATIENCE if seconds is None else seconds
        self.progress()

    def progress(self) -> None:
        """Something got through: begin anew."""
        self._pauses, self._began = _pauses(), time.monotonic()

    def wait_after(self, error: StoreError) -> None:
        """Pause after an error that passes; raises any other one, or what `wait` raises."""
        if not is_passing(error) or self._seconds <= 0:
            raise error
        self.wait(str(error))

    def wait(self, why: str) -> None:
        """Pause, and say why.

        Raises:
            StoreUnavailableError: we have waited long enough.
            StoppedError: the run ends.
        """
        waited = time.monotonic() - self._began
        if waited >= self._seconds:
            raise StoreUnavailableError(f"{why}; waited {waited:.0f} s, run it again later")
        _say(f"{why}; waiting, {self._seconds - waited:.0f} s at most")
        if self._stopped.wait(min(next(self._pauses), self._seconds - waited)):
            raise StoppedError


def _pauses() -> Iterator[float]:
    """Seconds to wait before each further attempt, without end."""
    longest = FIRST_PAUSE
    while True:
        yield random.uniform(longest / 2, longest)  # noqa: S311 - so that not all come back at once
        longest = min(2 * longest, LONGEST_PAUSE)


def _say(line: str) -> None:
    """Tell people, though not once for each thread and each pause."""
    now = time.monotonic()
    with _said:
        is_new = now - _said_last[0] >= SAID_EVERY
        if is_new:
            _said_last[0] = now
    if is_new:
        _log.warning(line)
