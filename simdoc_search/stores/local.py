"""The local store: a tantivy index in a folder, or in memory. It needs no server."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import numpy as np
import tantivy

from simdoc_search.errors import StoreError
from simdoc_search.interrupts import interrupts_deferred
from simdoc_search.query.planner import Bands, Threshold
from simdoc_search.sketch.estimate import count_common
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.tokens import decode
from simdoc_search.stores.base import Candidate, Digest, Filters, Record, StoreInfo
from simdoc_search.stores.fields import indexable
from simdoc_search.stores.local_folder import INDEX_FOLDER, engine_errors, folder_bytes, prepare_folder
from simdoc_search.stores.local_query import build_query, term
from simdoc_search.stores.local_schema import build_schema, codes_of, id_of, to_document, to_record
from simdoc_search.stores.local_suggest import suggestions

__all__ = ["LocalCandidates", "LocalStore", "LocalWriter"]

HEAP_BYTES = 128_000_000
"""Memory of the writer, after which it writes a segment."""

WRITER_THREADS = 1
"""A second one gains a tenth, and leaves twice the segments to merge."""

_Page = list[tuple[float, tantivy.DocAddress]]
FIRST_PAGE = 32
PAGE_GROWTH = 4
READ_AT_ONCE = 64
SAMPLE = 500


class LocalStore:
    """Records in a tantivy index.

    Attributes:
        location: the path of its folder, or `:memory:`.
        store_texts: whether it keeps the texts.
    """

    def __init__(self, location: str, folder: Path | None, settings: Settings, store_texts: bool) -> None:
        self.location = location
        self.store_texts = store_texts
        self._folder = folder
        self._settings = settings
        self._path = None if folder is None else str(folder / INDEX_FOLDER)
        self._schema = build_schema()
        with engine_errors("open", location):
            self._index: tantivy.Index | None = _without_reloads(tantivy.Index(self._schema, self._path))

    @classmethod
    def in_folder(
        cls, folder: Path, settings: Settings | None, *, create: bool, store_texts: bool | None
    ) -> LocalStore:
        """The store in a folder; `open_store` says what the arguments mean and what it raises."""
        stored, keeps_texts = prepare_folder(folder, settings, create=create, store_texts=store_texts)
        return cls(str(folder), folder, stored, keeps_texts)

    @property
    def settings(self) -> Settings:
        """How the fingerprints of this store are made."""
        return self._settings

    @contextmanager
    def writer(self) -> Iterator[LocalWriter]:
        """The writer. Raises StoreLockedError while another one is open, in this process or elsewhere."""
        with engine_errors("write to", self.location):
            engine = self._fresh_index().writer(HEAP_BYTES, WRITER_THREADS)
        writer = LocalWriter(self, engine)
        try:
            yield writer
            writer.commit()
        except BaseException:
            with suppress(Exception):
                engine.rollback()
            raise
        finally:
            with suppress(Exception):  # what was committed is safe
                engine.wait_merging_threads()  # and gives the lock back

    def get(self, id: str, *, text: bool = False) -> Record | None:
        """The record of a document, or None."""
        with self._snapshot() as searcher:
            hits = searcher.search(term(self._schema, "id", id), limit=1, count=False).hits
            return self._record(searcher, hits[0][1], text) if hits else None

    def records(self, ids: Iterable[str]) -> Iterator[Record]:
        """The records of the documents with these ids, without texts; unknown ids are left out."""
        wanted = [indexable(id) for id in ids]
        with self._snapshot() as searcher:
            query = tantivy.Query.term_set_query(self._schema, "id", wanted)
            found = searcher.search(query, limit=max(1, len(wanted)), count=False).hits
            return iter([self._record(searcher, address, text=False) for _, address in found])

    def digests(self, ids: Iterable[str]) -> Iterator[Digest]:
        """What is known of the documents with these ids; unknown ids are left out."""
        return (Digest(each.id, each.digest, each.origin) for each in self.records(ids))

    def named(self, name: str) -> list[str]:
        """The ids whose last path component, with or without its ending, is `name`; sorted."""
        with self._snapshot() as searcher:
            addresses = _all_addresses(searcher, term(self._schema, "names", name))
            return sorted(id_of(searcher.doc(each)) for each in addresses)

    def suggest(self, id: str) -> list[str]:
        """Up to three stored ids that look like this one, best first."""
        with self._snapshot() as searcher:
            return suggestions(searcher, self._schema, id)

    def candidates(
        self, plan: Threshold | Bands, *, filters: Filters | None = None, exclude: str | None = None
    ) -> LocalCandidates:
        """The documents that a plan finds, without the one whose id is `exclude`."""
        with self._snapshot() as searcher:
            few = self._few(searcher, plan, filters or {}, exclude) if isinstance(plan, Bands) else None
            query = tantivy.Query.empty_query() if few else build_query(self._schema, plan, filters or {}, exclude)
        return LocalCandidates(self.location, searcher, query, self._settings.token_length, few)

    def candidates_of_many(
        self, plans: Sequence[tuple[Threshold | Bands, str | None]], *, filters: Filters | None = None
    ) -> list[LocalCandidates]:
        """The same for many plans, each with the id to leave out."""
        return [self.candidates(plan, filters=filters, exclude=exclude) for plan, exclude in plans]

    def _few(
        self, searcher: tantivy.Searcher, plan: Bands, filters: Filters, exclude: str | None
    ) -> tuple[_Page, int] | None:
        """The candidates of bands, counted right here; None if there are too many for that."""
        choosing = build_query(self._schema, plan, filters, exclude, scored=False)
        found = searcher.search(choosing, limit=FIRST_PAGE, count=True)
        count: int = found.count  # type: ignore[attr-defined] # the stub lacks it
        if count > FIRST_PAGE:
            return None
        length = self._settings.token_length
        asked = np.sort(decode(plan.tokens, length))
        matched = ((codes_of(searcher.doc(address), length), address) for _, address in found.hits)
        hits = [(float(count_common(asked, codes)), address) for codes, address in matched]
        return sorted(hits, key=itemgetter(0), reverse=True), count

    def scan(self, *, text: bool = False) -> Iterator[Record]:
        """All records, in no particular order, as they are when the iteration begins."""
        with self._snapshot() as searcher:
            addresses = _all_addresses(searcher, tantivy.Query.all_query())
        yield from self._records(searcher, addresses, text)

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
        self._index = None

    def _opened(self) -> tantivy.Index:
        if self._index is None:
            raise StoreError(f"the store {self.location} is closed; open it again")
        return self._index

    def _fresh_index(self) -> tantivy.Index:
        """The index as a writer needs it.

        One that was opened earlier does not know the files that others wrote since, and would strike them off
        the list of those that may be deleted one day. One with a reader would keep what the reader has open.
        """
        index = self._opened()
        return index if self._path is None else _without_reloads(tantivy.Index.open(self._path))

    @contextmanager
    def _snapshot(self) -> Iterator[tantivy.Searcher]:
        """The last commit, which later ones leave as it is."""
        index = self._opened()
        with engine_errors("read", self.location):
            index.reload()
            yield index.searcher()

    def _records(
        self, searcher: tantivy.Searcher, addresses: list[tantivy.DocAddress], text: bool = False
    ) -> Iterator[Record]:
        for start in range(0, len(addresses), READ_AT_ONCE):
            with engine_errors("read", self.location):
                records = [self._record(searcher, each, text) for each in addresses[start : start + READ_AT_ONCE]]
            yield from records

    def _record(self, searcher: tantivy.Searcher, address: tantivy.DocAddress, text: bool) -> Record:
        return to_record(searcher.doc(address), self._settings.token_length, text=text)

    def _document(self, record: Record) -> tantivy.Document:
        return to_document(record, self._schema, self._settings.token_length, self.store_texts)


class LocalWriter:
    """What `LocalStore.writer` gives."""

    def __init__(self, store: LocalStore, engine: tantivy.IndexWriter) -> None:
        self._store = store
        self._engine = engine
        self.failed: Mapping[str, str] = {}

    def put(self, records: Iterable[Record]) -> None:
        """Add the records, each in the place of an older one with the same id."""
        for record in records:
            with engine_errors("write to", self._store.location):
                document = self._store._document(record)
                with interrupts_deferred():  # a replacement is both
                    self._engine.delete_documents_by_term("id", record.id)
                    self._engine.add_document(document)

    def delete(self, ids: Iterable[str]) -> None:
        """Remove the documents with these ids; unknown ids are ignored."""
        for each in ids:
            with engine_errors("write to", self._store.location):
                self._engine.delete_documents_by_term("id", each)

    def commit(self) -> None:
        """Make everything so far durable and visible to readers."""
        with engine_errors("write to", self._store.location):
            self._engine.commit()


class LocalCandidates:
    """The documents that a plan found, most equal tokens first, ties by id; read lazily, in growing pages."""

    def __init__(
        self,
        location: str,
        searcher: tantivy.Searcher,
        query: tantivy.Query,
        token_length: int,
        first: tuple[_Page, int] | None = None,
    ) -> None:
        self._location = location
        self._searcher = searcher
        self._query = query
        self._token_length = token_length
        self._first = first or self._page(FIRST_PAGE)

    @property
    def total(self) -> int:
        """How many there are."""
        return self._first[1]

    def __iter__(self) -> Iterator[Candidate]:
        size, done = FIRST_PAGE, 0
        while done < self.total:
            hits = self._first[0] if size == FIRST_PAGE else self._page(size)[0]
            levels = [list(level) for _, level in groupby(hits[done:], itemgetter(0))]
            if len(hits) < self.total:
                levels.pop()  # More documents with this many equal tokens may lie beyond the page.
            for level in levels:
                done += len(level)
                yield from self._in_order(level)
            size *= PAGE_GROWTH

    def _in_order(self, level: _Page) -> Iterator[Candidate]:
        with engine_errors("read", self._location):
            documents = (self._searcher.doc(address) for _, address in level)  # one at a time: they hold the texts
            by_id = sorted((id_of(each), codes_of(each, self._token_length)) for each in documents)
        matched = int(level[0][0])
        for id, codes in by_id:
            yield Candidate(id, matched, codes)

    def _page(self, size: int) -> tuple[_Page, int]:
        with engine_errors("read", self._location):
            found = self._searcher.search(self._query, limit=size, count=True)
            return found.hits, found.count  # type: ignore[attr-defined] # the stub lacks it


def _without_reloads(index: tantivy.Index) -> tantivy.Index:
    """The index without the thread that looks for commits twice a second: each call looks for itself."""
    index.config_reader("manual")
    return index


def _all_addresses(searcher: tantivy.Searcher, query: tantivy.Query) -> list[tantivy.DocAddress]:
    hits = searcher.search(query, limit=max(1, searcher.num_docs), count=False).hits
    return [address for _, address in hits]
