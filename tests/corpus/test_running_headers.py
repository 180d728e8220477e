"""The running headers, running footers and page numbers of a PDF."""

from __future__ import annotations

from pathlib import Path

import pytest

from simdoc_search.corpus.file_reader import read_file
from simdoc_search.corpus.running_headers import remove_running_headers
from tests.support import formats

BODY = ["first words", "second words", "third words", "fourth words", "fifth words"]


def pages(header: str, footer: str) -> list[str]:
    return [
        "\r\n".join(filter(None, [header.format(number), body, footer.format(number)]))
        for number, body in enumerate(BODY, 7)
    ]


@pytest.mark.parametrize(("header", "footer"), [("", "{}"), ("{}", ""), ("", "- {} -"), ("{}", "{}")])
def test_page_numbers_are_removed(header: str, footer: str) -> None:
    assert BODY == remove_running_headers(pages(header, footer))


@pytest.mark.parametrize(
    "header", ["The Harbour", "The Harbour, 1650   {}", "Page {} of 12", "Draft of 1 May\r\nPage {}"]
)
def test_a_running_header_is_kept_only_where_it_occurs_first(header: str) -> None:
    assert [f"{header.format(7)}\r\n{BODY[0]}", *BODY[1:]] == remove_running_headers(pages(header, ""))
    assert [f"{BODY[0]}\r\n{header.format(7)}", *BODY[1:]] == remove_running_headers(pages("", header))


def test_a_header_that_repeats_the_title_is_removed_everywhere() -> None:
    assert ["The Harbour\nOne", *BODY] == remove_running_headers(
        ["The Harbour\nOne", *(f"{body}\n{number}\nThe Harbour" for number, body in enumerate(BODY, 2))]
    )


def test_headers_may_alternate_between_odd_and_even_pages() -> None:
    texts = [f"{('Harbour', 'Becker')[number % 2]}\n{'abcdef'[number]}" for number in range(6)]

    assert ["Harbour\na", "Becker\nb", "c", "d", "e", "f"] == remove_running_headers(texts)


@pytest.mark.parametrize(
    "texts",
    [
        ["Harbour\na", "Harbour\nb"],
        ["Harbour\na", "Harbour\nb", "c", "d", "e", "Harbour\nf"],
        ["a\nHarbour\nb", "c\nd\ne\nf\nHarbour\ng\nh\ni\nj", "k\nl\nm\nn\nHarbour\no\np\nq\nr"],
        ["Harbour\na", "b\nHarbour", "Harbour\nc", "d\nHarbour"],
        ["1650\na", "1649\nb", "1700\nc"],
        [],
        [""],
    ],
)
def test_other_lines_are_kept(texts: list[str]) -> None:
    assert texts == remove_running_headers(texts)


@pytest.mark.usefixtures("read_in_this_process")
def test_a_pdf_is_read_without_page_numbers(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(formats.pdf_of_pages("1", "2", "3", "The harbour"))

    assert ["The", "harbour"] == read_file(path).text.split()
