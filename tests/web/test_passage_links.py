"""Links from passages open both texts at the passage, and each version has the evidence for its date."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import Any

import pytest

from simdoc_search import Document, SimilaritySearch, open_store
from tests.support.cli import words
from tests.support.web import BROWSER, Pages, pages_over

FIRST, SECOND = words(0, 80), words(500, 600)


@pytest.fixture(scope="module")
def pages() -> Iterator[Pages]:
    """Two documents that share two passages in a different order."""
    store = open_store(":memory:")
    own = f"{FIRST} {words(1000, 1100)} {SECOND}"
    other = f"{words(2000, 2100)} {SECOND} {words(3000, 3100)} {FIRST}"
    SimilaritySearch(store).index([Document("own", own), Document("other", other)])
    with pages_over(store) as running:
        yield running


def test_each_passage_has_a_link_that_opens_both_texts_there(pages: Pages) -> None:
    """The link works with and without scripts."""
    html = pages.html("/passages", id="own")
    links = [unescape(link) for link in re.findall(r'<blockquote><a href="([^"]*)"', html)]
    opened = [pages.client.get(link.partition("#")[0], headers=BROWSER).text for link in links]

    assert ["a1", "a2"] == [link.partition("#")[2] for link in links]
    for number, page in enumerate(opened, 1):
        assert f'data-open="a{number}"' in page
        assert f'id="a{number}"' in page
        assert f'id="b{number}"' in page


def test_a_passage_of_a_pasted_text_opens_there_too(pages: Pages) -> None:
    """The text is sent again."""
    text = f"{words(7000, 7020)} {SECOND}"
    html = pages.client.post("/passages", data={"text": text}, headers=BROWSER).text
    actions = {unescape(action) for action in re.findall(r'formaction="(/compare[^"]*)"', html)}
    [action] = [action for action in actions if "b=other" in action]
    page = pages.client.post(action, data={"text": text}, headers=BROWSER).text

    assert f"at={text.index(SECOND)}" in action
    assert 'data-open="a1"' in page


def test_a_passage_quotes_only_matched_words(pages: Pages) -> None:
    words_of_passage = SECOND.split()
    text = " ".join([*words_of_passage[:6], "unknown", *words_of_passage[6:]])
    html = pages.html("/passages", text=text)

    quotation = f"“{' '.join(words_of_passage[:6])} […] {' '.join(words_of_passage[6:8])} … "
    assert 4 == html.count(quotation)
    assert 4 == html.count(">100 of 101 words")


@pytest.mark.parametrize("line_break", ["\n", "\r\n"])
def test_a_passage_of_a_file_opens_there_although_the_browser_changes_line_breaks(
    pages: Pages, line_break: str
) -> None:
    """A form sends CRLF, so positions of a file with other line breaks would differ."""
    text = f"{words(7000, 7020)}\n\n\n{words(8000, 8020)}\n\n{SECOND}".replace("\n", line_break)
    html = pages.client.post("/passages", files={"file": ("essay.txt", text.encode())}, headers=BROWSER).text
    actions = {unescape(action) for action in re.findall(r'formaction="(/compare[^"]*)"', html)}
    [action] = [action for action in actions if "b=other" in action]
    sent = text.replace("\r", "").replace("\n", "\r\n")

    assert 'data-open="a1"' in pages.client.post(action, data={"text": sent}, headers=BROWSER).text


def test_a_comparison_ignores_the_words_that_its_passages_page_ignores() -> None:
    """The links repeat the options, and the page has a form to change them."""
    store = open_store(":memory:")
    documents = {"own": f"{FIRST} {SECOND}", "other": f"{SECOND} {FIRST}", "sheet": FIRST}
    SimilaritySearch(store).index(Document(id, text) for id, text in documents.items())
    with pages_over(store) as pages:
        html = pages.html("/passages", id="own", ignore="sheet")
        [link] = {unescape(link) for link in re.findall(r'<blockquote><a href="([^"#]*)', html)}
        page = pages.client.get(link, headers=BROWSER).text
        ignored = [pages.json("/compare", a="own", b="other", ignore=name).get("ignored") for name in ("sheet", "")]

    assert '<input name="ignore" value="sheet">' in page
    assert "80 words of the first text and 80 of the second are ignored." in page
    assert [[80, 80], None] == ignored


def test_the_words_of_a_file_of_ones_own_are_ignored(pages: Pages) -> None:
    """The page keeps the text of the file for its links and for the next search, until its name is deleted."""
    essay, sheet = ("essay.txt", f"{FIRST} {SECOND}"), ("sheet <1>.txt", FIRST)
    files = {"file": essay, "ignore_file": sheet}
    html = pages.client.post("/passages", files=files, headers=BROWSER).text
    texts: dict[str, Any] = {"text": essay[1], "name": essay[0], "ignore_text": FIRST}
    again = pages.sent("/passages", **texts, ignore_name=sheet[0])
    compared = pages.sent("/compare", **texts, ignore_name=sheet[0], b="other")

    assert 'enctype="multipart/form-data"' in html
    assert (
        f'<textarea name="ignore_text" hidden aria-label="your file sheet &lt;1&gt;.txt">\n{FIRST}</textarea>' in html
    )
    assert '<input name="ignore_name" value="sheet &lt;1&gt;.txt">' in html
    assert '<p class="printed">Options: --ignore sheet &lt;1&gt;.txt.</p>' in html
    assert again == pages.sent("/passages", files=files)
    assert [80, 80, 80] == [again["ignored_word_count"], *compared["ignored"]]
    assert 80 == pages.sent("/passages", **texts)["ignored_word_count"]
    assert 0 == pages.sent("/passages", **texts, ignore_name=" ")["ignored_word_count"]


def test_a_text_whose_words_are_ignored_has_a_limit(pages: Pages) -> None:
    error = pages.sent("/passages", 400, text=FIRST, ignore_text="x " * 1_000_001)["error"]

    assert "the text has 2,000,002 characters" in error


@pytest.mark.parametrize("at", ["", "600", "999999"])
def test_without_a_passage_at_the_position_the_page_opens_at_the_top(pages: Pages, at: str) -> None:
    """Position 600 is between the passages."""
    assert "data-open" not in pages.html("/compare", a="own", b="other", at=at)


def test_a_wrong_position_is_reported(pages: Pages) -> None:
    """The message says what to write."""
    assert "at must be a whole number" in pages.json("/compare", 400, a="own", b="other", at="-1")["error"]


def test_each_version_has_its_evidence() -> None:
    """Metadata and names are different kinds of evidence."""
    store = open_store(":memory:")
    text = words(0, 300)
    old = Document("contract v1.txt", text, {"modified": "2020-05-01"})
    new = Document("contract v2 2021-03-04.txt", f"{text} {words(900, 905)}", {"created": "2021-01-01"})
    SimilaritySearch(store).index([old, new])
    with pages_over(store) as running:
        text = re.sub(r"<[^>]*>|\s+", " ", running.html("/versions", id="contract v1.txt"))

    for shown in ("modification date in the metadata", "date in the name", "creation date in the metadata"):
        assert shown in text
    assert "1 May 2020" in text
    assert "4 Mar 2021" in text


def test_a_printed_page_says_what_was_searched_and_how(pages: Pages) -> None:
    plain = pages.html("/passages", id="own")
    values: dict[str, Any] = {"min_words": 9, "exclude": "path=drafts/", "ignore_quotes": "on", "all": "on"}
    values["preset"] = "verbatim"
    options = pages.html("/passages", id="own", **values)

    assert re.search(r'<p class="printed">Searched 2 documents on [-\d]{10} with simdoc-search \S+\.</p>', plain)
    assert 1 == plain.count('<p class="printed">')
    assert (
        '<p class="printed">Options: --min-words 9, --preset verbatim, --exclude path=drafts/, --ignore-quotes, '
        "--compare-all.</p>"
    ) in options


def test_one_page_can_show_all_sources() -> None:
    """A report must not lack sources. The button of a pasted text sends its value after those of the form."""
    store, text = open_store(":memory:"), words(0, 400)
    documents = [Document(f"source {number}", words(30 * number, 30 * number + 40)) for number in range(12)]
    SimilaritySearch(store).index([*documents, Document("own", text)])
    with pages_over(store) as pages:
        html = pages.html("/passages", id="own")
        link = re.search(r'href="([^"]*)">Show 12 documents on one page<', html)
        assert link is not None
        report = pages.html(unescape(link[1]))
        pasted = pages.client.post("/passages?size=5", data={"text": text}, headers=BROWSER).text
        [value] = re.findall(r'formaction="/passages" name="size" value="(\d+)"', pasted)
        form = {"text": text, "size": ["5", value]}
        posted = pages.client.post("/passages", data=form, headers=BROWSER).text

    for page, total in ((report, 12), (posted, 13)):
        assert f">{total} matches." in page
        assert "on one page" not in page
        assert all(f"source {number}" in page for number in range(12))
