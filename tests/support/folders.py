"""Folders with files, and what is found in them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from simdoc_search.corpus import FileSource, Skipped, find_files
from simdoc_search.corpus.file_reader import load

__all__ = ["ids", "posix_only", "skipped", "write"]

posix_only = pytest.mark.skipif(os.name != "posix", reason="Windows has no such files")


def write(folder: Path, *names: str) -> Path:
    """A folder with files of these names, each with a text of its own."""
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"the text of {name}", encoding="utf-8")
    return folder


def ids(*paths: Path) -> list[str]:
    """The ids of the files that are found in folders."""
    return [found.id for found in find_files(paths) if isinstance(found, FileSource)]


def skipped(*paths: Path, max_bytes: int = 1_000_000) -> dict[str, str]:
    """Reason by path below the (first) folder, of finding and of loading."""
    found = (load(f) if isinstance(f, FileSource) else f for f in find_files(paths, max_bytes=max_bytes))
    return {f.path[len(str(paths[0])) + 1 :]: f.reason for f in found if isinstance(f, Skipped)}
