"""Commands in processes that start in milliseconds: each is forked off a server that has imported everything."""

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

SECONDS = 120
"""What no command may take."""

_folder, tempfile.tempdir = tempfile.tempdir, "/tmp"
multiprocessing.util.get_temp_dir()  # not in the folder of the tests, which is gone before the server ends
tempfile.tempdir = _folder

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["tests.support.preload"])


class Running:
    """A command that runs.

    Args:
        arguments: of `simdoc-search`.
        folder: the folder in which it runs.
        log: a file for what it writes to stdout and stderr.
        locks: whether folders can be locked, as on most file systems.
        values: of its environment.
    """

    def __init__(self, arguments: list[str], folder: Path, log: Path, *, locks: bool = True, **values: str) -> None:
        self.arguments, self._log = arguments, log
        log.touch()
        self._process = _CONTEXT.Process(target=_run, args=(arguments, folder, log, locks, environment(**values)))
        self._process.start()

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()

    def pause(self, seconds: float) -> None:
        """Stop it for some time."""
        pid = self._process.pid
        assert pid is not None
        try:
            os.kill(pid, signal.SIGSTOP)
            time.sleep(seconds)
            os.kill(pid, signal.SIGCONT)
        except ProcessLookupError:
            pass  # it has ended

    def wait(self) -> int:
        """Its exit status once it has ended; that of one that was killed is negative."""
        self._process.join(SECONDS)
        code = self._process.exitcode
        if code is None:
            self.kill()
            raise AssertionError(f"{self.arguments} took more than {SECONDS} s")
        return code

    @property
    def output(self) -> str:
        """What it wrote."""
        return self._log.read_text("utf-8", "replace")


def _run(arguments: list[str], folder: Path, log: Path, locks: bool, variables: dict[str, str]) -> None:
    from simdoc_search.cli import main
    from simdoc_search.duplicates.plan import lock

    os.environ.clear()
    os.environ.update(variables)
    os.chdir(folder)
    handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    for stream in (1, 2):
        os.dup2(handle, stream)
    if not locks:
        lock.lock_file = lambda *_, **__: True
    sys.argv = ["simdoc-search", *arguments]
    main()
