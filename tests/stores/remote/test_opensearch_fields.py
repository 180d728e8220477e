"""Our field in an index of someone else: beside her searches, analyzers, updates and shards."""

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
SEARCHES = ("query_string", "simple_query_string", "multi_match")


@pytest.fixture(scope="module")
def client(opensearch_url: str) -> Iterator[OpenSearch]:
    """The application's client."""
    with OpenSearch(opensearch_url) as opened:
        yield opened


@pytest.fixture
def new_index(client: OpenSearch) -> Iterator[NewIndex]:
    """Makes an application's index with a title, a body and our field, of these settings."""
    with ExitStack() as made:

        def make(**settings: Any) -> str:
            index = own_name()
            mappings = component_template()["template"]["mappings"]
            mappings["properties"] |= {"title": {"type": "text"}, "body": {"type": "text"}}
            settings = {"number_of_replicas": 0, **settings}
            client.indices.create(index=index, body={"settings": settings, "mappings": mappings})
            made.callback(client.indices.delete, index=index)
            return index

        yield make


def put_tokens(client: OpenSearch, index: str) -> None:
    """Index a document that has chosen tokens."""
    ours = {"tokens": TOKENS, "buckets": 512, "shingles": 700}
    client.index(index=index, id="a", body={"title": "-", "simdoc": ours}, refresh=True)


def load(client: OpenSearch, index: str, texts: dict[str, str]) -> None:
    """Index texts with their fingerprints."""
    actions = ({"_index": index, "_id": id, "title": id, "body": each} for id, each in texts.items())
    helpers.bulk(client, fingerprint_actions(actions, "body"), refresh=True)


def found(client: OpenSearch, index: str, query: dict[str, Any], **more: Any) -> dict[str, float]:
    """The ids of the hits, with their scores."""
    answer = client.search(index=index, body={"query": query, "size": 100, "_source": False, **more})
    return {hit["_id"]: hit["_score"] for hit in answer["hits"]["hits"]}


def tokens_of(client: OpenSearch, index: str, id: str) -> list[str]:
    """The tokens of a document as they are stored."""
    tokens: str = client.get(index=index, id=id)["_source"]["simdoc"]["tokens"]
    return tokens.split()


