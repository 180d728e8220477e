"""Tests that web_app.py shows each user only what she may read."""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import Any

import httpx
import pytest
from opensearchpy import OpenSearch

from tests.support.examples import DRAFT, SOLD


@pytest.fixture
def web(app: Any, client: OpenSearch, index: str) -> Any:
    """Sends a request to the web application as a user, and returns the status and the answer."""
    application = import_module("web_app").application(client, index)

    async def send(path: str, user: str) -> httpx.Response:
        transport = httpx.ASGITransport(application)
        async with httpx.AsyncClient(transport=transport, base_url="http://manuals") as browser:
            return await browser.get(path, headers={"x-user": user})

    def get(path: str, user: str = "eve") -> tuple[int, Any]:
        answer = asyncio.run(send(path, user))
        is_json = answer.headers["content-type"] == "application/json"
        return answer.status_code, answer.json() if is_json else answer.text

    return get


def test_similar_documents_have_titles_pages_and_filters(web: Any) -> None:
    status, hits = web("/documents/stove-2021/similar?overlap=0.2", "ann")

    assert (200, [SOLD, DRAFT]) == (status, [hit["title"] for hit in hits])
    assert [SOLD] == [hit["title"] for hit in web("/documents/stove-2021/similar?overlap=0.2")[1]]
    assert hits[1:] == web("/documents/stove-2021/similar?overlap=0.2&offset=1", "ann")[1]
    assert hits == web("/documents/stove-2021/similar?overlap=0.2&language=de&language=en", "ann")[1]
    assert [] == web("/documents/stove-2021/similar?overlap=0.2&language=de", "ann")[1]


def test_an_unreadable_document_looks_like_an_unknown_one(web: Any) -> None:
    shared = ("/documents/{}/shared/kettle", "/documents/kettle/shared/{}")
    for path in ("/documents/{}/similar", "/search?q=stove&like={}", *shared):
        secret, nothing = (web(path.format(id)) for id in ("stove-2024-draft", "stove-2024-nobody"))

        assert 404 == secret[0] == nothing[0]
        assert secret[1]["error"].replace("draft", "nobody") == nothing[1]["error"]
        assert 200 == web(path.format("stove-2024-draft"), "ann")[0]


def test_words_and_overlap_are_one_query(web: Any, app: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another request reads the source. The hits are in the order of the words."""
    requests: list[Any] = []
    search = app.client.search

    def counted(**options: Any) -> Any:
        requests.append(options)
        return search(**options)

    monkeypatch.setattr(app.client, "search", counted)
    _, words = web("/search?q=stove+manual", "ann")
    _, alike = web("/search?q=stove+manual&like=stove-2021&overlap=0.2", "ann")
    _, near = web("/search?q=stove+manual&like=stove-2021&overlap=0.65", "ann")

    assert 5 == len(words)
    assert {SOLD, DRAFT} == {hit["title"] for hit in alike}
    assert [hit for hit in words if hit in alike] == alike
    assert [SOLD] == [hit["title"] for hit in near]
    assert 5 == len(requests)


def test_shared_passages_are_marked(web: Any) -> None:
    status, page = web("/documents/letter-17/shared/stove-2021", "ben")

    assert 200 == status
    assert "<mark>" in page
    assert page.count("<mark>") == page.count("</mark>")
    assert "If there is no flame" in page.partition("<mark>")[2].partition("</mark>")[0]


def test_wrong_values_are_status_400_with_a_message(web: Any) -> None:
    status, answer = web("/documents/kettle/similar?overlap=20")

    assert (400, "overlap must be a fraction from 0 to 1, not 20.0; 20 % is 0.2") == (status, answer["error"])
    assert 400 == web("/documents/kettle/similar?overlap=much")[0]
    assert 400 == web("/documents/kettle/similar?offset=-1")[0]
