"""CSV files are read as streams, even if they have unclosed quotes, delimiters in texts or unusual headings."""

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

from simdoc_search.corpus import Document, SkippedFile, read_corpus
from simdoc_search.corpus.csv_rows import BadRow, read_rows
from simdoc_search.corpus.tables import read_table
from simdoc_search.errors import CorpusError
from tests.support import cli

UNCLOSED = "a quote is not closed; close it, and double each quote inside a cell"
TOO_MANY = "more cells than columns (2); quote each text that contains ','"

posix_only = pytest.mark.skipif(os.name != "posix", reason="Windows has no such files")


def table(folder: Path, data: str | bytes, name: str = "t.csv") -> Path:
    return cli.write(folder, {name: data}) / name


def texts_of(folder: Path, data: str | bytes, *, max_bytes: int = 1_000_000) -> dict[str, str]:
    """Return the texts of a table by id, and the reasons of skipped rows by number."""
    read = read_table(table(folder, data), max_bytes=max_bytes)
    return dict(
        (document.path.rpartition(":")[2], document.reason)
        if isinstance(document, SkippedFile)
        else (document.id, document.text)
        for document in read
    )


UNWRITABLE = "" if sys.version_info >= (3, 11) else "\0"
"""Characters that Python's writer of CSV cannot write."""


def cells(data: str, limit: int = 1_000_000) -> list[list[str] | str]:
    """Return the rows of a CSV text, with the heading. A bad row is represented by the reason."""
    return [
        row.reason if isinstance(row, BadRow) else row
        for row in read_rows(io.StringIO(data, newline=""), delimiter=",", max_characters=limit)
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
def test_csv_from_pythons_writer_is_read_unchanged(rows: list[list[str]], quote_all: bool) -> None:
    written = io.StringIO(newline="")
    csv.writer(written, quoting=csv.QUOTE_ALL if quote_all else csv.QUOTE_MINIMAL).writerows([["a", "b", "c"], *rows])

    assert [["a", "b", "c"], *rows] == cells(written.getvalue())


@pytest.mark.parametrize("quoted", ["{}", '"{}"'])
def test_an_unclosed_quote_loses_one_row_of_1000(tmp_path: Path, quoted: str) -> None:
    rows = [f"{number}," + quoted.format(f"the text of {number}") for number in range(1, 1001)]
    rows[5] = '6,"the text of 6'
    expected = {str(number): f"the text of {number}" for number in range(1, 1001)}

    assert {**expected, "6": UNCLOSED} == texts_of(tmp_path, "id,text\n" + "\n".join(rows) + "\n")


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        pytest.param(
            'a,"one\nb,"two\nc,three\n"d,four\ne,"fi""ve"\nf,"six\n',
            {"1": UNCLOSED, "2": UNCLOSED, "c": "three", "4": UNCLOSED, "e": 'fi"ve', "6": UNCLOSED},
            id="several unclosed quotes",
        ),
        pytest.param(
            '1,"one"," of\n2,two\n3," of\n4,four\n',
            {"1": TOO_MANY, "2": "two", "3": UNCLOSED, "4": "four"},
            id="quotes that happen to be closed in a later line",
        ),
        pytest.param(
            'a,"he said "no" twice"\nb,"first\nhe said "no"\nlast"\nc,a 5" disk\n',
            {"a": 'he said no" twice"', "2": UNCLOSED, "3": "no 'text'", "4": "no 'text'", "c": 'a 5" disk'},
            id="quotes that are not doubled",
        ),
        pytest.param(
            "a,one, two and three\nb,four,,\nc,five\n",
            {"1": TOO_MANY, "b": "four", "c": "five"},
            id="a delimiter in a text without quotes",
        ),
        pytest.param(
            ",words\na,\nb\nc,words,,\n" + "x" * 513 + ",words\n",
            {
                "1": "no 'id'",
                "2": "no 'text'",
                "3": "no 'text'",
                "c": "words",
                "5": f"the id {'x' * 40!r}… is 513 bytes long; the limit is 512",
            },
            id="missing cells",
        ),
        pytest.param(
            'a,"one, two"\nb,"first\nsecond\r\n\r\nthird"\nc,"he said ""no"""\n',
            {"a": "one, two", "b": "first\nsecond\r\n\r\nthird", "c": 'he said "no"'},
            id="valid quotes",
        ),
        pytest.param(f"a,{'word ' * 100_000}\n", {"a": "word " * 100_000}, id="a long text"),
        pytest.param("\r\n\n", {}, id="no rows"),
    ],
)
def test_only_the_bad_row_is_skipped(tmp_path: Path, rows: str, expected: dict[str, str]) -> None:
    assert expected == texts_of(tmp_path, f"id,text\n{rows}")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\r\r\n"])
def test_lines_may_end_in_any_way(tmp_path: Path, end: str) -> None:
    assert {"a": f"one{end}two", "b": "three"} == texts_of(
        tmp_path, end.join(["id,text", f'a,"one{end}two"', "b,three"])
    )


@pytest.mark.slow
def test_a_table_is_read_as_a_stream(tmp_path: Path) -> None:
    rows = "".join(f"{number},{'some words ' * 90}\n" for number in range(20_000))
    path = table(tmp_path, ("id,text\n" + rows + "last,schöne Größe für die Straße\n").encode("cp1252"))
    list(read_table(table(tmp_path, "id,text\na,ä\n".encode("cp1252"), "small.csv")))  # chardet's models are loaded
    tracemalloc.start()
    try:
        count, last = 0, None
        for row in read_table(path):
            count, last = count + 1, row
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert 20_001 == count
    assert Document("last", "schöne Größe für die Straße") == last
    assert peak < 4_000_000