def family(count: int = 12) -> dict[str, str]:
    """A text, so many others that have more and more of it, and some with nothing of it."""
    rng = random.Random("family")
    words = text(rng, 600).split()
    alike = {
        f"alike{part}": " ".join([*words[: part * 600 // count], text(rng, (count - part) * 40)])
        for part in range(1, count + 1)
    }
    return {"source": " ".join(words), **alike, **{f"other{number}": text(rng, 300) for number in range(8)}}


# --- beside full-text searches ---


@pytest.mark.parametrize(
    "kind", ["best_fields", "most_fields", "cross_fields", "phrase", "phrase_prefix", "bool_prefix"]
)
def test_words_never_hit_a_token(client: OpenSearch, new_index: NewIndex, kind: str) -> None:
    index = new_index()
    put_tokens(client, index)
    hits = [
        word
        for word in [*TOKENS.split(), TOKENS, TOKENS.lower()]
        if found(client, index, {"multi_match": {"query": word, "fields": ["*"], "type": kind}})
    ]

    assert [] == hits
    assert {"a": 7.0} == found(client, index, similar_query(TOKENS.split()))


@pytest.mark.parametrize("search", ["query_string", "simple_query_string"])
@pytest.mark.parametrize("fields", [{}, {"fields": ["*"]}], ids=["no fields", "all fields"])
def test_a_search_string_of_words_never_hits_a_token(
    client: OpenSearch, new_index: NewIndex, search: str, fields: dict[str, Any]
) -> None:
    index = new_index()
    put_tokens(client, index)
    asked = ["2024", "ABCD", "abcd", "A1B2", '"2024 ABCD"', "99.9"]
    asked += ["AB*", "ab*", "ABC?", "*BCD", "A1B*", "A1?2", "/ab.*/", "/AB.*/", "ABCD~", "abcd~2", "A1B2~1", "v20*"]
    hits = [words for words in asked if found(client, index, {search: {"query": words, **fields}})]

    assert [] == hits


@pytest.mark.parametrize("fields", [{}, {"fields": ["*"]}], ids=["no fields", "all fields"])
def test_numbers_and_wildcards_of_numbers_hit_our_field_where_all_fields_are_searched(
    client: OpenSearch, new_index: NewIndex, fields: dict[str, Any]
) -> None:
    everywhere, named = new_index(), new_index(**{"index.query.default_field": ["title", "body"]})
    asked = ["20*", "2024~1", "512", "700"]
    hits = {}
    for index in (everywhere, named):
        put_tokens(client, index)
        hits[index] = [words for words in asked if found(client, index, {"query_string": {"query": words, **fields}})]

    assert {everywhere: asked, named: asked if fields else []} == hits


@pytest.mark.parametrize("search", SEARCHES)
def test_an_index_that_names_its_fields_is_never_searched_in_ours(
    client: OpenSearch, new_index: NewIndex, search: str
) -> None:
    index = new_index(**{"index.query.default_field": ["title", "body"]})
    put_tokens(client, index)
    asked = [*TOKENS.split()[:3], "20*", "2024~1", "2???", "[1 TO 3]", "/[0-9].*/", "512", "700"]
    hits = [words for words in asked if found(client, index, {search: {"query": words}})]

    assert [] == hits


# --- beside the index's own analyzers ---


@pytest.mark.parametrize("analyzer", ["simple", "english", "keyword", "whitespace"])
@pytest.mark.parametrize("role", ["default", "default_search"])
def test_a_default_analyzer_of_the_index_changes_nothing(
    client: OpenSearch, new_index: NewIndex, role: str, analyzer: str
) -> None:
    index = new_index(analysis={"analyzer": {role: {"type": analyzer}}})
    put_tokens(client, index)
    alike = similar_by_id(index, "a", 0.5)
    client.index(index=index, id="b", body={"simdoc": {"tokens": TOKENS[:24]}}, refresh=True)

    assert {"a": 7.0, "b": 5.0} == found(client, index, similar_query(TOKENS.split(), 0.7))
    assert {"b": 5.0} == found(client, index, alike)
    assert {} == found(client, index, {"multi_match": {"query": TOKENS, "fields": ["simdoc.tokens", "title"]}})


def test_a_store_finds_the_same_in_an_index_with_another_default_analyzer(
    client: OpenSearch, new_index: NewIndex
) -> None:
    answers = []
    for settings in ({}, {"analysis": {"analyzer": {"default_search": {"type": "english"}}}}):
        index = new_index(**settings)
        load(client, index, family())
        hits = SimilaritySearch(open_store(client=client, index=index)).similar("source_20_80").hits
        answers.append([(hit.id, hit.overlap, hit.matched) for hit in hits])

    assert [] != answers[0]
    assert answers[0] == answers[1]


# --- updates ---


def test_an_update_of_another_field_keeps_the_fingerprint(client: OpenSearch, new_index: NewIndex) -> None:
    index = new_index()
    load(client, index, {"a": "one two three four five six seven eight", "b": "one two three four five six seven nine"})
    before = client.get(index=index, id="a")["_source"]["simdoc"]
    client.update(index=index, id="a", body={"doc": {"title": "another"}}, refresh=True)
    after = client.get(index=index, id="a")["_source"]

    assert ("another", before) == (after["title"], after["simdoc"])
    assert {"a": 3.0} == found(client, index, similar_by_id(index, "b", 0.5))


def test_an_update_of_the_text_changes_the_fingerprint(client: OpenSearch, new_index: NewIndex) -> None:
    index = new_index()
    load(client, index, {"a": "one two three four five six seven eight", "b": "some other text"})
    old = tokens_of(client, index, "a")

    def update(body: str) -> None:
        actions = [{"_op_type": "update", "_index": index, "_id": "a", "doc": {"body": body}}]
        helpers.bulk(client, fingerprint_actions(actions, "body"), refresh=True)

    update("eight seven six five four three two one")
    new = tokens_of(client, index, "a")
    assert {"a": 4.0} == found(client, index, similar_query(new))
    assert {} == found(client, index, similar_query(old))

    update("...")

    assert {} == found(client, index, similar_query(new))
    assert {"b"} == found(client, index, {"exists": {"field": "simdoc.tokens"}}).keys()


# --- by id on the server ---


@pytest.mark.parametrize("percent", [None, 1, 7, 20, 33, 50, 75, 100])
def test_by_id_the_engine_finds_what_it_finds_by_tokens(
    client: OpenSearch, new_index: NewIndex, percent: int | None
) -> None:
    overlap = None if percent is None else Fraction(percent, 100)
    index = new_index(number_of_shards=1)
    load(client, index, family())
    tokens = tokens_of(client, index, "source")
    expected = found(client, index, similar_query(tokens, overlap, exclude_id="source"))

    assert (percent is None or percent < 75) <= bool(expected)
    assert expected == found(client, index, similar_by_id(index, "source", overlap))


def test_in_several_shards_the_least_score_must_be_named(client: OpenSearch, new_index: NewIndex) -> None:
    index = new_index(number_of_shards=3)
    texts = {f"{name}{number}": each for number in range(40) for name, each in _pair(number)}
    load(client, index, texts)
    differ = 0
    for number in range(40):
        id = f"a{number}"
        tokens = tokens_of(client, index, id)
        expected = found(client, index, similar_query(tokens, 0.8, exclude_id=id))
        by_id = found(client, index, similar_by_id(index, id, 0.8))
        differ += by_id != expected

        assert expected.items() <= by_id.items()
        assert expected == found(client, index, similar_by_id(index, id, 0.8), min_score=0.8 * len(tokens))
    assert 0 < differ


def _pair(number: int) -> list[tuple[str, str]]:
    """Two texts that overlap by about 70 %."""
    return list(zip("ab", overlapping(random.Random(number), 200, 0.7), strict=True))


def test_by_id_filters_choose_hits_and_not_the_source(client: OpenSearch, new_index: NewIndex) -> None:
    index = new_index()
    load(client, index, family())
    filters = [{"match": {"title": "alike9 alike10"}}]

    assert ["alike10", "alike9"] == sorted(found(client, index, similar_by_id(index, "source", 0.2, filters=filters)))


def test_by_id_an_unknown_document_finds_nothing(client: OpenSearch, new_index: NewIndex) -> None:
    index = new_index()
    load(client, index, family())

    assert {} == found(client, index, similar_by_id(index, "nobody"))


def test_by_id_a_routed_document_is_found_by_its_routing(client: OpenSearch, new_index: NewIndex) -> None:
    index = new_index(number_of_shards=5)
    for id, each in family().items():
        action = {"_index": index, "_id": id, "_routing": "r", "body": each}
        helpers.bulk(client, fingerprint_actions([action], "body"))
    client.indices.refresh(index=index)

    assert {} == found(client, index, similar_by_id(index, "source", 0.2))
    assert "alike9" in found(client, index, similar_by_id(index, "source", 0.2, routing="r"))
