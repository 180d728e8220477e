"""Addresses of engines, and credentials that reach the engine and that nobody sees."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from simdoc_search.sketch.settings import Settings
from simdoc_search.stores import open_store
from simdoc_search.stores.location import EngineKind
from simdoc_search.stores.remote.connection import connect, split_url
from tests.support.cli import run, sentence
from tests.support.http_server import Request, Server, error, serving, unused_url
from tests.support.sentences import MAPPING, NO_INDEX, said

SECRET = "s3cret"


pytestmark = pytest.mark.usefixtures("no_credentials")


# --- addresses ---


@pytest.mark.parametrize(
    ("url", "hosts", "index"),
    [
        ("http://localhost:9200/docs", ["http://localhost:9200"], "docs"),
        ("http://localhost:9200/docs/", ["http://localhost:9200"], "docs"),
        ("https://search.example.org/docs", ["https://search.example.org"], "docs"),
        ("http://a:9200,b:9201/docs", ["http://a:9200", "http://b:9201"], "docs"),
        ("https://example.org/behind/a/proxy/docs", ["https://example.org/behind/a/proxy"], "docs"),
        ("http://[::1]:9200/docs", ["http://[::1]:9200"], "docs"),
        ("http://name@[::1]:9200/docs", ["http://[::1]:9200"], "docs"),
        ("http://name@a:9200,b:9200/docs", ["http://a:9200", "http://b:9200"], "docs"),
        ("http://localhost:9200/%3Cdocs-%7Bnow%2Fd%7D%3E", ["http://localhost:9200"], "<docs-{now/d}>"),
        ("http://localhost:9200/docs-*,logs_2.x", ["http://localhost:9200"], "docs-*,logs_2.x"),
    ],
)
def test_an_address_names_nodes_and_an_index(url: str, hosts: list[str], index: str) -> None:
    """Several nodes share what stands before and after them; a user's name is no part of it."""
    assert (hosts, index) == split_url(url)


@pytest.mark.parametrize(
    "url",
    [
        "http://",
        "http:///docs",
        "http://localhost:9200",
        "http://localhost:9200/",
        "http://localhost:port/docs",
        "http://localhost:99999/docs",
        "http://localhost:0/docs",
        "http://[::1/docs",
        "http://localhost:9200/docs?pretty",
        "http://localhost:9200/docs#top",
        "http://a:9200,/docs",
        "http://h\u2100:9200/docs",
    ],
)
@pytest.mark.parametrize("name", ["", "name:s3cret@"])
def test_what_is_no_address_is_refused_with_an_example(url: str, name: str) -> None:
    """The sentence shows how one is written, and no password."""
    message = said(url.replace("://", f"://{name}"))

    assert name or "write http://host:port/index" in message
    assert SECRET not in message


@pytest.mark.parametrize("nodes", ["a:9200", "a:9200,name:s3cret@b:9200"])
@pytest.mark.parametrize("password", ["s3cret", "s3cret@word", "a:s3cret", "s3cret%2Fword"])
def test_a_password_in_an_address_is_refused(password: str, nodes: str) -> None:
    """Whoever lists processes would see it; the sentence says where it belongs, and does not show it."""
    message = said(f"http://name:{password}@{nodes}/docs")

    assert SECRET not in message
    assert "set SIMDOC_USERNAME and SIMDOC_PASSWORD" in message


@pytest.mark.parametrize("password", ["s3cret/word", "s3cret?word", "s3cret#word", "a/s3cret", "s3cret\u2100"])
def test_a_password_that_makes_an_address_none_is_not_shown(password: str) -> None:
    """Its characters end the name of the host, but the sentence shows nothing of it."""
    assert SECRET not in said(f"http://name:{password}@a:9200/docs")


def test_the_scheme_may_be_in_capitals(server: Server) -> None:
    """An address is not taken for the name of a folder."""
    assert "there is no index" in said(server.url.replace("http", "HTTP") + "/docs")


