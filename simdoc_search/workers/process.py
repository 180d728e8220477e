"""Runs work in a subprocess that may crash, hang or run out of memory.

We do not use `multiprocessing`. It imports modules from the current directory, which may be the folder being indexed,
and runs the main script again.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from simdoc_search.errors import SimdocError
from simdoc_search.workers.memory import machine_memory, memory_of

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")

ITEM_SECONDS = 120.0

OUT_OF_MEMORY = 86
"""Exit status of a worker process that cannot get more memory."""

_WATCH_SECONDS = 0.05  # memory that grows by 2 GB a second grows by 100 MB in that time
_MIN_MEMORY, _MAX_MEMORY = 1_000_000_000, 4_000_000_000  # a text of 50 MB needs 0.7 GB

# Before Python 3.11 there is no -P, and sys.path begins with '', the current directory.
_START = """\
import sys
given = sys.argv[1:]
sys.path[:] = given + [path for path in sys.path if path and path not in given]
try:
    from simdoc_search.workers.child import main
    main()
except MemoryError:
    sys.exit(%d)
"""


def fair_memory(workers: int) -> int:
    """Return the memory limit of each of some workers, in bytes.

    Together they get half of the machine's memory. Each gets 1 to 4 GB, but never more than that half.
    """
    machine = machine_memory()
    if machine is None:
        return _MIN_MEMORY
    return min(max(machine // 2 // workers, _MIN_MEMORY), _MAX_MEMORY, machine // 2)


@dataclass(frozen=True, slots=True)
class ItemLimits:
    """What one item may use before its process is ended.

    Attributes:
        seconds: time to read it.
        memory: resident memory of its process in bytes. Address space (`RLIMIT_AS`) does not count, because numpy and
            document readers reserve gigabytes that they never touch. Without `/proc`, this needs the package psutil.
    """

    seconds: float = ITEM_SECONDS
    memory: int = field(default_factory=lambda: fair_memory(1))


class BeginItem(Protocol):
    """Reports the number of the item that work begins to read, or None when it has read all items."""

    def __call__(self, number: int | None, share: float = 1.0, /) -> None:
        """Report an item that may take this share, 0 to 1, of the time limit."""


Work = Callable[[Sequence[Item], BeginItem], list[Outcome]]
"""Returns one outcome per item, in order. It must be picklable."""


class ProcessEndedError(Exception):
    """The worker process crashed or exceeded a limit.

    Attributes:
        reason: why it ended, in a few words.
        item: number of the item that it was reading; None if it was not reading one.
        is_timeout: whether the item took too long.
        was_fresh: whether the process had worked on no other items before.
    """

    def __init__(self, reason: str, item: int | None, *, is_timeout: bool, was_fresh: bool) -> None:
        super().__init__(reason)
        self.reason, self.item, self.is_timeout, self.was_fresh = reason, item, is_timeout, was_fresh


class WorkerProcess(Generic[Item, Outcome]):
    """A worker process. When it ends, another one is started for the next items.

    Args:
        work: the work.
        limits: limits of one item.
    """

    def __init__(self, work: Work[Item, Outcome], limits: ItemLimits) -> None:
        self._work, self._limits = work, limits
        self._lock = threading.Lock()  # held while the process is started or ended
        self._closed = threading.Event()
        self._is_working = False
        self._start()
        try:
            threading.Thread(target=self._watch, name="simdoc-watch", daemon=True).start()
        except BaseException:
            self.close()
            raise

    def run(self, items: Sequence[Item]) -> list[Outcome]:
        """Work on some items, and return their outcomes.

        Raises:
            ProcessEndedError: the process crashed or exceeded a limit.
            SimdocError: the work raised it, the process could not be started, or it is closed.
            RuntimeError: the work raised another error.
        """
        with self._lock:
            self._check_open()
            if self._killed_for or self._process.poll() is not None:  # it ended after its last outcome
                self._restart()
            self._item, self._deadline = None, None
            self._is_working = True
        try:
            kind, value = self._exchange(items)
        except (EOFError, OSError, ValueError, pickle.UnpicklingError):
            with self._lock:
                raise self._ended() from None
        finally:
            with self._lock:
                self._is_working = False
        self._is_fresh = False
        if kind == "failed":
            raise value
        outcomes: list[Outcome] = value
        return outcomes

    def close(self) -> None:
        """End the process. A thread that waits for its outcomes stops waiting."""
        self._closed.set()
        with self._lock:
            self._stop()

    def _exchange(self, items: Sequence[Item]) -> tuple[str, Any]:
        """Send items, follow the progress of the process, and return its last answer."""
        self._send(items)
        while True:
            kind, value = pickle.load(self._process.stdout)  # type: ignore[arg-type] # noqa: S301 - our own process
            if kind == "ready":
                self._is_ready = True
            elif kind == "item":
                self._item, share = value
                self._seconds = share * self._limits.seconds
                self._deadline = None if self._item is None else time.monotonic() + self._seconds
            else:
                return kind, value

    def _watch(self) -> None:
        """Kill the process when its item exceeds a limit."""
        while not self._closed.wait(_WATCH_SECONDS):
            with self._lock:
                if not self._is_working or self._killed_for:
                    continue
                if self._deadline is not None and time.monotonic() > self._deadline:
                    self._is_timeout = True
                    self._killed_for = f"took longer than {self._seconds:.3g} s to read"
                elif memory_of(self._process.pid) > self._limits.memory:
                    self._killed_for = f"needed more memory than {self._limits.memory / 1e6:,.0f} MB to read"
                else:
                    continue
                self._process.kill()

    def _start(self) -> None:
        self._is_ready, self._is_fresh = False, True
        self._killed_for, self._is_timeout = "", False
        self._item: int | None = None
        self._deadline: float | None = None
        self._process = subprocess.Popen(  # noqa: S603 - our own command
            _command(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C reaches the parent only; on Windows by the flags
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )
        with suppress(OSError):  # if it has ended already, `run` notices
            self._send(self._work)

    def _send(self, value: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(pickle.dumps(value, pickle.HIGHEST_PROTOCOL))
        self._process.stdin.flush()

    def _ended(self) -> Exception:
        """Start another process, and return the error that says why the last one ended."""
        self._check_open()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(1)
        status = self._process.returncode
        out_of_memory = "ran out of memory" if status == OUT_OF_MEMORY else ""
        reason = self._killed_for or out_of_memory or f"ended unexpectedly (exit code {status})"
        if not self._is_ready:
            self._stop()
            return SimdocError(
                f"a worker process {reason} when it started; if it had too little memory, allow more or use fewer workers"
            )
        error = ProcessEndedError(reason, self._item, is_timeout=self._is_timeout, was_fresh=self._is_fresh)
        self._restart()
        return error

    def _restart(self) -> None:
        self._stop()
        self._start()

    def _stop(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):  # what it was sent may still be in the buffer
                pipe.close()  # type: ignore[union-attr] # both are pipes

    def _check_open(self) -> None:
        if self._closed.is_set():
            raise SimdocError("the workers are closed")


def _command() -> list[str]:
    if not sys.executable:
        raise SimdocError("cannot start worker processes, because Python's executable is unknown; use one worker")
    flags: list[str] = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined] # as multiprocessing does
    safe = ["-P"] if sys.version_info >= (3, 11) else []
    return [sys.executable, *flags, *safe, "-c", _START % OUT_OF_MEMORY, *_import_path()]


def _import_path() -> list[str]:
    """Return the paths that this process imports from.

    The current directory is one of them only if it contains this package or is in PYTHONPATH.
    """
    home = str(Path(__file__).parents[2])
    variable = "" if sys.flags.ignore_environment else os.environ.get("PYTHONPATH", "")
    allowed = {home, *filter(None, variable.split(os.pathsep))}
    try:
        here = Path.cwd().resolve()
    except OSError:  # it was removed
        here = None
    safe = [path for path in sys.path if Path(path).is_absolute() and (path in allowed or Path(path).resolve() != here)]
    return safe if home in safe else [*safe, home]
