"""Work in other processes that may crash or hang without taking the run with them.

Each process is looked after by a thread of this one. A process says which item it begins; if it dies, is silent for too
long or takes too much memory, that item is lost, a new process takes its place, and the rest of the chunk goes on. The
processes end when this one does, also when it is killed: the pipe that they listen to is then closed.
"""

from __future__ import annotations

import queue
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from typing import Generic, TypeVar

from simdoc_search.errors import SimdocError
from simdoc_search.workers.limits import Limits
from simdoc_search.workers.process import End, Process, Work, started

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")


class WorkerPool(Generic[Item, Outcome]):
    """Processes that turn chunks of items into outcomes.

    Args:
        count: number of processes.
        work: what they do; picklable. It gives one outcome per item, in order.
        lost: the outcome of an item that ended its process, from the item and the reason.
        limits: what one item may cost.
    """

    def __init__(
        self, count: int, work: Work[Item, Outcome], lost: Callable[[Item, str], Outcome], limits: Limits
    ) -> None:
        self._lost = lost
        self._idle: queue.SimpleQueue[Process[Item, Outcome]] = queue.SimpleQueue()
        self._threads = ThreadPoolExecutor(count, "simdoc-worker")
        self._open = ExitStack()
        self._open.callback(self._threads.shutdown, wait=True, cancel_futures=True)
        for each in self._open.enter_context(started(count, work, limits)):
            self._idle.put(each)

    def submit(self, items: Sequence[Item]) -> Future[list[Outcome]]:
        """Begin with a chunk; its outcomes come in the order of its items."""
        return self._threads.submit(self._run, items)

    def close(self) -> None:
        """End the processes, also those at work."""
        self._open.close()

    def _run(self, items: Sequence[Item]) -> list[Outcome]:
        process = self._idle.get()
        try:
            chunk = _Chunk(items, self._lost)
            while chunk.groups:
                chunk.note(group := chunk.groups.pop(), process.run([items[number] for number in group]))
            return [chunk.outcomes[number] for number in range(len(items))]
        finally:
            self._idle.put(process)


class _Chunk(Generic[Item, Outcome]):
    """What is done of a chunk, and the groups of its items that are still to be done, the last one first."""

    def __init__(self, items: Sequence[Item], lost: Callable[[Item, str], Outcome]) -> None:
        self._items, self._lost = items, lost
        self._suspects: set[int] = set()  # where a process died once: it may have been killed from outside
        self._died_at_none = False
        self.outcomes: dict[int, Outcome] = {}
        self.groups = [list(range(len(items)))]

    def note(self, group: list[int], end: End[Outcome]) -> None:
        """Go by how a group ended.

        Raises:
            SimdocError: a process died twice, and at no item.
        """
        if end.outcomes is not None:
            self.outcomes.update(zip(group, end.outcomes, strict=True))
        elif not end.ready or (end.at is None and not end.limit):
            if self._died_at_none:
                raise SimdocError(
                    f"a worker process {end.reason} twice; if it had too little memory, allow more or use fewer workers"
                )
            self._died_at_none = True
            self.groups.append(group)
        elif end.at is None and len(group) > 1:  # all of them together were too much, or one of them
            self.groups += [[number] for number in group]
        else:
            self._blame(group.pop(end.at or 0), end)
            if group:
                self.groups.insert(0, group)

    def _blame(self, suspect: int, end: End[Outcome]) -> None:
        """The item is lost; or, the first time, done alone, and next, by a process that holds nothing of others."""
        if end.limit == "seconds" or suspect in self._suspects:
            self.outcomes[suspect] = self._lost(self._items[suspect], end.reason)
        else:
            self._suspects.add(suspect)
            self.groups.append([suspect])
