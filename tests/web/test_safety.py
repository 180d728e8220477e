"""Hostile documents and requests, and facts that the server must not disclose."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from simdoc_search import Document, SimilaritySearch, open_store
from simdoc_search.display import printable
from simdoc_search.errors import StoreLockedError, StoreUnavailableError
from tests.support.cli import words
from tests.support.web import BROWSER, Pages, pages_of, pages_over

SCRIPT = "<script>alert(1)</script>"
EVIL = f'"><img src=x onerror=alert(1)>\x1b[31m\u202e{SCRIPT}{{{{7*7}}}}'
IDS = [f"{EVIL}0", "a?b=c&d#e%2F", "../../etc/passwd", ".", "//x//", "a.json", " b "]


# --- hostile documents ---


@pytest.fixture(scope="module")
def hostile() -> Iterator[Pages]:
    """A server over documents with hostile ids, texts and metadata."""
    store = open_store(":memory:")
    text = f"{EVIL} " + words(0, 100) + f" </textarea></p>{SCRIPT}"
    documents = [Document(f"{EVIL}{number}", text, {EVIL: EVIL, "<b>": EVIL}) for number in range(3)]
    SimilaritySearch(store).index([*documents, *(Document(id, text) for id in IDS[1:])])
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


@pytest.mark.parametrize(("path", "values"), HOSTILE, ids=lambda value: printable(str(value))[:40])
def test_hostile_texts_are_only_shown(hostile: Pages, path: str, values: dict[str, Any]) -> None:
    """The texts have no effect as markup, as a template, in a terminal, or on the direction of text."""
    upload = {"file": (f"{EVIL}.txt", values["text"])} if "text" in values else None
    html = hostile.client.request("POST" if upload else "GET", path, params=values, files=upload, headers=BROWSER).text
    as_json = hostile.client.get(path, params=values, headers={"accept": "application/json"}).text

    assert SCRIPT not in html
    assert "<img" not in html
    assert "49" not in html.replace("word49", "")
    assert [] == [c for c in html if c not in "\n\t" and printable(c) != c]
    assert [] == [c for c in as_json if c != "\n" and printable(c) != c]
    assert isinstance(json.loads(as_json), dict)


def test_every_id_has_an_address(hostile: Pages) -> None:
    """The links on a page lead to the documents."""
    html = hostile.html("/similar", id="a.json", size=50)
    links = [unescape(link) for link in re.findall(r'class="name-of" href="([^"]*)"', html)]
    found = [hostile.client.get(link, headers={"accept": "application/json"}).json()["id"] for link in links]

    assert {*IDS} - {"a.json"} <= {*found}
    assert IDS == [hostile.json("/document", id=id)["id"] for id in IDS]


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("x.bin", b"\0\1\2" * 99, "'x.bin' cannot be read: binary"),
        ("broken.pdf", b"%PDF-1.4 broken", "'broken.pdf' cannot be read"),
        ("../../etc/passwd.parquet", b"PAR1", "'passwd.parquet' cannot be read: format .parquet is not supported"),
        ("empty.txt", b"", "no words"),
    ],
)
def test_a_file_without_a_text_is_an_error(pages: Pages, name: str, data: bytes, message: str) -> None:
    """The message has the name of the file without folders."""
    assert message in pages.sent("/similar", 400, files={"file": (name, data)})["error"]


# --- requests ---


def test_other_methods_are_refused(pages: Pages) -> None:
    """Clients cannot put or delete anything."""
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS"):
        refused = pages.client.request(method, "/similar")

        assert (405, {"GET", "HEAD", "POST"}) == (refused.status_code, set(refused.headers["allow"].split(", ")))


# --- facts that the server must not disclose ---


def test_no_answer_has_the_location_of_the_store(tmp_path: Path) -> None:
    """If a store is created later, the next request finds it."""
    location = tmp_path / "secret place"
    with pages_over(location) as missing:
        problem = missing.json("/similar", 503, q="x")["error"]
        html = missing.html("/", 503)

        assert "secret" not in problem + html
        assert "simdoc-search index" in problem

        SimilaritySearch(open_store(location, create=True)).index([])
        assert 0 == missing.json("/")["document_count"]


def test_paths_of_files_find_nothing(pages: Pages, served_store: Path) -> None:
    """On the command line, such paths are accepted."""
    file = served_store.parent / "corpus" / "doc123.txt"

    assert "doc123.txt" == SimilaritySearch(open_store(served_store)).resolve(str(file)).id
    for path in (str(file), f'"{file}"', "./doc123.txt", f"../corpus/{file.name}", "~/doc123.txt"):
        assert "no document" in pages.json("/similar", 404, q=path)["error"]
        assert "no document" in pages.json("/document", 404, id=path)["error"]
    assert str(served_store.parent) not in pages.html("/document", id="doc123.txt")
    assert str(served_store.parent) not in json.dumps(pages.json("/document", id="doc123.txt"))


@pytest.mark.parametrize("error", [StoreLockedError, StoreUnavailableError])
def test_a_store_that_is_not_available_is_503(error: Callable[[str], Exception]) -> None:
    """The message does not contain the address of the store."""

    def open_search() -> SimilaritySearch:
        raise error("http://engine:9200/docs does not answer; try again")

    with pages_of(open_search, ("http://engine:9200/docs",)) as down:
        assert "the index does not answer; try again" == down.json("/similar", 503, q="x")["error"]
        assert "does not answer; try again" in down.html("/", 503)


def test_a_short_location_is_only_replaced_as_a_word() -> None:
    def open_search() -> SimilaritySearch:
        raise StoreUnavailableError("s does not answer; use this store's other address")

    with pages_of(open_search, ("s",)) as down:
        message = "the index does not answer; use this store's other address"
        assert message == down.json("/similar", 503, q="x")["error"]


def test_an_internal_error_is_500_without_details(caplog: pytest.LogCaptureFixture) -> None:
    """The log has the details."""

    def open_search() -> SimilaritySearch:
        raise RuntimeError("secret detail")

    with pages_of(open_search) as faulty:
        response = faulty.client.get("/similar.json?q=x")

    assert (500, False) == (response.status_code, "secret" in response.text)
    assert "secret detail" in caplog.text
