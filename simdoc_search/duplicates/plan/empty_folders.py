"""Finds the folders in which a plan has left no files."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path


def find_empty_folders(removed_files: Iterable[str]) -> list[str]:
    """Return the folders that contain no files now, because these files were removed.

    Such a folder may contain other empty folders, which are not listed separately.
    """
    folders = {Path(path).parent for path in removed_files}
    empty: set[Path] = set()
    while folders:
        deepest = max(folders, key=lambda folder: len(folder.parts))
        folders.remove(deepest)
        if _has_only(deepest, empty):
            empty.add(deepest)
            folders.add(deepest.parent)
    return sorted(str(folder) for folder in empty if folder.parent not in empty)


def _has_only(folder: Path, empty: set[Path]) -> bool:
    try:
        with os.scandir(folder) as entries:
            return all(Path(entry.path) in empty for entry in entries)
    except OSError:
        return False
