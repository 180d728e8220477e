"""What every store can do. A store keeps records and answers plans; it knows nothing of texts or percents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from simdoc_search.corpus.document import MetadataValue
from simdoc_search.query.planner import Bands, Threshold
from simdoc_search.sketch.settings import Settings

__all__ = ["Candidate", "Candidates", "Digest", "Filters", "Origin", "Record", "Store", "StoreInfo", "Writer"]

FilterValue = str | int | float | bool
Filters = Mapping[str, FilterValue | list[FilterValue] | list[str]] | Sequence[dict[str, Any]]
"""Field to value, or to several that all must hold. `path` matches documents whose path begins with the value, any
other field by equality of its text form: `{"year": "2020"}` finds the number 2020 as well. On an engine also a list of
its own query clauses, which all must hold."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The file that a record was read from: root folder, size in bytes, time of change in nanoseconds."""

    root: str
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class Record:
    """One document as a store keeps it.

    Attributes:
        id: the document's id.
        codes: the tokens of its fingerprint as numbers, dtype uint32, ascending, none twice.
        shingles: the number of distinct shingles of the text.
        digest: hash of text and metadata; equal digests mean that nothing changed.
        metadata: further fields.
        text: the text itself; None if the store was asked not to load it, or does not keep texts.
        origin: the file it came from, if it did.
    """

    id: str
    codes: NDArray[np.uint32]
    shingles: int
    digest: str
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict)
    text: str | None = None
    origin: Origin | None = None

    @property
    def path(self) -> str:
        """What the filter `path` looks at: the metadata field of that name, else the id."""
        path = self.metadata.get("path")
        return path if isinstance(path, str) else self.id


@dataclass(frozen=True, slots=True)
class Digest:
    """What tells whether a document changed: its id, and digest and origin as in `Record`."""

    id: str
    digest: str
    origin: Origin | None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A document that a plan found.

    Attributes:
        id: the document's id.
        matched: how many of the plan's tokens it has.
        codes: all tokens of its fingerprint as numbers, as in `Record`.
    """

    id: str
    matched: int
    codes: NDArray[np.uint32]


class Candidates(Protocol):
    """The documents that a plan found, most equal tokens first, ties by id; read lazily."""

    @property
    def total(self) -> int:
        """How many there are."""

    def __iter__(self) -> Iterator[Candidate]: ...


@dataclass(frozen=True, slots=True)
class StoreInfo:
    """What `info` shows.

    Attributes:
        location: where the store is.
        documents: how many there are.
        bytes: size of all of it on disk; None if we may not know.
        text_bytes: what the texts take of it, projected from some documents; None if none are kept.
        settings: how the fingerprints are made.
        text_compressed: whether `text_bytes` are those on disk, or those before an engine compresses them.
    """

    location: str
    documents: int
    bytes: int | None
    text_bytes: int | None
    settings: Settings
    text_compressed: bool = True


class Writer(Protocol):
    """A writer of a store.

    Leaving its `with` block commits; leaving it by an error does not, though an engine keeps what it was sent.
    """

    @property
    def failed(self) -> Mapping[str, str]:
        """What the store refused for good: id to reason. Complete after `commit`."""

    def put(self, records: Iterable[Record]) -> None:
        """Add the records, each in the place of an older one with the same id."""

    def delete(self, ids: Iterable[str]) -> None:
        """Remove the documents with these ids; unknown ids are ignored."""

    def commit(self) -> None:
        """Make everything so far durable and visible to readers."""


class Store(Protocol):
    """A place that keeps records."""

    @property
    def settings(self) -> Settings:
        """How the fingerprints of this store are made."""

    def writer(self) -> AbstractContextManager[Writer]:
        """A writer. Raises StoreLockedError where only one may be open, in this process or elsewhere, and one is."""

    def get(self, id: str, *, text: bool = False) -> Record | None:
        """The record of a document, or None."""

    def records(self, ids: Iterable[str]) -> Iterator[Record]:
        """The records of the documents with these ids, without texts; unknown ids are left out."""

    def digests(self, ids: Iterable[str]) -> Iterator[Digest]:
        """What is known of the documents with these ids; unknown ids are left out."""

    def named(self, name: str) -> list[str]:
        """The ids whose last path component, with or without its ending, is `name`; sorted."""

    def suggest(self, id: str) -> list[str]:
        """Up to three stored ids that look like this one, best first."""

    def candidates(
        self, plan: Threshold | Bands, *, filters: Filters | None = None, exclude: str | None = None
    ) -> Candidates:
        """The documents that a plan finds, without the one whose id is `exclude`."""

    def candidates_of_many(
        self, plans: Sequence[tuple[Threshold | Bands, str | None]], *, filters: Filters | None = None
    ) -> Sequence[Candidates]:
        """The same for many plans, each with the id to leave out."""

    def scan(self, *, text: bool = False) -> Iterator[Record]:
        """All records, in no particular order."""

    def info(self) -> StoreInfo:
        """Number of documents, size, settings."""

    def close(self) -> None:
        """Release what is open."""
