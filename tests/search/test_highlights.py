"""Tests of `highlight`, which marks shared passages in two texts, in every store."""

from __future__ import annotations

from typing import Any

import pytest

from simdoc_search import Document, Highlights, SimilaritySearch
from simdoc_search.errors import NoTextError, QuerySyntaxError, UnknownDocumentError
from tests.support.stores import NewStore

SHARED = "the tenant pays the rent on the first day of each month in advance without being asked for it by anybody"
TEXTS = {"letter": f"Dear Ben, {SHARED}. Yours, Ann", "lease": f"Contract: {SHARED}; all else is as before <now>"}
READERS = {"letter": "ann", "lease": "everyone"}
EVERYONE = {"readers": "everyone"}


@pytest.fixture(scope="module")
def search(shared_store: NewStore) -> SimilaritySearch:
    """A search over two documents that share a sentence."""
    search = SimilaritySearch(shared_store())
    search.index(Document(id, text, {"readers": READERS[id]}) for id, text in TEXTS.items())
    return search


def test_shared_passages_are_marked_in_both_texts(search: SimilaritySearch) -> None:
    (hit,) = search.passages("letter").hits
    highlights = search.highlight(hit.key, "letter")

    assert f"Contract: <mark>{SHARED}</mark>; all else is as before &lt;now&gt;" == highlights.hit.html()
    assert f"Dear Ben, <mark>{SHARED}</mark>. Yours, Ann" == highlights.query.html()
    assert highlights == search.highlight("lease", "letter") == search.highlight("lease", text=TEXTS["letter"])
    assert highlights == Highlights.from_passages(TEXTS["letter"], TEXTS["lease"], hit.passages)


@pytest.mark.parametrize(
    "options",
    [
        {"hit": "letter", "query": "lease", "filters": EVERYONE},
        {"hit": "lease", "query": "letter", "query_document_filters": EVERYONE},
        {"hit": "nobody", "query": "lease"},
    ],
)
def test_a_document_that_filters_exclude_is_unknown(search: SimilaritySearch, options: dict[str, Any]) -> None:
    with pytest.raises(UnknownDocumentError):
        search.highlight(**options)
    assert search.highlight("lease", "letter", filters=EVERYONE).passages


def test_a_store_without_texts_is_refused(new_store: NewStore) -> None:
    with new_store(store_texts=False) as store:
        search = SimilaritySearch(store)
        search.index(Document(id, text) for id, text in TEXTS.items())
        with pytest.raises(NoTextError, match="does not have the text of 'lease'"):
            search.highlight("lease", text=TEXTS["letter"])


@pytest.mark.parametrize("options", [{}, {"query": "letter", "text": "a"}, {"query": "letter", "preset": "all"}])
def test_malformed_options_are_refused(search: SimilaritySearch, options: dict[str, Any]) -> None:
    with pytest.raises(
        QuerySyntaxError, match=r"give exactly one of a document id|preset must be 'edited' or 'verbatim'"
    ):
        search.highlight("lease", **options)