@pytest.mark.parametrize(("scheme", "port"), [("http", 80), ("https", 443)])
@pytest.mark.parametrize("kind", ["opensearch", "elasticsearch"])
def test_an_address_without_a_port_has_that_of_its_scheme(kind: EngineKind, scheme: str, port: int) -> None:
    """As anywhere else, and where the question which engine answers goes to."""
    engine, _ = connect(f"{scheme}://127.0.0.1/docs", engine=kind)
    transport: Any = engine._transport.client.transport
    node = transport.get_connection() if kind == "opensearch" else transport.node_pool.get()

    assert port == node.port
    engine.close()


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
@pytest.mark.parametrize("prefix", ["", "/behind/a/proxy"])
def test_requests_go_where_the_address_says(host: str, prefix: str) -> None:
    """To that host, below that path; the names of indices are quoted."""
    with serving(lambda _: NO_INDEX, host) as server:
        message = said(f"{server.url}{prefix}/é")

    assert [f"{prefix}/", f"{prefix}/%C3%A9/_mapping"] == [each.path for each in server.requests]
    assert f"there is no index {server.url}{prefix}/é; make it with simdoc-search index" == message


def test_another_node_answers_for_one_that_is_away(server: Server) -> None:
    """Of several addresses any may be down."""
    server.handle = lambda _: MAPPING
    away = unused_url()
    for first, second in ((away, server.url), (server.url, away)):
        url = f"{first},{second.removeprefix('http://')}/index"
        stores = [open_store(url) for _ in range(4)]  # the client begins with any of them

        assert [Settings()] * 4 == [each.settings for each in stores]


# --- credentials ---


def authorization(request: Request) -> str:
    """What the engine was told, decoded."""
    kind, value = request.headers["authorization"].split(" ", 1)
    return f"{kind} {base64.b64decode(value).decode()}" if kind == "Basic" else f"{kind} {value}"


@pytest.mark.parametrize(
    ("name", "environment", "expected"),
    [
        ("", {"SIMDOC_USERNAME": "name", "SIMDOC_PASSWORD": "s3cret:/@"}, "Basic name:s3cret:/@"),
        ("", {"SIMDOC_USERNAME": "ñame", "SIMDOC_PASSWORD": "s3cret 漢"}, "Basic ñame:s3cret 漢"),
        ("", {"SIMDOC_API_KEY": "s3cret=="}, "ApiKey s3cret=="),
        ("name@", {"SIMDOC_PASSWORD": "s3cret"}, "Basic name:s3cret"),
        ("name@", {"SIMDOC_USERNAME": "another", "SIMDOC_PASSWORD": "s3cret"}, "Basic name:s3cret"),
        ("na%40me@", {"SIMDOC_PASSWORD": "s3cret%20"}, "Basic na@me:s3cret%20"),
    ],
)
def test_credentials_reach_the_engine_and_nobody_else(
    server: Server, monkeypatch: pytest.MonkeyPatch, name: str, environment: dict[str, str], expected: str
) -> None:
    """The name from the address too, with quoted signs undone; no message, location or repr shows them."""
    for variable, value in environment.items():
        monkeypatch.setenv(variable, value)
    url = f"{server.url.replace('://', f'://{name}')}/index"
    messages = [said(url)]
    assert {expected} == {authorization(each) for each in server.requests}
    for status in (401, 403, 404, 429, 500):
        server.handle = lambda _, status=status: error(status, "x", "for a reason")  # type: ignore[misc]
        messages.append(said(url))
    messages.append(sentence(run("info", "--store", url)))
    server.handle = lambda _: MAPPING
    store: Any = open_store(url)
    shown = [store.location, repr(store), repr(store.engine), store.engine.name, *messages]
    store.close()

    assert [] == [each for each in shown if SECRET in each or "name:" in each]


def test_a_key_that_no_header_can_hold_is_refused(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """One sentence, which does not say that the engine is down, nor the key."""
    monkeypatch.setenv("SIMDOC_API_KEY", "s3cret\n")
    message = said(f"{server.url}/index")

    assert "does not answer" not in message
    assert SECRET not in message
