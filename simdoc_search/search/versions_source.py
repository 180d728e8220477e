"""The document or text whose versions are looked for, and what is known of it and of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from simdoc_search.documents import MetadataValue, Place
from simdoc_search.errors import NoFingerprintError
from simdoc_search.indexing.roots import absolute, file_of
from simdoc_search.sketch.sentences import sentences_of_codes
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.simhash import Simhashes
from simdoc_search.stores.base import Store
from simdoc_search.stores.record import Record, has_changed
from simdoc_search.stores.sketching import sentences_in
from simdoc_search.versions import DateSources
from simdoc_search.versions.evidence import DATE_FIELDS


@dataclass(frozen=True, slots=True)
class VersionSource:
    """The document or text whose versions are looked for.

    Attributes:
        name: what a person calls it: an id, a path, or nothing of a text without one.
        place: where it is stored; None: it is not.
        sentences: the simhashes of its sentences, in order.
        text: the text, if it is known.
        known: what says when it was written.
        changed: whether its text is another one now than the one that was indexed, which its sentences are of.
    """

    name: str
    place: Place | None
    sentences: Simhashes
    text: str | None
    known: DateSources
    changed: bool = False


def source_of_text(text: str, settings: Settings, file: str, metadata: Mapping[str, MetadataValue]) -> VersionSource:
    """A text that need not be stored; its file, if it has one, gives its name and when it was changed.

    Raises:
        NoFingerprintError: it has no sentence.
        MissingExtraError: sentencex is not installed.
    """
    values = sentences_in(text, settings.analysis)
    if not len(values):
        raise NoFingerprintError(f"{file or 'the text'} has no words, so nothing can be a version of it")
    return VersionSource(file, None, values, text, _known_of_text(file, metadata))


def source_of_record(store: Store, record: Record, *, version_control: bool) -> VersionSource:
    """A stored document, read with its text and its sentences; where the store has none, its text gives them.

    Raises:
        NoFingerprintError: it has none.
        MissingExtraError: sentencex is not installed, and the store has no sentences.
    """
    if store.settings.sentences is None and record.text is not None:
        values = sentences_in(record.text, store.settings.analysis)
    else:
        values = sentences_of_codes(record.sentences)
    if not len(values) and (record.text is not None or store.settings.sentences is not None):
        raise NoFingerprintError(f"the document {record.id!r} has no sentences, so nothing can be a version of it")
    (dated,) = with_dates(store, [record])
    known = known_of(dated, version_control=version_control)
    return VersionSource(record.id, record.place, values, record.text, known, has_changed(record))


def with_dates(store: Store, records: Sequence[Record]) -> list[Record]:
    """Records of an application's own index with the fields that may say when they were written."""
    if getattr(store, "own", True) or not records:
        return list(records)
    fields = store.fields_at([each.place for each in records], DATE_FIELDS)
    return [replace(each, metadata=fields.get(each.place, {})) for each in records]


def known_of(record: Record, *, version_control: bool) -> DateSources:
    """What says when a stored document was written; its file is named only if version control may be asked for it."""
    origin = record.origin
    file = Path(file_of(origin, record.id)) if origin and version_control else None
    return DateSources.of(record, file)


def _known_of_text(file: str, metadata: Mapping[str, MetadataValue]) -> DateSources:
    if not file:
        return DateSources("", metadata)
    path = Path(absolute(file))
    name = "/".join(path.parts[-2:])  # a date in the name of a folder far above is none of the file
    try:
        return DateSources(name, metadata, path.stat().st_mtime_ns, path)
    except OSError:
        return DateSources(name, metadata)
