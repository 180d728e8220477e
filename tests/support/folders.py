"""Makes folders, and lists what `find_files` finds in them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from simdoc_search.corpus import FileSource, SkippedFile, find_files
from simdoc_search.corpus.file_reader import read_in_process

__all__ = ["ids", "posix_only", "skipped", "write"]

posix_only = pytest.mark.skipif(os.name != "posix", reason="Windows has no such files")


def write(folder: Path, *names: str) -> Path:
    """Make a folder with files of these names, each with a different text."""
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"the text of {name}", encoding="utf-8")
    return folder


def ids(*paths: Path) -> list[str]:
    """Return the ids of the files below some folders."""
    return [found.id for found in find_files(paths) if isinstance(found, FileSource)]


def skipped(*paths: Path, max_bytes: int = 1_000_000) -> dict[str, str]:
    """Return the reasons of skipped files by their paths below the first folder."""
    found = (read_in_process(f) if isinstance(f, FileSource) else f for f in find_files(paths, max_bytes=max_bytes))
    return {f.path[len(str(paths[0])) + 1 :]: f.reason for f in found if isinstance(f, SkippedFile)}
