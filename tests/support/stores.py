"""What the tests of stores share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from simdoc_search.query.plans import Bands, Threshold
from simdoc_search.sketch.tokens import encode
from simdoc_search.stores.base import Record, Store

NewStore = Callable[..., Store]


def record(
    id: str,
    codes: Iterable[int] = range(8),
    text: str | None = None,
    *,
    passages: Iterable[int] = (),
    **metadata: Any,
) -> Record:
    """A record with these codes."""
    digest, hashes = "digest of " + id, ("hash of " + id, "words of " + id)
    sketches = [np.array(sorted(each), np.uint32) for each in (codes, passages)]
    return Record(id, sketches[0], 8, digest, metadata, text, None, *hashes, passages=sketches[1])


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
    """Equal tokens and id of each candidate, which must come most equal tokens first; ties are sorted by id here."""
    read = [(each.matched, each.id) for each in store.candidates(plan, **options)]
    assert [matched for matched, _ in read] == sorted((matched for matched, _ in read), reverse=True)
    return sorted(read, key=lambda each: (-each[0], each[1]))


def plain(record: Record | None) -> tuple[Any, ...] | None:
    """A record as values that can be compared."""
    if record is None:
        return None
    values = (record.id, record.shingles, record.digest, record.metadata, record.text, record.origin)
    sketches = [each for codes in (record.codes, record.passages) for each in (codes.dtype, codes.tolist())]
    return (*values, record.text_hash, record.words_hash, *sketches)
