"""The local store: a tantivy index in a folder, or in memory. It needs no server."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import tantivy

from simdoc_search.cancellation import Stop
from simdoc_search.documents import Place
from simdoc_search.errors import StoreError
from simdoc_search.query.plans import Bands, Plan
from simdoc_search.sketch.estimate import count_common
from simdoc_search.sketch.key import HashKey
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.tokens import decode
from simdoc_search.stores.banding import FEW, FLOOD
from simdoc_search.stores.base import StoreInfo
from simdoc_search.stores.fields import indexable
from simdoc_search.stores.filters import Filters
from simdoc_search.stores.local.candidates import LocalCandidates, Page
from simdoc_search.stores.local.errors import engine_errors
from simdoc_search.stores.local.folder import folder_bytes, prepare_folder
from simdoc_search.stores.local.lookups import Lookups
from simdoc_search.stores.local.open_index import IndexInFolder, IndexInMemory
from simdoc_search.stores.local.phrases import PhraseLookups
from simdoc_search.stores.local.queries import build_query, kept, of_root, term
from simdoc_search.stores.local.schema import (
    build_schema,
    codes_of,
    document_at,
    further_fields,
    id_of,
    to_document,
    to_record,
)
from simdoc_search.stores.local.settings_file import INDEX_FOLDER
from simdoc_search.stores.local.shared_tokens import TokenLookups
from simdoc_search.stores.local.writer import LocalWriter, opened_writer
from simdoc_search.stores.record import Digest, Record
from simdoc_search.stores.removal import Removal, refusals

READ_AT_ONCE = 64

SAMPLE = 500


class LocalStore(TokenLookups, PhraseLookups, Lookups):
    """Records in a tantivy index.

    Attributes:
        location: the path of its folder, or `:memory:`.
        store_texts: whether it keeps the texts.
    """

    def __init__(
        self, location: str, folder: Path | None, settings: Settings, store_texts: bool, has_checksums: bool = True
    ) -> None:
        self.location = location
        self.store_texts = store_texts
        self._folder = folder
        self._settings = settings
        self._sums = has_checksums
        schema = build_schema(further_fields(settings))
        with engine_errors("open", location):
            index = (
                IndexInFolder(folder / INDEX_FOLDER, schema if has_checksums else None)
                if folder
                else IndexInMemory(schema)
            )
        self._open: list[IndexInFolder | IndexInMemory] = [index]  # empty when it is closed
        self._schema = index.schema
        self._stop = Stop()

    @classmethod
    def in_folder(
        cls, folder: Path, settings: Settings | None, *, create: bool, store_texts: bool | None, key: HashKey | None
    ) -> LocalStore:
        """The store in a folder; `open_store` says what the arguments mean and what it raises."""
        identity = prepare_folder(folder, settings, create=create, store_texts=store_texts, key=key)
        return cls(str(folder), folder, identity.settings, identity.store_texts, identity.has_checksums)

    @property
    def settings(self) -> Settings:
        """How the fingerprints of this store are made."""
        return self._settings

    def for_writing(self) -> tantivy.Index:
        """The index as a writer needs it."""
        return self._opened().for_writing()

    @contextmanager
    def writer(self) -> Iterator[LocalWriter]:
        """The writer. Raises StoreLockedError while another one is open, in this process or elsewhere."""
        index = self._folder and self._folder / INDEX_FOLDER
        with opened_writer(self._opened(), index, self.location, self._document) as writer:
            yield writer

    def remove(self, wanted: Mapping[Place, Removal]) -> dict[Place, str]:
        """Remove documents under conditions; place to reason, of those that were not removed."""
        with self.writer() as writer:  # nobody else writes meanwhile
            places = {*wanted, *(each.kept[0] for each in wanted.values() if each.kept)}
            now = {each.place: each.text_hash for each in self.records({each.id: None for each in places})}
            left = refusals(wanted, now)
            writer.delete(each.id for each in wanted if each not in left)
        return left

    def get(self, id: str, *, text: bool = False, passages: bool = False, sketches: bool = False) -> Record | None:
        """The record of a document, or None."""
        with self._snapshot() as searcher:
            hits = searcher.search(term(self._schema, "id", id), limit=1, count=False).hits
            return self._record(searcher, hits[0][1], text, passages, sketches) if hits else None

    def records(
        self,
        ids: Iterable[str],
        *,
        text: bool = False,
        passages: bool = False,
        sketches: bool = False,
        filters: Filters | None = None,
    ) -> Iterator[Record]:
        """The records of the documents with these ids that filters keep; others are left out."""
        wanted = [indexable(id) for id in ids]
        with self._snapshot() as searcher:
            query = kept(self._schema, tantivy.Query.term_set_query(self._schema, "id", wanted), filters)
            found = searcher.search(query, limit=max(1, len(wanted)), count=False).hits
        return self._records(searcher, [address for _, address in found], text, passages, sketches)

    def digests(self, ids: Iterable[str]) -> Iterator[Digest]:
        """What is known of the documents with these ids; unknown ids are left out."""
        return (Digest(each.id, each.digest, each.origin) for each in self.records(ids))

    def fields_at(self, places: Sequence[Place], fields: Sequence[str]) -> dict[Place, Mapping[str, Any]]:
        """What the documents at some places have in these fields of their metadata."""
        found = self.records([each.id for each in places])
        return {each.place: {key: each.metadata[key] for key in fields if key in each.metadata} for each in found}

    def places_of(self, id: str, index: str) -> Collection[Place]:  # noqa: ARG002
        """No places, as a local store has no indices."""
        return ()

    def named(self, name: str, *, filters: Filters | None = None) -> list[str]:
        """The ids whose last path component, with or without its ending, is `name`; sorted. Those that filters keep."""
        with self._snapshot() as searcher:
            addresses = _all_addresses(searcher, kept(self._schema, term(self._schema, "names", name), filters))
            return sorted(id_of(searcher.doc(each)) for each in addresses)

    def candidates(
        self, plan: Plan, *, filters: Filters | None = None, exclude: Place | None = None, fields: Sequence[str] = ()
    ) -> LocalCandidates:
        """The documents that a plan finds, without the one at the place `exclude`, with this metadata of theirs."""
        query = partial(build_query, self._schema, plan, filters or {}, exclude)
        with self._snapshot() as searcher:
            few = None
            if isinstance(plan, Bands):
                chosen = searcher.search(query("chosen"), limit=FEW, count=True)
                count: int = chosen.count  # type: ignore[attr-defined] # the stub lacks it
                if count <= FEW:
                    few = self._with_enough(searcher, plan, chosen.hits)
                elif plan.plain and count > FLOOD:
                    plan = plan.plain
                    query = partial(build_query, self._schema, plan, filters or {}, exclude)
        length = self._settings.token_length
        return LocalCandidates(
            self.location, plan, searcher, query, length, has_checksums=self._sums, few=few, fields=fields
        )

    def candidates_of_many(
        self, plans: Sequence[tuple[Plan, Place | None]], *, filters: Filters | None = None, fields: Sequence[str] = ()
    ) -> list[LocalCandidates]:
        """The same for many plans, each with the place to leave out."""
        return [self.candidates(plan, filters=filters, exclude=exclude, fields=fields) for plan, exclude in plans]

    def _with_enough(self, searcher: tantivy.Searcher, plan: Bands, chosen: Page) -> Page:
        """Of the documents that bands let through those with enough equal tokens, which are counted right here."""
        length = self._settings.token_length
        asked = np.sort(decode(plan.tokens, length))
        matched = ((codes_of(document_at(searcher, address, self._sums), length), address) for _, address in chosen)
        hits = [(float(count_common(asked, codes)), address) for codes, address in matched]
        return sorted((hit for hit in hits if hit[0] >= plan.minimum_match), key=itemgetter(0), reverse=True)

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
        """All records, or those with this root, or with one below it, as they are when the iteration begins."""
        with self._snapshot() as searcher:
            addresses = _all_addresses(searcher, of_root(self._schema, root, below, filters))
        yield from self._records(searcher, addresses, text, passages, sketches)

    def count(self, root: str, *, below: bool = False) -> int:
        """How many documents have this root, or one of the roots below it."""
        with self._snapshot() as searcher:
            return int(searcher.search(of_root(self._schema, root, below), limit=1).count)  # type: ignore[attr-defined]

    def info(self) -> StoreInfo:
        """Number of documents, size, settings."""
        with self._snapshot() as searcher:
            size = folder_bytes(self._folder) if self._folder else 0
            texts = self._text_bytes(searcher) if self.store_texts else None
            return StoreInfo(self.location, searcher.num_docs, size, texts, self._settings)

    def _text_bytes(self, searcher: tantivy.Searcher) -> int:
        """The size of the stored texts, projected from some hundred of them."""
        addresses = _all_addresses(searcher, tantivy.Query.all_query())
        sample = addresses[:: len(addresses) // SAMPLE + 1]
        sizes = [len(searcher.doc(address).get_first("text") or b"") for address in sample]
        return round(sum(sizes) / len(sizes) * len(addresses)) if sizes else 0

    def close(self) -> None:
        """Release what is open."""
        self._open.clear()

    def _opened(self) -> IndexInFolder | IndexInMemory:
        self._stop.check()
        if not self._open:
            raise StoreError(f"the store {self.location} is closed; open it again")
        return self._open[0]

    @contextmanager
    def _snapshot(self) -> Iterator[tantivy.Searcher]:
        """The last commit, which later ones leave as it is."""
        index = self._opened()
        with engine_errors("read", self.location):
            yield index.searcher()

    def _records(
        self, searcher: tantivy.Searcher, addresses: list[tantivy.DocAddress], *loaded: bool
    ) -> Iterator[Record]:
        for start in range(0, len(addresses), READ_AT_ONCE):
            some = addresses[start : start + READ_AT_ONCE]
            with engine_errors("read", self.location):
                records = [self._record(searcher, each, *loaded) for each in some]
            yield from records

    def _record(self, searcher: tantivy.Searcher, address: tantivy.DocAddress, *loaded: bool) -> Record:
        """The record at an address, with its text, passages and sketches as is said of each."""
        text, passages, sketches = loaded
        document = document_at(searcher, address, self._sums)
        return to_record(document, self._settings.token_length, text=text, passages=passages, sketches=sketches)

    def _document(self, record: Record) -> tantivy.Document:
        return to_document(record, self._schema, self._settings, self.store_texts)


def _all_addresses(searcher: tantivy.Searcher, query: tantivy.Query) -> list[tantivy.DocAddress]:
    hits = searcher.search(query, limit=max(1, searcher.num_docs), count=False).hits
    return [address for _, address in hits]
