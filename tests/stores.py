"""What the tests of stores share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from simdoc_search.corpus.document import MetadataValue
from simdoc_search.query.planner import Bands, Threshold
from simdoc_search.sketch.tokens import encode
from simdoc_search.stores.base import Record, Store

NewStore = Callable[..., Store]


def record(id: str, codes: Iterable[int] = range(8), text: str | None = None, **metadata: MetadataValue) -> Record:
    """A record with these codes."""
    return Record(id, np.array(sorted(codes), np.uint32), 8, "digest of " + id, metadata, text)


def put(store: Store, *records: Record) -> None:
    """Write records and commit."""
    with store.writer() as writer:
        writer.put(records)


def ids(store: Store) -> list[str]:
    """All ids in the store."""
    return sorted(each.id for each in store.scan())


def tokens(codes: Iterable[int], length: int = 4) -> tuple[str, ...]:
    """The tokens of codes."""
    return tuple(encode(np.array(sorted(codes), np.uint32), length))


def found(store: Store, plan: Threshold | Bands, **options: Any) -> list[tuple[int, str]]:
    """Equal tokens and id of each candidate, in order."""
    return [(each.matched, each.id) for each in store.candidates(plan, **options)]


def plain(record: Record | None) -> tuple[Any, ...] | None:
    """A record as values that can be compared."""
    if record is None:
        return None
    values = (record.id, record.shingles, record.digest, record.metadata, record.text, record.origin)
    return (*values, record.codes.dtype, record.codes.tolist())
