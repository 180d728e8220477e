"""Tests that search_app.py shows each user only what she may read."""

from __future__ import annotations

import asyncio
import json
from importlib import import_module
from typing import Any

import pytest
from opensearchpy import AsyncOpenSearch, OpenSearch, Search, helpers

from simdoc_search.attach.actions import fingerprint_actions
from tests.support.examples import DRAFT, EXAMPLES, LETTER, OLD, SOLD, run

USERS = ("ann", "ben", "eve")


def test_the_application_loads_once_and_prints_what_each_user_may_read(opensearch_url: str, index: str) -> None:
    printed = [run("examples/search_app.py", opensearch_url, index) for _ in range(2)]

    assert f"""\
ann searches for code 31: {[LETTER, OLD, SOLD, DRAFT]}
ann finds a document similar to the draft, overlap 74%: {SOLD}
ann finds a document similar to the draft, overlap 56%: {OLD}
ben searches for code 31: {[LETTER, OLD, SOLD]}
eve searches for code 31: {[OLD, SOLD]}
""" == printed[1]
    assert "6 documents loaded\n" + printed[1] == printed[0]


def test_full_text_search_has_filters_and_rights(app: Any) -> None:
    assert ["Pelletofen Tern 12, Anleitung"] == app.search("Tern", "eve", "de")
    assert [LETTER] == app.search("warmth", "ben")
    assert [] == app.search("warmth", "eve")


def test_full_text_search_does_not_match_the_fingerprint(app: Any, client: OpenSearch, index: str) -> None:
    """Neither tokens nor numbers match, even if the search names no field."""
    field = client.get(index=index, id="stove-2021")["_source"]["simdoc"]
    word_tokens = [token for token in field["tokens"].split() if token.isalnum()]
    words = [*word_tokens, str(field["buckets"]), str(field["shingles"]), field["text_hash"]]
    query = {"multi_match": {"query": " ".join(words)}}

    assert 5 < len(word_tokens)
    assert [] == [word for word in words if app.search(word, "ann")]
    assert 0 == client.search(index=index, body={"query": query})["hits"]["total"]["value"]


@pytest.mark.parametrize("probability", [None, 0.8])
def test_similar_documents_are_readable(app: Any, probability: float | None) -> None:
    options = {"overlap": 0.2, "probability": probability}
    titles = {
        user: [title for title, _ in app.similar("stove-2021", user, **options)] for user in ("ann", "ben", "eve")
    }

    assert {"ann": [SOLD, DRAFT], "ben": [SOLD], "eve": [SOLD]} == titles
    assert [OLD, DRAFT, SOLD] == [title for title, _ in app.similar("letter-17", "ann")]


def test_an_unreadable_source_looks_like_an_unknown_one(app: Any) -> None:
    assert [] == app.similar("stove-2024-draft", "eve")
    assert [] == app.similar("nobody-wrote-this", "eve")
    assert [] == app.similar("kettle", "eve")
    assert [] != app.similar("stove-2024-draft", "ann")


def test_tokens_of_a_source_are_read_only_for_its_readers(app: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    answers: list[Any] = []
    search = app.client.search

    def recorded(**options: Any) -> Any:
        answers.append(search(**options))
        return answers[-1]

    monkeypatch.setattr(app.client, "search", recorded)
    for user in ("eve", "ann"):
        app.similar("stove-2024-draft", user, overlap=0.2)

    assert [False, True, True] == ["tokens" in str(answer) for answer in answers]
    assert [0, 1, 2] == [answer["hits"]["total"]["value"] for answer in answers]


@pytest.mark.parametrize("change", ["index", "update"])
def test_a_source_without_words_has_no_hits_in_any_example(
    app: Any, client: OpenSearch, opensearch_url: str, index: str, change: str
) -> None:
    action: dict[str, Any] = {"_op_type": change, "_index": index, "_id": "kettle"}
    action["_source" if change == "index" else "doc"] = {"title": "?", "body": "...", "readers": ["everyone"]}
    helpers.bulk(client, fingerprint_actions([action], "body"), refresh=True)
    readable = Search(using=client, index=index)

    async def ask() -> Any:
        async with AsyncOpenSearch(opensearch_url) as opened:
            return await import_module("with_asyncio").similar(opened, index, "kettle", "eve", overlap=0.2)

    assert [] == app.similar("kettle", "eve")
    assert [] == import_module("with_dsl").similar(readable, "kettle")
    assert [] == asyncio.run(ask())


def test_a_text_finds_what_the_user_may_read(app: Any) -> None:
    text = json.loads((EXAMPLES / "manuals.jsonl").read_text("utf-8").splitlines()[2])["body"]
    hits = {user: app.similar_to_text(text, user, overlap=0.2) for user in ("ann", "eve")}
    overlaps = dict(app.similar("stove-2024-draft", "ann", overlap=0.2))

    assert ("stove-2024-draft", 1.0) == (hits["ann"][0].id, hits["ann"][0].overlap)
    assert ["stove-2023", "stove-2021"] == [hit.id for hit in hits["eve"]]
    assert [hit.overlap for hit in hits["eve"]] == [overlaps[SOLD], overlaps[OLD]]


def test_no_hit_is_below_the_overlap(app: Any) -> None:
    """Forty documents contain all of the source, and are longer and longer."""
    first, *_ = map(json.loads, (EXAMPLES / "manuals.jsonl").read_text("utf-8").splitlines())
    added = [" ".join(f"word{number}x{each}" for each in range(20 * number)) for number in range(40)]
    app.load({**first, "id": f"long-{n}", "body": f"{first['body']} {each}"} for n, each in enumerate(added))
    shares = [share for _, share in app.similar("stove-2021", "eve", overlap=0.5)]

    assert 5 < len(shares) < 20
    assert min(shares) >= 0.5
    assert sorted(shares, reverse=True) == shares
