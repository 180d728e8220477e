"""The rows of Parquet files become documents. Only files that are bombs or damaged are skipped."""

from __future__ import annotations

import datetime
import decimal
import io
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from simdoc_search.corpus import Document, SkippedFile, read_corpus
from simdoc_search.corpus.tables import read_table
from simdoc_search.errors import CorpusError, DocumentError
from simdoc_search.workers import ItemLimits, iterate_in_subprocess
from tests.support import cli

MB = 1_000_000


def written(folder: Path, columns: dict[str, Any], **options: Any) -> Path:
    """Write a Parquet file with these columns."""
    parquet.write_table(pa.table(columns), folder / "t.parquet", write_statistics=False, **options)
    return folder / "t.parquet"


def read_with_peak(path: Path) -> tuple[list[Document | SkippedFile], int]:
    """Return the rows of a table, and the peak of Arrow's memory."""
    pool = pa.system_memory_pool()
    before = pa.default_memory_pool()
    pa.set_memory_pool(pool)
    try:
        already = pool.max_memory() or 0
        return list(read_table(path)), (pool.max_memory() or 0) - already
    finally:
        pa.set_memory_pool(before)


def texts_in(path: Path, **options: Any) -> list[str]:
    """Return the texts of the rows, and the reasons of skipped rows."""
    return [row.text if isinstance(row, Document) else row.reason for row in read_table(path, **options)]


# --- rows and values ---


def test_the_rows_of_all_row_groups_are_read_in_order(tmp_path: Path) -> None:
    path = written(tmp_path, {"id": list(range(1000)), "text": ["words"] * 1000}, row_group_size=300)

    assert [str(number) for number in range(1000)] == [row.id for row in read_table(path) if isinstance(row, Document)]


def test_a_row_without_a_document_is_skipped(tmp_path: Path) -> None:
    columns = {"id": ["1", "2", None, "4"], "text": ["words", None, "lost", "x" * 1001], "x": [None] * 4}
    path = written(tmp_path, columns)

    assert [
        Document("1", "words"),
        SkippedFile(f"{path}:2", "no 'text'"),
        SkippedFile(f"{path}:3", "no 'id'"),
        SkippedFile(f"{path}:4", "1,001 characters are over the limit of 1,000"),
    ] == list(read_table(path, max_bytes=1000))


@pytest.mark.parametrize(
    ("value", "metadata"),
    [
        (2020, {"x": 2020}),
        (0.5, {"x": 0.5}),
        (float("nan"), {"x": "nan"}),
        (float("inf"), {"x": "inf"}),
        (True, {"x": True}),
        (decimal.Decimal("9.90"), {"x": "9.90"}),
        (b"\0\xff", {"x": r"b'\x00\xff'"}),
        (datetime.date(2020, 2, 29), {"x": "2020-02-29"}),
        (datetime.datetime(2020, 2, 29, 12, 30), {"x": "2020-02-29 12:30:00"}),
        (pa.scalar(1_234_567_891, pa.timestamp("ns")), {"x": "1970-01-01 00:00:01.234567891"}),
        (pa.scalar(86_399_999_999_999, pa.time64("ns")), {"x": "23:59:59.999999999"}),
        (pa.scalar(10_000_000, pa.date32()), {"x": "29349-01-26"}),
        (["x", "y"], {"x": ["x", "y"]}),
        ([1, 2], {"x": "[1, 2]"}),
        ([datetime.date(2020, 2, 29)], {"x": ["2020-02-29"]}),
        ({"name": "Ann", "born": datetime.date(1970, 1, 2)}, {"x.name": "Ann", "x.born": "1970-01-02"}),
        ([{"on": datetime.date(2020, 2, 29)}], {"x": '[{"on": "2020-02-29"}]'}),
    ],
)
def test_values_become_what_json_can_express(tmp_path: Path, value: object, metadata: dict[str, Any]) -> None:
    column = pa.array([value])
    assert [Document("a", "words", metadata)] == list(
        read_table(written(tmp_path, {"id": ["a"], "text": ["words"], "x": column}))
    )


def test_versions_of_one_text_are_not_a_bomb(tmp_path: Path) -> None:
    """They are compressed to a fiftieth."""
    texts = [f"version {number} " + "some words of a licence that all of them share " * 200 for number in range(2000)]
    columns = {"id": [str(number) for number in range(2000)], "text": texts}

    assert texts == texts_in(written(tmp_path, columns, compression="zstd"))


