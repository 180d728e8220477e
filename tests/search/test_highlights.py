"""What a hit shares, marked in the stored texts, in every store: for whoever may read both."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from simdoc_search import Document, Highlights, SimilaritySearch
from simdoc_search.errors import NoTextError, QuerySyntaxError, UnknownDocumentError
from tests.support.stores import NewStore

SHARED = "the tenant pays the rent on the first day of each month in advance without being asked for it by anybody"
TEXTS = {"letter": f"Dear Ben, {SHARED}. Yours, Ann", "lease": f"Contract: {SHARED}; all else is as before <now>"}
READERS = {"letter": "ann", "lease": "everyone"}


@pytest.fixture
def search(new_store: NewStore) -> Iterator[SimilaritySearch]:
    """A search over two documents that share a sentence."""
    with new_store() as store:
        made = SimilaritySearch(store)
        made.index(Document(id, text, {"readers": READERS[id]}) for id, text in TEXTS.items())
        yield made


def test_a_hit_is_shown_with_what_it_shares(search: SimilaritySearch) -> None:
    """By its place or id, with a stored document or a text; a passage hit's own places are the same."""
    (hit,) = search.passages("letter").hits
    found = search.highlight(hit.place, "letter")

    assert f"Contract: <mark>{SHARED}</mark>; all else is as before &lt;now&gt;" == found.hit.html()
    assert f"Dear Ben, <mark>{SHARED}</mark>. Yours, Ann" == found.query.html()
    assert found == search.highlight("lease", "letter") == search.highlight("lease", text=TEXTS["letter"])
    assert found == Highlights.of(TEXTS["letter"], TEXTS["lease"], hit.passages)


def test_nobody_sees_a_text_that_she_may_not_read(search: SimilaritySearch) -> None:
    """Neither of the hit nor of the source: each is as if it were not stored."""
    everyone = {"readers": "everyone"}
    wrong: list[dict[str, Any]] = [
        {"hit": "letter", "query": "lease", "filters": everyone},
        {"hit": "lease", "query": "letter", "source_filters": everyone},
        {"hit": "nobody", "query": "lease"},
    ]
    for asked in wrong:
        with pytest.raises(UnknownDocumentError):
            search.highlight(**asked)
    assert search.highlight("lease", "letter", filters=everyone).passages


def test_without_a_text_it_is_said(new_store: NewStore) -> None:
    """A store that keeps none cannot show what is shared."""
    with new_store(store_texts=False) as store:
        search = SimilaritySearch(store)
        search.index(Document(id, text) for id, text in TEXTS.items())
        with pytest.raises(NoTextError, match="does not have the text of 'lease'"):
            search.highlight("lease", text=TEXTS["letter"])


def test_what_is_wrong_is_refused(search: SimilaritySearch) -> None:
    """Both a document and a text, neither, or no preset."""
    for options, said in (
        ({}, "give either the id of a document or a text"),
        ({"query": "letter", "text": "a"}, "give either the id of a document or a text"),
        ({"query": "letter", "preset": "all"}, "preset must be edited or verbatim"),
    ):
        with pytest.raises(QuerySyntaxError, match=said):
            search.highlight("lease", **options)  # type: ignore[arg-type]
