"""Runs commands in processes that start in milliseconds, because a server forks them after importing all modules."""

from __future__ import annotations

import multiprocessing
import multiprocessing.util
import os
import signal
import sys
import tempfile
import time
from pathlib import Path

from tests.support.cli import environment

__all__ = ["Running"]

MAX_SECONDS = 120

_folder, tempfile.tempdir = tempfile.tempdir, "/tmp"
multiprocessing.util.get_temp_dir()  # not in the folder of the tests, which is removed before the server ends
tempfile.tempdir = _folder

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["tests.support.preload"])


class Running:
    """A running command.

    Args:
        arguments: arguments of `simdoc-search`.
        folder: its working directory.
        log: the file for its stdout; stderr goes to the same path with `.err`.
        locks: whether folders can be locked, as on most file systems.
    """

    def __init__(self, arguments: list[str], folder: Path, log: Path, *, locks: bool = True) -> None:
        self.arguments = arguments
        self._logs = log, log.with_name(f"{log.name}.err")
        for path in self._logs:
            path.touch()
        self._process = _CONTEXT.Process(target=_run, args=(arguments, folder, self._logs, locks, environment()))
        self._process.start()

    def kill(self) -> None:
        """Kill the process."""
        self._process.kill()

    def killed_after(self, seconds: float) -> bool:
        """Kill the process after some seconds. Return whether it was still running."""
        self._process.join(seconds)
        if self._process.exitcode is not None:
            return False
        self.kill()
        self.wait()
        return True

    def pause(self, seconds: float) -> None:
        """Pause the process for some time."""
        pid = self._process.pid
        assert pid is not None
        try:
            os.kill(pid, signal.SIGSTOP)
            time.sleep(seconds)
            os.kill(pid, signal.SIGCONT)
        except ProcessLookupError:
            pass  # the process has ended

    def wait(self) -> int:
        """Wait for the exit status, which is negative if the process was killed."""
        self._process.join(MAX_SECONDS)
        code = self._process.exitcode
        if code is None:
            self.kill()
            raise AssertionError(f"{self.arguments} took more than {MAX_SECONDS} s")
        return code

    @property
    def out(self) -> str:
        """The stdout of the process."""
        return self._logs[0].read_text("utf-8", "replace")

    @property
    def err(self) -> str:
        """The stderr of the process."""
        return self._logs[1].read_text("utf-8", "replace")

    @property
    def output(self) -> str:
        """The stdout and stderr of the process."""
        return self.out + self.err


def _run(arguments: list[str], folder: Path, logs: tuple[Path, Path], locks: bool, variables: dict[str, str]) -> None:
    from simdoc_search.cli import main
    from simdoc_search.duplicates.plan import lock

    os.environ.clear()
    os.environ.update(variables)
    os.chdir(folder)
    for stream, log in enumerate(logs, 1):
        os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), stream)
    if not locks:
        lock.lock_file = lambda *_, **__: True
    sys.argv = ["simdoc-search", *arguments]
    main()
