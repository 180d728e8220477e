"""Runs steps in threads beside an event loop. Each step ends soon after its caller is cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context, copy_context
from typing import Any, TypeVar

from simdoc_search.cancellation import Stop, StoppedError, cancellable_by
from simdoc_search.errors import StoreError

Result = TypeVar("Result")


class Threads:
    """Threads of one owner. No step waits for another one, so queued steps cannot block each other for ever.

    Args:
        limit: maximum number of steps that run at once.

    Attributes:
        stop: set when the threads are closed.
    """

    def __init__(self, limit: int) -> None:
        self.stop: Stop = Stop()
        self._pool = ThreadPoolExecutor(limit, "simdoc-async")

    async def run(self, step: Callable[[], Result], stop: Stop, context: Context | None = None) -> Result:
        """Run a step with the context variables of the caller, and return its result.

        Args:
            step: the step.
            stop: set when the caller is cancelled.
            context: the context of an earlier step, to continue in it.

        Raises:
            StoreError: the threads are closed.
            Exception: what the step raises.
        """
        if self.stop.is_set():
            raise _closed()
        running = self._pool.submit((context or copy_context()).run, _unless_stopped, step, stop)
        try:
            return await asyncio.wrap_future(running)
        except asyncio.CancelledError:
            stop.set()
            raise
        except StoppedError:
            raise _closed() from None

    async def each(self, items: Iterator[Result], stop: Stop) -> AsyncGenerator[Result, None]:
        """Yield the items of an iterator, each computed on demand. Raises as `run`."""
        end: Any = object()
        context = copy_context()
        try:
            while (item := await self.run(lambda: next(items, end), stop, context)) is not end:
                yield item
        finally:
            if (close := getattr(items, "close", None)) and not stop.is_set():
                await self.run(close, stop, context)

    async def aclose(self) -> None:
        """Stop all steps and end the threads."""
        self.stop.set()
        await asyncio.to_thread(self._pool.shutdown)


def _unless_stopped(step: Callable[[], Result], stop: Stop) -> Result:
    stop.check()
    with cancellable_by(stop):
        return step()


def _closed() -> StoreError:
    return StoreError("this search is closed; make another one")
