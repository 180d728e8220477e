"""Each page, for people and for programs; what programs get is what the command line says."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from simdoc_search import Document, Settings, SimilaritySearch, open_store
from simdoc_search.attach.actions import fingerprint_field
from simdoc_search.display import printable
from simdoc_search.stores.remote.schema import component_template
from tests.support.cli import answer, words
from tests.support.http_server import Indices, indices
from tests.support.web import Pages, pages_of, pages_over

COPY, HALF, OLD = "reports/copy.txt", "reports/half.txt", "notes/old.txt"


def visible(html: str) -> str:
    """The words of a page."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", "", html))


def ids(said: Any) -> list[str]:
    """The ids of the hits."""
    return [hit["id"] for hit in said["hits"]]


@pytest.fixture
def made(opensearch_url: str) -> Iterator[Indices]:
    """Makes indices as an application would."""
    with indices(opensearch_url) as them:
        yield them


# --- the same as the command line ---

ASKED: list[tuple[str, dict[str, Any], list[str]]] = [
    ("/similar", {"q": "doc123"}, ["similar", "doc123"]),
    ("/similar", {"q": "doc123_20_80"}, ["similar", "doc123_20_80"]),
    ("/similar", {"q": "doc123.txt", "overlap": "12.5", "estimate": "on", "size": 2},
     ["similar", "doc123.txt", "--overlap", "12.5", "--estimate", "--size", "2"]),
    ("/similar", {"q": "doc123", "measure": "containment", "overlap": 40},
     ["similar", "doc123", "--measure", "containment", "--overlap", "40"]),
    ("/similar", {"q": "doc123", "filter": ["language=de", "path=reports/"], "exclude": "year=2021"},
     ["similar", "doc123", "--filter", "language=de", "--filter", "path=reports/", "--exclude", "year=2021"]),
    ("/similar", {"q": "doc123", "size": 2, "offset": 1}, ["similar", "doc123", "--size", "2", "--offset", "1"]),
    ("/similar", {"text": words(0, 90)}, ["similar", "--text", words(0, 90)]),
    ("/passages", {"id": "doc123"}, ["passages", "doc123"]),
    ("/passages", {"id": COPY, "preset": "verbatim", "min_words": 30},
     ["passages", COPY, "--preset", "verbatim", "--min-words", "30"]),
    ("/passages", {"text": words(20, 90)}, ["passages", "--text", words(20, 90)]),
    ("/passages", {"id": "doc123", "all": "on", "ignore": HALF, "ignore_quotes": "on", "size": 1},
     ["passages", "doc123", "--all", "--ignore", HALF, "--ignore-quotes", "--size", "1"]),
    ("/versions", {"id": "doc123"}, ["versions", "doc123", "--no-version-control"]),
    ("/related", {"id": "letters/1"}, ["related", "letters/1"]),
    ("/related", {"id": "letters/1", "explain": "on"}, ["related", "letters/1", "--explain"]),
    ("/concepts", {"id": "letters/1"}, ["show", "letters/1", "--concepts"]),
    ("/compare", {"a": "doc123", "b": HALF}, ["compare", "doc123", HALF]),
]  # fmt: skip


@pytest.mark.parametrize(("path", "values", "command"), ASKED, ids=lambda each: str(each)[:40])
def test_programs_get_what_the_command_line_says(
    pages: Pages, served_store: Path, path: str, values: dict[str, Any], command: list[str]
) -> None:
    """The same object, by `.json` and by what is accepted."""
    expected = answer(*command, "--store", served_store)

    assert expected == pages.json(path, **values)
    assert expected == pages.client.get(f"{path}.json", params=values).json()


@pytest.mark.parametrize("path", ["/similar", "/passages"])
def test_a_text_may_be_sent_as_a_form_a_file_or_json(pages: Pages, path: str) -> None:
    """The answer is the same, but for the name of the file."""
    text = words(0, 90)
    as_json = pages.sent(path, text=text)
    as_form = pages.client.post(f"{path}.json", data={"text": text}).json()
    as_file = pages.sent(path, files={"file": ("/home/me/draft.txt", text.encode())})

    assert [] != as_json["hits"]
    assert as_json == as_form
    assert as_json["hits"] == as_file["hits"]
    assert "home" not in json.dumps(as_file)


