"""The fingerprint field in an index of an application works with its searches, analyzers, updates and shards."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from fractions import Fraction
from typing import Any

import pytest
from opensearchpy import OpenSearch, helpers

from simdoc_search import SimilaritySearch, open_store
from simdoc_search.attach.actions import fingerprint_actions
from simdoc_search.query import similar_by_id, similar_query
from simdoc_search.stores.remote.schema import component_template
from tests.support.engines import own_name
from tests.support.texts import overlapping, text

NewIndex = Callable[..., str]
TOKENS = "2024 ABCD A1B2 C-D. X_YZ 99.9 '20$"
OWN_FIELDS = {"index.query.default_field": ["title", "body"]}


@pytest.fixture(scope="module")
def client(opensearch_url: str) -> Iterator[OpenSearch]:
    """The client of an application."""
    with OpenSearch(opensearch_url) as opened:
        yield opened


@pytest.fixture(scope="module")
def new_index(client: OpenSearch) -> Iterator[NewIndex]:
    """A function that makes an index with a title, a body and our field. It takes settings of the index."""
    with ExitStack() as removing:

        def make(**settings: Any) -> str:
            index = own_name()
            mappings = component_template()["template"]["mappings"]
            mappings["properties"] |= {"title": {"type": "text"}, "body": {"type": "text"}}
            settings = {"number_of_replicas": 0, **settings}
            client.indices.create(index=index, body={"settings": settings, "mappings": mappings})
            removing.callback(client.indices.delete, index=index)
            return index

        yield make


@pytest.fixture(scope="module")
def family_index(client: OpenSearch, new_index: NewIndex) -> str:
    """An index with a text, 12 texts that share increasing parts of it, and 8 texts that share nothing."""
    index = new_index(number_of_shards=1)
    load(client, index, family_texts())
    return index


def family_texts(count: int = 12) -> dict[str, str]:
    """Return the texts of `family`."""
    rng = random.Random("family")
    words = text(rng, 600).split()
    alike = {
        f"alike{part}": " ".join([*words[: part * 600 // count], text(rng, (count - part) * 40)])
        for part in range(1, count + 1)
    }
    return {"source": " ".join(words), **alike, **{f"other{number}": text(rng, 300) for number in range(8)}}


def with_tokens(client: OpenSearch, index: str) -> str:
    """Add a document with TOKENS to an index, and return the name of the index."""
    field = {"tokens": TOKENS, "buckets": 512, "shingles": 700}
    client.index(index=index, id="a", body={"title": "-", "simdoc": field}, refresh=True)
    return index


def load(client: OpenSearch, index: str, texts: dict[str, str]) -> None:
    """Index texts with their fingerprints."""
    actions = ({"_index": index, "_id": id, "title": id, "body": body} for id, body in texts.items())
    helpers.bulk(client, fingerprint_actions(actions, "body"), refresh=True)


def scores(client: OpenSearch, index: str, query: dict[str, Any], **options: Any) -> dict[str, float]:
    """Return the score of each hit by its id."""
    answer = client.search(index=index, body={"query": query, "size": 100, "_source": False, **options})
    return {hit["_id"]: hit["_score"] for hit in answer["hits"]["hits"]}


def tokens_of(client: OpenSearch, index: str, id: str) -> list[str]:
    """Return the stored tokens of a document."""
    tokens: str = client.get(index=index, id=id)["_source"]["simdoc"]["tokens"]
    return tokens.split()


# --- full-text searches ---


def test_words_do_not_match_tokens(client: OpenSearch, new_index: NewIndex) -> None:
    index = with_tokens(client, new_index())
    kinds = ("best_fields", "most_fields", "cross_fields", "phrase", "phrase_prefix", "bool_prefix")
    queries: list[dict[str, Any]] = [
        {"multi_match": {"query": words, "fields": ["*"], "type": kind}}
        for words in [*TOKENS.split(), TOKENS, TOKENS.lower()]
        for kind in kinds
    ]
    strings = ["2024", "ABCD", "abcd", "A1B2", '"2024 ABCD"', "99.9", "AB*", "ab*", "ABC?", "*BCD", "A1B*", "A1?2"]
    strings += ["/ab.*/", "/AB.*/", "ABCD~", "abcd~2", "A1B2~1", "v20*"]
    queries += [
        {search: {"query": words, **fields}}
        for words in strings
        for search in ("query_string", "simple_query_string")
        for fields in ({}, {"fields": ["*"]})
    ]

    assert [] == [query for query in queries if scores(client, index, query)]
    assert {"a": 7.0} == scores(client, index, similar_query(TOKENS.split()))


def test_searches_in_an_index_with_default_fields_skip_our_field(client: OpenSearch, new_index: NewIndex) -> None:
    everywhere, named = (with_tokens(client, new_index(**settings)) for settings in ({}, OWN_FIELDS))
    numbers = ["20*", "2024~1", "512", "700"]
    strings = [*TOKENS.split()[:3], *numbers, "2???", "[1 TO 3]", "/[0-9].*/"]

    assert numbers == [
        words for words in numbers if scores(client, everywhere, {"query_string": {"query": words, "fields": ["*"]}})
    ]
    for search in ("query_string", "simple_query_string", "multi_match"):
        assert [] == [words for words in strings if scores(client, named, {search: {"query": words}})]


# --- analyzers of the index ---


@pytest.mark.parametrize("analyzer", ["simple", "english", "keyword"])
@pytest.mark.parametrize("role", ["default", "default_search"])
def test_a_default_analyzer_of_the_index_does_not_apply_to_tokens(
    client: OpenSearch, new_index: NewIndex, role: str, analyzer: str
) -> None:
    index = with_tokens(client, new_index(analysis={"analyzer": {role: {"type": analyzer}}}))
    client.index(index=index, id="b", body={"simdoc": {"tokens": TOKENS[:24]}}, refresh=True)

    assert {"a": 7.0, "b": 5.0} == scores(client, index, similar_query(TOKENS.split(), 0.7))
    assert {"b": 5.0} == scores(client, index, similar_by_id(index, "a", 0.5))
    assert {} == scores(client, index, {"multi_match": {"query": TOKENS, "fields": ["simdoc.tokens", "title"]}})


def test_hits_do_not_depend_on_the_default_analyzer(client: OpenSearch, new_index: NewIndex, family_index: str) -> None:
    index = new_index(analysis={"analyzer": {"default_search": {"type": "english"}}})
    load(client, index, family_texts())
    hits, others = (
        [(hit.id, hit.overlap, hit.matched_token_count) for hit in SimilaritySearch(store).similar("source_20_80").hits]
        for store in (open_store(client=client, index=name) for name in (family_index, index))
    )

    assert hits
    assert hits == others


# --- updates ---


def test_an_update_of_another_field_keeps_the_fingerprint(client: OpenSearch, new_index: NewIndex) -> None:
    index = new_index()
    load(client, index, {"a": "one two three four five six seven eight", "b": "one two three four five six seven nine"})
    before = client.get(index=index, id="a")["_source"]["simdoc"]
    client.update(index=index, id="a", body={"doc": {"title": "another"}}, refresh=True)
    after = client.get(index=index, id="a")["_source"]

    assert ("another", before) == (after["title"], after["simdoc"])
    assert {"a": 3.0} == scores(client, index, similar_by_id(index, "b", 0.5))


def test_an_update_of_the_text_changes_the_fingerprint(client: OpenSearch, new_index: NewIndex) -> None:
    index = new_index()
    load(client, index, {"a": "one two three four five six seven eight", "b": "some other text"})
    old = tokens_of(client, index, "a")

    def update(body: str) -> None:
        actions = [{"_op_type": "update", "_index": index, "_id": "a", "doc": {"body": body}}]
        helpers.bulk(client, fingerprint_actions(actions, "body"), refresh=True)

    update("eight seven six five four three two one")
    new = tokens_of(client, index, "a")
    assert {"a": 4.0} == scores(client, index, similar_query(new))
    assert {} == scores(client, index, similar_query(old))

    update("...")

    assert {} == scores(client, index, similar_query(new))
    assert {"b"} == scores(client, index, {"exists": {"field": "simdoc.tokens"}}).keys()


# --- queries by id, which the engine expands ---


@pytest.mark.parametrize("percent", [None, 1, 33, 50, 100])
def test_a_query_by_id_has_the_hits_of_a_query_by_tokens(
    client: OpenSearch, family_index: str, percent: int | None
) -> None:
    overlap = None if percent is None else Fraction(percent, 100)
    expected = scores(
        client, family_index, similar_query(tokens_of(client, family_index, "source"), overlap, exclude_id="source")
    )

    assert (percent is None or percent < 75) <= bool(expected)
    assert expected == scores(client, family_index, similar_by_id(family_index, "source", overlap))


def test_a_query_by_id_may_have_filters_and_an_unknown_id(client: OpenSearch, family_index: str) -> None:
    filters = [{"match": {"title": "alike9 alike10"}}]

    assert {"alike10", "alike9"} == scores(
        client, family_index, similar_by_id(family_index, "source", 0.2, filters=filters)
    ).keys()
    assert {} == scores(client, family_index, similar_by_id(family_index, "nobody"))


def test_a_query_by_id_needs_min_score_in_several_shards(client: OpenSearch, new_index: NewIndex) -> None:
    index = new_index(number_of_shards=3)
    pairs = {number: overlapping(random.Random(number), 200, 0.7) for number in range(40)}
    load(
        client, index, {f"{name}{n}": body for n, pair in pairs.items() for name, body in zip("ab", pair, strict=True)}
    )
    differences = 0
    for number in range(40):
        id = f"a{number}"
        tokens = tokens_of(client, index, id)
        expected = scores(client, index, similar_query(tokens, 0.8, exclude_id=id))
        by_id = scores(client, index, similar_by_id(index, id, 0.8))
        differences += by_id != expected

        assert expected.items() <= by_id.items()
        assert expected == scores(client, index, similar_by_id(index, id, 0.8), min_score=0.8 * len(tokens))
    assert differences > 0


def test_a_query_by_id_needs_the_routing_of_the_document(client: OpenSearch, new_index: NewIndex) -> None:
    index = new_index(number_of_shards=5)
    actions = [{"_index": index, "_id": id, "_routing": "r", "body": body} for id, body in family_texts().items()]
    helpers.bulk(client, fingerprint_actions(actions, "body"), refresh=True)

    assert {} == scores(client, index, similar_by_id(index, "source", 0.2))
    assert "alike9" in scores(client, index, similar_by_id(index, "source", 0.2, routing="r"))
