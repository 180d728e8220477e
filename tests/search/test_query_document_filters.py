"""Errors and results reveal nothing about documents that `query_document_filters` exclude, in every store."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from simdoc_search import Document, DocumentKey, Settings, SimilaritySearch, any_of, none_of
from simdoc_search.errors import AmbiguousQueryError, UnknownDocumentError
from simdoc_search.search.results import raise_if_error
from simdoc_search.search.similar_result import SearchResult
from simdoc_search.sketch.concepts import ConceptSettings
from simdoc_search.sketch.sentences import SentenceSettings
from simdoc_search.stores.filters import Filters
from tests.support.stores import NewStore

RunQuery = Callable[..., Any]
SETTINGS = Settings(sentences=SentenceSettings(), concepts=ConceptSettings("names"))
BEN: Filters = {"readers": ["ben", "everyone"]}
ANN: Filters = {"readers": any_of("ann", "everyone")}
EVE: Filters = [{"readers": "everyone"}, {"readers": none_of("ann")}]
TEXT = "They met Jason Dufner and Elin Nordegren at Oak Hill. " + " ".join(f"Word{n} follows." for n in range(60))
READERS = {
    "drafts/merger.txt": ["ann"],
    "drafts/merger_20": ["ann"],
    "sold/merger.txt": ["ben", "everyone"],
    "sold/manual.txt": ["everyone"],
}

QUERIES: dict[str, RunQuery] = {
    "similar": SimilaritySearch.similar,
    "containment": lambda search, query, **more: search.similar(query, measure="containment", **more),
    "many": lambda search, query, **more: raise_if_error(*search.similar_many([query], **more)),
    "passages": SimilaritySearch.passages,
    "versions": SimilaritySearch.versions,
    "related": SimilaritySearch.related,
}


@pytest.fixture(scope="module")
def search(shared_store: NewStore) -> SimilaritySearch:
    """A search over documents with the same text and different readers."""
    search = SimilaritySearch(shared_store(SETTINGS))
    assert not search.index(Document(id, TEXT, {"readers": readers}) for id, readers in READERS.items()).has_failed
    return search


@pytest.fixture(params=QUERIES)
def run_query(request: pytest.FixtureRequest, search: SimilaritySearch) -> RunQuery:
    """Run one kind of query."""
    return lambda query, **more: QUERIES[request.param](search, query, **more)


def test_filters_of_the_source_are_not_filters_of_the_hits(run_query: RunQuery) -> None:
    hits = {hit.id for hit in run_query("sold/manual.txt", query_document_filters=BEN)}

    assert {"drafts/merger.txt", "drafts/merger_20", "sold/merger.txt"} == hits
    assert {"sold/merger.txt"} == {
        hit.id for hit in run_query("sold/manual.txt", query_document_filters=BEN, filters=BEN)
    }
    assert hits <= {hit.id for hit in run_query("drafts/merger.txt", query_document_filters=ANN)} | {
        "drafts/merger.txt"
    }


def test_an_unreadable_document_has_the_error_of_an_unknown_document(run_query: RunQuery) -> None:
    for query in ("drafts/merger.txt", "./drafts/merger.txt", "drafts/merger", DocumentKey("drafts/merger.txt")):
        id = query.id if isinstance(query, DocumentKey) else query
        absent_id = id.replace("drafts", "drifts")
        absent = DocumentKey(absent_id) if isinstance(query, DocumentKey) else absent_id
        with pytest.raises(UnknownDocumentError) as unreadable:
            run_query(query, query_document_filters=BEN)
        with pytest.raises(UnknownDocumentError) as unknown:
            run_query(absent, query_document_filters=BEN)
        message = str(unreadable.value)

        assert str(unknown.value).replace("drifts", "drafts") == message
        assert not [name for name in ("merger_20", "drafts/merger.txt") if name in message.partition(";")[2]]


def test_unreadable_documents_do_not_make_a_query_ambiguous(search: SimilaritySearch) -> None:
    assert "sold/merger.txt" == search.similar("merger", query_document_filters=BEN).query.id
    with pytest.raises(AmbiguousQueryError):
        search.similar("merger", query_document_filters=ANN)
    with pytest.raises(UnknownDocumentError):
        search.similar("drafts/merger_20", query_document_filters=EVE)
    result = search.similar("drafts/merger_20", query_document_filters=[{"path": "drafts/merger_"}])
    assert "drafts/merger_20" == result.query.id


def test_only_readable_documents_are_suggested(search: SimilaritySearch) -> None:
    for filters, expected in ((BEN, ("sold/merger.txt",)), (EVE, ("sold/merger.txt",)), (None, 3)):
        with pytest.raises(UnknownDocumentError) as caught:
            search.similar("merger.txd", query_document_filters=filters)

        assert expected in (caught.value.suggestions, len(caught.value.suggestions))


def test_similar_many_yields_an_error_for_an_unreadable_document(search: SimilaritySearch) -> None:
    results = search.similar_many(["drafts/merger.txt", "sold/manual.txt", "nobody"], query_document_filters=BEN)

    assert [UnknownDocumentError, SearchResult, UnknownDocumentError] == [type(result) for result in results]


def test_a_filter_by_an_unknown_field_excludes_every_source(search: SimilaritySearch) -> None:
    for method in (search.similar, search.passages):
        with pytest.raises(UnknownDocumentError):
            method("sold/manual.txt", query_document_filters={"reader": "everyone"})


def test_resolve_takes_source_filters(search: SimilaritySearch) -> None:
    assert "sold/manual.txt" == search.resolve("manual", query_document_filters=BEN).id
    with pytest.raises(UnknownDocumentError):
        search.resolve("drafts/merger.txt", query_document_filters=BEN)
