"""The stored search templates: an application that speaks JSON alone gets the hits of the query builder."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterator
from typing import Any

import pytest

from simdoc_search.attach.actions import fingerprint_field
from simdoc_search.attach.pipeline import pipeline_body
from simdoc_search.attach.search_templates import search_templates
from simdoc_search.errors import StoreError
from simdoc_search.query import similar_by_id
from simdoc_search.sketch.tokens import decode_text
from simdoc_search.sketch.winnow import PASSAGE_LENGTH
from simdoc_search.stores import open_store
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.errors import RequestError
from simdoc_search.stores.remote.schema import component_template
from tests.support.backfill import load, to
from tests.support.cli import answer, output, words
from tests.support.engines import call
from tests.support.http_server import Indices, indices
from tests.support.installing import install_search_templates
from tests.support.texts import overlapping, text

NAMES = ["simdoc-similar", "simdoc-similar-to-text", "simdoc-passages", "simdoc-new-copies", "simdoc-bands"]
HOSTILE = 'a"b\\c/{{id}} é日本\u2028'


def collection() -> dict[str, str]:
    """Short and long texts: pairs of all overlaps, and some that are alone."""
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


def articles(
    made: Indices, texts: dict[str, str], *, field: str = "simdoc", routing: str | None = None, **settings: Any
) -> str:
    """An index of an application with fingerprints; each document has a number."""
    ours = component_template(field=field)["template"]["mappings"]["properties"]
    index = made.make({"properties": {"body": {"type": "text"}, "number": {"type": "integer"}, **ours}}, settings)
    sources = {
        id: {"body": body, "number": number, field: fingerprint_field(body)}
        for number, (id, body) in enumerate(texts.items())
    }
    with to(made.engine) as opened:
        load(opened, index, sources, **({} if routing is None else {"routing": routing}))
    return index


@pytest.fixture(scope="module")
def made(opensearch_url: str) -> Iterator[Indices]:
    """Indices that go when the tests are done."""
    with indices(opensearch_url) as them:
        yield them


@pytest.fixture(scope="module")
def index(made: Indices) -> str:
    """One with TEXTS; no test changes it."""
    return articles(made, TEXTS)


def ask(engine: Engine, at: str, template: str, /, **params: Any) -> Any:
    """What the engine answers to a template."""
    return engine.call("POST", [at, "_search", "template"], {"id": template, "params": params})


def scores(answer: Any) -> dict[str, float]:
    """The hits by id, with their scores."""
    return {hit["_id"]: hit["_score"] for hit in answer["hits"]["hits"]}


def expected(engine: Engine, index: str, id: str, overlap: float | None, **options: Any) -> dict[str, float]:
    """The same of the query builder."""
    return scores(engine.search(index, {"query": similar_by_id(index, id, overlap, **options), "size": 100}))


def fingerprint_in(engine: Engine, index: str, id: str) -> dict[str, Any]:
    """What a document has in our field."""
    found: dict[str, Any] = engine.call("GET", [index, "_doc", id])["_source"]["simdoc"]
    return found


# --- without an engine ---


def test_there_are_these_templates() -> None:
    """Each a body for PUT _scripts/NAME; nothing of Python's own templates is left in it."""
    found = search_templates()

    assert NAMES == list(found)
    assert ["mustache"] * 4 + ["painless"] == [each["script"]["lang"] for each in found.values()]
    assert [] == [name for name, each in found.items() if "$" in each["script"]["source"]]


def test_the_command_shows_them() -> None:
    """As JSON, for another field too; its name is written as JSON writes it."""
    assert search_templates() == json.loads(output("template", "show", "--search"))
    assert search_templates('a"b') == json.loads(output("template", "show", "--search", "--field", 'a"b'))
    assert '{{^field}}a\\"b{{/field}}.tokens"' in search_templates('a"b')["simdoc-similar"]["script"]["source"]


# --- simdoc-similar ---


@pytest.mark.parametrize("id", list(TEXTS), ids=ascii)
def test_without_an_overlap_the_hits_are_those_of_the_query_builder(engine: Engine, index: str, id: str) -> None:
    """With the same scores: the numbers of equal tokens. Ids may have any characters."""
    found = scores(ask(engine, index, "simdoc-similar", index=index, id=id, size=100))

    assert expected(engine, index, id, None) == found
    assert id not in found


