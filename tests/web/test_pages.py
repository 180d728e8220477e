"""Pages for people and for programs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest

from simdoc_search import Document, Settings, SimilaritySearch, open_store
from simdoc_search.attach.actions import fingerprint_field
from simdoc_search.display import printable
from simdoc_search.stores.remote.schema import component_template
from tests.support.cli import answer, words
from tests.support.http_server import TempIndices
from tests.support.web import BROWSER, Pages, pages_of, pages_over

COPY, HALF = "reports/copy.txt", "reports/half.txt"


def visible(html: str) -> str:
    """The text of a page without its spaces."""
    return re.sub(r"\s+", "", re.sub(r"<[^>]*>", "", html))


def is_visible(html: str, text: str) -> bool:
    """Whether a page shows a text."""
    return re.sub(r"\s+", "", text) in visible(html)


def ids(result: Any) -> list[str]:
    """The ids of the hits."""
    return [hit["id"] for hit in result["hits"]]


# --- for programs ---

COMMANDS: list[tuple[str, dict[str, Any], list[str]]] = [
    ("/similar", {"q": "doc123_20_80"}, ["similar", "doc123_20_80"]),
    ("/similar", {"q": "doc123.txt", "overlap": "12.5", "estimate": "on", "size": 2, "offset": 1},
     ["similar", "doc123.txt", "--overlap", "12.5", "--estimate", "--size", "2", "--offset", "1"]),
    ("/similar", {"q": "doc123", "measure": "containment", "overlap": 40},
     ["similar", "doc123", "--measure", "containment", "--overlap", "40"]),
    ("/similar", {"q": "doc123", "filter": ["language=de", "path=reports/"], "exclude": "year=2021"},
     ["similar", "doc123", "--filter", "language=de", "--filter", "path=reports/", "--exclude", "year=2021"]),
    ("/similar", {"text": words(0, 90)}, ["similar", "--text", words(0, 90)]),
    ("/passages", {"id": COPY, "preset": "verbatim", "min_words": 30},
     ["passages", COPY, "--preset", "verbatim", "--min-words", "30"]),
    ("/passages", {"text": words(20, 90)}, ["passages", "--text", words(20, 90)]),
    ("/passages", {"id": "doc123", "all": "on", "ignore": HALF, "ignore_quotes": "on", "size": 1},
     ["passages", "doc123", "--compare-all", "--ignore", HALF, "--ignore-quotes", "--size", "1"]),
    ("/passages", {"id": "doc123", "ignore_bibliography": "on"}, ["passages", "doc123", "--ignore-bibliography"]),
    ("/versions", {"id": "doc123"}, ["versions", "doc123"]),
    ("/related", {"id": "letters/1", "explain": "on"}, ["related", "letters/1", "--explain"]),
    ("/concepts", {"id": "letters/1"}, ["show", "letters/1", "--concepts"]),
    ("/compare", {"a": "doc123", "b": HALF}, ["compare", "doc123", HALF]),
]  # fmt: skip


@pytest.mark.parametrize(("path", "values", "command"), COMMANDS, ids=lambda value: str(value)[:40])
def test_programs_get_the_json_of_the_command_line(
    pages: Pages, served_store: Path, path: str, values: dict[str, Any], command: list[str]
) -> None:
    """A program adds `.json` to the address, or sends the header Accept."""
    expected = answer(*command, "--store", served_store)

    assert expected == pages.json(path, **values)
    assert expected == pages.client.get(f"{path}.json", params=values).json()


@pytest.mark.parametrize("path", ["/similar", "/passages"])
def test_a_text_is_sent_as_json_a_form_or_a_file(pages: Pages, path: str) -> None:
    """The hits are the same."""
    text = words(0, 90)
    as_json = pages.sent(path, text=text)
    as_form = pages.client.post(f"{path}.json", data={"text": text}).json()
    as_file = pages.sent(path, files={"file": ("/home/me/draft.txt", text.encode())})

    assert [] != as_json["hits"]
    assert as_json == as_form
    assert as_json["hits"] == as_file["hits"]
    assert "home" not in json.dumps(as_file)


def test_the_status_is_the_output_of_info_without_the_location(pages: Pages, served_store: Path) -> None:
    """The location is not public."""
    assert {**answer("info", "--store", served_store), "store": None} == pages.json("/status")


@pytest.mark.parametrize(
    ("path", "id"), [("/similar", "doc123.txt"), ("/passages", "doc123.txt"), ("/related", "letters/1")]
)
def test_the_columns_are_those_of_the_command_line(pages: Pages, served_store: Path, path: str, id: str) -> None:
    """Columns are metadata fields, and the date and size of a file. The path of a file is not a column."""
    show = ["language", "size", "date", "title"]
    hits = pages.json(path, id=id, show=show)["hits"]
    assert {None} >= {hit["show"]["path"] for hit in pages.json(path, id=id, show="path")["hits"]} - {"reports/german"}
    expected = answer(path[1:], id, "--show", ",".join(show), "--store", served_store)

    assert [hit["show"] for hit in expected["hits"]] == [hit["show"] for hit in hits]


def test_the_server_has_default_columns(served_store: Path) -> None:
    """If a request chooses no columns, none are shown."""
    search = SimilaritySearch(open_store(served_store))
    with pages_of(lambda: search, columns=("year",)) as running:
        assert is_visible(running.html("/similar", q="doc123"), "year 2020")
        assert not is_visible(running.html("/similar", q="doc123", show=""), "year 2020")
        assert "show" not in running.json("/similar", q="doc123", show="")["hits"][0]


def test_the_fields_of_an_application_are_columns(temp_indices: TempIndices) -> None:
    """A dot in the name of a column leads into an object."""
    fields = component_template()["template"]["mappings"]["properties"]
    index = temp_indices.make({"properties": {"body": {"type": "text"}, **fields}})
    for number in (1, 2):
        text = words(0, 100 + number)
        head = {"title": f"Letter {number}", "by": {"name": "Ada"}}
        temp_indices.put(index, str(number), {"body": text, "simdoc": fingerprint_field(text), "head": head})
    search = SimilaritySearch(open_store(f"{temp_indices.engine}/{index}"))
    with pages_of(lambda: search, columns=("head.title",)) as running:
        [hit] = running.json("/similar", id="1", show=["head.by.name", "date"])["hits"]

        assert {"head.by.name": "Ada", "date": None} == hit["show"]
        assert is_visible(running.html("/similar", id="1"), "head.title Letter 2")
        assert is_visible(running.html("/document", id="1"), "head.title Letter 1")


# --- for people ---

SHOWN: list[tuple[str, dict[str, Any], list[str]]] = [
    ("/", {}, ["8 documents", "Find copied passages"]),
    ("/similar", {"q": "doc123", "estimate": "on"}, ["Documents similar to doc123.txt", COPY, "about 100 % overlap"]),
    ("/similar", {"q": "doc123", "show": "year"}, ["53.1 % overlap", "year 2020"]),
    ("/passages", {"id": "doc123"}, ["Passages shared with doc123.txt", "200 words in common", "“word0"]),
    ("/passages", {"id": "doc123", "ignore": COPY}, ["200 words are ignored."]),
    ("/document", {"id": "german"}, ["language de", "word17 word18", COPY]),
    ("/compare", {"a": "doc123", "b": HALF}, ["doc123.txt and reports/half.txt", "+60 −60 words in 1 place"]),
    ("/versions", {"id": "doc123"}, ["Versions of doc123.txt"]),
    ("/related", {"id": "letters/1"}, ["Related to letters/1", "letters/2", "Ada Quill"]),
    ("/status", {}, ["Documents 8", "Shared passages: every shared run of 6 words is found (12 words"]),
    ("/duplicates", {}, ["Find copies"]),
]


@pytest.mark.parametrize(("path", "values", "texts"), SHOWN, ids=lambda value: str(value)[:30])
def test_people_see_the_answer_without_scripts(
    pages: Pages, path: str, values: dict[str, Any], texts: list[str]
) -> None:
    """The pages use everyday words."""
    html = pages.html(path, **values)

    assert [] == [text for text in texts if not is_visible(html, text)]
    assert [] == re.findall(r"\b(?:token|bands?|candidates?|jaccard)\b", re.sub(r"<[^>]*>", "", html))


def test_a_text_is_shown_with_its_sources(pages: Pages) -> None:
    """The page has the whole text once, and the text of each source."""
    result = pages.json("/passages", id="doc123", size=2)
    html = pages.html("/passages", id="doc123", size=2)

    share, total = round(100 * result["covered"]["share"]), result["total"]
    assert is_visible(html, f"{share} % of the text (200 of 200 words) appears in {total} indexed documents.")
    assert is_visible(html, f"Showing 2 of {total} matches.")
    assert [1, 2] == [html.count('<article class="origin"'), html.count('<section class="from"')]
    source = r'data-s="\d"><span class="n k\d">\d</span> <bdi class="what">([^<]+)'
    sources = re.findall(source, html.replace("<wbr>", ""))
    assert ids(result) == sources
    assert "no document" in pages.json("/passages", 404, id="doc123", ignore="/etc/passwd")["error"]


@pytest.mark.parametrize(
    ("path", "values", "section"),
    [
        ("/", {}, "Home"), ("/families", {}, "Newest"), ("/topics", {}, "Topics"), ("/status", {}, "Status"),
        ("/documents", {}, "Documents"), ("/duplicates", {}, "Copies"),
        *((path, {"id": "doc123"}, "Documents")
          for path in ("/document", "/similar", "/passages", "/versions", "/related", "/concepts")),
        ("/similar", {"q": "doc123_20"}, "Documents"), ("/similar", {"text": words(0, 90)}, "Home"),
        ("/passages", {"text": words(0, 90)}, "Home"), ("/compare", {"a": "doc123", "b": HALF}, "Documents"),
        ("/compare", {"text": words(0, 90), "b": HALF}, "Home"),
    ],
)  # fmt: skip
def test_the_menu_marks_the_section_of_each_page(pages: Pages, path: str, values: dict[str, Any], section: str) -> None:
    """Only the page of the entry itself is the current page for a screen reader."""
    menu = pages.html(path, **values).partition("</nav>")[0]
    [(href, current, name)] = re.findall(r'<a href="([^"]+)" aria-current="(page|true)">([^<]+)</a>', menu)

    assert (section, "page" if href == path else "true") == (name, current)


def test_links_lead_to_the_next_page_and_back(pages: Pages) -> None:
    """The last page has no link to a next one."""
    first = pages.html("/similar", q="doc123", size=3)
    link = re.search(r'href="([^"]*offset=3[^"]*)"', first)

    assert link is not None
    second = pages.html(link[1].replace("&amp;", "&"))
    assert is_visible(second, ids(pages.json("/similar", q="doc123", size=3, offset=3))[0])
    assert is_visible(second, "Previous documents")
    assert not is_visible(second, "Next documents")


def test_a_pasted_text_can_be_compared_with_a_hit(pages: Pages) -> None:
    """The page carries the text, because the server does not keep it."""
    text = words(0, 90) + " <b>& more</b>"
    html = pages.client.post("/similar", data={"text": text}, headers=BROWSER).text
    carried = re.search(r'<textarea name="text"[^>]*>\n?(.*?)</textarea>', html, re.DOTALL)
    compared = pages.client.post("/compare?b=doc123.txt", data={"text": text}, headers=BROWSER).text

    assert carried is not None
    assert "&lt;b&gt;&amp; more&lt;/b&gt;" in carried[1]
    assert 'formtarget="_blank" formaction="/compare?b=' in html
    assert is_visible(compared, "your text and doc123.txt")


def test_a_long_text_is_shown_in_parts(over: Callable[..., Pages]) -> None:
    """Each part links to the next part and the previous one."""
    pages = over({"long": words(0, 9_000)})
    first, second = pages.html("/document", id="long"), pages.html("/document", id="long", start=20_000)

    assert (True, True) == (len(first) < 40_000, "start=20000" in first)
    assert "Previous part" in second
    assert words(0, 9_000)[20_000:20_500] in second


# --- errors ---

WRONG: list[tuple[str, dict[str, Any], int, str]] = [
    ("/similar", {}, 400, "there is nothing to search for"),
    ("/similar", {"q": "nobody"}, 404, "no document 'nobody'"),
    ("/similar", {"q": "doc123", "overlap": "200"}, 400, "overlap 200 is over 100"),
    ("/similar", {"q": "doc123", "overlap": "x" * 5_000}, 400, "is not a percentage"),
    ("/similar", {"q": "doc123", "size": "0"}, 400, "size must be a whole number from 1 to 200"),
    ("/similar", {"q": "doc123", "measure": "odd"}, 400, "measure must be one of"),
    ("/similar", {"q": "doc123", "estimate": "perhaps"}, 400, "estimate must be on or off"),
    ("/similar", {"q": "doc123", "filter": "odd"}, 400, "filter must be FIELD=VALUE"),
    ("/similar", {"q": "doc123", "filter": "odd=1"}, 400, "no document has the field 'odd'"),
    ("/similar", {"text": "... !!"}, 400, "no words"),
    ("/document", {"id": "doc12"}, 404, "did you mean 'doc123.txt'?"),
    ("/compare", {"a": "doc123"}, 400, "the field 'b' is empty"),
    ("/passages", {"id": "\x00\x1b[31m"}, 404, "no document"),
    ("/nothing", {}, 404, "there is no page at this path"),
    ("/duplicates/plan.tsv", {}, 400, "there is no result yet"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "values", "status", "message"), WRONG, ids=lambda value: str(value)[:30])
def test_an_error_is_a_sentence(pages: Pages, path: str, values: dict[str, Any], status: int, message: str) -> None:
    """The sentence is on a page and in JSON."""
    assert message in pages.json(path, status, **values)["error"]
    html = pages.html(path, status, **values)
    assert ("<h1>Check your input</h1>" in html) == (status == 400)
    assert [] == [c for c in html if c != "\n" and printable(c) != c]


def test_the_page_of_an_unknown_id_links_to_the_list(pages: Pages) -> None:
    html = pages.html("/versions", 404, id="xyzzy")

    assert "There is no document &#39;xyzzy&#39;." in html
    assert 'Look for its name in <a href="/documents">all documents</a>' in html
    assert "To add a file, run <code>simdoc-search index FILE</code>. Then go back and try again." in html


@pytest.mark.parametrize(
    ("path", "values"),
    [
        ("/similar", {"q": "a"}),
        ("/versions", {"id": "a", "size": "5"}),
        ("/passages", {"id": "a", "preset": "verbatim"}),
        ("/document", {"id": "a"}),
        ("/compare", {"a": "x/a.txt", "b": "a"}),
    ],
)
def test_an_ambiguous_name_has_links_to_the_same_page(
    over: Callable[..., Pages], path: str, values: dict[str, Any]
) -> None:
    """The links keep the other values of the request."""
    several = over({f"{folder}/a.txt": words(0, 50) for folder in ("x", "y")})
    html = several.html(path, 400, **values)
    [field] = [name for name in values if values[name] == "a"]
    links = [unescape(link) for link in re.findall(r'<li><a href="([^"]+)"><bdi>', html)]

    assert ['"x/a.txt"', '"y/a.txt"'] == several.json(path, 400, **values)["readings"]
    assert "<h1>Several documents match</h1>" in html
    assert {path} == {link.partition("?")[0] for link in links}
    assert [{**values, field: f'"{folder}/a.txt"'} for folder in ("x", "y")] == [
        {name: value for name, [value] in parse_qs(link.partition("?")[2]).items()} for link in links
    ]
    assert all("a.txt" in several.html(path, **values | {field: f'"{folder}/a.txt"'}) for folder in ("x", "y"))


@pytest.mark.parametrize("is_stored", [True, False])
def test_a_copy_of_the_text_can_be_left_out(is_stored: bool) -> None:
    """Otherwise, it hides the other sources, such as those of an essay that is in the index too."""
    essay = words(0, 1200)
    search = SimilaritySearch(open_store(":memory:"))
    search.index([Document("essay & co.txt", essay), Document("mine.txt", essay), Document("paper.txt", words(0, 100))])
    query: dict[str, Any] = {"id": "mine.txt"} if is_stored else {"text": essay, "exclude": ["path=mine.txt"]}
    with pages_of(lambda: search) as pages:
        html = pages.html("/passages", **query)
        [address] = re.findall(r"""(?:href|formaction)="([^"]+)">See the other sources""", html)
        path, _, values = address.replace("&amp;", "&").partition("?")
        assert "1,200 words in common" in html
        assert 'placeholder="12"' in html

        excluded = [*query.get("exclude", []), *parse_qs(values)["exclude"]]  # a form sends its own values too
        others = pages.html(path, **(query | {"exclude": excluded}))
        assert is_visible(others, "8 % of")
        assert "See the other sources" not in others


def test_an_index_without_passages_says_so() -> None:
    """The document's page then has no link to shared passages."""
    search = SimilaritySearch(open_store(":memory:", Settings(passages=None)))
    search.index([Document("a", words(0, 50))])
    with pages_over(search.store) as plain:
        assert "no data for finding shared passages" in plain.json("/passages", 404, id="a")["error"]
        assert (
            "no data for finding shared passages"
            in plain.json("/similar", 404, id="a", measure="reverse_containment")["error"]
        )
        assert "Shared passages" not in plain.html("/document", id="a")
