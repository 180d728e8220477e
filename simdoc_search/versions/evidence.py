"""What says when a document was written? Every command that orders documents by time reads it here.

Dates inside a document, dates and versions in its name and commits are strong evidence. The creation date is weak, as a
new version often inherits it. The time of a file is weak too, as copying and downloading reset it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple, cast, get_args

from simdoc_search.documents import MetadataValue
from simdoc_search.passages.dates import Date, date_of, date_of_nanoseconds, iso_date, readable_date
from simdoc_search.stores.record import Record
from simdoc_search.versions.history import commit_dates
from simdoc_search.versions.names import NamedVersion, named_date, named_versions

_FIELDS: Mapping[str, re.Pattern[str]] = {
    "modified": re.compile(
        "(?:date|last)?(?:mod|modified|modification|updated?|changed?|revised|revision|edited)(?:at|on|date|time)?"
    ),
    "date": re.compile(
        "date|datetime|timestamp|published|issued|released|sent|date(?:published|issued|released)|"
        "(?:published|publication|publish|pub|issued?|released?|sent|effective|document|version)(?:at|on|date|time)"
    ),
    "created": re.compile("(?:date)?(?:created?|creation)(?:at|on|date|time)?"),
}
"""The names of fields, in small letters without signs."""

DATE_FIELDS = (
    *("modified", "modified_at", "modifiedAt", "last_modified", "lastModified", "updated", "updated_at", "updatedAt"),
    *("date", "published", "published_at", "publishedAt", "sent", "timestamp"),
    *("created", "created_at", "createdAt", "path"),
)
"""Fields that are read of the documents of an application, as usual names go; `path` gives the name."""

_NOT_LETTERS = re.compile(r"[^a-z]+")


def date_in_metadata(metadata: Mapping[str, MetadataValue], field: str) -> Date | None:
    """The latest date of the fields that are called alike; None: there is none.

    Args:
        metadata: all fields.
        field: `modified`, `date` or `created`.
    """
    names = _FIELDS[field]
    found = [date_of(value) for name, value in metadata.items() if names.fullmatch(_letters(name.rpartition(".")[2]))]
    return max((date for date in found if date), default=None)


def _letters(name: str) -> str:
    return _NOT_LETTERS.sub("", name.lower())


By = Literal["modified", "date", "name", "version", "version control", "dates", "created", "modification time", "texts"]
"""A kind of evidence: the modification date or another date in the metadata; the date or the version in the name; the
last commit of the file; the best of several kinds of dates; the creation date in the metadata; the modification time of
the file; or the texts alone, which are no evidence."""

KINDS: tuple[By, ...] = get_args(By)[:-1]
STRONG: tuple[By, ...] = KINDS[:-1]
"""A document without any of these is undated, where most of the others have one."""

_DATES: tuple[By, ...] = ("modified", "date", "name", "created")

SAME_COPY = 60
"""Seconds. Copying or unpacking a folder writes its files this close together, so closer times order nothing."""


@dataclass(frozen=True, slots=True)
class DateSources:
    """What is known of a document besides its text.

    Attributes:
        name: its path.
        metadata: its metadata; names of fields count without signs and letter case, the part after the last dot.
        mtime_ns: the modification time of its file in nanoseconds since 1970; None: it has no file.
        path: where that file is on this machine; None: nowhere, or git must not be asked.
    """

    name: str = ""
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict)
    mtime_ns: int | None = None
    path: Path | None = None

    @classmethod
    def of(cls, record: Record, path: Path | None = None) -> DateSources:
        """What is known of a stored document."""
        return cls(record.path, record.metadata, record.origin.mtime_ns if record.origin else None, path)


class Dated(NamedTuple):
    """When a document was written.

    Attributes:
        by: what says so.
        key: greater for later ones; `DateEvidence.compare` compares two of the same kind.
        shown: for people: `12 Mar 2021`, `v2`.
        iso: ISO 8601; None for a version in a name.
    """

    by: By
    key: tuple[object, ...]
    shown: str
    iso: str | None


def date_written(record: Record) -> Dated | None:
    """The best date of one document, without git: in its metadata, then in its name, then of its file."""
    document = DateSources.of(record)
    for by in _DATES:
        if found := _date_of(by, document):
            return found
    return _of_file(document.mtime_ns)


def nanoseconds_written(record: Record) -> int:
    """The same date in nanoseconds since 1970; of a day, a month or a year its beginning; 0: there is none."""
    dated = date_written(record)
    if dated is None or dated.by == "modification time":
        return record.origin.mtime_ns if dated and record.origin else 0
    parts = cast("tuple[int, ...]", (*dated.key, 1, 1)[: max(3, len(dated.key))])
    return int(datetime(*parts, tzinfo=timezone.utc).timestamp()) * 10**9  # type: ignore[misc,arg-type]


class DateEvidence:
    """What is known of several documents, by their numbers. Each kind is looked up when it is first needed."""

    def __init__(self, documents: Sequence[DateSources]) -> None:
        self._documents = documents
        self._found: dict[By, list[Dated | None]] = {}

    def of(self, by: By) -> list[Dated | None]:
        """One kind of evidence, of all documents."""
        if by not in self._found:
            self._found[by] = self._looked_up(by)
        return self._found[by]

    def best(self, number: int) -> Dated | None:
        """The strongest evidence of one document."""
        return next((found for by in KINDS if (found := self.of(by)[number])), None)

    def has_date(self, number: int) -> bool:
        """Whether a document has a date of its own, not only a version in its name or a file."""
        return any(self.of(by)[number] for by in ("dates", "created"))

    def compare(self, by: By, one: int, other: int) -> int | None:
        """1 if the first document is later than the second, -1 if earlier, 0 if equal, None if that is not known."""
        a, b = self.of(by)[one], self.of(by)[other]
        if a is None or b is None or (by == "version" and a.key[0] != b.key[0]):
            return None
        if by == "modification time":
            apart = a.key[0] - b.key[0]  # type: ignore[operator]
            return 0 if abs(apart) < SAME_COPY * 10**9 else (1 if apart > 0 else -1)
        exact = min(len(a.key), len(b.key))
        x, y = a.key[:exact], b.key[:exact]
        return (x > y) - (x < y)

    @cached_property
    def _named(self) -> list[NamedVersion | None]:
        return named_versions([each.name for each in self._documents])

    def _looked_up(self, by: By) -> list[Dated | None]:
        match by:
            case "version":
                return [None if each is None else Dated(by, (each.stem, each.key), each.shown, None)
                        for each in self._named]  # fmt: skip
            case "version control":
                return [_dated(by, each) for each in commit_dates([document.path for document in self._documents])]
            case "modification time":
                return [_of_file(each.mtime_ns) for each in self._documents]
            case "dates":
                kinds: tuple[By, ...] = ("modified", "date", "name", "version control")
                of_kinds = zip(*(self.of(each) for each in kinds), strict=True)
                return [next((found for found in each if found), None) for each in of_kinds]
        return [_date_of(by, each) for each in self._documents]


def _date_of(by: By, document: DateSources) -> Dated | None:
    return _dated(by, named_date(document.name) if by == "name" else date_in_metadata(document.metadata, by))


def _dated(by: By, date: Date | None) -> Dated | None:
    return None if date is None else Dated(by, date, readable_date(date), iso_date(date))


def _of_file(mtime_ns: int | None) -> Dated | None:
    date = None if mtime_ns is None else date_of_nanoseconds(mtime_ns)
    return None if date is None else Dated("modification time", (mtime_ns,), readable_date(date), iso_date(date))
