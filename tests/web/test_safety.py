"""Who may ask, what a hostile text or request can do: nothing; and what an answer lets a browser do."""

from __future__ import annotations

import http.client
import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from simdoc_search import SimilaritySearch, open_store
from simdoc_search.errors import StoreLockedError, StoreUnavailableError
from simdoc_search.showing import printable
from simdoc_search.web import app, running
from simdoc_search.web.bodies import Room
from simdoc_search.web.texts import MOST_BYTES
from tests.support.cli import words
from tests.support.web import BROWSER, Pages, pages_of, pages_over

TOKEN = "a secret of 24 characters"
SCRIPT = "<script>alert(1)</script>"
EVIL = f'"><img src=x onerror=alert(1)>\x1b[31m\u202e{SCRIPT}{{{{7*7}}}}'
ADDRESSES = ("/", "/similar?q=doc123", "/nothing", "/static/site.js", "/openapi.json", "/status.json", "/document?id=x")


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
    with pages_over(store) as running:
        yield running


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


@pytest.mark.parametrize("id", [f"{EVIL}0", "a?b=c&d#e%2F", "../../etc/passwd", ".", "//x//", "a.json", " b "])
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
    endless = (b"x" * 1_000_000 for _ in range(MOST_BYTES // 1_000_000 + 2))

    assert 413 == said.getresponse().status
    said.close()
    refused = pages.client.post("/similar.json", headers={"content-type": "text/plain"}, content=endless)
    assert (413, True) == (refused.status_code, "20,000,000 bytes" in refused.json()["error"])


def test_many_large_texts_at_once_are_not_all_held(served_store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that finds no room is told to come again; those that are slow hold what came of them; then there is room."""
    monkeypatch.setattr(app, "Room", partial(Room, 300_000))
    with pages_over(served_store) as few:
        port = few.client.base_url.port
        with socket.create_connection(("127.0.0.1", port)) as slow:
            head = "POST /similar.json HTTP/1.1\r\nHost: localhost\r\nContent-Length: 300000\r\n\r\n"
            slow.sendall(head.encode() + b"x" * 250_000)
            time.sleep(0.3)
            refused = few.client.post("/similar.json", json={"text": words(0, 10_000)})

            assert (503, True) == (refused.status_code, "come in at once" in refused.json()["error"])
            assert [] != few.sent("/similar", text=words(0, 90))["hits"]
        time.sleep(0.3)
        assert [] == few.sent("/similar", text=words(0, 10_000), overlap=90)["hits"]


def test_who_asks_nothing_keeps_nobody_out(served_store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Silent connections, and heads that come byte by byte, are closed; also after an answer."""
    monkeypatch.setattr(running, "_HEAD_SECONDS", 0.5)
    with pages_over(served_store) as patient:
        address = ("127.0.0.1", patient.client.base_url.port)
        with ExitStack() as opened:
            silent = [opened.enter_context(socket.create_connection(address)) for _ in range(110)]
            time.sleep(0.2)

            assert 503 == patient.client.get("/status.json").status_code
            time.sleep(0.6)
            assert 200 == patient.client.get("/status.json").status_code
            assert b"" == silent[0].recv(1)
        with socket.create_connection(address, timeout=10) as slow:
            slow.sendall(b"GET /static/icon.svg HTTP/1.1\r\nHost: localhost\r\n\r\nGET / HT")
            answer = b"".join(iter(lambda: slow.recv(10_000), b""))

        assert answer.startswith(b"HTTP/1.1 200 OK")


def test_who_has_no_token_yet_can_send_little(closed: Pages) -> None:
    """As long as any token is, not as a text."""
    assert 413 == closed.client.post("/login", data={"token": "x" * 20_000}).status_code


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
    (b"&" * 50_000, "application/x-www-form-urlencoded", 400),
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
    assert "up to 2,000,000 are taken" in pages.sent("/passages", 400, files={"file": ("a.txt", text)})["error"]


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
