"""Processes that outlive this one. They run in their own session, and have a token as an argument."""

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
KILL_SECONDS = 10.0

_children: dict[int, subprocess.Popen[bytes]] = {}
"""The processes that this one launched. Only their parent can read their exit code."""


def launch(command: Sequence[str], folder: Path, environment: Mapping[str, str], log: Path) -> int:
    """Start a process whose output goes to a file, and return its id. Ctrl-C does not reach it."""
    with log.open("wb") as output:
        child = subprocess.Popen(  # noqa: S603 - our own command
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


def is_alive(pid: int, token: str) -> bool:
    """Return whether a process runs and has the token, as ids are reused."""
    return _find(pid, token) is not None


def exit_code(pid: int) -> int | None:
    """Return the exit code of a process; None if it runs, or another process launched it."""
    return _children[pid].poll() if pid in _children else None


def launched(token: str) -> list[int]:
    """Return the processes with a token that this process launched."""
    return [pid for pid, child in _children.items() if token in child.args]  # type: ignore[operator]


def end(pids: Iterable[int], token: str, grace: float) -> bool:
    """Ask processes to end, and kill them after `grace` seconds; return whether all are gone."""
    processes = [process for pid in pids if (process := _find(pid, token)) is not None]
    for action, seconds in (("terminate", grace), ("kill", KILL_SECONDS)):
        if action == "terminate" and not grace:
            continue
        for process in processes:
            with suppress(_psutil().Error):  # it has ended
                getattr(process, action)()
        deadline = time.monotonic() + seconds
        while (
            processes := [process for process in processes if not _is_gone(process)]
        ) and time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)
    return not processes


def _find(pid: int, token: str) -> Any:
    psutil, child = _psutil(), _children.get(pid)
    if pid <= 0:
        return None
    try:
        process = psutil.Process(pid)
        if child is not None and child.poll() is None:  # its command line may be empty at first
            return process if token in child.args else None  # type: ignore[operator]
        if process.status() != psutil.STATUS_ZOMBIE and token in process.cmdline():
            return process
    except psutil.Error:
        pass
    return None


def _is_gone(process: Any) -> bool:
    """Return whether a process has released its ports and files. It loses its command line before that."""
    if process.pid in _children:
        return exit_code(process.pid) is not None
    psutil = _psutil()
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def _psutil() -> Any:
    try:
        import psutil  # type: ignore[import-untyped]  # noqa: PLC0415 - comes with jgo, an extra
    except ImportError as error:
        raise MissingExtraError("the engine", "engine") from error
    return psutil
