"""The retry policy for requests to an engine. It defines which errors are retried, for how long and how often."""

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

BACKGROUND_RETRY_SECONDS = 300.0
"""Seconds without success after which indexing and backfill give up."""

QUERY_RETRY_SECONDS = 30.0
"""Seconds without success after which a query fails."""

RETRY_VARIABLE = "SIMDOC_RETRY_SECONDS"
"""The environment variable that overrides QUERY_RETRY_SECONDS."""

FIRST_PAUSE_SECONDS, MAX_PAUSE_SECONDS = 0.2, 20.0
"""Maximum length of the first pause. This maximum doubles after each pause, up to MAX_PAUSE_SECONDS."""

LOG_INTERVAL_SECONDS = 30.0
"""Minimum number of seconds between two log messages about retries in this process."""

RETRYABLE_STATUSES = frozenset({429, 502, 503, 504})
"""HTTP statuses of an engine that is busy, or whose shards have not started yet."""

_log = logging.getLogger("simdoc_search")
_last_log_time = [float("-inf")]


def is_retryable(error: StoreError) -> bool:
    """Return whether the same request may succeed later."""
    return isinstance(error, StoreUnavailableError) or (
        isinstance(error, RequestError) and error.status in RETRYABLE_STATUSES
    )


def seconds_from_environment(variable: str, *, advice: str, minimum: float = 0.0) -> float | None:
    """Return the number of seconds in an environment variable, or None if it is not set.

    `advice` is the second half of the error message. It tells the user what to do.

    Raises:
        StoreError: the value is not a number, or is less than `minimum`.
    """
    text = os.environ.get(variable)
    if not text:
        return None
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not minimum <= seconds < math.inf:
        raise StoreError(f"{variable} is {text!r}, which is not a valid number of seconds; {advice}")
    return seconds


def read_query_seconds() -> float:
    """Return SIMDOC_RETRY_SECONDS, or QUERY_RETRY_SECONDS if it is not set. Raises StoreError for an invalid number."""
    seconds = seconds_from_environment(
        RETRY_VARIABLE, advice=f"set {RETRY_VARIABLE} to a number such as 30, or to 0 for no retries"
    )
    return QUERY_RETRY_SECONDS if seconds is None else seconds


class Retries:
    """Pauses between the attempts of one request, with exponential backoff and jitter, until a deadline.

    `stop_event` ends a pause. The request fails after `seconds` without success.
    """

    def __init__(self, stop_event: threading.Event, seconds: float) -> None:
        self._stop_event = stop_event
        self._seconds = seconds
        self.reset()

    def reset(self) -> None:
        """Restart the pauses and the deadline, after a success."""
        self._max_pause, self._start_time = FIRST_PAUSE_SECONDS, time.monotonic()

    def pause_or_raise(self, error: StoreError) -> None:
        """Pause after a retryable error. Raise any other error. Also raises the errors of `pause`."""
        if not is_retryable(error) or self._seconds <= 0:
            raise error
        self.pause(str(error))

    def pause(self, reason: str) -> None:
        """Pause, and log the reason.

        Raises:
            StoreUnavailableError: the deadline has passed.
            StoppedError: `stop_event` is set.
        """
        waited = time.monotonic() - self._start_time
        if waited >= self._seconds:
            raise StoreUnavailableError(
                f"{reason}; run the command again later (gave up after {waited:.0f} s of retries)"
            )
        _log_sometimes(f"{reason}; retrying for up to {self._seconds - waited:.0f} s")
        pause = random.uniform(self._max_pause / 2, self._max_pause)  # noqa: S311 - a random delay is not a secret
        self._max_pause = min(2 * self._max_pause, MAX_PAUSE_SECONDS)
        if self._stop_event.wait(min(pause, self._seconds - waited)):
            raise StoppedError


def _log_sometimes(message: str) -> None:
    """Log a message, unless another message was logged during the last LOG_INTERVAL_SECONDS."""
    now = time.monotonic()
    if now - _last_log_time[0] >= LOG_INTERVAL_SECONDS:
        _last_log_time[0] = now
        _log.warning(message)
