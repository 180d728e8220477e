"""Measures the memory of processes and of the machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path


def read_process_memory(pid: int) -> int:
    """Return the resident memory of a process in bytes; 0 if it has ended or its memory is unknown."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return _read_memory_with_psutil(pid)


def _read_memory_with_psutil(pid: int) -> int:
    try:
        import psutil  # type: ignore[import-untyped]  # noqa: PLC0415 - an optional dependency
    except ImportError:
        return 0
    try:
        return int(psutil.Process(pid).memory_info().rss)
    except psutil.Error:
        return 0


@cache
def read_machine_memory() -> int | None:
    """Return the memory of this machine, or of the container of this process, in bytes; None if it is unknown."""
    sizes = []
    with suppress(AttributeError, ValueError, OSError):
        sizes.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    for path in _cgroup_files():
        with suppress(OSError, ValueError):  # the file may contain the word "max"
            sizes.append(int(path.read_bytes()))
    return min(sizes, default=None)


def _cgroup_files() -> Iterator[Path]:
    """Yield the files that may limit the memory of this process's control group, or of a group that contains it."""
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
        group_folder = Path(group.lstrip("/"))
        yield from (top / folder / name for folder in (group_folder, *group_folder.parents))
