"""Evidence of when a document was written, for all commands that order documents by time.

Dates in metadata, dates and versions in names, and commits are strong evidence. The creation date is weak, because a
new version often inherits it. The modification time of a file is weak, because copying and downloading reset it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Literal, NamedTuple, cast, get_args

from simdoc_search.documents import MetadataValue
from simdoc_search.passages.dates import Date, date_of, date_of_nanoseconds, iso_date, readable_date
from simdoc_search.stores.record import Record
from simdoc_search.versions.history import commit_dates
from simdoc_search.versions.names import named_date, named_versions

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
"""Names of metadata fields, in lower case without signs."""

DATE_FIELDS = (
    *("modified", "modified_at", "modifiedAt", "last_modified", "lastModified", "updated", "updated_at", "updatedAt"),
    *("date", "published", "published_at", "publishedAt", "sent", "timestamp"),
    *("created", "created_at", "createdAt", "path"),
)
"""Common names of fields with dates, which are read from an application's own index; `path` is the name."""

_NOT_LETTERS = re.compile(r"[^a-z]+")


def date_in_metadata(metadata: Mapping[str, MetadataValue], field: str) -> Date | None:
    """Return the latest date of the fields with such a name.

    Args:
        metadata: all fields.
        field: `modified`, `date` or `created`.
    """
    pattern = _FIELDS[field]
    values = (value for name, value in metadata.items() if pattern.fullmatch(_letters(name.rpartition(".")[2])))
    return max((date for date in map(date_of, values) if date), default=None)


def _letters(name: str) -> str:
    return _NOT_LETTERS.sub("", name.lower())


By = Literal["modified", "date", "name", "version", "version control", "dates", "created", "modification time", "texts"]
"""A kind of evidence: modification date or another date in the metadata, date or version in the name, last commit of
the file, the best of these dates, creation date in the metadata, or modification time of the file. `texts` means that
there is none."""

KINDS: tuple[By, ...] = get_args(By)[:-1]
STRONG: tuple[By, ...] = KINDS[:-1]
"""A document without any of these is undated if most of the others have one."""

_DATES: tuple[By, ...] = ("modified", "date", "name", "created")

SAME_COPY = 60
"""Seconds. Copying or unpacking a folder writes its files in less time, so closer modification times order nothing."""


@dataclass(frozen=True, slots=True)
class DateSources:
    """The sources of evidence about a document.

    Attributes:
        name: its path.
        metadata: its metadata. Of a field name, the part after the last dot counts, without signs and letter case.
        mtime_ns: modification time of its file in nanoseconds since 1970; None without a file.
        path: path of its file on this machine; None if there is none, or if git must not be started.
    """

    name: str = ""
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict)
    mtime_ns: int | None = None
    path: Path | None = None

    @classmethod
    def of(cls, record: Record, path: Path | None = None) -> DateSources:
        """Return the sources of a stored document."""
        return cls(record.path, record.metadata, record.origin.mtime_ns if record.origin else None, path)


class Dated(NamedTuple):
    """The date or version of a document.

    Attributes:
        by: the kind of evidence.
        key: sort key, greater for later documents; `DateEvidence.compare` compares two of the same kind.
        shown: the date or version for people: `12 Mar 2021`, `v2`.
        iso: the date in ISO 8601; None for a version.
    """

    by: By
    key: tuple[object, ...]
    shown: str
    iso: str | None


def date_written(record: Record) -> Dated | None:
    """Return the best date of one document without git: in its metadata, then in its name, then that of its file."""
    document = DateSources.of(record)
    for by in _DATES:
        if found := _date_of(by, document):
            return found
    return _of_file(document.mtime_ns)


def nanoseconds_written(record: Record) -> int:
    """Return the same date in nanoseconds since 1970: the beginning of a day, month or year; 0 if there is none."""
    dated = date_written(record)
    if dated is None or dated.by == "modification time":
        return record.origin.mtime_ns if dated and record.origin else 0
    parts = cast("tuple[int, ...]", (*dated.key, 1, 1)[: max(3, len(dated.key))])
    return int(datetime(*parts, tzinfo=timezone.utc).timestamp()) * 10**9  # type: ignore[misc,arg-type]


class DateEvidence:
    """The evidence of several documents by their numbers. Each kind is collected when it is first needed."""

    def __init__(self, documents: Sequence[DateSources]) -> None:
        self._documents = documents
        self._collected: dict[By, list[Dated | None]] = {}

    def of(self, by: By) -> list[Dated | None]:
        """Return one kind of evidence of all documents."""
        if by not in self._collected:
            self._collected[by] = self._collect(by)
        return self._collected[by]

    def best(self, number: int) -> Dated | None:
        """Return the strongest evidence of one document."""
        return next((dated for by in KINDS if (dated := self.of(by)[number])), None)

    def has_date(self, number: int) -> bool:
        """Whether a document has a date, and not only a version in its name or a file."""
        return any(self.of(by)[number] for by in ("dates", "created"))

    def compare(self, by: By, one: int, other: int) -> int | None:
        """Return 1 if the first document is later than the second, -1 if earlier, 0 if equal, None if unknown."""
        a, b = self.of(by)[one], self.of(by)[other]
        if a is None or b is None or (by == "version" and a.key[0] != b.key[0]):
            return None
        if by == "modification time":
            difference = a.key[0] - b.key[0]  # type: ignore[operator]
            return 0 if abs(difference) < SAME_COPY * 10**9 else (1 if difference > 0 else -1)
        parts = min(len(a.key), len(b.key))
        x, y = a.key[:parts], b.key[:parts]
        return (x > y) - (x < y)

    def _collect(self, by: By) -> list[Dated | None]:
        match by:
            case "version":
                versions = named_versions([document.name for document in self._documents])
                return [
                    None if version is None else Dated(by, (version.stem, version.key), version.shown, None)
                    for version in versions
                ]
            case "version control":
                return [_dated(by, date) for date in commit_dates([document.path for document in self._documents])]
            case "modification time":
                return [_of_file(document.mtime_ns) for document in self._documents]
            case "dates":
                kinds: tuple[By, ...] = ("modified", "date", "name", "version control")
                of_kinds = zip(*(self.of(kind) for kind in kinds), strict=True)
                return [next(filter(None, of_document), None) for of_document in of_kinds]
        return [_date_of(by, document) for document in self._documents]


def _date_of(by: By, document: DateSources) -> Dated | None:
    return _dated(by, named_date(document.name) if by == "name" else date_in_metadata(document.metadata, by))


def _dated(by: By, date: Date | None) -> Dated | None:
    return None if date is None else Dated(by, date, readable_date(date), iso_date(date))


def _of_file(mtime_ns: int | None) -> Dated | None:
    date = None if mtime_ns is None else date_of_nanoseconds(mtime_ns)
    return None if date is None else Dated("modification time", (mtime_ns,), readable_date(date), iso_date(date))
