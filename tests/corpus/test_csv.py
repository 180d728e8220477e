"""CSV as it is met: quotes that are not closed, delimiters in texts, odd headings; read as a stream."""

from __future__ import annotations

import csv
import io
import os
import sys
import threading
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.corpus import Document, Skipped, read_corpus
from simdoc_search.corpus.csv_rows import BadRow, read_rows
from simdoc_search.corpus.tables import read_table
from simdoc_search.errors import CorpusError
from tests.support import cli

UNCLOSED = "a quote is not closed; close it, and double those within a text"
TOO_MANY = "more cells than the 2 columns; put a text with ',' in it in quotes"

posix_only = pytest.mark.skipif(os.name != "posix", reason="Windows has no such files")


def table(folder: Path, data: str | bytes, name: str = "t.csv") -> Path:
    return cli.write(folder, {name: data}) / name


def found(folder: Path, data: str | bytes, *, max_bytes: int = 1_000_000) -> dict[str, str]:
    """The texts of a table by id, and why rows are skipped by their number."""
    read = read_table(table(folder, data), max_bytes=max_bytes)
    return dict(
        (each.path.rpartition(":")[2], each.reason) if isinstance(each, Skipped) else (each.id, each.text)
        for each in read
    )


UNWRITABLE = "" if sys.version_info >= (3, 11) else "\0"
"""What Python's own writer of CSV cannot write."""


def cells(data: str, limit: int = 1_000_000) -> list[list[str] | str]:
    """The rows of a text, heading first; of bad ones the reason."""
    return [
        row.reason if isinstance(row, BadRow) else row
        for row in read_rows(io.StringIO(data, newline=""), delimiter=",", limit=limit)
    ]


@given(
    st.lists(
        st.lists(
            st.text(
                st.sampled_from('ab",;\n\r \té')
                | st.characters(exclude_categories=["Cs"], exclude_characters=UNWRITABLE)
            ),
            min_size=3,
            max_size=3,
        )
    ),
    st.booleans(),
)
def test_what_a_writer_of_csv_wrote_is_read_as_it_was(rows: list[list[str]], quote_all: bool) -> None:
    """Whatever the cells hold, each row of a table that is right comes back as it was."""
    written = io.StringIO(newline="")
    csv.writer(written, quoting=csv.QUOTE_ALL if quote_all else csv.QUOTE_MINIMAL).writerows([["a", "b", "c"], *rows])

    assert [["a", "b", "c"], *rows] == cells(written.getvalue())


@given(st.text(st.sampled_from('ab",\n\r')))
def test_rows_without_broken_quotes_are_those_of_python(data: str) -> None:
    """What Python's own reader takes for right when it is strict is read in the same way."""
    try:
        rows = [row for row in csv.reader(io.StringIO(data, newline=""), strict=True) if row]
    except csv.Error:
        return
    if any(len(row) > len(rows[0]) for row in rows):
        return

    assert rows == cells(data)


@pytest.mark.parametrize("quoted", ["{}", '"{}"'])
def test_an_unclosed_quote_costs_one_row(tmp_path: Path, quoted: str) -> None:
    """Of 1,000 rows one is skipped, whether the others are in quotes or not, and it says what to do."""
    rows = [f"{number}," + quoted.format(f"the text of {number}") for number in range(1, 1001)]
    rows[5] = '6,"the text of 6'
    expected = {str(number): f"the text of {number}" for number in range(1, 1001)}

    assert {**expected, "6": UNCLOSED} == found(tmp_path, "id,text\n" + "\n".join(rows) + "\n")


def test_several_unclosed_quotes_cost_a_row_each(tmp_path: Path) -> None:
    """Also one in the row after another, in the last row, and in a row of several cells in quotes."""
    data = 'id,text\na,"one\nb,"two\nc,three\n"d,four\ne,"fi""ve"\nf,"six\n'

    assert {"1": UNCLOSED, "2": UNCLOSED, "c": "three", "4": UNCLOSED, "e": 'fi"ve', "6": UNCLOSED} == found(
        tmp_path, data
    )


def test_a_row_of_several_lines_has_no_more_cells_than_columns(tmp_path: Path) -> None:
    """Quotes that happen to be closed do not join lines into a row that is none; the next line begins one again."""
    data = 'id,text\n1,"one"," of\n2,two\n3," of\n4,four\n'

    assert {"1": TOO_MANY, "2": "two", "3": UNCLOSED, "4": "four"} == found(tmp_path, data)


