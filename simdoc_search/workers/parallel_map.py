"""Maps a function over chunks of a large input in worker processes. Their number does not change the results."""

from __future__ import annotations

import math
import pickle
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future
from functools import lru_cache, partial
from itertools import chain, islice
from types import TracebackType
from typing import Any, TypeVar

from simdoc_search.errors import QuerySyntaxError
from simdoc_search.workers.pool import WorkerPool
from simdoc_search.workers.process import BeginItem, ItemLimits, memory_per_worker

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")

MAX_CHUNKS_WITHOUT_WORKERS = 8
"""Maximum number of chunks for which no worker processes are started, because starting them would take longer."""

_CHUNKS_PER_WORKER = 2  # chunks per worker process that are submitted ahead of the one whose outcome is awaited


class ParallelMapper:
    """Maps functions over chunks in worker processes, which start when there are many chunks.

    Several functions can be mapped one after the other, with the same processes. If a worker process crashes or runs
    out of memory, the calling process handles its chunk. Use this class as a context manager, so that the worker
    processes end.

    Args:
        workers: number of worker processes. If it is 1, no process is started, and the calling process does the work.

    Raises:
        QuerySyntaxError: the number of workers is not a positive integer.
    """

    def __init__(self, workers: int = 1) -> None:
        if not isinstance(workers, int) or isinstance(workers, bool) or workers < 1:
            raise QuerySyntaxError(f"workers must be an integer of at least 1, not {workers!r:.60}")
        self._workers = workers
        self._pool: WorkerPool[Callable[[], Any], tuple[Any] | None] | None = None

    @property
    def workers(self) -> int:
        """The number of worker processes."""
        return self._workers

    def map(
        self, function: Callable[[Item], Outcome], chunks: Iterable[Item], max_chunks_without_workers: int | None = None
    ) -> Generator[Outcome, None, None]:
        """Yield the outcomes of all chunks in order. A few chunks are read ahead.

        Args:
            function: processes a chunk. The function, the chunks and the outcomes must be picklable. Each process
                unpickles the function once, so the function may cache what it needs for several chunks.
            chunks: the chunks. Each should take at least a few milliseconds.
            max_chunks_without_workers: maximum number of chunks for which no worker processes are started; None for
                the default.

        Raises:
            SimdocError: a process could not be started. The errors of the function are also raised.
        """
        rest = iter(chunks)
        max_chunks_without_workers = (
            MAX_CHUNKS_WITHOUT_WORKERS if max_chunks_without_workers is None else max_chunks_without_workers
        )
        if self._workers > 1 and self._pool is None:
            first = list(islice(rest, max_chunks_without_workers + 1))
            if len(first) > max_chunks_without_workers:
                limits = ItemLimits(math.inf, memory_per_worker(self._workers))
                self._pool = WorkerPool(self._workers, _run_calls, _return_no_outcome, limits)
            rest = chain(first, rest)
        if self._pool is None:
            yield from map(function, rest)
        else:
            yield from _map_in_pool(self._pool, function, rest, _CHUNKS_PER_WORKER * self._workers)

    def close(self) -> None:
        """End the processes, even if they are working."""
        if self._pool is not None:
            self._pool.close()
            self._pool = None

    def __enter__(self) -> ParallelMapper:
        return self

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def _map_in_pool(
    pool: WorkerPool[Callable[[], Any], tuple[Any] | None],
    function: Callable[[Item], Outcome],
    chunks: Iterator[Item],
    max_waiting_chunks: int,
) -> Generator[Outcome, None, None]:
    pickled_function = pickle.dumps(function, pickle.HIGHEST_PROTOCOL)
    waiting: deque[tuple[Item, Future[list[tuple[Any] | None]]]] = deque()
    try:
        while True:
            for chunk in islice(chunks, max_waiting_chunks + 1 - len(waiting)):
                waiting.append((chunk, pool.submit([partial(_call_pickled, pickled_function, chunk)])))
            if not waiting:
                return
            yield _get_outcome(function, *waiting.popleft())
    finally:
        for _, future in waiting:
            future.cancel()


def _get_outcome(function: Callable[[Item], Outcome], chunk: Item, future: Future[list[tuple[Any] | None]]) -> Outcome:
    try:
        (outcome,) = future.result()
    except RuntimeError:  # the function has failed, so call it again below to raise its own error
        outcome = None
    return function(chunk) if outcome is None else outcome[0]


def _run_calls(calls: Sequence[Callable[[], Any]], _: BeginItem) -> list[tuple[Any] | None]:
    return [(call(),) for call in calls]


def _call_pickled(pickled_function: bytes, chunk: Any) -> Any:
    return _unpickle(pickled_function)(chunk)


@lru_cache(maxsize=1)
def _unpickle(pickled_function: bytes) -> Callable[[Any], Any]:
    """Return the function. It is unpickled once per process, because it may open a store."""
    function: Callable[[Any], Any] = pickle.loads(pickled_function)  # noqa: S301 - the data is from our own process
    return function


def _return_no_outcome(_call: Callable[[], Any], _reason: str) -> None:
    return None
