"""The examples run as they are, and nobody learns from them what she may not read."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen
from uuid import uuid4

import httpx
import pytest
from opensearchpy import AsyncOpenSearch, OpenSearch, Search, helpers
from opensearchpy.exceptions import NotFoundError

from simdoc_search.attach.actions import fingerprint_actions
from simdoc_search.query import similar_by_id, similar_query

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
TITLE = "Tern 12 pellet stove, "
DRAFT, SOLD, OLD = (TITLE + name for name in ("draft for 2024", "manual of 2023", "manual of 2021"))
LETTER = "A customer about code 31"


@pytest.fixture(autouse=True)
def _examples_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))


@pytest.fixture
def client(opensearch_url: str) -> Iterator[OpenSearch]:
    """The application's client."""
    with OpenSearch(opensearch_url) as opened:
        yield opened


@pytest.fixture
def index(client: OpenSearch) -> Iterator[str]:
    """The name of an index that is removed with its template."""
    name = f"manuals-{uuid4()}"
    yield name
    client.indices.delete(index=name, ignore_unavailable=True)
    with suppress(NotFoundError):
        client.indices.delete_index_template(name=name)


@pytest.fixture
def app(client: OpenSearch, index: str) -> Any:
    """The application of search_app.py with its documents."""
    manuals = import_module("search_app").Manuals(client, index)
    manuals.create()
    lines = (EXAMPLES / "manuals.jsonl").read_text("utf-8").splitlines()
    assert 6 == manuals.load(map(json.loads, lines))
    return manuals


def run(*arguments: object, cwd: Path = ROOT, stdin: str = "") -> str:
    """What a script of the examples prints; it must succeed without a warning."""
    command = [sys.executable, "-W", "error", *map(str, arguments)]
    env = os.environ | {"PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        command, check=False, cwd=cwd, env=env, input=stdin.encode(), capture_output=True, timeout=120
    )
    assert (0, b"") == (done.returncode, done.stderr)
    return done.stdout.decode()


# --- with_datasketch.py ---


@pytest.mark.slow
def test_sketches_of_datasketch_are_asked() -> None:
    """By id and by text, which gets the same values; the estimate is datasketch's own."""
    assert """\
like stove-2021: stove-2023, 81%
like the text: kettle, 30%
like the text: stove-2021, 15%
like the text: stove-2023, 10%
datasketch says 81%
""" == run("examples/with_datasketch.py")


# --- search_app.py ---


def test_the_application_says_this(opensearch_url: str, index: str) -> None:
    """Loaded once, it prints for each user what that user may read."""
    printed = [run("examples/search_app.py", opensearch_url, index) for _ in range(2)]

    assert f"""\
ann searches for code 31: {[LETTER, OLD, SOLD, DRAFT]}
ann finds like the draft, overlap 74%: {SOLD}
ann finds like the draft, overlap 56%: {OLD}
ben searches for code 31: {[LETTER, OLD, SOLD]}
eve searches for code 31: {[OLD, SOLD]}
""" == printed[1]
    assert "6 documents loaded\n" + printed[1] == printed[0]


def test_its_full_text_search_has_filters_and_rights(app: Any) -> None:
    """Language and user decide together."""
    assert ["Pelletofen Tern 12, Anleitung"] == app.search("Tern", "eve", "de")
    assert [LETTER] == app.search("warmth", "ben")
    assert [] == app.search("warmth", "eve")


def test_its_full_text_search_never_finds_by_our_field(app: Any, client: OpenSearch, index: str) -> None:
    """Neither by a token nor by a number in it, also where the search names no field."""
    ours = client.get(index=index, id="stove-2021")["_source"]["simdoc"]
    written_like_words = [token for token in ours["tokens"].split() if token.isalnum()]
    words = [*written_like_words, str(ours["buckets"]), str(ours["shingles"]), ours["text_hash"]]
    asked = {"multi_match": {"query": " ".join(words)}}

    assert 5 < len(written_like_words)
    assert [] == [word for word in words if app.search(word, "ann")]
    assert 0 == client.search(index=index, body={"query": asked})["hits"]["total"]["value"]


