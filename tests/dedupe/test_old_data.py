"""Rows of old data are removed from new data. The old data is a dataset, or rows that an earlier run saved."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from simdoc_search import Settings
from simdoc_search.analysis import Analysis
from simdoc_search.dedupe import DedupeOptions, deduplicate_files
from simdoc_search.errors import FormatMismatchError, StoreError
from tests.support.datasets import make_rows, read_rows, write_rows

OLD, NEW = make_rows(60, seed=1), make_rows(60, seed=2)
EDITED = [{**row, "id": f"new {row['id']}", "text": f"{row['text']} edited"} for row in OLD[:20]]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with old.parquet and new.jsonl."""
    write_rows(tmp_path / "old.parquet", OLD)
    write_rows(tmp_path / "new.jsonl", EDITED + NEW)
    return tmp_path


@pytest.mark.parametrize("against", ["old.parquet", "saved"])
def test_rows_of_the_old_data_are_removed_from_the_new_data(against: str, files: Path) -> None:
    deduplicate_files(files / "old.parquet", files / "kept.parquet", DedupeOptions(id="id"), save=files / "saved")
    report = deduplicate_files(
        files / "new.jsonl", files / "out.jsonl", DedupeOptions(id="id"), against=files / against, annotate=True
    )
    rows = read_rows(files / "out.jsonl")
    deduplicate_files(files / "new.jsonl", files / "kept.jsonl", against=files / against)
    old_ids = {row["id"] for row in OLD}

    assert (80, 20) == (report.row_count, report.old_duplicate_count)
    assert report.old_row_count == (60 if against == "old.parquet" else len(read_rows(files / "kept.parquet")))
    assert [True] * 20 == [row["kept_row_is_old"] for row in rows[:20]]
    assert {row["duplicate_of"] for row in rows[:20]} <= old_ids
    assert {None, False} == {row["kept_row_is_old"] for row in rows[20:]}
    assert [row["id"] for row in rows if row["duplicate_of"] is None] == [
        r["id"] for r in read_rows(files / "kept.jsonl")
    ]


def test_saved_rows_grow_with_each_run(files: Path) -> None:
    state = files / "saved"
    deduplicate_files(files / "old.parquet", files / "kept.parquet", save=state)
    first = deduplicate_files(files / "new.jsonl", files / "out.jsonl", against=state, save=state)
    again = deduplicate_files(files / "new.jsonl", files / "none.jsonl", against=state)

    assert 0 < first.kept_count < first.row_count
    assert 0 == again.kept_count
    assert b"" == (files / "none.jsonl").read_bytes()
    assert 2 == len(list(state.iterdir()))
    with pytest.raises(StoreError, match="already has saved rows; to add rows"):
        deduplicate_files(files / "new.jsonl", files / "x.jsonl", save=state)


def test_saved_rows_of_other_settings_or_versions_are_refused(files: Path) -> None:
    state = files / "saved"
    deduplicate_files(files / "old.parquet", files / "kept.parquet", save=state)
    other = DedupeOptions(settings=Settings(analysis=Analysis(shingle_size=3)))
    with pytest.raises(FormatMismatchError, match="saved with settings that differ"):
        deduplicate_files(files / "new.jsonl", files / "out.jsonl", other, against=state)
    saved = json.loads((state / "saved.json").read_text())
    (state / "saved.json").write_text(json.dumps({**saved, "format": 99}))
    with pytest.raises(FormatMismatchError, match="newer version"):
        deduplicate_files(files / "new.jsonl", files / "out.jsonl", against=state)
    (state / "saved.json").write_text("{}")
    with pytest.raises(StoreError, match="save the rows again"):
        deduplicate_files(files / "new.jsonl", files / "out.jsonl", against=state)


@pytest.mark.parametrize("extension", ["csv", "jsonl", "parquet"])
def test_pairs_are_the_removed_rows_with_the_kept_ones(extension: str, files: Path) -> None:
    pairs = files / f"pairs.{extension}"
    report = deduplicate_files(
        files / "new.jsonl", files / "out.jsonl", DedupeOptions(id="id"), pairs=pairs, against=files / "old.parquet"
    )
    if extension == "csv":
        lines = csv.DictReader(pairs.read_text().splitlines())
        found: list[dict[str, Any]] = [{**row, "kept_row_is_old": row["kept_row_is_old"] == "True"} for row in lines]
    else:
        found = read_rows(pairs)
    kept = {row["id"] for row in read_rows(files / "out.jsonl")}

    assert ["row", "duplicate_of", "overlap", "kind", "kept_row_is_old"] == list(found[0])
    assert report.removed_count == len(found)
    assert 20 == sum(pair["kept_row_is_old"] for pair in found)
    assert {pair["duplicate_of"] for pair in found if not pair["kept_row_is_old"]} <= kept
    assert not {pair["row"] for pair in found} & kept


def test_the_page_shows_the_groups_and_the_differences(files: Path) -> None:
    page = files / "groups.html"
    deduplicate_files(
        files / "new.jsonl", files / "out.jsonl", DedupeOptions(id="id"), page=page, against=files / "old.parquet"
    )
    html = page.read_text("utf-8")

    assert "80 rows: " in html
    assert "old doc-1" in html
    assert "new doc-1" in html
    assert html.count("Group ") > 20
    assert "<mark" in html or "<ins" in html
