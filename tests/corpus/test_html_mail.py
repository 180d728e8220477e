"""The body of an e-mail is read like an HTML page if it is only sent as HTML, or if its plain text is a stub."""

from __future__ import annotations

from email.message import EmailMessage

import pytest

from simdoc_search.corpus.extraction import extract_text
from simdoc_search.corpus.formats import determine_format
from simdoc_search.corpus.html_mail import replace_html_with_text

PAGE = "<div>Grüße</div>aus<br>der <b>Werk</b>statt<table><tr><td>rent<td><td>850</table>"
TEXT = "Grüße\naus\nder Werkstatt\nrent\t\t850"


def message(plain: str | None = None) -> EmailMessage:
    mail = EmailMessage()
    mail["Subject"], mail["From"] = "Größe — " + "a long subject " * 8, "Ada <ada@example.org>"
    if plain is None:
        mail.set_content(PAGE, subtype="html", charset="iso-8859-1", cte="quoted-printable")
    else:
        mail.set_content(plain)
        mail.add_alternative(PAGE, subtype="html")
    return mail


def read(mail: EmailMessage) -> str:
    pytest.importorskip("kreuzberg")
    return extract_text(bytes(mail), determine_format("a.eml")).text


def test_blocks_and_cells_separate_words() -> None:
    with_file, with_picture = message(), message()
    with_file.add_attachment(b"<p>attached</p>", maintype="text", subtype="html", filename="a.html")
    with_picture.add_related(b"\x89PNG", maintype="image", subtype="png", cid="<1>")
    headers = "Subject: Größe — " + "a long subject " * 7 + 'a long subject\nFrom: "Ada" <ada@example.org>\n\n'

    assert [f"{headers}{TEXT}"] * 4 == [
        read(mail).rstrip() for mail in (message(), with_file, with_picture, message(""))
    ]


@pytest.mark.parametrize(
    "plain",
    [" \n", "Read in HTML", "★ https://example.org/view-in-browser-now?id=1 www.example.org/a-b-c"],
    ids=["blank", "fewer than half as many words", "web addresses"],
)
def test_html_with_more_than_twice_the_words_of_the_plain_text_is_read(plain: str) -> None:
    mixed = EmailMessage()
    mixed["Subject"] = "A newsletter"
    mixed.set_content(plain)
    mixed.add_alternative(PAGE, subtype="html")
    mixed.add_alternative("<p>seventh</p>", subtype="html")

    assert f"Subject: A newsletter\n\n{TEXT}\n\nseventh" == read(mixed).rstrip()


def test_plain_text_is_read_in_place_of_html_with_up_to_twice_its_words() -> None:
    assert read(message("the plain text")).rstrip().endswith(">\n\nthe plain text")


@pytest.mark.parametrize(
    "data",
    [bytes(message("the plain text")), b"Subject: text/html\n\nno HTML", b"Content-Type: text/html; boundary=" * 101,
     b"Content-Type: multipart/mixed\n\n<p>text/html", b"text/html"],
    ids=["random boundary", "in the body", "long header", "wrong type", "no header"],
)  # fmt: skip
def test_a_message_without_an_html_body_is_left_unchanged(data: bytes) -> None:
    assert data == replace_html_with_text(data)