def test_quotes_within_a_cell_that_are_not_doubled_stay_on_their_line(tmp_path: Path) -> None:
    """Within one line they are read as Python does; a text of several lines with them is not guessed at."""
    data = 'id,text\na,"he said "no" twice"\nb,"first\nhe said "no"\nlast"\nc,a 5" disk\n'

    assert {"a": 'he said no" twice"', "2": UNCLOSED, "3": "no 'text'", "4": "no 'text'", "c": 'a 5" disk'} == found(
        tmp_path, data
    )


def test_a_text_cut_by_its_delimiter_is_skipped(tmp_path: Path) -> None:
    """A row with more cells than columns is named, not cut; empty cells at its end lose nothing."""
    data = "id,text\na,one, two and three\nb,four,,\nc,five\n"

    assert {"1": TOO_MANY, "b": "four", "c": "five"} == found(tmp_path, data)


def test_the_command_counts_and_names_broken_rows(tmp_path: Path) -> None:
    """What is skipped of a table stands in the report with its row and the reason."""
    path = table(tmp_path, f'id,text\na,"{cli.words(0, 30)}\nb,{cli.words(0, 30)}\nc,one, two\n')
    report = cli.answer("index", path, "--store", tmp_path / "store")

    assert (1, [{"path": f"{path}:1", "reason": UNCLOSED}, {"path": f"{path}:3", "reason": TOO_MANY}]) == (
        report["indexed"],
        report["skipped"],
    )


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\r\r\n"])
def test_lines_end_in_any_way(tmp_path: Path, end: str) -> None:
    """Also those of old Macs, and those that were converted twice."""
    assert {"a": f"one{end}two", "b": "three"} == found(tmp_path, end.join(["id,text", f'a,"one{end}two"', "b,three"]))


@pytest.mark.slow
def test_a_table_is_read_as_a_stream(tmp_path: Path) -> None:
    """A table of 20 MB takes less than 4 MB to read, in an encoding that shows itself only in its last row."""
    rows = "".join(f"{number},{'some words ' * 90}\n" for number in range(20_000))
    path = table(tmp_path, ("id,text\n" + rows + "last,schöne Größe für die Straße\n").encode("cp1252"))
    list(read_table(table(tmp_path, "id,text\na,ä\n".encode("cp1252"), "small.csv")))  # chardet's models are loaded
    tracemalloc.start()
    try:
        count, last = 0, None
        for each in read_table(path):
            count, last = count + 1, each
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert 20_001 == count
    assert Document("last", "schöne Größe für die Straße") == last
    assert peak < 4_000_000


def test_the_limit_of_pythons_own_reader_is_left_alone(tmp_path: Path) -> None:
    """Neither this thread nor another sees a changed limit, while a large cell is read and afterwards."""
    path = table(tmp_path, f'id,text\na,"{"word " * 100_000}"\nb,{"word " * 100_000}\n')
    before, seen = csv.field_size_limit(100_000), []
    try:
        for _ in read_table(path):
            thread = threading.Thread(target=lambda: seen.append(csv.field_size_limit()))
            thread.start()
            thread.join()
    finally:
        after = csv.field_size_limit(before)

    assert [100_000, 100_000, 100_000] == [*seen, after]


@pytest.mark.parametrize("quote", ["", '"'])
def test_a_row_over_the_limit_is_skipped(tmp_path: Path, quote: str) -> None:
    """A line that is too long costs itself, and is never whole in memory; one of the limit is read."""
    fits = "x" * (1000 - 3 - 2 * len(quote))
    data = f"id,text\na,{quote}{'x' * 5_000_000}{quote}\nb,{quote}{fits}{quote}\n"

    assert {"1": "the line is over the limit of 1,000 characters", "b": fits} == found(tmp_path, data, max_bytes=1000)


def test_a_quote_that_is_not_closed_within_the_limit_is_not_waited_for(tmp_path: Path) -> None:
    """Where the limit ends before the file does, the next line begins a row again."""
    texts = {f"n{number}": "words" for number in range(1000)}
    rows = "".join(f"{id},{text}\n" for id, text in texts.items())

    assert {"1": UNCLOSED, **texts} == found(tmp_path, f'id,text\nx,"y\n{rows}', max_bytes=500)


