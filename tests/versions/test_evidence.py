"""Tests of the date of a document, which `list` and `duplicates --keep newest` use."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

from simdoc_search.documents import MetadataValue
from simdoc_search.duplicates.keep_order import TimeWritten, time_written
from simdoc_search.sketch.tokens import empty_token_ids
from simdoc_search.stores.record import Origin, Record
from simdoc_search.versions.evidence import date_written

TOUCHED = 1_700_000_000 * 10**9


def record(id: str, metadata: dict[str, MetadataValue], *, has_file: bool = True) -> Record:
    """Return a document whose file was modified at TOUCHED."""
    return Record(id, empty_token_ids(), 1, "", metadata, origin=Origin("/docs", 1, TOUCHED) if has_file else None)


@pytest.mark.parametrize(
    ("id", "metadata", "date", "part_count"),
    [
        ("report 2019-05-01.docx", {"modified_at": "2021-03-12", "created_at": "2020-01-01"}, "2021-03-12", 3),
        ("report 2019-05-01.docx", {"created_at": "2020-01-01"}, "2019-05-01", 3),
        ("report.docx", {"created_at": "2020-01-01", "published": "2020-06-01"}, "2020-06-01", 3),
        ("report.docx", {"created_at": "2020-01-01"}, "2020-01-01", 3),
        ("report.docx", {}, "2023-11-14T22:13:20Z", 0),
    ],
)
def test_a_date_in_the_metadata_precedes_the_name_and_the_file(
    id: str, metadata: dict[str, MetadataValue], date: str, part_count: int
) -> None:
    dated = date_written(record(id, metadata))
    at = datetime.fromisoformat(date.replace("Z", "+00:00")).replace(tzinfo=timezone.utc)

    assert dated is not None
    assert date == dated.iso
    assert TimeWritten(int(at.timestamp()) * 10**9, part_count) == time_written(record(id, metadata))


def test_a_document_without_evidence_has_no_date() -> None:
    undated = record("a", {}, has_file=False)

    assert (None, TimeWritten()) == (date_written(undated), time_written(undated))
