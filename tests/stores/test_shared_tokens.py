"""Every store finds the documents that share passage tokens, for any number of tokens."""

from __future__ import annotations

import random
from collections import Counter
from contextlib import closing
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from simdoc_search import Document, SimilaritySearch, fingerprint, open_store
from simdoc_search.documents import DocumentKey
from simdoc_search.errors import FormatMismatchError, QuerySyntaxError
from simdoc_search.sketch import PassageSettings, shingle_token_ids
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores import shared_tokens
from simdoc_search.stores.base import Store
from simdoc_search.stores.local import shared_tokens as local
from simdoc_search.stores.remote import shared_tokens as remote
from simdoc_search.stores.shared_tokens import sum_parts
from tests.support.stores import NewStore, put, record


def shared(store: Store, passages: Any, size: int = 10, **options: Any) -> list[tuple[int, str]]:
    """Return the number of shared tokens and the id of each found document, in order."""
    found = store.documents_sharing_tokens(np.array(sorted(passages), np.uint32), size=size, **options)
    return [(document.shared_count, document.id) for document in found.documents]


@pytest.fixture
def few_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let stores send 10 tokens per query, and read few documents of each part."""
    monkeypatch.setattr(local, "MAX_QUERY_TOKENS", 10)
    monkeypatch.setattr(remote, "MAX_CLAUSES", 14)
    monkeypatch.setattr(remote, "MAX_PAGE_SIZE", 20)
    monkeypatch.setattr(shared_tokens, "INITIAL_PAGE_SIZE", 5)


# --- in every store ---


def test_documents_are_ranked_by_their_shared_tokens(store: Store) -> None:
    """Ties are sorted by id."""
    put(
        store,
        record("d", passages=[1, 9]),
        record("b", passages=[1, 2, 2**30 - 1]),
        record("a", passages=[2, 3]),
        record("c", passages=[1, 3, 8]),
        record("none", [1, 2, 3], passages=[7]),
    )

    assert [(3, "b"), (2, "a"), (2, "c"), (1, "d")] == shared(store, [1, 2, 3, 2**30 - 1])
    assert [3, 2] == [count for count, _ in shared(store, [1, 2, 3, 2**30 - 1], size=2)]
    assert 4 == store.documents_sharing_tokens(np.array([1, 2, 3, 2**30 - 1], np.uint32), size=2).total
    assert [] == shared(store, []) == shared(store, [5])


def test_filters_and_exclude_omit_documents(store: Store) -> None:
    put(store, *(record(f"{n}", passages=range(n + 1), team="ab"[n % 2]) for n in range(6)))

    assert [(6, "5"), (4, "3"), (2, "1")] == shared(store, range(6), filters={"team": "b"})
    assert [(4, "3")] == shared(store, range(6), filters={"team": ["b", "c"]}, exclude=DocumentKey("5"), size=1)
    assert 5 == store.documents_sharing_tokens(np.arange(6, dtype=np.uint32), exclude=DocumentKey("5"), size=1).total


def test_passages_are_loaded_only_on_request(store: Store) -> None:
    put(store, record("a", text="words", passages=[1, 2**30 - 1]))
    ways: list[Any] = [
        lambda **options: [store.get("a", **options)],
        lambda **options: store.records(["a"], **options),
        store.scan,
    ]

    assert [[]] * 3 == [next(iter(way())).passages.tolist() for way in ways]
    assert [[1, 2**30 - 1]] * 3 == [next(iter(way(load={"passages"}))).passages.tolist() for way in ways]


@pytest.mark.usefixtures("few_at_once")
def test_counts_of_several_partial_queries_are_added_up(store: Store) -> None:
    """The document with the largest sum may not be the best document of any part."""
    parts = [range(10 * part, 10 * part + 10) for part in range(5)]
    best = {
        f"best{part}{n:02}": list(token_ids)[: 9 - n % 2] for part, token_ids in enumerate(parts) for n in range(30)
    }
    put(
        store,
        record("everywhere", passages=[code for token_ids in parts for code in token_ids[:5]]),
        record("nearly", passages=[code for token_ids in parts[:4] for code in token_ids[:5]]),
        *(record(id, passages=token_ids) for id, token_ids in best.items()),
    )

    first, second, third = shared(store, range(50), size=3)

    assert ((25, "everywhere"), (20, "nearly"), 9) == (first, second, third[0])
    assert [20, 9] == [count for count, _ in shared(store, range(50), size=2, exclude=DocumentKey("everywhere"))]
    assert 152 == store.documents_sharing_tokens(np.arange(50, dtype=np.uint32), size=3).total
    assert 152 == len(shared(store, range(50), size=1000))


@pytest.mark.usefixtures("few_at_once")
def test_a_phrase_in_every_document_gives_exact_counts(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_tokens, "MAX_DOCUMENTS_PER_PART", 40)
    boilerplate = [10 * part for part in range(5)]  # one token in each part
    put(
        store,
        *(record(f"{n:03}", passages=[code for code in boilerplate if (n + code) % 50]) for n in range(300)),
        record("passage", passages=[*boilerplate, 1, 2, 3, 41]),
    )
    found = store.documents_sharing_tokens(np.arange(50, dtype=np.uint32), size=1)
    many = store.documents_sharing_tokens(np.arange(50, dtype=np.uint32), size=250)

    assert [("passage", 9)] == [(document.id, document.shared_count) for document in found.documents]
    assert 301 == found.total
    assert 250 == len(many.documents)
    assert 5 == max(document.shared_count for document in many.documents[1:]) == many.documents[1].shared_count


def test_a_store_without_passage_tokens_says_how_to_add_them(new_store: NewStore) -> None:
    store = new_store(Settings(passages=None))
    put(store, record("a", passages=[1, 2]))
    found = store.get("a", load={"passages"})

    assert found is not None
    assert [] == found.passages.tolist()
    with pytest.raises(FormatMismatchError, match="passages; index the documents again into a new index"):
        store.documents_sharing_tokens(np.arange(3, dtype=np.uint32), size=1)


def test_a_quoted_paragraph_is_found_in_a_long_document(store: Store) -> None:
    """A quote of 36 of 6,000 words is always found. A quote of 12 words is found about every second time."""
    choose = random.Random(1)
    texts = {f"{n}": [str(choose.randrange(10**5)) for _ in range(6_000)] for n in range(4)}
    SimilaritySearch(store).index(Document(id, " ".join(words)) for id, words in texts.items())
    quoted = ["before", *texts["2"][3_000:3_036], "after"]
    token_ids = fingerprint(" ".join(quoted), passages=PassageSettings()).passages

    assert ["2"] == [id for _, id in shared(store, token_ids)]
    short = [shingle_token_ids(" ".join(texts["3"][at : at + 12])) for at in range(0, 6_000, 300)]
    assert 5 < sum(["3"] == [id for _, id in shared(store, token_ids)] for token_ids in short) < 15


def test_filters_beyond_the_clause_limit_are_refused(new_opensearch_store: NewStore) -> None:
    store = new_opensearch_store()
    with pytest.raises(
        QuerySyntaxError, match="the filters need 1104 clauses, but the engine allows only 1024; use fewer"
    ):
        store.documents_sharing_tokens(np.arange(9, dtype=np.uint32), filters=[{"team": "a"}] * 1100, size=1)


# --- compared with a simple count ---


PASSAGES = st.frozensets(st.integers(0, 40), max_size=30)


@pytest.mark.usefixtures("few_at_once")
@given(st.lists(PASSAGES, max_size=30), PASSAGES, st.integers(1, 12))
def test_shared_tokens_are_those_of_a_simple_count(
    stored: list[frozenset[int]], query: frozenset[int], size: int
) -> None:
    wanted = sorted((-len(passages & query), f"{n:02}") for n, passages in enumerate(stored) if passages & query)
    with closing(open_store(":memory:")) as store:
        put(store, *(record(f"{n:02}", passages=passages) for n, passages in enumerate(stored)))
        found = store.documents_sharing_tokens(np.array(sorted(query), np.uint32), size=size)
        least = [-count for count, _ in wanted[:size]]

        assert len(wanted) == found.total
        assert least == [document.shared_count for document in found.documents]
        assert {(document.id, -document.shared_count) for document in found.documents} <= {
            (id, count) for count, id in wanted
        }


COUNTS = st.dictionaries(st.integers(0, 25), st.integers(1, 5), max_size=25)


@example([{0: 1, 1: 2, 2: 2}, {0: 1, 1: 2, 3: 2}, {0: 2, 1: 2}], 2, 1)
@given(st.lists(COUNTS, max_size=6), st.integers(1, 10), st.integers(1, 30))
def test_sums_are_exact(parts: list[dict[int, int]], size: int, most_read: int) -> None:
    """No omitted document shares more tokens than the last one, unless too many documents share tokens."""
    exact: Counter[int] = Counter()
    for counts in parts:
        exact.update(counts)
    streams = [iter(sorted(counts.items(), key=lambda item: -item[1])) for counts in parts]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shared_tokens, "MAX_DOCUMENTS_PER_PART", most_read)
        patch.setattr(shared_tokens, "INITIAL_PAGE_SIZE", 1)
        found = sum_parts(streams, lambda some, _: [parts[part] for part in some], size)
    left_out = max((count for key, count in exact.items() if key not in found), default=0)
    last = min(found.values(), default=0) if len(found) == size else 0

    assert {key: exact[key] for key in found} == found
    assert len(found) <= size
    assert left_out <= last or max(map(len, parts)) > most_read
