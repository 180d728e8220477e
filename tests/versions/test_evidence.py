"""The date of one document, which `list` and `duplicates --keep newest` read."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

from simdoc_search import Document
from simdoc_search.documents import MetadataValue
from simdoc_search.duplicates import duplicates_among
from simdoc_search.sketch.winnow import no_passages
from simdoc_search.stores.record import Origin, Record
from simdoc_search.versions.evidence import date_written, nanoseconds_written

TOUCHED = 1_700_000_000 * 10**9


def record(id: str, metadata: dict[str, MetadataValue], *, has_file: bool = True) -> Record:
    """A document whose file was touched lately."""
    return Record(id, no_passages(), 1, "", metadata, origin=Origin("/docs", 1, TOUCHED) if has_file else None)


@pytest.mark.parametrize(
    ("id", "metadata", "wanted"),
    [
        ("report 2019-05-01.docx", {"modified_at": "2021-03-12", "created_at": "2020-01-01"}, "2021-03-12"),
        ("report 2019-05-01.docx", {"created_at": "2020-01-01"}, "2019-05-01"),
        ("report.docx", {"created_at": "2020-01-01", "published": "2020-06-01"}, "2020-06-01"),
        ("report.docx", {"created_at": "2020-01-01"}, "2020-01-01"),
        ("report.docx", {}, "2023-11-14T22:13:20Z"),
    ],
)
def test_metadata_come_before_the_name_and_the_file(id: str, metadata: dict[str, MetadataValue], wanted: str) -> None:
    """A touched file is not newer than its metadata say."""
    found = date_written(record(id, metadata))
    at = datetime.fromisoformat(wanted.replace("Z", "+00:00")).replace(tzinfo=timezone.utc)

    assert found is not None
    assert wanted == found.iso
    assert int(at.timestamp()) * 10**9 == nanoseconds_written(record(id, metadata))


def test_there_may_be_none() -> None:
    """Of what has neither."""
    assert (None, 0) == (
        date_written(record("a", {}, has_file=False)),
        nanoseconds_written(record("a", {}, has_file=False)),
    )


@pytest.mark.parametrize(("keep", "kept"), [("newest", "b"), ("oldest", "a")])
def test_duplicates_are_kept_by_it(keep: str, kept: str) -> None:
    """By dates in metadata."""
    text = "Some words that are the same in all of these documents, again and again."
    dates = {"a": "2020-01-01", "b": "2022-01-01", "c": "2021-01-01"}
    found = duplicates_among([Document(id, text, {"modified": date}) for id, date in dates.items()], keep=keep)

    assert [kept] == [each.kept.id for each in found.groups()]
