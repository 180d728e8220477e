"""Collects evidence of when documents were written. All commands that order documents by time use this module.

Dates in metadata, dates and versions in names, and commits are strong evidence. The creation date is weak evidence,
because a new version often inherits it. The modification time of a file is weak evidence, because copies and downloads
reset it.
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
"""Names of metadata fields with dates, in lower case and without digits and punctuation."""

DATE_FIELDS = (
    *("modified", "modified_at", "modifiedAt", "last_modified", "lastModified", "updated", "updated_at", "updatedAt"),
    *("date", "published", "published_at", "publishedAt", "sent", "timestamp"),
    *("created", "created_at", "createdAt", "path"),
)
"""Fields with dates that are read from an index that simdoc-search did not create. `path` may contain a date, too."""

_NOT_LETTERS = re.compile(r"[^a-z]+")


def date_in_metadata(metadata: Mapping[str, MetadataValue], field: str) -> Date | None:
    """Return the latest date in the metadata fields of a kind; None if there is no date.

    Args:
        metadata: all metadata fields of a document.
        field: the kind of field: `modified`, `date` or `created`.
    """
    pattern = _FIELDS[field]
    values = (value for name, value in metadata.items() if pattern.fullmatch(_letters(name.rpartition(".")[2])))
    return max((date for date in map(date_of, values) if date), default=None)


def _letters(name: str) -> str:
    return _NOT_LETTERS.sub("", name.lower())


EvidenceKind = Literal[
    "modified", "date", "name", "version", "version control", "dates", "created", "modification time", "texts"
]
"""A kind of evidence.

