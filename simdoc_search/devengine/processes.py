"""Processes that outlive this one: started apart from the terminal, known again by a token on their command line."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from simdoc_search.errors import MissingExtraError

Starter = tuple[int, float]
"""A process id and when that process began: ids are used again."""

POLL_SECONDS = 0.1
KILL_SECONDS = 10.0

# Only its parent learns how a process ended, and only if it asks; held here as long as this process lives.
_children: dict[int, tuple[subprocess.Popen[bytes], Sequence[str]]] = {}


def launch(command: Sequence[str], folder: Path, environment: Mapping[str, str], log: Path) -> int:
    """Start a process that neither Ctrl-C nor the end of this one reaches; what it prints goes to a file."""
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
    _children[child.pid] = child, command
    return child.pid


def is_alive(pid: int, token: str) -> bool:
    """True if the process runs and has the token as an argument."""
    return _find(pid, token) is not None


def exit_code(pid: int) -> int | None:
    """How a process ended; None if it runs, or was started by another process."""
    return _children[pid][0].poll() if pid in _children else None


def kill(pid: int, token: str) -> None:
    """End a process at once, as kill -9 does."""
    _signal("kill", processes := _find_all([pid], token))
    _wait(processes, KILL_SECONDS)


def end(pids: Iterable[int], token: str, patience: float) -> bool:
    """Ask processes to end, and after `patience` seconds make them.

    Returns:
        True if all of them are gone.
    """
    # Ctrl-C may have come before anybody could note the id of the last one.
    ours = [pid for pid, (_, command) in _children.items() if token in command]
    _signal("terminate", processes := _find_all({*pids, *ours}, token))
    _signal("kill", left := _wait(processes, patience))
    return not _wait(left, KILL_SECONDS)


def starter() -> Starter:
    """This process."""
    return os.getpid(), _psutil().Process().create_time()


def is_starter_alive(who: Starter) -> bool:
    """True if the process still runs."""
    psutil = _psutil()
    try:
        began: float = psutil.Process(who[0]).create_time()
    except psutil.Error:
        return False
    return abs(began - who[1]) < 2  # a clock that was set right moves it


def _find(pid: int, token: str) -> Any:
    """The process, if it is ours and no zombie; None otherwise, also if it may not be looked at."""
    psutil = _psutil()
    if pid <= 0:
        return None
    try:
        if pid in _children and exit_code(pid) is None:  # at first its command line may be empty for a moment
            return psutil.Process(pid) if token in _children[pid][1] else None
        process = psutil.Process(pid)
        if process.status() != psutil.STATUS_ZOMBIE and token in process.cmdline():
            return process
    except psutil.Error:
        pass
    return None


def _find_all(pids: Iterable[int], token: str) -> list[Any]:
    return [process for pid in pids if (process := _find(pid, token)) is not None]


def _signal(how: str, processes: Iterable[Any]) -> None:
    for process in processes:
        with suppress(_psutil().Error):  # it was quicker
            getattr(process, how)()


def _wait(processes: list[Any], seconds: float) -> list[Any]:
    """Those that are still there when the others are gone or the time is up."""
    deadline = time.monotonic() + seconds
    while (left := [each for each in processes if not _is_gone(each)]) and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)
    return left


def _is_gone(process: Any) -> bool:
    """True if a process has let go of its ports and files; its command line it loses before that."""
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
