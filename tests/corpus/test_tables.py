"""The rows of CSV and Parquet tables become documents."""

from __future__ import annotations

import datetime
import decimal
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from simdoc_search.corpus import Document, Skipped, read_corpus
from simdoc_search.corpus.tables import read_table
from simdoc_search.documents import MetadataValue
from simdoc_search.errors import CorpusError
from tests.support import cli


def rows(folder: Path, name: str, data: str | bytes, **fields: Any) -> list[Document | Skipped]:
    """What a file with this name and content holds; the paths of what is skipped are below the folder."""
    found = read_table(cli.write(folder, {name: data}) / name, **fields)
    return [
        Skipped(each.path.removeprefix(f"{folder}/"), each.reason) if isinstance(each, Skipped) else each
        for each in found
    ]


def written(folder: Path, **columns: Any) -> Path:
    """A Parquet file of these columns."""
    parquet.write_table(pa.table(columns), folder / "t.parquet")
    return folder / "t.parquet"


def test_a_row_is_a_document(tmp_path: Path) -> None:
    """The columns `id` and `text` make it, the others are its metadata, as text; where they stand does not matter."""
    data = "year,text,id,place\n2020,some words,a,Oslo\n2021,other words,b,\n"

    assert [
        Document("a", "some words", {"year": "2020", "place": "Oslo"}),
        Document("b", "other words", {"year": "2021"}),
    ] == rows(tmp_path, "t.csv", data)


def test_quoted_fields_hold_anything(tmp_path: Path) -> None:
    """Delimiters, line breaks and doubled quotes are part of a quoted field."""
    data = 'id,text\r\na,"one, two"\r\nb,"first\nsecond\r\n\r\nthird"\r\nc,"he said ""no"""\r\n'

    assert [
        Document("a", "one, two"),
        Document("b", "first\nsecond\r\n\r\nthird"),
        Document("c", 'he said "no"'),
    ] == rows(tmp_path, "t.csv", data)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_the_one_of_the_heading(tmp_path: Path, delimiter: str) -> None:
    """What separates the names of the columns separates all fields, however often another sign is in them."""
    text = "x, y; z, u; v\t w | x"
    data = f'id{delimiter}text{delimiter}note\na{delimiter}"{text}"{delimiter}n\n'

    assert [Document("a", text, {"note": "n"})] == rows(tmp_path, "t.csv", data)


def test_tsv_is_separated_by_tabs(tmp_path: Path) -> None:
    """In a `.tsv` file other signs are never delimiters, not even in the heading."""
    assert [Document("a", "x", {"b,c,d": "y,z"})] == rows(tmp_path, "t.tsv", "id\ttext\tb,c,d\na\tx\ty,z\n")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_any_encoding_is_read(tmp_path: Path, encoding: str) -> None:
    """A byte order mark is no part of the first column; a table of Excel may be older than Unicode."""
    data = "id;text\nä;Die Straße führt über die Brücke – „schön“ für Fußgänger\n".encode(encoding)

    assert [Document("ä", "Die Straße führt über die Brücke – „schön“ für Fußgänger")] == rows(tmp_path, "t.csv", data)


def test_rows_without_a_document_are_skipped_by_number(tmp_path: Path) -> None:
    """An empty id or text, or a row that is too short, costs that row only; the first row of data is row 1."""
    data = "id,text\n,words\na,\nb\nc,words,,\n" + "x" * 513 + ",words\n"

    assert [
        Skipped("t.csv:1", "no 'id'"),
        Skipped("t.csv:2", "no 'text'"),
        Skipped("t.csv:3", "no 'text'"),
        Document("c", "words"),
        Skipped("t.csv:5", f"the id {'x' * 40!r}… is 513 bytes long; the limit is 512"),
    ] == rows(tmp_path, "t.csv", data)


def test_a_field_may_be_large(tmp_path: Path) -> None:
    """A text of more than the 128 KiB that Python's reader takes by itself is read."""
    assert [Document("a", "word " * 100_000)] == rows(tmp_path, "t.csv", f"id,text\na,{'word ' * 100_000}\n")


