"""What a store says of its documents, and damage to it."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

from simdoc_search.stores import open_store
from tests.support.stores import plain


def content(folder: Path) -> dict[str, Any]:
    """All that a store says of its documents, by id."""
    with closing(open_store(folder)) as store:
        return {each.id: plain(each) for each in store.scan(text=True, passages=True, sketches=True)}


def flip(file: Path, bit: int) -> None:
    """Another file with one bit changed: one that is changed in place would change under those who have it mapped."""
    damaged = bytearray(file.read_bytes())
    damaged[bit // 8] ^= 1 << bit % 8
    file.unlink()
    file.write_bytes(bytes(damaged))
