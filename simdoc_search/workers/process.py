"""One process that works for this one: how it is started, watched and ended.

It is started by ourselves and not by `multiprocessing`, whose processes import what lies in the working directory, that
is in the folder that is indexed; and run the main script once more.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from io import FileIO
from pathlib import Path
from typing import Generic, Protocol, TypeVar, cast

from simdoc_search.errors import SimdocError
from simdoc_search.workers.limits import Limits
from simdoc_search.workers.memory import memory_of
from simdoc_search.workers.messages import OUT_OF_MEMORY, receive, send

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")

ALL_MEMORY = "all memory"
"""The limit of a process that the system gave no more memory."""


class Begin(Protocol):
    """What work calls with the number of the item that it begins to read, and with None when all are read.

    The item may take a share of the time limit, 0..1.
    """

    def __call__(self, number: int | None, share: float = 1.0, /) -> None:
        """Say it."""


Work = Callable[[Sequence[Item], Begin], list[Outcome]]

_LOOK_SECONDS = 0.05  # in which memory of 2 GB a second grows by 100 MB

# Without -P, before Python 3.11, the first place is '', where the user stands; nothing is imported before it is gone.
_START = """\
import sys
given = sys.argv[1:]
sys.path[:] = given + [each for each in sys.path if each and each not in given]
try:
    from simdoc_search.workers.child import main
    main()
except MemoryError:
    sys.exit(%d)
"""


@dataclass(frozen=True, slots=True)
class End(Generic[Outcome]):
    """How some items ended: with outcomes, or with the process.

    Attributes:
        outcomes: one per item; None if the process ended.
        at: the number of the item that it was reading then; None: at no item.
        ready: whether it had begun to work at all.
        limit: the limit that was passed, "seconds" or "memory", for which it was ended; or `ALL_MEMORY`.
        reason: why it ended, in a few words.
    """

    outcomes: list[Outcome] | None = None
    at: int | None = None
    ready: bool = True
    limit: str = ""
    reason: str = ""


class Process(Generic[Item, Outcome]):
    """One process, and the next one when it is gone.

    Args:
        work: what it does; picklable. It gives one outcome per item, in order.
        limits: what one item may cost.
    """

    def __init__(self, work: Work[Item, Outcome], limits: Limits) -> None:
        self._work = work
        self._limits = limits
        self._closed = threading.Event()
        self._changing = threading.Lock()  # held while a process is started, judged or ended
        self._doing: tuple[int | None, float] | None = None  # the number of its item, and since when
        self._seconds = limits.seconds  # for that item
        self._verdict: End[Outcome] | None = None  # why it was ended
        self._start()

    def run(self, items: Sequence[Item]) -> End[Outcome]:
        """Give the process some items and wait for their end; if it ends instead, there is a new one afterwards.

        Raises:
            SimdocError: the processes are closed, or the work raised it.
            RuntimeError: the work raised another error.
        """
        with self._changing:
            if self._closed.is_set():
                raise SimdocError("the workers are closed")
            if self._verdict is not None:  # it was ended in the moment in which it was done
                self._replace()
            self._doing = None, time.monotonic()
        try:
            send(self._requests, items)
            while True:
                kind, value = receive(self._answers)
                if kind == "done":
                    return End(outcomes=value)
                if kind == "failed":
                    raise value
                if kind == "ready":
                    self._ready = True
                else:
                    number, share = value
                    self._doing, self._seconds = (number, time.monotonic()), share * self._limits.seconds
        except (EOFError, OSError):
            with self._changing:
                return self._replace()
        finally:
            with self._changing:
                self._doing = None
                if self._closed.is_set():
                    self._shut()

    def look(self) -> None:
        """End the process if its item has cost too much."""
        with self._changing:
            if self._doing is None or self._verdict is not None:
                return
            (at, since), limits = self._doing, self._limits
            if at is not None and time.monotonic() - since > self._seconds:
                self._verdict = End(at=at, limit="seconds", reason=f"took longer than {self._seconds:.3g} s to read")
            elif memory_of(self._process.pid) > limits.memory:
                megabytes = f"{limits.memory / 1e6:,.0f} MB"
                self._verdict = End(at=at, limit="memory", reason=f"needed more memory than {megabytes} to read")
            else:
                return
            self._process.kill()

    def close(self) -> None:
        """End the process; a thread that waits for it stops waiting."""
        with self._changing:
            self._closed.set()
            self._process.kill()
            self._process.wait()
            if self._doing is None:
                self._shut()

    def _start(self) -> None:
        with _interrupts_blocked():
            self._process = subprocess.Popen(  # noqa: S603 - our own command
                _command(),
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),  # Windows: Ctrl-C passes it by
            )
        self._requests, self._answers = cast(FileIO, self._process.stdin), cast(FileIO, self._process.stdout)
        self._ready = False
        self._verdict = None
        with suppress(ConnectionError):  # it is gone already, which is noticed when it gets items
            send(self._requests, self._work)

    def _replace(self) -> End[Outcome]:
        """How the process ended; and a new one."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(1)
        at, _ = self._doing or (None, 0)
        end = self._verdict or self._ended(at)
        end = replace(end, ready=self._ready)
        self._process.kill()
        self._process.wait()
        self._shut()
        if self._closed.is_set():
            raise SimdocError("the workers are closed")
        self._doing = None
        self._start()
        return end

    def _ended(self, at: int | None) -> End[Outcome]:
        status = self._process.returncode
        if status == OUT_OF_MEMORY:
            return End(at=at, limit=ALL_MEMORY, reason="ran out of memory")
        return End(at=at, reason=f"ended unexpectedly (exit code {status})")

    def _shut(self) -> None:
        self._requests.close()
        self._answers.close()


@contextmanager
def started(count: int, work: Work[Item, Outcome], limits: Limits) -> Iterator[list[Process[Item, Outcome]]]:
    """Processes that are watched during the block, and ended after it."""
    processes: list[Process[Item, Outcome]] = []
    done = threading.Event()

    def watch() -> None:
        while not done.wait(_LOOK_SECONDS):
            for each in processes:
                each.look()

    watcher = threading.Thread(target=watch, name="simdoc-watch", daemon=True)
    try:
        processes += (Process(work, limits) for _ in range(count))
        watcher.start()
        yield processes
    finally:
        done.set()
        if watcher.is_alive():
            watcher.join()
        for each in processes:
            each.close()


def _command() -> list[str]:
    if not sys.executable:
        raise SimdocError("this program cannot start worker processes, as it does not know its Python; use one worker")
    flags: list[str] = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined] # as multiprocessing does
    safe = ["-P"] if sys.version_info >= (3, 11) else []
    return [sys.executable, *flags, *safe, "-c", _START % OUT_OF_MEMORY, *_import_path()]


def _import_path() -> list[str]:
    """Where this process imports from; where its user stands only if this package lies there, or PYTHONPATH says so."""
    home = str(Path(__file__).parents[2])
    named = "" if sys.flags.ignore_environment else os.environ.get("PYTHONPATH", "")
    meant = {home, *filter(None, named.split(os.pathsep))}
    try:
        here = Path.cwd().resolve()
    except OSError:  # it was removed
        here = None
    safe = [each for each in sys.path if Path(each).is_absolute() and (each in meant or Path(each).resolve() != here)]
    return safe if home in safe else [*safe, home]


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """A process that starts meanwhile never hears Ctrl-C, which is its parent's business."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
