"""The protocol of a store. A store keeps records and answers plans; it knows nothing of texts or percentages."""

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
from simdoc_search.stores.record import Candidate, Digest, LeftOut, LeftOutIndex, Phrase, PhraseMatches, Record, Removal
from simdoc_search.stores.shared_tokens import SharingDocuments

Self = TypeVar("Self")

MAX_COUNTED_HERE = 32
"""If the bands of a plan match at most this many documents, their equal tokens are counted here."""

MAX_BAND_MATCHES = 256
"""If the bands match more documents, a store runs the plan without bands (`Bands.plain`), which is as fast."""


class Candidates(Protocol):
    """The documents that a plan found, most equal tokens first, read lazily.

    The store chooses the order of documents with equally many. It is stable while the store does not change.
    """

    @property
    def plan(self) -> Plan:
        """The plan that was run: the given one, or `Bands.plain` if its bands match too many documents."""

    @property
    def left_out(self) -> Sequence[LeftOut]:
        """The candidates that cannot be compared, as far as candidates were read."""

    @property
    def total(self) -> int:
        """Number of candidates."""

    def __iter__(self) -> Iterator[Candidate]: ...


@dataclass(frozen=True, slots=True)
class StoreInfo:
    """Size and settings of a store.

    Attributes:
        location: where the store is.
        documents: number of documents.
        bytes: size on disk; None if it cannot be read.
        text_bytes: the part of it that texts take, projected from a sample; None if the store keeps no texts.
        settings: settings of the fingerprints.
        text_compressed: whether `text_bytes` is the size on disk, or the size before an engine compresses texts.
    """

    location: str
    documents: int
    bytes: int | None
    text_bytes: int | None
    settings: Settings
    text_compressed: bool = True


class Writer(Protocol):
    """A writer of a store.

    Leaving its `with` block commits. Leaving it by an error does not, but an engine keeps what it has received.
    """

    @property
    def failed(self) -> Mapping[str, str]:
        """Documents that the store refused for good, with the reason, by id. Complete after `commit`."""

    def put(self, records: Iterable[Record]) -> None:
        """Add records; each replaces an older one with the same id."""

    def delete(self, ids: Iterable[str]) -> None:
        """Remove the documents with these ids; unknown ids are ignored."""

    def commit(self, *, within: float | None = None) -> None:
        """Make all changes durable and visible to readers; a time limit in seconds is kept if the store can."""