# --- bombs ---


@pytest.mark.slow
def test_a_text_that_unpacks_to_a_thousand_times_its_size_is_not_read(tmp_path: Path) -> None:
    """The row group before it is read."""
    schema = pa.schema({"id": pa.string(), "text": pa.string()})
    path = tmp_path / "t.parquet"
    with parquet.ParquetWriter(path, schema, compression="zstd", use_dictionary=False) as writer:
        for id, text in [("a", "words"), ("b", "word " * 12_000_000)]:
            writer.write_table(pa.table({"id": [id], "text": [text]}, schema=schema))
    (before, bomb), peak = read_with_peak(path)

    assert Document("a", "words") == before
    assert isinstance(bomb, SkippedFile)
    assert f"{path}:2" == bomb.path
    assert re.fullmatch(r"the remaining rows were skipped: .* would unpack to 60,000,\d{3} bytes", bomb.reason)
    assert peak < 10 * MB


@pytest.mark.parametrize("value", [None, "a"])
def test_a_file_with_more_rows_than_bytes_is_not_read(tmp_path: Path, value: str | None) -> None:
    column = pa.repeat(pa.scalar(value, pa.string()), 2 * MB)
    path = written(tmp_path, {"id": column, "text": column})
    rows, peak = read_with_peak(path)

    assert [
        SkippedFile(f"{path}:1", f"the file is damaged: it claims 2,000,000 rows in {path.stat().st_size:,} bytes")
    ] == rows
    assert peak < 10 * MB


@pytest.mark.slow
def test_a_list_of_millions_in_one_row_is_stopped_by_the_limit_of_memory(tmp_path: Path) -> None:
    values = pa.ListArray.from_arrays(pa.array([0, 20 * MB], pa.int32()), pa.nulls(20 * MB, pa.string()))
    path = written(tmp_path, {"id": ["a"], "text": ["words"], "list": values})
    (tmp_path / "b.csv").write_text("id,text\nb,words\n", "utf-8")

    assert [SkippedFile(str(path), "needed more memory than 300 MB to read"), Document("b", "words")] == list(
        read_corpus([path, tmp_path / "b.csv"], limits=ItemLimits(60.0, 300 * MB))
    )


@pytest.mark.slow
def test_a_large_text_in_many_rows_is_not_in_memory_for_each(tmp_path: Path) -> None:
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * 200, pa.int32()), ["word " * 400_000])
    columns = {"id": [str(number) for number in range(200)], "text": texts}
    rows, peak = read_with_peak(written(tmp_path, columns, store_schema=False))

    assert [str(number) for number in range(200)] == [row.id for row in rows if isinstance(row, Document)]
    assert peak < 200 * MB


# --- damage ---


@pytest.mark.parametrize("data", [b"PAR1", b"PAR1 and no more PAR1", b"id,text\na,b\n"])
def test_a_file_that_is_not_parquet_is_refused_with_one_sentence(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "t.parquet").write_bytes(data)

    with pytest.raises(CorpusError, match=r"t\.parquet cannot be read as Parquet \([^\n]+\); check the file$"):
        list(read_table(tmp_path / "t.parquet"))


def test_two_id_columns_are_refused(tmp_path: Path) -> None:
    table = pa.Table.from_arrays([pa.array(["a"])] * 3, names=["id", "text", "id"])
    parquet.write_table(table, tmp_path / "t.parquet")

    with pytest.raises(CorpusError, match="has several columns named 'id'; give each column a different name"):
        list(read_table(tmp_path / "t.parquet"))


def test_rows_before_damage_are_read(tmp_path: Path) -> None:
    columns = {"id": [str(number) for number in range(600)], "text": ["some words"] * 600}
    path = written(tmp_path, columns, row_group_size=300)
    second = parquet.ParquetFile(path).metadata.row_group(1).column(0)
    start = second.dictionary_page_offset or second.data_page_offset
    data = path.read_bytes()
    path.write_bytes(data[:start] + bytes(second.total_compressed_size) + data[start + second.total_compressed_size :])
    *before, last = read_table(path)

    assert [str(number) for number in range(len(before))] == [row.id for row in before if isinstance(row, Document)]
    assert 256 <= len(before) <= 300
    assert isinstance(last, SkippedFile)
    assert f"{path}:{len(before) + 1}" == last.path
    assert re.fullmatch(r"the rest of the file cannot be read: [^\n]+", last.reason)


