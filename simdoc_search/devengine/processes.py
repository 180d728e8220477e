"""Starts and ends processes that outlive this one.

The processes run in a separate session, so Ctrl-C does not end them. Operating systems reuse process ids. Each process
therefore has a token among its arguments, which identifies it.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from simdoc_search.errors import MissingExtraError

POLL_SECONDS = 0.1
KILL_TIMEOUT_SECONDS = 10.0

_children: dict[int, subprocess.Popen[bytes]] = {}
"""The processes that this process launched, by id. Only the parent of a process can read its exit code."""


def launch_process(command: Sequence[str], folder: Path, environment: Mapping[str, str], log: Path) -> int:
    """Start a process in `folder` with its output in `log`, and return its id."""
    with log.open("wb") as output:
        child = subprocess.Popen(  # noqa: S603 - the command is our own
            command,
            cwd=folder,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    _children[child.pid] = child
    return child.pid


def is_running(pid: int, token: str) -> bool:
    """Return whether a process with this id and this token is running."""
    return _find_process(pid, token) is not None


def read_exit_code(pid: int) -> int | None:
    """Return the exit code of a process. Return None if it is running, or if another process launched it."""
    return _children[pid].poll() if pid in _children else None


def find_launched_pids(token: str) -> list[int]:
    """Return the ids of the processes that this process launched with this token."""
    return [pid for pid, child in _children.items() if token in child.args]  # type: ignore[operator]


def end_processes(pids: Iterable[int], token: str, grace: float) -> bool:
    """Terminate the processes that have this token. Kill the processes that still run after `grace` seconds.

    Returns:
        Whether all processes have ended.
    """
    processes = [process for pid in pids if (process := _find_process(pid, token)) is not None]
    for action, seconds in (("terminate", grace), ("kill", KILL_TIMEOUT_SECONDS)):
        if action == "terminate" and not grace:
            continue
        for process in processes:
            with suppress(_import_psutil().Error):  # the process has ended already
                getattr(process, action)()
        deadline = time.monotonic() + seconds
        while (
            processes := [process for process in processes if not _has_ended(process)]
        ) and time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)
    return not processes


def _find_process(pid: int, token: str) -> Any:
    psutil, child = _import_psutil(), _children.get(pid)
    if pid <= 0:
        return None
    try:
        process = psutil.Process(pid)
        if child is not None and child.poll() is None:  # psutil may not see the command line of a new process yet
            return process if token in child.args else None  # type: ignore[operator]
        if process.status() != psutil.STATUS_ZOMBIE and token in process.cmdline():
            return process
    except psutil.Error:
        pass
    return None


def _has_ended(process: Any) -> bool:
    """Return whether a process has ended, so that its ports and files are free.

    `_find_process` cannot tell: it misses a process that is still ending but has no command line any more.
    """
    if process.pid in _children:
        return read_exit_code(process.pid) is not None
    psutil = _import_psutil()
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def _import_psutil() -> Any:
    try:
        import psutil  # type: ignore[import-untyped]  # noqa: PLC0415 - an optional dependency, installed with jgo
    except ImportError as error:
        raise MissingExtraError("the engine", "engine") from error
    return psutil
