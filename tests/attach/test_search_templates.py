"""Requests with the stored search templates find the same hits as the query builder."""

from __future__ import annotations

import itertools
import json
import math
import random
from collections.abc import Iterator
from typing import Any

import pytest

from simdoc_search.attach.actions import fingerprint_field
from simdoc_search.attach.pipeline import build_pipeline_body
from simdoc_search.attach.search_templates import build_search_templates
from simdoc_search.errors import StoreError
from simdoc_search.query import similar_by_id
from simdoc_search.sketch.estimate import compare_token_ids
from simdoc_search.sketch.minhash import MinHash
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.sketches import XorSketch
from simdoc_search.sketch.tokens import decode_text
from simdoc_search.sketch.winnow import PASSAGE_TOKEN_LENGTH
from simdoc_search.stores import open_store
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.errors import RequestError
from simdoc_search.stores.remote.schema import component_template
from tests.support.backfill import load, to
from tests.support.cli import answer, output, run, words
from tests.support.engines import call
from tests.support.http_server import TempIndices, indices
from tests.support.pipeline_installation import install_search_templates
from tests.support.texts import overlapping, text

NAMES = [
    "simdoc-similar",
    "simdoc-similar-to-text",
    "simdoc-passages",
    "simdoc-new-copies",
    "simdoc-bands",
    "simdoc-overlap",
]
HOSTILE = 'a"b\\c/{{id}} é日本\u2028'


def collection() -> dict[str, str]:
    """Short and long texts: pairs with many overlaps, and texts without a similar one."""
    rng = random.Random("search templates")
    texts = {"one": "one two three four five", "same": "One two three, four five!", HOSTILE: words(0, 200)}
    texts |= {f"part{number}": words(0, number) for number in (7, 20, 60, 150, 199)}
    for percent in (5, 15, 20, 40, 50, 80, 95):
        for size in (60, 900):
            texts[f"{size}-{percent}-a"], texts[f"{size}-{percent}-b"] = overlapping(rng, size, percent / 100)
    return texts | {f"alone{number}": text(rng, 300) for number in range(5)}


TEXTS = collection()


@pytest.fixture(scope="module")
def engine(opensearch_url: str) -> Iterator[Engine]:
    """An engine with the templates."""
    with to(opensearch_url) as opened:
        install_search_templates(opened, force=True)
        yield opened


def articles(temp_indices: TempIndices, texts: dict[str, str], *, field: str = "simdoc") -> str:
    """Create an index of texts with fingerprints and numbers."""
    ours = component_template(field=field)["template"]["mappings"]["properties"]
    index = temp_indices.make({"properties": {"body": {"type": "text"}, "number": {"type": "integer"}, **ours}})
    sources = {
        id: {"body": body, "number": number, field: fingerprint_field(body)}
        for number, (id, body) in enumerate(texts.items())
    }
    with to(temp_indices.engine) as opened:
        load(opened, index, sources)
    return index


@pytest.fixture(scope="module")
def temp_indices(opensearch_url: str) -> Iterator[TempIndices]:
    """The indices of the tests."""
    with indices(opensearch_url) as owned:
        yield owned


@pytest.fixture(scope="module")
def index(temp_indices: TempIndices) -> str:
    """An index of TEXTS, which no test changes."""
    return articles(temp_indices, TEXTS)


def search(engine: Engine, index: str, template: str, /, **params: Any) -> Any:
    """The response to a search with a template."""
    return engine.call("POST", [index, "_search", "template"], {"id": template, "params": params})


def scores(answer: Any) -> dict[str, float]:
    """The scores of the hits, by id."""
    return {hit["_id"]: hit["_score"] for hit in answer["hits"]["hits"]}


def expected(engine: Engine, index: str, id: str, overlap: float | None, **options: Any) -> dict[str, float]:
    """The scores of the hits of the query builder."""
    return scores(engine.search(index, {"query": similar_by_id(index, id, overlap, **options), "size": 100}))


def fingerprint_in(engine: Engine, index: str, id: str) -> dict[str, Any]:
    """The fingerprint of a document."""
    value: dict[str, Any] = engine.call("GET", [index, "_doc", id])["_source"]["simdoc"]
    return value


# --- without an engine ---


def test_the_command_prints_the_bodies() -> None:
    """The field can be chosen. Its name is escaped as in JSON."""
    templates = build_search_templates()

    assert NAMES == list(templates)
    assert ["mustache"] * 4 + ["painless"] * 2 == [template["script"]["lang"] for template in templates.values()]
    assert [] == [name for name, template in templates.items() if "$" in template["script"]["source"]]
    assert templates == json.loads(output("template", "show", "--search"))
    assert build_search_templates('a"b') == json.loads(output("template", "show", "--search", "--field", 'a"b'))
    assert '{{^field}}a\\"b{{/field}}.tokens"' in build_search_templates('a"b')["simdoc-similar"]["script"]["source"]


