"""The extension of the output decides its format."""

from __future__ import annotations

import csv
import datetime
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from simdoc_search.dedupe import DedupeOptions, deduplicate_files
from simdoc_search.errors import CorpusError
from tests.support.datasets import make_rows, read_rows, write_rows

FORMATS = ["parquet", "jsonl", "jsonl.gz", "jsonl.zst", "csv", "tsv", "csv.gz", "arrow", "feather"]
TEXT = "one two three four five six"


def convert(source: Path, target: Path, **options: Any) -> list[str]:
    notes: list[str] = []
    deduplicate_files(source, target, DedupeOptions(text="text", id="id"), warn=notes.append, **options)
    return notes


@pytest.mark.parametrize("extension", ["parquet", "jsonl", "csv", "tsv", "feather"])
def test_each_format_can_be_written_as_each_other_format(extension: str, tmp_path: Path) -> None:
    rows = make_rows(30)
    source = write_rows(tmp_path / f"in.{extension}", rows)
    convert(source, tmp_path / f"same.{extension}")
    kept = [row["id"] for row in read_rows(tmp_path / f"same.{extension}")]
    by_id = {row["id"]: row for row in rows}
    for other in FORMATS:
        target = tmp_path / f"out.{'feather' if other == 'arrow' else other}"
        convert(source, target)

        assert [by_id[id] for id in kept] == [{**row, "score": int(row["score"])} for row in read_rows(target)]


def test_the_columns_that_describe_duplicates_are_added(tmp_path: Path) -> None:
    source = write_rows(tmp_path / "in.jsonl", make_rows())
    convert(source, tmp_path / "same.jsonl", annotate=True)
    convert(source, tmp_path / "out.parquet", annotate=True)
    convert(tmp_path / "out.parquet", tmp_path / "kept.csv")

    assert read_rows(tmp_path / "same.jsonl") == read_rows(tmp_path / "out.parquet")


def test_arrow_and_parquet_keep_the_schema(tmp_path: Path) -> None:
    schema = pa.schema(
        [
            pa.field("text", pa.large_string(), nullable=False, metadata={"a": "b"}),
            ("id", pa.dictionary(pa.int32(), pa.string())),  # pyarrow 18 reads other integers as int32
            ("day", pa.timestamp("ns", "UTC")),
            ("blob", pa.binary()),
        ],
        metadata={"more": "x"},
    )
    table = pa.table({"text": [TEXT], "id": ["a"], "day": [5], "blob": [b"\xff"]}, schema)
    parquet.write_table(table, tmp_path / "in.parquet")
    notes = convert(tmp_path / "in.parquet", tmp_path / "out.arrow")
    notes += convert(tmp_path / "out.arrow", tmp_path / "back.parquet")

    assert [] == notes
    assert parquet.read_table(tmp_path / "back.parquet").equals(table, check_metadata=True)


