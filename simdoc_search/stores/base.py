"""What every store can do. A store keeps records and answers plans; it knows nothing of texts or percents."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from simdoc_search.cancellation import Stop
from simdoc_search.documents import Place
from simdoc_search.query.plans import Plan
from simdoc_search.sketch.kinds import KindName
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.filters import Condition, Filters
from simdoc_search.stores.phrases import Phrase, PhraseMatches
from simdoc_search.stores.record import Candidate, Digest, LeftOut, Record
from simdoc_search.stores.removal import Removal
from simdoc_search.stores.shared_tokens import Sharing

Self = TypeVar("Self")


class Candidates(Protocol):
    """The documents that a plan found, most equal tokens first; read lazily.

    Those with as many come in the order of the store, which is the same each time as long as the store is.
    """

    @property
    def plan(self) -> Plan:
        """What was asked: the plan, or `Bands.plain` where its bands let so many through that they save nothing."""

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

    def remove(self, wanted: Mapping[Place, Removal]) -> Mapping[Place, str]:
        """Remove documents under conditions that hold whatever others do at the same time.

        Returns:
            Place to reason, of documents that were not removed.
        """

    def get(self, id: str, *, text: bool = False, passages: bool = False, sketches: bool = False) -> Record | None:
        """The record of a document, or None; with what is asked for.

        Args:
            id: the document's id.
            text: load its text.
            passages: load its passage tokens.
            sketches: load its sentences and concepts.

        Raises:
            StoreError: several documents have this id.
        """

    def records(
        self,
        ids: Iterable[str],
        *,
        text: bool = False,
        passages: bool = False,
        sketches: bool = False,
        filters: Filters | None = None,
    ) -> Iterator[Record]:
        """The records of the documents with these ids that filters keep, all of each id; others are left out."""

    def fields_at(self, places: Sequence[Place], fields: Sequence[str]) -> Mapping[Place, Mapping[str, Any]]:
        """What the documents at some places have in some fields, as `candidates` gives it; what is gone is left out."""

    def places_of(self, id: str, index: str) -> Collection[Place]:
        """The places of the documents with an id behind a name: an index, an alias or a data stream."""

    def digests(self, ids: Iterable[str]) -> Iterator[Digest]:
        """What is known of the documents with these ids; unknown ids are left out."""

    def named(self, name: str, *, filters: Filters | None = None) -> list[str]:
        """The ids whose last path component, with or without its ending, is `name`; sorted. Those that filters keep."""

    def suggest(self, id: str, *, filters: Filters | None = None) -> list[str]:
        """Up to three stored ids that look like this one, best first, of those that filters keep."""

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
        self,
        codes: NDArray[np.uint32],
        *,
        among: KindName = "passages",
        filters: Filters | None = None,
        exclude: Place | None = None,
        size: int,
    ) -> Sharing:
        """The documents that share tokens of a kind, most of them first; however many are asked for.

        Args:
            codes: the tokens as numbers; their order and repeats make no difference. Of passages those of a record, a
                fingerprint, or all of `shingle_codes`. Or rows of them, as of `asked_codes`: then rows are counted, and
                a document shares one of which it has any token.
            among: which kind of tokens they are.
            filters: what else must hold.
            exclude: the place of a document to leave out.
            size: how many documents to give at most.

        Raises:
            FormatMismatchError: the store has no tokens of this kind; the message says how it gets them.
        """

    @property
    def finds_phrases(self) -> bool:
        """Whether `having_phrases` can answer."""

    def having_phrases(
        self, phrases: Sequence[Phrase], *, filters: Filters | None = None, exclude: Place | None = None
    ) -> PhraseMatches:
        """The documents that have some of these phrases, word for word.

        A local store decides by its own words, an engine by those of its text field.

        Args:
            phrases: runs of words, none empty.
            filters: what else must hold.
            exclude: the place of a document to leave out.

        Raises:
            FormatMismatchError: the store cannot find phrases, as `finds_phrases` says.
        """

    def frequencies(self, codes: NDArray[np.uint32]) -> NDArray[np.int64]:
        """In how many documents each of these concepts stands.

        A local store counts documents that were deleted or replaced too, until it merges their segment away.

        Args:
            codes: the concepts as numbers, shape (concepts,); the end of a paragraph is none.

        Returns:
            int64, shape (concepts,).

        Raises:
            FormatMismatchError: the store has no concepts; the message says how it gets them.
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
        sketches: bool = False,
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

    def until(self: Self, stop: Stop) -> Self:
        """The same store for one who may stop waiting for it: when `stop` is set, it soon raises `StoppedError`."""

    def close(self) -> None:
        """Release what is open."""
