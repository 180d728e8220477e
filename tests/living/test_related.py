"""`related` finds the same documents behind an alias as in a store in memory."""

from __future__ import annotations

from simdoc_search import Document, Settings, SimilaritySearch, open_store
from simdoc_search.sketch.concepts import ConceptSettings
from simdoc_search.sketch.sentences import SentenceSettings
from tests.support.cli import answer, output, run, sentence
from tests.support.rolling_index import rolling
from tests.versions.paper import DOCUMENTS


def test_related_documents_are_found_in_all_indices(opensearch_url: str) -> None:
    """`backfill` adds their concepts. An index after a rollover has none, and the message names it."""
    memory = SimilaritySearch(
        open_store(":memory:", Settings(sentences=SentenceSettings(), concepts=ConceptSettings()), create=True)
    )
    memory.index(Document(f"D{number}", text) for number, text in enumerate(DOCUMENTS, 1))
    with rolling(opensearch_url) as articles:
        for number, text in enumerate(DOCUMENTS, 1):
            articles.write(f"D{number}", {"body": text})
            articles.roll_over()
        output("backfill", articles.url, "--with", "versions,related")
        expected = [(hit.kind, hit.id) for hit in memory.related("D3").hits]
        hits = answer("related", "D3", "--store", articles.url)["hits"]
        assert expected == [(hit["kind"], hit["id"]) for hit in hits]
        assert len({hit["index"] for hit in hits}) == len(hits)

        articles.roll_over()
        copy = articles.write("copy", {"body": DOCUMENTS[2]})["_index"]
        refused = sentence(run("related", "D3", "--store", articles.url))
        assert f"the index {copy} of {articles.url} has no concepts; run `simdoc-search backfill" in refused

        output("backfill", articles.url, "--with", "versions,related")
        hits = answer("related", "D3", "--store", articles.url)["hits"]
        assert [("version", "copy"), ("related", "D4")] == [(hit["kind"], hit["id"]) for hit in hits]
