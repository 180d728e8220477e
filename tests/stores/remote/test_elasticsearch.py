"""Checks the Elasticsearch of the tests: the scores that we need, and the substitute for its `min_hash` filter."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from elasticsearch import Elasticsearch, helpers

from simdoc_search.query import similar_query
from simdoc_search.stores.remote.schema import component_template
from tests.support.elasticsearch_engine import elasticsearch_lacks
from tests.support.engines import own_name
from tests.support.vectors import load, reference_texts

TOKENS = ["2024", "ABCD", "A1B2", "C-D.", "X_YZ", "99.9", "'20$"]


@pytest.fixture(scope="module")
def client(elasticsearch_url: str) -> Iterator[Elasticsearch]:
    """The official client."""
    with Elasticsearch(elasticsearch_url) as opened:
        yield opened


def test_the_score_is_the_number_of_equal_tokens(client: Elasticsearch) -> None:
    name = own_name()
    client.indices.create(index=name, mappings=component_template()["template"]["mappings"])
    actions = [
        {"_index": name, "_id": str(count), "simdoc": {"tokens": " ".join(TOKENS[:count])}}
        for count in range(len(TOKENS) + 1)
    ]
    helpers.bulk(client, actions, refresh=True)

    def scores(query: dict[str, Any]) -> dict[str, float]:
        return {hit["_id"]: hit["_score"] for hit in client.search(index=name, query=query)["hits"]["hits"]}

    assert {str(n): float(n) for n in range(1, 8)} == scores(similar_query(TOKENS))
    assert {"7": 7.0, "6": 6.0, "5": 5.0} == scores(similar_query(TOKENS, 0.7))
    assert {} == scores({"match": {"simdoc.tokens": "ABCD 2024"}})
    client.indices.delete(index=name)


@pytest.mark.parametrize("text_id", ["en_six_words", "en_fox"])
def test_min_hash_makes_the_same_terms_as_lucene(client: Elasticsearch, text_id: str) -> None:
    if not elasticsearch_lacks():
        pytest.skip("this Elasticsearch has its own filter")
    [known] = [known for known in load("minhash")["texts"] if known["id"] == text_id]
    [expected] = [terms for terms in known["standard_lowercase"] if terms["cfg"] == "1,512,1,false"]
    filters: list[str | dict[str, Any]] = [
        "lowercase",
        {"type": "shingle", "min_shingle_size": 5, "max_shingle_size": 5, "output_unigrams": False},
        {"type": "min_hash", "hash_count": 1, "bucket_count": 512, "hash_set_size": 1, "with_rotation": False},
    ]
    text = reference_texts()[text_id]
    tokens = client.indices.analyze(tokenizer="standard", filter=filters, text=text)["tokens"]

    terms = [token["token"].encode("utf-16-be", "surrogatepass").hex() for token in tokens]
    assert [term["u16"] for term in expected["distinct"]] == terms
