"""web_app.py shows each user what she may read, and says of a secret what it says of nothing."""

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
    """Asks the web application as a user; the status and what it says."""
    application = import_module("web_app").application(client, index)

    async def asked(path: str, user: str) -> httpx.Response:
        way = httpx.ASGITransport(application)
        async with httpx.AsyncClient(transport=way, base_url="http://manuals") as browser:
            return await browser.get(path, headers={"x-user": user})

    def get(path: str, user: str = "eve") -> tuple[int, Any]:
        answer = asyncio.run(asked(path, user))
        is_json = answer.headers["content-type"] == "application/json"
        return answer.status_code, answer.json() if is_json else answer.text

    return get


def test_a_page_of_the_web_application_has_what_the_user_may_read(web: Any) -> None:
    """With titles, page by page, and narrowed by what the user chose; one language of several, or none there is."""
    status, hits = web("/documents/stove-2021/similar?overlap=0.2", "ann")

    assert (200, [SOLD, DRAFT]) == (status, [hit["title"] for hit in hits])
    assert [SOLD] == [hit["title"] for hit in web("/documents/stove-2021/similar?overlap=0.2")[1]]
    assert hits[1:] == web("/documents/stove-2021/similar?overlap=0.2&offset=1", "ann")[1]
    assert hits == web("/documents/stove-2021/similar?overlap=0.2&language=de&language=en", "ann")[1]
    assert [] == web("/documents/stove-2021/similar?overlap=0.2&language=de", "ann")[1]


def test_the_web_application_says_of_a_secret_what_it_says_of_nothing(web: Any) -> None:
    """By each of its pages, for the source and for the hit."""
    shared = ("/documents/{}/shared/kettle", "/documents/kettle/shared/{}")
    for path in ("/documents/{}/similar", "/search?q=stove&like={}", *shared):
        secret, nothing = (web(path.format(id)) for id in ("stove-2024-draft", "stove-2024-nobody"))

        assert 404 == secret[0] == nothing[0]
        assert secret[1]["error"].replace("draft", "nobody") == nothing[1]["error"]
        assert 200 == web(path.format("stove-2024-draft"), "ann")[0]


def test_words_and_likeness_are_one_request(web: Any, app: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside the one that reads the source; hits are in the order of the words, and none is below the overlap."""
    asked: list[Any] = []
    search = app.client.search

    def counted(**given: Any) -> Any:
        asked.append(given)
        return search(**given)

    monkeypatch.setattr(app.client, "search", counted)
    _, words = web("/search?q=stove+manual", "ann")
    _, alike = web("/search?q=stove+manual&like=stove-2021&overlap=0.2", "ann")
    _, near = web("/search?q=stove+manual&like=stove-2021&overlap=0.65", "ann")

    assert 5 == len(words)
    assert {SOLD, DRAFT} == {hit["title"] for hit in alike}
    assert [hit for hit in words if hit in alike] == alike
    assert [SOLD] == [hit["title"] for hit in near]
    assert 5 == len(asked)


def test_what_is_shared_is_marked_on_a_page(web: Any) -> None:
    """In the text of the hit, which stays text."""
    status, page = web("/documents/letter-17/shared/stove-2021", "ben")

    assert 200 == status
    assert "<mark>" in page
    assert page.count("<mark>") == page.count("</mark>")
    assert "If there is no flame" in page.partition("<mark>")[2].partition("</mark>")[0]


def test_what_cannot_be_asked_is_a_sentence(web: Any) -> None:
    """With the status of a wrong request."""
    assert (400, "overlap must be a fraction from 0 to 1, not 20.0; 20 % is 0.2") == (
        web("/documents/kettle/similar?overlap=20")[0],
        web("/documents/kettle/similar?overlap=20")[1]["error"],
    )
    assert 400 == web("/documents/kettle/similar?overlap=much")[0]
    assert 400 == web("/documents/kettle/similar?offset=-1")[0]
