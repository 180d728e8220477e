"""Maps items to outcomes in several worker processes. An item that crashes or hangs does not affect the other items.

Each worker process has a thread in this process. If a worker process ends, another one replaces it and processes the
other items of the chunk. When this process ends, its worker processes end, too, even if this process is killed.
"""

from __future__ import annotations

import queue
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing
from itertools import islice
from typing import Any, Generic, TypeVar

from simdoc_search.errors import DocumentError
from simdoc_search.workers.process import BeginItem, ItemLimits, ProcessEndedError, Work, WorkerProcess

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")

_VALUES_PER_BATCH = 256


class WorkerPool(Generic[Item, Outcome]):
    """Worker processes that map chunks of items to outcomes.

    Args:
        count: number of processes.
        work: processes the items in a subprocess.
        make_failed_outcome: returns the outcome of an item that crashed its process or exceeded a limit. It is called
            with the item and the reason.
        limits: limits for each item.
    """

    def __init__(
        self,
        count: int,
        work: Work[Item, Outcome],
        make_failed_outcome: Callable[[Item, str], Outcome],
        limits: ItemLimits,
    ) -> None:
        self._make_failed_outcome = make_failed_outcome
        self._idle: queue.SimpleQueue[WorkerProcess[Item, Outcome]] = queue.SimpleQueue()
        self._threads = ThreadPoolExecutor(count, "simdoc-worker")
        self._resources = ExitStack()
        self._resources.callback(self._threads.shutdown, wait=True, cancel_futures=True)
        try:
            for _ in range(count):
                self._idle.put(self._resources.enter_context(closing(WorkerProcess(work, limits))))
        except BaseException:
            self.close()
            raise

    def submit(self, items: Sequence[Item]) -> Future[list[Outcome]]:
        """Process a chunk in the background. The outcomes have the order of the items."""
        return self._threads.submit(self._run, items)

    def close(self) -> None:
        """End the processes, even if they are working."""
        self._resources.close()

    def _run(self, items: Sequence[Item]) -> list[Outcome]:
        process = self._idle.get()
        outcomes: dict[int, Outcome] = {}
        groups = [list(range(len(items)))]  # indices of items to process together; the last group is processed next
        try:
            while groups:
                group = groups.pop()
                try:
                    outcomes.update(zip(group, process.run([items[index] for index in group]), strict=True))
                except ProcessEndedError as end:
                    if end.is_timeout or (len(group) == 1 and end.is_first_run):
                        suspect = group.pop(end.item_index or 0)
                        outcomes[suspect] = self._make_failed_outcome(items[suspect], end.reason)
                        groups += [group] if group else []
                    elif end.item_index is not None:
                        # Retry the item alone in a new process, because other items may have used up the memory.
                        suspect = group.pop(end.item_index)
                        groups += [group, [suspect]] if group else [[suspect]]
                    else:
                        groups += ([index] for index in group)
            return [outcomes[index] for index in range(len(items))]
        finally:
            self._idle.put(process)


def iterate_in_subprocess(
    make_iterator: Callable[..., Iterator[Outcome]],
    *arguments: Any,
    limits: ItemLimits | None = None,
    batch_size: int = _VALUES_PER_BATCH,
) -> Generator[Outcome, None, None]:
    """Run an iterator in a subprocess, and yield its values.

    Args:
        make_iterator: returns the iterator. The function, its arguments and the values must be picklable.
        arguments: arguments of `make_iterator`.
        limits: limits for each batch of values.
        batch_size: number of values per batch.

    Raises:
        DocumentError: the process crashed or exceeded a limit. The message is the reason in a few words.
        SimdocError: the iterator raised it.
    """
    work: Work[int, Outcome] = _NextValuesReader(make_iterator, arguments)
    with closing(WorkerProcess(work, limits or ItemLimits())) as process:
        try:
            while values := process.run(range(batch_size)):
                yield from values
        except ProcessEndedError as end:
            raise DocumentError(end.reason) from None


class _NextValuesReader(Generic[Outcome]):
    """Work that returns the next values of an iterator."""

    def __init__(self, make_iterator: Callable[..., Iterator[Outcome]], arguments: Sequence[Any]) -> None:
        self._make_iterator, self._arguments = make_iterator, arguments
        self._values: Iterator[Outcome] | None = None

    def __call__(self, items: Sequence[int], begin_item: BeginItem) -> list[Outcome]:
        begin_item(0)
        if self._values is None:
            self._values = iter(self._make_iterator(*self._arguments))
        return list(islice(self._values, len(items)))
