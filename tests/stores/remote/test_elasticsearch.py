"""The Elasticsearch of the tests: what it does as any other, what it lacks, and that it leaves nothing behind."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil  # type: ignore[import-untyped]
import pytest
from elasticsearch import ApiError, ConflictError, Elasticsearch, helpers

from simdoc_search.devengine import EngineError
from simdoc_search.query import similar_query
from simdoc_search.stores.remote.schema import component_template
from tests.support import elasticsearch_engine
from tests.support.elasticsearch_engine import (
    LACKS,
    STAND_INS,
    URL,
    elasticsearch_header,
    elasticsearch_lacks,
    running_elasticsearch,
)
from tests.support.engines import own_name
from tests.support.vectors import load, reference_texts

TOKENS = ["2024", "ABCD", "A1B2", "C-D.", "X_YZ", "99.9", "'20$"]

MISSING: dict[str, list[tuple[str, str, Any]]] = {
    "scripts": [
        ("POST", "/{index}/_update/0", {"script": {"source": "ctx.op = 'none'"}}),
        ("POST", "/{index}/_search", {"sort": {"_script": {"type": "number", "script": {"source": "1"}}}}),
        ("POST", "/_search/template", {"source": "{}"}),
    ],
    "by_query": [
        ("POST", "/{index}/_delete_by_query", {"query": {"match_all": {}}}),
        ("POST", "/{index}/_update_by_query", {}),
        ("POST", "/_reindex", {"source": {"index": "a"}, "dest": {"index": "b"}}),
    ],
    "analysis": [
        ("POST", "/_analyze", {"analyzer": "english", "text": "cats"}),
        ("POST", "/_analyze", {"tokenizer": "whitespace", "text": "cats"}),
        ("POST", "/_analyze", {"tokenizer": "standard", "filter": ["asciifolding"], "text": "cats"}),
        ("POST", "/_analyze", {"tokenizer": "standard", "char_filter": ["html_strip"], "text": "cats"}),
    ],
    "processors": [
        ("PUT", "/_ingest/pipeline/{index}", {"processors": [{"set": {"field": "title", "value": "-"}}]}),
        ("PUT", "/_ingest/pipeline/{index}", {"processors": [{"fingerprint": {"fields": ["title"]}}]}),
    ],
    "fields": [
        ("PUT", "/{index}/_mapping", {"properties": {"new": {"type": "scaled_float", "scaling_factor": 10}}}),
        ("PUT", "/{index}/_mapping", {"properties": {"new": {"type": "join", "relations": {"a": "b"}}}}),
        ("PUT", "/{index}/_mapping", {"properties": {"new": {"type": "percolator"}}}),
        ("PUT", "/{index}/_mapping", {"properties": {"new": {"type": "wildcard"}}}),
    ],
    "best_compression": [("PUT", "/{index}-compressed/_doc/0?refresh=true&timeout=1s", {"title": "-"})],
    "x-pack": [
        ("GET", "/_security/_authenticate", None),
        ("GET", "/_license", None),
        ("GET", "/_ilm/policy", None),
        ("GET", "/_data_stream", None),
        ("POST", "/{index}/_async_search", {}),
        ("POST", "/_sql", {"query": "SELECT 1"}),
    ],
}
"""Requests that a whole Elasticsearch answers."""

REFUSED = "[nN]o handler|HTTP method|not supported|failed to find|does not exist|No processor|must not start"
FAILED = "zstd|unavailable_shards"


@pytest.fixture(scope="module")
def client(elasticsearch_url: str) -> Iterator[Elasticsearch]:
    """The official client."""
    with Elasticsearch(elasticsearch_url) as opened:
        yield opened


@pytest.fixture
def index(client: Elasticsearch) -> Iterator[str]:
    """An index with our field; document N has the first N tokens."""
    name = own_name()
    client.indices.create(index=name, mappings=component_template()["template"]["mappings"])
    actions = [
        {"_index": name, "_id": str(count), "title": "-", "simdoc": {"tokens": " ".join(TOKENS[:count])}}
        for count in range(len(TOKENS) + 1)
    ]
    assert (len(actions), []) == helpers.bulk(client, actions, refresh=True)
    yield name
    client.indices.delete(index=[name, f"{name}-compressed"], ignore_unavailable=True)


def equal(tokens: list[str], least: int) -> dict[str, Any]:
    """The query for documents with so many of these tokens."""
    query = {"query": " ".join(tokens), "analyzer": "whitespace", "minimum_should_match": least}
    return {"match": {"simdoc.tokens": query}}


def scores(answer: Any) -> dict[str, float]:
    """The score of each hit, best first."""
    return {hit["_id"]: hit["_score"] for hit in answer["hits"]["hits"]}


def left_behind(folder: Path) -> list[str]:
    """Files, and processes that know of them."""
    started = psutil.Process().children(recursive=True)
    return [*map(str, folder.iterdir()), *(str(each) for each in started if str(folder) in " ".join(each.cmdline()))]


# --- what it has ---


def test_the_client_takes_it_for_an_elasticsearch(client: Elasticsearch, elasticsearch_url: str) -> None:
    assert client.ping()
    assert client.info()["tagline"] == "You Know, for Search"
    assert "Elasticsearch" == client.info().meta.headers["x-elastic-product"]
    if not os.environ.get(URL):
        assert "127.0.0.1" == urlsplit(elasticsearch_url).hostname
        chosen = os.environ.get(elasticsearch_engine.VERSION, elasticsearch_engine.VERSIONS[0])
        assert chosen == client.info()["version"]["number"]


def test_indices_of_tests_have_one_shard_and_no_replica(client: Elasticsearch, index: str) -> None:
    settings = client.indices.get_settings(index=index)[index]["settings"]["index"]

    assert ("1", "0") == (settings["number_of_shards"], settings["number_of_replicas"])
    assert "green" == client.cluster.health(index=index)["status"]


def test_the_score_is_the_number_of_equal_tokens(client: Elasticsearch, index: str) -> None:
    found = client.search(index=index, query=equal(TOKENS, 5))

    assert {"7": 7.0, "6": 6.0, "5": 5.0} == scores(found)
    assert ["7", "6", "5"] == list(scores(found))
    assert {str(n): float(n) for n in range(1, 8)} == scores(client.search(index=index, query=similar_query(TOKENS)))
    assert {} == scores(client.search(index=index, query={"match": {"simdoc.tokens": "ABCD 2024"}}))


def test_a_scroll_reads_all_documents(client: Elasticsearch, index: str) -> None:
    assert set("01234567") == {hit["_id"] for hit in helpers.scan(client, index=index, size=3)}


def test_an_update_is_made_of_the_document_that_was_read_or_not_at_all(client: Elasticsearch, index: str) -> None:
    read = client.get(index=index, id="3")
    seen = {"if_seq_no": read["_seq_no"], "if_primary_term": read["_primary_term"]}
    client.update(index=index, id="3", doc={"title": "first"}, **seen)

    with pytest.raises(ConflictError):
        client.update(index=index, id="3", doc={"title": "second"}, **seen)
    source = client.get(index=index, id="3")["_source"]
    assert ("first", " ".join(TOKENS[:3])) == (source["title"], source["simdoc"]["tokens"])


def test_several_searches_are_answered_by_one_request(client: Elasticsearch, index: str) -> None:
    asked = [line for least in (7, 6) for line in ({"index": index}, {"query": equal(TOKENS, least)})]
    found = client.msearch(searches=asked)["responses"]

    assert [{"7": 7.0}, {"7": 7.0, "6": 6.0}] == [scores(each) for each in found]


def test_the_size_of_an_index_is_known(client: Elasticsearch, index: str) -> None:
    assert client.indices.stats(index=index, metric="store")["_all"]["total"]["store"]["size_in_bytes"] > 0


# --- what it lacks ---


def test_all_that_it_lacks_is_proved() -> None:
    assert set(LACKS) == set(MISSING)


@pytest.mark.parametrize(("lack", "asked"), [(lack, each) for lack, requests in MISSING.items() for each in requests])
def test_what_it_lacks_it_refuses(client: Elasticsearch, index: str, lack: str, asked: tuple[str, str, Any]) -> None:
    if lack not in elasticsearch_lacks():
        pytest.skip(f"{URL} names one that is whole")
    if lack == "best_compression":
        client.indices.create(index=f"{index}-compressed", settings={"codec": "best_compression"})
    method, path, body = asked
    with pytest.raises(ApiError, match=FAILED if lack == "best_compression" else REFUSED):
        client.options(max_retries=0).perform_request(
            method,
            path.replace("{index}", index),
            body=body,
            headers={"accept": "application/json", "content-type": "application/json"},
        )


# --- what stands in ---


def test_the_stand_ins_are_known_as_such(client: Elasticsearch) -> None:
    if not elasticsearch_lacks():
        pytest.skip(f"{URL} names one that is whole")
    [node] = client.nodes.info(metric="plugins")["nodes"].values()

    assert {"GET /", "min_hash"} == set(STAND_INS)
    assert ["stand-ins"] == [each["name"] for each in node["plugins"]]
    assert ["transport-netty4"] == [each["name"] for each in node["modules"]]


@pytest.mark.parametrize("text_id", ["en_six_words", "en_fox"])
def test_min_hash_makes_the_terms_of_lucene(client: Elasticsearch, text_id: str) -> None:
    [known] = [each for each in load("minhash")["texts"] if each["id"] == text_id]
    [expected] = [each for each in known["standard_lowercase"] if each["cfg"] == "1,512,1,false"]
    filters: list[str | dict[str, Any]] = [
        "lowercase",
        {"type": "shingle", "min_shingle_size": 5, "max_shingle_size": 5, "output_unigrams": False},
        {"type": "min_hash", "hash_count": 1, "bucket_count": 512, "hash_set_size": 1, "with_rotation": False},
    ]
    text = reference_texts()[text_id]
    found = client.indices.analyze(tokenizer="standard", filter=filters, text=text)["tokens"]

    terms = [each["token"].encode("utf-16-be", "surrogatepass").hex() for each in found]
    assert [each["u16"] for each in expected["distinct"]] == terms


def test_the_header_says_what_it_is(request: pytest.FixtureRequest, client: Elasticsearch) -> None:
    said = elasticsearch_header(request.config)

    assert said.startswith("Elasticsearch: ")
    assert os.environ.get(URL) or client.info()["version"]["number"] in said
    assert [] == [each for each in (*elasticsearch_lacks(), *STAND_INS) if each not in said and not os.environ.get(URL)]


# --- start and end ---


def test_a_start_that_fails_shows_the_end_of_its_log_and_leaves_nothing(
    elasticsearch_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if os.environ.get(URL):
        pytest.skip(f"{URL} names one that runs")
    monkeypatch.setattr(elasticsearch_engine, "PORTS", str(urlsplit(elasticsearch_url).port))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    with pytest.raises(EngineError, match=r"(?s)ended while it was started \(exit code 1\).*BindHttpException"):
        running_elasticsearch(heap="256m").__enter__()
    assert [] == left_behind(tmp_path)
