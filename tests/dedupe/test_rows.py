"""The stored rows are read in parts, so that each row needs little memory."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from simdoc_search.dedupe import DedupeOptions
from simdoc_search.dedupe import rows as module
from simdoc_search.dedupe.grouping import KINDS, RowGroups, group_rows
from simdoc_search.dedupe.ranking import RowRule
from simdoc_search.dedupe.rows import ROW_DTYPE, RowData, Rows, RowWriter, count_tokens_with_low_bits
from simdoc_search.workers import ParallelMapper

TOKENS = 10
MAX_BYTES_PER_ROW = 70  # it is 140 with arrays of int64 and one `lexsort` for all criteria


def store(folder: Path, records: NDArray[np.void], texts: list[str] | None = None) -> Path:
    """Store rows with random tokens in different buckets."""
    rng = np.random.default_rng(1)
    counts = records["tokens"].astype(np.int64)
    buckets = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    token_ids = (buckets << 9 | rng.integers(0, 512, len(buckets))).astype(np.uint32)
    has_low_bits = np.repeat(count_tokens_with_low_bits(records["tokens"]) > 0, counts)
    low_bits = rng.integers(0, 1 << 32, int(has_low_bits.sum()), np.uint32)
    ids = [b"%d" % number for number in range(len(records))]
    encoded = [text.encode() for text in texts or [""] * len(records)]
    records["id_bytes"], records["text_bytes"] = list(map(len, ids)), list(map(len, encoded))
    with RowWriter(folder, {}) as writer:
        writer.append(0, RowData(records, token_ids, low_bits, b"".join(encoded), b"".join(ids), b"", b""))
        writer.checkpoint(is_complete=True)
    return folder


def make_records(count: int) -> NDArray[np.void]:
    """Return records with different words and texts."""
    rng = np.random.default_rng(2)
    records = np.zeros(count, ROW_DTYPE)
    for name in ("words_hash", "text_hash"):
        records[name] = rng.integers(0, 1 << 63, (count, 2), np.uint64)
    records["tokens"] = records["shingles"] = TOKENS
    return records


def group(folder: Path, **options: Any) -> RowGroups:
    made = DedupeOptions()
    with Rows(folder) as rows, ParallelMapper() as mapper:
        return group_rows(rows, made.rule, made.overlap_measure, made.settings, mapper, **options)


def measure_peak(folder: Path) -> int:
    tracemalloc.start()
    group(folder)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


@pytest.mark.slow
def test_each_further_row_needs_few_bytes(tmp_path: Path) -> None:
    """Both counts are so large that the parts which are processed at once have their full size."""
    counts = 600_000, 1_500_000
    small, large = (measure_peak(store(tmp_path / str(count), make_records(count))) for count in counts)

    assert (large - small) / (counts[1] - counts[0]) < MAX_BYTES_PER_ROW


@pytest.mark.parametrize("old_row_count", [0, 40])
@pytest.mark.parametrize("measure", ["jaccard", "containment"])
def test_rows_are_ordered_by_all_criteria(old_row_count: int, measure: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    records = make_records(300)
    records["text_hash"][:, 0] = rng.integers(0, 60, 300)
    records["shingles"] = rng.integers(1, 4, 300)
    labels = rng.integers(-1, 80, 300).astype(np.int32)
    copies = np.bincount(labels + 1)[labels + 1]
    hashes = records["text_hash"][:, 0]
    same_text = np.bincount(hashes.astype(np.int64))[hashes]
    position = np.arange(300)
    by_length = [position, hashes, -same_text, -records["shingles"].astype(np.int64)]
    by_copies = [-copies] if measure == "jaccard" else []
    expected = np.lexsort((*by_length, *by_copies, position >= old_row_count))
    with Rows(store(tmp_path / "rows", records)) as rows:
        order = RowRule("longest", measure).order(rows, labels, old_row_count)

    assert expected.tolist() == order.tolist()


def test_rows_have_the_same_words_only_if_both_halves_of_the_hash_are_equal(tmp_path: Path) -> None:
    records = make_records(5)
    records["words_hash"] = [(1, 1), (1, 2), (2, 2), (1, 1), (1, 2)]
    records["text_hash"][3] = records["text_hash"][0]
    groups = group(store(tmp_path / "rows", records), old_row_count=2)

    assert [0, 1, 2, 0, 1] == groups.kept_rows.tolist()
    assert ["", "", "", "same text", "same words"] == [KINDS[kind] for kind in groups.kinds]


def test_texts_and_parts_are_read_at_their_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_ROWS_AT_ONCE", "_ROWS_PER_PART", "_TEXTS_AT_ONCE"):
        monkeypatch.setattr(module, name, 17)
    rng = np.random.default_rng(4)
    records = make_records(100)
    records["tokens"] = rng.integers(0, 140, 100)  # rows with more than 128 tokens have no low bits
    texts = ["é" * int(size) for size in rng.integers(0, 50, 100)]
    store(tmp_path / "rows", records, texts)
    is_wanted = rng.random(100) < 0.5
    with Rows(tmp_path / "rows") as rows, RowWriter(tmp_path / "part", {}) as writer:
        assert texts[::-1] == list(rows.texts(np.arange(100)[::-1]))
        assert [7, 99] == [rows.id(row) for row in (7, 99)]
        for part in rows.read_parts(is_wanted):
            writer.append(0, part)
        writer.checkpoint(is_complete=True)
        with Rows(tmp_path / "part") as copied:
            counts, low_counts = records["tokens"].astype(np.int64), count_tokens_with_low_bits(records["tokens"])
            assert [text for text, wanted in zip(texts, is_wanted, strict=True) if wanted] == list(
                copied.texts(np.arange(len(copied)))
            )
            assert np.flatnonzero(is_wanted).tolist() == list(map(copied.id, range(len(copied))))
            assert (rows.token_ids[np.repeat(is_wanted, counts)] == copied.token_ids).all()
            assert (rows.low_hash_bits[np.repeat(is_wanted, low_counts)] == copied.low_hash_bits).all()


def test_rows_without_texts_are_not_grouped(tmp_path: Path) -> None:
    records = make_records(3)
    records["tokens"] = 0
    groups = group(store(tmp_path / "rows", records))

    assert [0, 1, 2] == groups.kept_rows.tolist()
