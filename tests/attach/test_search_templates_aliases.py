"""Search templates over an alias read the source from one index, and find hits in all indices."""

from __future__ import annotations

import math
from typing import Any

import pytest

from simdoc_search.stores.remote.errors import RequestError
from tests.support.backfill import to
from tests.support.cli import output, words
from tests.support.pipeline_installation import install_search_templates
from tests.support.rolling_index import Rolling, rolling

TEXTS = {
    "one": words(0, 200),
    "half": words(0, 140) + " " + words(1000, 1060),
    "copy": words(0, 200),
    "little": words(0, 80) + " " + words(2000, 2120),
    "other": words(9000, 9200),
    "passage": words(5000, 5600) + " " + words(100, 160),
}
"""There is a rollover after the second text and after the fourth."""

TWO_SHARDS = {"number_of_shards": 2}


@pytest.fixture(params=["opensearch"])
def engine_url(request: pytest.FixtureRequest) -> str:
    """An engine with our search templates."""
    url = str(request.getfixturevalue(f"{request.param}_url"))
    with to(url) as engine:
        install_search_templates(engine, force=True)
    return url


def fill(articles: Rolling, **parameters: str) -> None:
    """Write all texts into three indices. The id `one` is in the first and in the last index."""
    for number, (id, text) in enumerate(TEXTS.items()):
        if number in (2, 4):
            articles.roll_over()
        articles.write(id, {"body": text}, **parameters)
    articles.write("one", {"body": words(0, 180)}, **parameters)


Scores = dict[tuple[str, str], float]
"""Scores by index and id."""


def search(articles: Rolling, template: str, /, **params: Any) -> Scores:
    """The hits of a search with a template over the alias or data stream."""
    with to(articles.engine) as engine:
        body = {"id": template, "params": {"size": 100, **params}}
        hits = engine.call("POST", [articles.name, "_search", "template"], body)["hits"]["hits"]
    return {(hit["_index"], hit["_id"]): hit["_score"] for hit in hits}


def shared(articles: Rolling, source: dict[str, Any], kind: str, least: int) -> Scores:
    """The numbers of matching tokens in all other documents, computed here."""
    own = set(source["_source"]["simdoc"][kind].split())
    others = [hit for hit in articles.hits() if (hit["_index"], hit["_id"]) != (source["_index"], source["_id"])]
    equal = {
        (hit["_index"], hit["_id"]): len(own & set(hit["_source"]["simdoc"].get(kind, "").split())) for hit in others
    }
    return {place: float(number) for place, number in equal.items() if number >= least}


def place_of(hit: dict[str, Any]) -> dict[str, Any]:
    """The parameters of a source."""
    return {"index": hit["_index"], "id": hit["_id"], "routing": hit.get("_routing")}


def check_all(articles: Rolling, least_hits: int) -> None:
    """Check that for each source, the hits are those of a comparison with all documents."""
    found = 0
    for source in articles.hits():
        simdoc = source["_source"]["simdoc"]
        for overlap in (5, 50):
            least = math.ceil(simdoc["buckets"] * overlap / 100)
            expected = shared(articles, source, "tokens", least)
            found += len(expected)

            assert expected == search(articles, "simdoc-similar", **place_of(source), overlap=overlap, min_tokens=least)
            checked = search(articles, "simdoc-similar", **place_of(source), overlap=overlap, buckets=simdoc["buckets"])
            text = search(articles, "simdoc-similar-to-text", fingerprint=simdoc, overlap=overlap)
            assert checked == {place: n for place, n in text.items() if place != (source["_index"], source["_id"])}
            assert checked.items() <= expected.items()
        assert shared(articles, source, "passages", 1) == search(articles, "simdoc-passages", **place_of(source))
    assert found >= least_hits


@pytest.mark.parametrize(
    ("engine_url", "kind"),
    [("opensearch", "routing"), ("opensearch", "data stream"), ("elasticsearch_7", "alias")],
    indirect=["engine_url"],
)
def test_hits_are_in_all_indices(engine_url: str, kind: str) -> None:
    """Another index may have a document with the id of the source. Documents may have a routing."""
    routing = {"routing": "ann"} if kind == "routing" else {}
    with rolling(engine_url, settings=TWO_SHARDS, is_stream=kind == "data stream") as articles:
        fill(articles, **routing)
        if routing:
            articles.write("copy", {"body": words(0, 100)}, routing="ben 7")
        assert 3 == len({hit["_index"] for hit in articles.hits()})
        check_all(articles, 20)


def test_a_source_without_its_index_is_an_error(engine_url: str) -> None:
    """The message says what to do. A name of several indices is an error too."""
    with rolling(engine_url) as articles:
        fill(articles)
        for template in ("simdoc-similar", "simdoc-passages"):
            with pytest.raises(
                RequestError, match="the parameter index is missing; set it to the _index of the query document"
            ):
                search(articles, template, id="one")
            with pytest.raises(RequestError, match="more than one ind"):
                search(articles, template, id="one", index=articles.name)


def test_a_new_copy_is_found_after_a_rollover(engine_url: str) -> None:
    """The watch is on the alias. The index template of the application also matches the index of watches."""
    with rolling(engine_url) as articles:
        watches = f"{articles.name}-watches"
        articles.write("one", {"body": TEXTS["one"]})
        output("watch", "one", "--overlap", "60", "--store", articles.url, "--watches", watches)
        for id in ("copy", "other"):
            articles.roll_over()
            saved = articles.write(id, {"body": TEXTS[id]})
            body = {"id": "simdoc-new-copies", "params": {"index": saved["_index"], "id": id}}
            with to(engine_url) as engine:
                hits = engine.call("POST", [watches, "_search", "template"], body)["hits"]["hits"]

            assert (["one"] if id == "copy" else []) == [hit["_source"]["watched"]["id"] for hit in hits]