# --- simdoc-similar ---


def test_without_an_overlap_the_hits_are_those_of_the_query_builder(engine: Engine, index: str) -> None:
    """The scores, which are the numbers of matching tokens, are the same too. Ids may have any characters."""
    for id in TEXTS:
        found = scores(search(engine, index, "simdoc-similar", index=index, id=id, size=100))

        assert expected(engine, index, id, None) == found, id
        assert id not in found


@pytest.mark.parametrize("overlap", [1, 33, 80, 100])
def test_an_overlap_requires_that_share_of_the_tokens(engine: Engine, index: str, overlap: int) -> None:
    """The number is rounded down. With the parameter `min_tokens`, the hits are those of the query builder."""
    count = 0
    for id in list(TEXTS)[::2]:
        buckets = fingerprint_in(engine, index, id)["buckets"]
        source: dict[str, Any] = {"index": index, "id": id, "size": 100}
        every = scores(search(engine, index, "simdoc-similar", **source, overlap=0))
        found = scores(search(engine, index, "simdoc-similar", **source, overlap=overlap))
        least = math.ceil(buckets * overlap / 100)
        exact = search(engine, index, "simdoc-similar", **source, overlap=overlap, min_tokens=least)
        count += len(found)

        assert {other: n for other, n in every.items() if n >= buckets * overlap // 100} == found
        if overlap > 1:
            assert expected(engine, index, id, overlap / 100) == scores(exact)
    assert count


@pytest.mark.parametrize("shards", [1, 3])
def test_with_the_number_of_tokens_hits_have_about_the_overlap(
    engine: Engine, temp_indices: TempIndices, shards: int
) -> None:
    """The estimates of the package differ a little, because they know which buckets are filled in both documents."""
    ours = component_template()["template"]["mappings"]["properties"]
    index = temp_indices.make({"properties": ours}, {"number_of_shards": shards})
    fingerprints = {id: fingerprint_field(body) for id, body in TEXTS.items()}
    load(engine, index, {id: {"simdoc": value} for id, value in fingerprints.items()})
    token_ids = {id: decode_text(value["tokens"]) for id, value in fingerprints.items()}
    counts = [0, 0]
    for id, overlap in itertools.product(TEXTS, (5, 40, 80, 100)):
        source: dict[str, Any] = {"index": index, "id": id, "overlap": overlap, "size": 100}
        found = scores(search(engine, index, "simdoc-similar", **source, buckets=fingerprints[id]["buckets"]))
        others = {other: compare_token_ids(token_ids[id], token_ids[other]).overlap for other in TEXTS if other != id}
        counts[0] += len(found)
        counts[1] += len(scores(search(engine, index, "simdoc-similar", **source)))

        assert set(found) <= {other for other, estimate in others.items() if estimate > overlap / 100 - 0.04}
        assert set(found) >= {other for other, estimate in others.items() if estimate > overlap / 100 + 0.04}
    assert 50 < counts[0] < counts[1] - 20


@pytest.mark.parametrize("sketch", [MinHash(bucket_count=1024), XorSketch(200)], ids=str)
def test_other_sketches_lose_no_hit_of_the_overlap(engine: Engine, temp_indices: TempIndices, sketch: Any) -> None:
    settings = Settings(sketch=sketch)
    texts = dict(zip("ab", overlapping(random.Random("sketch"), 2000, 0.8), strict=True))
    ours = component_template(settings)["template"]["mappings"]["properties"]
    index = temp_indices.make({"properties": ours})
    load(engine, index, {id: {"simdoc": fingerprint_field(body, settings)} for id, body in texts.items()})
    buckets = fingerprint_in(engine, index, "a")["buckets"]

    found = search(engine, index, "simdoc-similar", index=index, id="a", overlap=65, buckets=buckets)
    assert ["b"] == list(scores(found))


def test_filters_are_clauses_of_the_application(engine: Engine, index: str) -> None:
    """A filter is a list of clauses or one clause, with any characters."""
    source: dict[str, Any] = {"index": index, "id": "part199", "size": 100}
    every = scores(search(engine, index, "simdoc-similar", **source))
    numbers = dict(zip(TEXTS, range(len(TEXTS)), strict=True))
    early = {"range": {"number": {"lt": 5}}}
    not_seventh = {"bool": {"must_not": [{"ids": {"values": ["part7", HOSTILE]}}]}}

    def filtered(filters: Any) -> dict[str, float]:
        return scores(search(engine, index, "simdoc-similar", **source, filter=filters))

    assert every == filtered([])
    assert {id: n for id, n in every.items() if numbers[id] < 5} == filtered([early]) == filtered(early)
    assert {id for id in every if numbers[id] < 5} - {"part7", HOSTILE} == set(filtered([early, not_seventh]))
    assert {} == filtered([{"match": {"body": 'nobody "wrote" {{this}} \\'}}])
    assert expected(engine, index, "part199", None, filters=[early]) == filtered([early])


def test_hits_do_not_contain_tokens(engine: Engine, index: str) -> None:
    """They have all other fields, or the requested fields, and the number of their tokens."""
    source: dict[str, Any] = {"index": index, "id": "part199", "size": 1}
    [whole] = search(engine, index, "simdoc-similar", **source)["hits"]["hits"]
    [some] = search(engine, index, "simdoc-similar", **source, fields=["number", "simdoc.tokens", "sim*"])["hits"][
        "hits"
    ]

    assert {"body", "number"} == whole["_source"].keys()
    assert {"number"} == some["_source"].keys()
    buckets = fingerprint_in(engine, index, whole["_id"])["buckets"]
    assert {"simdoc.buckets": [buckets]} == whole["fields"] == some["fields"]


def test_an_unknown_source_finds_nothing(engine: Engine, index: str) -> None:
    """A document without a fingerprint finds nothing too, so a search does not reveal which ids exist."""
    engine.call("PUT", [index, "_doc", "bare"], {"body": "no fingerprint"}, refresh=True)
    answers = [
        search(engine, index, "simdoc-similar", index=index, id="nobody"),
        search(engine, index, "simdoc-similar", index=index, id="bare"),
        search(engine, index, "simdoc-similar", index="test-no-such-index", id="one"),
    ]
    engine.call("DELETE", [index, "_doc", "bare"], refresh=True)

    assert [{}, {}, {}] == [scores(found) for found in answers]


@pytest.mark.parametrize(
    "params", [{}, {"index": ""}, {"id": "one", "overlap": "much"}, {"id": "one", "overlap": 20.5}], ids=str
)
def test_missing_or_wrong_parameters_are_refused(engine: Engine, index: str, params: dict[str, Any]) -> None:
    with pytest.raises(RequestError) as refused:
        search(engine, index, "simdoc-similar", **{"index": index, **params})
    assert 400 == refused.value.status


# --- simdoc-similar-to-text ---


@pytest.mark.parametrize("id", ["one", HOSTILE, "900-50-a"], ids=ascii)
@pytest.mark.parametrize("overlap", [None, 50])
def test_a_fingerprint_finds_the_hits_of_its_document_and_the_document(
    engine: Engine, index: str, id: str, overlap: int | None
) -> None:
    parameters = {"size": 100, **({} if overlap is None else {"overlap": overlap})}
    fingerprint = fingerprint_in(engine, index, id)
    found = scores(search(engine, index, "simdoc-similar-to-text", fingerprint=fingerprint, **parameters))
    source: dict[str, Any] = {"index": index, "id": id, "buckets": fingerprint["buckets"]}
    by_id = scores(search(engine, index, "simdoc-similar", **source, **parameters))

    assert fingerprint["buckets"] == found.pop(id)
    assert by_id == found


def test_a_text_without_words_finds_nothing(engine: Engine, index: str) -> None:
    body = {"pipeline": build_pipeline_body(), "docs": [{"_source": {"body": "..."}}]}
    made = engine.call("POST", ["_ingest", "pipeline", "_simulate"], body)["docs"][0]["doc"]["_source"]["simdoc"]

    assert 0 == made["shingles"]
    for template in ("simdoc-similar-to-text", "simdoc-passages"):
        assert {} == scores(search(engine, index, template, fingerprint=made, overlap=20))


def test_an_overlap_needs_the_number_of_tokens(engine: Engine, index: str) -> None:
    """Without the number, nothing would be left out."""
    fingerprint = fingerprint_in(engine, index, "one")
    del fingerprint["buckets"]
    with pytest.raises(RequestError, match="the parameter fingerprint has no buckets") as refused:
        search(engine, index, "simdoc-similar-to-text", fingerprint=fingerprint, overlap=20)
    assert 400 == refused.value.status
    assert "same" in scores(search(engine, index, "simdoc-similar-to-text", fingerprint=fingerprint))


@pytest.mark.parametrize("template", ["simdoc-similar-to-text", "simdoc-passages", "simdoc-new-copies"])
def test_a_value_that_is_not_a_fingerprint_is_refused(
    engine: Engine, index: str, temp_indices: TempIndices, template: str
) -> None:
    """A response without hits would mean that there is no copy."""
    watches = temp_indices.name()
    output("watch", "one", "--store", f"{temp_indices.engine}/{index}", "--watches", watches)
    wrong: list[Any] = ["a text", "", {}, [], 7, None]
    for fingerprint in wrong:
        with pytest.raises(RequestError) as refused:
            search(engine, watches if template == "simdoc-new-copies" else index, template, fingerprint=fingerprint)
        assert 400 == refused.value.status


# --- simdoc-passages ---


@pytest.mark.parametrize("id", ["part199", HOSTILE, "900-40-a", "alone1"], ids=ascii)
def test_shared_passages_are_those_that_the_store_finds(engine: Engine, index: str, id: str) -> None:
    """The source is an id or a fingerprint. Hits are in descending order of shared passages."""
    fingerprint = fingerprint_in(engine, index, id)
    token_ids = decode_text(fingerprint["passages"], PASSAGE_TOKEN_LENGTH)
    with open_store(f"{engine.name}/{index}") as store:
        shared = {
            document.id: float(document.shared_count)
            for document in store.documents_sharing_tokens(token_ids, size=100).documents
        }
    by_text = search(engine, index, "simdoc-passages", fingerprint=fingerprint, size=100)
    by_id = search(engine, index, "simdoc-passages", id=id, index=index, size=100)

    assert shared == scores(by_text)
    assert shared == scores(by_id) | {id: float(len(token_ids))}
    assert sorted(scores(by_id).values(), reverse=True) == list(scores(by_id).values())


def test_a_long_text_has_up_to_a_thousand_passages(engine: Engine, temp_indices: TempIndices) -> None:
    """Some clauses are left for filters. More passages than the engine accepts are an error."""
    long, book = (text(random.Random("long"), size) for size in (15_000, 40_000))
    texts = {"long": long, "chapter": long[10_000:30_000], "other": words(0, 500), "book": book}
    index = articles(temp_indices, texts)
    filters = [{"range": {"number": {"gte": 0}}}] * 10
    found = scores(search(engine, index, "simdoc-passages", id="chapter", index=index, filter=filters))
    back = scores(search(engine, index, "simdoc-passages", id="long", index=index, filter=filters))

    assert 800 < len(fingerprint_in(engine, index, "long")["passages"].split()) < 1000
    assert 200 < found["long"] == back["chapter"]
    assert 1024 < len(fingerprint_in(engine, index, "book")["passages"].split())
    with pytest.raises(RequestError, match="maxClauseCount"):
        search(engine, index, "simdoc-passages", id="book", index=index, max_tokens=3000)


# --- another field ---


def test_templates_query_another_field(engine: Engine, temp_indices: TempIndices) -> None:
    """The field is a parameter, or the default of an installation. Replacing the templates needs `force`."""
    index = articles(temp_indices, TEXTS, field="prints")
    by_id: dict[str, Any] = {"index": index, "id": "part199"}
    by_text = {"fingerprint": fingerprint_field(TEXTS["part199"])}
    for template, source in (
        ("simdoc-similar", by_id),
        ("simdoc-similar-to-text", by_text),
        ("simdoc-passages", by_id),
    ):
        hits = search(engine, index, template, field="prints", **source)["hits"]["hits"]

        assert 2 < len(hits)
        assert [({"body", "number"}, ["prints.buckets"])] * len(hits) == [
            (hit["_source"].keys(), list(hit["fields"])) for hit in hits
        ]
        assert [] == search(engine, index, template, **source)["hits"]["hits"]
    with pytest.raises(StoreError, match=r"the search template simdoc-similar on .* differs from .* --force"):
        install_search_templates(engine, "prints")
    try:
        assert NAMES[:4] == install_search_templates(engine, "prints", force=True)
        hit = search(engine, index, "simdoc-similar", **by_id, size=1)["hits"]["hits"][0]
    finally:
        install_search_templates(engine, force=True)

    assert ({"body", "number"}, ["prints.buckets"]) == (hit["_source"].keys(), list(hit["fields"]))


# --- installation ---


def test_the_command_installs_only_missing_templates(opensearch_url: str) -> None:
    for name in NAMES:
        call(opensearch_url, "PUT", f"/_scripts/{name}", build_search_templates()[name])
    call(opensearch_url, "DELETE", "/_scripts/simdoc-passages")
    first = answer("template", "install", opensearch_url, "--search", "--force")
    printed = run("template", "install", opensearch_url, "--search")

    assert (NAMES, ["simdoc-passages"]) == (first["search_templates"], first["search_templates_installed"])
    assert "the search templates were already installed" == printed.stdout.splitlines()[-1]
    assert "can be far below the parameter `overlap`; also give `buckets`" in printed.stderr


def test_an_engine_without_search_templates_is_an_error(elasticsearch_url: str) -> None:
    """The Elasticsearch from the package lacks the module."""
    missing = pytest.raises(StoreError, match=r"cannot install the search template simdoc-similar: .*mustache")
    with to(elasticsearch_url) as engine, missing:
        install_search_templates(engine)
