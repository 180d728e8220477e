"""What every store can do. A store keeps records and answers plans; it knows nothing of texts or percents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from simdoc_search.documents import MetadataValue, Place
from simdoc_search.query.plans import Plan
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.winnow import no_passages
from simdoc_search.stores.filters import Condition, Filters
from simdoc_search.stores.sharing import Sharing

__all__ = [
    "Candidate",
    "Candidates",
    "Digest",
    "Filters",
    "LeftOut",
    "Origin",
    "Record",
    "Store",
    "StoreInfo",
    "Writer",
]

Self = TypeVar("Self")


@dataclass(frozen=True, slots=True)
class Origin:
    """The file that a record was read from.

    Attributes:
        root: the absolute path of the indexed folder, or of the file itself if that was named.
        size: in bytes.
        mtime_ns: time of the last change in nanoseconds.
        prefix: what stands in the id before the path below the root.
    """

    root: str
    size: int
    mtime_ns: int
    prefix: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """One document as a store keeps it.

    Attributes:
        id: the document's id.
        codes: the tokens of its fingerprint as numbers, dtype uint32, ascending, none twice.
        shingles: the number of distinct shingles of the text.
        digest: hash of text and metadata; equal digests mean that nothing changed. Only stores of our own have it.
        metadata: further fields.
        text: the text itself; None if the store was asked not to load it, or does not keep texts.
        origin: the file it came from, if it did.
        text_hash: hash of the text alone, the same in every index; empty if the store has none.
        words_hash: hash of its normalised words, the same whatever their letter case and punctuation.
        fault: what of it cannot be read, as others wrote it; that part is empty then.
        passages: its passage tokens as numbers of 30 bits, dtype uint32, ascending, none twice; empty if the store was
            not asked to load them, or has none.
        sentences: the tokens of its sentences, four of each in order (`codes_of_sentences`); empty likewise.
        concepts: the tokens of its concepts, paragraph by paragraph (`sketch.concepts`); empty likewise.
        index: the index of an engine that it was read from; where it is written, the store decides.
        routing: as in `Place`.
    """

    id: str
    codes: NDArray[np.uint32]
    shingles: int
    digest: str
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict)
    text: str | None = None
    origin: Origin | None = None
    text_hash: str = ""
    words_hash: str = ""
    fault: str = ""
    passages: NDArray[np.uint32] = field(default_factory=no_passages)
    sentences: NDArray[np.uint32] = field(default_factory=no_passages)
    concepts: NDArray[np.uint32] = field(default_factory=no_passages)
    index: str | None = None
    routing: str | None = None

    @property
    def place(self) -> Place:
        """Where it was read."""
        return Place(self.id, self.index, self.routing)

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
        place: where it is.
        matched: how many of the plan's tokens it has.
        codes: all tokens of its fingerprint as numbers, as in `Record`.
        fields: what it has in the fields that were asked for.
    """

    place: Place
    matched: int
    codes: NDArray[np.uint32]
    fields: Mapping[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """Its id."""
        return self.place.id


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A document that a plan found, and that cannot be compared: where it is, and what is wrong with it."""

    place: Place
    reason: str

    @property
    def id(self) -> str:
        """Its id."""
        return self.place.id


class Candidates(Protocol):
    """The documents that a plan found, most equal tokens first; read lazily.

    Those with as many come in the order of the store, which is the same each time as long as the store is.
    """

    @property
    def left_out(self) -> Sequence[LeftOut]:
        """Those of them that were left out, as far as they were read."""

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

    def commit(self, *, within: float | None = None) -> None:
        """Make everything so far durable and visible to readers; or what can be within so many seconds, if it can."""


class Store(Protocol):
    """A place that keeps records; `with open_store(...) as store:` closes it at the end."""

    def __enter__(self: Self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    @property
    def settings(self) -> Settings:
        """How the fingerprints of this store are made."""

    @property
    def store_texts(self) -> bool:
        """Whether it has the texts of its documents."""

    def writer(self) -> AbstractContextManager[Writer]:
        """A writer. Raises StoreLockedError where only one may be open, in this process or elsewhere, and one is."""

    def remove(self, wanted: Mapping[Place, str]) -> Mapping[Place, str]:
        """Remove documents, each if its `text_hash` still is this; place to reason, of those that were not removed."""

    def get(self, id: str, *, text: bool = False, passages: bool = False) -> Record | None:
        """The record of a document, or None; with its text and its passage tokens, if they are asked for.

        Raises StoreError if several have this id.
        """

    def records(self, ids: Iterable[str], *, text: bool = False, passages: bool = False) -> Iterator[Record]:
        """The records of the documents with these ids, all of each id; unknown ids are left out."""

    def digests(self, ids: Iterable[str]) -> Iterator[Digest]:
        """What is known of the documents with these ids; unknown ids are left out."""

    def named(self, name: str) -> list[str]:
        """The ids whose last path component, with or without its ending, is `name`; sorted."""

    def suggest(self, id: str) -> list[str]:
        """Up to three stored ids that look like this one, best first."""

    def candidates(
        self, plan: Plan, *, filters: Filters | None = None, exclude: Place | None = None, fields: Sequence[str] = ()
    ) -> Candidates:
        """The documents that a plan finds, without the one at the place `exclude`, with what they have in `fields`.

        Fields are those of the metadata; in an index of an application's own its fields, with dots into objects.
        """

    def candidates_of_many(
        self, plans: Sequence[tuple[Plan, Place | None]], *, filters: Filters | None = None, fields: Sequence[str] = ()
    ) -> Sequence[Candidates]:
        """The same for many plans, each with the place to leave out."""

    def sharing(
        self, passages: NDArray[np.uint32], *, filters: Filters | None = None, exclude: Place | None = None, size: int
    ) -> Sharing:
        """The documents that share passage tokens, most of them first; however many are asked for.

        Args:
            passages: the tokens as numbers: those of a record, a fingerprint, or all of `shingle_codes`.
            filters: what else must hold.
            exclude: the place of a document to leave out.
            size: how many documents to give at most.

        Raises:
            FormatMismatchError: the store has no passage tokens; the message says how it gets them.
        """

    def beginning(self, begin: str, limit: int) -> list[str]:
        """Some ids that begin so, at most `limit`, for a shell that completes them; sorted."""

    def alternatives(self, condition: Condition) -> list[str] | None:
        """What documents have in place of a field that none of them has, or of a path that none begins with.

        Returns:
            Names of fields, or of folders at the top; None if a document has the field, or such a path.
        """

    def scan(
        self,
        *,
        text: bool = False,
        passages: bool = False,
        root: str | None = None,
        below: bool = False,
        filters: Filters | None = None,
    ) -> Iterator[Record]:
        """All records, or those with this root, or with one of the roots below it; in no particular order.

        Of these the ones for which the filters hold.
        """

    def count(self, root: str, *, below: bool = False) -> int:
        """How many documents have this root, or one of the roots below it."""

    def info(self) -> StoreInfo:
        """Number of documents, size, settings."""

    def close(self) -> None:
        """Release what is open."""
