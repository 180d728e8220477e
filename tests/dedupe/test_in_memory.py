"""Tables, data frames and lists lose the same rows as files, and keep their type."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from simdoc_search import dedupe
from simdoc_search.dedupe import DedupeOptions, deduplicate, deduplicate_files
from simdoc_search.errors import CorpusError
from tests.support.datasets import make_rows, read_rows, write_rows

ROWS = make_rows()


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """The rows that the function for files keeps."""
    folder = tmp_path_factory.mktemp("kept")
    write_rows(folder / "in.jsonl", ROWS)
    deduplicate_files(folder / "in.jsonl", folder / "out.jsonl")
    return read_rows(folder / "out.jsonl")


def test_a_table_gives_a_table(kept: list[dict[str, Any]]) -> None:
    table = pa.Table.from_pylist(ROWS)
    data, report = deduplicate(table)

    assert isinstance(data, pa.Table)
    assert table.schema == data.schema
    assert kept == data.to_pylist()
    assert ("text", len(kept), 120) == (report.text_column, report.kept_count, report.row_count)


def test_a_stream_gives_a_stream(kept: list[dict[str, Any]]) -> None:
    table = pa.Table.from_pylist(ROWS)
    data = deduplicate(table.to_reader(max_chunksize=7)).data

    assert isinstance(data, pa.RecordBatchReader)
    assert kept == data.read_all().to_pylist()


def test_dictionaries_give_a_list(kept: list[dict[str, Any]]) -> None:
    assert kept == dedupe.deduplicate(dict(row) for row in ROWS).data


def test_other_objects_with_an_arrow_stream_give_a_table(kept: list[dict[str, Any]]) -> None:
    class Exporter:
        def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
            return pa.Table.from_pylist(ROWS).__arrow_c_stream__(requested_schema)

    assert kept == deduplicate(Exporter()).data.to_pylist()


def test_a_pandas_data_frame_keeps_its_index_and_types(kept: list[dict[str, Any]]) -> None:
    pandas = pytest.importorskip("pandas", reason="the package pandas is not installed")
    frame = pandas.DataFrame(ROWS, index=range(1000, 1120))
    frame.loc[1000, "text"] = None
    data, report = deduplicate(frame)

    assert {"without a text": 1} == report.left_out_counts
    assert list(frame.dtypes) == list(data.dtypes)
    assert {row["id"] for row in kept} - {"doc-0"} <= set(data["id"])
    assert set(data.index) <= set(frame.index)
    assert "kind" in deduplicate(frame, annotate=True).data.columns


def test_a_polars_data_frame_gives_one(kept: list[dict[str, Any]]) -> None:
    polars = pytest.importorskip("polars", reason="the package polars is not installed")
    data = deduplicate(polars.DataFrame(ROWS)).data

    assert kept == data.to_dicts()
    assert len(ROWS) == len(deduplicate(polars.DataFrame(ROWS), annotate=True).data["kind"])


@pytest.mark.parametrize("make", [pa.Table.from_pylist, lambda rows: pa.Table.from_pylist(rows).to_reader(), list])
def test_annotated_rows_are_those_of_files(make: Any, tmp_path: Path) -> None:
    write_rows(tmp_path / "in.jsonl", ROWS)
    deduplicate_files(tmp_path / "in.jsonl", tmp_path / "out.jsonl", DedupeOptions(id="id"), annotate=True)
    data = deduplicate(make(ROWS), DedupeOptions(id="id"), annotate=True).data
    if isinstance(data, pa.RecordBatchReader):
        data = data.read_all()

    assert read_rows(tmp_path / "out.jsonl") == (data if isinstance(data, list) else data.to_pylist())


def test_no_rows_and_no_duplicates_are_fine() -> None:
    empty = pa.table({"text": pa.array([], pa.string())})
    different = [{"text": "one two three"}, {"text": "four five six"}]

    assert 0 == deduplicate(empty, DedupeOptions(text="text")).data.num_rows
    assert different == deduplicate(different).data


@pytest.mark.parametrize("data", ["text", 5, {"text": "a"}])
def test_other_data_is_rejected(data: Any) -> None:
    with pytest.raises(CorpusError, match="cannot deduplicate a"):
        deduplicate(data)


def test_a_saved_hugging_face_dataset_can_be_loaded_again(kept: list[dict[str, Any]], tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets", reason="the package datasets is not installed")
    dataset = datasets.Dataset.from_list(ROWS)
    dataset.save_to_disk(tmp_path / "in")
    deduplicate_files(tmp_path / "in", tmp_path / "out")
    loaded = datasets.load_from_disk(tmp_path / "out")

    assert kept == loaded.to_list()
    assert dataset.features == loaded.features
    assert dataset._fingerprint != loaded._fingerprint
    assert kept == deduplicate(dataset).data.to_list()
