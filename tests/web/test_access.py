"""Who may send requests, and what a browser may do with the answers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.support.cli import words
from tests.support.web import BROWSER, Pages, pages_over

TOKEN = "a secret of 24 characters"


# --- headers ---


@pytest.mark.parametrize("path", ["/similar?q=doc123", "/nothing", "/static/site.js", "/status.json"])
def test_a_browser_loads_only_our_styles_and_scripts(pages: Pages, path: str) -> None:
    """Other sites cannot put the page in a frame."""
    headers = pages.client.get(path).headers
    policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))

    assert {"'none'"} == {policy[name] for name in ("default-src", "frame-ancestors", "base-uri")}
    assert {"'self'"} == {policy[name] for name in ("script-src", "style-src", "form-action", "connect-src")}
    assert "nosniff" == headers["x-content-type-options"]
    assert "same-origin" == headers["cross-origin-resource-policy"]
    assert "server" not in headers


def test_caches_keep_only_static_files(pages: Pages) -> None:
    """Pages show the texts of documents."""
    static = pages.client.get("/static/site.css").headers

    assert "no-store" == pages.client.get("/similar?q=doc123").headers["cache-control"]
    assert "no-cache" == static["cache-control"]
    assert 304 == pages.client.get("/static/site.css", headers={"if-none-match": static["etag"]}).status_code
    assert 404 == pages.client.get("/static/..%2Fapp.py").status_code


@pytest.mark.parametrize("path", ["/", "/similar?q=doc123", "/compare?a=doc123&b=german", "/duplicates"])
def test_pages_have_no_inline_styles_or_scripts(pages: Pages, path: str) -> None:
    """The policy forbids them."""
    html = pages.client.get(path, headers=BROWSER).text

    assert [] == [part for part in ("<style", " style=", "<script>", " onclick", "javascript:") if part in html]


# --- hosts and sites ---


@pytest.mark.parametrize("host", ["evil.example:8765", "127.0.0.1.evil.example", "", "10.0.0.7", "[", "x@localhost@y"])
def test_requests_to_other_hosts_are_refused(pages: Pages, host: str) -> None:
    """After DNS rebinding, another site gets no answers."""
    response = pages.client.get("/similar?q=doc123", headers={"host": host})

    assert response.status_code in (400, 421)
    assert "copy" not in response.text


def test_the_server_has_loopback_names_and_given_names(served_store: Path) -> None:
    """A proxy in front of the server has its own name."""
    with pages_over(served_store, hosts=["docs.example"]) as named:
        for host in ("LOCALHOST:8765", "127.0.0.1", "[::1]:8765", "Docs.Example"):
            assert 200 == named.client.get("/", headers={"host": host}).status_code
        assert 421 == named.client.get("/", headers={"host": "other.example"}).status_code


LINK = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}


@pytest.mark.parametrize(
    "headers",
    [{"origin": "https://evil.example"}, {"origin": "null"}, {"origin": "http://127.0.0.1:1"}, LINK,
     {"sec-fetch-site": "same-site"}],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("path", ["/duplicates", "/duplicates/decide", "/similar"])
def test_another_site_cannot_send_forms(pages: Pages, path: str, headers: dict[str, str]) -> None:
    """Neither a form nor a script of another site starts anything."""
    assert 403 == pages.client.post(path, data={"text": "x"}, headers=headers).status_code
    assert pages.served.duplicates.state is None


def test_another_site_can_only_link_here(pages: Pages) -> None:
    """A link works. A picture or a frame does not."""
    picture = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image"}
    frame = {**LINK, "sec-fetch-dest": "iframe"}

    statuses = [
        pages.client.get("/similar?q=doc123", headers=headers).status_code for headers in (LINK, picture, frame)
    ]
    assert [200, 403, 403] == statuses


def test_our_own_forms_are_accepted(pages: Pages) -> None:
    """Browsers state in a header that these forms come from the same site."""
    text = {"text": words(0, 90)}
    for headers in ({"origin": str(pages.client.base_url).rstrip("/")}, {"sec-fetch-site": "same-origin"}):
        assert 200 == pages.client.post("/similar", data=text, headers=headers).status_code


# --- the access token ---


@pytest.fixture(scope="module")
def closed(served_store: Path) -> Iterator[Pages]:
    """A server that needs an access token."""
    with pages_over(served_store, token=TOKEN, allows_any_address=True) as running:
        yield running


def test_without_the_token_nothing_is_shown(closed: Pages) -> None:
    """A browser gets the login page, a program gets 401."""
    response = closed.client.get("/similar?q=doc123", headers=BROWSER)

    assert (303, "/login?then=%2Fsimilar%3Fq%3Ddoc123") == (response.status_code, response.headers["location"])
    for path in ("/similar.json?q=doc123", "/status.json", "/duplicates/plan.tsv"):
        assert 401 == closed.client.get(path).status_code
    for wrong in ("Bearer wrong", f"Basic {TOKEN}", "Bearer", f"Bearer {TOKEN}x", "Bearer ü"):
        assert 401 == closed.client.get("/status.json", headers=[(b"authorization", wrong.encode())]).status_code
    assert 401 == closed.client.post("/similar", data={"text": "x"}).status_code
    assert 401 == closed.client.get("/status.json", headers={"cookie": f"simdoc={TOKEN}"}).status_code


def test_a_program_sends_the_token(closed: Pages) -> None:
    """With a token, any IP address is accepted as the host, but no other name."""
    headers = {"authorization": f"Bearer {TOKEN}"}
    statuses = [
        closed.client.get("/status.json", headers={**headers, "host": host}).status_code
        for host in ("localhost", "10.0.0.7:80", "evil.example")
    ]

    assert [200, 200, 421] == statuses


def test_a_browser_logs_in_once(closed: Pages) -> None:
    """The browser gets a cookie. Scripts cannot read it, and it does not contain the token."""
    wrong = closed.client.post("/login", data={"token": "x", "then": "/status"})
    right = closed.client.post("/login", data={"token": TOKEN, "then": "/similar?q=doc123"})
    cookie = right.headers["set-cookie"]

    assert (403, True) == (wrong.status_code, "This access token is wrong." in wrong.text)
    assert (303, "/similar?q=doc123") == (right.status_code, right.headers["location"])
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    assert TOKEN not in cookie
    with httpx.Client(base_url=closed.client.base_url) as browser:
        browser.headers["cookie"] = cookie.partition(";")[0]

        assert "doc123" in browser.get("/similar?q=doc123", headers=BROWSER).text


@pytest.mark.parametrize("then", ["https://evil.example/", "//evil.example", "/\\evil.example", "/\r\nx: y"])
def test_the_login_does_not_lead_to_another_site(closed: Pages, then: str) -> None:
    """The login then leads to the first page."""
    assert "/" == closed.client.post("/login", data={"token": TOKEN, "then": then}).headers["location"]


def test_the_login_accepts_only_small_forms(closed: Pages) -> None:
    """The sender of a login form has no token yet."""
    assert 413 == closed.client.post("/login", data={"token": "x" * 20_000}).status_code
    assert 415 == closed.client.post("/login", content=b"x", headers={"content-type": "text/plain"}).status_code
