"""The base class of stores. A store keeps records and runs query plans (`query.plans`). It does not compare texts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from simdoc_search.batches import split_by_count
from simdoc_search.cancellation import StopEvent
from simdoc_search.documents import DocumentKey, SkippedFile, ambiguous_id_message
from simdoc_search.errors import StoreError
from simdoc_search.query.plans import Plan
from simdoc_search.sketch.sentences import decode_simhashes
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.simhash import Simhashes
from simdoc_search.sketch.token_kinds import TokenKindName
from simdoc_search.stores.filters import Condition, Filters
from simdoc_search.stores.record import (
    Candidate,
    Digest,
    DocumentHashes,
    EncodedRecord,
    LeftOutDocument,
    LeftOutIndex,
    Phrase,
    PhraseMatches,
    Record,
    RecordPart,
    RemovalCondition,
    StoredText,
)
from simdoc_search.stores.shared_tokens import TokenMatches

Self = TypeVar("Self")

MAX_DOCUMENTS_COUNTED_BY_CLIENT = 32
"""If the bands of a plan match at most this number of documents, this process reads them and counts shared tokens."""

MAX_BAND_MATCHES = 256
"""If the bands of a plan match more documents than this, its `plan_without_bands` is run instead, which is faster."""


class Candidates(Protocol):
    """The documents that a query plan found, by descending number of shared fingerprint tokens. They are read lazily.

    The order of documents that share the same number of tokens is stable while the store does not change.
    """

    @property
    def plan(self) -> Plan:
        """The plan that was run: the given one, or its `plan_without_bands` if the bands match too many documents."""

    @property
    def left_out(self) -> Sequence[LeftOutDocument]:
        """Of the candidates read so far, those that cannot be compared."""

    @property
    def total(self) -> int:
        """Number of candidates."""

    def __iter__(self) -> Iterator[Candidate]: ...


@dataclass(frozen=True, slots=True)
class StoreInfo:
    """Size and settings of a store.

    Attributes:
        location: folder of the store, or URL of the index.
        document_count: number of documents.
        bytes: size on disk in bytes. It is None if the size cannot be read.
        text_bytes: size of the texts in bytes, extrapolated from a sample. It is None if the store keeps no texts.
        settings: settings of the fingerprints.
        is_text_compressed: whether `text_bytes` is the size on disk. Otherwise, it is the size before compression.
        text_fields: the fields that contain the texts, in an index that simdoc-search did not create.
    """

    location: str
    document_count: int
    bytes: int | None
    text_bytes: int | None
    settings: Settings
    is_text_compressed: bool = True
    text_fields: tuple[str, ...] = ()


Encoder = Callable[[Sequence[Record]], list[EncodedRecord]]
"""Converts records for `Writer.put_encoded`. It is faster to convert many records at once."""

_RECORDS_PER_BATCH = 64


class Writer(Protocol):
    """A writer of a store.

    Leaving the `with` block commits the changes. After an error in the block, a local store discards the changes. An
    engine keeps the changes that it has received.
    """

    encode: Encoder

    @property
    def refused(self) -> Mapping[str, str]:
        """Maps the id of each refused document to the reason for the refusal. It is complete after `commit`."""
        return {}

    def put(self, records: Iterable[Record]) -> None:
        """Add records. Each record replaces an older one with the same id. Only a batch of records is in memory."""
        for batch in split_by_count(records, _RECORDS_PER_BATCH):
            self.put_encoded(self.encode(batch))

    def put_encoded(self, encoded_records: Iterable[EncodedRecord], *, are_new: bool = False) -> None:
        """Add records that the store's `encoder` has converted. Each replaces an older one with the same id.

        If `are_new`, neither the store nor this writer has records with these ids, so a local store replaces nothing.
        """

    def delete(self, ids: Iterable[str]) -> None:
        """Remove the documents with these ids. Unknown ids are ignored."""

    def commit(self, *, timeout: float | None = None) -> None:
        """Make all changes durable and visible to readers.

        If `timeout` is given, a store may stop waiting after this number of seconds, without an error.
        """


class Store(Protocol):
    """Keeps records and finds similar ones. Leaving the block of `with open_store(...) as store:` closes the store.

    Attributes:
        location: the folder of the store, or the URL of the index without secrets.
        settings: the settings of the fingerprints in this store.
        has_texts: whether the store has the texts of its documents.
        is_simdoc_index: whether simdoc-search created the store. Otherwise, it is an index that an application owns.
    """

    location: str
    settings: Settings
    has_texts: bool
    is_simdoc_index: bool

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def info(self) -> StoreInfo:
        """Return the number of documents, the size and the settings."""

    def left_out_indices(self) -> tuple[LeftOutIndex, ...]:
        """If the store is an alias, return its indices that cannot be queried. The result may be a few seconds old."""
        return ()

    def cancellable_by(self: Self, stop: StopEvent) -> Self:
        """Return a copy of this store whose methods raise `StoppedError` soon after `stop` is set."""

    def close(self) -> None:
        """Close the store and its connections."""

    # --- writing ---

    @property
    def encoder(self) -> Encoder:
        """A function that converts records for `Writer.put_encoded`. Worker processes can unpickle and call it."""

    def writer(self) -> AbstractContextManager[Writer]:
        """Return a writer.

        Raises:
            StoreLockedError: the store allows only one writer, and this or another process has one open.
        """

    def remove(self, removals: Mapping[DocumentKey, RemovalCondition]) -> Mapping[DocumentKey, str]:
        """Remove each document if its condition still holds. Other programs may write at the same time.

        Args:
            removals: the conditions, by document.

        Returns:
            The reason for each document that was not removed, by document.
        """

    def remember_skipped_files(self, skipped: Sequence[SkippedFile]) -> None:
        """Replace the list of skipped files. Only a local store in a folder remembers it."""

    # --- reading documents ---

    def skipped_files(self) -> Sequence[SkippedFile]:
        """Return the files that the last indexing run of each folder skipped. Their paths are absolute."""
        return ()

    def get(self, id: str, *, load: Collection[RecordPart] = ()) -> Record | None:
        """Return the record of a document, or None.

        Args:
            id: id of the document.
            load: the parts of the record to load. The other parts are empty.

        Raises:
            StoreError: several documents have this id.
        """
        records = list(self.records([id], load=load))
        if len(records) > 1:
            raise StoreError(ambiguous_id_message(record.key for record in records))
        return records[0] if records else None

    def records(
        self, ids: Iterable[str], *, load: Collection[RecordPart] = (), filters: Filters | None = None
    ) -> Iterator[Record]:
        """Return the records of the documents with these ids that match the filters. Unknown ids are ignored."""

    def texts(self, ids: Iterable[str]) -> Iterator[StoredText]:
        """Return the texts of the documents with these ids, without their fingerprints. This is faster than `records`.

        Unknown ids and documents without a stored text are ignored.
        """
        for record in self.records(ids, load={"text"}):
            if record.text is not None:
                yield StoredText(record.key, record.text, record.text_hash)

    def simhashes(self, ids: Iterable[str]) -> Iterator[tuple[DocumentKey, Simhashes]]:
        """Return the simhashes of the sentences of the documents with these ids. Unknown ids are ignored."""
        return ((record.key, decode_simhashes(record.sentences)) for record in self.records(ids, load={"sentences"}))

    def scan(
        self,
        *,
        load: Collection[RecordPart] = (),
        root_folder: str | None = None,
        only_roots_inside_folder: bool = False,
        filters: Filters | None = None,
        fields: Sequence[str] = (),
    ) -> Iterator[Record]:
        """Yield the records that match the filters, in no particular order. `load` is the same as for `get`.

        The root of a document is the indexed folder that contains its file, or the file itself if the user named it.
        If `root_folder` is given, yield only documents with this root. If `only_roots_inside_folder` is also True,
        yield only documents whose root is inside this folder. Records of an index that simdoc-search did not create
        have the values of `fields` as metadata. Other records always have all metadata.
        """

    def count(self, root_folder: str, *, only_roots_inside_folder: bool = False) -> int:
        """Return the number of documents that `scan` yields for these arguments."""

    def digests(self, ids: Iterable[str]) -> Iterator[Digest]:
        """Return the digests of the documents with these ids. Unknown ids are ignored."""

    def read_fields(
        self, keys: Sequence[DocumentKey], fields: Sequence[str]
    ) -> Mapping[DocumentKey, Mapping[str, Any]]:
        """Return the values of these fields for the documents with these keys. See `candidates` for names of fields.

        Missing documents and fields are omitted.
        """

    def current_hashes(self, keys: Collection[DocumentKey]) -> dict[DocumentKey, DocumentHashes]:
        """Return hashes of the documents with these keys, as they are now. Missing documents are omitted.

        Documents of a store with equal `content` have equal texts and equal metadata, or equal fields in the index of
        an application.
        """
        records = self.records(dict.fromkeys(key.id for key in keys)) if keys else ()
        return {record.key: DocumentHashes(record.digest, record.text_hash) for record in records if record.key in keys}

    def application_fields(self, keys: Sequence[DocumentKey]) -> Mapping[DocumentKey, dict[str, Any]]:
        """Return the fields of each document, without its id, its text and its fingerprint.

        If simdoc-search created the index, return an empty dictionary, because the records have the metadata.
        """
        return {}

    def find_keys(self, id: str, index: str) -> Collection[DocumentKey]:
        """Return the keys of the documents with this id in an index, alias or data stream."""
        return ()

    # --- queries ---

    def candidates(
        self,
        plan: Plan,
        *,
        filters: Filters | None = None,
        exclude: DocumentKey | None = None,
        fields: Sequence[str] = (),
    ) -> Candidates:
        """Return the documents that a plan finds, except the document with the key `exclude`.

        The candidates have the values of `fields`, which are names of metadata fields. In an index that simdoc-search
        did not create, they are fields of the index. Use dots for fields of objects.
        """

    def candidates_of_many(
        self,
        plans: Sequence[tuple[Plan, DocumentKey | None]],
        *,
        filters: Filters | None = None,
        fields: Sequence[str] = (),
    ) -> Sequence[Candidates]:
        """Return the candidates of each plan. `plans` are pairs of a plan and the key to exclude, or None."""
        return [self.candidates(plan, filters=filters, exclude=exclude, fields=fields) for plan, exclude in plans]

    def documents_sharing_tokens(
        self,
        token_ids: NDArray[np.uint32],
        *,
        kind: TokenKindName = "passages",
        filters: Filters | None = None,
        exclude: DocumentKey | None = None,
        size: int,
    ) -> TokenMatches:
        """Return the documents that share tokens of a kind, by descending number of shared tokens.

        Args:
            token_ids: the tokens, in any order; duplicates are ignored. For passages, pass the tokens of a record or
                fingerprint, or the result of `shingle_token_ids`. If the array is two-dimensional, as returned by
                `query_token_ids`, the tokens in a row are alternatives. A document shares a row if it contains at
                least one of its tokens, and the number of shared rows is counted.
            kind: the kind of tokens: `passages`, `sentences` or `concepts`.
            filters: filters that must also match.
            exclude: key of a document to exclude, or None.
            size: maximum number of documents.

        Raises:
            FormatMismatchError: the store has no tokens of this kind. The message says how to add them.
        """

    def concept_frequencies(self, token_ids: NDArray[np.uint32]) -> NDArray[np.int64]:
        """Return the document frequency of each of these concepts.

        A local store also counts deleted and replaced documents until it merges their segments.

        Args:
            token_ids: the ids of the concepts, shape (concepts,). Pass `PARAGRAPH_END` to count all documents that have
                concepts.

        Returns:
            int64, shape (concepts,).

        Raises:
            FormatMismatchError: the store has no concepts. The message says how to add them.
        """

    @property
    def can_find_phrases(self) -> bool:
        """Whether `documents_with_phrases` works for this store."""

    def documents_with_phrases(
        self, phrases: Sequence[Phrase], *, filters: Filters | None = None, exclude: DocumentKey | None = None
    ) -> PhraseMatches:
        """Return the documents that contain at least one of these phrases verbatim.

        A local store compares normalised words. An engine compares the terms that its analyzer
        produces from the text field.

        Args:
            phrases: the phrases, each with at least one word.
            filters: filters that must also match.
            exclude: key of a document to exclude.

        Raises:
            FormatMismatchError: the store cannot find phrases; see `can_find_phrases`.
        """

    # --- names ---

    def ids_with_name(self, name: str, *, filters: Filters | None = None) -> list[str]:
        """Return the sorted ids of the documents that have this name.

        The names of a document are the last path component of its id, the archive member in its id, both of these
        without extension, and the id without extension.
        """

    def ids_with_prefix(self, prefix: str, limit: int) -> list[str]:
        """Return up to `limit` ids that begin with a prefix, sorted."""

    def suggest_ids(self, id: str, *, filters: Filters | None = None) -> list[str]:
        """Return up to ten similar ids of documents that match the filters, best first."""

    def suggest_filter_names(self, condition: Condition) -> list[str] | None:
        """Suggest other names for a condition that no document can match.

        Returns:
            The names of existing fields, if no document has the field of the condition. The names of the top-level
            folders, if the field is `path` and no path begins with one of the values. Otherwise None.
        """
