"""The recipes for frameworks of retrieval fold near-duplicates in the interfaces of these frameworks."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from simdoc_search.attach.actions import fingerprint_field
from tests.support.cli import words
from tests.support.examples import EXAMPLES

LEASE, COPY, OTHER = words(0, 120), words(2, 122), words(500, 620)
RECIPES = ("langchain", "llama_index", "haystack", "hybrid_search")


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_has_at_most_30_lines(name: str) -> None:
    assert len(Path(EXAMPLES / f"with_{name}.py").read_text("utf-8").splitlines()) <= 30


@pytest.mark.slow
def test_the_retriever_of_langchain_returns_the_first_of_each_group() -> None:
    documents = import_module("langchain_core.documents")
    retrievers = import_module("langchain_core.retrievers")

    class Found(retrievers.BaseRetriever):  # type: ignore[misc, name-defined]
        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Any]:  # noqa: ARG002
            return [documents.Document(page_content=text) for text in (LEASE, COPY, OTHER)]

    folding = import_module("with_langchain").FoldingRetriever

    assert [LEASE, OTHER] == [chunk.page_content for chunk in folding(retriever=Found()).invoke("a question")]
    assert [LEASE] == [chunk.page_content for chunk in folding(retriever=Found(), size=1).invoke("a question")]


@pytest.mark.slow
def test_the_postprocessor_of_llama_index_shows_the_newest_version() -> None:
    schema = import_module("llama_index.core.schema")

    def node(text: str, name: str) -> Any:
        return schema.NodeWithScore(node=schema.TextNode(text=text, metadata={"file_name": name}), score=0.5)

    found = [node(LEASE, "lease_2019.txt"), node(COPY, "lease_2024.txt"), node(OTHER, "memo.txt")]
    unclear = [node(LEASE, "a.txt"), node(COPY, "b.txt")]
    newest = import_module("with_llama_index").NewestVersions()

    shown = newest.postprocess_nodes(found)
    assert [("lease_2024.txt", "newest"), ("memo.txt", "only")] == [
        (hit.node.metadata["file_name"], hit.node.metadata["version"].partition(":")[0]) for hit in shown
    ]
    assert ["undecided: no evidence shows which is newer"] * 2 == [
        hit.node.metadata["version"] for hit in newest.postprocess_nodes(unclear)
    ]


@pytest.mark.slow
def test_the_component_of_haystack_runs_in_a_pipeline() -> None:
    haystack = import_module("haystack")
    documents = [haystack.Document(content=text) for text in (LEASE, COPY, OTHER)]
    pipeline = haystack.Pipeline()
    pipeline.add_component("fold", import_module("with_haystack").NearDuplicateFolder())

    shown = pipeline.run({"fold": {"documents": documents}})["fold"]["documents"]

    assert [LEASE, OTHER] == [document.content for document in shown]
    assert [[documents[1].id], []] == [document.meta["folded_ids"] for document in shown]


@pytest.mark.parametrize("kind", ["query", "retriever"])
def test_more_hits_of_a_merged_search_are_requested_until_enough_are_shown(kind: str) -> None:
    """The engine is a function with its answers, because both engines return merged hits in the same form."""
    texts = [*[words(0, 120)] * 40, *(words(1000 * number, 1000 * number + 120) for number in range(1, 5))]
    windows = []

    def search(*, body: Mapping[str, Any]) -> Mapping[str, Any]:
        windows.append((body["size"], body.get("retriever", {}).get("rrf", {}).get("rank_window_size")))
        hits = [{"_id": str(n), "_source": {"simdoc": fingerprint_field(text)}} for n, text in enumerate(texts)]
        return {"hits": {"hits": hits[: body["size"]]}}

    body: dict[str, Any]
    body = {"query": {"hybrid": {"queries": []}}} if kind == "query" else {"retriever": {"rrf": {"retrievers": []}}}
    shown = import_module("with_hybrid_search").search_folded(search, body, size=4)

    assert ["0", "40", "41", "42"] == [hit["_id"] for hit, _ in shown]
    assert [12, 24, 48] == [size for size, _ in windows]
    assert all(window == (None if kind == "query" else size) for size, window in windows)
