"""Reads all documents of a store, and damages its files."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

from simdoc_search.stores import open_store
from simdoc_search.stores.record import ALL_PARTS
from tests.support.stores import comparable_values


def content(folder: Path) -> dict[str, Any]:
    """Return all documents of a store by id."""
    with closing(open_store(folder)) as store:
        return {record.id: comparable_values(record) for record in store.scan(load=ALL_PARTS)}


def flip(file: Path, bit: int) -> None:
    """Flip a bit of a file. The file is replaced, because other processes may have mapped the old one."""
    damaged = bytearray(file.read_bytes())
    damaged[bit // 8] ^= 1 << bit % 8
    file.unlink()
    file.write_bytes(bytes(damaged))
