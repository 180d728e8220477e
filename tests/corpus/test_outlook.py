"""The HTML of an Outlook message is read like an HTML page if there is no plain text, or if it is a stub."""

from __future__ import annotations

import pytest

from simdoc_search.corpus.extraction import extract_text
from simdoc_search.corpus.formats import determine_format
from simdoc_search.corpus.outlook import read_html_body
from tests.support.outlook import outlook_message

PAGE = '<meta charset="windows-1252"><p>Grüße</p><table><tr><td>May<br>2020<td>850</table>'


@pytest.mark.parametrize("html", [PAGE, PAGE.encode("cp1252")])
@pytest.mark.parametrize("body", ["", " \r\n", "HTML"])
def test_an_html_body_is_read_if_there_is_no_plain_text_or_a_stub(html: str | bytes, body: str) -> None:
    pytest.importorskip("kreuzberg")
    message = outlook_message("The rent", body, {"a.htm": b"<p>attached</p>"}, html=html)

    assert "Subject: The rent\n\nGrüße\nMay 2020\t850" == extract_text(message, determine_format("a.msg")).text


def test_plain_text_is_read_in_place_of_html() -> None:
    pytest.importorskip("kreuzberg")
    message = outlook_message("The rent", "the plain text", html=PAGE)

    assert "Subject: The rent\n\nthe plain text" == extract_text(message, determine_format("a.msg")).text.rstrip()


def test_a_damaged_message_has_no_html_body() -> None:
    message = outlook_message("The rent", "", html=PAGE.encode() + bytes(9000))

    assert {""} == {read_html_body(message[:size]) for size in (0, 8, 600, len(message) // 2)}
