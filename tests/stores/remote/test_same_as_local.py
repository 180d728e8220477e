"""An engine gives the same answers as the local store. Many queries together give the answers of each query."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from simdoc_search import Document, SearchResult, SimilaritySearch, open_store
from simdoc_search.documents import DocumentKey
from simdoc_search.errors import QuerySyntaxError, SimdocError, UnknownDocumentError
from simdoc_search.stores.base import Store
from simdoc_search.stores.remote import candidates
from tests.support.http_server import TempIndices, indices
from tests.support.remote import in_index, need_usual_clauses
from tests.support.stores import NewStore, put, record
from tests.support.texts import overlapping, text


@pytest.fixture(scope="module")
def local_and_remote(opensearch_url: str) -> Iterator[list[SimilaritySearch]]:
    """A corpus in a local store and in OpenSearch: pairs, short texts, texts without words, and many versions."""
    rng = random.Random("both")
    texts = [
        body
        for words in (3, 9, 40, 150, 600, 1500)
        for overlap in (0.1, 0.3, 0.6, 0.9)
        for body in overlapping(rng, words, overlap)
    ]
    words = text(rng, 400).split()
    texts += [" ".join(words[: 400 - 4 * n]) for n in range(90)] + ["one", "one", "...", "... !"]
    corpus = [
        Document(
            f"{'ab'[n % 2]}/doc_{n}.txt",
            body,
            {
                "language": ["de", "en", "漢"][n % 3],
                "year": 2000 + n % 4,
                "tags": ["x", "y"][: n % 3],
                "draft": n % 5 == 0,
            },
        )
        for n, body in enumerate(texts)
    ]
    with indices(opensearch_url) as temp_indices:
        stores: list[Store] = [open_store(":memory:"), in_index(temp_indices, temp_indices.name(), create=True)]
        for store in stores:
            SimilaritySearch(store).index(corpus)
        yield [SimilaritySearch(store) for store in stores]


SUFFIXES = ["", "_20", "_100", "_5_95", "_20_80"]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"size": 1000},
        {"planner": "all", "size": 20, "filters": {"language": "漢", "path": "a/"}},
        {"size": 1000, "filters": {"year": ["2002"], "draft": False}},
        {"size": 1, "filters": {"tags": ["x", "y"]}, "include_self": True},
    ],
    ids=str,
)
def test_fingerprints_have_the_same_hits(local_and_remote: list[SimilaritySearch], options: dict[str, Any]) -> None:
    ids = [document.id for document in local_and_remote[0].store.scan()][::41]
    queries = [f'"{id}"{suffix}' for id, suffix in itertools.product(ids, SUFFIXES)]
    local, remote = (list(search.similar_many(queries, **options)) for search in local_and_remote)
    comparable = partial(_comparable, size=options.get("size", 10))

    assert [comparable(result) for result in local] == [comparable(result) for result in remote]
    assert any(isinstance(result, SearchResult) and result.hits for result in remote)


def test_filters_as_clauses_need_an_engine(local_and_remote: list[SimilaritySearch]) -> None:
    local, remote = local_and_remote
    clauses = [{"term": {"simdoc.facts": "language\0de"}}]
    with pytest.raises(QuerySyntaxError, match="a local index does not support query clauses of an engine"):
        local.similar("doc_60", filters=clauses)

    by_field = local.similar("doc_60", filters={"language": "de"})

    assert _comparable(by_field) == _comparable(remote.similar("doc_60", filters=clauses))


def test_texts_have_the_same_hits(local_and_remote: list[SimilaritySearch]) -> None:
    new = text(random.Random("both"), 30) + " ".join(text(random.Random(n), 20) for n in range(3))
    stored = local_and_remote[0].store.records(["a/doc_20.txt", "a/doc_60.txt"], load={"text"})
    for source in [new, *(document.text for document in stored)]:
        for overlap, probability in [(None, None), (0.3, None), (0.3, 0.9), (1, 0.5)]:
            local, remote = (
                search.similar(text=source or "", overlap=overlap, probability=probability, size=100)
                for search in local_and_remote
            )

            assert _comparable(local) == _comparable(remote)


@pytest.mark.parametrize("options", [{}, {"planner": "all", "size": 3}], ids=str)
def test_many_queries_together_have_the_results_of_each_query(
    local_and_remote: list[SimilaritySearch], options: dict[str, Any]
) -> None:
    queries = ["doc_3", "doc_20.txt", "doc_60_20_80", "unknown_20", "a/doc_2", "doc_60_0.5", "", "one two", "doc_138"]
    queries += ["a/doc_60.txt_20", "doc_60_101", '"a/doc_60.txt', *(f"doc_{n}_50_90" for n in range(60, 90, 5))]
    for search in local_and_remote:

        def alone(query: str, search: SimilaritySearch = search) -> object:
            try:
                return search.similar(query, **options)
            except SimdocError as error:
                return error

        many = [_comparable_answer(result) for result in search.similar_many(iter(queries), **options)]

        assert [_comparable_answer(alone(query)) for query in queries] == many


def _comparable_answer(answer: object) -> object:
    """Return an answer that can be compared: of an error the type and message, without the suggested ids."""
    if isinstance(answer, UnknownDocumentError):
        return answer.id
    return (type(answer), str(answer)) if isinstance(answer, SimdocError) else answer


def _comparable(answer: object, size: int = 10) -> object:
    """Return a result without parts that may differ: an estimated total, and ids of equal hits at the end of a page."""
    if not isinstance(answer, SearchResult):
        return _comparable_answer(answer)
    hits = [(hit.overlap, hit.matched_token_count, hit.kind, hit.id) for hit in answer.hits]
    last = hits[-1][:2] if len(hits) == size else None
    total = answer.total if answer.is_total_exact else None
    return replace(answer, hits=[], total=total), [hit[:3] if hit[:2] == last else hit for hit in hits]


def test_bands_beyond_the_clause_limit_keep_their_order(
    temp_indices: TempIndices, new_memory_store: NewStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    need_usual_clauses(temp_indices.engine)
    monkeypatch.setattr(candidates, "MAX_DOCUMENTS_COUNTED_BY_CLIENT", 50)
    stores = in_index(temp_indices, temp_indices.name(), create=True), new_memory_store()
    rng = random.Random(0)
    written = [record("source", range(512), team="a")]
    written += [record(f"{n}", rng.sample(range(512), rng.randrange(20, 400)), team="a") for n in range(120)]
    for store in stores:
        put(store, *written)
    options: dict[str, Any] = {"planner": "all", "size": 200, "filters": {"team": ["a"] * 480}}
    engine, local = (SimilaritySearch(store).similar("source_20_80", **options) for store in stores)

    assert _comparable(engine) == _comparable(local)
    assert 50 < engine.candidate_count == len(list(stores[0].candidates(engine.plan, exclude=DocumentKey("source"))))
