"""Parquet as it must not be met: bombs, damage, names and times that nothing else knows."""

from __future__ import annotations

import datetime
import io
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from simdoc_search.corpus import Document, Skipped, read_corpus
from simdoc_search.corpus.tables import read_table
from simdoc_search.errors import CorpusError, DocumentError
from simdoc_search.workers import ItemLimits, iterate_in_subprocess
from tests.support.often import first

MB = 1_000_000


def written(folder: Path, columns: dict[str, Any], **options: Any) -> Path:
    parquet.write_table(pa.table(columns), folder / "t.parquet", write_statistics=False, **options)
    return folder / "t.parquet"


def peak_of(path: Path) -> tuple[list[Document | Skipped], int]:
    """What a table holds, and how much memory Arrow had at most while it was read."""
    pool = pa.system_memory_pool()
    before = pa.default_memory_pool()
    pa.set_memory_pool(pool)
    try:
        already = pool.max_memory() or 0
        return list(read_table(path)), (pool.max_memory() or 0) - already
    finally:
        pa.set_memory_pool(before)


def one_reason(path: Path) -> tuple[str, int]:
    (found,), peak = peak_of(path)

    assert isinstance(found, Skipped)
    assert f"{path}:1" == found.path
    return found.reason, peak


def test_a_text_that_unpacks_to_a_thousand_times_its_size_is_not_read(tmp_path: Path) -> None:
    """A file of some kB with one text of 60 MB is named with both sizes, and unpacked not at all."""
    path = written(tmp_path, {"id": ["a"], "text": ["word " * 12_000_000]}, compression="zstd", use_dictionary=False)
    reason, peak = one_reason(path)

    assert path.stat().st_size < 100_000
    assert re.fullmatch(r"the rest is not read: [\d,]+ bytes would unpack to 60,000,\d{3}", reason)
    assert peak < 10 * MB


@pytest.mark.parametrize("columns", [{"id": None, "text": None}, {"id": "a", "text": "words"}])
def test_more_rows_than_bytes_are_not_read(tmp_path: Path, columns: dict[str, str | None]) -> None:
    """Millions of equal rows in some kilobytes are no documents; there is one reason, not one for each."""
    path = written(
        tmp_path, {name: pa.repeat(pa.scalar(value, pa.string()), 2 * MB) for name, value in columns.items()}
    )
    reason, peak = one_reason(path)

    assert f"not read: 2,000,000 rows are said to be in {path.stat().st_size:,} bytes" == reason
    assert peak < 10 * MB


@pytest.mark.slow
def test_a_list_of_millions_in_one_row_costs_only_its_table(tmp_path: Path) -> None:
    """What the metadata do not show is stopped by the limit of the process that reads it."""
    values = pa.ListArray.from_arrays(pa.array([0, 20 * MB], pa.int32()), pa.nulls(20 * MB, pa.string()))
    path = written(tmp_path, {"id": ["a"], "text": ["words"], "list": values})
    (tmp_path / "b.csv").write_text("id,text\nb,words\n", "utf-8")

    assert path.stat().st_size < 2000
    assert [Skipped(str(path), "needed more memory than 300 MB to read"), Document("b", "words")] == list(
        read_corpus([path, tmp_path / "b.csv"], limits=ItemLimits(60.0, 300 * MB))
    )


@pytest.mark.slow
def test_a_large_text_in_many_rows_is_not_in_memory_for_each(tmp_path: Path) -> None:
    """A text of 2 MB that 200 rows share is read a few rows at a time."""
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * 200, pa.int32()), ["word " * 400_000])
    columns = {"id": [str(number) for number in range(200)], "text": texts}
    found, peak = peak_of(written(tmp_path, columns, store_schema=False))

    assert [str(number) for number in range(200)] == [each.id for each in found if isinstance(each, Document)]
    assert peak < 200 * MB


@pytest.mark.slow
def test_groups_before_a_bomb_are_read(tmp_path: Path) -> None:
    """A group of rows is judged when its turn comes."""
    schema = pa.schema({"id": pa.string(), "text": pa.string()})
    path = tmp_path / "t.parquet"
    with parquet.ParquetWriter(path, schema, compression="zstd", use_dictionary=False) as writer:
        for id, text in [("a", "words"), ("b", "word " * 12_000_000)]:
            writer.write_table(pa.table({"id": [id], "text": [text]}, schema=schema))
    first, second = read_table(path)

    assert Document("a", "words") == first
    assert isinstance(second, Skipped)
    assert f"{path}:2" == second.path


def test_texts_that_pack_well_are_read(tmp_path: Path) -> None:
    """Versions of one text, which pack to a fiftieth, are no bomb."""
    texts = [f"version {number} " + "some words of a licence that all of them share " * 200 for number in range(2000)]
    path = written(tmp_path, {"id": [str(number) for number in range(2000)], "text": texts}, compression="zstd")

    assert texts == [each.text for each in read_table(path) if isinstance(each, Document)]


