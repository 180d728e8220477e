"""The way to an engine: addresses, credentials that nobody sees, and what is said when no good answer comes."""

from __future__ import annotations

import asyncio
import base64
import pickle
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from elasticsearch import AsyncElasticsearch
from opensearchpy import AsyncOpenSearch, OpenSearch

from simdoc_search.errors import SimdocError, StoreError, StoreNotFoundError, StoreUnavailableError
from simdoc_search.query.dsl import MAX_CLAUSES
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores import open_store
from simdoc_search.stores.remote import connecting
from simdoc_search.stores.remote.connecting import ENGINES, EngineKind, connect, split_url
from simdoc_search.stores.remote.engine import Engine, RequestError, max_clauses
from simdoc_search.stores.remote.index_body import store_index
from tests.support.cli import process, run, sentence, usage_error
from tests.support.http_server import Answer, Handler, Request, Server, answer, error, serving, unused_url

SECRET = "s3cret"
NO_INDEX = error(404, "index_not_found_exception", "no such index [index]")
MAPPING = answer({"index": store_index(Settings(), field="simdoc", store_texts=True)})


@pytest.fixture(autouse=True)
def no_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    """None but those that a test sets; and no patience, so that each error is said at once."""
    monkeypatch.setenv("SIMDOC_PATIENCE", "0")
    for name in ("SIMDOC_USERNAME", "SIMDOC_PASSWORD", "SIMDOC_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server() -> Iterator[Server]:
    """An engine without any index, until it is told otherwise."""
    with serving(lambda _: NO_INDEX) as running:
        yield running


def said(url: str, **options: Any) -> str:
    """The sentence of the error that opening a store raises."""
    with pytest.raises(StoreError) as caught:
        open_store(url, **options)
    return one_sentence(caught.value)


def one_sentence(error: SimdocError) -> str:
    """The message, if it is fit to be read."""
    message = str(error)
    assert "\n" not in message
    assert 20 <= len(message) <= 400
    assert not [word for word in ("None", "Traceback", "Error(", "object at", "urllib3", "HTTPConn") if word in message]
    return message


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
    transport: Any = engine._client.transport
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
    shown = [store.location, repr(store), repr(store._engine), store._engine.name, *messages]
    store.close()

    assert [] == [each for each in shown if SECRET in each or "name:" in each]


def test_a_key_that_no_header_can_hold_is_refused(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """One sentence, which does not say that the engine is down, nor the key."""
    monkeypatch.setenv("SIMDOC_API_KEY", "s3cret\n")
    message = said(f"{server.url}/index")

    assert "does not answer" not in message
    assert SECRET not in message


# --- answers that are errors ---


@pytest.mark.parametrize(
    ("status", "part"),
    [
        (400, "answers 400: for a reason"),
        (401, "does not accept the credentials; set SIMDOC_USERNAME and SIMDOC_PASSWORD, or SIMDOC_API_KEY"),
        (403, "forbids it (for a reason); ask for the permission"),
        (429, "answers 429: for a reason"),
        (500, "answers 500: for a reason"),
        (503, "answers 503: for a reason"),
    ],
)
def test_an_error_says_what_the_engine_said(server: Server, status: int, part: str) -> None:
    """With its reason in one line, and status and kind for programs; it can be sent to another process."""
    server.handle = lambda _: error(status, "some_exception", "for a\n  reason")
    with pytest.raises(RequestError) as caught:
        open_store(f"{server.url}/index")
    again = pickle.loads(pickle.dumps(caught.value))

    assert f"{server.url} {part}" == one_sentence(caught.value)
    assert (status, "some_exception") == (caught.value.status, caught.value.kind)
    assert (str(caught.value), status, "some_exception") == (str(again), again.status, again.kind)


@pytest.mark.parametrize("status", [302, 401, 403, 404, 502])
@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"<html>\n<h1>Sorry</h1></html>", "text/html"),
        (b"", "text/plain"),
        (b"no JSON", "application/json"),
        (b'{"message": "sorry"}', "application/json"),
        (b'{"error": "sorry", "status": 1}', "application/json"),
    ],
)
def test_an_error_of_something_between_is_a_sentence_too(server: Server, status: int, body: bytes, kind: str) -> None:
    """A proxy answers in HTML, or with nothing; the status is said then."""
    server.handle = lambda _: Answer(status, body, kind)
    with pytest.raises(RequestError) as caught:
        open_store(f"{server.url}/index")

    assert server.url in one_sentence(caught.value)
    assert status == caught.value.status
    assert status in (302, 401, 403) or str(status) in str(caught.value)


def test_a_long_reason_is_cut(server: Server) -> None:
    """Engines quote whole queries."""
    server.handle = lambda _: error(400, "parsing_exception", "x" * 10_000)

    assert len(said(f"{server.url}/index")) < 400


