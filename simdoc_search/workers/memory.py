"""How much memory does a process hold, how much may it have, and was an error a lack of memory?"""

from __future__ import annotations

import ctypes
import errno
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

_M_ARENA_MAX = -8  # in glibc's malloc.h
_OUT_OF_MEMORY = re.compile(r"can't start new thread|failed to map segment|cannot allocate memory", re.IGNORECASE)
"""What Python says of threads, and the system of libraries, that get no memory."""


def is_out_of_memory(error: BaseException | None) -> bool:
    """Whether an error, or one that caused it, comes from a lack of memory."""
    while error is not None:
        if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
            return True
        if isinstance(error, (RuntimeError, ImportError)) and _OUT_OF_MEMORY.search(str(error)):
            return True
        error = error.__cause__ or error.__context__
    return False


def save_address_space() -> None:
    """Where the address space is limited (`ulimit -v`), let all threads share one heap of glibc.

    Each thread that starts later would reserve 64 MB for a heap of its own, of which it uses little.
    """
    if address_space_left() is not None:
        with suppress(OSError, AttributeError, TypeError):  # no glibc
            ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)


def memory_of(pid: int) -> int:
    """Bytes of memory that a process holds; 0 if it is gone or the system does not say."""
    try:
        return _pages_of(pid)[1]
    except (OSError, ValueError, IndexError):
        return _memory_without_proc(pid)


def address_space_left() -> int | None:
    """Bytes that this process may still map (`ulimit -v`); None if there is no limit or the system does not say."""
    try:
        import resource  # noqa: PLC0415 - Windows has none

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        return None if limit == resource.RLIM_INFINITY else max(0, limit - _pages_of(os.getpid())[0])
    except (ImportError, OSError, ValueError, IndexError):
        return None


@cache
def machine_memory() -> int | None:
    """Bytes that this machine has, or the container or control group of this process; None if they do not say."""
    found = []
    with suppress(AttributeError, ValueError, OSError):
        found.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    for path in _group_limits():
        with suppress(OSError, ValueError):  # the word "max" is not a number
            found.append(int(path.read_bytes()))
    return min(found, default=None)


def _group_limits() -> Iterator[Path]:
    """The files that may limit the memory of this process and of all in its control group, and in those around it."""
    try:
        lines = Path("/proc/self/cgroup").read_text("utf-8").splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, group = line.split(":", 2)
        if not controllers:
            top, name = Path("/sys/fs/cgroup"), "memory.max"
        elif "memory" in controllers.split(","):
            top, name = Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes"
        else:
            continue
        own = Path(group.lstrip("/"))
        yield from (top / each / name for each in (own, *own.parents))


def _pages_of(pid: int) -> list[int]:
    """Bytes that a process has mapped, those that it holds, and more, as the system lists them."""
    return [int(each) * os.sysconf("SC_PAGE_SIZE") for each in Path(f"/proc/{pid}/statm").read_bytes().split()]


def _memory_without_proc(pid: int) -> int:
    try:
        import psutil  # type: ignore[import-untyped]  # noqa: PLC0415 - optional
    except ImportError:
        return 0
    try:
        return int(psutil.Process(pid).memory_info().rss)
    except psutil.Error:
        return 0
