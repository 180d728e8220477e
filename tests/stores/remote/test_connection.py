"""Addresses of engines, and credentials."""

from __future__ import annotations

import base64
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from simdoc_search.errors import StoreError
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores import open_store
from simdoc_search.stores.location import ENGINES, EngineKind
from simdoc_search.stores.remote.connection import split_url
from tests.support.cli import run, sentence, usage_error
from tests.support.error_sentences import MAPPING, NO_INDEX, opening_error
from tests.support.http_server import ELASTICSEARCH, Request, Server, error, serving, unused_url

SECRET = "s3cret"

pytestmark = pytest.mark.usefixtures("no_credentials")


@pytest.mark.parametrize(
    ("url", "hosts", "index"),
    [
        ("http://localhost:9200/docs/", ["http://localhost:9200"], "docs"),
        ("https://search.example.org/docs", ["https://search.example.org"], "docs"),
        ("http://name@a:9200,b:9201/docs", ["http://a:9200", "http://b:9201"], "docs"),
        ("https://example.org/behind/a/proxy/docs", ["https://example.org/behind/a/proxy"], "docs"),
        ("http://[::1]:9200/docs", ["http://[::1]:9200"], "docs"),
        ("http://localhost:9200/%3Cdocs-%7Bnow%2Fd%7D%3E", ["http://localhost:9200"], "<docs-{now/d}>"),
        ("http://localhost:9200/_all", ["http://localhost:9200"], "_all"),
        ("http://localhost:9200/docs-*,logs_2.x", ["http://localhost:9200"], "docs-*,logs_2.x"),
    ],
)
def test_an_address_has_nodes_and_an_index(url: str, hosts: list[str], index: str) -> None:
    assert (hosts, index) == split_url(url)


@pytest.mark.parametrize(
    ("url", "example"),
    [
        ("http:///docs", "http://host:port/index"),
        ("http://localhost:9200/", "http://localhost:9200/INDEX"),
        ("http://localhost:port/docs", "http://host:port/index"),
        ("http://[::1/docs", "http://host:port/index"),
        ("http://localhost:9200/docs?pretty", "http://localhost:9200/docs"),
        ("http://h\u2100:9200/docs", "http://host:port/index"),
    ],
)
@pytest.mark.parametrize("name", ["", "name:s3cret@"])
def test_a_malformed_address_is_refused_with_an_example(url: str, example: str, name: str) -> None:
    message = opening_error(url.replace("://", f"://{name}"))

    assert name or message.endswith(f"use {example}")
    assert SECRET not in message


@pytest.mark.parametrize("endpoint", ["_search", "_search?pretty", "_doc/kb-1", "_search/template/", "kb-1"])
def test_an_address_of_a_request_is_refused_with_the_address_of_its_index(server: Server, endpoint: str) -> None:
    """Such an address is copied from an application. The prefix `/shop` of `/shop/kb-1` is an index, not a proxy."""
    server.handle = lambda request: MAPPING if request.path == "/shop/" else NO_INDEX
    url = f"{server.url}/shop"
    used_url = f"{url}/{endpoint}"

    expected = f"{used_url.partition('?')[0]} does not end with the name of an index; use {url}"
    assert expected == opening_error(used_url)
    for command in ("backfill", "status", "check"):
        assert expected in usage_error(run(command, used_url))


@pytest.mark.parametrize(
    "login",
    ["name:s3cret", "name:s3cret@word", "name:s3cret/word", "name:s3cret\u2100"],
)
def test_a_password_in_an_address_is_refused_and_not_shown(login: str) -> None:
    message = opening_error(f"http://{login}@a:9200/docs")

    assert SECRET not in message
    assert set("/?\u2100") & set(login) or "set SIMDOC_USERNAME and SIMDOC_PASSWORD" in message


@pytest.mark.parametrize(("host", "prefix"), [("127.0.0.1", ""), ("::1", "/behind/a/proxy")])
def test_requests_go_to_the_host_and_keep_its_path_prefix(host: str, prefix: str) -> None:
    with serving(lambda _: NO_INDEX, host) as server:
        message = opening_error(f"{server.url.replace('http', 'HTTP')}{prefix}/é")

    assert [f"{prefix}/", f"{prefix}/%C3%A9/_mapping"] == [request.path for request in server.requests]
    advice = "check its name, or create it from files with `simdoc-search index`"
    assert f"there is no index {server.url}{prefix}/é; {advice}" == message


