"""The retry policy for requests to an engine: which errors are retried, how long, and with which pauses."""

from __future__ import annotations

import logging
import math
import os
import random
import threading
import time

from simdoc_search.cancellation import StoppedError
from simdoc_search.errors import StoreError, StoreUnavailableError
from simdoc_search.stores.remote.errors import RequestError

BACKGROUND_SECONDS = 300.0
"""Seconds without success after which indexing and backfill give up."""

QUERY_SECONDS = 30.0
"""Seconds without success after which a query fails."""

RETRY_VARIABLE = "SIMDOC_RETRY_SECONDS"
"""The environment variable that replaces QUERY_SECONDS."""

FIRST_PAUSE, LONGEST_PAUSE = 0.2, 20.0
"""Maximum length of the first pause in seconds, and of any pause. The maximum doubles with each pause."""

LOG_INTERVAL = 30.0
"""Minimum seconds between two log lines about retries in this process."""

RETRYABLE = frozenset({429, 502, 503, 504})
"""HTTP statuses for full queues, tripped circuit breakers, and shards that have not started yet."""

_log = logging.getLogger("simdoc_search")
_last_logged = [float("-inf")]


def is_retryable(error: StoreError) -> bool:
    """Return whether the same request may succeed later."""
    return isinstance(error, StoreUnavailableError) or (isinstance(error, RequestError) and error.status in RETRYABLE)


def seconds_from_environment(variable: str, *, advice: str, minimum: float = 0.0) -> float | None:
    """Return the number of seconds in an environment variable, or None if it is not set.

    Args:
        variable: name of the variable.
        advice: which value to use instead, for the error message.
        minimum: the smallest allowed number.

    Raises:
        StoreError: the value is not a number, or is too small.
    """
    text = os.environ.get(variable)
    if not text:
        return None
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not minimum <= seconds < math.inf:
        raise StoreError(f"{variable} is {text!r}, which is not a number of seconds; {advice}")
    return seconds


def query_seconds() -> float:
    """Return SIMDOC_RETRY_SECONDS, or QUERY_SECONDS. Raises as `seconds_from_environment`."""
    seconds = seconds_from_environment(RETRY_VARIABLE, advice="write 30, or 0 for no retries")
    return QUERY_SECONDS if seconds is None else seconds


class Retries:
    """The pauses between the attempts of one request: exponential backoff with jitter, until a deadline.

    Args:
        stopped: ends a pause as soon as it is set.
        seconds: time without success after which the request fails.
    """

    def __init__(self, stopped: threading.Event, seconds: float) -> None:
        self._stopped = stopped
        self._seconds = seconds
        self.reset()

    def reset(self) -> None:
        """Start again with the first pause, after a success."""
        self._longest, self._began = FIRST_PAUSE, time.monotonic()

    def pause_after(self, error: StoreError) -> None:
        """Pause after a retryable error; raise any other error. Also raises as `pause`."""
        if not is_retryable(error) or self._seconds <= 0:
            raise error
        self.pause(str(error))

    def pause(self, reason: str) -> None:
        """Pause, and log the reason.

        Raises:
            StoreUnavailableError: the deadline has passed.
            StoppedError: `stopped` is set.
        """
        waited = time.monotonic() - self._began
        if waited >= self._seconds:
            raise StoreUnavailableError(f"{reason}; retried for {waited:.0f} s, run the command again later")
        _log_sometimes(f"{reason}; retrying for up to {self._seconds - waited:.0f} s")
        pause = random.uniform(self._longest / 2, self._longest)  # noqa: S311 - jitter
        self._longest = min(2 * self._longest, LONGEST_PAUSE)
        if self._stopped.wait(min(pause, self._seconds - waited)):
            raise StoppedError


def _log_sometimes(line: str) -> None:
    """Log a line, unless another one was logged within LOG_INTERVAL."""
    now = time.monotonic()
    if now - _last_logged[0] >= LOG_INTERVAL:
        _last_logged[0] = now
        _log.warning(line)
