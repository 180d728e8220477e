"""search_app.py says what each user may read, and nobody learns from it what she may not."""

from __future__ import annotations

import asyncio
import json
from importlib import import_module
from typing import Any

import pytest
from opensearchpy import AsyncOpenSearch, OpenSearch, Search, helpers

from simdoc_search.attach.actions import fingerprint_actions
from tests.support.examples import DRAFT, EXAMPLES, LETTER, OLD, SOLD, run


def test_the_application_says_this(opensearch_url: str, index: str) -> None:
    """Loaded once, it prints for each user what that user may read."""
    printed = [run("examples/search_app.py", opensearch_url, index) for _ in range(2)]

    assert f"""\
ann searches for code 31: {[LETTER, OLD, SOLD, DRAFT]}
ann finds like the draft, overlap 74%: {SOLD}
ann finds like the draft, overlap 56%: {OLD}
ben searches for code 31: {[LETTER, OLD, SOLD]}
eve searches for code 31: {[OLD, SOLD]}
""" == printed[1]
    assert "6 documents loaded\n" + printed[1] == printed[0]


def test_its_full_text_search_has_filters_and_rights(app: Any) -> None:
    """Language and user decide together."""
    assert ["Pelletofen Tern 12, Anleitung"] == app.search("Tern", "eve", "de")
    assert [LETTER] == app.search("warmth", "ben")
    assert [] == app.search("warmth", "eve")


def test_its_full_text_search_never_finds_by_our_field(app: Any, client: OpenSearch, index: str) -> None:
    """Neither by a token nor by a number in it, also where the search names no field."""
    ours = client.get(index=index, id="stove-2021")["_source"]["simdoc"]
    written_like_words = [token for token in ours["tokens"].split() if token.isalnum()]
    words = [*written_like_words, str(ours["buckets"]), str(ours["shingles"]), ours["text_hash"]]
    asked = {"multi_match": {"query": " ".join(words)}}

    assert 5 < len(written_like_words)
    assert [] == [word for word in words if app.search(word, "ann")]
    assert 0 == client.search(index=index, body={"query": asked})["hits"]["total"]["value"]


@pytest.mark.parametrize("probability", [None, 0.8])
def test_similar_documents_are_those_that_the_user_may_read(app: Any, probability: float | None) -> None:
    """Most alike first; the draft is among them for its author only."""
    options = {"overlap": 0.2, "probability": probability}
    found = {user: [title for title, _ in app.similar("stove-2021", user, **options)] for user in ("ann", "ben", "eve")}

    assert {"ann": [SOLD, DRAFT], "ben": [SOLD], "eve": [SOLD]} == found
    assert [OLD, DRAFT, SOLD] == [title for title, _ in app.similar("letter-17", "ann")]


def test_who_may_not_read_the_source_learns_nothing(app: Any) -> None:
    """The answer is that of an unknown id, and of a document that has nothing in common with others."""
    assert [] == app.similar("stove-2024-draft", "eve")
    assert [] == app.similar("nobody-wrote-this", "eve")
    assert [] == app.similar("kettle", "eve")
    assert [] != app.similar("stove-2024-draft", "ann")


def test_tokens_of_a_source_are_read_for_its_readers_only(app: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """For another user the engine sends none to the application, which asks it nothing further."""
    answers: list[Any] = []
    search = app.client.search

    def recorded(**asked: Any) -> Any:
        answers.append(search(**asked))
        return answers[-1]

    monkeypatch.setattr(app.client, "search", recorded)
    for user in ("eve", "ann"):
        app.similar("stove-2024-draft", user, overlap=0.2)

    assert [False, True, True] == ["tokens" in str(answer) for answer in answers]
    assert [0, 1, 2] == [answer["hits"]["total"]["value"] for answer in answers]


@pytest.mark.parametrize("change", ["index", "update"])
def test_a_source_without_words_is_like_nothing(
    app: Any, client: OpenSearch, opensearch_url: str, index: str, change: str
) -> None:
    """It has no fingerprint, or none any more, and that is no error in any of the examples."""
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


def test_a_text_that_is_in_no_index_finds_what_the_user_may_read(app: Any) -> None:
    """A copy overlaps by 1; the others by what `similar` shows for them."""
    text = json.loads((EXAMPLES / "manuals.jsonl").read_text("utf-8").splitlines()[2])["body"]
    hits = {user: app.similar_to_text(text, user, overlap=0.2) for user in ("ann", "eve")}
    shown = dict(app.similar("stove-2024-draft", "ann", overlap=0.2))

    assert ("stove-2024-draft", 1.0) == (hits["ann"][0].id, hits["ann"][0].overlap)
    assert ["stove-2023", "stove-2021"] == [hit.id for hit in hits["eve"]]
    assert [hit.overlap for hit in hits["eve"]] == [shown[SOLD], shown[OLD]]


def test_no_hit_of_the_application_lies_below_the_overlap(app: Any) -> None:
    """Of forty long documents that have all of the source, only those are shown that are not too long."""
    first, *_ = map(json.loads, (EXAMPLES / "manuals.jsonl").read_text("utf-8").splitlines())
    added = [" ".join(f"word{number}x{each}" for each in range(20 * number)) for number in range(40)]
    app.load({**first, "id": f"long-{n}", "body": f"{first['body']} {each}"} for n, each in enumerate(added))
    shares = [share for _, share in app.similar("stove-2021", "eve", overlap=0.5)]

    assert 5 < len(shares) < 20
    assert min(shares) >= 0.5
    assert sorted(shares, reverse=True) == shares
