"""The local store: a tantivy index in a folder, or in memory. It needs no server."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import tantivy
from numpy.typing import NDArray

from simdoc_search.cancellation import StopEvent
from simdoc_search.documents import MAX_ID_BYTES, DocumentKey, SkippedFile, unicode_forms
from simdoc_search.errors import FormatMismatchError, StoreError
from simdoc_search.query.plans import BandPlan, Plan
from simdoc_search.sketch.key import HashKey
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.simhash import Simhashes
from simdoc_search.sketch.token_kinds import TOKEN_KINDS, TokenKind, TokenKindName
from simdoc_search.sketch.tokens import encode
from simdoc_search.stores.base import MAX_BAND_MATCHES, MAX_DOCUMENTS_COUNTED_BY_CLIENT, Encoder, Store, StoreInfo
from simdoc_search.stores.fields import (
    METADATA_FIELD,
    alternative_names,
    distinctive_words,
    escape_surrogates,
    field_or_folder_names,
    metadata_prefix,
    most_similar_ids,
)
from simdoc_search.stores.filters import Condition, Filters
from simdoc_search.stores.local.candidates import LocalCandidates, rank_by_shared_tokens
from simdoc_search.stores.local.errors import convert_errors
from simdoc_search.stores.local.folder import find_or_create_manifest
from simdoc_search.stores.local.open_index import IndexInFolder, IndexInMemory
from simdoc_search.stores.local.phrases import find_phrases
from simdoc_search.stores.local.queries import (
    build_query,
    condition_query,
    prefix_query,
    restrict,
    root_query,
    term_query,
    word_query,
)
from simdoc_search.stores.local.schema import build_schema, encode_records, optional_fields, read_id
from simdoc_search.stores.local.settings_file import INDEX_FOLDER
from simdoc_search.stores.local.shared_tokens import find_token_matches
from simdoc_search.stores.local.skipped_files import read_skipped_files, write_skipped_files
from simdoc_search.stores.local.snapshot import Address, Snapshot
from simdoc_search.stores.local.writer import WRITER_THREADS, LocalWriter, choose_heap_bytes
from simdoc_search.stores.record import (
    Digest,
    Phrase,
    PhraseMatches,
    Record,
    RecordPart,
    RemovalCondition,
    StoredText,
)
from simdoc_search.stores.shared_tokens import TokenMatches

MAX_MEASURED_DOCUMENTS = 500
"""Maximum number of documents whose texts are measured for `info`."""

MAX_DOCUMENTS_FOR_FIELD_NAMES = 200
"""Maximum number of documents that are read to suggest other names for an unknown field."""

MAX_IDS_PER_SUGGESTION_QUERY = 20
"""Maximum number of ids that each query for suggestions finds."""


class LocalStore(Store):
    """Keeps records in a tantivy index. `Store` documents the attributes and methods. `location` may be `:memory:`."""

    is_simdoc_index = True

    def __init__(self, location: str, folder: Path | None, settings: Settings, has_texts: bool) -> None:
        self.location = location
        self.has_texts = has_texts
        self._folder = folder
        self.settings = settings
        self._schema = build_schema(optional_fields(settings))
        self._stop = StopEvent()
        with convert_errors("open", location):
            index = IndexInFolder(folder / INDEX_FOLDER, self._schema) if folder else IndexInMemory(self._schema)
        self._open: list[IndexInFolder | IndexInMemory] = [index]  # empty when closed
        self._last_snapshot: dict[object, Snapshot] = {}  # by `commit_id`; at most one

    @classmethod
    def open_folder(
        cls, folder: Path, settings: Settings | None, *, create: bool, store_texts: bool | None, key: HashKey | None
    ) -> LocalStore:
        """Open the store in a folder. See `open_store` for the arguments and errors."""
        manifest = find_or_create_manifest(folder, settings, create=create, store_texts=store_texts, key=key)
        return cls(str(folder), folder, manifest.settings, manifest.store_texts)

    def __reduce__(self) -> tuple[type[LocalStore], tuple[str, Path, Settings, bool]]:
        """Pickle the path. Another process opens the store again.

        Raises:
            TypeError: the store is in memory.
        """
        if self._folder is None:
            raise TypeError("an index in memory cannot be pickled")
        return LocalStore, (self.location, self._folder, self.settings, self.has_texts)

    @property
    def is_in_folder(self) -> bool:
        """Whether the store is in a folder, so that other processes can open it."""
        return self._folder is not None

    def close(self) -> None:
        self._open.clear()
        self._last_snapshot.clear()

    def cancellable_by(self, stop: StopEvent) -> LocalStore:
        other = object.__new__(LocalStore)  # unlike a copy made with `__reduce__`, it shares the open index
        vars(other).update(vars(self), _stop=stop)
        return other

    def info(self) -> StoreInfo:
        snapshot = self._open_snapshot()
        size = _folder_size(self._folder) if self._folder else 0
        text_bytes = _estimate_text_bytes(snapshot) if self.has_texts else None
        return StoreInfo(self.location, snapshot.document_count, size, text_bytes, self.settings)

    # --- writing ---

    def open_for_writing(self) -> tantivy.Index:
        """Return the index for a writer."""
        return self._require_open().open_for_writing()

    @property
    def encoder(self) -> Encoder:
        return partial(encode_records, settings=self.settings, store_text=self.has_texts)

    @contextmanager
    def writer(self) -> Iterator[LocalWriter]:
        folder = self._folder and self._folder / INDEX_FOLDER
        with convert_errors("write to", self.location):
            index_writer = self.open_for_writing().writer(choose_heap_bytes(), WRITER_THREADS)
        try:
            if folder:
                with convert_errors("write to", self.location):
                    index_writer.garbage_collect_files()  # remove files that a failed commit may have left
            yield (writer := LocalWriter(index_writer, folder, self.location, self._schema, self.encoder))
            writer.commit()
        except BaseException:
            with suppress(Exception):
                index_writer.rollback()
            raise
        finally:
            with suppress(Exception):  # an error here cannot affect committed documents
                index_writer.wait_merging_threads()  # this also releases the lock

    def remove(self, removals: Mapping[DocumentKey, RemovalCondition]) -> dict[DocumentKey, str]:
        with self.writer() as writer:  # no other writer can write during the block
            keys = {
                *removals,
                *(removal.kept_key_and_hash[0] for removal in removals.values() if removal.kept_key_and_hash),
            }
            hashes = self.current_hashes(keys)
            problems = {key: removal.find_problem(key, hashes) for key, removal in removals.items()}
            not_removed = {key: problem for key, problem in problems.items() if problem}
            writer.delete(key.id for key in removals if key not in not_removed)
        return not_removed

    def remember_skipped_files(self, skipped: Sequence[SkippedFile]) -> None:
        if self._folder:
            with convert_errors("write to", self.location):
                write_skipped_files(self._folder, skipped)

    # --- reading ---

    def skipped_files(self) -> list[SkippedFile]:
        with convert_errors("read", self.location):
            return read_skipped_files(self._folder) if self._folder else []

    def records(
        self, ids: Iterable[str], *, load: Collection[RecordPart] = (), filters: Filters | None = None
    ) -> Iterator[Record]:
        snapshot = self._open_snapshot()
        return snapshot.read_records(self._find_addresses(snapshot, ids, filters), load=load)

    def texts(self, ids: Iterable[str]) -> Iterator[StoredText]:
        snapshot = self._open_snapshot()
        return snapshot.read_texts(snapshot.find_addresses_by_id(ids))

    def simhashes(self, ids: Iterable[str]) -> Iterator[tuple[DocumentKey, Simhashes]]:
        snapshot = self._open_snapshot()
        return snapshot.read_simhashes(snapshot.find_addresses_by_id(ids))

    def scan(
        self,
        *,
        load: Collection[RecordPart] = (),
        root_folder: str | None = None,
        only_roots_inside_folder: bool = False,
        filters: Filters | None = None,
        fields: Sequence[str] = (),  # noqa: ARG002 - local records have all metadata fields
    ) -> Iterator[Record]:
        snapshot = self._open_snapshot()
        in_root = root_query(self._schema, root_folder, only_roots_inside_folder)
        addresses = snapshot.find_all_addresses(restrict(self._schema, in_root, filters))
        yield from snapshot.read_records(addresses, load=load, cache=False)

    def count(self, root_folder: str, *, only_roots_inside_folder: bool = False) -> int:
        return self._open_snapshot().count(root_query(self._schema, root_folder, only_roots_inside_folder))

    def digests(self, ids: Iterable[str]) -> Iterator[Digest]:
        snapshot = self._open_snapshot()
        return iter(snapshot.read_digests(self._find_addresses(snapshot, ids)))

    def read_fields(self, keys: Sequence[DocumentKey], fields: Sequence[str]) -> dict[DocumentKey, Mapping[str, Any]]:
        records = self.records([key.id for key in keys])
        return {
            record.key: {key: record.metadata[key] for key in fields if key in record.metadata} for record in records
        }

    # --- queries ---

    def candidates(
        self,
        plan: Plan,
        *,
        filters: Filters | None = None,
        exclude: DocumentKey | None = None,
        fields: Sequence[str] = (),
    ) -> LocalCandidates:
        query = partial(build_query, self._schema, plan, filters, exclude)
        snapshot, hits = self._open_snapshot(), None
        if isinstance(plan, BandPlan):
            with_band = snapshot.find_addresses(query("match_bands"), MAX_BAND_MATCHES + 1)
            if len(with_band) <= MAX_DOCUMENTS_COUNTED_BY_CLIENT:
                hits = rank_by_shared_tokens(snapshot, plan, with_band)
            elif plan.plan_without_bands and len(with_band) > MAX_BAND_MATCHES:
                plan = plan.plan_without_bands
                query = partial(build_query, self._schema, plan, filters, exclude)
        return LocalCandidates(plan, snapshot, query, hits=hits, fields=fields)

    def documents_sharing_tokens(
        self,
        token_ids: NDArray[np.uint32],
        *,
        kind: TokenKindName = "passages",
        filters: Filters | None = None,
        exclude: DocumentKey | None = None,
        size: int,
    ) -> TokenMatches:
        token_kind, snapshot = self._require_kind(kind), self._open_snapshot()
        return find_token_matches(snapshot, token_kind, token_ids, filters=filters, exclude=exclude, size=size)

    def concept_frequencies(self, token_ids: NDArray[np.uint32]) -> NDArray[np.int64]:
        kind, snapshot = self._require_kind("concepts"), self._open_snapshot()
        return np.array(
            [snapshot.document_frequency(kind.name, token) for token in encode(token_ids, kind.length)], np.int64
        )

    @property
    def can_find_phrases(self) -> bool:
        return self.settings.indexes_word_pairs

    def documents_with_phrases(
        self, phrases: Sequence[Phrase], *, filters: Filters | None = None, exclude: DocumentKey | None = None
    ) -> PhraseMatches:
        if not self.can_find_phrases:
            raise FormatMismatchError(
                f"the index {self.location} cannot find phrases, because it has no index of words; index the documents "
                "again into a new index that keeps texts"
            )
        return find_phrases(self._open_snapshot(), phrases, filters, exclude)

    # --- names ---

    def ids_with_name(self, name: str, *, filters: Filters | None = None) -> list[str]:
        return sorted(self._find_ids(term_query(self._schema, "names", name), filters=filters))

    def ids_with_prefix(self, prefix: str, limit: int) -> list[str]:
        return sorted(self._find_ids(prefix_query(self._schema, "id", prefix), limit=limit))

    def suggest_ids(self, id: str, *, filters: Filters | None = None) -> list[str]:
        """Return similar ids, best first.

        An id is similar if its edit distance to `id` is at most 2, if it begins with the first two thirds of `id`, or
        if it contains one of the longest words of `id`.
        """
        if len(id) > MAX_ID_BYTES:
            return []  # no stored id is longer than MAX_ID_BYTES
        ids = [escape_surrogates(spelling) for spelling in unicode_forms(id)]
        names = [
            *(("id", form) for form in ids),
            *(("names", name) for form in ids for name in alternative_names(form)),
        ]
        schema = self._schema
        queries = [tantivy.Query.fuzzy_term_query(schema, *name, distance) for distance in (1, 2) for name in names]
        queries += [prefix_query(schema, field, name[: len(name) * 2 // 3]) for field, name in names]
        queries += [word_query(schema, "names", word) for word in distinctive_words(id)]
        return most_similar_ids(id, set(self._find_ids(*queries, filters=filters, limit=MAX_IDS_PER_SUGGESTION_QUERY)))

    def suggest_filter_names(self, condition: Condition) -> list[str] | None:
        snapshot, is_path = self._open_snapshot(), condition.field == "path"
        if is_path:
            query = condition_query(self._schema, condition)
        else:
            query = prefix_query(self._schema, METADATA_FIELD, metadata_prefix(condition.field))
        if snapshot.find_addresses(query, 1):
            return None
        sample = snapshot.find_addresses(tantivy.Query.all_query(), MAX_DOCUMENTS_FOR_FIELD_NAMES)
        return field_or_folder_names(snapshot.read_records(sample), condition)

    def _find_addresses(self, snapshot: Snapshot, ids: Iterable[str], filters: Filters | None = None) -> list[Address]:
        if not filters:
            return snapshot.find_addresses_by_id(ids)
        terms = [escape_surrogates(id) for id in ids]
        query = restrict(self._schema, tantivy.Query.term_set_query(self._schema, "id", terms), filters)
        return snapshot.find_addresses(query, len(terms))

    def _find_ids(
        self, *queries: tantivy.Query, filters: Filters | None = None, limit: int | None = None
    ) -> Iterator[str]:
        snapshot = self._open_snapshot()
        for query in queries:
            found = snapshot.find_addresses(
                restrict(self._schema, query, filters), snapshot.document_count if limit is None else limit
            )
            for address in found:
                yield read_id(snapshot.read_document(address))

    def _require_kind(self, name: TokenKindName) -> TokenKind:
        """Return the token kind with this name. Raises FormatMismatchError if the store does not have this kind."""
        kind = TOKEN_KINDS[name]
        if getattr(self.settings, name) is None:
            raise FormatMismatchError(
                f"the index {self.location} was created without {kind.name}; {kind.how_to_add(self.location)}"
            )
        return kind

    def _require_open(self) -> IndexInFolder | IndexInMemory:
        self._stop.check()
        if not self._open:
            raise StoreError(f"the index {self.location} is closed; open it again")
        return self._open[0]

    def _open_snapshot(self) -> Snapshot:
        """Open the last commit, unless it is already open."""
        index = self._require_open()
        commit_id = index.commit_id
        if commit_id is not None and (last_snapshot := self._last_snapshot.get(commit_id)):
            return last_snapshot
        with convert_errors("read", self.location):
            snapshot = Snapshot(index.searcher(), self._schema, self.settings, self.location)
        self._last_snapshot.clear()
        if commit_id is not None:
            self._last_snapshot[commit_id] = snapshot
        return snapshot


def _estimate_text_bytes(snapshot: Snapshot) -> int:
    """Return the size of the stored texts in bytes, extrapolated from a sample."""
    addresses = snapshot.find_all_addresses(tantivy.Query.all_query())
    sample = addresses[:: len(addresses) // MAX_MEASURED_DOCUMENTS + 1]
    sizes = [len(snapshot.read_document(address).get_first("text") or b"") for address in sample]
    return round(sum(sizes) / len(sizes) * len(addresses)) if sizes else 0


def _folder_size(folder: Path) -> int:
    """Return the size of all files below a folder in bytes. Files that are removed during the count are ignored."""
    size = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                size += (Path(parent) / name).stat().st_size
            except FileNotFoundError:
                continue
    return size
