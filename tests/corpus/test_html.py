"""HTML pages become the text that a reader sees."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.corpus.html import extract_html_text
from simdoc_search.errors import DocumentError


def test_a_page_becomes_its_title_and_its_blocks() -> None:
    page = b"""<!DOCTYPE html><html><head><title>The  page</title><meta name="description" content="no">
        <style>p { color: red }</style><script>var no = "<p>no</p>";</script></head>
        <body><!-- no --><h1>Heading</h1><p>First
        paragraph.</p><script>no()</script><template><p>no</p></template><noscript>no</noscript>
        <ul><li>one<li>two</ul><iframe src="x">no</iframe></body></html>"""

    assert "The page\nHeading\nFirst paragraph.\none\ntwo" == extract_html_text(page)


def test_a_title_that_the_page_repeats_is_left_out() -> None:
    page = b"<title> Minutes of  March\n</title><p>Harbour club</p><h1>Minutes <i>of</i> March</h1><p>Present: all</p>"

    assert "Harbour club\nMinutes of March\nPresent: all" == extract_html_text(page)


@pytest.mark.parametrize(
    "page",
    [
        b"<p>one</p><p>two</p>",
        b"<div>one<div>two</div></div>",
        b"<div><div>one</div>two</div>",
        b"one<br>two",
        b"one<hr/>two",
        b"<table><tr><td>one</table><p>two",
        b"<table><tr><td><p>one<p>two<td></table>",
        b"<table><tr><th>one</th></tr><tr><td>two</td></tr></table>",
        b"<dl><dt>one<dd>two</dl>",
        b"<svg><text>one</text><text>two</text></svg>",
        b"<select><option>one<option>two</select>",
        b"<pre>one\ntwo</pre>".replace(b"\n", b"<br>"),
    ],
)
def test_blocks_separate_words(page: bytes) -> None:
    assert "one\ntwo" == extract_html_text(page)


def test_tabs_separate_the_cells_of_a_table() -> None:
    """The text shows in which column a number is, as that of a CSV file does. A layout table has no columns."""
    page = b"""<table><tr><th>Text<th>In<th>Out</tr><tr><td><p>water, <b>c</b>old</p><td></td> <td>5.20<br></td></tr>
        <tr><td><td><td> </td></tr></table> <table><tr><td>menu<td><h1>Title</h1><p>text</p></table>"""

    assert "Text\tIn\tOut\nwater, cold\t\t5.20\nmenu\nTitle\ntext" == extract_html_text(page)


def test_the_number_of_a_note_is_a_word() -> None:
    """An exponent is part of its word."""
    linked = b"oak<sup><a href='#1'>1</a></sup> or iron<a href='#2'><sup>2</sup></a>, 5 m<sup>2</sup>, <sup>3</sup>He"

    assert "oak 1 or iron 2, 5 m2, 3He" == extract_html_text(linked)


def test_the_reading_of_ruby_text_is_left_out() -> None:
    page = "<p><ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp>字<rt><b>ji</b></ruby>を読む</p>".encode()

    assert "漢字を読む" == extract_html_text(page)


@pytest.mark.parametrize("tag", ["b", "a", "span", "x-own"])
def test_inline_elements_do_not_split_words(tag: str) -> None:
    assert "unbreakable word" == extract_html_text(f"<p>un<{tag}>break</{tag}>able word</p>".encode())


@pytest.mark.parametrize(
    ("text", "encoding", "label"),
    [
        ("wrześniowa źdźbło", "iso8859_2", '<meta charset="iso-8859-2">'),
        ("“ça” où", "cp1252", '<meta http-equiv="Content-Type" content="text/html; charset=ISO-8859-1">'),
        ("Привет", "koi8_r", "<META CHARSET=KOI8-R>"),
        ("漢字", "euc_jp", '<?xml version="1.0" encoding="EUC-JP"?>'),
        ("漢字とかな", "iso2022_jp", "<meta charset=iso-2022-jp>"),
        ("Привет 漢字", "utf-8", '<meta charset="windows-1252">'),
    ],
)
def test_the_declared_charset_is_used_if_a_page_is_not_utf8(text: str, encoding: str, label: str) -> None:
    assert text == extract_html_text(f"{label}<p>".encode() + text.encode(encoding))


def test_self_closed_elements_of_xhtml_do_not_hide_the_page() -> None:
    page = b"""<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title/>
        <script type="text/javascript" src="x.js"/></head><body><p>still here</p></body></html>"""

    assert "still here" == extract_html_text(page)


@pytest.mark.parametrize(
    ("page", "text"),
    [
        (b"", ""),
        (b"<", "<"),
        (b"no markup at all", "no markup at all"),
        (b"<p>open <b>never <i>closed", "open never closed"),
        (b"</div></p>text</body></html>more", "textmore"),
        (b"<p>text<!-- never closed", "text"),
        (b"<p>text<script>never closed", "text"),
        (b"<frameset><frame src=a></frameset>", ""),
        (b"<p>cut &am", "cut &am"),
        (b"<div>" * 2000 + b"deep", "deep"),
    ],
)
def test_broken_pages_are_read(page: bytes, text: str) -> None:
    assert text == extract_html_text(page)


PIECES = ["<", ">", "</", "<div", "<table>", "<b>", "<title>", "<!--", "-->", "<script>", "<svg>", "<frameset>"]


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=20).map("".join))
def test_any_page_is_read(page: str) -> None:
    text = extract_html_text(page.encode())

    assert text is None or text == text.strip()


def test_a_page_of_simdoc_search_is_refused() -> None:
    """Its text is that of other documents. A page of another program is read."""
    page = b'<html><head><meta name="generator" content="%s"><title>T</title></head><body>b</body></html>'

    with pytest.raises(DocumentError, match="an HTML page that simdoc-search wrote"):
        extract_html_text(page % b"simdoc-search")
    assert "T\nb" == extract_html_text(page % b"other")
