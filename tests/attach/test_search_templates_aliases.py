"""Search templates over many indices find the source in the one that has it, and its hits in all of them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest

from simdoc_search.stores.remote.errors import RequestError
from tests.support.backfill import to
from tests.support.cli import output, words
from tests.support.installing import install_search_templates
from tests.support.living import Rolling, has_data_streams, rolling

TEXTS = {
    "one": words(0, 200),
    "half": words(0, 140) + " " + words(1000, 1060),
    "copy": words(0, 200),
    "little": words(0, 80) + " " + words(2000, 2120),
    "other": words(9000, 9200),
    "passage": words(5000, 5600) + " " + words(100, 160),
}
"""A rollover comes after the second and after the fourth."""

TWO_SHARDS = {"number_of_shards": 2}


@pytest.fixture(params=["opensearch", "elasticsearch_7"])
def engine_url(request: pytest.FixtureRequest) -> str:
    """Each engine that has pipelines and search templates; it has ours."""
    url = str(request.getfixturevalue(f"{request.param}_url"))
    with to(url) as engine:
        install_search_templates(engine, force=True)
    return url


@pytest.fixture(params=["alias", "data stream"])
def articles(engine_url: str, request: pytest.FixtureRequest) -> Iterator[Rolling]:
    """Three indices of two shards each."""
    is_stream = request.param == "data stream"
    if is_stream and not has_data_streams(engine_url):
        pytest.skip("this engine has no data streams")
    with rolling(engine_url, settings=TWO_SHARDS, is_stream=is_stream) as them:
        fill(them)
        yield them


def fill(them: Rolling, **parameters: str) -> None:
    """All texts; then an application saves an id again whose document is in an index of before."""
    for number, (id, text) in enumerate(TEXTS.items()):
        if number in (2, 4):
            them.roll_over()
        them.write(id, {"body": text}, **parameters)
    them.write("one", {"body": words(0, 180)}, **parameters)


Found = dict[tuple[str, str], float]
"""Index and id of hits, with their scores."""


def ask(them: Rolling, template: str, /, **params: Any) -> Found:
    """What the engine answers to a template, asked at the alias or data stream."""
    with to(them.engine) as engine:
        body = {"id": template, "params": {"size": 100, **params}}
        hits = engine.call("POST", [them.name, "_search", "template"], body)["hits"]["hits"]
    return {(hit["_index"], hit["_id"]): hit["_score"] for hit in hits}


def shared(them: Rolling, source: dict[str, Any], part: str, least: int) -> Found:
    """How many tokens each other document shares with one: all documents are compared here."""
    own = set(source["_source"]["simdoc"][part].split())
    others = [hit for hit in them.hits() if (hit["_index"], hit["_id"]) != (source["_index"], source["_id"])]
    equal = {
        (hit["_index"], hit["_id"]): len(own & set(hit["_source"]["simdoc"].get(part, "").split())) for hit in others
    }
    return {place: float(number) for place, number in equal.items() if number >= least}


def place_of(hit: dict[str, Any]) -> dict[str, Any]:
    """The parameters of a source; a routing of null is none."""
    return {"index": hit["_index"], "id": hit["_id"], "routing": hit.get("_routing")}


def check_all(them: Rolling, some: int) -> None:
    """Each document as the source: its hits and their scores are those of a comparison of all documents."""
    found = 0
    for source in them.hits():
        simdoc = source["_source"]["simdoc"]
        for overlap in (5, 20, 50):
            least = math.ceil(simdoc["buckets"] * overlap / 100)
            expected = shared(them, source, "tokens", least)
            found += len(expected)

            assert expected == ask(them, "simdoc-similar", **place_of(source), overlap=overlap, least=least)
            text = ask(them, "simdoc-similar-to-text", fingerprint=simdoc, overlap=overlap, least=least)
            assert expected == {at: n for at, n in text.items() if at != (source["_index"], source["_id"])}
        assert shared(them, source, "passages", 1) == ask(them, "simdoc-passages", **place_of(source))
    assert found >= some


def test_hits_are_in_all_indices(articles: Rolling) -> None:
    """Also where another index has a document with the id of the source."""
    names = [hit["_id"] for hit in articles.hits()]

    assert sorted([*TEXTS, "one"]) == sorted(names)
    assert 3 == len({hit["_index"] for hit in articles.hits()})
    check_all(articles, 30)


def test_a_source_may_have_a_routing(engine_url: str) -> None:
    """It is part of the place, as the hit has it."""
    with rolling(engine_url, settings=TWO_SHARDS) as articles:
        fill(articles, routing="ann")
        articles.write("copy", {"body": words(0, 100)}, routing="ben 7")
        articles.write("copy", {"body": words(0, 150)}, routing="ann")
        check_all(articles, 30)


@pytest.mark.parametrize("template", ["simdoc-similar", "simdoc-passages"])
def test_a_source_without_its_index_is_an_error(engine_url: str, template: str) -> None:
    """Which says what to do: two indices of three would answer with nothing. So is the name of several indices."""
    with rolling(engine_url) as articles:
        fill(articles)
        with pytest.raises(RequestError, match="the parameter index is missing: the _index of a hit") as missing:
            ask(articles, template, id="one")
        with pytest.raises(RequestError, match="more than one ind") as several:
            ask(articles, template, id="one", index=articles.name)
    assert 400 == missing.value.status == several.value.status


def test_a_new_copy_is_found_after_a_rollover(engine_url: str) -> None:
    """The watched document is in the first index, and the copy in the second; the watch was set over the alias.

    The application's index template fits the name of the watches, and its pipeline must leave them alone.
    """
    with rolling(engine_url) as articles:
        watches = f"{articles.name}-watches"
        for id in ("one", "half"):
            articles.write(id, {"body": TEXTS[id]})
        output("watch", "one", "--overlap", "60", "--store", articles.url, "--watches", watches)
        for id in ("copy", "other"):
            articles.roll_over()
            saved = articles.write(id, {"body": TEXTS[id]})
            body = {"id": "simdoc-new-copies", "params": {"index": saved["_index"], "id": id}}
            with to(engine_url) as engine:
                hits = engine.call("POST", [watches, "_search", "template"], body)["hits"]["hits"]

            assert (["one"] if id == "copy" else []) == [hit["_source"]["watched"]["id"] for hit in hits]