@pytest.mark.parametrize("overlap", [1, 7, 20, 33, 50, 80, 100])
def test_an_overlap_asks_for_that_share_of_the_tokens(engine: Engine, index: str, overlap: int) -> None:
    """Rounded down, at least one; with the least number apart it is exactly what the query builder asks for."""
    some = 0
    for id in TEXTS:
        buckets = fingerprint_in(engine, index, id)["buckets"]
        every = scores(ask(engine, index, "simdoc-similar", index=index, id=id, size=100, overlap=0))
        found = scores(ask(engine, index, "simdoc-similar", index=index, id=id, size=100, overlap=overlap))
        least = math.ceil(buckets * overlap / 100)
        exact = ask(engine, index, "simdoc-similar", index=index, id=id, size=100, overlap=overlap, least=least)
        some += len(found)

        assert {other: n for other, n in every.items() if n >= buckets * overlap // 100} == found
        if overlap > 1:
            assert expected(engine, index, id, overlap / 100) == scores(exact)
    assert some >= 5


def test_pages_are_parts_of_one_list(engine: Engine, index: str) -> None:
    """10 hits from the first on, unless size and from say otherwise."""
    asked = {"index": index, "id": "part199"}
    every = list(scores(ask(engine, index, "simdoc-similar", **asked, size=100)))
    pages = [list(scores(ask(engine, index, "simdoc-similar", **asked, size=2, **{"from": at}))) for at in (0, 2, 4)]

    assert 5 <= len(every)
    assert every == [id for page in pages for id in page]
    assert every[:10] == list(scores(ask(engine, index, "simdoc-similar", **asked)))


def test_filters_are_clauses_of_the_application(engine: Engine, index: str) -> None:
    """A list of any length, or one alone; with whatever characters."""
    asked: dict[str, Any] = {"index": index, "id": "part199", "size": 100}
    every = scores(ask(engine, index, "simdoc-similar", **asked))
    numbers = dict(zip(TEXTS, range(len(TEXTS)), strict=True))
    early = {"range": {"number": {"lt": 5}}}
    not_seventh = {"bool": {"must_not": [{"ids": {"values": ["part7", HOSTILE]}}]}}

    def found(filters: Any) -> dict[str, float]:
        return scores(ask(engine, index, "simdoc-similar", **asked, filter=filters))

    assert every == found([])
    assert {id: n for id, n in every.items() if numbers[id] < 5} == found([early]) == found(early)
    assert {id for id in every if numbers[id] < 5} - {"part7", HOSTILE} == set(found([early, not_seventh]))
    assert {} == found([{"match": {"body": 'nobody "wrote" {{this}} \\'}}])
    assert expected(engine, index, "part199", None, filters=[early]) == found([early])


def test_tokens_never_leave_the_engine(engine: Engine, index: str) -> None:
    """Hits have all other fields, or those that were asked for, and the number of their tokens."""
    asked: dict[str, Any] = {"index": index, "id": "part199", "size": 1}
    [whole] = ask(engine, index, "simdoc-similar", **asked)["hits"]["hits"]
    [some] = ask(engine, index, "simdoc-similar", **asked, fields=["number", "simdoc.tokens", "sim*"])["hits"]["hits"]

    assert {"body", "number"} == whole["_source"].keys()
    assert {"number"} == some["_source"].keys()
    buckets = fingerprint_in(engine, index, whole["_id"])["buckets"]
    assert {"simdoc.buckets": [buckets]} == whole["fields"] == some["fields"]


def test_the_source_may_be_in_another_index(engine: Engine, index: str, made: Indices) -> None:
    """An alias of one index will do."""
    other = articles(made, {"copy": TEXTS["part199"]})
    alias = made.alias(other)

    for name in (other, alias):
        found = scores(ask(engine, index, "simdoc-similar", id="copy", index=name, overlap=90))
        assert {"part199", HOSTILE} == found.keys()


def test_what_is_unknown_finds_nothing(engine: Engine, index: str) -> None:
    """An id, an index, a document without a fingerprint; nobody learns which."""
    engine.call("PUT", [index, "_doc", "bare"], {"body": "no fingerprint"}, refresh=True)
    answers = [
        ask(engine, index, "simdoc-similar", index=index, id="nobody"),
        ask(engine, index, "simdoc-similar", index=index, id="bare"),
        ask(engine, index, "simdoc-similar", index="test-no-such-index", id="one"),
    ]
    engine.call("DELETE", [index, "_doc", "bare"], refresh=True)

    assert [{}, {}, {}] == [scores(each) for each in answers]


@pytest.mark.parametrize(
    "params", [{}, {"index": ""}, {"id": "one", "overlap": "much"}, {"id": "one", "overlap": 20.5}], ids=str
)
def test_what_is_no_question_is_refused(engine: Engine, index: str, params: dict[str, Any]) -> None:
    """By the engine, with 400: no id, no index, an overlap that is no whole percent."""
    with pytest.raises(RequestError) as refused:
        ask(engine, index, "simdoc-similar", **{"index": index, **params})
    assert 400 == refused.value.status


def test_a_source_has_a_routing(engine: Engine, made: Indices) -> None:
    """Of an index of several shards; with the least number the hits are exact there too."""
    index = articles(made, dict.fromkeys("abcde", words(0, 100)), routing="somewhere", number_of_shards=3)
    found = ask(engine, index, "simdoc-similar", index=index, id="a", routing="somewhere", overlap=100, least=80)

    assert {"b", "c", "d", "e"} == scores(found).keys()


# --- simdoc-similar-to-text ---


@pytest.mark.parametrize("id", ["one", HOSTILE, "900-50-a", "60-20-b"], ids=ascii)
@pytest.mark.parametrize("overlap", [None, 20, 50, 100])
def test_a_fingerprint_finds_what_the_document_finds_and_itself(
    engine: Engine, index: str, id: str, overlap: int | None
) -> None:
    """It is sent as it stands in the document, or as the pipeline makes it."""
    asked = {"size": 100, **({} if overlap is None else {"overlap": overlap})}
    fingerprint = fingerprint_in(engine, index, id)
    found = scores(ask(engine, index, "simdoc-similar-to-text", fingerprint=fingerprint, **asked))
    by_id = scores(ask(engine, index, "simdoc-similar", index=index, id=id, **asked))

    assert fingerprint["buckets"] == found.pop(id)
    assert by_id == found


def test_a_text_without_words_is_like_nothing(engine: Engine, index: str) -> None:
    """As the pipeline makes its fingerprint, which has no tokens."""
    asked = {"pipeline": pipeline_body(), "docs": [{"_source": {"body": "..."}}]}
    made = engine.call("POST", ["_ingest", "pipeline", "_simulate"], asked)["docs"][0]["doc"]["_source"]["simdoc"]

    assert 0 == made["shingles"]
    for template in ("simdoc-similar-to-text", "simdoc-passages"):
        assert {} == scores(ask(engine, index, template, fingerprint=made))


@pytest.mark.parametrize("template", ["simdoc-similar-to-text", "simdoc-passages", "simdoc-new-copies"])
@pytest.mark.parametrize("fingerprint", ["a text", "", {}, [], 7, None], ids=str)
def test_what_is_no_fingerprint_is_refused(
    engine: Engine, index: str, made: Indices, template: str, fingerprint: Any
) -> None:
    """By the engine: a mistake must not look as if there were no copy."""
    watches = made.name()
    output("watch", "one", "--store", f"{made.engine}/{index}", "--watches", watches)
    with pytest.raises(RequestError) as refused:
        ask(engine, watches if template == "simdoc-new-copies" else index, template, fingerprint=fingerprint)
    assert 400 == refused.value.status


# --- simdoc-passages ---


@pytest.mark.parametrize("id", ["part199", HOSTILE, "900-40-a", "alone1"], ids=ascii)
def test_shared_passages_are_those_that_the_store_finds(engine: Engine, index: str, id: str) -> None:
    """By id or by fingerprint, most shared first."""
    fingerprint = fingerprint_in(engine, index, id)
    codes = decode_text(fingerprint["passages"], PASSAGE_LENGTH)
    with open_store(f"{engine.name}/{index}") as store:
        shared = {each.id: float(each.shared) for each in store.sharing(codes, size=100).documents}
    by_text = ask(engine, index, "simdoc-passages", fingerprint=fingerprint, size=100)
    by_id = ask(engine, index, "simdoc-passages", id=id, index=index, size=100)

    assert shared == scores(by_text)
    assert shared == scores(by_id) | {id: float(len(codes))}
    assert sorted(scores(by_id).values(), reverse=True) == list(scores(by_id).values())


def test_a_long_text_asks_for_a_thousand_passages(engine: Engine, made: Indices) -> None:
    """Of a text of 15,000 words that is all of them; there is room for filters."""
    long, book = (text(random.Random("long"), size) for size in (15_000, 40_000))
    texts = {"long": long, "chapter": long[10_000:30_000], "other": words(0, 500), "book": book}
    index = articles(made, texts)
    filters = [{"range": {"number": {"gte": 0}}}] * 10
    found = scores(ask(engine, index, "simdoc-passages", id="chapter", index=index, filter=filters))
    back = scores(ask(engine, index, "simdoc-passages", id="long", index=index, filter=filters))

    assert 800 < len(fingerprint_in(engine, index, "long")["passages"].split()) < 1000
    assert 200 < found["long"] == back["chapter"]


def test_more_passages_than_the_engine_takes_are_an_error(engine: Engine, index: str, made: Indices) -> None:
    """With `most`, where the engine's clause limit was not raised; never an answer of a part."""
    index = articles(made, {"book": text(random.Random("book"), 40_000)})

    assert 1024 < len(fingerprint_in(engine, index, "book")["passages"].split())
    with pytest.raises(RequestError, match="maxClauseCount"):
        ask(engine, index, "simdoc-passages", id="book", index=index, most=3000)


# --- another field ---


def test_a_question_may_be_about_another_field(engine: Engine, made: Indices) -> None:
    """In each of the templates; that one is then what never leaves the engine."""
    index = articles(made, TEXTS, field="prints")
    fingerprint = fingerprint_field(TEXTS["part199"])
    sources: dict[str, dict[str, Any]]
    by_id = {"index": index, "id": "part199"}
    sources = {"simdoc-similar": by_id, "simdoc-similar-to-text": {"fingerprint": fingerprint}}
    sources["simdoc-passages"] = sources["simdoc-similar"]
    for template, source in sources.items():
        hits = ask(engine, index, template, field="prints", **source)["hits"]["hits"]

        assert 2 < len(hits)
        assert [({"body", "number"}, ["prints.buckets"])] * len(hits) == [
            (each["_source"].keys(), list(each["fields"])) for each in hits
        ]
        assert [] == ask(engine, index, template, **source)["hits"]["hits"]


def test_templates_may_be_of_another_field(engine: Engine, made: Indices) -> None:
    """They replace those that are there only with --force."""
    index = articles(made, TEXTS, field="prints")
    with pytest.raises(StoreError, match=r"another search template simdoc-similar; .* --force"):
        install_search_templates(engine, "prints")
    try:
        assert NAMES[:4] == install_search_templates(engine, "prints", force=True)
        found = ask(engine, index, "simdoc-similar", index=index, id="part199", size=1)["hits"]["hits"][0]
    finally:
        install_search_templates(engine, force=True)

    assert {"body", "number"} == found["_source"].keys()
    assert ["prints.buckets"] == list(found["fields"])


# --- installing ---


def test_the_command_installs_them_once(opensearch_url: str) -> None:
    """Beside the component template; a second time nothing is new."""
    for name in NAMES:
        call(opensearch_url, "PUT", f"/_scripts/{name}", search_templates()[name])
    call(opensearch_url, "DELETE", "/_scripts/simdoc-passages")
    first = answer("template", "install", opensearch_url, "--search", "--force")
    said = output("template", "install", opensearch_url, "--search")

    assert (NAMES, ["simdoc-passages"]) == (first["search_templates"], first["search_templates_installed"])
    assert "the search templates were already installed\n" == said.splitlines(keepends=True)[-1]


def test_an_engine_without_search_templates_is_named(elasticsearch_url: str) -> None:
    """As one from packages is, which lacks the module."""
    why = pytest.raises(StoreError, match=r"cannot install the search template simdoc-similar: .*mustache")
    with to(elasticsearch_url) as engine, why:
        install_search_templates(engine)
