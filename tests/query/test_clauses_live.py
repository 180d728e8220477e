"""FINGERPRINT among other clauses in real engines. The engine's own parser defines what a query means."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

from simdoc_search import SimilaritySearch, open_store
from simdoc_search.attach.actions import fingerprint_actions
from simdoc_search.query.clauses import expand_fingerprints
from simdoc_search.stores.remote.schema import component_template
from tests.support.cli import answer
from tests.support.engines import call
from tests.support.http_server import TempIndices, indices
from tests.support.texts import overlapping, text

SOURCE = text(random.Random(1), 120)
TEAMS = ("legal", "sales", "press")


@pytest.fixture(scope="module", params=["opensearch", "elasticsearch", "elasticsearch_7"])
def engine_indices(request: pytest.FixtureRequest) -> Iterator[TempIndices]:
    with indices(request.getfixturevalue(f"{request.param}_url")) as opened:
        yield opened


@pytest.fixture(scope="module")
def index(engine_indices: TempIndices) -> str:
    """Documents with some of four marks, and a team. Every second document overlaps the source by half."""
    rng = random.Random(2)
    fields: dict[str, Any] = component_template()["template"]["mappings"]["properties"]
    kinds = {"body": "text", "team": "keyword", "marks": "text", "tag": "keyword"}
    name = engine_indices.make({"properties": {**fields, **{key: {"type": kind} for key, kind in kinds.items()}}})
    sources = {"source": {"body": SOURCE, "team": "legal", "marks": "", "tag": []}}
    for number in range(40):
        body = overlapping(rng, 120, 0.5)[1] if number % 2 else SOURCE + text(rng, 30)
        marks = rng.sample(["one", "two", "three", "four"], rng.randint(0, 4))
        tags = rng.sample(["a", "b"], rng.randint(0, 2))
        sources[f"{number}"] = {"body": body, "team": TEAMS[number % 3], "marks": " ".join(marks), "tag": tags}
    for action in fingerprint_actions(({"_id": id, "_source": source} for id, source in sources.items()), "body"):
        engine_indices.put(name, action["_id"], action["_source"])
    return name


def scores(engine_indices: TempIndices, index: str, query: dict[str, Any]) -> dict[str, Any]:
    body = {"query": query, "size": 100, "_source": False}
    found = call(engine_indices.engine, "POST", f"/{index}/_search", body)["hits"]["hits"]
    return {hit["_id"]: pytest.approx(hit["_score"], rel=1e-4) for hit in found}


def queries(count: int) -> Iterator[str]:
    """Random queries of words, tags, operators, modifiers and parentheses."""
    rng = random.Random(3)

    def level(depth: int) -> str:
        written = ""
        for number in range(rng.randint(1, 4)):
            atom = rng.choice(["marks:one", "marks:two", "marks:(three four)", "FINGERPRINT:a", "FINGERPRINT:b"])
            if depth < 2 and rng.random() < 0.25:
                atom = f"({level(depth + 1)})"
            modifier = rng.choice(["", "", "", "NOT ", "+", "-"])
            conjunction = rng.choice([" ", " AND ", " OR "]) if number else ""
            written += conjunction + (modifier if conjunction in {"", " "} or modifier == "NOT " else "") + atom
        return written

    for _ in range(count):
        yield level(0)


@pytest.mark.parametrize("options", [{}, {"default_operator": "AND"}, {"minimum_should_match": 2}, {"boost": 3}])
def test_an_expanded_query_means_the_same_to_the_engine(
    engine_indices: TempIndices, index: str, options: dict[str, Any]
) -> None:
    """If each FINGERPRINT becomes a clause on a tag, the hits and scores are those of the query with the tag."""
    for query in queries(25):
        written = {"query_string": {"query": query.replace("FINGERPRINT:", "tag:"), **options}}
        ours = expand_fingerprints(
            {"query": {"query_string": {"query": query, **options}}}, lambda value: {"term": {"tag": value}}
        )
        if {"minimum_should_match", "must_not"} == ours["query"].get("bool", {}).keys():
            continue  # without optional clauses, the engine's parser matches no document, and a bool query matches all
        assert scores(engine_indices, index, written) == scores(engine_indices, index, ours["query"]), query


def test_fingerprints_are_expanded_by_the_search(engine_indices: TempIndices, index: str) -> None:
    """A query string or a request is expanded. The source is only a hit with `include_self`."""
    search = SimilaritySearch(open_store(f"{engine_indices.engine}/{index}"))
    alike = {hit.id for hit in search.similar("source_50", size=100, verify=False).hits}
    legal = {f"{number}" for number in range(40) if not number % 3} & alike
    written = search.expand_fingerprints("FINGERPRINT:source_50 AND team:legal AND NOT marks:four")
    body = {"query": {"query_string": {"query": "FINGERPRINT:source_50 AND team:legal"}}, "size": 100}
    found = call(
        engine_indices.engine, "POST", f"/{index}/_search", search.expand_fingerprints(body, include_self=True)
    )

    assert 5 < len(legal) < len(alike)
    assert set(scores(engine_indices, index, written)) < legal
    assert legal | {"source"} == {hit["_id"] for hit in found["hits"]["hits"]}


def test_clauses_of_the_command_are_filters(engine_indices: TempIndices, index: str) -> None:
    """The clauses mean the same as --filter-any and --exclude."""
    place = ["--store", f"{engine_indices.engine}/{index}", "--text-field", "body", "--size", "100"]
    with_clauses = answer("similar", "FINGERPRINT:source_50 AND team:(legal OR sales) AND NOT tag:a", *place)
    options = ["--filter-any", "team=legal", "--filter-any", "team=sales", "--exclude", "tag=a"]

    assert with_clauses["hits"]
    assert answer("similar", "source_50", *options, *place)["hits"] == with_clauses["hits"]
