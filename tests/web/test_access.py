"""Who may ask the pages: by which name, from which site, with which token; and what an answer lets a browser do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.support.cli import words
from tests.support.web import BROWSER, Pages, pages_over

ADDRESSES = ("/", "/similar?q=doc123", "/nothing", "/static/site.js", "/openapi.json", "/status.json", "/document?id=x")
TOKEN = "a secret of 24 characters"


# --- headers ---


@pytest.mark.parametrize("path", ADDRESSES)
def test_a_browser_runs_and_loads_nothing_but_ours(pages: Pages, path: str) -> None:
    """Of whatever is answered: no inline script or style, no frame around it, no other site, no guess of its kind."""
    headers = pages.client.get(path).headers
    policy = dict(each.strip().split(" ", 1) for each in headers["content-security-policy"].split(";"))

    assert {"'none'"} == {policy[name] for name in ("default-src", "frame-ancestors", "base-uri")}
    assert {"'self'"} == {policy[name] for name in ("script-src", "style-src", "form-action", "connect-src")}
    assert ("nosniff", "DENY", "same-origin") == (
        headers["x-content-type-options"],
        headers["x-frame-options"],
        headers["cross-origin-resource-policy"],
    )
    assert "server" not in headers


def test_pages_are_not_kept_by_caches_and_assets_are(pages: Pages) -> None:
    """What documents say stays here; a style that is named by its content never changes."""
    assert "no-store" == pages.client.get("/similar?q=doc123").headers["cache-control"]
    assert "immutable" in pages.client.get("/static/site.css?v=1").headers["cache-control"]
    assert 404 == pages.client.get("/static/..%2Fapp.py").status_code


@pytest.mark.parametrize("path", ["/", "/similar?q=doc123", "/compare?a=doc123&b=german", "/duplicates", "/status"])
def test_pages_have_nothing_inline(pages: Pages, path: str) -> None:
    """The policy would not let it run."""
    html = pages.client.get(path, headers=BROWSER).text

    assert [] == [each for each in ("<style", " style=", "<script>", " onclick", "javascript:") if each in html]


# --- who may ask ---


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8765", "127.0.0.1.evil.example", "", "10.0.0.7", "[", "x@localhost@y"]
)
def test_other_names_are_refused(pages: Pages, host: str) -> None:
    """A page of another site that has its name lead here (DNS rebinding) reads nothing."""
    response = pages.client.get("/similar?q=doc123", headers={"host": host})

    assert response.status_code in (400, 421)
    assert "copy" not in response.text


@pytest.mark.parametrize("host", ["localhost", "localhost:8765", "LOCALHOST", "127.0.0.1", "[::1]:8765"])
def test_names_of_this_machine_are_its_own(pages: Pages, host: str) -> None:
    """Whatever the port."""
    assert 200 == pages.client.get("/", headers={"host": host}).status_code


def test_a_further_name_can_be_given(served_store: Path) -> None:
    """That of a proxy before it."""
    with pages_over(served_store, hosts=["docs.example"]) as named:
        assert 200 == named.client.get("/", headers={"host": "Docs.Example"}).status_code
        assert 421 == named.client.get("/", headers={"host": "other.example"}).status_code


FOREIGN = [
    {"origin": "https://evil.example"},
    {"origin": "null"},
    {"origin": "http://127.0.0.1:1"},
    {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"},
    {"sec-fetch-site": "same-site"},
]


@pytest.mark.parametrize("headers", FOREIGN, ids=str)
@pytest.mark.parametrize("path", ["/duplicates", "/duplicates/stop", "/duplicates/decide", "/similar", "/compare"])
def test_another_site_can_send_nothing(pages: Pages, path: str, headers: dict[str, str]) -> None:
    """Neither by a form nor by a script."""
    assert 403 == pages.client.post(path, data={"text": "x"}, headers=headers).status_code
    assert pages.collection.finding.state is None


def test_another_site_can_only_link_here(pages: Pages) -> None:
    """A link is followed, a picture or a script is not."""
    link = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    picture = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image"}
    frame = {**link, "sec-fetch-dest": "iframe"}

    assert [200, 403, 403] == [
        pages.client.get("/similar?q=doc123", headers=each).status_code for each in (link, picture, frame)
    ]


def test_our_own_forms_are_taken(pages: Pages) -> None:
    """With what browsers say of them."""
    own = str(pages.client.base_url).rstrip("/")
    text = {"text": words(0, 90)}

    assert 200 == pages.client.post("/similar", data=text, headers={"origin": own}).status_code
    assert 200 == pages.client.post("/similar", data=text, headers={"sec-fetch-site": "same-origin"}).status_code


@pytest.fixture(scope="module")
def closed(served_store: Path) -> Iterator[Pages]:
    """Pages that need a token."""
    with pages_over(served_store, token=TOKEN, any_address=True) as running:
        yield running


def test_without_the_token_nothing_is_shown(closed: Pages) -> None:
    """A browser is asked for it, a program is told."""
    asked = closed.client.get("/similar?q=doc123", headers=BROWSER)

    assert (303, "/login?then=%2Fsimilar%3Fq%3Ddoc123") == (asked.status_code, asked.headers["location"])
    for path in ("/similar.json?q=doc123", "/status.json", "/openapi.json", "/duplicates/plan.tsv"):
        assert 401 == closed.client.get(path).status_code
    for wrong in ("Bearer wrong", f"Basic {TOKEN}", "Bearer", f"Bearer {TOKEN}x", "Bearer ü"):
        assert 401 == closed.client.get("/status.json", headers=[(b"authorization", wrong.encode())]).status_code
    assert 401 == closed.client.post("/similar", data={"text": "x"}).status_code
    assert 401 == closed.client.get("/status.json", headers={"cookie": f"simdoc={TOKEN}"}).status_code


def test_with_the_token_programs_are_answered(closed: Pages) -> None:
    """By any address of the machine, but by no name."""
    headers = {"authorization": f"Bearer {TOKEN}"}

    assert 200 == closed.client.get("/status.json", headers=headers).status_code
    assert 200 == closed.client.get("/status.json", headers={**headers, "host": "10.0.0.7:80"}).status_code
    assert 421 == closed.client.get("/status.json", headers={**headers, "host": "evil.example"}).status_code


def test_a_browser_shows_the_token_once(closed: Pages) -> None:
    """It gets a cookie that scripts cannot read, and that is not the token; and goes to where it wanted."""
    wrong = closed.client.post("/login", data={"token": "x", "then": "/status"})
    right = closed.client.post("/login", data={"token": TOKEN, "then": "/similar?q=doc123"})
    cookie = right.headers["set-cookie"]

    assert (403, "That is not it.") == (wrong.status_code, wrong.text[wrong.text.index("That is") :][:15])
    assert (303, "/similar?q=doc123") == (right.status_code, right.headers["location"])
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    assert TOKEN not in cookie
    with httpx.Client(base_url=closed.client.base_url) as browser:
        browser.headers["cookie"] = cookie.partition(";")[0]

        assert "doc123" in browser.get("/similar?q=doc123", headers=BROWSER).text


def test_a_malformed_token_is_a_sentence(closed: Pages) -> None:
    """As any other body."""
    assert 415 == closed.client.post("/login", content=b"x", headers={"content-type": "text/plain"}).status_code


@pytest.mark.parametrize("then", ["https://evil.example/", "//evil.example", "/\\evil.example", "/\r\nx: y"])
def test_the_token_leads_to_no_other_site(closed: Pages, then: str) -> None:
    """Whatever the address says."""
    moved = closed.client.post("/login", data={"token": TOKEN, "then": then})

    assert "/" == moved.headers["location"]


def test_who_has_no_token_yet_can_send_little(closed: Pages) -> None:
    """As long as any token is, not as a text."""
    assert 413 == closed.client.post("/login", data={"token": "x" * 20_000}).status_code