class Store(Protocol):
    """A place that keeps records. `with open_store(...) as store:` closes it at the end."""

    def __enter__(self: Self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    @property
    def settings(self) -> Settings:
        """The settings of the fingerprints in this store."""

    @property
    def store_texts(self) -> bool:
        """Whether the store has the texts of its documents."""

    def info(self) -> StoreInfo:
        """Return the number of documents, size and settings."""

    def left_out_indices(self) -> tuple[LeftOutIndex, ...]:
        """Return the indices that cannot be queried; the answer may be some seconds old."""

    def cancellable_by(self: Self, stop: Stop) -> Self:
        """Return the same store for a cancellable caller: soon after `stop` is set, it raises `StoppedError`."""

    def close(self) -> None:
        """Release what is open."""

    # --- writing ---

    def writer(self) -> AbstractContextManager[Writer]:
        """Return a writer. Raises StoreLockedError if only one may be open and another is, here or elsewhere."""

    def remove(self, wanted: Mapping[Place, Removal]) -> Mapping[Place, str]:
        """Remove documents if their conditions hold, whatever others write at the same time.

        Returns:
            Place to reason, for documents that were not removed.
        """

    # --- reading documents ---

    def get(self, id: str, *, text: bool = False, passages: bool = False, sketches: bool = False) -> Record | None:
        """Return the record of a document, or None.

        Args:
            id: id of the document.
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
        """Return the records of the documents with these ids that match the filters. Unknown ids are ignored."""

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
        """Yield all matching records, or only those with this root or a root below it, in no order."""

    def count(self, root: str, *, below: bool = False) -> int:
        """Count the documents with this root, or with a root below it."""

    def digests(self, ids: Iterable[str]) -> Iterator[Digest]:
        """Return the digests of the documents with these ids. Unknown ids are ignored."""

    def fields_at(self, places: Sequence[Place], fields: Sequence[str]) -> Mapping[Place, Mapping[str, Any]]:
        """Return the values of some fields of the documents at these places, as `candidates` does.

        Missing ones are ignored.
        """

    def places_of(self, id: str, index: str) -> Collection[Place]:
        """Return the places of the documents with an id in a named index, alias or data stream."""

    # --- queries ---

    def candidates(
        self, plan: Plan, *, filters: Filters | None = None, exclude: Place | None = None, fields: Sequence[str] = ()
    ) -> Candidates:
        """Return the documents that a plan finds, except the one at `exclude`, with their values of `fields`.

        Fields are those of the metadata; in an application's index its own fields, with dots into objects.
        """

    def candidates_of_many(
        self, plans: Sequence[tuple[Plan, Place | None]], *, filters: Filters | None = None, fields: Sequence[str] = ()
    ) -> Sequence[Candidates]:
        """Run many plans, each with the place to leave out."""

    def documents_sharing(
        self,
        codes: NDArray[np.uint32],
        *,
        among: KindName = "passages",
        filters: Filters | None = None,
        exclude: Place | None = None,
        size: int,
    ) -> SharingDocuments:
        """Return the documents that share tokens of a kind, most shared first, for any number of tokens.

        Args:
            codes: the tokens as numbers; order and repeats do not matter. For passages those of a record or
                fingerprint, or all of `shingle_codes`. Two-dimensional codes, such as those of `query_codes`, count
                rows: a document has a row if it has one of its tokens.
            among: the kind of tokens.
            filters: filters that must also match.
            exclude: place of a document to leave out.
            size: maximum number of documents.

        Raises:
            FormatMismatchError: the store has no tokens of this kind; the message says how to add them.
        """

    def concept_frequencies(self, codes: NDArray[np.uint32]) -> NDArray[np.int64]:
        """Return the document frequency of each of these concepts.

        A local store also counts deleted and replaced documents, until it merges their segment.

        Args:
            codes: the concepts as numbers, shape (concepts,), without ends of paragraphs.

        Returns:
            int64, shape (concepts,).

        Raises:
            FormatMismatchError: the store has no concepts; the message says how to add them.
        """

    @property
    def can_find_phrases(self) -> bool:
        """Whether `documents_with_phrases` can answer."""

    def documents_with_phrases(
        self, phrases: Sequence[Phrase], *, filters: Filters | None = None, exclude: Place | None = None
    ) -> PhraseMatches:
        """Return the documents that contain some of these phrases, word for word.

        A local store compares its own words, an engine those of its text field.

        Args:
            phrases: runs of words, none empty.
            filters: filters that must also match.
            exclude: place of a document to leave out.

        Raises:
            FormatMismatchError: the store cannot find phrases, see `can_find_phrases`.
        """

    # --- names ---

    def ids_with_name(self, name: str, *, filters: Filters | None = None) -> list[str]:
        """Return, sorted, the matching ids whose last path component is `name`, with or without extension."""

    def ids_with_prefix(self, begin: str, limit: int) -> list[str]:
        """Return up to `limit` ids with this prefix, sorted, for shell completion."""

    def suggest(self, id: str, *, filters: Filters | None = None) -> list[str]:
        """Return up to three stored ids similar to this one, best first, that match the filters."""

    def filter_suggestions(self, condition: Condition) -> list[str] | None:
        """Return what to suggest for a field that no document has, or for a path prefix that matches none.

        Returns:
            Names of fields, or of top-level folders; None if a document has the field, or such a path.
        """


class Closable:
    """Base class of stores: a `with` block closes them."""

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release what is open."""
        raise NotImplementedError
