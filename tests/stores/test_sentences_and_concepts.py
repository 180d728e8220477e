"""Every store keeps sentences and concepts, and finds documents by them."""

from __future__ import annotations

import random
from contextlib import closing
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search import open_store
from simdoc_search.documents import DocumentKey
from simdoc_search.errors import FormatMismatchError
from simdoc_search.sketch.concepts import ConceptSettings
from simdoc_search.sketch.sentences import SentenceSettings, decode_simhashes, query_token_ids
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.token_kinds import TokenKindName
from simdoc_search.stores.base import Store
from simdoc_search.stores.local import shared_tokens as local
from simdoc_search.stores.remote import shared_tokens as remote
from tests.support.stores import NewStore, put, record

BOTH = Settings(sentences=SentenceSettings(), concepts=ConceptSettings())
CONCEPTS = [7, 9, 7, 0, 2**30 - 1, 0]
FEW = {0, *(1 << bit for bit in range(16))}
SENTENCES = [2**64 - 1, 5, 5, 1]


def shared(store: Store, token_ids: Any, kind: TokenKindName, **options: Any) -> list[tuple[int, str]]:
    """Return the number of shared tokens of a kind and the id of each document, in order."""
    found = store.documents_sharing_tokens(np.array(token_ids, np.uint32), kind=kind, size=10, **options)
    return [(document.shared_count, document.id) for document in found.documents]


@pytest.fixture
def store_with_both(new_store: NewStore) -> Store:
    """An empty store with sentences and concepts."""
    return new_store(BOTH)


def test_sentences_and_concepts_keep_their_order_and_are_loaded_on_request(store_with_both: Store) -> None:
    put(
        store_with_both,
        record("a", text="words", passages=[1], sentences=SENTENCES, concepts=CONCEPTS),
        record("none"),
    )
    ways: list[Any] = [
        lambda **options: [store_with_both.get("a", **options)],
        lambda **options: store_with_both.records(["a"], **options),
        lambda **options: (document for document in store_with_both.scan(**options) if document.id == "a"),
    ]
    empty = store_with_both.get("none", load={"sentences", "concepts"})
    loaded = [next(iter(way(load={"sentences", "concepts"}))) for way in ways]

    assert empty is not None
    assert not empty.fault
    assert [0, 0] == [len(empty.sentences), len(empty.concepts)]
    assert [SENTENCES] * 3 == [decode_simhashes(document.sentences).tolist() for document in loaded]
    assert [CONCEPTS] * 3 == [document.concepts.tolist() for document in loaded]
    assert [0] * 3 == [len(document.passages) for document in loaded]
    for way in ways:
        plain = next(iter(way(load={"text", "passages"})))
        assert [0, 0] == [len(plain.sentences), len(plain.concepts)]


@pytest.mark.parametrize("clauses", [1024, 10])
def test_sentences_that_differ_in_few_bits_are_found(
    store_with_both: Store, monkeypatch: pytest.MonkeyPatch, clauses: int
) -> None:
    """Any bits may differ, up to the maximum number."""
    monkeypatch.setattr(local, "MAX_QUERY_TOKENS", 68 * clauses)
    monkeypatch.setattr(remote, "MAX_CLAUSES", clauses)
    choose = random.Random(1)
    query = [choose.getrandbits(64) for _ in range(12)]
    near = [query[n] ^ _bits(choose, 1 + n % 7) for n in range(12)]
    stored = {f"near{n:02}": [choose.getrandbits(64), simhashes, simhashes] for n, simhashes in enumerate(near)}
    stored |= {f"far{n}": [choose.getrandbits(64) for _ in range(3)] for n in range(12)}
    put(store_with_both, *(record(id, sentences=simhashes) for id, simhashes in stored.items()))

    found = store_with_both.documents_sharing_tokens(
        query_token_ids(np.array(query, np.uint64)), kind="sentences", size=24
    )

    assert {id for id in stored if id.startswith("near")} <= {document.id for document in found.documents}
    assert {document.id: document.shared_count for document in found.documents} == {
        id: count for id, simhashes in stored.items() if (count := _common(query, simhashes))
    }


def test_concepts_are_found_and_counted_once_per_document(store_with_both: Store) -> None:
    put(
        store_with_both,
        record("a", concepts=[7, 7, 7, 9, 0], team="x"),
        record("b", concepts=[7, 0, 11, 0, 7, 0], team="y"),
        record("c", concepts=[11, 9, 7, 0], team="x"),
        record("none", [1, 2, 3], passages=[7]),
    )

    assert [(3, "c"), (2, "a"), (2, "b")] == shared(store_with_both, [11, 7, 9, 9], "concepts")
    assert [(2, "a")] == shared(store_with_both, [7, 9], "concepts", filters={"team": "x"}, exclude=DocumentKey("c"))
    assert [] == shared(store_with_both, [7], "sentences") == shared(store_with_both, [], "concepts")
    frequencies = store_with_both.concept_frequencies(np.array([7, 8, 9, 7], np.uint32))
    assert ("int64", [3, 0, 2, 3]) == (str(frequencies.dtype), frequencies.tolist())
    assert [] == store_with_both.concept_frequencies(np.zeros(0, np.uint32)).tolist()


def test_a_store_without_sketches_says_how_to_add_them(new_store: NewStore) -> None:
    store = new_store()
    put(store, record("a", passages=[1], sentences=[5], concepts=CONCEPTS))
    found, token_ids = store.get("a", load={"sentences", "concepts"}), np.array([7], np.uint32)

    assert found is not None
    assert [0, 0] == [len(found.sentences), len(found.concepts)]
    with pytest.raises(FormatMismatchError, match=r"was created without sentences; .*"):
        store.documents_sharing_tokens(token_ids, kind="sentences", size=1)
    of_concepts = pytest.raises(FormatMismatchError, match=r"was created without concepts; .*")
    with of_concepts:
        store.documents_sharing_tokens(token_ids, kind="concepts", size=1)
    with of_concepts:
        store.concept_frequencies(token_ids)


ROWS = st.lists(st.lists(st.integers(0, 40), min_size=3, max_size=3), max_size=12)


@given(st.lists(st.lists(st.integers(0, 40), max_size=12), max_size=20), ROWS, st.integers(1, 12))
def test_each_row_of_tokens_counts_once(stored: list[list[int]], query: list[list[int]], size: int) -> None:
    wanted = {f"{n}": sum(bool({*row} & {*concepts}) for row in query) for n, concepts in enumerate(stored)}
    counts = sorted(filter(None, wanted.values()), reverse=True)
    with closing(open_store(":memory:", BOTH)) as store, pytest.MonkeyPatch.context() as patch:
        patch.setattr(local, "MAX_QUERY_TOKENS", 10)
        put(store, *(record(f"{n}", concepts=concepts) for n, concepts in enumerate(stored)))
        found = store.documents_sharing_tokens(np.array(query, np.uint32).reshape(-1, 3), kind="concepts", size=size)

        assert len(counts) == found.total
        assert counts[:size] == [document.shared_count for document in found.documents]
        assert all(wanted[document.id] == document.shared_count for document in found.documents)


def _bits(choose: random.Random, count: int) -> int:
    """Return a number of 64 bits with this number of bits set."""
    return sum(1 << bit for bit in choose.sample(range(64), count))


def _common(query: list[int], stored: list[int]) -> int:
    """Count the numbers with a block that differs in at most one bit from the same block of a stored number."""
    return sum(any((one ^ simhash) >> 16 * n & 0xFFFF in FEW for simhash in stored for n in range(4)) for one in query)
