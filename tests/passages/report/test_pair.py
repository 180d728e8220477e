"""The page of two texts side by side."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.passages.compare import compare
from simdoc_search.passages.passage import Difference
from simdoc_search.passages.report import render_pair_page, render_pair_view
from tests.support.cli import words
from tests.support.passages.pages import HtmlPage, comparison, replaced, same
from tests.support.slow_cases import examples
from tests.support.strategies import texts

HOSTILE = (
    "</style><script>alert(1)</script><img src=x onerror=alert(1)>\"'><!-- --></p></main></html>&lt;&#0;\x00\x1b[31m"
    "\ud800\u202e\u2066\u200b\ufeff\U000e0041 javascript:alert(1) {{1}} ]]>"
)
NAMES = "a.txt", "b.txt"


def read(a: str, b: str) -> HtmlPage:
    """The page of two texts."""
    return HtmlPage(render_pair_page(compare(a, b), (a, b), NAMES))


def lines(text: str) -> str:
    """A text with the line ends that the page shows."""
    return re.sub("\r\n|[\r\v\f\x85\u2028\u2029]", "\n", text)


# --- the texts ---


@given(texts(), texts(), st.data())
@examples(0.6)
def test_a_page_has_all_characters_of_both_texts(a: str, b: str, data: st.DataObject) -> None:
    """Passages and differences may overlap in any way. Invisible characters are written out."""

    def span(text: str) -> tuple[int, int]:
        one, other = (data.draw(st.integers(0, len(text))) for _ in range(2))
        return min(one, other), max(one, other)

    found = comparison(
        [same(0, 0, 0), *(same(span(a)[0], span(b)[0], 5) for _ in range(2))],
        [replaced(span(a), span(b)) for _ in range(3)],
    )
    shown = HtmlPage(render_pair_view(found, (a, b), NAMES))

    assert (lines(a), lines(b)) == (shown.text("a"), shown.text("b"))


@pytest.mark.parametrize("text", ["", " \n", "word", "word " * 500, "漢字" * 300, "אב" * 90])
def test_equal_texts_have_no_difference(text: str) -> None:
    """A text without words equals itself, too."""
    shown = read(text, text)

    assert text == shown.text("a") == shown.text("b")
    assert "No words differ." in [element.text for element in shown.all("p")]


# --- passages and differences ---


def test_a_passage_has_the_same_number_and_colour_in_both_texts() -> None:
    """Each number links to the number in the other text."""
    a, b = f"{words(0, 60)} {words(100, 160)}", f"{words(100, 160)} {words(0, 60)}"
    first, second = len(words(0, 60)), len(words(100, 160))
    found = comparison([same(0, second + 1, first), same(first + 1, 0, second)])
    shown = HtmlPage(render_pair_page(found, (a, b), NAMES))
    links = {side: {link.attributes["data-n"]: link for link in shown.of_side(side, "a", "n")} for side in "ab"}

    assert {"1", "2"} == links["a"].keys() == links["b"].keys()
    for number, link in links["a"].items():
        other = links["b"][number]

        assert [f"#b{number}", f"#a{number}"] == [link.attributes["href"], other.attributes["href"]]
        assert [f"a{number}", f"b{number}"] == [link.attributes["id"], other.attributes["id"]]
        assert link.classes == other.classes
    assert links["a"]["1"].classes != links["a"]["2"].classes


def test_links_lead_to_overlapping_passages() -> None:
    """The ids of two pairs on a page differ."""
    a, b = f"{words(0, 60)} x {words(100, 160)} y", f"{words(100, 160)} z {words(0, 60)}"
    found = comparison([same(0, 5, 200), same(0, 50, 200), same(40, 90, 20)], compare(a, b).differences)
    shown = HtmlPage("".join(render_pair_view(found, (a, b), NAMES, prefix=prefix) for prefix in ("p1-", "p2-")))

    shown.check_links()
    assert {"#p1-a3", "#p2-b3"} < {element.attributes.get("href") for element in shown.elements}


def test_moved_and_repeated_passages_have_a_remark() -> None:
    """The remark is for screen readers. Others see ⇅ and a frame."""
    notice = "this notice is part of each and every file and comes without any warranty at all of any kind today"
    a = f"{notice} {notice} {notice} {words(0, 60)}"
    b = f"{words(0, 60)} {notice}"
    start, place = 3 * len(notice) + 3, len(words(0, 60))
    moved_block = Difference("moved", (start, len(a)), (0, place), 60, 60)
    passages = [same(0, place + 1, len(notice), 19), same(start, 0, place, 60)]
    shown = HtmlPage(render_pair_page(comparison(passages, [moved_block]), (a, b), NAMES))
    repeated, moved = shown.of_side("a", "a", "n")

    assert ("k0", True) == (repeated.classes[-1], "repeated" in str(repeated.attributes["aria-label"]))
    assert ("2⇅", True) == (moved.text, "moved" in str(moved.attributes["aria-label"]))


def test_differences_are_marked_in_passages() -> None:
    """Where words are missing, there is a mark."""
    a = f"{words(0, 30)} you may copy {words(30, 60)} gone {words(60, 90)}"
    b = f"{words(0, 30)} you must copy {words(30, 60)} {words(60, 90)}"
    shown = read(a, b)

    assert ["may", "gone"] == [element.text for element in shown.of_side("a", "del")]
    assert ["must"] == [element.text for element in shown.of_side("b", "ins")]
    assert ["2"] == [element.attributes["data-d"] for element in shown.of_side("b", "span", "gap")]
    assert all("mark" in element.inside for element in shown.of_side("a", "del"))


def test_a_long_difference_stays_readable() -> None:
    """It is not struck through. A short moved block outside passages is also marked."""
    large = read(words(0, 50), f"{words(100, 150)} {words(0, 50)}")
    found = comparison([], [Difference("moved", (8, 13), (0, 5), 1, 1)])
    moved = HtmlPage(render_pair_page(found, ("one two three", "three one two"), NAMES))

    assert [["large"]] == [element.classes for element in large.of_side("b", "ins")]
    assert ["three", "three"] == [element.text for side in "ab" for element in moved.of_side(side, "span", "moved")]


def test_page_numbers_are_shown() -> None:
    """The lists of differences and passages also show page numbers."""
    shown = read(f"{words(0, 30)}\f{words(30, 60)} old", f"{words(0, 60)} new")

    assert ["page 1", "page 2"] == [element.text for element in shown.of_side("a", "div", "page")]
    assert [] == shown.of_side("b", "div", "page")
    assert any("page 2, line 1 ↔ line 1" in element.text for element in shown.all("span", "where"))


def test_a_paragraph_has_its_counterpart_in_the_other_text() -> None:
    """The two scroll together. A paragraph that shares only a phrase has no counterpart."""
    a, b = f"{words(0, 30)}\n\n{words(30, 60)}", f"new words before\n\n{words(0, 30)}\n\n{words(30, 60)}"
    first, second = read(a, b).of_side("a", "p")
    assert [str(b.index("word0")), str(b.index("word30"))] == [first.attributes["data-q"], second.attributes["data-q"]]

    phrase, most = words(500, 510), words(0, 60)
    a, b = f"{words(600, 660)} {phrase}\n\n{phrase} {most}", f"{most} {words(700, 800)} {phrase}"
    place, size = b.index(phrase), len(phrase)
    passages = [same(a.index(phrase), place, size), same(a.rindex(phrase), place, size)]
    found = comparison([*passages, same(a.index(most), 0, len(most))])
    shown = HtmlPage(render_pair_view(found, (a, b), NAMES))
    assert [None, "0"] == [element.attributes.get("data-q") for element in shown.of_side("a", "p")]


def test_the_list_quotes_differences_with_the_words_around() -> None:
    """The list has at most 500 differences."""
    a, b = f"{words(0, 30)} you may, copy {words(30, 60)}", f"{words(0, 30)} you must, copy {words(30, 60)}"
    (quoted,) = [element for element in read(a, b).all("bdi", "quote") if "may" in element.text]
    assert "word28 word29 you may must, copy word30 word31" in quoted.text

    a = " ".join(f"x{number}" for number in range(600))
    places = [found.span() for found in re.finditer(r"\S+", a)]
    shown = HtmlPage(render_pair_page(comparison([], [replaced(place, place) for place in places]), (a, a), NAMES))
    assert 600 == len(shown.of_side("a", "del"))
    assert "… 100 more differences, marked in the texts." in [element.text for element in shown.all("p")]


# --- the page ---


@pytest.mark.parametrize("hostile", [HOSTILE, "x" * 10_000 + HOSTILE * 20])
def test_hostile_texts_and_names_are_only_shown(hostile: str) -> None:
    """The page has the same elements, attributes and policy as a page without hostile text."""
    a, b = f"{hostile} {words(0, 40)} old {hostile}", f"{hostile} {words(0, 40)} new {hostile}"
    shown = HtmlPage(render_pair_page(compare(a, b), (a, b), (hostile[:200], "\u202e<script>")))
    plain = read(f"{words(0, 40)} old", f"{words(0, 40)} new")

    assert (lines(a), lines(b)) == (shown.text("a"), shown.text("b"))
    assert {element.tag for element in shown.elements} - {element.tag for element in plain.elements} <= {
        "del",
        "ins",
        "wbr",
    }
    names = {name for element in plain.elements for name in element.attributes}
    assert {name for element in shown.elements for name in element.attributes} <= {*names, "data-d"}
    assert not {"style", "src", "onclick"} & names
    assert [element.text for element in plain.all("script")] == [element.text for element in shown.all("script")]
    assert [element.attributes for element in plain.all("meta")] == [
        element.attributes for element in shown.all("meta")
    ]
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2060-\u206f\ufeff\ud800-\udfff]", shown.html)


def test_the_policy_allows_only_our_style_and_script() -> None:
    """The policy contains the digests of both."""
    shown = read("a", "b")
    (policy,) = [meta.attributes["content"] for meta in shown.all("meta") if "http-equiv" in meta.attributes]
    style, script = (
        f"'sha256-{b64encode(sha256(shown.all(tag)[0].text.encode()).digest()).decode()}'"
        for tag in ("style", "script")
    )

    assert f"default-src 'none'; style-src {style}; script-src {script}; base-uri 'none'; form-action 'none'" == policy
    assert [1, 1] == [len(shown.all(tag)) for tag in ("style", "script")]
    assert not re.search(r"https?://|url\(|@import", shown.html)


def test_names_are_shown_without_their_common_folders() -> None:
    """The attribute `title` has the whole path."""
    first, second, *_ = HtmlPage(render_pair_page(comparison(), ("a", "b"), ("/me/old/a.txt", "/me/new/a.txt"))).all(
        "bdi"
    )

    assert ("…/old/a.txt", "…/new/a.txt") == (first.text, second.text)
    assert ("/me/old/a.txt", "/me/new/a.txt") == (first.attributes["title"], second.attributes["title"])


def test_the_page_works_with_a_screen_reader_and_a_keyboard() -> None:
    """The page has a language, landmarks and headings. Its help lists the keys."""
    shown = read(words(0, 40), words(0, 40) + " more")
    levels = [int(element.tag[1]) for element in shown.elements if re.fullmatch("h[1-6]", element.tag)]

    assert ["en"] == [element.attributes["lang"] for element in shown.all("html")]
    assert [1, 1, 1] == [len(shown.all(tag)) for tag in ("main", "header", "nav")]
    assert [1, 2, 2, 2, 2] == levels
    assert [("0", "")] * 2 == [
        (pane.attributes["tabindex"], pane.attributes["lang"]) for pane in shown.all("div", "text")
    ]
    assert {"n", "p", "→", "←", "Enter", "d", "Shift d", "Esc"} == {element.text for element in shown.all("kbd")}
    assert ["status"] == [element.attributes["role"] for element in shown.all("p", "announcement")]


@pytest.mark.slow
def test_a_page_of_two_long_texts_has_less_than_3_mb() -> None:
    """The texts have 50,000 words. Every hundredth word differs."""
    a = " ".join(f"word{number}" + ("\n\n" if number % 80 == 79 else "") for number in range(50_000))
    b = re.sub(r"word(\d+)00\b", r"other\1", a)

    assert len(render_pair_page(compare(a, b), (a, b), NAMES).encode()) < 3_000_000


def test_versions_have_the_differences_first_and_other_texts_the_passages() -> None:
    shared, first, second = (" ".join(f"{letter}{number}" for number in range(80)) for letter in "sab")

    def headings(old: str, new: str) -> list[str]:
        html = render_pair_page(compare(old, new), (old, new), ("a", "b"))
        return re.findall("<section><h2>(.*?)</h2>", html)

    assert ["Differences", "Shared passages"] == headings(f"{shared} one", f"{shared} two")
    assert ["Shared passages", "Differences"] == headings(f"{first} {first} {shared}", f"{shared} {second} {second}")