def test_a_text_over_the_limit_is_skipped(tmp_path: Path) -> None:
    """The other rows are documents."""
    path = written(tmp_path, {"id": ["a", "b", "c"], "text": ["words", "x" * 1001, "x" * 1000]})

    assert [
        Document("a", "words"),
        Skipped(f"{path}:2", "1,001 characters are over the limit of 1,000"),
        Document("c", "x" * 1000),
    ] == list(read_table(path, max_bytes=1000))


@pytest.mark.parametrize(
    ("values", "text"),
    [
        (pa.array([1_234_567_891], pa.timestamp("ns")), "1970-01-01 00:00:01.234567891"),
        (pa.array([86_399_999_999_999], pa.time64("ns")), "23:59:59.999999999"),
        (pa.array([10_000_000], pa.date32()), "29349-01-26"),
        (pa.array([datetime.date(2020, 2, 29)]), "2020-02-29"),
    ],
)
def test_times_that_python_lacks_are_text(tmp_path: Path, values: pa.Array, text: str) -> None:
    """Nanoseconds, as pandas writes them, and years beyond 9999 cost no row."""
    path = written(tmp_path, {"id": ["a"], "text": ["words"], "at": values})

    assert [Document("a", "words", {"at": text})] == list(read_table(path))


def test_two_columns_of_the_id_are_refused(tmp_path: Path) -> None:
    """Which of them would count could not be said."""
    table = pa.Table.from_arrays([pa.array(["a"])] * 3, names=["id", "text", "id"])
    parquet.write_table(table, tmp_path / "t.parquet")

    with pytest.raises(CorpusError, match="has the column 'id' more than once; give each column a name of its own"):
        list(read_table(tmp_path / "t.parquet"))


def test_an_empty_file_is_no_parquet(tmp_path: Path) -> None:
    """A file of no bytes is one sentence."""
    (tmp_path / "t.parquet").touch()

    with pytest.raises(CorpusError, match=r"t\.parquet is empty; the first line of a table names the columns"):
        list(read_table(tmp_path / "t.parquet"))


def damaged(seed: int) -> bytes:
    """A Parquet file with some bytes changed, mostly in what describes it, or cut short."""
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
    parquet.write_table(
        pa.table({"id": ids, "text": [f"some words {id}" for id in ids], "tags": [["a", "b"]] * 300}), buffer, **options
    )
    data = bytearray(buffer.getvalue())
    if chance.random() < 0.1:
        return bytes(data[: chance.randrange(len(data))])
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    begin = footer if chance.random() < 0.6 else 0
    for _ in range(chance.choice([1, 1, 2, 4, 16])):
        at = chance.randrange(begin, len(data))
        data[at] = chance.choice([chance.randrange(256), data[at] ^ (1 << chance.randrange(8)), 255, 0, 127])
    return bytes(data)


def said_of_damaged(folder: str, seeds: range) -> Iterator[list[str]]:
    """What is said of each damaged file: the reasons of its skips, or the sentence with which it is refused."""
    path = Path(folder) / "t.parquet"
    for seed in seeds:
        path.write_bytes(damaged(seed))
        try:
            yield [each.reason for each in read_table(path) if isinstance(each, Skipped)]
        except CorpusError as error:
            yield [str(error)]


@pytest.mark.parametrize("seeds", first(1, [range(50), range(50, 400)]))
def test_damaged_parquet_is_documents_skips_or_a_sentence(tmp_path: Path, seeds: range) -> None:
    """Whatever bytes are changed, each row is a document or a skip, or the file is refused in one printable line.

    Some damage ends the process from within pyarrow, which is why tables are read in one of their own.
    """
    said: list[list[str]] = []
    crashed = 0
    for start in range(0, len(seeds), 50):
        try:
            said += list(iterate_in_subprocess(said_of_damaged, str(tmp_path), seeds[start : start + 50]))
        except DocumentError:
            crashed += 1

    assert len(seeds) == len(said) + 50 * crashed
    assert crashed < 2
    assert [] == [line for lines in said for line in lines if not line.isprintable() or len(line) > 500]
    assert sum(map(bool, said)) > len(seeds) // 4


def test_a_name_that_is_not_utf8_is_one_sentence(tmp_path: Path) -> None:
    """A column whose name is damaged is said as a fault of the file."""
    path = written(tmp_path, {"id": ["a"], "text": ["words"], "zzzz": ["x"]}, store_schema=False)
    path.write_bytes(path.read_bytes().replace(b"zzzz", b"zz\xff\xfe"))

    with pytest.raises(
        CorpusError, match=r"t\.parquet cannot be read as Parquet \([^\n]*utf-8[^\n]*\); check the file"
    ):
        list(read_table(path))
