"""One HTML page that shows two texts: all of them, where they are alike, and nothing that they want."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simdoc_search.passages.compare import compare
from simdoc_search.passages.passage import Difference
from simdoc_search.passages.report import comparison_page, pair_view
from simdoc_search.passages.report.html import attribute, content, page
from tests.support.cli import words
from tests.support.passages.pages import Page, comparison, replaced, same
from tests.support.strategies import texts

HOSTILE = (
    "</style><script>alert(1)</script><img src=x onerror=alert(1)>\"'><!-- --></p></main></html>&lt;&#0;\x00\x1b[31m"
    "\ud800\u202e\u2066\u200b\ufeff\U000e0041 javascript:alert(1) {{1}} ]]>"
)
NAMES = "a.txt", "b.txt"


def read(a: str, b: str) -> Page:
    """The page of two texts."""
    return Page(comparison_page(compare(a, b), (a, b), NAMES))


def lines(text: str) -> str:
    """A text with the one line end that a page has."""
    return re.sub("\r\n|[\r\v\f\x85\u2028\u2029]", "\n", text)


# --- all of the texts ---


@given(texts(), texts(), st.data())
@settings(max_examples=20)
def test_nothing_of_a_text_is_lost_or_added(a: str, b: str, data: st.DataObject) -> None:
    """Whatever passages and differences lie over it; characters that are not seen are written out."""

    def span(text: str) -> tuple[int, int]:
        one, other = (data.draw(st.integers(0, len(text))) for _ in range(2))
        return min(one, other), max(one, other)

    found = comparison(
        [same(0, 0, 0), *(same(span(a)[0], span(b)[0], 5) for _ in range(2))],
        [replaced(span(a), span(b)) for _ in range(3)],
    )
    shown = Page("".join(pair_view(found, (a, b), NAMES)))

    assert (lines(a), lines(b)) == (shown.text("a"), shown.text("b"))


@pytest.mark.parametrize("text", ["", " \n", "word", words(0, 30), "word " * 500, "漢字" * 300, "אב" * 90])
def test_a_text_is_like_itself(text: str) -> None:
    """Also one without words, of one line, of one repeated word."""
    shown = read(text, text)

    assert text == shown.text("a") == shown.text("b")
    assert "No word differs." in [each.text for each in shown.all("p")]


# --- passages ---


def test_a_passage_has_the_same_number_and_colour_in_both_texts() -> None:
    """And its numbers lead to each other."""
    a, b = f"{words(0, 60)} {words(100, 160)}", f"{words(100, 160)} {words(0, 60)}"
    first, second = len(words(0, 60)), len(words(100, 160))
    found = comparison([same(0, second + 1, first), same(first + 1, 0, second)])
    shown = Page(comparison_page(found, (a, b), NAMES))
    links = {side: {each.attributes["data-n"]: each for each in shown.of_side(side, "a", "n")} for side in "ab"}

    assert {"1", "2"} == links["a"].keys() == links["b"].keys()
    for number, link in links["a"].items():
        like = links["b"][number]

        assert [f"#b{number}", f"#a{number}"] == [link.attributes["href"], like.attributes["href"]]
        assert [f"a{number}", f"b{number}"] == [link.attributes["id"], like.attributes["id"]]
        assert link.classes == like.classes
    assert links["a"]["1"].classes != links["a"]["2"].classes


def test_every_link_leads_to_its_place_and_no_id_is_there_twice() -> None:
    """Those of the lists and of the strip too, and where passages lie over each other."""
    a, b = f"{words(0, 60)} x {words(100, 160)} y", f"{words(100, 160)} z {words(0, 60)}"
    found = comparison([same(0, 5, 200), same(0, 50, 200), same(40, 90, 20)], compare(a, b).differences)
    shown = Page(comparison_page(found, (a, b), NAMES))
    ids = [str(each.attributes["id"]) for each in shown.elements if "id" in each.attributes]
    targets = {str(each.attributes["href"]) for each in shown.elements if "href" in each.attributes}

    assert len(ids) == len(set(ids))
    assert {"#a3", "#b3"} < targets <= {f"#{each}" for each in ids}


def test_what_moved_and_what_is_repeated_is_said() -> None:
    """Not by colour alone: by a sign, a frame, and in words for those who hear the page."""
    notice = "this notice is part of each and every file and comes without any warranty at all of any kind today"
    a = f"{notice} {notice} {notice} {words(0, 60)}"
    b = f"{words(0, 60)} {notice}"
    start, place = 3 * len(notice) + 3, len(words(0, 60))
    moved_block = Difference("moved", (start, len(a)), (0, place), 60)
    passages = [same(0, place + 1, len(notice), 19), same(start, 0, place, 60)]
    shown = Page(comparison_page(comparison(passages, [moved_block]), (a, b), NAMES))
    said = {str(each.attributes["aria-label"]): each for each in shown.of_side("a", "a", "n")}
    moved = [each for label, each in said.items() if "moved" in label]
    repeated = [each for label, each in said.items() if "repeated" in label]

    assert [] != moved
    assert {True} == {each.text.endswith("⇅") for each in moved}
    assert {"k0"} == {kind for each in repeated for kind in each.classes} - {"n"}
    assert [] == [label for label, each in said.items() if "repeated" not in label and "k0" in each.classes]


def test_differences_are_marked_inside_passages() -> None:
    """As removed words in the first text and inserted ones in the second; a sign stands where there are none."""
    a = f"{words(0, 30)} you may copy {words(30, 60)} gone {words(60, 90)}"
    b = f"{words(0, 30)} you must copy {words(30, 60)} {words(60, 90)}"
    shown = read(a, b)

    assert ["may", "gone"] == [each.text for each in shown.of_side("a", "del")]
    assert ["must"] == [each.text for each in shown.of_side("b", "ins")]
    assert ["2"] == [each.attributes["data-d"] for each in shown.of_side("b", "span", "gap")]
    assert all("mark" in each.inside for each in shown.of_side("a", "del"))


def test_long_texts_of_one_side_stay_readable() -> None:
    """More than 40 words in no passage are set off, not struck through."""
    a, b = words(0, 50), f"{words(100, 150)} {words(0, 50)}"
    shown = read(a, b)

    assert [["large"]] == [each.classes for each in shown.of_side("b", "ins")]


def test_pages_are_counted_where_a_text_has_them() -> None:
    """Before the first page too; and the lists name them."""
    a = f"{words(0, 30)}\f{words(30, 60)} old"
    shown = read(a, f"{words(0, 60)} new")

    assert ["page 1", "page 2"] == [each.text for each in shown.of_side("a", "div", "page")]
    assert [] == shown.of_side("b", "div", "page")
    assert any("page 2, line 1 → line 1" in each.text for each in shown.all("span", "where"))


def test_paragraphs_know_their_like() -> None:
    """The place in the other text of the first words that both have, for scrolling together."""
    a, b = f"{words(0, 30)}\n\n{words(30, 60)}", f"new words before\n\n{words(0, 30)}\n\n{words(30, 60)}"
    shown = read(a, b)
    first, second = shown.of_side("a", "p")

    assert [str(b.index("word0")), str(b.index("word30"))] == [first.attributes["data-q"], second.attributes["data-q"]]
    assert {"auto"} == {each.attributes["dir"] for side in "ab" for each in shown.of_side(side, "p")}


def test_a_paragraph_that_shares_a_phrase_alone_has_no_like() -> None:
    """Scrolling together would jump to where the phrase stands; the passage that has most of a paragraph counts."""
    phrase, most = words(500, 510), words(0, 60)
    a, b = f"{words(600, 660)} {phrase}\n\n{phrase} {most}", f"{most} {words(700, 800)} {phrase}"
    first, second = a.index(phrase), a.rindex(phrase)
    place, size = b.index(phrase), len(phrase)
    found = comparison([same(first, place, size), same(second, place, size), same(a.index(most), 0, len(most))])
    shown = Page("".join(pair_view(found, (a, b), NAMES)))

    assert [None, "0"] == [each.attributes.get("data-q") for each in shown.of_side("a", "p")]


def test_the_lists_quote_what_differs() -> None:
    """With the words around it, and no space that is not there."""
    a, b = f"{words(0, 30)} you may, copy {words(30, 60)}", f"{words(0, 30)} you must, copy {words(30, 60)}"
    (quoted,) = [each for each in read(a, b).all("bdi", "quote") if "may" in each.text]

    assert "word28 word29 you may must, copy word30 word31" in quoted.text


def test_long_lists_end_with_what_is_left_out() -> None:
    """500 differences are listed; all are marked in the text."""
    a = " ".join(f"x{number}" for number in range(600))
    places = [(found.start(), found.end()) for found in re.finditer(r"\S+", a)]
    shown = Page(comparison_page(comparison([], [replaced(at, at) for at in places]), (a, a), NAMES))

    assert 600 == len(shown.of_side("a", "del"))
    assert "… 100 more differences: they are marked in the texts." in [each.text.strip() for each in shown.all("p")]


# --- nothing that they want ---


@pytest.mark.parametrize("hostile", [HOSTILE, HOSTILE * 50, "x" * 10_000 + HOSTILE])
def test_hostile_texts_and_names_do_nothing(hostile: str) -> None:
    """The elements, attributes and policy of the page are those that it has without them."""
    a, b = f"{hostile} {words(0, 40)} old {hostile}", f"{hostile} {words(0, 40)} new {hostile}"
    shown = Page(comparison_page(compare(a, b), (a, b), (hostile[:200], "\u202e<script>")))
    plain = read(f"{words(0, 40)} old", f"{words(0, 40)} new")

    assert (lines(a), lines(b)) == (shown.text("a"), shown.text("b"))
    assert {each.tag for each in shown.elements} - {each.tag for each in plain.elements} <= {"del", "ins"}
    assert {name for each in shown.elements for name in each.attributes} <= ATTRIBUTES
    assert [each.text for each in plain.all("script")] == [each.text for each in shown.all("script")]
    assert [each.attributes for each in plain.all("meta")] == [each.attributes for each in shown.all("meta")]
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2060-\u206f\ufeff\ud800-\udfff]", shown.html)


ATTRIBUTES = {
    *("lang", "charset", "http-equiv", "content", "name", "class", "id", "title", "role", "tabindex", "href", "dir"),
    *("aria-labelledby", "aria-label", "aria-hidden", "type", "checked", "open", "focusable"),
    *("data-o", "data-q", "data-d", "data-n", "data-p", "data-t"),
    *("viewbox", "preserveaspectratio", "width", "height", "x", "d"),
}
"""None that holds a style, asks for a file, or runs."""


def test_the_policy_allows_our_style_and_script_and_nothing_else() -> None:
    """Each by the digest of what stands in the page."""
    shown = read("a", "b")
    (policy,) = [each.attributes["content"] for each in shown.all("meta") if "http-equiv" in each.attributes]
    style, script = (
        f"'sha256-{b64encode(sha256(shown.all(tag)[0].text.encode()).digest()).decode()}'"
        for tag in ("style", "script")
    )

    assert f"default-src 'none'; style-src {style}; script-src {script}; base-uri 'none'; form-action 'none'" == policy
    assert [1, 1] == [len(shown.all(tag)) for tag in ("style", "script")]
    assert not re.search(r"https?://|url\(|@import", shown.html)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a < b & c > \"d\" 'e'", "a &lt; b &amp; c &gt; &quot;d&quot; &#39;e&#39;"),
        ("\u202e", '<span class="sign">\\u202e</span>'),
        ("\x00", '<span class="sign">\\x00</span>'),
        ("\ud800", '<span class="sign">\\ud800</span>'),
        ("a\r\nb\rc\fd\u2028e", "a\nb\nc\nd\ne"),
        ("می\u200cخواهم 👩\u200d🚀 \u00a0\u0301\t", "می\u200cخواهم 👩\u200d🚀 \u00a0\u0301\t"),
    ],
)
def test_what_is_not_seen_is_written_out(text: str, shown: str) -> None:
    """But for joiners, without which many scripts cannot be written, and spaces."""
    assert shown == content(text)


def test_attributes_are_one_harmless_line() -> None:
    """Quotation marks, line ends and invisible characters do not leave it."""
    assert "a&quot; &gt;\\u202e b" == attribute('a"\n>\u202e  b')


# --- the form of the page ---


def test_the_page_can_be_heard_and_used_by_keyboard() -> None:
    """One language, landmarks with names, headings in order, texts that can be scrolled, keys that are told."""
    shown = read(words(0, 40), words(0, 40) + " more")
    levels = [int(each.tag[1]) for each in shown.elements if re.fullmatch("h[1-6]", each.tag)]

    assert ["en"] == [each.attributes["lang"] for each in shown.all("html")]
    assert [1, 1, 1] == [len(shown.all(tag)) for tag in ("main", "header", "nav")]
    assert [1, 2, 2, 2, 2] == levels
    assert ["0", "0"] == [each.attributes["tabindex"] for each in shown.all("div", "text")]
    assert ["", ""] == [each.attributes["lang"] for each in shown.all("div", "text")]
    assert {"n", "p", "→", "←", "Enter", "d", "Shift d", "Esc"} == {each.text for each in shown.all("kbd")}
    assert [1, 1] == [
        len([each for each in shown.elements if each.attributes.get("role") == "status"]),
        len(shown.all("h1")),
    ]


def test_several_pairs_stand_on_one_page() -> None:
    """Each with a prefix of its own: no id is there twice, and every link stays in its pair."""
    a, b = f"{words(0, 40)} old", f"{words(0, 40)} new"
    found = compare(a, b)
    pairs = [part for number in (1, 2) for part in pair_view(found, (a, b), NAMES, prefix=f"p{number}-")]
    shown = Page(page("Two pairs", pairs))
    ids = [str(each.attributes["id"]) for each in shown.elements if "id" in each.attributes]

    assert len(ids) == len(set(ids))
    assert {str(each.attributes["href"]) for each in shown.elements if "href" in each.attributes} <= {
        f"#{each}" for each in ids
    }


def test_paths_are_shown_without_the_folders_that_both_share() -> None:
    """The whole path is told when one asks for it."""
    shown = Page(comparison_page(comparison(), ("a", "b"), ("/home/me/old/a.txt", "/home/me/new/a.txt")))

    assert ["…/old/a.txt", "…/new/a.txt"] == [each.text for each in shown.all("bdi")[:2]]
    assert ["/home/me/old/a.txt", "/home/me/new/a.txt"] == [each.attributes["title"] for each in shown.all("bdi")[:2]]


def test_what_moved_but_is_no_passage_is_marked_as_moved() -> None:
    """A block too short for a passage."""
    a, b = "one two three", "three one two"
    found = comparison([], [Difference("moved", (8, 13), (0, 5), 1)])
    shown = Page(comparison_page(found, (a, b), NAMES))

    assert ["three", "three"] == [each.text for side in "ab" for each in shown.of_side(side, "span", "moved")]


@pytest.mark.slow
def test_two_texts_of_50_000_words_make_a_page_of_less_than_3_mb() -> None:
    """With a difference in every hundredth word."""
    a = " ".join(f"word{number}" + ("\n\n" if number % 80 == 79 else "") for number in range(50_000))
    b = re.sub(r"word(\d+)00\b", r"other\1", a)

    assert len(comparison_page(compare(a, b), (a, b), NAMES).encode()) < 3_000_000
