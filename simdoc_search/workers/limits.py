"""What may one item cost? Time, and memory as it is really held.

Not by a limit of address space (`RLIMIT_AS`): numpy, its BLAS and the readers of documents reserve gigabytes that they
never touch, the more the more cores there are, so it would refuse harmless files or stop none. What counts for the
machine is what is resident, and that is what the parent looks at.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

__all__ = ["ITEM_SECONDS", "Limits", "fair_memory", "memory_of"]

ITEM_SECONDS = 120.0

_LEAST, _MOST = (
    1_000_000_000,
    4_000_000_000,
)  # a text of 50 MB needs 0.7 GB; of that size no honest file needs more than 4
_CONTAINER_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def fair_memory(workers: int) -> int:
    """Bytes for each of some processes: half of the machine's memory shared out; 1 to 4 GB, never over that half."""
    machine = _machine_memory()
    return _LEAST if machine is None else min(max(machine // 2 // workers, _LEAST), _MOST, machine // 2)


@dataclass(frozen=True, slots=True)
class Limits:
    """What one item may cost before its process is ended.

    Attributes:
        seconds: to read it.
        memory: bytes that its process may hold. Where there is no `/proc` this needs the package psutil.
    """

    seconds: float = ITEM_SECONDS
    memory: int = field(default_factory=lambda: fair_memory(1))


def memory_of(pid: int) -> int:
    """Bytes of memory that a process holds; 0 if it is gone or the system does not say."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return _memory_without_proc(pid)


def _memory_without_proc(pid: int) -> int:
    try:
        import psutil  # type: ignore[import-untyped]  # noqa: PLC0415 - optional
    except ImportError:
        return 0
    try:
        return int(psutil.Process(pid).memory_info().rss)
    except psutil.Error:
        return 0


@cache
def _machine_memory() -> int | None:
    """Bytes that this machine has, or the container that it is in; None if it does not say."""
    found = []
    with suppress(AttributeError, ValueError, OSError):
        found.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    for path in _CONTAINER_LIMITS:
        with suppress(OSError, ValueError):  # the word "max" is no number
            found.append(int(Path(path).read_bytes()))
    return min(found, default=None)
