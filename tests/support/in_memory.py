"""Keeps the temporary files of tests in memory, because stores and engines often wait for the disk."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import pytest

__all__ = ["keep_files_in_memory"]

PLENTY = 4 << 30
FOLDER = Path("/dev/shm")  # on Linux, a disk in memory
FOR_ALL = 0o1777


def keep_files_in_memory(config: pytest.Config) -> None:
    """Keep temporary files in memory, also those of subprocesses, unless TMPDIR is set or there is little memory.

    At the end, files of killed processes are removed. Files of failed tests are kept.
    """
    if "TMPDIR" in os.environ or not _is_fit(FOLDER):
        return
    folder = Path(tempfile.mkdtemp(prefix="simdoc-tests-", dir=FOLDER))
    folder.chmod(FOR_ALL)
    os.environ["TMPDIR"] = str(folder)
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(FOLDER))
    tempfile.tempdir = None  # so that Python determines it again
    config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))


def _is_fit(folder: Path) -> bool:
    """Return whether the folder has enough space, and everybody may write and run files in it."""
    if not hasattr(os, "statvfs") or not folder.is_dir() or folder.stat().st_mode & FOR_ALL != FOR_ALL:
        return False
    there = os.statvfs(folder)
    free = min(there.f_bavail * there.f_frsize, psutil.virtual_memory().available)
    return bool(free >= PLENTY) and not there.f_flag & (os.ST_NOEXEC | os.ST_RDONLY)
