"""Makes records, and reads stores, for the tests of stores."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simdoc_search.query.plans import BandPlan, ThresholdPlan
from simdoc_search.sketch.sentences import encode_simhashes
from simdoc_search.sketch.tokens import HASH_BITS, TokenIds, encode
from simdoc_search.stores.base import Store
from simdoc_search.stores.record import Record

NewStore = Callable[..., Store]


def record(
    id: str,
    slots: Iterable[int] = range(8),
    text: str | None = None,
    *,
    token_ids: Iterable[int] | None = None,
    passages: Iterable[int] = (),
    sentences: Iterable[int] = (),
    concepts: Iterable[int] = (),
    **metadata: Any,
) -> Record:
    """Make a record with a token for each of these slots, or with these token ids.

    Sentences are given as simhashes, and concepts as token ids in order.
    """
    digest, hashes = "digest of " + id, ("hash of " + id, "words of " + id)
    return Record(
        id,
        token_ids_of_slots(slots) if token_ids is None else _ascending(token_ids),
        8,
        digest,
        metadata,
        text,
        None,
        *hashes,
        passages=_ascending(passages),
        sentences=encode_simhashes(np.array(list(sentences), np.uint64)),
        concepts=np.array(list(concepts), np.uint32),
    )


def put(store: Store, *records: Record) -> None:
    """Write records and commit."""
    with store.writer() as writer:
        writer.put(records)


def ids(store: Store) -> list[str]:
    """Return all ids in a store."""
    return sorted(document.id for document in store.scan())


def token_ids_of_slots(slots: Iterable[int]) -> TokenIds:
    """Return the token ids that `record` makes for these slots. Different ids of a slot differ in the low bits."""
    return _ascending(slots) << np.uint32(HASH_BITS)


def tokens(slots: Iterable[int]) -> tuple[str, ...]:
    """Return the tokens that `record` makes for these slots."""
    return tuple(encode(token_ids_of_slots(slots)))


def ranked_candidates(store: Store, plan: ThresholdPlan | BandPlan, **options: Any) -> list[tuple[int, str]]:
    """Return the number of matching tokens and the id of each candidate. Check their order, and sort ties by id."""
    read = [(candidate.matched_token_count, candidate.id) for candidate in store.candidates(plan, **options)]
    assert [matched for matched, _ in read] == sorted((matched for matched, _ in read), reverse=True)
    return sorted(read, key=lambda hit: (-hit[0], hit[1]))


def comparable_values(record: Record | None) -> tuple[Any, ...] | None:
    """Return a record as values that can be compared."""
    if record is None:
        return None
    values = (record.id, record.shingle_count, record.digest, record.metadata, record.text, record.origin)
    sketches = [part for token_ids in _all_token_ids(record) for part in (token_ids.dtype, token_ids.tolist())]
    return (*values, record.text_hash, record.words_hash, *sketches)


def _ascending(token_ids: Iterable[int]) -> TokenIds:
    return np.array(sorted(token_ids), np.uint32)


def _all_token_ids(record: Record) -> list[NDArray[np.uint32]]:
    return [record.token_ids, record.passages, record.sentences, record.concepts]
