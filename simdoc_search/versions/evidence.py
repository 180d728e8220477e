"""Collects evidence of when documents were written.

Dates in metadata, dates and versions in names, and commits are strong evidence. Of these, the creation date ranks
last, because a new version often inherits it. The modification time of a file is weak evidence, because copies and
downloads reset it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from simdoc_search.documents import MetadataValue
from simdoc_search.passages.dates import Date, date_from_nanoseconds, format_date, format_iso
from simdoc_search.stores.record import Record
from simdoc_search.versions.history import read_commit_dates
from simdoc_search.versions.metadata_dates import find_date_in_metadata
from simdoc_search.versions.names import find_date_in_name, find_versions_in_names

EvidenceKind = Literal[
    "modified", "date", "name", "version", "version control", "mixed dates", "created", "modification time", "texts"
]
"""A kind of evidence.

| Kind | Evidence |
|---|---|
| `modified` | modification date in the metadata |
| `date` | another date in the metadata, except a creation date |
| `name` | date in the name |
| `version` | version in the name |
| `version control` | last commit of the file in git, or its modification time if it changed since |
| `mixed dates` | the first of `modified`, `date`, `name` and `version control`; see `_omit_shared_dates` |
| `created` | creation date in the metadata; if there is a modification date, that date instead, to compare the two |
| `modification time` | modification time of the file, or the earliest one of the files with the same text |
| `texts` | no evidence; the order is guessed from the texts |
"""

EVIDENCE_KINDS: tuple[EvidenceKind, ...] = get_args(EvidenceKind)[:-1]
KINDS_WITHOUT_MTIME: tuple[EvidenceKind, ...] = EVIDENCE_KINDS[:-1]
"""All kinds except the modification time.