@pytest.mark.parametrize(
    "given",
    [
        Answer(200, b"<html>Log in</html>", "text/html"),
        Answer(200, b"It works!", "text/plain"),
        Answer(200, b"", "text/plain"),
        Answer(200, b'{"ind', "application/json"),
        Answer(200, b"[]"),
        Answer(200, b'{"message": "hello"}'),
    ],
    ids=lambda each: f"{each.kind} {each.body.decode()}",
)
def test_an_answer_that_no_engine_gives_is_an_error(server: Server, given: Answer) -> None:
    """Something else listens there: one sentence, which does not claim that nothing does."""
    server.handle = lambda _: given
    message = said(f"{server.url}/index")

    assert server.url in message
    assert "does not answer" not in message


def test_one_failed_search_of_several_is_an_error() -> None:
    """The answers of the others are not taken for all."""
    failed = {"error": {"root_cause": [], "type": "too_many_clauses", "reason": "too many"}, "status": 400}
    with serving(lambda _: answer({"responses": [{"hits": {}}, failed]})) as server:
        engine, index = connect(f"{server.url}/index")
        with pytest.raises(RequestError, match="answers 400: too many") as caught:
            engine.search_many(index, [{}, {}])
        engine.close()

    assert (400, "too_many_clauses") == (caught.value.status, caught.value.kind)


# --- no answers ---


@pytest.mark.parametrize(("url", "why"), [("", "connection refused"), ("http://nobody.invalid:9200", "no such host")])
def test_an_engine_that_is_not_there(url: str, why: str) -> None:
    """The sentence says why, and what to look at."""
    url = url or unused_url()

    assert said(f"{url}/index").startswith(f"{url} does not answer ({why}); ")


def greeted(given: Handler) -> Handler:
    """An engine that says who it is, and then answers otherwise."""
    return lambda request: answer({}) if request.path == "/" else given(request)


@pytest.mark.parametrize("wrap", [greeted, lambda given: given], ids=["later", "at first"])
@pytest.mark.parametrize("given", [None, Answer(200, MAPPING.body, cut=True)], ids=["before", "within"])
def test_a_connection_that_breaks(server: Server, given: Answer | None, wrap: Callable[[Handler], Handler]) -> None:
    """Before or in the middle of the answer."""
    server.handle = wrap(lambda _: given)

    assert f"{server.url} does not answer (connection lost); start it, or check the address" == said(f"{server.url}/i")


@pytest.mark.parametrize(("wrap", "requests"), [(greeted, 2), (lambda given: given, 1)], ids=["later", "at first"])
def test_an_engine_that_takes_too_long(
    server: Server, monkeypatch: pytest.MonkeyPatch, wrap: Callable[[Handler], Handler], requests: int
) -> None:
    """It is not waited for longer than `TIMEOUT`, and not asked again."""
    monkeypatch.setattr(connecting, "TIMEOUT", 0.1)
    server.handle = wrap(lambda _: time.sleep(0.5))
    message = said(f"{server.url}/index")

    assert message.startswith(f"{server.url} does not answer (it took too long); ")
    assert requests == len(server.requests)


def test_encryption_where_there_is_none(server: Server) -> None:
    """`https` at an engine that speaks `http`: no certificate is to blame."""
    message = said(server.url.replace("http:", "https:") + "/index")

    assert "certificate" not in message


def test_nothing_but_the_sentence_is_printed(tmp_path: Path) -> None:
    """In a process of its own: no traceback, and no lines of the client's own."""
    result = process("info", "--store", f"{unused_url()}/index", cwd=tmp_path)

    assert (1, "", 1) == (result.returncode, result.stdout, len(result.stderr.splitlines())), result.stderr
    assert "does not answer (connection refused)" in result.stderr


# --- the application's own client ---


def test_the_client_of_an_application_stays_open(server: Server) -> None:
    """A closed store takes no more requests; the client does."""
    closed: list[None] = []

    class Client(OpenSearch):
        def close(self) -> None:
            closed.append(None)
            super().close()

    server.handle = lambda _: MAPPING
    client = Client([server.url])
    store = open_store(client=client, index="index")
    store.close()
    with pytest.raises(StoreError, match="the store on the engine is closed; open it again"):
        store.get("a")

    assert [] == closed
    assert ["index"] == list(client.indices.get_mapping(index="index"))
    assert "the engine/index" == store.location  # type: ignore[attr-defined]
    client.close()


def test_a_client_needs_an_index_and_no_location(server: Server) -> None:
    """One of the two ways, wholly."""
    client = OpenSearch([server.url])
    for given in ({}, {"client": client}, {"index": "i"}, {"location": server.url, "client": client, "index": "i"}):
        with pytest.raises(TypeError, match="give a location, or a client and an index"):
            open_store(**given)
    client.close()

    assert [] == server.requests


