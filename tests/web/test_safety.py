"""What a hostile text or request can do to the pages: nothing; and what is not to be known is not told."""

from __future__ import annotations

import http.client
import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from simdoc_search import SimilaritySearch, open_store
from simdoc_search.display import printable
from simdoc_search.errors import StoreLockedError, StoreUnavailableError
from simdoc_search.web import dispatch, server
from simdoc_search.web.limits import TEXT_BYTES
from tests.support.cli import words
from tests.support.often import first
from tests.support.waiting import wait_until
from tests.support.web import BROWSER, Pages, pages_of, pages_over

SCRIPT = "<script>alert(1)</script>"
EVIL = f'"><img src=x onerror=alert(1)>\x1b[31m\u202e{SCRIPT}{{{{7*7}}}}'


# --- what others wrote ---


@pytest.fixture(scope="module")
def hostile() -> Iterator[Pages]:
    """Pages over documents with hostile ids, texts and metadata."""
    from simdoc_search import Document

    store = open_store(":memory:")
    search = SimilaritySearch(store)
    text = f"{EVIL} " + words(0, 100) + f" </textarea></p>{SCRIPT}"
    documents = [Document(f"{EVIL}{at}", text, {EVIL: EVIL, "<b>": EVIL}) for at in range(3)]
    documents += [Document(id, text) for id in ("a?b=c&d#e%2F", "../../etc/passwd", ".", "//x//", "a.json", " b ")]
    search.index(documents)
    with pages_over(store) as server:
        yield server


HOSTILE: list[tuple[str, dict[str, Any]]] = [
    ("/", {}),
    ("/similar", {"id": f"{EVIL}0", "show": ["<b>", EVIL], "filter": f"{EVIL}={EVIL}"}),
    ("/similar", {"q": f'"{EVIL}"'}),
    ("/similar", {"q": EVIL, "overlap": EVIL}),
    ("/similar", {"text": EVIL + words(0, 100)}),
    ("/passages", {"id": f"{EVIL}0"}),
    ("/document", {"id": f"{EVIL}0"}),
    ("/document", {"id": EVIL}),
    ("/compare", {"a": f"{EVIL}0", "b": f"{EVIL}1"}),
    ("/versions", {"id": EVIL}),
    (f"/{SCRIPT}", {}),
]


@pytest.mark.parametrize(("path", "values"), HOSTILE, ids=lambda each: printable(str(each))[:40])
def test_what_a_text_holds_is_shown_and_does_nothing(hostile: Pages, path: str, values: dict[str, Any]) -> None:
    """No markup of its own, no template, nothing that steers a terminal or turns the direction."""
    html = hostile.client.get(path, params=values, headers=BROWSER).text
    as_json = hostile.client.get(path, params=values, headers={"accept": "application/json"}).text

    assert SCRIPT not in html
    assert "<img" not in html
    assert "49" not in html.replace("word49", "")
    assert [] == [c for c in html if c not in "\n\t" and printable(c) != c]
    assert [] == [c for c in as_json if c != "\n" and printable(c) != c]
    assert isinstance(json.loads(as_json), dict)


IDS = [f"{EVIL}0", "a?b=c&d#e%2F", "../../etc/passwd", ".", "//x//", "a.json", " b "]


@pytest.mark.parametrize("id", first(2, IDS))
def test_every_id_has_an_address(hostile: Pages, id: str) -> None:
    """The links of the pages lead to the document itself."""
    import re
    from html import unescape

    html = hostile.html("/similar", id="a.json", size=50)
    links = [unescape(each) for each in re.findall(r'class="name-of" href="([^"]*)"', html)]
    found = [hostile.client.get(each, headers={"accept": "application/json"}).json()["id"] for each in links]

    assert id == hostile.json("/document", id=id)["id"]
    assert id == "a.json" or id in found


# --- what comes along ---