@pytest.mark.parametrize("data", ["id,text", "id,text\n", "id,text\r\n\r\n\n"])
def test_a_table_may_have_no_rows(tmp_path: Path, data: str) -> None:
    """A heading alone is a table, and blank lines are no rows."""
    assert [] == rows(tmp_path, "t.csv", data)


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_a_missing_column_is_an_error_that_lists_what_there_is(tmp_path: Path, name: str) -> None:
    """The sentence names the columns of the table and the option that chooses."""
    cli.write(tmp_path, {"t.csv": "nr,text,body\n1,a,b\n"})
    written(tmp_path, nr=["1"], text=["a"], body=["b"])
    path = tmp_path / name

    with pytest.raises(CorpusError) as without_id:
        list(read_table(path))
    with pytest.raises(CorpusError) as without_text:
        list(read_table(path, id_field="nr", text_field="content"))

    assert f"{path} has no column 'id'; choose one of nr, text, body with --id-field" == str(without_id.value)
    assert f"{path} has no column 'content'; choose one of nr, text, body with --text-field" == str(without_text.value)


def test_a_binary_file_is_no_csv(tmp_path: Path) -> None:
    """A named table that is no text is an error, as nothing of it can be read."""
    with pytest.raises(CorpusError, match=r"t\.csv is binary; name a text file with one row per line"):
        rows(tmp_path, "t.csv", b"\0\1\2\3")


def test_an_empty_file_has_no_columns(tmp_path: Path) -> None:
    """A table of nothing is an error that says what is missing."""
    with pytest.raises(CorpusError, match=r"t\.csv is empty; the first line of a table names the columns"):
        rows(tmp_path, "t.csv", b"")


def test_parquet_rows_are_documents(tmp_path: Path) -> None:
    """Numbers may be ids; a null or an empty text field has no text, other nulls are no metadata."""
    path = written(tmp_path, id=[1, 2, None], text=["some words", None, "lost"], year=[2020, 2021, 2022], x=[None] * 3)

    assert [
        Document("1", "some words", {"year": 2020}),
        Skipped(f"{path}:2", "no 'text'"),
        Skipped(f"{path}:3", "no 'id'"),
    ] == list(read_table(path))


def test_parquet_values_become_what_json_could_have(tmp_path: Path) -> None:
    """Dates, decimals and bytes become text; lists of texts stay, other lists become text, structures are flattened."""
    path = written(
        tmp_path,
        id=["a"],
        text=["words"],
        day=[datetime.date(2020, 2, 29)],
        at=[datetime.datetime(2020, 2, 29, 12, 30)],
        price=[decimal.Decimal("9.90")],
        raw=[b"\0\xff"],
        share=[0.5],
        done=[True],
        tags=[["x", "y"]],
        counts=[[1, 2]],
        author=[{"name": "Ann", "born": 1970}],
    )
    metadata: dict[str, MetadataValue] = {
        "day": "2020-02-29",
        "at": "2020-02-29 12:30:00",
        "price": "9.90",
        "raw": r"b'\x00\xff'",
        "share": 0.5,
        "done": True,
        "tags": ["x", "y"],
        "counts": "[1, 2]",
        "author.name": "Ann",
        "author.born": 1970,
    }

    assert [Document("a", "words", metadata)] == list(read_table(path))


@pytest.mark.parametrize(
    ("value", "metadata"),
    [
        ([datetime.date(2020, 2, 29)], {"x": ["2020-02-29"]}),
        ({"on": datetime.date(2020, 2, 29)}, {"x.on": "2020-02-29"}),
        ([{"on": datetime.date(2020, 2, 29)}], {"x": '[{"on": "2020-02-29"}]'}),
        ([b"y"], {"x": ["b'y'"]}),
    ],
)
def test_parquet_values_within_others_become_text_too(
    tmp_path: Path, value: object, metadata: dict[str, MetadataValue]
) -> None:
    """A date or bytes within a list or a structure are text as well."""
    assert [Document("a", "words", metadata)] == list(
        read_table(written(tmp_path, id=["a"], text=["words"], x=[value]))
    )


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_parquet_numbers_that_json_lacks_become_text(tmp_path: Path, number: float) -> None:
    """What is no number in JSON is text, so that `--json` stays JSON."""
    (found,) = read_table(written(tmp_path, id=["a"], text=["words"], share=[number]))

    assert Document("a", "words", {"share": str(number)}) == found


def test_parquet_text_that_is_not_utf8_ends_the_reading(tmp_path: Path) -> None:
    """Bytes that pass for text and are none are one skip, as where a JSONL archive breaks."""
    broken = pa.array([b"\xff\xfe"]).view(pa.string())
    path = written(tmp_path, id=["a"], text=broken)
    (found,) = read_table(path)

    assert isinstance(found, Skipped)
    assert f"{path}:1" == found.path
    assert re.fullmatch(r"the rest cannot be read: [^\n]+", found.reason)


