"""Makes records, and reads stores, for the tests of stores."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simdoc_search.query.plans import Bands, Threshold
from simdoc_search.sketch.sentences import encode_sentences
from simdoc_search.sketch.tokens import HASH_BITS, Codes, encode
from simdoc_search.stores.base import Store
from simdoc_search.stores.record import Record

NewStore = Callable[..., Store]


def record(
    id: str,
    slots: Iterable[int] = range(8),
    text: str | None = None,
    *,
    codes: Iterable[int] | None = None,
    passages: Iterable[int] = (),
    sentences: Iterable[int] = (),
    concepts: Iterable[int] = (),
    **metadata: Any,
) -> Record:
    """Make a record with a token for each of these slots, or with these codes.

    Sentences are given as simhashes, and concepts as codes in order.
    """
    digest, hashes = "digest of " + id, ("hash of " + id, "words of " + id)
    return Record(
        id,
        codes_of_slots(slots) if codes is None else _ascending(codes),
        8,
        digest,
        metadata,
        text,
        None,
        *hashes,
        passages=_ascending(passages),
        sentences=encode_sentences(np.array(list(sentences), np.uint64)),
        concepts=np.array(list(concepts), np.uint32),
    )


def put(store: Store, *records: Record) -> None:
    """Write records and commit."""
    with store.writer() as writer:
        writer.put(records)


def ids(store: Store) -> list[str]:
    """Return all ids in a store."""
    return sorted(document.id for document in store.scan())


def codes_of_slots(slots: Iterable[int]) -> Codes:
    """Return the codes that `record` makes for these slots. A different code in a slot has other low bits."""
    return _ascending(slots) << np.uint32(HASH_BITS)


def tokens(slots: Iterable[int]) -> tuple[str, ...]:
    """Return the tokens that `record` makes for these slots."""
    return tuple(encode(codes_of_slots(slots)))


def ranked_candidates(store: Store, plan: Threshold | Bands, **options: Any) -> list[tuple[int, str]]:
    """Return the number of equal tokens and the id of each candidate. Check their order, and sort ties by id."""
    read = [(candidate.matched_token_count, candidate.id) for candidate in store.candidates(plan, **options)]
    assert [matched for matched, _ in read] == sorted((matched for matched, _ in read), reverse=True)
    return sorted(read, key=lambda hit: (-hit[0], hit[1]))


def comparable_values(record: Record | None) -> tuple[Any, ...] | None:
    """Return a record as values that can be compared."""
    if record is None:
        return None
    values = (record.id, record.shingle_count, record.digest, record.metadata, record.text, record.origin)
    sketches = [part for codes in _all_codes(record) for part in (codes.dtype, codes.tolist())]
    return (*values, record.text_hash, record.words_hash, *sketches)


def _ascending(codes: Iterable[int]) -> Codes:
    return np.array(sorted(codes), np.uint32)


def _all_codes(record: Record) -> list[NDArray[np.uint32]]:
    return [record.codes, record.passages, record.sentences, record.concepts]
