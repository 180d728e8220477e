"""Waiting for an engine that is busy or away: for how long, and what is worth waiting for."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

from simdoc_search.errors import StoreError, StoreUnavailableError
from simdoc_search.stores.rest import RequestError

__all__ = ["BUSY", "PATIENCE", "given_up", "is_passing", "patiently", "pauses"]

PATIENCE = 300.0
"""Seconds after which an engine that takes nothing is given up."""

FIRST_PAUSE, LONGEST_PAUSE = 0.2, 20.0
"""Seconds before a request is sent again; doubled each time, and drawn at random up to that."""

BUSY = frozenset({429, 502, 503, 504})
"""Statuses that pass: full queues, circuit breakers, shards that are on their way."""

Answer = TypeVar("Answer")


def pauses() -> Iterator[float]:
    """Seconds to wait before each further attempt, without end."""
    longest = FIRST_PAUSE
    while True:
        yield random.uniform(longest / 2, longest)  # noqa: S311 - so that not all come back at once
        longest = min(2 * longest, LONGEST_PAUSE)


def is_passing(error: StoreError) -> bool:
    """Whether the same request may succeed later."""
    return isinstance(error, StoreUnavailableError) or (isinstance(error, RequestError) and error.status in BUSY)


def given_up(why: str) -> StoreUnavailableError:
    """What is said in the end."""
    return StoreUnavailableError(f"{why}; waited {PATIENCE:.0f} s, run it again later")


def patiently(action: Callable[[], Answer]) -> Answer:
    """Do something as often as it takes, or until patience is at an end.

    Raises:
        StoreUnavailableError: it is.
        StoreError: what will not pass.
    """
    deadline = time.monotonic() + PATIENCE
    for pause in pauses():
        try:
            return action()
        except StoreError as error:
            if not is_passing(error):
                raise
            if time.monotonic() + pause > deadline:
                raise given_up(str(error)) from error
            time.sleep(pause)
    raise AssertionError("pauses have no end")