def test_parquet_of_many_rows_is_read_in_order(tmp_path: Path) -> None:
    """Rows come in their order, over all batches and row groups."""
    table = pa.table({"id": list(range(1000)), "text": ["words"] * 1000})
    parquet.write_table(table, tmp_path / "t.parquet", row_group_size=300)

    assert [str(number) for number in range(1000)] == [
        each.id for each in read_table(tmp_path / "t.parquet") if isinstance(each, Document)
    ]


@pytest.mark.parametrize("data", [b"PAR1", b"PAR1 and no more PAR1", b"id,text\na,b\n"])
def test_broken_parquet_is_an_error(tmp_path: Path, data: bytes) -> None:
    """A named Parquet file that is none is one sentence."""
    with pytest.raises(CorpusError, match=r"t\.parquet cannot be read as Parquet \([^\n]+\); check the file$"):
        rows(tmp_path, "t.parquet", data)


def test_parquet_broken_within_keeps_what_came_before(tmp_path: Path) -> None:
    """Where the pages of a Parquet file break, the rest is one skip; the rows before it are documents."""
    path = tmp_path / "t.parquet"
    table = pa.table({"id": [str(number) for number in range(600)], "text": ["some words"] * 600})
    parquet.write_table(table, path, row_group_size=300)
    second = parquet.ParquetFile(path).metadata.row_group(1).column(0)
    start = second.dictionary_page_offset or second.data_page_offset
    data = path.read_bytes()
    path.write_bytes(data[:start] + bytes(second.total_compressed_size) + data[start + second.total_compressed_size :])
    *before, last = read_table(path)

    assert [str(number) for number in range(len(before))] == [each.id for each in before if isinstance(each, Document)]
    assert 256 <= len(before) <= 300
    assert isinstance(last, Skipped)
    assert f"{path}:{len(before) + 1}" == last.path
    assert re.fullmatch(r"the rest cannot be read: [^\n]+", last.reason)


def test_named_tables_hold_rows_and_those_in_folders_are_text(tmp_path: Path) -> None:
    """A CSV file in a folder is one text like any other; its ending is read in either case."""
    cli.write(tmp_path, {"T.CSV": "id,text\na,words\n"})

    assert [Document("a", "words")] == list(read_corpus([tmp_path / "T.CSV"]))
    assert ["T.CSV"] == [each.id for each in read_corpus([tmp_path]) if not isinstance(each, Skipped)]


def test_the_command_indexes_a_table(tmp_path: Path) -> None:
    """`--id-field` and `--text-field` choose the columns; what is skipped is listed."""
    data = f"nr,body,year\n1,{cli.words(0, 50)},2020\n2,{cli.words(0, 50)},2021\n,lost,2022\n"
    path = cli.write(tmp_path, {"data.csv": data}) / "data.csv"
    store = ("--store", tmp_path / "store")
    report = cli.answer("index", path, "--id-field", "nr", "--text-field", "body", *store)
    found = cli.answer("similar", "1_80", *store)

    assert (2, [{"path": f"{path}:3", "reason": "no 'nr'"}]) == (report["indexed"], report["skipped"])
    assert ["2"] == [hit["id"] for hit in found["hits"]]


def test_the_command_says_which_columns_there_are(tmp_path: Path) -> None:
    """A missing column is one sentence, and no store is made."""
    path = cli.write(tmp_path, {"data.csv": "nr,body\n1,words\n"}) / "data.csv"
    result = cli.run("index", path, "--store", tmp_path / "store")

    assert f"{path} has no column 'id'; choose one of nr, body with --id-field" == cli.sentence(result)
    assert not (tmp_path / "store").exists()


def test_without_the_extra_parquet_is_one_sentence(tmp_path: Path) -> None:
    """Where pyarrow is not installed, a named Parquet file is an error with the line that installs it."""
    written(tmp_path, id=["a"], text=["words"])
    cli.write(tmp_path / "hidden", {"pyarrow.py": "raise ModuleNotFoundError('none', name='pyarrow')"})
    ran = cli.process("index", "t.parquet", cwd=tmp_path, PYTHONPATH=str(tmp_path / "hidden"))

    assert (1, "Error: a Parquet file needs an optional part: pip install 'simdoc-search[documents]'\n") == (
        ran.returncode,
        ran.stderr,
    )
