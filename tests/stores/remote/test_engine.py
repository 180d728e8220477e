"""Requests to an engine: what is sent, and which answers are errors."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from opensearchpy import OpenSearch

from simdoc_search.errors import StoreError, StoreNotFoundError, StoreUnavailableError
from simdoc_search.query.dsl import MAX_CLAUSES
from simdoc_search.stores import open_store
from simdoc_search.stores.remote.connection import connect
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.errors import RequestError
from tests.support.cli import process
from tests.support.error_sentences import MAPPING, one_sentence, opening_error
from tests.support.http_server import Answer, Server, answer, error, unused_url

pytestmark = pytest.mark.usefixtures("no_credentials")


@pytest.fixture
def engine(server: Server) -> Iterator[Engine]:
    """An engine at the server of the tests."""
    with closing(connect(f"{server.url}/index", engine="opensearch")[0]) as opened:
        yield opened


def test_a_client_needs_an_index_and_excludes_a_location(server: Server) -> None:
    client = OpenSearch([server.url])
    for given in ({}, {"client": client}, {"index": "i"}, {"location": server.url, "client": client, "index": "i"}):
        with pytest.raises(TypeError, match="either a location, or a client and an index"):
            open_store(**given)
    client.close()

    assert [] == server.requests


def test_a_request_has_a_quoted_path_and_json_and_may_allow_statuses(server: Server, engine: Engine) -> None:
    assert (
        engine.call("POST", ["a/b", "_x"], {"é": 1}, force=True, refresh=False, scroll_size=3, allowed_statuses=[404])
        is None
    )
    request = server.requests[-1]
    assert ("POST", "/a%2Fb/_x?force=true&refresh=false&scroll_size=3") == (request.method, request.path)
    assert [{"é": 1}] == request.lines()
    with pytest.raises(
        StoreNotFoundError, match=r"has no such index \[index\]; check the name of the index, or create"
    ):
        engine.call("GET", ["index"])


@pytest.mark.parametrize(
    ("given", "limit"),
    [
        ({"defaults": {"indices.query.bool.max_clause_count": "512"}}, 512),
        ({"transient": {"indices.query.bool.max_clause_count": "9"}, "persistent": {}}, 9),
        ({"transient": {}, "persistent": {}}, MAX_CLAUSES),
        (None, MAX_CLAUSES),
    ],
)
def test_the_clause_limit_comes_from_the_engine_if_we_may_read_it(
    server: Server, engine: Engine, given: Any, limit: int
) -> None:
    server.handle = lambda _: error(403, "security_exception", "no") if given is None else answer(given)

    assert limit == engine.max_clauses()


@pytest.mark.parametrize(
    ("status", "part"),
    [
        (400, "returned status 400: for a reason"),
        (401, "rejected the credentials; set SIMDOC_USERNAME and SIMDOC_PASSWORD, or SIMDOC_API_KEY"),
        (403, "denied the request (for a reason); ask an administrator for this permission"),
        (503, "returned status 503: for a reason"),
    ],
)
def test_an_error_shows_the_reason_from_the_engine(server: Server, status: int, part: str) -> None:
    server.handle = lambda _: error(status, "some_exception", "for a\n  reason")
    with pytest.raises(RequestError) as caught:
        open_store(f"{server.url}/index")
    again = pickle.loads(pickle.dumps(caught.value))

    assert f"{server.url} {part}" == one_sentence(caught.value)
    assert (str(caught.value), status, "some_exception") == (str(again), again.status, again.error_type)


@pytest.mark.parametrize("status", [302, 401, 502])
@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"<html>\n<h1>Sorry</h1></html>", "text/html"),
        (b"", "text/plain"),
        (b'{"error": "sorry", "status": 1}', "application/json"),
    ],
)
def test_an_error_from_a_proxy_is_one_sentence(server: Server, status: int, body: bytes, kind: str) -> None:
    server.handle = lambda _: Answer(status, body, kind)
    with pytest.raises(RequestError) as caught:
        open_store(f"{server.url}/index")

    assert server.url in one_sentence(caught.value)
    assert status == caught.value.status


READS: dict[str, Callable[[Engine], Any]] = {
    "a search": lambda engine: engine.search("index", {}),
    "several searches": lambda engine: engine.search_many("index", [{}, {}]),
    "a count": lambda engine: engine.count("index"),
    "mappings": lambda engine: engine.call("GET", ["index", "_mapping"]),
}


@pytest.mark.parametrize(
    "given", [Answer(200, b"<html>Log in</html>", "text/html"), answer([]), answer({"error": "a proxy says no"})]
)
@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_an_answer_that_is_not_from_an_engine_is_an_error(
    server: Server, engine: Engine, read: Callable[[Engine], Any], given: Answer
) -> None:
    server.handle = lambda _: given
    with pytest.raises(StoreError, match="is not an OpenSearch or Elasticsearch") as caught:
        read(engine)

    assert one_sentence(caught.value)


def test_one_failed_search_of_several_is_an_error(server: Server, engine: Engine) -> None:
    failed = {"error": {"root_cause": [], "type": "too_many_clauses", "reason": "too many"}, "status": 400}
    server.handle = lambda _: answer({"responses": [{"hits": {}}, failed]})
    with pytest.raises(RequestError, match="returned status 400: too many") as caught:
        engine.search_many("index", [{}, {}])

    assert (400, "too_many_clauses") == (caught.value.status, caught.value.error_type)


@pytest.mark.parametrize(("url", "why"), [("", "connection refused"), ("http://nobody.invalid:9200", "unknown host")])
def test_the_error_for_a_missing_engine_names_the_cause(url: str, why: str) -> None:
    url = url or unused_url()

    assert opening_error(f"{url}/index").startswith(f"no response from {url}: {why}; ")
    with closing(connect(f"{url}/index", engine="opensearch")[0]) as engine, pytest.raises(StoreUnavailableError):
        engine.max_clauses()


@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize("given", [None, Answer(200, MAPPING.body, cut=True)], ids=["before", "within"])
def test_the_error_for_a_lost_connection_is_one_sentence(server: Server, given: Answer | None, is_first: bool) -> None:
    server.handle = lambda request: given if is_first or request.path != "/" else answer({})

    expected = f"no response from {server.url}: connection lost; start the engine, or check the URL"
    assert expected == opening_error(f"{server.url}/i")


@pytest.mark.slow
def test_only_the_message_is_printed(tmp_path: Path) -> None:
    result = process("info", "--store", f"{unused_url()}/index", cwd=tmp_path)

    assert (1, "", 1) == (result.returncode, result.stdout, len(result.stderr.splitlines())), result.stderr
    assert ": connection refused; " in result.stderr
