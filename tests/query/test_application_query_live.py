"""An application's own request to a real engine, with its words, its permissions and the similarity clause."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

from simdoc_search import SimilaritySearch, open_store
from simdoc_search.attach.actions import fingerprint_actions
from simdoc_search.query import Similar
from simdoc_search.stores.remote.schema import component_template
from tests.support.engines import call
from tests.support.http_server import TempIndices, indices
from tests.support.texts import overlapping, text

SOURCE = text(random.Random(1), 120)
READABLE = {"terms": {"readers": ["ann", "everyone"]}}


def articles() -> Iterator[dict[str, Any]]:
    """Documents that overlap the source, and long ones that contain it. The user ann may not read some of them."""
    rng = random.Random(2)
    texts = [SOURCE] + [" ".join(SOURCE.split()[: 120 - 4 * number]) + text(rng, 4 * number) for number in range(25)]
    texts += [SOURCE + text(rng, 40 * number) for number in range(25)] + [overlapping(rng, 120, 0.5)[0]]
    for number, content in enumerate(texts):
        kind, readers = ("letter", "contract")[number % 2], ("everyone", "ann", "ben")[number % 3]
        yield {"id": f"{number}", "title": f"a {kind}", "body": content, "readers": readers}


@pytest.fixture(scope="module", params=["opensearch", "elasticsearch"])
def engine_indices(request: pytest.FixtureRequest) -> Iterator[TempIndices]:
    with indices(request.getfixturevalue(f"{request.param}_url")) as opened:
        yield opened


@pytest.fixture(scope="module")
def index(engine_indices: TempIndices) -> str:
    """An application's index with these articles."""
    fields: dict[str, Any] = component_template()["template"]["mappings"]["properties"]
    kinds = {"title": "text", "body": "text", "readers": "keyword"}
    name = engine_indices.make({"properties": {**fields, **{key: {"type": kind} for key, kind in kinds.items()}}})
    for action in fingerprint_actions(({"_id": article["id"], "_source": article} for article in articles()), "body"):
        engine_indices.put(name, action["_id"], action["_source"])
    return name


def hits(
    engine_indices: TempIndices, index: str, query: dict[str, Any], parts: list[str], size: int = 100
) -> list[dict[str, Any]]:
    body = {"query": query, "_source": ["title", *parts], "size": size}
    found: list[dict[str, Any]] = call(engine_indices.engine, "POST", f"/{index}/_search", body)["hits"]["hits"]
    return found


def source_tokens(engine_indices: TempIndices, index: str) -> str:
    tokens: str = call(engine_indices.engine, "GET", f"/{index}/_doc/0")["_source"]["simdoc"]["tokens"]
    return tokens


@pytest.mark.parametrize(("overlap", "probability"), [(None, None), (0.2, None), (0.8, None), (0.5, 0.8)])
def test_one_request_finds_what_the_search_finds(
    engine_indices: TempIndices, index: str, overlap: float | None, probability: float | None
) -> None:
    """This is checked for a stored document and for a text, with permissions. The overlaps are the same, too."""
    search = SimilaritySearch(open_store(f"{engine_indices.engine}/{index}"))
    buckets: dict[str, Any] = {"fingerprint_size_field": "simdoc.buckets"}
    by_id = Similar(source_tokens(engine_indices, index), overlap, probability, **buckets)
    from_text = Similar.from_text(SOURCE, overlap, probability, **buckets)
    options: dict[str, Any] = {"overlap": overlap, "probability": probability, "filters": [READABLE]}
    options |= {"size": 100, "verify": False}

    for similar, expected in (
        (by_id, search.similar("0", **options, query_document_filters=[READABLE])),
        (from_text, search.similar(text=SOURCE, **options)),
    ):
        clause = similar.clause(filters=[READABLE], exclude_id=expected.query.id or None)
        refined = similar.refine(hits(engine_indices, index, clause, similar.source_fields))

        assert len(refined) > 2
        assert {hit.id: hit.overlap for hit in expected.hits} == {found.hit["_id"]: found.overlap for found in refined}
        assert {hit.id: hit.matched_token_count for hit in expected.hits} == {
            found.hit["_id"]: found.matched_token_count for found in refined
        }


def test_refining_drops_long_documents_below_the_overlap(engine_indices: TempIndices, index: str) -> None:
    """Long documents contain the source, so the clause alone ranks them first."""
    similar = Similar(source_tokens(engine_indices, index), 0.5)
    found = hits(engine_indices, index, similar.clause(exclude_id="0"), similar.source_fields, size=40)
    refined = similar.refine(found)

    assert 10 < len(refined) < len(found) - 5
    assert min(hit.overlap for hit in refined) >= 0.5
    assert [round(hit.hit["_score"]) for hit in refined] == [hit.matched_token_count for hit in refined]


def test_the_clause_as_a_filter_keeps_the_applications_scores(engine_indices: TempIndices, index: str) -> None:
    similar = Similar(source_tokens(engine_indices, index), 0.5, 0.8)
    words = {"match": {"title": "letter"}}
    alone = hits(engine_indices, index, {"bool": {"must": [words], "filter": [READABLE]}}, similar.source_fields)
    with_similar = hits(
        engine_indices,
        index,
        {"bool": {"must": [words], "filter": [READABLE, similar.clause()]}},
        similar.source_fields,
    )
    score = {hit["_id"]: hit["_score"] for hit in alone}
    refined = similar.refine(with_similar)

    assert 3 < len(refined) <= len(with_similar) < len(alone)
    assert {"a letter"} == {hit.hit["_source"]["title"] for hit in refined}
    assert [score[hit["_id"]] for hit in with_similar] == [hit["_score"] for hit in with_similar]
    assert {hit.hit["_id"] for hit in refined} == {hit.hit["_id"] for hit in similar.refine(alone)}
