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
from typing import Any, BinaryIO, Generic, Protocol, TypeVar, cast

from simdoc_search.errors import SimdocError
from simdoc_search.workers.memory import read_machine_memory, read_process_memory

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")

DEFAULT_ITEM_SECONDS = 120.0

OUT_OF_MEMORY_STATUS = 86
"""Exit status of a worker process that cannot get more memory."""

_WATCH_INTERVAL_SECONDS = 0.05  # a process that allocates 2 GB per second allocates 100 MB in this time
_MIN_MEMORY_BYTES, _MAX_MEMORY_BYTES = 1_000_000_000, 4_000_000_000  # processing a text of 50 MB takes 0.7 GB

# Python 3.10 does not have the option -P. So this code removes '', the current directory, from sys.path.
_START_CODE = """\
import sys
paths = sys.argv[1:]
sys.path[:] = paths + [path for path in sys.path if path and path not in paths]
try:
    from simdoc_search.workers.child import main
    main()
except MemoryError:
    sys.exit(%d)
"""


def memory_per_worker(workers: int) -> int:
    """Return the memory limit of each worker, in bytes.

    Half of the machine's memory is divided among the workers. Each worker gets 1 to 4 GB, but never more than half of
    the machine's memory.
    """
    machine = read_machine_memory()
    if machine is None:
        return _MIN_MEMORY_BYTES
    return min(max(machine // 2 // workers, _MIN_MEMORY_BYTES), _MAX_MEMORY_BYTES, machine // 2)


@dataclass(frozen=True, slots=True)
class ItemLimits:
    """The limits for one item. If the item exceeds a limit, the worker process is killed.

    Attributes:
        seconds: maximum time to process the item.
        memory_bytes: maximum resident memory of the process. Address space (`RLIMIT_AS`) is not limited, because
            numpy and document readers reserve gigabytes that they never touch. Without `/proc`, the memory is only
            limited if the package psutil is installed.
    """

    seconds: float = DEFAULT_ITEM_SECONDS
    memory_bytes: int = field(default_factory=lambda: memory_per_worker(1))


class BeginItem(Protocol):
    """A callback. The `Work` function calls it before each item, and with None after the last item."""

    def __call__(self, index: int | None, share: float = 1.0, /) -> None:
        """Report the index of the item. The item may take this share, 0 to 1, of the time limit."""


Work = Callable[[Sequence[Item], BeginItem], list[Outcome]]
"""A picklable function that returns one outcome per item, in order."""


class ProcessEndedError(Exception):
    """The worker process crashed or exceeded a limit.

    Attributes:
        reason: why the process ended, in a few words.
        item_index: index of the item that the process was working on; None if there was none.
        is_timeout: whether the item exceeded the time limit.
        is_first_run: whether the process failed in its first run, before it had returned any outcomes.
    """

    def __init__(self, reason: str, item_index: int | None, *, is_timeout: bool, is_first_run: bool) -> None:
        super().__init__(reason)
        self.reason: str = reason
        self.item_index: int | None = item_index
        self.is_timeout: bool = is_timeout
        self.is_first_run: bool = is_first_run


class WorkerProcess(Generic[Item, Outcome]):
    """A worker process. When it ends, another one is started for the next items.

    Args:
        work: processes the items.
        limits: limits for each item.
    """

    def __init__(self, work: Work[Item, Outcome], limits: ItemLimits) -> None:
        self._work, self._limits = work, limits
        self._lock = threading.Lock()  # held while the process is started or ended
        self._closed = threading.Event()
        self._is_working = False
        self._process = self._start()
        try:
            threading.Thread(target=self._watch, name="simdoc-watch", daemon=True).start()
        except BaseException:
            self.close()
            raise

    def run(self, items: Sequence[Item]) -> list[Outcome]:
        """Process items, and return their outcomes.

        Raises:
            ProcessEndedError: the process crashed or exceeded a limit.
            SimdocError: the work raised this error, the process could not be started, or it is closed.
            RuntimeError: the work raised another error.
        """
        with self._lock:
            self._check_open()
            if self._process.has_ended():  # a process may end after it has returned its last outcome
                self._process.stop()
                self._process = self._start()
            self._process.item_index, self._process.deadline = None, None
            self._is_working = True
        try:
            kind, value = self._exchange(items)
        except (EOFError, OSError, ValueError, pickle.UnpicklingError):
            with self._lock:
                raise self._restart() from None
        finally:
            with self._lock:
                self._is_working = False
        self._process.is_first_run = False
        if kind == "failed":
            raise value
        outcomes: list[Outcome] = value
        return outcomes

    def close(self) -> None:
        """End the process. A thread that waits for its outcomes stops waiting."""
        self._closed.set()
        with self._lock:
            self._process.stop()

    def _exchange(self, items: Sequence[Item]) -> tuple[str, Any]:
        """Send items, record the progress of the process, and return its last message."""
        process = self._process
        process.send(items)
        while True:
            kind, value = process.receive()
            if kind == "ready":
                process.is_ready = True
            elif kind == "item":
                process.item_index, share = value
                process.seconds = share * self._limits.seconds
                process.deadline = None if process.item_index is None else time.monotonic() + process.seconds
            else:
                return kind, value

    def _watch(self) -> None:
        """Kill the process when its item exceeds a limit."""
        while not self._closed.wait(_WATCH_INTERVAL_SECONDS):
            with self._lock:
                process = self._process
                if not self._is_working or process.kill_reason:
                    continue
                deadline = process.deadline  # another thread may set it to None
                if deadline is not None and time.monotonic() > deadline:
                    process.is_timeout = True
                    process.kill_reason = f"took longer than {process.seconds:.3g} s to read"
                elif read_process_memory(process.popen.pid) > self._limits.memory_bytes:
                    process.kill_reason = f"needed more memory than {self._limits.memory_bytes / 1e6:,.0f} MB to read"
                else:
                    continue
                process.popen.kill()

    def _start(self) -> _Process:
        process = _Process()
        with suppress(OSError):  # the process has ended already; `run` notices this
            process.send(self._work)
        return process

    def _restart(self) -> Exception:
        """Start another process, and return an error with the reason why the last one ended."""
        self._check_open()
        process = self._process
        with suppress(subprocess.TimeoutExpired):
            process.popen.wait(1)
        process.stop()
        status = process.popen.returncode
        reason = "ran out of memory" if status == OUT_OF_MEMORY_STATUS else f"ended unexpectedly (exit code {status})"
        reason = process.kill_reason or reason
        if not process.is_ready:
            return SimdocError(f"a worker process {reason} when it started; if memory is short, use fewer workers")
        self._process = self._start()
        return ProcessEndedError(
            reason, process.item_index, is_timeout=process.is_timeout, is_first_run=process.is_first_run
        )

    def _check_open(self) -> None:
        if self._closed.is_set():
            raise SimdocError("the worker processes are closed; create a new pool")


class _Process:
    """A process of the operating system, and its state.

    Attributes:
        is_ready: whether the process has started and received its work.
        is_first_run: whether the process has not returned any outcomes yet.
        item_index: index of the item that the process is working on; None if there is none.
        deadline: time by which the item must be done, on the clock of `time.monotonic`; None if there is no item.
        seconds: time limit of the item.
        kill_reason: why the process was killed, in a few words; empty if it was not killed.
        is_timeout: whether the process was killed because of the time limit.
    """

    def __init__(self) -> None:
        self.is_ready, self.is_first_run, self.is_timeout = False, True, False
        self.item_index: int | None = None
        self.deadline: float | None = None
        self.seconds, self.kill_reason = 0.0, ""
        self.popen = subprocess.Popen(  # noqa: S603 - the command is our own
            _make_command(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # only the parent must receive Ctrl-C. On Windows, `creationflags` ensures this
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )
        self._pipes = cast("tuple[BinaryIO, BinaryIO]", (self.popen.stdin, self.popen.stdout))

    def send(self, value: object) -> None:
        self._pipes[0].write(pickle.dumps(value, pickle.HIGHEST_PROTOCOL))
        self._pipes[0].flush()

    def receive(self) -> Any:
        return pickle.load(self._pipes[1])  # noqa: S301 - the data is from our own process

    def has_ended(self) -> bool:
        return bool(self.kill_reason) or self.popen.poll() is not None

    def stop(self) -> None:
        self.popen.kill()
        self.popen.wait()
        for pipe in self._pipes:
            with suppress(OSError):  # closing may fail, because the buffer may contain data that cannot be sent
                pipe.close()


def _make_command() -> list[str]:
    if not sys.executable:
        raise SimdocError("cannot start worker processes, because Python's executable is unknown; use one worker")
    flags: list[str] = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined] # multiprocessing uses it too
    safe = ["-P"] if sys.version_info >= (3, 11) else []
    return [sys.executable, *flags, *safe, "-c", _START_CODE % OUT_OF_MEMORY_STATUS, *_find_import_paths()]


def _find_import_paths() -> list[str]:
    """Return the folders that this process imports from.

    The current directory is only included if it contains this package or is in PYTHONPATH.
    """
    package_parent = str(Path(__file__).parents[2])
    variable = "" if sys.flags.ignore_environment else os.environ.get("PYTHONPATH", "")
    allowed = {package_parent, *filter(None, variable.split(os.pathsep))}
    try:
        current = Path.cwd().resolve()
    except OSError:  # the current directory was removed
        current = None
    safe = [
        path for path in sys.path if Path(path).is_absolute() and (path in allowed or Path(path).resolve() != current)
    ]
    return safe if package_parent in safe else [*safe, package_parent]