def test_the_limit_of_the_csv_module_is_not_changed(tmp_path: Path) -> None:
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
    fits = "x" * (1000 - 3 - 2 * len(quote))
    data = f"id,text\na,{quote}{'x' * 5_000_000}{quote}\nb,{quote}{fits}{quote}\n"

    assert {"1": "the line is over the limit of 1,000 characters", "b": fits} == texts_of(
        tmp_path, data, max_bytes=1000
    )


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b'{"id": "a", "text": "words"}\n', "contains JSON; change the extension of the file to .jsonl"),
        (b"id,text\na,\0\n", "is binary; give a text file with one row per line"),
        (b'id,"text\na,words\n', f"has no valid header row: {UNCLOSED}"),
        (b"id,text,id\na,words,b\n", "has several columns named 'id'; give each column a different name"),
        (b"\n\r\n", "is empty; its first line must contain the column names"),
        (b"", "is empty; its first line must contain the column names"),
        (
            ",".join(f"c{number}" for number in range(10_000)).encode(),
            f"has no column 'id'; choose one of {', '.join(f'c{number}' for number in range(20))} and 9,980 more "
            "with --id-field",
        ),
        (b'"a\nb",c\n1,2\n', "has no column 'id'; choose one of a b, c with --id-field"),
    ],
)
def test_a_file_that_is_not_a_table_is_refused_with_one_sentence(tmp_path: Path, data: bytes, reason: str) -> None:
    path = table(tmp_path, data)

    with pytest.raises(CorpusError) as error:
        list(read_table(path))
    assert f"{path} {reason}" == str(error.value)


def test_a_tab_separated_table_has_the_same_rules(tmp_path: Path) -> None:
    path = table(tmp_path, 'id\ttext\na\tone, two\nb\t"three\nc\tfour\tfive\nd\t"six\tseven"\n', "t.tsv")

    assert [
        Document("a", "one, two"),
        SkippedFile(f"{path}:2", UNCLOSED),
        SkippedFile(f"{path}:3", TOO_MANY.replace("','", repr("\t"))),
        Document("d", "six\tseven"),
    ] == list(read_table(path))


@pytest.mark.parametrize(
    "heading",
    ["\ufeffid,text,n", "\ufeff\ufeffid,text,n", '\ufeff"id","text","n"', 'id,text,"n;;;;"', 'id,text,"n\n;;;;"'],
)
def test_byte_order_marks_and_quotes_do_not_change_a_heading(tmp_path: Path, heading: str) -> None:
    assert {"a": "words; x"} == texts_of(tmp_path, f"{heading}\na,words; x,1\n")


def test_other_columns_with_a_name_become_metadata(tmp_path: Path) -> None:
    path = table(tmp_path, "year,text,,id,place,place\n2020,some words,0,a,x,Oslo\n2021,other words,1,b,y,\n")

    assert [
        Document("a", "some words", {"year": "2020", "place": "Oslo"}),
        Document("b", "other words", {"year": "2021"}),
    ] == list(read_table(path))


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_heading_determines_the_delimiter(tmp_path: Path, delimiter: str) -> None:
    text = "x, y; z, u; v\t w | x"
    data = f'id{delimiter}text{delimiter}note\na{delimiter}"{text}"{delimiter}n\n'

    assert [Document("a", text, {"note": "n"})] == list(read_table(table(tmp_path, data)))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_a_table_can_have_any_encoding(tmp_path: Path, encoding: str) -> None:
    text = "Die Straße führt über die Brücke – „schön“ für Fußgänger"

    assert {"ä": text} == texts_of(tmp_path, f"id;text\nä;{text}\n".encode(encoding))


def test_a_table_in_a_folder_is_one_document(tmp_path: Path) -> None:
    path = table(tmp_path, f"id,text\na,{'x' * 200}\nb,words\n", "T.CSV")

    assert [SkippedFile(f"{path}:1", "the line is over the limit of 100 characters"), Document("b", "words")] == list(
        read_corpus([path], max_bytes=100)
    )
    assert ["T.CSV"] == [source.id for source in read_corpus([tmp_path]) if not isinstance(source, SkippedFile)]


def test_the_command_indexes_a_table(tmp_path: Path) -> None:
    rows = f'1,{cli.words(0, 50)},2020\n2,{cli.words(0, 50)},2021\n,lost,2022\n3,"broken,2023\n'
    path = table(tmp_path, f"nr,body,year\n{rows}")
    store = ("--store", tmp_path / "store")
    report = cli.answer("index", path, "--id-field", "nr", "--text-field", "body", *store)

    assert 2 == report["added_count"]
    assert [{"path": f"{path}:3", "reason": "no 'nr'"}, {"path": f"{path}:4", "reason": UNCLOSED}] == report["skipped"]
    assert ["2"] == [hit["id"] for hit in cli.answer("similar", "1_80", *store)["hits"]]


def test_a_missing_column_is_reported_and_no_store_is_created(tmp_path: Path) -> None:
    path = table(tmp_path, "nr,text,body\n1,a,b\n")
    store = ("--store", tmp_path / "store")
    without_id = cli.run("index", path, *store)
    without_text = cli.run("index", path, *store, "--id-field", "nr", "--text-field", "content")

    assert f"{path} has no column 'id'; choose one of nr, text, body with --id-field" == cli.sentence(without_id)
    assert f"{path} has no column 'content'; choose one of nr, text, body with --text-field" == (
        cli.sentence(without_text)
    )
    assert not (tmp_path / "store").exists()