@pytest.mark.parametrize("probability", [None, 0.8])
def test_similar_documents_are_those_that_the_user_may_read(app: Any, probability: float | None) -> None:
    """Most alike first; the draft is among them for its author only."""
    options = {"overlap": 0.2, "probability": probability}
    found = {user: [title for title, _ in app.similar("stove-2021", user, **options)] for user in ("ann", "ben", "eve")}

    assert {"ann": [SOLD, DRAFT], "ben": [SOLD], "eve": [SOLD]} == found
    assert [OLD, DRAFT, SOLD] == [title for title, _ in app.similar("letter-17", "ann")]


def test_who_may_not_read_the_source_learns_nothing(app: Any) -> None:
    """The answer is that of an unknown id, and of a document that has nothing in common with others."""
    assert [] == app.similar("stove-2024-draft", "eve")
    assert [] == app.similar("nobody-wrote-this", "eve")
    assert [] == app.similar("kettle", "eve")
    assert [] != app.similar("stove-2024-draft", "ann")


def test_tokens_of_a_source_are_read_for_its_readers_only(app: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """For another user the engine sends none to the application, which asks it nothing further."""
    answers: list[Any] = []
    search = app.client.search

    def recorded(**asked: Any) -> Any:
        answers.append(search(**asked))
        return answers[-1]

    monkeypatch.setattr(app.client, "search", recorded)
    for user in ("eve", "ann"):
        app.similar("stove-2024-draft", user, overlap=0.2)

    assert [False, True, True] == ["tokens" in str(answer) for answer in answers]
    assert [0, 1, 2] == [answer["hits"]["total"]["value"] for answer in answers]


@pytest.mark.parametrize("change", ["index", "update"])
def test_a_source_without_words_is_like_nothing(
    app: Any, client: OpenSearch, opensearch_url: str, index: str, change: str
) -> None:
    """It has no fingerprint, or none any more, and that is no error in any of the examples."""
    action: dict[str, Any] = {"_op_type": change, "_index": index, "_id": "kettle"}
    action["_source" if change == "index" else "doc"] = {"title": "?", "body": "...", "readers": ["everyone"]}
    helpers.bulk(client, fingerprint_actions([action], "body"), refresh=True)
    readable = Search(using=client, index=index)

    async def ask() -> Any:
        async with AsyncOpenSearch(opensearch_url) as opened:
            return await import_module("with_asyncio").similar(opened, index, "kettle", "eve", overlap=0.2)

    assert [] == app.similar("kettle", "eve")
    assert [] == import_module("with_dsl").similar(readable, "kettle")
    assert [] == asyncio.run(ask())


def test_a_text_that_is_in_no_index_finds_what_the_user_may_read(app: Any) -> None:
    """A copy overlaps by 1; the others by what `similar` shows for them."""
    text = json.loads((EXAMPLES / "manuals.jsonl").read_text("utf-8").splitlines()[2])["body"]
    hits = {user: app.similar_to_text(text, user, overlap=0.2) for user in ("ann", "eve")}
    shown = dict(app.similar("stove-2024-draft", "ann", overlap=0.2))

    assert ("stove-2024-draft", 1.0) == (hits["ann"][0].id, hits["ann"][0].overlap)
    assert ["stove-2023", "stove-2021"] == [hit.id for hit in hits["eve"]]
    assert [hit.overlap for hit in hits["eve"]] == [shown[SOLD], shown[OLD]]


def test_no_hit_of_the_application_lies_below_the_overlap(app: Any) -> None:
    """Of forty long documents that have all of the source, only those are shown that are not too long."""
    first, *_ = map(json.loads, (EXAMPLES / "manuals.jsonl").read_text("utf-8").splitlines())
    added = [" ".join(f"word{number}x{each}" for each in range(20 * number)) for number in range(40)]
    app.load({**first, "id": f"long-{n}", "body": f"{first['body']} {each}"} for n, each in enumerate(added))
    shares = [share for _, share in app.similar("stove-2021", "eve", overlap=0.5)]

    assert 5 < len(shares) < 20
    assert min(shares) >= 0.5
    assert sorted(shares, reverse=True) == shares


# --- web_app.py ---


@pytest.fixture
def web(app: Any, client: OpenSearch, index: str) -> Any:
    """Asks the web application as a user; the status and what it says."""
    application = import_module("web_app").application(client, index)

    async def asked(path: str, user: str) -> httpx.Response:
        way = httpx.ASGITransport(application)
        async with httpx.AsyncClient(transport=way, base_url="http://manuals") as browser:
            return await browser.get(path, headers={"x-user": user})

    def get(path: str, user: str = "eve") -> tuple[int, Any]:
        answer = asyncio.run(asked(path, user))
        is_json = answer.headers["content-type"] == "application/json"
        return answer.status_code, answer.json() if is_json else answer.text

    return get


def test_a_page_of_the_web_application_has_what_the_user_may_read(web: Any) -> None:
    """With titles, page by page, and narrowed by what the user chose; one language of several, or none there is."""
    status, hits = web("/documents/stove-2021/similar?overlap=0.2", "ann")

    assert (200, [SOLD, DRAFT]) == (status, [hit["title"] for hit in hits])
    assert [SOLD] == [hit["title"] for hit in web("/documents/stove-2021/similar?overlap=0.2")[1]]
    assert hits[1:] == web("/documents/stove-2021/similar?overlap=0.2&offset=1", "ann")[1]
    assert hits == web("/documents/stove-2021/similar?overlap=0.2&language=de&language=en", "ann")[1]
    assert [] == web("/documents/stove-2021/similar?overlap=0.2&language=de", "ann")[1]


def test_the_web_application_says_of_a_secret_what_it_says_of_nothing(web: Any) -> None:
    """By each of its pages, for the source and for the hit."""
    shared = ("/documents/{}/shared/kettle", "/documents/kettle/shared/{}")
    for path in ("/documents/{}/similar", "/search?q=stove&like={}", *shared):
        secret, nothing = (web(path.format(id)) for id in ("stove-2024-draft", "stove-2024-nobody"))

        assert 404 == secret[0] == nothing[0]
        assert secret[1]["error"].replace("draft", "nobody") == nothing[1]["error"]
        assert 200 == web(path.format("stove-2024-draft"), "ann")[0]


def test_words_and_likeness_are_one_request(web: Any, app: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside the one that reads the source; hits are in the order of the words, and none is below the overlap."""
    asked: list[Any] = []
    search = app.client.search

    def counted(**given: Any) -> Any:
        asked.append(given)
        return search(**given)

    monkeypatch.setattr(app.client, "search", counted)
    _, words = web("/search?q=stove+manual", "ann")
    _, alike = web("/search?q=stove+manual&like=stove-2021&overlap=0.2", "ann")
    _, near = web("/search?q=stove+manual&like=stove-2021&overlap=0.65", "ann")

    assert 5 == len(words)
    assert {SOLD, DRAFT} == {hit["title"] for hit in alike}
    assert [hit for hit in words if hit in alike] == alike
    assert [SOLD] == [hit["title"] for hit in near]
    assert 5 == len(asked)


def test_what_is_shared_is_marked_on_a_page(web: Any) -> None:
    """In the text of the hit, which stays text."""
    status, page = web("/documents/letter-17/shared/stove-2021", "ben")

    assert 200 == status
    assert "<mark>" in page
    assert page.count("<mark>") == page.count("</mark>")
    assert "If there is no flame" in page.partition("<mark>")[2].partition("</mark>")[0]


def test_what_cannot_be_asked_is_a_sentence(web: Any) -> None:
    """With the status of a wrong request."""
    assert (400, "overlap must be a fraction from 0 to 1, not 20.0; 20 % is 0.2") == (
        web("/documents/kettle/similar?overlap=20")[0],
        web("/documents/kettle/similar?overlap=20")[1]["error"],
    )
    assert 400 == web("/documents/kettle/similar?overlap=much")[0]
    assert 400 == web("/documents/kettle/similar?offset=-1")[0]


# --- with_dsl.py ---


@pytest.mark.usefixtures("app")
def test_the_dsl_says_this(opensearch_url: str, index: str) -> None:
    """Titles with their overlaps for the author of the draft; nothing for another user."""
    said = f"ann: overlap 74%, {SOLD}\nann: overlap 56%, {OLD}\n"

    assert said == run("examples/with_dsl.py", opensearch_url, index)


@pytest.mark.parametrize("asked", [{}, {"overlap": 0.2}, {"overlap": 0.2, "probability": 0.8}], ids=str)
def test_the_dsl_finds_what_the_application_finds(
    app: Any, client: OpenSearch, index: str, asked: dict[str, float]
) -> None:
    """For each document and user, with and without bands."""
    similar = import_module("with_dsl").similar
    expected, found = {}, {}
    for user in ("ann", "ben", "eve"):
        readable = Search(using=client, index=index).filter("terms", readers=[user, "everyone"])
        for id in ("stove-2021", "stove-2024-draft", "letter-17", "kettle", "nobody-wrote-this"):
            expected[user, id] = app.similar(id, user, **asked)
            found[user, id] = similar(readable, id, **asked)

    assert [] != expected["ann", "stove-2024-draft"]
    assert expected == found


# --- with_asyncio.py ---


@pytest.mark.usefixtures("app")
def test_asyncio_says_this(opensearch_url: str, index: str) -> None:
    """Titles with their overlaps for the author of the draft; nothing for another user."""
    assert f"ann: {[(SOLD, 0.74), (OLD, 0.56)]}\neve: []\n" == run("examples/with_asyncio.py", opensearch_url, index)


def test_a_document_saved_with_asyncio_is_found(app: Any, opensearch_url: str, index: str) -> None:
    """It has its fingerprint from the start; another user neither finds it nor finds by it."""
    example = import_module("with_asyncio")
    lines = map(json.loads, (EXAMPLES / "manuals.jsonl").read_text("utf-8").splitlines())
    copy = next(each for each in lines if each["id"] == "kettle") | {"title": "Copy", "readers": ["ben"]}

    async def save_and_ask() -> list[list[tuple[str, float]]]:
        async with AsyncOpenSearch(opensearch_url) as client:
            await example.save(client, index, "copy", copy)
            return [await example.similar(client, index, "copy", user, overlap=1) for user in ("ben", "eve")]

    assert [[("Wren kettle, manual", 1.0)], []] == asyncio.run(save_and_ask())
    assert [("Copy", 1.0)] == app.similar("kettle", "ben", overlap=1)
    assert [] == app.similar("kettle", "eve", overlap=1)


# --- with_sql.py ---


@pytest.mark.slow
def test_a_database_says_this(tmp_path: Path) -> None:
    """Titles with their overlaps, for each user what she may read; again when all is saved again."""
    ann = f"ann:\n  {OLD} 78%\n  {DRAFT} 74%\n"
    eve = f"eve:\n  {OLD} 78%\n"

    assert [2 * ann + 2 * eve] * 2 == [run("examples/with_sql.py", tmp_path / "manuals.db") for _ in range(2)]


# --- plain_json ---


class HttpFile:
    """Runs a file of HTTP requests as editors do: variables, bodies from files, values of earlier answers."""

    def __init__(self, path: Path, **variables: str) -> None:
        self.path = path
        head, *self.requests = re.split(r"^###.*\n", path.read_text("utf-8"), flags=re.MULTILINE)
        self.variables = dict(re.findall(r"^@(\w+) = (.+)$", head, re.MULTILINE)) | variables
        self.answers: dict[str, Any] = {}

    def run(self, number: int) -> Any:
        """The answer to one of the requests."""
        text = self.requests[number]
        named = re.search(r"^# @name (\w+)$", text, re.MULTILINE)
        lines = [line for line in text.splitlines() if not line.startswith("#")]
        head, _, body = "\n".join(lines).strip().partition("\n\n")
        first, *headers = self.filled(head).splitlines()
        method, url = first.split()
        sent = (self.path.parent / body[2:]).read_bytes() if body.startswith("< ") else self.filled(body).encode()
        request = Request(url, sent, dict(line.split(": ") for line in headers), method=method)
        with urlopen(request, timeout=60) as answer:
            found = json.load(answer)
        self.answers[named[1] if named else str(number)] = found
        return found

    def filled(self, text: str) -> str:
        """A text with the values of its variables."""
        return re.sub(r"\{\{(.+?)\}\}", lambda match: self._value(match[1]), text)

    def _value(self, name: str) -> str:
        answer, is_answer, path = name.partition(".response.body.$.")
        if not is_answer:
            return str(self.variables[name])
        value: Any = self.answers[answer]
        for step in re.findall(r"\w+", path):
            value = value[int(step) if step.isdecimal() else step]
        return str(value)


@pytest.fixture
def plain_json(tmp_path: Path, opensearch_url: str, index: str) -> HttpFile:
    """The requests in a copy of their folder, after those that load the documents."""
    for folder in ("examples", "index_templates"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    place = tmp_path / "examples" / "plain_json"
    lines = (EXAMPLES / "manuals.jsonl").read_text("utf-8")
    (place / "bulk.ndjson").write_text(run("fingerprints.py", "bulk", cwd=place, stdin=lines), "utf-8")
    requests = HttpFile(place / "requests.http", host=opensearch_url, index=index)
    for number in range(3):
        answer = requests.run(number)
        assert answer.get("acknowledged") or answer["errors"] is False
    return requests


def titles(answer: dict[str, Any]) -> list[tuple[str, float]]:
    """The titles of the hits with their scores."""
    return [(hit["_source"]["title"], hit["_score"]) for hit in answer["hits"]["hits"]]


def test_the_plain_requests_find_the_same_by_tokens_and_by_id(plain_json: HttpFile) -> None:
    """What the application finds; a user with fewer rights finds less."""
    found = {}
    for user in ("ann", "eve"):
        plain_json.variables["user"] = user
        assert 1 == len(plain_json.run(3)["hits"]["hits"])
        found[user] = [titles(plain_json.run(number)) for number in (4, 5)]

    assert 6 == len(plain_json.requests)
    assert {"ann": [[(OLD, 136), (DRAFT, 131)]] * 2, "eve": [[(OLD, 136)]] * 2} == found


def test_the_plain_requests_give_no_tokens_to_who_may_not_read_the_source(plain_json: HttpFile) -> None:
    """The first request has no hit, so there is nothing to send the second with."""
    plain_json.variables |= {"user": "eve", "document": "stove-2024-draft"}
    answer = plain_json.run(3)
    plain_json.variables["document"] = "nobody-wrote-this"
    unknown = plain_json.run(3)

    assert [] == answer["hits"]["hits"]
    assert answer["hits"] == unknown["hits"]
    with pytest.raises(IndexError):
        plain_json.run(4)


def test_the_plain_requests_say_what_the_query_builder_says(plain_json: HttpFile, client: OpenSearch) -> None:
    """The clause by id is that of similar_by_id; the clause by tokens is as strict as that of similar_query."""
    index = plain_json.variables["index"]
    tokens = plain_json.run(3)["hits"]["hits"][0]["_source"]["simdoc"]["tokens"].split()
    by_id = json.loads(plain_json.filled(plain_json.requests[5]).partition("\n\n")[2])["query"]["bool"]
    built = client.search(index=index, body={"query": similar_query(tokens, 0.5, exclude_id="stove-2023")})

    assert similar_by_id(index, "stove-2023", 0.5) == by_id["must"][0]
    assert titles(built) == titles(plain_json.run(4))


def test_a_query_made_by_python_once_is_sent_by_anyone(app: Any, client: OpenSearch, index: str) -> None:
    """The script prints the body of a request; with a filter beside the clause it finds what the user may read."""
    text = json.loads((EXAMPLES / "manuals.jsonl").read_text("utf-8").splitlines()[2])["body"]
    body = json.loads(run("fingerprints.py", "query", "0.2", "0.8", cwd=EXAMPLES / "plain_json", stdin=text))
    body["query"]["bool"]["filter"].append({"terms": {"readers": ["eve", "everyone"]}})

    assert [(SOLD, 131), (OLD, 108)] == titles(client.search(index=index, body=body))


def test_the_script_says_how_it_is_used() -> None:
    """Without arguments, on stderr."""
    command = [sys.executable, str(EXAMPLES / "plain_json" / "fingerprints.py")]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)

    assert (1, "") == (done.returncode, done.stdout)
    assert "fingerprints.py bulk <" in done.stderr


# --- README.md ---


def test_the_index_names_every_example_and_no_other() -> None:
    """Each file of the folder is linked, and each link leads somewhere."""
    links = set(re.findall(r"\]\(([^)\s]+)\)", (EXAMPLES / "README.md").read_text("utf-8")))
    files = {
        path.relative_to(EXAMPLES).as_posix()
        for path in EXAMPLES.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }

    assert files - {"README.md"} == links
