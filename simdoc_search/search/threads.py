"""Steps that take a while, beside an event loop: each runs in a thread, and ends soon when nobody waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context, copy_context
from typing import Any, TypeVar

from simdoc_search.cancellation import Stop, StoppedError, until
from simdoc_search.errors import StoreError

Result = TypeVar("Result")


class Threads:
    """Threads of one owner. No step waits for another one, so a great many of them wait in line and none for ever.

    Args:
        limit: how many steps run at once.

    Attributes:
        stop: set when they are closed.
    """

    def __init__(self, limit: int) -> None:
        self.stop: Stop = Stop()
        self._pool = ThreadPoolExecutor(limit, "simdoc-async")

    async def run(self, step: Callable[[], Result], stop: Stop, context: Context | None = None) -> Result:
        """What a step gives; it sees the context variables of who waits for it.

        Args:
            step: what to do.
            stop: is set when the one who waits is cancelled.
            context: that of an earlier step, to go on in it.

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
        """What an iterator gives, each made when it is asked for; raises as `run`."""
        end: Any = object()
        context = copy_context()
        try:
            while (item := await self.run(lambda: next(items, end), stop, context)) is not end:
                yield item
        finally:
            if (close := getattr(items, "close", None)) and not stop.is_set():
                await self.run(close, stop, context)

    async def aclose(self) -> None:
        """End what runs, and the threads."""
        self.stop.set()
        await asyncio.to_thread(self._pool.shutdown)


def _unless_stopped(step: Callable[[], Result], stop: Stop) -> Result:
    stop.check()
    with until(stop):
        return step()


def _closed() -> StoreError:
    return StoreError("this search is closed; make another one")
