"""Runs functions in threads, so that they do not block the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context, copy_context
from typing import Any, TypeVar

from simdoc_search.cancellation import StopEvent, StoppedError, cancellable_by
from simdoc_search.errors import StoreError

Result = TypeVar("Result")


class CancellableThreads:
    """A pool of threads for blocking functions. A function ends soon after its caller is cancelled.

    Functions must not wait for each other, because a queued function may start only after a running function ends.

    Args:
        max_functions: maximum number of functions that run at the same time.

    Attributes:
        stop: set when the pool is closed.
    """

    def __init__(self, max_functions: int) -> None:
        self.stop: StopEvent = StopEvent()
        self._pool = ThreadPoolExecutor(max_functions, "simdoc-async")

    async def run(self, function: Callable[[], Result], stop: StopEvent, context: Context | None = None) -> Result:
        """Run a function with the context variables of the caller or of `context`, and return its result.

        `stop` is set when the caller is cancelled.

        Raises:
            StoreError: the pool is closed.
            Exception: any error of the function.
        """
        if self.stop.is_set():
            raise _closed_error()
        future = self._pool.submit((context or copy_context()).run, _run_unless_stopped, function, stop)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            stop.set()
            raise
        except StoppedError:
            raise _closed_error() from None

    async def iterate(self, items: Iterator[Result], stop: StopEvent) -> AsyncGenerator[Result, None]:
        """Yield the items of an iterator. Each item is computed when it is requested. The errors are those of `run`."""
        end: Any = object()
        context = copy_context()
        try:
            while (item := await self.run(lambda: next(items, end), stop, context)) is not end:
                yield item
        finally:
            if (close := getattr(items, "close", None)) and not stop.is_set():
                await self.run(close, stop, context)

    async def aclose(self) -> None:
        """Stop all functions and close the pool."""
        self.stop.set()
        await asyncio.to_thread(self._pool.shutdown)


def _run_unless_stopped(function: Callable[[], Result], stop: StopEvent) -> Result:
    stop.check()
    with cancellable_by(stop):
        return function()


def _closed_error() -> StoreError:
    return StoreError("this search is closed; create a new AsyncSimilaritySearch")
