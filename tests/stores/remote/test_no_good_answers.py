"""What is said when an engine gives no good answer: an error, nothing, or what no engine says."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from simdoc_search.stores import open_store
from simdoc_search.stores.remote.connection import connect
from simdoc_search.stores.remote.errors import RequestError
from tests.support.cli import process
from tests.support.http_server import Answer, Handler, Server, answer, error, serving, unused_url
from tests.support.sentences import MAPPING, one_sentence, said

pytestmark = pytest.mark.usefixtures("no_credentials")


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
    """It is not waited for longer than `SIMDOC_TIMEOUT` says, and not asked again."""
    monkeypatch.setenv("SIMDOC_TIMEOUT", "0.1")
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
