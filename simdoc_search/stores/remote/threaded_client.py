"""Clients of the application: each request is given up in time. One that blocks does so in a thread of its own.

The timeout of most clients begins again with each byte, so an engine that sends one byte a second never exceeds it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import copy_context
from threading import Event, Thread
from typing import TypeVar

from simdoc_search.cancellation import wait_for
from simdoc_search.errors import StoreUnavailableError
from simdoc_search.stores.remote.bounded_requests import VARIABLE, timeout_seconds

TIMES = 10
"""How many times as long a request may take as through a client of ours, because we cannot count its bytes."""

Result = TypeVar("Result")


def longest_seconds() -> float:
    """How long a request through a client of the application may take. Raises as `timeout_seconds`."""
    return TIMES * timeout_seconds()


@contextmanager
def given_up_after(name: str, seconds: float) -> Iterator[None]:
    """Say that a request to an engine of this name took more than so many seconds.

    Raises:
        StoreUnavailableError: for a TimeoutError.
    """
    try:
        yield
    except TimeoutError as error:
        how = f"try again later, or set {VARIABLE} to more than {seconds / TIMES:g}"
        raise StoreUnavailableError(
            f"{name} does not answer (no whole answer came within {seconds:g} s); {how}"
        ) from error


def in_thread(send: Callable[[], Result], seconds: float, stopped: Event | None) -> Result:
    """What a function returns that runs in another thread, with the context variables of this one.

    A request that is given up goes on there until its client ends it. It does not keep the process alive.

    Raises:
        StoppedError: `stopped` was set, so that the result is not wanted any longer.
        TimeoutError: it takes more than so many seconds.
        BaseException: what the function raises.
    """
    future: Future[Result] = Future()
    context = copy_context()

    def run() -> None:
        try:
            future.set_result(context.run(send))
        except BaseException as error:
            future.set_exception(error)

    Thread(target=run, name="simdoc-request", daemon=True).start()
    wait_for(future, seconds, stopped)
    return future.result()
