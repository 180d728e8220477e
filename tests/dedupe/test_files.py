"""A dataset in files loses its duplicate rows, and nothing else."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from simdoc_search.dedupe import deduplicate_files
from simdoc_search.dedupe.options import DedupeOptions
from simdoc_search.errors import CorpusError, QuerySyntaxError
from simdoc_search.passages.exact_overlap import jaccard, shingle_set
from tests.support.datasets import make_rows, read_rows, true_members, write_rows

FORMATS = ["parquet", "jsonl", "jsonl.gz", "jsonl.zst", "csv", "tsv", "csv.gz", "arrow", "feather"]


def kept_ids(path: Path, rows: list[dict[str, Any]], **options: Any) -> list[str]:
    source = write_rows(path / "in.parquet", rows)
    deduplicate_files(source, path / "out.parquet", DedupeOptions(**options))
    return [row["id"] for row in read_rows(path / "out.parquet")]


@pytest.mark.parametrize("extension", FORMATS)
def test_the_kept_rows_have_the_format_and_all_columns_of_the_input(extension: str, tmp_path: Path) -> None:
    rows = make_rows()
    source, target = write_rows(tmp_path / f"in.{extension}", rows), tmp_path / f"out.{extension}"
    report = deduplicate_files(source, target)
    by_id = {row["id"]: row for row in rows}
    kept = read_rows(target)
    ids = [row["id"] for row in kept]

    assert (120, len(kept)) == (report.row_count, report.kept_count)
    assert 30 < report.removed_count < 40
    assert kept == [by_id[id] for id in ids]
    assert ids == sorted(ids, key=list(by_id).index)
    assert [source, target] == sorted(tmp_path.iterdir())


def test_formats_agree_on_the_kept_rows(tmp_path: Path) -> None:
    kept = set()
    for extension in FORMATS:
        source = write_rows(tmp_path / f"in.{extension}", make_rows())
        deduplicate_files(source, tmp_path / f"out.{extension}")
        kept.add(tuple(row["id"] for row in read_rows(tmp_path / f"out.{extension}")))

    assert 1 == len(kept)


def test_each_removed_row_overlaps_the_kept_row_and_no_two_kept_rows_overlap(tmp_path: Path) -> None:
    rows = make_rows(300, seed=4, words=60)
    source = write_rows(tmp_path / "in.jsonl", rows)
    deduplicate_files(source, tmp_path / "out.jsonl", annotate=True)
    marked = read_rows(tmp_path / "out.jsonl")
    removed = {number: row["duplicate_of"] for number, row in enumerate(marked) if row["duplicate_of"] is not None}
    sets = [shingle_set(row["text"]) for row in rows]

    assert len(removed) > 80
    assert [] == [pair for pair in removed.items() if jaccard(sets[pair[0]], sets[pair[1]]) < 0.8]
    assert set() == removed.keys() & set(removed.values())
    assert [] == [pair for pair in true_members(rows) if not removed.keys() & {*pair}]


def test_annotated_rows_keep_their_columns_and_get_four_more(tmp_path: Path) -> None:
    rows = make_rows()
    for extension in FORMATS:
        source, target = write_rows(tmp_path / f"in.{extension}", rows), tmp_path / f"out.{extension}"
        report = deduplicate_files(source, target, DedupeOptions(id="id"), annotate=True)
        marked = read_rows(target)
        duplicates = [row for row in marked if row["kind"] not in ("kept", "", None)]
        by_id = {row["id"]: row for row in marked}

        assert rows == [{name: row[name] for name in rows[0]} for row in marked]
        assert report.removed_count == len(duplicates) == sum(report.removed_counts.values())
        assert {"same text", "same words", "near"} == {row["kind"] for row in duplicates}
        for row in duplicates:
            assert "kept" == by_id[row["duplicate_of"]]["kind"]
            assert row["cluster"] == by_id[row["duplicate_of"]]["cluster"]
            assert 0.8 <= float(row["overlap"]) <= 1


def test_the_rules_choose_the_kept_row(tmp_path: Path) -> None:
    base = " ".join(f"w{number}" for number in range(60))
    texts = [base, f"{base} more", base, f"{base} and even more"]
    scores = [3, 9, 1, None]
    rows = [
        {"id": str(number), "text": text, "score": score, "day": f"2024-01-0{number}"}
        for number, (text, score) in enumerate(zip(texts, scores, strict=True))
    ]

    assert ["0"] == kept_ids(tmp_path, rows, keep="longest")
    assert ["0"] == kept_ids(tmp_path, rows, keep="first")
    assert ["1"] == kept_ids(tmp_path, rows, keep="max:score")
    assert ["2"] == kept_ids(tmp_path, rows, keep="min:score")
    assert ["3"] == kept_ids(tmp_path, rows, keep="max:day")
    assert ["0"] == kept_ids(tmp_path, rows, keep="min:day")
    assert ["3"] == kept_ids(tmp_path, rows, measure="containment")


@pytest.mark.parametrize(
    ("values", "highest", "lowest"),
    [(["9", "10"], "10", "9"), (["-5", "-10"], "-5", "-10"), (["1.5e3", "900"], "1.5e3", "900"),
     (["nan", "5"], "5", "5"), (["", "-1"], "-1", "-1"), (["9007199254740993", "9007199254740992"], "9007199254740993",
     "9007199254740992"), (["1_000", "5"], "5", "5"), (["2024-01-02", "2023-12-31"], "2024-01-02", "2023-12-31")],
)  # fmt: skip
def test_the_numbers_of_a_csv_file_are_compared_as_numbers(
    values: list[str], highest: str, lowest: str, tmp_path: Path
) -> None:
    """A CSV file has no types. Text, such as a date, is compared as text and counted."""
    source, target = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_text("text,score\n" + "".join(f"one two three four five six,{value}\n" for value in values))

    for keep, expected in (("max:score", highest), ("min:score", lowest)):
        report = deduplicate_files(source, target, DedupeOptions(keep=keep))
        assert f"text,score\none two three four five six,{expected}\n" == target.read_text()
        assert sum(value[1:2] == "_" or value[4:5] == "-" for value in values) == report.string_count
        assert sum(value in ("", "nan") for value in values) == report.valueless_count


@pytest.mark.parametrize(("year", "units"), [(2024, ["s", "ms", "us", "ns", "day"]), (9999, ["s", "ms", "us", "day"])])
def test_dates_with_different_units_are_compared(year: int, units: list[str], tmp_path: Path) -> None:
    """The shards of a dataset may have different types. Dates after 2262 do not fit into 64 bits of nanoseconds."""
    for latest in units:
        folder, target = tmp_path / latest, tmp_path / f"{latest}-out"
        folder.mkdir()
        for unit in units:
            day = datetime(year, 1, 9 if unit == latest else 2, tzinfo=timezone.utc)
            column = (
                pa.array([day.date()]) if unit == "day" else pa.array([day.replace(tzinfo=None)], pa.timestamp(unit))
            )
            parquet.write_table(
                pa.table({"text": ["one two three four five six"], "day": column}), folder / f"{unit}.parquet"
            )
        deduplicate_files(folder, target, DedupeOptions(keep="max:day"))
        kept = {file.stem: parquet.read_table(file).num_rows for file in target.iterdir()}
        assert dict.fromkeys(units, 0) | {latest: 1} == kept


def test_times_that_python_cannot_represent_are_no_problem(tmp_path: Path) -> None:
    """Neither for the guess of the text column, nor as ids, nor in an evaluation set."""
    texts = ["one two three four five six", "one two three four five six", "seven eight nine ten eleven twelve"]
    for time_type, values in (("ns", [1, 2, 3]), ("s", [2**40, -(2**40), 0])):
        source = tmp_path / f"{time_type}.parquet"
        parquet.write_table(pa.table({"time": pa.array(values, pa.timestamp(time_type)), "body": texts}), source)
        options = DedupeOptions(id="time", keep="max:time", run_words=6)
        report = deduplicate_files(source, tmp_path / f"{time_type}.jsonl", options, annotate=True)
        assert ("body", 2) == (report.text_column, report.kept_count)
        assert 0 == deduplicate_files(source, tmp_path / "no.parquet", options, decontaminate=[source]).kept_count


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ({"pairs": "in.jsonl"}, "in.jsonl is the input"),
        ({"page": "in.jsonl"}, "in.jsonl is the input"),
        ({"pairs": "old.jsonl", "against": "old.jsonl"}, "old.jsonl is the input"),
        ({"output": "old.jsonl", "against": "old.jsonl"}, "old.jsonl is the input"),
        ({"output": "old.jsonl", "decontaminate": ["old.jsonl"]}, "old.jsonl is the input"),
        ({"pairs": "out.jsonl"}, "out.jsonl is named twice"),
        ({"pairs": "x/../pairs.csv", "page": "pairs.csv"}, "pairs.csv is named twice"),
    ],
)
def test_no_file_that_is_read_or_written_is_overwritten(
    written: dict[str, Any], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("in.jsonl", "old.jsonl"):
        write_rows(tmp_path / name, make_rows(20))
    before = Path("in.jsonl").read_bytes(), Path("old.jsonl").read_bytes()

    with pytest.raises(CorpusError, match=message):
        deduplicate_files("in.jsonl", **{"output": "out.jsonl", **written})
    assert before == (Path("in.jsonl").read_bytes(), Path("old.jsonl").read_bytes())


def test_rows_that_cannot_be_compared_are_kept_counted_and_listed(tmp_path: Path) -> None:
    text = json.dumps({"text": "one two three four five six"})
    lines = [text, "", '{"text": null}', '{"text": 5}', "not json", '{"text": "..."}', text, '{"text": "\\ud800 a b"}']
    (tmp_path / "in.jsonl").write_text("\n".join(lines))
    report = deduplicate_files(tmp_path / "in.jsonl", tmp_path / "out.jsonl")

    assert [line for line in lines[:6] + lines[7:] if line] == (tmp_path / "out.jsonl").read_text().splitlines()
    assert (7, 6) == (report.row_count, report.kept_count)
    assert {
        "without a text": 1,
        "without words": 1,
        "whose text is not a string": 1,
        "that cannot be parsed": 1,
        "with an unpaired surrogate, which is not a character": 1,
    } == report.left_out_counts
    assert [1, 2, 3, 4, 6] == [row.row for row in report.left_out_rows]


def test_a_folder_keeps_its_shards_and_other_files(tmp_path: Path) -> None:
    rows = make_rows(240)
    for number in range(3):
        write_rows(tmp_path / "in" / "train" / f"part-{number}.parquet", rows[80 * number : 80 * number + 80])
    (tmp_path / "in" / "README.md").write_text("read me")
    (tmp_path / "in" / "train" / "state.json").write_text('{"_fingerprint": "old", "_split": "train"}')
    report = deduplicate_files(tmp_path / "in", tmp_path / "out")
    whole = write_rows(tmp_path / "whole.parquet", rows)
    deduplicate_files(whole, tmp_path / "kept.parquet")
    parts = [read_rows(tmp_path / "out" / "train" / f"part-{number}.parquet") for number in range(3)]
    state = json.loads((tmp_path / "out" / "train" / "state.json").read_text())

    assert read_rows(tmp_path / "kept.parquet") == [row for part in parts for row in part]
    assert "read me" == (tmp_path / "out" / "README.md").read_text()
    assert ("README.md", "train/state.json") == report.copied_files
    assert "train" == state["_split"]
    assert "old" != state["_fingerprint"]


@pytest.mark.slow
def test_the_number_of_workers_and_the_order_of_shards_do_not_change_the_kept_texts(tmp_path: Path) -> None:
    rows = make_rows(4000, words=20)
    for name, order in (("a", rows), ("b", rows[2000:] + rows[:2000])):
        write_rows(tmp_path / name / "0.parquet", order[:2000])
        write_rows(tmp_path / name / "1.parquet", order[2000:])
    deduplicate_files(tmp_path / "a", tmp_path / "a1")
    deduplicate_files(tmp_path / "a", tmp_path / "a2", workers=2)
    deduplicate_files(tmp_path / "b", tmp_path / "b1")
    shards = [[read_rows(tmp_path / name / f"{number}.parquet") for number in (0, 1)] for name in ("a1", "a2", "b1")]
    texts = [sorted(row["text"] for shard in found for row in shard) for found in shards]

    for number in (0, 1):
        assert (tmp_path / f"a1/{number}.parquet").read_bytes() == (tmp_path / f"a2/{number}.parquet").read_bytes()
    assert texts[0] == texts[2]


def test_the_parquet_schema_and_its_metadata_are_kept(tmp_path: Path) -> None:
    schema = pa.schema(
        [pa.field("text", pa.large_string(), nullable=False, metadata={"a": "b"}), ("n", pa.list_(pa.int8()))],
        metadata={"huggingface": "{}"},
    )
    table = pa.table({"text": ["one two three four five six"] * 3, "n": [[1], None, [2, 3]]}, schema)
    parquet.write_table(table, tmp_path / "in.parquet", compression="zstd")
    deduplicate_files(tmp_path / "in.parquet", tmp_path / "out.parquet")
    made, out = (parquet.ParquetFile(tmp_path / name) for name in ("in.parquet", "out.parquet"))

    assert out.schema_arrow.equals(made.schema_arrow, check_metadata=True)
    assert "ZSTD" == out.metadata.row_group(0).column(0).compression
    assert [{"text": "one two three four five six", "n": [1]}] == out.read().to_pylist()


def test_cells_of_several_lines_are_copied_byte_for_byte(tmp_path: Path) -> None:
    records = [
        b'1;"one two, three\r\nfour ""five"" six";x\r\n',
        b"2;one two three four five six;\r\n",
        b'3;"seven;eight\nnine ten eleven twelve";y\r\n',
        b"4;seven eight nine ten eleven twelve\r\n",
    ]
    (tmp_path / "in.csv").write_bytes(b"id;text;more\r\n" + b"".join(records))
    report = deduplicate_files(tmp_path / "in.csv", tmp_path / "out.csv", DedupeOptions(keep="first"))
    deduplicate_files(tmp_path / "in.csv", tmp_path / "all.csv", DedupeOptions(keep="first", id="id"), annotate=True)

    assert {} == report.left_out_counts
    assert b"id;text;more\r\n" + records[0] + records[2] == (tmp_path / "out.csv").read_bytes()
    assert b"4;seven eight nine ten eleven twelve;;3;2;1.0;same words\r\n" in (tmp_path / "all.csv").read_bytes()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda d: (d / "none.parquet", d / "out.parquet", {}), "none.parquet does not exist"),
        (lambda d: (d / "in.parquet", d / "in.parquet", {}), "is the input"),
        (lambda d: (d / "in.parquet", d / "x" / "out.parquet", {}), "its folder does not exist"),
        (lambda d: (d / "in.parquet", d / "out.txt", {}), "cannot tell the format of"),
        (lambda d: (d / "in.parquet", d / "out.parquet", {"text": "nothing"}), "choose one of id, text, score, tags"),
        (lambda d: (d / "in.parquet", d / "out.parquet", {"keep": "max:no"}), "has no column 'no'"),
        (lambda d: (d / "bad.parquet", d / "out.parquet", {}), "bad.parquet cannot be read"),
        (lambda d: (d / "list.jsonl", d / "out.jsonl", {}), "JSON array"),
    ],
)
def test_errors_name_the_problem(make: Any, message: str, tmp_path: Path) -> None:
    write_rows(tmp_path / "in.parquet", make_rows(20))
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 nothing")
    (tmp_path / "list.jsonl").write_text('[{"text": "a"}]')
    source, target, options = make(tmp_path)
    with pytest.raises(CorpusError, match=message):
        deduplicate_files(source, target, DedupeOptions(**options))

    assert not (tmp_path / "out.parquet").exists()


def test_options_are_checked() -> None:
    for options in ({"keep": "best"}, {"overlap": 0}, {"measure": "cosine"}):
        with pytest.raises(QuerySyntaxError):
            DedupeOptions(**options)


def test_a_column_that_describes_duplicates_must_be_free(tmp_path: Path) -> None:
    source = write_rows(tmp_path / "in.jsonl", [{"text": "a b c", "kind": 1}])
    with pytest.raises(CorpusError, match="already has a column 'kind'"):
        deduplicate_files(source, tmp_path / "out.jsonl", annotate=True)