| Kind | Evidence |
|---|---|
| `modified` | modification date in the metadata |
| `date` | another date in the metadata, except a creation date |
| `name` | date in the name |
| `version` | version in the name |
| `version control` | last commit of the file in git, or a later change |
| `dates` | the best of `modified`, `date`, `name` and `version control` |
| `created` | creation date in the metadata |
| `modification time` | modification time of the file |
| `texts` | no evidence; the order is guessed from the texts |
"""

EVIDENCE_KINDS: tuple[EvidenceKind, ...] = get_args(EvidenceKind)[:-1]
STRONG_KINDS: tuple[EvidenceKind, ...] = EVIDENCE_KINDS[:-1]
"""If at least half of all documents have strong evidence, the documents without strong evidence are undated."""

_DATE_KINDS: tuple[EvidenceKind, ...] = ("modified", "date", "name", "created")

SAME_COPY_SECONDS = 60
"""Modification times that differ by fewer seconds count as equal, because a copy of a folder may have set them all."""


@dataclass(frozen=True, slots=True)
class DateSources:
    """The sources of evidence about a document.

    Attributes:
        name: path of the document.
        metadata: metadata of the document. Only the part of a field name after the last dot is used, ignoring letter
            case, digits and punctuation.
        mtime_ns: modification time of the file in nanoseconds since 1970; None if the document has no file.
        path: path of the file on this machine; None if the document has no file, or git must not be run.
    """

    name: str = ""
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict)
    mtime_ns: int | None = None
    path: Path | None = None

    @classmethod
    def from_record(cls, record: Record, path: Path | None = None) -> DateSources:
        """Return the sources of a stored document."""
        return cls(record.path, record.metadata, record.origin.mtime_ns if record.origin else None, path)


class DocumentDate(NamedTuple):
    """The date or version of a document.

    Attributes:
        evidence_kind: the kind of evidence.
        key: sort key, greater for later documents. To compare keys of the same kind, use `DateEvidence.compare`.
        label: the date or version, formatted for display, such as `12 Mar 2021` or `v2`.
        iso: the date in ISO 8601; None for a version.
    """

    evidence_kind: EvidenceKind
    key: tuple[object, ...]
    label: str
    iso: str | None


def date_written(record: Record) -> DocumentDate | None:
    """Return the best date of a document: a date in its metadata or name, or the modification time of its file.

    Dates of commits are not used.
    """
    document = DateSources.from_record(record)
    for kind in _DATE_KINDS:
        if date := _date_of(kind, document):
            return date
    return _date_of_file(document.mtime_ns)


def nanoseconds_written(record: Record) -> int:
    """Return the date of `date_written` in nanoseconds since 1970; 0 if there is no date.

    For a day, month or year, this is the time when it begins.
    """
    dated = date_written(record)
    if dated is None or dated.evidence_kind == "modification time":
        return record.origin.mtime_ns if dated and record.origin else 0
    parts = cast("tuple[int, ...]", (*dated.key, 1, 1)[: max(3, len(dated.key))])
    return int(datetime(*parts, tzinfo=timezone.utc).timestamp()) * 10**9  # type: ignore[misc,arg-type]


class DateEvidence:
    """The evidence of several documents, by index. Each kind of evidence is collected when it is first needed."""

    def __init__(self, documents: Sequence[DateSources]) -> None:
        self._documents = documents
        self._collected: dict[EvidenceKind, list[DocumentDate | None]] = {}

    def of(self, kind: EvidenceKind) -> list[DocumentDate | None]:
        """Return the evidence of one kind for each document."""
        if kind not in self._collected:
            self._collected[kind] = self._collect(kind)
        return self._collected[kind]

    def best(self, number: int) -> DocumentDate | None:
        """Return the strongest evidence of a document; None if there is none."""
        return next((dated for kind in EVIDENCE_KINDS if (dated := self.of(kind)[number])), None)

    def has_date(self, number: int) -> bool:
        """Return whether a document has a date in its metadata or name."""
        return any(self.of(kind)[number] for kind in ("dates", "created"))

    def compare(self, kind: EvidenceKind, one: int, other: int) -> int | None:
        """Return 1 if the first document is later than the second, -1 if it is earlier, 0 if equal, None if unknown."""
        a, b = self.of(kind)[one], self.of(kind)[other]
        if a is None or b is None or (kind == "version" and a.key[0] != b.key[0]):
            return None
        if kind == "modification time":
            difference = a.key[0] - b.key[0]  # type: ignore[operator]
            return 0 if abs(difference) < SAME_COPY_SECONDS * 10**9 else (1 if difference > 0 else -1)
        parts = min(len(a.key), len(b.key))
        x, y = a.key[:parts], b.key[:parts]
        return (x > y) - (x < y)

    def _collect(self, kind: EvidenceKind) -> list[DocumentDate | None]:
        match kind:
            case "version":
                versions = named_versions([document.name for document in self._documents])
                return [
                    None if version is None else DocumentDate(kind, (version.stem, version.key), version.label, None)
                    for version in versions
                ]
            case "version control":
                return [
                    _document_date(kind, date) for date in commit_dates([document.path for document in self._documents])
                ]
            case "modification time":
                return [_date_of_file(document.mtime_ns) for document in self._documents]
            case "dates":
                kinds: tuple[EvidenceKind, ...] = ("modified", "date", "name", "version control")
                of_kinds = zip(*(self.of(kind) for kind in kinds), strict=True)
                return [next(filter(None, of_document), None) for of_document in of_kinds]
        return [_date_of(kind, document) for document in self._documents]


def _date_of(kind: EvidenceKind, document: DateSources) -> DocumentDate | None:
    return _document_date(
        kind, named_date(document.name) if kind == "name" else date_in_metadata(document.metadata, kind)
    )


def _document_date(kind: EvidenceKind, date: Date | None) -> DocumentDate | None:
    return None if date is None else DocumentDate(kind, date, readable_date(date), iso_date(date))


def _date_of_file(mtime_ns: int | None) -> DocumentDate | None:
    date = None if mtime_ns is None else date_of_nanoseconds(mtime_ns)
    return None if date is None else DocumentDate("modification time", (mtime_ns,), readable_date(date), iso_date(date))
