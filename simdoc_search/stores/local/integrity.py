"""Verifies the checksums of a store in a folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from simdoc_search.errors import StoreError
from simdoc_search.stores.local.errors import convert_errors
from simdoc_search.stores.local.folder import open_manifest
from simdoc_search.stores.local.open_index import IndexInFolder, open_commit
from simdoc_search.stores.local.schema import build_schema, optional_fields
from simdoc_search.stores.local.segments import find_fault
from simdoc_search.stores.local.settings_file import INDEX_FOLDER, SETTINGS_FILE

Progress = Callable[[int, int], None]
"""A callback with the number of finished documents or bytes, and their total number."""

FILE_MISSING = "the file is missing"


@dataclass(frozen=True, slots=True)
class Damage:
    """Damage to a store.

    `file` is relative to the folder of the store. `problem` is one sentence.
    """

    file: str
    problem: str


def find_damage(folder: Path, progress: Progress | None = None) -> Iterator[Damage]:
    """Verify the checksums of the settings and of all files of the index, and open the index.

    The check changes nothing. Other processes may write to the store during the check. `progress` is called with the
    number of verified bytes and the total number of bytes.

    Yields:
        Each damaged file as soon as it is found.

    Raises:
        StoreNotFoundError: there is no store.
        StoreError: the folder contains files but no store.
    """
    index = folder / INDEX_FOLDER
    schema = None
    try:
        schema = build_schema(optional_fields(open_manifest(folder).settings))
    except StoreError as error:
        if not (folder / SETTINGS_FILE).exists() and not (index / SETTINGS_FILE).exists():
            raise
        yield Damage(SETTINGS_FILE, str(error))
    try:
        with convert_errors("read", str(folder)), open_commit(index) as (commit, files):
            total, done, is_intact = sum(path.stat().st_size for path in files.values()), 0, True
            for name in commit.files:
                fault = find_fault(files[name]) if name in files else FILE_MISSING
                if fault:
                    is_intact = False
                    yield Damage(f"{INDEX_FOLDER}/{name}", fault)
                else:
                    done += files[name].stat().st_size
                if progress:
                    progress(done, total)
        if schema and is_intact:
            with convert_errors("open", str(folder)):
                IndexInFolder(index, schema)
    except StoreError as error:
        yield Damage(INDEX_FOLDER, str(error))