def test_a_note_names_the_columns_that_become_text(tmp_path: Path) -> None:
    days = [datetime.date(2024, 1, 2), None]
    table = pa.table(
        {
            "text": [TEXT, "seven eight nine ten eleven twelve"],
            "id": pa.array(["a", "b"]).dictionary_encode(),
            "day": days,
            "price": [Decimal("1.50"), Decimal("2.25")],
            "seen": pa.array([1, None], pa.timestamp("ns")),
            "more": [{"days": days, "x": float("nan")}, {"days": None, "x": 0.5}],
        }
    )
    parquet.write_table(table, tmp_path / "in.parquet")
    (note,) = convert(tmp_path / "in.parquet", tmp_path / "out.jsonl")
    first, second = map(json.loads, (tmp_path / "out.jsonl").read_text().splitlines())

    assert (
        "JSONL has no dates, times and decimals, so these columns become text: day (date32[day]), "
        "price (decimal128(3, 2)), seen (timestamp[ns]), more (struct<days: list<element: date32[day]>, x: double>)"
    ) == note
    assert {
        "text": TEXT,
        "id": "a",
        "day": "2024-01-02",
        "price": "1.50",
        "seen": "1970-01-01 00:00:00.000000001",
        "more": {"days": ["2024-01-02", None], "x": None},
    } == first
    assert (None, None, {"days": None, "x": 0.5}) == (second["day"], second["seen"], second["more"])


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_line_ends_in_cells_are_quoted(tmp_path: Path) -> None:
    """In converted rows, and in the ids that `annotate` and `pairs` add."""
    ids = ["a\nb\rc", "d\re", "f\r\ng", 'h"i', "j,k"]
    rows = [{"id": id, "text": "one two three four five six"} for id in ids]
    parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "in.parquet")
    with (tmp_path / "in.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows([["id", "text"], *(row.values() for row in rows)])

    for name in ("in.parquet", "in.csv"):
        options = DedupeOptions(id="id", keep="first")
        out, pairs = tmp_path / "out.csv", tmp_path / "pairs.csv"
        deduplicate_files(tmp_path / name, out, options, annotate=True, pairs=pairs)
        assert ids == [row["id"] for row in read_csv(out)]
        assert ["", *ids[:1] * 4] == [row["duplicate_of"] for row in read_csv(out)]
        assert ids[1:] == [row["row"] for row in read_csv(pairs)]


def test_csv_gets_json_for_lists_and_strings_from_csv_stay_strings(tmp_path: Path) -> None:
    rows = [{"id": "007", "text": f'{TEXT}\n"quoted"', "n": 1.5, "list": ["a", {"b": None}], "none": None}]
    (tmp_path / "in.jsonl").write_text(json.dumps({**rows[0], "list": ["a", "b"]}) + "\n")
    notes = convert(tmp_path / "in.jsonl", tmp_path / "out.csv")
    convert(tmp_path / "out.csv", tmp_path / "back.parquet")

    assert ["CSV has no types: numbers, dates and lists become text, and null becomes an empty cell"] == notes
    assert [
        {"id": "007", "text": f'{TEXT}\n"quoted"', "n": "1.5", "list": '["a", "b"]', "none": None}
    ] == parquet.read_table(tmp_path / "back.parquet").to_pylist()


def test_fields_that_only_some_rows_have_become_null(tmp_path: Path) -> None:
    lines = [{"id": 1, "text": f"{TEXT} {n}", "x": {"a": n}} for n in range(1500)]
    lines += [{"text": f"{TEXT} {n}", "x": {"a": 0.5, "b": None}, "y": []} for n in range(1500)]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    convert(tmp_path / "in.jsonl", tmp_path / "out.parquet", annotate=True)
    written = parquet.read_table(tmp_path / "out.parquet").to_pylist()

    assert {"a": 3.0, "b": None} == written[3]["x"]
    assert (None, [], None) == (written[3]["y"], written[-1]["y"], written[-1]["id"])


@pytest.mark.parametrize(
    ("lines", "target", "message"),
    [
        (['{"text": "a"}', "no json"], "out.parquet", "row 1 of .* cannot be parsed"),
        (['{"text": "a"}', "[1]"], "out.csv", "row 1 of .* cannot be parsed"),
        (['{"text": "a", "x": 1}', '{"text": "a", "x": "b"}'], "out.arrow", "'x' of .* has values of different types"),
        (['{"text": "a", "x": 18446744073709551616}'], "out.parquet", "integer of more than 64 bits in the field 'x'"),
        (['{"text": "\\ud800"}'], "out.parquet", "an unpaired surrogate"),
        (['{"text": "a", "x": {}}'], "out.parquet", "Parquet cannot hold the column 'x'"),
        (
            ['{"text": "a", "x": 4611686018427387905}'] * 2000 + ['{"text": "a", "x": 0.5}'],
            "out.csv",
            "'x' of .* has values of different types",
        ),
    ],
)
def test_rows_that_the_output_cannot_hold_are_named_first(
    lines: list[str], target: str, message: str, tmp_path: Path
) -> None:
    (tmp_path / "in.jsonl").write_text("\n".join(lines))
    with pytest.raises(CorpusError, match=message):
        deduplicate_files(tmp_path / "in.jsonl", tmp_path / target, DedupeOptions(text="text"))

    assert [tmp_path / "in.jsonl"] == list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "column",
    [
        pa.array([b"\xff"]),
        pa.array([{"a": [b"\xff"]}]),
        pa.nulls(1, pa.month_day_nano_interval()),
        pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([1])]),
    ],
)
def test_columns_that_text_cannot_hold_are_named_first(column: pa.Array, tmp_path: Path) -> None:
    table = pa.table({"text": [TEXT], "more": column})
    with pa.OSFile(str(tmp_path / "in.arrow"), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    for extension in ("jsonl", "csv"):
        with pytest.raises(CorpusError, match=r"cannot hold the column 'more' of .*, which has the type"):
            deduplicate_files(tmp_path / "in.arrow", tmp_path / f"out.{extension}")

    assert [tmp_path / "in.arrow"] == list(tmp_path.iterdir())


def test_compressed_lines_are_copied_byte_for_byte(tmp_path: Path) -> None:
    lines = [json.dumps({"text": TEXT}), '{ "text":"a" , "x": 1}', "not json"]
    (tmp_path / "in.jsonl").write_text("\n".join(lines))
    deduplicate_files(tmp_path / "in.jsonl", tmp_path / "out.jsonl.gz")
    deduplicate_files(tmp_path / "out.jsonl.gz", tmp_path / "back.jsonl")

    assert lines == (tmp_path / "back.jsonl").read_text().splitlines()
