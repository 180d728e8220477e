"""A client of asyncio's, used from a thread: what it sends goes through the event loop in which it lives."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError
from dataclasses import dataclass
from threading import Event
from typing import Any, TypeVar

from simdoc_search.cancellation import Stop, StoppedError, wait_for
from simdoc_search.errors import StoreError

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class InLoop:
    """An asynchronous client, and where it lives.

    Attributes:
        client: the client.
        loop: the event loop in which the application uses it.
        stop: set it, and nothing that is asked through it waits any longer.
    """

    client: Any
    loop: asyncio.AbstractEventLoop
    stop: Stop

    def result(self, send: Callable[[], Coroutine[Any, Any, Result]], seconds: float, stopped: Event | None) -> Result:
        """What a coroutine gives that runs in the loop; this thread, which is another one, waits for it.

        Args:
            send: makes the coroutine.
            seconds: how long it may take.
            stopped: is set when nobody wants the result any longer; None: it is always wanted.

        Raises:
            StoppedError: it is not wanted any longer, or was cancelled.
            TimeoutError: it takes more than so many seconds.
            StoreError: this thread is the loop's own, or the loop has ended.
            Exception: what the coroutine raises.
        """
        if _running_loop() is self.loop:
            raise StoreError(
                "waiting for the engine here would block the event loop that is to ask it; "
                "ask with AsyncSimilaritySearch, whose `each` also reads what a result makes when it is asked for"
            )
        if not self.loop.is_running():
            raise _ended()
        sending = send()
        try:
            future = asyncio.run_coroutine_threadsafe(sending, self.loop)
        except RuntimeError:  # closed meanwhile
            raise _ended(sending) from None
        try:
            wait_for(future, seconds, stopped, self.loop.is_closed)
        finally:
            future.cancel()
        try:
            return future.result()
        except CancelledError:
            raise (_ended(sending) if self.loop.is_closed() else StoppedError) from None


def is_asynchronous(client: Any) -> bool:
    """Whether a client's requests are coroutines."""
    sending = (getattr(each, "perform_request", None) for each in (client, getattr(client, "transport", None)))
    return any(map(inspect.iscoroutinefunction, sending))


def _ended(sending: Coroutine[Any, Any, object] | None = None) -> StoreError:
    if sending is not None and inspect.getcoroutinestate(sending) == inspect.CORO_CREATED:
        sending.close()
    return StoreError("the event loop in which this store was opened has ended; open it in the one that runs")


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