def test_status_is_what_info_says_without_the_place(pages: Pages, served_store: Path) -> None:
    """Where the store lies is nobody's business."""
    expected = answer("info", "--store", served_store)

    assert {**expected, "store": None} == pages.json("/status")


def test_documents_have_their_text_and_metadata(pages: Pages) -> None:
    """A program gets them, and the documents like it."""
    said = pages.json("/document", id="german")

    assert (words(0, 200), {"language": "de", "year": 2020, "path": "reports/german"}) == (
        said["text"],
        said["metadata"],
    )
    assert ids(pages.json("/similar", id="german")) == ids(said["similar"])


@pytest.mark.parametrize(
    ("path", "id"), [("/similar", "doc123.txt"), ("/passages", "doc123.txt"), ("/related", "letters/1")]
)
def test_columns_are_those_of_the_command_line(pages: Pages, served_store: Path, path: str, id: str) -> None:
    """Metadata, and date and size of a file, as they are asked for."""
    show = ["language", "size", "date", "title"]
    hits = pages.json(path, id=id, show=show)["hits"]
    expected = answer(path[1:], id, "--show", ",".join(show), "--store", served_store)

    assert [hit["show"] for hit in expected["hits"]] == [hit["show"] for hit in hits]
    assert path == "/related" or {"de", None} == {hit["show"]["language"] for hit in hits}


def test_where_a_file_lies_is_no_column(pages: Pages) -> None:
    """The path that a document says of itself is."""
    paths = {hit["id"]: hit["show"]["path"] for hit in pages.json("/similar", q="doc123", show="path")["hits"]}

    assert ("reports/german", None) == (paths["german"], paths[COPY])


def test_the_server_has_columns_where_nobody_chooses(served_store: Path) -> None:
    """Whoever wants none says so by an empty choice, as the form does."""
    search = SimilaritySearch(open_store(served_store))
    with pages_of(lambda: search, columns=("year",)) as running:
        assert "year2020" in visible(running.html("/similar", q="doc123"))
        assert "year2020" not in visible(running.html("/similar", q="doc123", show=""))
        assert "show" not in running.json("/similar", q="doc123", show="")["hits"][0]


def test_fields_of_an_application_are_columns(made: Indices) -> None:
    """With dots into objects, as it has them; those that the server shows are what its page of a document says."""
    fields = component_template()["template"]["mappings"]["properties"]
    index = made.make({"properties": {"body": {"type": "text"}, **fields}})
    for number in (1, 2):
        text = words(0, 100 + number)
        head = {"title": f"Letter {number}", "by": {"name": "Ada"}}
        made.put(index, str(number), {"body": text, "simdoc": fingerprint_field(text), "head": head})
    search = SimilaritySearch(open_store(f"{made.engine}/{index}"))
    with pages_of(lambda: search, columns=("head.title",)) as running:
        [hit] = running.json("/similar", id="1", show=["head.by.name", "date"])["hits"]

        assert {"head.by.name": "Ada", "date": None} == hit["show"]
        assert "head.titleLetter 2" in visible(running.html("/similar", id="1"))
        assert "head.titleLetter 1" in visible(running.html("/document", id="1"))


# --- for people ---


def test_a_text_is_shown_with_its_sources(pages: Pages) -> None:
    """How much of it appears elsewhere, the whole text once, and the texts of the sources behind the list."""
    said = pages.json("/passages", id="doc123", size=2)
    html = pages.html("/passages", id="doc123", size=2)

    share, total = round(100 * said["covered"]["share"]), said["total"]
    assert f"{share} % of doc123.txt (200 of 200 words) appears in {total} indexed documents." in visible(html)
    assert f"Showing 2 of {total} matches." in visible(html)
    assert [1, 2] == [html.count('<article class="origin"'), html.count('<section class="from"')]
    assert [hit["id"] for hit in said["hits"]] == re.findall(
        r'data-s="\d"><span class="n k\d">\d</span> <bdi class="what">([^<]+)', html
    )
    assert "200 words are ignored." in visible(pages.html("/passages", id="doc123", ignore=COPY))
    assert "no document" in pages.json("/passages", 404, id="doc123", ignore="/etc/passwd")["error"]


