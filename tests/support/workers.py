"""Lists the worker processes of this process."""

from __future__ import annotations

import time

import psutil  # type: ignore[import-untyped]

__all__ = ["worker_processes"]


def worker_processes() -> list[psutil.Process]:
    """Return the running worker processes. An engine that the tests started is not among them."""
    return [process for process in psutil.Process().children() if "simdoc_search.workers" in _command_line(process)]


def _command_line(process: psutil.Process) -> str:
    """Return the command line. It is empty for a moment after the process has started."""
    while not (arguments := process.cmdline()) and process.status() != psutil.STATUS_ZOMBIE:
        time.sleep(0.001)
    return " ".join(arguments)
