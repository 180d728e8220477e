"""What documents are about is found behind an alias and in a data stream as in a store in memory."""

from __future__ import annotations

import pytest

from simdoc_search import Document, Settings, SimilaritySearch, open_store
from simdoc_search.sketch.concepts import Concepts
from simdoc_search.sketch.sentences import Sentences
from tests.support.cli import answer, output, run, sentence
from tests.support.living import has_data_streams, rolling
from tests.versions.paper import DOCUMENTS

BOTH = Settings(sentences=Sentences(), concepts=Concepts())


@pytest.fixture(params=["opensearch", "elasticsearch_7"])
def engine_url(request: pytest.FixtureRequest) -> str:
    """Each engine that has pipelines and search templates."""
    return str(request.getfixturevalue(f"{request.param}_url"))


@pytest.mark.parametrize("kind", ["alias", "data stream"])
def test_related_documents_are_in_all_indices(engine_url: str, kind: str) -> None:
    """Their concepts are given by a backfill. After a rollover the next index has none: the command is named."""
    if kind == "data stream" and not has_data_streams(engine_url):
        pytest.skip("this engine has no data streams")
    memory = SimilaritySearch(open_store(":memory:", BOTH, create=True))
    memory.index(Document(f"D{number}", text) for number, text in enumerate(DOCUMENTS, 1))
    with rolling(engine_url, is_stream=kind == "data stream") as articles:
        for number, text in enumerate(DOCUMENTS, 1):
            articles.write(f"D{number}", {"body": text})
            articles.roll_over()
        output("backfill", articles.url, "--with", "versions,relations")
        for number in range(1, len(DOCUMENTS) + 1):
            expected = [(hit.kind, hit.id) for hit in memory.related(f"D{number}").hits]
            hits = answer("related", f"D{number}", "--store", articles.url)["hits"]
            assert expected == [(hit["kind"], hit["id"]) for hit in hits]
            assert len({hit["index"] for hit in hits}) == len(hits)

        articles.roll_over()
        copy = articles.write("copy", {"body": DOCUMENTS[2]})["_index"]
        refused = sentence(run("related", "D3", "--store", articles.url))
        assert f"the index {copy} of {articles.url} has no concepts; run simdoc-search backfill" in refused

        output("backfill", articles.url, "--with", "versions,relations")
        hits = answer("related", "D3", "--store", articles.url)["hits"]
        assert [("version", "copy"), ("related", "D4")] == [(hit["kind"], hit["id"]) for hit in hits]
