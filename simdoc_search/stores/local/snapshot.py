"""Searches one commit of a local store, and reads documents from it."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Iterator, Sequence
from sys import getsizeof

from tantivy import DocAddress, Document, Query, Schema, Searcher

from simdoc_search.documents import DocumentKey
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.simhash import Simhashes
from simdoc_search.stores.fields import escape_surrogates
from simdoc_search.stores.local.errors import convert_errors
from simdoc_search.stores.local.schema import (
    read_document,
    read_id,
    read_simhashes,
    to_digest,
    to_record,
    to_stored_text,
)
from simdoc_search.stores.record import Digest, Record, RecordPart, StoredText

Address = tuple[int, int]
"""The address of a document in a snapshot: the index of its segment, and its position in the segment."""

BATCH_SIZE = 64

MAX_CACHED_BYTES = 32 << 20
"""Maximum size of the documents and texts that a snapshot keeps in memory. A query reads most of them several times."""

_BYTES_WITHOUT_TEXT = 4096  # approximate size of a document in memory, without its text


class PackedAddresses:
    """The addresses of many documents, which need 8 bytes each. A list of tuples needs 100."""

    def __init__(self, addresses: Iterable[DocAddress]) -> None:
        self._packed = array("Q", (address.segment_ord << 32 | address.doc for address in addresses))

    def __len__(self) -> int:
        return len(self._packed)

    def __getitem__(self, part: slice) -> list[Address]:
        return [divmod(packed, 1 << 32) for packed in self._packed[part]]


class Snapshot:
    """One commit of a local store. Later commits do not change it."""

    def __init__(self, searcher: Searcher, schema: Schema, settings: Settings, location: str) -> None:
        self.schema: Schema = schema
        self.settings: Settings = settings
        self.location: str = location
        self._searcher = searcher
        self._cached_documents: dict[Address, Document] = {}
        self._cached_texts: dict[Address, StoredText] = {}
        self._cached_addresses: dict[str, Address] = {}  # by id
        self._cached_bytes = 0

    @property
    def document_count(self) -> int:
        """Number of documents."""
        return self._searcher.num_docs

    def _search(self, query: Query, limit: int) -> list[tuple[float, DocAddress]]:
        """Return the scores and addresses of the best documents. The order of equal scores may differ between calls."""
        with convert_errors("read", self.location):
            return self._searcher.search(query, limit=max(1, limit), count=False).hits

    def find_addresses(self, query: Query, limit: int) -> list[Address]:
        """Return the addresses of at most `limit` documents, best first."""
        return [(address.segment_ord, address.doc) for _, address in self._search(query, limit)]

    def find_all_addresses(self, query: Query) -> PackedAddresses:
        """Return the addresses of all documents that a query finds."""
        return PackedAddresses(address for _, address in self._search(query, self.document_count))

    def iterate_hits(
        self, query: Query, size: int, growth: int, *, minimum: float = 0, skipped_addresses: Iterable[Address] = ()
    ) -> Iterator[tuple[float, Address]]:
        """Yield the scores and addresses of distinct documents, by descending score.

        The first page has `size` documents, and pages grow by the factor `growth`. Each page contains the documents of
        the previous pages again.
        """
        yielded = set(skipped_addresses)
        while True:
            hits = self._search(query, size)
            for score, found in hits:
                if score < minimum:
                    return
                address = found.segment_ord, found.doc
                if address not in yielded:
                    yielded.add(address)
                    yield score, address
            if len(hits) < size:
                return
            size *= growth

    def count(self, query: Query) -> int:
        """Return the number of documents that a query finds."""
        with convert_errors("read", self.location):
            result = self._searcher.search(query, limit=1, count=True)
            return int(result.count)  # type: ignore[attr-defined] # missing in the stub

    def document_frequency(self, field: str, term: str) -> int:
        """Return the number of documents with a term. It includes deleted documents until their segments are merged."""
        return self._searcher.doc_freq(field, term)

    def find_addresses_by_id(self, ids: Iterable[str]) -> list[Address]:
        """Return the addresses of the documents with these ids, in ascending order."""
        unknown, addresses = [], set()
        for id in ids:
            if address := self._cached_addresses.get(id):
                addresses.add(address)
            elif self.document_frequency("id", term := escape_surrogates(id)):
                unknown.append(term)
        if unknown:
            query = Query.term_set_query(self.schema, "id", unknown)
            addresses.update(self.find_addresses(query, len(unknown)))
        return sorted(addresses)

    def read_document(self, address: Address, *, cache: bool = True) -> Document:
        """Read a document, and verify its checksum. If `cache`, the document is cached in memory."""
        if document := self._cached_documents.get(address):
            return document
        with convert_errors("read", self.location):
            document = read_document(self._searcher, DocAddress(*address))
        if cache:
            size = _BYTES_WITHOUT_TEXT + len(document.get_first("text") or b"")
            if self._reserve_cache_space(address, read_id(document), size):
                self._cached_documents[address] = document
        return document

    def _reserve_cache_space(self, address: Address, id: str, size: int) -> bool:
        """Make room for `size` bytes of a document, and cache its address. Return False if they exceed the cache."""
        if size > MAX_CACHED_BYTES:
            return False
        if self._cached_bytes + size > MAX_CACHED_BYTES:
            self._cached_documents, self._cached_texts, self._cached_addresses, self._cached_bytes = {}, {}, {}, 0
        self._cached_addresses[id] = address
        self._cached_bytes += size
        return True

    def read_digests(self, addresses: Iterable[Address]) -> list[Digest]:
        """Return the digests of the documents at these addresses."""
        return [to_digest(self.read_document(address, cache=False)) for address in addresses]

    def read_texts(self, addresses: Iterable[Address]) -> Iterator[StoredText]:
        """Yield the texts of the documents at these addresses. Documents without a stored text are omitted."""
        for address in addresses:
            stored = self._cached_texts.get(address)
            if stored is None:
                document = self.read_document(address, cache=False)
                with convert_errors("read", self.location):
                    stored = to_stored_text(document)
                if stored is None:
                    continue
                if self._reserve_cache_space(address, stored.key.id, getsizeof(stored.text)):
                    self._cached_texts[address] = stored
            yield stored

    def read_simhashes(self, addresses: Iterable[Address]) -> Iterator[tuple[DocumentKey, Simhashes]]:
        """Yield the keys of the documents at these addresses with the simhashes of their sentences."""
        for address in addresses:
            document = self.read_document(address)
            with convert_errors("read", self.location):
                simhashes = read_simhashes(document)
            yield DocumentKey(read_id(document)), simhashes

    def read_records(
        self,
        addresses: Sequence[Address] | PackedAddresses,
        *,
        load: Collection[RecordPart] = (),
        cache: bool = True,
    ) -> Iterator[Record]:
        """Yield the records at these addresses. See `Store.get` and `read_document` for the options."""
        for start in range(0, len(addresses), BATCH_SIZE):
            batch = addresses[start : start + BATCH_SIZE]
            documents = [self.read_document(address, cache=cache) for address in batch]
            with convert_errors("read", self.location):
                records = [to_record(document, self.settings, load=load) for document in documents]
            yield from records