def test_what_is_too_large_is_refused_before_it_is_read(pages: Pages) -> None:
    """By what is said of its size, and by its size."""
    said = http.client.HTTPConnection(pages.client.base_url.host, pages.client.base_url.port, timeout=10)
    said.request("POST", "/similar.json", headers={"Content-Length": str(10**12), "Content-Type": "application/json"})
    endless = (b"x" * 1_000_000 for _ in range(TEXT_BYTES // 1_000_000 + 2))

    assert 413 == said.getresponse().status
    said.close()
    refused = pages.client.post("/similar.json", headers={"content-type": "text/plain"}, content=endless)
    assert (413, True) == (refused.status_code, "20,000,000 bytes" in refused.json()["error"])


def test_many_large_texts_at_once_are_not_all_held(served_store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that finds no room is told to come again; those that are slow hold what came of them; then there is room."""
    monkeypatch.setattr(dispatch, "BODIES_BYTES", 300_000)
    with pages_over(served_store) as few:
        port = few.client.base_url.port
        with socket.create_connection(("127.0.0.1", port)) as slow:
            head = "POST /similar.json HTTP/1.1\r\nHost: localhost\r\nContent-Length: 300000\r\n\r\n"
            slow.sendall(head.encode() + b"x" * 250_000)
            time.sleep(0.3)
            refused = few.client.post("/similar.json", json={"text": words(0, 10_000)})

            assert (503, True) == (refused.status_code, "at once" in refused.json()["error"])
            assert [] != few.sent("/similar", text=words(0, 90))["hits"]
        time.sleep(0.3)
        assert [] == few.sent("/similar", text=words(0, 10_000), overlap=90)["hits"]


@pytest.mark.slow
def test_who_asks_nothing_keeps_nobody_out(served_store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Silent connections, and heads that come byte by byte, are closed; also after an answer."""
    monkeypatch.setattr(server, "FIRST_SECONDS", 3)
    with pages_over(served_store) as patient:
        address = ("127.0.0.1", patient.client.base_url.port)
        with ExitStack() as opened:
            silent = [opened.enter_context(socket.create_connection(address)) for _ in range(110)]
            wait_until(lambda: patient.client.get("/status.json").status_code == 503)
            wait_until(lambda: patient.client.get("/status.json").status_code == 200)
            assert b"" == silent[0].recv(1)
        with socket.create_connection(address, timeout=10) as slow:
            slow.sendall(b"GET /static/icon.svg HTTP/1.1\r\nHost: localhost\r\n\r\nGET / HT")
            answer = b"".join(iter(lambda: slow.recv(10_000), b""))

        assert answer.startswith(b"HTTP/1.1 200 OK")


@pytest.mark.parametrize("many", ["0" * 20 + "99999", "9" * 5_000, "-1", "NaN", "1e3", "٣", "1.0"])
def test_numbers_have_their_range(pages: Pages, many: str) -> None:
    """However they are written; none is computed with before it is known to be small."""
    assert "offset must be a number" in pages.json("/similar", 400, q="doc123", offset=many)["error"]
    assert 200 == pages.client.get("/similar", params={"q": "doc123", "offset": "0" * 5_000 + "1"}).status_code


def test_other_methods_are_told_what_is_taken(pages: Pages) -> None:
    """Nothing is put or deleted here."""
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS"):
        refused = pages.client.request(method, "/similar")

        assert (405, {"GET", "HEAD", "POST"}) == (refused.status_code, set(refused.headers["allow"].split(", ")))


def test_the_name_of_a_file_is_shown_and_does_nothing(pages: Pages) -> None:
    """It is others' as a text is."""
    html = pages.client.post("/similar", files={"file": (f"{EVIL}.txt", words(0, 90))}, headers=BROWSER).text

    assert "Documents like" in html
    assert "<img" not in html
    assert SCRIPT not in html


MALFORMED: list[tuple[bytes, str, int]] = [
    (b"{", "application/json", 400),
    (b"[1]", "application/json", 400),
    (b"[" * 100_000, "application/json", 400),
    (b'{"text": {"a": 1}}', "application/json", 400),
    (b"\xff\xfe", "application/json", 400),
    (b"x", "text/plain", 415),
    (b"x", "multipart/form-data", 400),
    (b"x", "multipart/form-data; boundary=y", 400),
    (b"--y\r\nno header\r\n\r\nx\r\n--y--\r\n", "multipart/form-data; boundary=y", 400),
    (b"text=%ff%00", "application/x-www-form-urlencoded", 400),
    (b"a=%", "application/x-www-form-urlencoded", 400),
]


@pytest.mark.parametrize(("body", "kind", "status"), MALFORMED, ids=str)
def test_a_malformed_body_is_a_sentence(pages: Pages, body: bytes, kind: str, status: int) -> None:
    """Never a traceback."""
    response = pages.client.post("/similar.json", content=body, headers={"content-type": kind})

    assert status == response.status_code, response.text
    assert "error" in response.json()


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("x.bin", b"\0\1\2" * 99, "'x.bin' cannot be read: binary"),
        ("broken.pdf", b"%PDF-1.4 broken", "'broken.pdf' cannot be read"),
        ("../../etc/passwd.parquet", b"PAR1", "'passwd.parquet' cannot be read: format .parquet is not supported"),
        ("empty.txt", b"", "no words"),
    ],
)
def test_a_file_without_a_text_is_a_sentence(pages: Pages, name: str, data: bytes, said: str) -> None:
    """With its name alone."""
    assert said in pages.sent("/similar", 400, files={"file": (name, data)})["error"]


def test_a_file_is_written_nowhere(pages: Pages, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even one of many megabytes: where temporary files would lie, nothing can be written."""
    import tempfile

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "there is no such folder"))
    text = words(0, 200_000)

    assert 2_000_000 < len(text)
    assert [] == pages.sent("/similar", files={"file": ("a.txt", text)}, overlap="90")["hits"]
    assert "2,000,000 is the maximum" in pages.sent("/passages", 400, files={"file": ("a.txt", text)})["error"]


# --- what is not to be known, and what is not there ---


def test_no_answer_says_where_the_store_lies(tmp_path: Path) -> None:
    """An error that names its folder does not, there; and the next request finds a store that came later."""
    place = tmp_path / "secret place"
    with pages_over(place) as none:
        said = none.json("/similar", 503, q="x")["error"]
        html = none.html("/", 503)

        assert "secret" not in said + html
        assert "simdoc-search index" in said

        SimilaritySearch(open_store(place, create=True)).index([])
        assert 0 == none.json("/")["documents"]


def test_paths_of_the_machine_find_nothing(pages: Pages, served_store: Path) -> None:
    """Nobody learns by asking where the files lie, though the command line takes such paths."""
    file = served_store.parent / "corpus" / "doc123.txt"

    assert "doc123.txt" == SimilaritySearch(open_store(served_store)).resolve(str(file)).id
    for path in (str(file), f'"{file}"', "./doc123.txt", f"../corpus/{file.name}", "~/doc123.txt"):
        assert "no document" in pages.json("/similar", 404, q=path)["error"]
        assert "no document" in pages.json("/document", 404, id=path)["error"]
    assert str(served_store.parent) not in pages.html("/document", id="doc123.txt")
    assert str(served_store.parent) not in json.dumps(pages.json("/document", id="doc123.txt"))


@pytest.mark.parametrize("error", [StoreLockedError, StoreUnavailableError])
def test_a_store_that_cannot_answer_now_is_503(error: Callable[[str], Exception]) -> None:
    """With the sentence, without the address; later it may answer."""

    def opened() -> SimilaritySearch:
        raise error("http://engine:9200/docs does not answer; try again")

    with pages_of(opened, ("http://engine:9200/docs",)) as down:
        assert "the store does not answer; try again" == down.json("/similar", 503, q="x")["error"]
        assert "does not answer; try again" in down.html("/", 503)


def test_a_fault_of_ours_is_500_and_says_nothing(pages: Pages, caplog: pytest.LogCaptureFixture) -> None:
    """The log has it."""

    def opened() -> SimilaritySearch:
        raise RuntimeError("secret detail")

    with pages_of(opened) as faulty:
        said = faulty.client.get("/similar.json?q=x")

    assert (500, False) == (said.status_code, "secret" in said.text)
    assert "secret detail" in caplog.text