def test_the_first_page_says_how_many_documents_there_are(pages: Pages) -> None:
    """And has a box for a name, one for a text, and one for a file."""
    html = pages.html("/")

    assert "8 documents" in visible(html)
    assert all(each in html for each in ('name="q"', '<textarea id="text"', 'type="file"'))


SHOWN: list[tuple[str, dict[str, Any], list[str]]] = [
    ("/similar", {"q": "doc123", "estimate": "on"}, ["Documents like doc123.txt", COPY, "about 100 % overlap"]),
    ("/similar", {"q": "doc123"}, ["53.1 % overlap"]),
    ("/similar", {"q": "doc123", "show": "year"}, ["year2020"]),
    ("/passages", {"id": "doc123"}, ["Who shares passages with doc123.txt", "200 words in common", "“word0 word1"]),
    ("/document", {"id": "german"}, ["language de", "word17 word18", COPY]),
    ("/compare", {"a": "doc123", "b": HALF}, ["doc123.txt and reports/half.txt", "60 words differ"]),
    ("/versions", {"id": "doc123"}, ["Versions of doc123.txt"]),
    ("/related", {"id": "letters/1"}, ["Related to letters/1", "letters/2", "Ada Quill"]),
    ("/status", {}, ["Documents8", "every stretch of 36 words is found"]),
    ("/duplicates", {}, ["Look for duplicates"]),
]


@pytest.mark.parametrize(("path", "values", "said"), SHOWN, ids=lambda each: str(each)[:30])
def test_people_read_it_without_scripts(pages: Pages, path: str, values: dict[str, Any], said: list[str]) -> None:
    """What the server sends has all of it, in words of every day."""
    text = visible(pages.html(path, **values)).replace(" ", "")

    assert [] == [each for each in said if each.replace(" ", "") not in text]
    assert [] == re.findall(r"\b(?:token|bands?|candidates?|jaccard)\b", visible(pages.html(path, **values)))


def test_hits_come_in_pages(pages: Pages) -> None:
    """Each leads to the next and back, by its links alone."""
    first = pages.html("/similar", q="doc123", size=3)
    link = re.search(r'href="([^"]*offset=3[^"]*)"', first)

    assert link is not None
    second = pages.html(link[1].replace("&amp;", "&"))
    assert ids(pages.json("/similar", q="doc123", size=3, offset=3))[0] in visible(second)
    assert "More alike" in visible(second)
    assert "Further documents" not in visible(second)


def test_a_pasted_text_can_be_compared_with_a_hit(pages: Pages) -> None:
    """It comes along with the page, as nothing is kept here."""
    text = words(0, 90) + " <b>& more</b>"
    found = pages.client.post("/similar", data={"text": text}, headers={"accept": "text/html"}).text
    carried = re.search(r'<textarea name="text"[^>]*>\n?(.*?)</textarea>', found, re.DOTALL)
    compared = pages.client.post("/compare?b=doc123.txt", data={"text": text}, headers={"accept": "text/html"}).text

    assert carried is not None
    assert "&lt;b&gt;&amp; more&lt;/b&gt;" in carried[1]
    assert 'formaction="/compare?b=' in found
    assert "your text and doc123.txt" in visible(compared)


def test_a_long_text_is_shown_in_parts(over: Callable[..., Pages]) -> None:
    """Each of 20,000 characters, with a way on and back."""
    pages = over({"long": words(0, 9_000)})
    first, second = pages.html("/document", id="long"), pages.html("/document", id="long", at=20_000)

    assert len(first) < 40_000
    assert "at=20000" in first
    assert "Earlier" in second
    assert words(0, 9_000)[20_000:20_500] in second


# --- what cannot be answered ---