def test_another_node_answers_if_one_is_missing(server: Server) -> None:
    server.handle = lambda _: MAPPING
    away = unused_url()
    for first, second in ((away, server.url), (server.url, away)):
        url = f"{first},{second.removeprefix('http://')}/index"
        stores = [open_store(url) for _ in range(4)]  # the client starts with a random node

        assert [Settings()] * 4 == [store.settings for store in stores]


@pytest.mark.parametrize("kind", ENGINES)
def test_an_engine_given_by_name_is_not_detected(server: Server, kind: EngineKind) -> None:
    server.handle = lambda _: replace(MAPPING, headers=ELASTICSEARCH)
    store: Any = open_store(f"{server.url}/docs", engine=kind)
    with store:
        assert kind == type(store.engine._transport.client).__name__.lower()

    assert "/" not in [request.path for request in server.requests]


def test_the_wrong_engine_by_name_is_refused(server: Server) -> None:
    server.handle = lambda _: MAPPING
    with pytest.raises(StoreError, match=f"^{server.url} is not an Elasticsearch server; omit --engine"):
        open_store(f"{server.url}/docs", engine="elasticsearch")


def test_an_unknown_engine_is_refused(server: Server) -> None:
    with pytest.raises(ValueError, match="engine must be one of opensearch, elasticsearch, not 'solr'"):
        open_store(f"{server.url}/docs", engine="solr")  # type: ignore[arg-type] # a user may do so

    assert "'solr' is not one of" in usage_error(run("info", "--store", f"{server.url}/docs", "--engine", "solr"))


@pytest.mark.parametrize(
    "command",
    [
        ["similar", "doc", "--store", "URL/docs"],
        ["index", "FILE", "--store", "URL/docs", "--unit", "word"],
        ["check", "URL/docs"],
        ["template", "install", "URL"],
    ],
)
def test_each_command_with_an_address_has_the_option_engine(server: Server, command: list[str], tmp_path: Path) -> None:
    pytest.importorskip("opensearchpy")
    server.handle = lambda _: error(400, "refused", "not today")
    (tmp_path / "a.txt").write_text("some words")
    typed = [part.replace("URL", server.url).replace("FILE", str(tmp_path / "a.txt")) for part in command]
    run(*typed)
    run(*typed, "--engine", "opensearch")
    first, *others = [request.path for request in server.requests]

    assert "/" == first
    assert others
    assert "/" not in others


def authorization(request: Request) -> str:
    """Return the decoded authorization header."""
    kind, value = request.headers["authorization"].split(" ", 1)
    return f"{kind} {base64.b64decode(value).decode()}" if kind == "Basic" else f"{kind} {value}"


@pytest.mark.parametrize(
    ("name", "environment", "expected"),
    [
        ("", {"SIMDOC_USERNAME": "ñame", "SIMDOC_PASSWORD": "s3cret:/@ 漢"}, "Basic ñame:s3cret:/@ 漢"),
        ("", {"SIMDOC_API_KEY": "s3cret=="}, "ApiKey s3cret=="),
        ("na%40me@", {"SIMDOC_USERNAME": "another", "SIMDOC_PASSWORD": "s3cret%20"}, "Basic na@me:s3cret%20"),
    ],
)
def test_credentials_reach_the_engine_and_are_never_shown(
    server: Server, monkeypatch: pytest.MonkeyPatch, name: str, environment: dict[str, str], expected: str
) -> None:
    for variable, value in environment.items():
        monkeypatch.setenv(variable, value)
    url = f"{server.url.replace('://', f'://{name}')}/index"
    messages = [opening_error(url)]
    assert {expected} == {authorization(request) for request in server.requests}
    for status in (401, 403, 500):
        server.handle = lambda _, status=status: error(status, "x", "for a reason")  # type: ignore[misc]
        messages.append(opening_error(url))
    messages.append(sentence(run("info", "--store", url)))
    server.handle = lambda _: MAPPING
    store: Any = open_store(url)
    shown = [store.location, repr(store), repr(store.engine), store.engine.name, *messages]
    store.close()

    assert [] == [text for text in shown if SECRET in text or "name:" in text]


def test_a_key_with_a_line_break_is_refused_and_not_shown(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIMDOC_API_KEY", "s3cret\n")
    message = opening_error(f"{server.url}/index")

    assert "no response from" not in message
    assert SECRET not in message
