"""Work in other processes that may crash or hang without taking the run with them.

Each process is looked after by a thread of this one. A process says which item it begins; if it dies, or is silent for
too long, that item is lost, a new process takes its place, and the rest of the chunk goes on. The processes end when
this one does, also when it is killed: the pipe that they wait on is then closed.
"""

from __future__ import annotations

import queue
import signal
import threading
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any, Generic, TypeVar

from simdoc_search.errors import SimdocError
from simdoc_search.interrupts import interrupts_blocked

__all__ = ["Begin", "WorkerPool"]

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")

Begin = Callable[[int | None], None]
"""What work calls with the number of the item that it begins to read, and with None when all are read."""

Work = Callable[[Sequence[Item], Begin], list[Outcome]]

_spawn = get_context("spawn")  # the same on every system, and safe beside the threads of tantivy


class WorkerPool(Generic[Item, Outcome]):
    """Processes that turn chunks of items into outcomes.

    Args:
        count: number of processes.
        work: what they do; picklable. It gives one outcome per item, in order.
        lost: the outcome of an item that ended its process, from the item and the reason.
        item_timeout: seconds that reading one item may take.
    """

    def __init__(
        self, count: int, work: Work[Item, Outcome], lost: Callable[[Item, str], Outcome], item_timeout: float
    ) -> None:
        self._lost = lost
        self._workers = [_Worker(work, item_timeout) for _ in range(count)]
        self._idle: queue.SimpleQueue[_Worker] = queue.SimpleQueue()
        for worker in self._workers:
            self._idle.put(worker)
        self._threads = ThreadPoolExecutor(count, "simdoc-worker")

    def submit(self, items: Sequence[Item]) -> Future[list[Outcome]]:
        """Begin with a chunk; its outcomes come in the order of its items."""
        return self._threads.submit(self._run, items)

    def close(self) -> None:
        """End the processes, also those at work."""
        for worker in self._workers:
            worker.close()
        self._threads.shutdown(wait=True, cancel_futures=True)

    def _run(self, items: Sequence[Item]) -> list[Outcome]:
        worker = self._idle.get()
        outcomes: dict[int, Outcome] = {}
        left = list(range(len(items)))
        suspects: set[int | None] = set()  # where a process died once; it may have been killed from outside
        try:
            while left:
                end = worker.run([items[number] for number in left])
                if end.outcomes is not None:
                    outcomes.update(zip(left, end.outcomes, strict=True))
                    break
                suspect = None if end.at is None else left[end.at]
                if suspect is not None and (end.hung or suspect in suspects):
                    left.remove(suspect)
                    outcomes[suspect] = self._lost(items[suspect], end.reason)
                elif suspect in suspects:
                    raise SimdocError(
                        f"a worker process {end.reason} twice; if memory ran out use fewer workers, and if a script "
                        'started it put its main part under if __name__ == "__main__":'
                    )
                suspects.add(suspect)
        finally:
            self._idle.put(worker)
        return [outcomes[number] for number in range(len(items))]


@dataclass
class _End:
    """How a chunk ended: with outcomes, or at an item whose reader died or hung (None: at no item)."""

    outcomes: list[Any] | None = None
    at: int | None = None
    hung: bool = False
    reason: str = ""


class _Worker:
    """One process, and the next one when it is gone."""

    def __init__(self, work: Work[Any, Any], item_timeout: float) -> None:
        self._work = work
        self._item_timeout = item_timeout
        self._closed = False
        self._changing = threading.Lock()  # held while a process is started or ended
        self._start()

    def _start(self) -> None:
        self._connection, theirs = _spawn.Pipe()
        process = _spawn.Process(target=_serve, args=(theirs, self._work), daemon=True)
        with interrupts_blocked():
            process.start()
        self._process = process
        theirs.close()

    def run(self, items: Sequence[Any]) -> _End:
        """Give the process a chunk and wait for its end."""
        end = _End()
        try:
            self._connection.send(items)
            while self._connection.poll(None if end.at is None else self._item_timeout):
                kind, value = self._connection.recv()
                if kind == "done":
                    return _End(outcomes=value)
                if kind == "failed":
                    raise value
                end.at = value
            end.hung = True
            end.reason = f"took longer than {self._item_timeout:g} s to read"
        except (EOFError, ConnectionError):
            self._process.join(1)
            end.reason = f"ended unexpectedly (exit code {self._process.exitcode})"
        self._restart()
        return end

    def _restart(self) -> None:
        with self._changing:
            self._process.kill()
            self._process.join()
            self._connection.close()
            if self._closed:
                raise SimdocError("the workers are closed")
            self._start()

    def close(self) -> None:
        """End the process; a thread that waits for it stops waiting."""
        with self._changing:
            self._closed = True
            self._process.kill()
            self._process.join()


def _portable(error: Exception) -> Exception:
    """An error that the parent can raise again; others' may not pickle."""
    if isinstance(error, SimdocError):
        return error
    return RuntimeError("".join(traceback.format_exception(error)))


def _serve(connection: Connection[Any, Any], work: Work[Any, Any]) -> None:
    """What a process does until its parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        while True:
            items = connection.recv()
            try:
                connection.send(("done", work(items, lambda number: connection.send(("at", number)))))
            except (EOFError, ConnectionError):
                raise
            except Exception as error:
                connection.send(("failed", _portable(error)))
    except (EOFError, OSError):
        return