def test_the_limit_holds_for_named_tables(tmp_path: Path) -> None:
    """`max_bytes` of a corpus is the limit for each row of a table, not for the table."""
    path = table(tmp_path, f"id,text\na,{'x' * 200}\n" + "b,words\n" * 100)
    first, *others = read_corpus([path], max_bytes=100)

    assert Skipped(f"{path}:1", "the line is over the limit of 100 characters") == first
    assert [Document("b", "words")] * 100 == others


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b'{"id": "a", "text": "words"}\n', "holds JSON; give it a name that ends in .jsonl"),
        (b"id,text\na,\0\n", "is binary; name a text file with one row per line"),
        (b"id,text\n" + b"a,words\n" * 50_000 + b"b,\0\n" * 500, "is binary; name a text file with one row per line"),
        (b'id,"text\na,words\n', f"has no heading: {UNCLOSED}"),
        (b"id,text,id\na,words,b\n", "has the column 'id' more than once; give each column a name of its own"),
        (b"\n\r\n", "is empty; the first line of a table names the columns"),
        (b"", "is empty; the first line of a table names the columns"),
        (
            ",".join(f"c{number}" for number in range(10_000)).encode(),
            f"has no column 'id'; choose one of {', '.join(f'c{number}' for number in range(20))} and 9,980 more "
            "with --id-field",
        ),
        (b'"a\nb",c\n1,2\n', "has no column 'id'; choose one of a b, c with --id-field"),
    ],
)
def test_what_is_no_table_is_one_sentence(tmp_path: Path, data: bytes, reason: str) -> None:
    """The sentence says what is wrong with the whole, and stays short."""
    path = table(tmp_path, data)

    with pytest.raises(CorpusError) as error:
        list(read_table(path))
    assert f"{path} {reason}" == str(error.value)


@pytest.mark.parametrize(
    "heading",
    ["\ufeffid,text,n", "\ufeff\ufeffid,text,n", '\ufeff"id","text","n"', 'id,text,"n;;;;"', 'id,text,"n\n;;;;"'],
)
def test_headings_may_be_odd(tmp_path: Path, heading: str) -> None:
    """Byte order marks are no part of a name, and what stands in quotes is no delimiter."""
    assert {"a": "words; x"} == found(tmp_path, f"{heading}\na,words; x,1\n")


def test_columns_without_a_name_are_left_out(tmp_path: Path) -> None:
    """The numbers that some programs write before each row are no metadata; of two columns the last counts."""
    path = table(tmp_path, ",id,text,x,x,\n0,a,words,1,2,\n1,b,words,,3,4\n")

    assert [Document("a", "words", {"x": "2"}), Document("b", "words", {"x": "3"})] == list(read_table(path))


def test_a_table_may_have_10_000_columns(tmp_path: Path) -> None:
    """Each becomes metadata; cells in quotes cost no more than others."""
    names = ["id", "text", *(f"c{number}" for number in range(9_998))]
    rows = [",".join(["a", "words", *["1"] * 9_998]), ",".join(f'"{cell}"' for cell in ["b", "words", *["2"] * 9_998])]
    first, second = read_table(table(tmp_path, "\n".join([",".join(names), *rows])))

    assert isinstance(first, Document)
    assert isinstance(second, Document)
    assert (dict.fromkeys(names[2:], "1"), dict.fromkeys(names[2:], "2")) == (first.metadata, second.metadata)


def test_a_tab_separated_table_has_the_same_rules(tmp_path: Path) -> None:
    """In a `.tsv` file a comma is text, an unclosed quote costs one row, and so does a cell too many."""
    path = table(tmp_path, 'id\ttext\na\tone, two\nb\t"three\nc\tfour\tfive\nd\t"six\tseven"\n', "t.tsv")

    assert [
        Document("a", "one, two"),
        Skipped(f"{path}:2", UNCLOSED),
        Skipped(f"{path}:3", TOO_MANY.replace("','", repr("\t"))),
        Document("d", "six\tseven"),
    ] == list(read_table(path))


def linked(folder: Path, target: str, name: str) -> Path:
    (folder / name).symlink_to(target)
    return folder / name


@posix_only
@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.parquet"])
def test_special_files_are_no_tables(tmp_path: Path, name: str) -> None:
    """A pipe that nobody writes to, or a device without an end, is one sentence, and nothing is waited for."""
    reason = "is no file but a pipe, socket or device; write its rows to a file"
    (tmp_path / "pipe").mkdir()
    os.mkfifo(tmp_path / "pipe" / name)

    for path in (tmp_path / "pipe" / name, linked(tmp_path, "/dev/zero", name)):
        with pytest.raises(CorpusError) as error:
            list(read_table(path))
        assert f"{path} {reason}" == str(error.value)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no /proc")
@pytest.mark.parametrize("target", ["/proc/kmsg", "/proc/self/status"])
def test_files_of_the_system_are_no_tables(tmp_path: Path, target: str) -> None:
    """A file that has no size is empty, whatever could be read from it."""
    with pytest.raises(CorpusError, match=r"t\.csv (is empty|cannot be read)"):
        list(read_table(linked(tmp_path, target, "t.csv")))