WRONG: list[tuple[str, dict[str, Any], int, str]] = [
    ("/similar", {}, 400, "there is nothing to look for"),
    ("/similar", {"q": "nobody"}, 404, "no document 'nobody'"),
    ("/similar", {"q": "doc123", "overlap": "200"}, 400, "overlap 200 is over 100"),
    ("/similar", {"q": "doc123", "overlap": "x" * 5_000}, 400, "is not a percentage"),
    ("/similar", {"q": "doc123", "size": "0"}, 400, "size must be a number from 1 to 200"),
    ("/similar", {"q": "doc123", "size": "9" * 999}, 400, "size must be a number from 1 to 200"),
    ("/similar", {"q": "doc123", "measure": "odd"}, 400, "measure must be one of"),
    ("/similar", {"q": "doc123", "estimate": "perhaps"}, 400, "estimate must be on or off"),
    ("/similar", {"q": "doc123", "filter": "odd"}, 400, "is not a filter"),
    ("/similar", {"q": "doc123", "filter": "odd=1"}, 400, "no document has the field 'odd'"),
    ("/similar", {"text": "... !!"}, 400, "no words"),
    ("/document", {"id": "doc12"}, 404, "did you mean 'doc123.txt'?"),
    ("/document", {"id": "doc123", "at": "-1"}, 400, "at must be a number"),
    ("/compare", {"a": "doc123"}, 400, "name a document: b is empty"),
    ("/passages", {"id": "\x00\x1b[31m"}, 404, "no document"),
    ("/nothing", {}, 404, "there is no such page"),
    ("/duplicates/plan.tsv", {}, 400, "nothing was looked for yet"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "values", "status", "said"), WRONG, ids=lambda each: str(each)[:30])
def test_what_is_wrong_is_said_in_a_sentence(
    pages: Pages, path: str, values: dict[str, Any], status: int, said: str
) -> None:
    """With the status that it has, on a page and as JSON; never a traceback."""
    assert said in pages.json(path, status, **values)["error"]
    html = pages.html(path, status, **values)
    assert "Traceback" not in html
    assert "Back to the search" in html
    assert [] == [c for c in html if c != "\n" and printable(c) != c]


def test_several_readings_are_offered(over: Callable[..., Pages]) -> None:
    """A name that several documents have leads to each of them."""
    several = over({f"{at}/a.txt": words(0, 50) for at in ("x", "y")})
    said = several.json("/similar", 400, q="a")

    assert ['"x/a.txt"', '"y/a.txt"'] == said["readings"]
    assert all(f"q=%22{at}%2Fa.txt%22" in several.html("/similar", 400, q="a") for at in ("x", "y"))


def test_a_collection_without_concepts_says_how_it_gets_them(over: Callable[..., Pages]) -> None:
    """And its documents have no such page to go to."""
    plain = over({"a": words(0, 50)})

    assert "passages" == plain.json("/versions", id="a")["via"]
    assert "without concepts" in plain.json("/related", 404, id="a")["error"]
    assert "Versions" in visible(plain.html("/document", id="a"))
    assert "Related" not in visible(plain.html("/document", id="a"))


def test_a_collection_without_passages_says_so() -> None:
    """Wherever they would answer."""
    search = SimilaritySearch(open_store(":memory:", Settings(passages=None)))
    search.index([Document("a", words(0, 50))])
    with pages_over(search.store) as plain:
        assert "without passages" in plain.json("/passages", 404, id="a")["error"]
        assert "without passages" in plain.json("/similar", 404, id="a", measure="contained")["error"]
        assert "Shared passages" not in visible(plain.html("/document", id="a"))


# --- the description for programs ---


def test_openapi_describes_the_addresses_for_programs(pages: Pages) -> None:
    """Each one that is described answers, and knows the values that are described."""
    from simdoc_search.web.app import READ, SENT

    described = pages.client.get("/openapi.json").json()
    told = {(path.removesuffix(".json"), method) for path, ways in described["paths"].items() for method in ways}
    missing = {(each, "get") for each in READ} | {(each, "post") for each in SENT}

    assert "3.1.0" == described["openapi"]
    assert {("/", "get"), ("/duplicates/plan.tsv", "get"), ("/duplicates/decide", "post")} == missing - told
    assert set() == told - missing
    for path, ways in described["paths"].items():
        for method in ways:
            assert pages.client.request(method, path).status_code in (200, 202, 400), (path, method)