If at least half of all documents have evidence of one of these kinds, the other documents are treated as unordered.
"""

_DATE_KINDS: tuple[EvidenceKind, ...] = ("modified", "date", "name", "created")
METADATA_KINDS: tuple[EvidenceKind, ...] = ("modified", "date", "created")

MIN_MTIME_DIFFERENCE_SECONDS = 60
"""Modification times that differ by fewer seconds count as equal, because copying a folder may have set them all."""


@dataclass(frozen=True, slots=True)
class DateSources:
    """The sources of evidence about a document.

    Attributes:
        document_path: path of the document.
        metadata: metadata of the document. Only the part of a field name after the last dot is used, ignoring letter
            case, digits and punctuation.
        mtime_ns: modification time of the file in nanoseconds since 1970; None if the document has no file.
        file_path: path of the file on this machine; None if the document has no file, or if git must not be run.
        text_hash: hash of the text; empty if it is unknown. Documents with the same hash count as one version.
        name: name of the document, for display; None to use `document_path`.
    """

    document_path: str = ""
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict)
    mtime_ns: int | None = None
    file_path: Path | None = None
    text_hash: str = ""
    name: str | None = None

    @classmethod
    def from_record(cls, record: Record, path: Path | None = None) -> DateSources:
        """Return the sources of a stored document."""
        mtime_ns = record.origin.mtime_ns if record.origin else None
        return cls(record.path, record.metadata, mtime_ns, path, record.text_hash, record.id)


class DocumentDate(NamedTuple):
    """The date or version of a document."""

    evidence_kind: EvidenceKind  # the kind of evidence that the date comes from
    key: tuple[object, ...]  # sort key: later is greater. Compare keys of one kind with `DateEvidence.compare`.
    label: str  # the date or version, formatted for display, such as `12 Mar 2021` or `v2`
    iso: str | None  # the date in ISO 8601; None for a version


def date_written(record: Record) -> DocumentDate | None:
    """Return the best date of a document, from its metadata or name, or from the modification time of its file.

    Dates of commits are not used. The result is None if there is no date.
    """
    document = DateSources.from_record(record)
    for kind in _DATE_KINDS:
        if date := _find_date(kind, document):
            return date
    return _make_file_date(document.mtime_ns)


class DateEvidence:
    """The dates of several documents by each kind of evidence. Each kind is collected when it is first needed."""

    def __init__(self, documents: Sequence[DateSources]) -> None:
        self._documents = documents
        self._collected: dict[EvidenceKind, list[DocumentDate | None]] = {}
        self._copied: dict[tuple[EvidenceKind, int], int] = {}
        self._first_files: dict[str, int] = {}  # for each hash of a text, the index of the file with the earliest time

    def dates_by(self, kind: EvidenceKind) -> list[DocumentDate | None]:
        """Return the date of each document by one kind of evidence; None if there is no such evidence."""
        if kind not in self._collected:
            self._collected[kind] = self._collect_dates(kind)
        return self._collected[kind]

    def best_date(self, index: int, *, with_own_time: bool) -> DocumentDate | None:
        """Return the date of a document from its strongest evidence; None if there is no evidence.

        If there is only a modification time, it is the earliest one of the files with the same text, or that of the
        document's own file if `with_own_time` is true.
        """
        stated = next(
            (dated for kind in KINDS_WITHOUT_MTIME if (dated := self.dates_by(kind)[index]) and dated.label), None
        )
        if stated is not None or not with_own_time:
            return stated or self.dates_by("modification time")[index]
        return _make_file_date(self._documents[index].mtime_ns)

    def stated_date(self, index: int, kinds: Sequence[EvidenceKind] = _DATE_KINDS) -> DocumentDate | None:
        """Return the date in the metadata or the name of a document, by the first kind of evidence that it has."""
        return next((dated for kind in kinds if (dated := self.dates_by(kind)[index])), None)

    def copy_dates(self, sources: Mapping[int, int], kinds: Sequence[EvidenceKind]) -> None:
        """Copy dates and versions to some documents. `sources` maps the index of each one to that of its source."""
        for kind in kinds:
            dates = self.dates_by(kind)
            for index, source in sources.items():
                dates[index] = dates[source]
                self._copied[kind, index] = source

    def name_of(self, index: int) -> str:
        """Return the name of a document."""
        document = self._documents[index]
        return document.document_path if document.name is None else document.name

    def name_dated_copy(self, kind: EvidenceKind, index: int) -> str:
        """Return the name of the document with the same text that has the date of a document.

        If the document itself has the date, return an empty string.
        """
        source = self._find_date_source(kind, index)
        return "" if source == index else self.name_of(source)

    def _find_date_source(self, kind: EvidenceKind, index: int) -> int:
        if kind != "modification time":
            return self._copied.get((kind, index), index)
        dated, text_hash = self.dates_by(kind)[index], self._documents[index].text_hash
        if dated is None or not text_hash:
            return index
        return index if (self._documents[index].mtime_ns,) == dated.key else self._first_files[text_hash]

    def strong_date(self, index: int) -> DocumentDate | None:
        """Return the date of a document in its metadata, its name or version control; None if it has none."""
        return self.stated_date(index, ("mixed dates", "created"))

    def compare(self, kind: EvidenceKind, first: int, second: int) -> int | None:
        """Return 1 if the first document is later than the second, -1 if it is earlier, 0 if equal, None if unknown."""
        a, b = self.dates_by(kind)[first], self.dates_by(kind)[second]
        if a is None or b is None:
            return None
        if kind == "version" and not self.are_versions_comparable((first, second)):
            return None
        if kind == "created" and a.evidence_kind == b.evidence_kind == "modified":
            return None  # the kind `modified` already compares these dates
        if kind == "modification time":
            difference = a.key[0] - b.key[0]  # type: ignore[operator]
            return 0 if abs(difference) < MIN_MTIME_DIFFERENCE_SECONDS * 10**9 else (1 if difference > 0 else -1)
        parts = min(len(a.key), len(b.key))
        x, y = a.key[:parts], b.key[:parts]
        return (x > y) - (x < y)

    def have_equal_texts(self, indices: Sequence[int]) -> bool:
        """Return whether it is known that some documents have the same text."""
        hashes = {self._documents[index].text_hash for index in indices}
        return len(hashes) == 1 and "" not in hashes

    def are_versions_comparable(self, indices: Sequence[int]) -> bool:
        """Return whether the versions in some names can be compared.

        The rest of the names must be equal. If a name has no version, the dates in the names must be equal, too: the
        draft `lease 2023-06-15 draft` may be newer than `lease 2023-03-01`.
        """
        versions = [dated for index in indices if (dated := self.dates_by("version")[index])]
        if len(versions) < len(indices) or len({version.key[0] for version in versions}) > 1:
            return False
        return all(version.label for version in versions) or len({self._name_date_key(index) for index in indices}) == 1

    def _name_date_key(self, index: int) -> tuple[object, ...] | None:
        dated = self.dates_by("name")[index]
        return dated and dated.key

    def _collect_dates(self, kind: EvidenceKind) -> list[DocumentDate | None]:
        match kind:
            case "version":
                versions = find_versions_in_names([document.document_path for document in self._documents])
                return [
                    None if version is None else DocumentDate(kind, (version.stem, version.key), version.label, None)
                    for version in versions
                ]
            case "version control":
                paths = [document.file_path for document in self._documents]
                return [_make_document_date(kind, date) for date in read_commit_dates(paths)]
            case "modification time":
                return self._collect_file_times()
            case "created":
                created = [_find_date(kind, document) for document in self._documents]
                return [modified or date for modified, date in zip(self.dates_by("modified"), created, strict=True)]
            case "mixed dates":
                in_metadata = [a or b for a, b in zip(self.dates_by("modified"), self.dates_by("date"), strict=True)]
                names = _omit_shared_dates(self.dates_by("name"), in_metadata)
                of_kinds = zip(in_metadata, names, self.dates_by("version control"), strict=True)
                return [next(filter(None, of_document), None) for of_document in of_kinds]
        return [_find_date(kind, document) for document in self._documents]

    def _collect_file_times(self) -> list[DocumentDate | None]:
        """Return the time of each file, or the earliest time of the files with the same text.

        Copying a file changes its time. The text was written before the first copy.
        """
        for number, document in enumerate(self._documents):
            if document.text_hash and document.mtime_ns is not None:
                first = self._first_files.setdefault(document.text_hash, number)
                if document.mtime_ns < self._documents[first].mtime_ns:  # type: ignore[operator]
                    self._first_files[document.text_hash] = number
        first_files = (
            self._documents[self._first_files.get(document.text_hash, number)] if document.mtime_ns else document
            for number, document in enumerate(self._documents)
        )
        return [_make_file_date(document.mtime_ns) for document in first_files]


def _omit_shared_dates(
    in_names: Sequence[DocumentDate | None], in_metadata: Sequence[DocumentDate | None]
) -> list[DocumentDate | None]:
    """Return the dates in names, but None if the name of a document with a date in its metadata has the same date.

    `Budget 2024` and `Budget 2024 corrected` are both for 2024, so the year does not show when they were written. It
    must not be compared with the date in the metadata of one of them. `2024` and `2024-06-01` are the same date, too.
    """
    shared = {in_name.key for in_name, dated in zip(in_names, in_metadata, strict=True) if in_name and dated}
    beginnings = {key[:parts] for key in shared for parts in range(1, len(key) + 1)}

    def is_shared(key: tuple[object, ...]) -> bool:
        return key in beginnings or any(key[:parts] in shared for parts in range(1, len(key)))

    return [None if in_name is None or is_shared(in_name.key) else in_name for in_name in in_names]


def _find_date(kind: EvidenceKind, document: DateSources) -> DocumentDate | None:
    return _make_document_date(
        kind,
        find_date_in_name(document.document_path) if kind == "name" else find_date_in_metadata(document.metadata, kind),
    )


def _make_document_date(kind: EvidenceKind, date: Date | None) -> DocumentDate | None:
    return None if date is None else DocumentDate(kind, date, format_date(date), format_iso(date))


def _make_file_date(mtime_ns: int | None) -> DocumentDate | None:
    date = None if mtime_ns is None else date_from_nanoseconds(mtime_ns)
    return None if date is None else DocumentDate("modification time", (mtime_ns,), format_date(date), format_iso(date))
