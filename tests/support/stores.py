"""Makes records, and reads stores, for the tests of stores."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simdoc_search.query.plans import Bands, Threshold
from simdoc_search.sketch.sentences import codes_of_sentences
from simdoc_search.sketch.tokens import encode
from simdoc_search.stores.base import Store
from simdoc_search.stores.record import Record

NewStore = Callable[..., Store]


def record(
    id: str,
    codes: Iterable[int] = range(8),
    text: str | None = None,
    *,
    passages: Iterable[int] = (),
    sentences: Iterable[int] = (),
    concepts: Iterable[int] = (),
    **metadata: Any,
) -> Record:
    """Make a record with these codes. Sentences are given as simhashes, and concepts as codes in order."""
    digest, hashes = "digest of " + id, ("hash of " + id, "words of " + id)
    sketches = [np.array(sorted(values), np.uint32) for values in (codes, passages)]
    return Record(
        id,
        sketches[0],
        8,
        digest,
        metadata,
        text,
        None,
        *hashes,
        passages=sketches[1],
        sentences=codes_of_sentences(np.array(list(sentences), np.uint64)),
        concepts=np.array(list(concepts), np.uint32),
    )


def put(store: Store, *records: Record) -> None:
    """Write records and commit."""
    with store.writer() as writer:
        writer.put(records)


def ids(store: Store) -> list[str]:
    """Return all ids in a store."""
    return sorted(document.id for document in store.scan())


def tokens(codes: Iterable[int], length: int = 4) -> tuple[str, ...]:
    """Return the tokens of codes."""
    return tuple(encode(np.array(sorted(codes), np.uint32), length))


def found(store: Store, plan: Threshold | Bands, **options: Any) -> list[tuple[int, str]]:
    """Return the number of equal tokens and the id of each candidate. Check their order, and sort ties by id."""
    read = [(candidate.matched, candidate.id) for candidate in store.candidates(plan, **options)]
    assert [matched for matched, _ in read] == sorted((matched for matched, _ in read), reverse=True)
    return sorted(read, key=lambda hit: (-hit[0], hit[1]))


def plain(record: Record | None) -> tuple[Any, ...] | None:
    """Return a record as values that can be compared."""
    if record is None:
        return None
    values = (record.id, record.shingles, record.digest, record.metadata, record.text, record.origin)
    sketches = [part for codes in _all_codes(record) for part in (codes.dtype, codes.tolist())]
    return (*values, record.text_hash, record.words_hash, *sketches)


def _all_codes(record: Record) -> list[NDArray[np.uint32]]:
    return [record.codes, record.passages, record.sentences, record.concepts]
