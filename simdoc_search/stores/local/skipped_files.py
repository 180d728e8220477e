"""Remembers the files that `index` skipped, so that an answer can say that they were not searched."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from simdoc_search.documents import SkippedFile
from simdoc_search.durable import write_atomically
from simdoc_search.errors import StoreError

SKIPPED_FILES_FILE = "skipped.json"


def read_skipped_files(folder: Path) -> list[SkippedFile]:
    """Read the list of skipped files of the store in a folder. Without a list, nothing was skipped.

    Raises:
        StoreError: the list is damaged.
    """
    path = folder / SKIPPED_FILES_FILE
    try:
        return [SkippedFile(str(file), str(reason), root) for file, reason, root in json.loads(path.read_bytes())]
    except FileNotFoundError:
        return []
    except (ValueError, TypeError, RecursionError) as error:
        raise StoreError(f"{path} is damaged; run `simdoc-search index` again to replace it") from error


def write_skipped_files(folder: Path, skipped: Iterable[SkippedFile]) -> None:
    """Write the list of skipped files of the store in a folder."""
    values = [[file.path, file.reason, file.root] for file in skipped]
    write_atomically(folder / SKIPPED_FILES_FILE, json.dumps(values).encode())