def test_a_fault_that_is_not_the_engine_s_is_not_hidden() -> None:
    """What a client does wrongly comes out as it is."""

    class Broken:
        transport = property(lambda _: 1 // 0)

    with pytest.raises(ZeroDivisionError):
        Engine(Broken(), "the engine").call("GET", ["index"])


# --- what is asked ---


def test_a_request_is_sent_as_it_is_meant(server: Server) -> None:
    """Parts of the path are quoted, booleans written as JSON does, and what is allowed is no error."""
    engine, _ = connect(f"{server.url}/index")

    assert engine.call("POST", ["a/b", "_x"], {"é": 1}, flag=True, off=False, n=3, allow=(404,)) is None
    request = server.requests[-1]
    assert ("POST", "/a%2Fb/_x?flag=true&off=false&n=3") == (request.method, request.path)
    assert [{"é": 1}] == request.lines()
    with pytest.raises(
        StoreNotFoundError,
        match=r"has no such index \[index\]; correct its name, or index",
    ):
        engine.call("GET", ["index"])
    engine.close()


@pytest.mark.parametrize(
    ("given", "limit"),
    [
        ({"defaults": {"indices.query.bool.max_clause_count": "512"}}, 512),
        ({"persistent": {"indices.query.bool.max_clause_count": "4096"}, "defaults": {}}, 4096),
        ({"transient": {"indices.query.bool.max_clause_count": "9"}, "persistent": {}}, 9),
        ({"transient": {}, "persistent": {}}, MAX_CLAUSES),
        (None, MAX_CLAUSES),
    ],
)
def test_the_clause_limit_is_the_engine_s(server: Server, given: Any, limit: int) -> None:
    """As it is set, or by default; who may not ask takes the default of all engines."""
    server.handle = lambda _: error(403, "security_exception", "no") if given is None else answer(given)
    engine, _ = connect(f"{server.url}/index")

    assert limit == max_clauses(engine)
    engine.close()


def test_a_refusal_of_the_limit_for_another_reason_is_an_error() -> None:
    """An engine that is away is not taken for one with the default."""
    engine, _ = connect(f"{unused_url()}/index", engine="opensearch")
    with pytest.raises(StoreUnavailableError):
        max_clauses(engine)
    engine.close()


@pytest.mark.parametrize("kind", [AsyncOpenSearch, AsyncElasticsearch])
def test_an_asynchronous_client_is_refused(kind: Any) -> None:
    """At once, in one sentence that says which one to give."""
    client = kind(["http://127.0.0.1:1"])
    said = f"{kind.__name__} is asynchronous; open the store with `await open_store_async`, or give {kind.__name__[5:]}"

    with pytest.raises(TypeError, match=said):
        open_store(client=client, index="docs")
    with pytest.raises(TypeError, match=said):
        Engine(client, "the engine")
    asyncio.run(client.close())


@pytest.mark.parametrize("kind", ENGINES)
def test_the_engine_can_be_named(server: Server, kind: EngineKind) -> None:
    """Nobody is asked which one it is."""
    server.handle = lambda _: replace(MAPPING, product="Elasticsearch")
    with open_store(f"{server.url}/docs", engine=kind) as store:
        client: Any = store._engine._client  # type: ignore[attr-defined] # of a store on an engine

    assert type(client).__name__.lower() == kind
    assert "/" not in [each.path for each in server.requests]


def test_no_other_engine_can_be_named(server: Server) -> None:
    """By the library as on the command line."""
    with pytest.raises(ValueError, match="engine must be one of opensearch, elasticsearch, not 'solr'"):
        open_store(f"{server.url}/docs", engine="solr")  # type: ignore[arg-type] # a person may

    assert "'solr' is not one of" in usage_error(run("info", "--store", f"{server.url}/docs", "--engine", "solr"))


@pytest.mark.parametrize(
    "command",
    [
        ["info", "--store", "URL/docs"],
        ["similar", "doc", "--store", "URL/docs"],
        ["explain", "doc", "--store", "URL/docs"],
        ["delete", "doc", "--store", "URL/docs"],
        ["index", "FILE", "--store", "URL/docs", "--unit", "word"],
        ["check", "URL/docs"],
        ["backfill", "URL/docs", "--field", "body", "--dry-run"],
        ["template", "install", "URL"],
    ],
)
def test_every_command_with_an_address_can_name_the_engine(server: Server, command: list[str], tmp_path: Path) -> None:
    """With --engine the first request is the command's own."""
    server.handle = lambda _: error(400, "refused", "not today")
    (tmp_path / "a.txt").write_text("some words")
    typed = [each.replace("URL", server.url).replace("FILE", str(tmp_path / "a.txt")) for each in command]
    run(*typed)
    run(*typed, "--engine", "opensearch")
    first, *others = [each.path for each in server.requests]

    assert "/" == first
    assert others
    assert "/" not in others
