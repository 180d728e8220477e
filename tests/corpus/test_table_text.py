"""The text of a CSV or TSV file in a folder is its cells. Different cells give different texts."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.corpus import read_file
from simdoc_search.corpus.table_text import extract_table_text
from tests.support.cli import write
from tests.support.formats import xlsx

ROWS = [["item", "No. 14", "remark"], ["water", "1250.88", "see p. 3, note"], ["lift; stairs", "-3", 'a 5" "pipe']]
TEXT = 'item\tNo. 14\tremark\nwater\t1250.88\tsee p. 3, note\nlift; stairs\t-3\ta 5" "pipe\n'


def to_csv(rows: list[list[str]], delimiter: str = ",", quoting: int = csv.QUOTE_MINIMAL) -> str:
    stream = io.StringIO()
    csv.writer(stream, delimiter=delimiter, quoting=quoting).writerows(rows)  # type: ignore[arg-type]
    return stream.getvalue()


def text_of(data: str) -> str | None:
    return extract_table_text(data.encode())


@pytest.mark.parametrize("delimiter", list(",;\t|"))
@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_the_way_in_which_cells_are_written_does_not_change_the_text(
    delimiter: str, quoting: int, encoding: str
) -> None:
    assert TEXT == extract_table_text(to_csv(ROWS, delimiter, quoting).encode(encoding))


def test_a_workbook_with_one_filled_sheet_has_the_text_of_the_csv_file(tmp_path: Path) -> None:
    pytest.importorskip("kreuzberg")
    rows = [["item", "cost", "remark"], ["water", "1250.88", ""], ["", "two\nlines", "a\ttab"], ["lift", "-3", "x"]]
    write(tmp_path, {"a.csv": to_csv(rows), "a.xlsx": xlsx(rows), "b.xlsx": xlsx([], rows, [])})
    text = read_file(tmp_path / "a.csv").text.rstrip("\n")

    assert [text, text] == [read_file(tmp_path / name).text for name in ("a.xlsx", "b.xlsx")]


def test_the_names_of_several_sheets_separate_their_tables(tmp_path: Path) -> None:
    pytest.importorskip("kreuzberg")
    write(tmp_path, {"a.xlsx": xlsx([["a", "b"]], [["c", "d"]])})

    assert "Sheet1\n\na\tb\n\nSheet2\n\nc\td" == read_file(tmp_path / "a.xlsx").text


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        (["2024-02-29 00:00:00", "1899-12-31 08:30:00"], ["2025-03-04", "2024-02-29", "1899-12-31 08:30:00"]),
        (["2025-03-04 08:30:00"], ["2025-03-04 00:00:00", "2025-03-04 08:30:00"]),
    ],
)
def test_a_date_of_a_workbook_has_a_time_if_a_date_has_another_time_than_midnight(
    others: list[str], expected: list[str], tmp_path: Path
) -> None:
    pytest.importorskip("kreuzberg")
    write(tmp_path, {"a.xlsx": xlsx([["2025-03-04 00:00:00"], *([cell] for cell in others)])})

    assert expected == read_file(tmp_path / "a.xlsx").text.split("\n")


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("water;1250,88;-3,20\nlift;7,50;0,10\n", "water\t1250,88\t-3,20\nlift\t7,50\t0,10\n"),
        ("a,b\r\rc,d", "a\tb\n\nc\td"),
        ("Account:;DE1\n\n" + "1.1.24;-5,00;A, B\n" * 3, "Account:\tDE1\n\n" + "1.1.24\t-5,00\tA, B\n" * 3),
        ("name,tags\nx,a;b\ny,c;d\n", "name\ttags\nx\ta;b\ny\tc;d\n"),
        ("a,b,c,d\nx,y\nx,y,z\nx,y,z,1\n", "a\tb\tc\td\nx\ty\nx\ty\tz\nx\ty\tz\t1\n"),
        ("Means of the year\na,b,c\n" + "1,2,3\n" * 9, "Means of the year\na\tb\tc\n" + "1\t2\t3\n" * 9),
    ],
)
def test_the_delimiter_is_the_one_that_most_rows_fit(data: str, expected: str) -> None:
    assert expected == text_of(data)


@pytest.mark.parametrize(
    "data",
    [
        "",
        "\n\n",
        "one line, without a table\n",
        "Dear Sir,\nas you know, rain, hail and snow\nare late; we wait,\nyours\n",
        "price\n" + "1,5\n" * 9,  # decimal commas
        'a,"b\nc,d\n',  # a quote that is not closed
        'a,"b" c\nd,e\n',
        "a,b\vc\nd,e\n",
        "a,b\x1fc\nd,e\n",
        f'a,"{"x" * (1 << 20)}x"\nb,c\n',
    ],
)
def test_a_file_that_is_not_a_table_is_plain_text(data: str) -> None:
    assert data == text_of(data)


def test_a_binary_file_has_no_text() -> None:
    assert extract_table_text(b"\0\1\2") is None


@given(st.lists(st.lists(st.text('ab"1, \t\n\ré', max_size=4), min_size=2, max_size=2), min_size=1, max_size=6))
def test_the_cells_can_be_restored_from_the_text(rows: list[list[str]]) -> None:
    table = [["first", "second"], *rows]

    text = text_of(to_csv(table)) or ""

    original = str.maketrans({"\v": "\n", "\x1f": "\t"})
    assert table == [
        [cell.translate(original) for cell in row.split("\t")] for row in text.removesuffix("\n").split("\n")
    ]


def test_a_long_table_has_all_rows() -> None:
    rows = [[str(number), f"a, {number}"] for number in range(10_000)]

    assert "".join(f"{first}\t{second}\n" for first, second in rows) == text_of(to_csv(rows))