def damaged(seed: int) -> bytes:
    """A Parquet file with some changed bytes, mostly in its metadata, or truncated."""
    chance = random.Random(seed)
    options: dict[str, Any] = chance.choice(
        [
            {"compression": "none", "use_dictionary": False},
            {"compression": "snappy"},
            {"compression": "zstd", "row_group_size": 100},
            {"compression": "gzip", "data_page_version": "2.0"},
            {"use_dictionary": False, "column_encoding": {"text": "DELTA_BYTE_ARRAY", "id": "DELTA_LENGTH_BYTE_ARRAY"}},
        ]
    )
    buffer = io.BytesIO()
    ids = [str(number) for number in range(300)]
    columns = {"id": ids, "text": [f"some words {id}" for id in ids], "tags": [["a", "b"]] * 300}
    parquet.write_table(pa.table(columns), buffer, **options)
    data = bytearray(buffer.getvalue())
    if chance.random() < 0.1:
        return bytes(data[: chance.randrange(len(data))])
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    begin = footer if chance.random() < 0.6 else 0
    for _ in range(chance.choice([1, 1, 2, 4, 16])):
        at = chance.randrange(begin, len(data))
        data[at] = chance.choice([chance.randrange(256), data[at] ^ (1 << chance.randrange(8)), 255, 0, 127])
    return bytes(data)


def messages_of_damaged(folder: str, seeds: range) -> Iterator[list[str]]:
    """Return the reasons of skips or the error message of each damaged file."""
    path = Path(folder) / "t.parquet"
    for seed in seeds:
        path.write_bytes(damaged(seed))
        try:
            yield [row.reason for row in read_table(path) if isinstance(row, SkippedFile)]
        except CorpusError as error:
            yield [str(error)]


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [range(30), range(30, 230)])
def test_a_damaged_file_is_read_skipped_or_refused_with_one_sentence(tmp_path: Path, seeds: range) -> None:
    """Some damage crashes pyarrow. Parquet is therefore read in a subprocess."""
    messages: list[list[str]] = []
    crashed = 0
    for start in range(0, len(seeds), 50):
        try:
            messages += list(iterate_in_subprocess(messages_of_damaged, str(tmp_path), seeds[start : start + 50]))
        except DocumentError:
            crashed += 1

    assert crashed < 2
    assert len(seeds) <= len(messages) + 50 * crashed
    assert [] == [line for lines in messages for line in lines if not line.isprintable() or len(line) > 500]
    assert sum(map(bool, messages)) > len(messages) // 4


@pytest.mark.parametrize("broken", ["name", "text"])
def test_bytes_that_are_not_utf8_are_reported(tmp_path: Path, broken: str) -> None:
    texts = pa.array([b"\xff\xfe" if broken == "text" else b"words"]).view(pa.string())
    path = written(tmp_path, {"id": ["a"], "text": texts, "zzzz": ["x"]}, store_schema=False)
    if broken == "name":
        path.write_bytes(path.read_bytes().replace(b"zzzz", b"zz\xff\xfe"))
        with pytest.raises(CorpusError, match=r"cannot be read as Parquet \([^\n]*utf-8[^\n]*\); check the file"):
            list(read_table(path))
    else:
        (reason,) = texts_in(path)
        assert re.fullmatch(r"the rest of the file cannot be read: [^\n]+", reason)


@pytest.mark.slow
def test_without_pyarrow_one_sentence_says_what_to_install(tmp_path: Path) -> None:
    written(tmp_path, {"id": ["a"], "text": ["words"]})
    cli.write(tmp_path / "hidden", {"pyarrow.py": "raise ModuleNotFoundError('none', name='pyarrow')"})
    done = cli.process("index", "t.parquet", cwd=tmp_path, PYTHONPATH=str(tmp_path / "hidden"))

    assert (
        1,
        "Error: a Parquet file needs optional packages; install them with: pip install 'simdoc-search[datasets]'\n",
    ) == (
        done.returncode,
        done.stderr,
    )
