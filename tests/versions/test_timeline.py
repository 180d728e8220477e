"""Kinds of evidence are described in one phrase that names no source twice."""

from __future__ import annotations

import pytest

from simdoc_search.versions import EvidenceKind
from simdoc_search.versions.timeline import describe_evidence_kinds


@pytest.mark.parametrize(
    ("kinds", "description"),
    [
        (("modified",), "modification dates in the metadata"),
        (("name", "modification time"), "dates in the names and the modification times of the files"),
        (("version", "name"), "dates and versions in the names"),
        (("modified", "date", "created"), "dates in the metadata"),
        (("modified", "date", "version"), "dates in the metadata and the versions in the names"),
        (("mixed dates", "modified", "name", "version control"), "dates in the metadata, names or commits"),
        (
            ("mixed dates", "created", "modification time"),
            "dates in the metadata, names or commits, and the modification times of the files",
        ),
        (
            ("name", "version control", "modification time"),
            "dates in the names, the dates of the last changes in git, and the modification times of the files",
        ),
    ],
)
def test_no_source_is_named_twice(kinds: tuple[EvidenceKind, ...], description: str) -> None:
    assert description == describe_evidence_kinds(kinds)
