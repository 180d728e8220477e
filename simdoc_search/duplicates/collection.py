"""All documents of a store as a few arrays: what finding duplicates needs of each, and no object for any of them.

In memory a document takes the bytes of its id, 4 for each token, and some 300 more while pairs are looked for; of up to
262,000 documents another kilobyte each. Tokens beyond a limit go into a temporary file that is mapped into memory. A
pair that may overlap enough takes 35. Where tokens are not held, a document takes its id and some 250 bytes.
"""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable

import numpy as np

from simdoc_search.documents import MetadataValue, Place
from simdoc_search.duplicates.buffers import StringBuffer, TokenBuffer
from simdoc_search.duplicates.keep_order import Keep, KeepCriteria
from simdoc_search.duplicates.paths import ARCHIVE_GONE, FILE_GONE, file_path, is_within, missing
from simdoc_search.duplicates.table import Ints, Table
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.tokens import hash_bits
from simdoc_search.stores.record import Origin, Record
from simdoc_search.versions.evidence import nanoseconds_written

TOKEN_BYTES = 1 << 30
"""Bytes of tokens that are held in memory: those of 500,000 long documents, or of millions of short ones."""

_REPORTED = 256
_HASH_BYTES = 16
_UNKNOWN = bytes(_HASH_BYTES)

_Source = tuple[str, str, str | None, str | None]
"""Root and prefix of a file; index and routing of an engine's document."""


class Documents:
    """Documents by number: the one that is to be kept before another one has the smaller number.

    Attributes:
        table: their fingerprints.
        texts: a number per document, equal where the texts are; int64, shape (documents,).
        words: the same for their words.
        contents: the same for text and metadata, in an archive for the bytes too; a file has a number of its own.
        sizes: bytes of their files; -1: not known, or in an archive, where nothing is saved.
        changed: when their files last changed, in nanoseconds; 0: not known.
        fresh_from: the number of the first document that is to be compared; those before it only with later ones.
        has_field: whether any has the metadata field that decides who is kept.
        has_chosen: whether any was kept before, or is where documents are to be kept.
        has_date: whether it is known of any when its file changed.
        left_out: place to reason, of those that cannot be compared.
        gone: how many of those have lost their file, by the folder or file that was indexed.
        keys: the `content_key` of each, where tokens are not held; int64, shape (documents,), else (0,).
        sized, hashed: whether the store has the number of shingles, and the hash of the words, of each.
    """

    def __init__(self, collector: _Collector, settings: Settings, keep: Keep) -> None:
        self._ids = collector.ids
        self._sources = list(collector.sources)
        counts = np.frombuffer(collector.counts, np.int64)
        shingles = np.frombuffer(collector.shingles, np.int64)
        sizes, changed = np.frombuffer(collector.sizes, np.int64), np.frombuffer(collector.changed, np.int64)
        fresh, chosen = (np.frombuffer(each, bool) for each in (collector.fresh, collector.chosen))
        texts, words, contents = map(_numbered, (collector.text_hashes, collector.words_hashes, collector.contents))
        copies, equal = (np.bincount(each)[each] if len(each) else each for each in (words, texts))
        written = np.frombuffer(collector.written, np.int64)
        known = KeepCriteria(
            collector.ids.__getitem__, shingles, copies, equal, written, collector.values, fresh, chosen
        )
        self._order = keep.order(known)
        self.fresh_from: int = len(fresh) - int(fresh.sum())
        bits = hash_bits(settings.minhash, settings.token_length)
        begins, order = np.cumsum(counts) - counts, self._order
        buckets = settings.minhash.places
        sure = _likely(shingles, np.minimum(counts, 1) if settings.minhash.fills_all_places else counts, buckets)
        self.table: Table = Table(collector.tokens.read(), begins[order], counts[order], sure[order], bits, buckets)
        self.texts: Ints = texts[order]
        self.words: Ints = words[order]
        self.contents: Ints = contents[order]
        self.sizes: Ints = sizes[order]
        self.changed: Ints = changed[order]
        self._source_of = np.frombuffer(collector.source, np.int64)[order]
        self.has_field: bool = any(each is not None for each in collector.values)
        self.has_chosen: bool = bool(chosen.any())
        self.has_date: bool = bool((changed > 0).any())
        self._text_hashes = collector.text_hashes
        self.left_out: dict[Place, str] = collector.left_out
        self.gone: Counter[str] = collector.gone
        keys = np.frombuffer(collector.keys, np.int64)
        self.keys: Ints = keys[order] if len(keys) else keys
        self.sized: bool = bool((shingles >= counts).all())
        self.hashed: bool = collector.hashed

    def __len__(self) -> int:
        return len(self._order)

    def came_as(self, number: int) -> int:
        """The place of a document among those that came, without the ones left out; from 0."""
        return int(self._order[number])

    def id(self, number: int) -> str:
        """The id of a document."""
        return self._ids[int(self._order[number])]

    def place(self, number: int) -> Place:
        """Where a document is."""
        *_, index, routing = self._sources[self._source_of[number]]
        return Place(self.id(number), index, routing)

    def has_text(self, number: int, text_hash: str) -> bool:
        """Whether a document came with this hash of its text; empty: with none."""
        at = _HASH_BYTES * self.came_as(number)
        return self._text_hashes[at : at + _HASH_BYTES] == _short(text_hash)

    def path(self, number: int) -> str | None:
        """Where the file of a document lies; None if it was read from none."""
        root, prefix, *_ = self._sources[self._source_of[number]]
        return file_path(root, prefix, self.id(number)) if root else None


def collect(
    records: Iterable[Record],
    settings: Settings,
    keep: Keep,
    *,
    within: Collection[str] = (),
    fresh: Callable[[Record], bool] = lambda _: True,
    kept_before: Collection[str] = (),
    keep_in: Collection[str] = (),
    token_bytes: int = TOKEN_BYTES,
    with_tokens: bool = True,
    progress: Callable[[int], None] = lambda _: None,
) -> Documents:
    """Read all records once. Documents whose file is gone, or is a symbolic link now, are left out.

    Args:
        records: what a store gives, or what fingerprints were made of.
        settings: how they were made.
        keep: which of several documents is kept.
        within: only documents whose files are in one of these folders; absolute paths.
        fresh: which documents are compared with all others. The rest is only compared with these, and is kept.
        kept_before: ids of documents to keep rather than others.
        keep_in: prefixes of the ids of such documents.
        token_bytes: tokens beyond this size are held in a temporary file.
        with_tokens: hold the tokens; otherwise hold the `content_key` of each document.
        progress: called with the number of documents read since the last call.
    """
    before, begins = set(kept_before), tuple(keep_in)

    def is_kept(record: Record) -> bool:
        return record.id in before or record.id.startswith(begins)

    collector = _Collector(keep, token_bytes, with_tokens, fresh, is_kept)
    read = 0
    for read, record in enumerate(records, 1):
        if not within or is_within(record, within):
            collector.add(record, missing(record))
        if not read % _REPORTED:
            progress(_REPORTED)
    progress(read % _REPORTED)
    return Documents(collector, settings, keep)


class _Collector:
    """The documents read so far, in the order of the store."""

    def __init__(
        self,
        keep: Keep,
        token_bytes: int,
        with_tokens: bool,
        is_fresh: Callable[[Record], bool],
        is_kept: Callable[[Record], bool],
    ) -> None:
        self.ids: StringBuffer = StringBuffer()
        self.tokens: TokenBuffer = TokenBuffer(token_bytes)
        self.counts: array[int] = array("q")
        self.shingles: array[int] = array("q")
        self.sizes: array[int] = array("q")
        self.changed: array[int] = array("q")
        self.written: array[int] = array("q")
        self.source: array[int] = array("q")
        self.text_hashes: bytearray = bytearray()
        self.words_hashes: bytearray = bytearray()
        self.contents: bytearray = bytearray()
        self.sources: dict[_Source, int] = {}
        self.values: list[MetadataValue | None] = []
        self.left_out: dict[Place, str] = {}
        self.fresh: bytearray = bytearray()
        self.chosen: bytearray = bytearray()
        self.gone: Counter[str] = Counter()
        self._field, self._is_by_date = keep.field, keep.is_by_date
        self._is_fresh, self._is_kept = is_fresh, is_kept
        self.keys: array[int] = array("q")
        self.hashed: bool = True
        self._with_tokens = with_tokens

    def add(self, record: Record, reason: str = "") -> None:
        """Add a document, or leave it out for a reason."""
        without = "has no words" if record.text_hash else "has no fingerprint"
        reason = reason or record.fault or ("" if len(record.codes) else without)
        if reason:
            self.left_out[record.place] = reason
            if reason in (FILE_GONE, ARCHIVE_GONE) and record.origin:
                self.gone[record.origin.root] += 1
            return
        self.ids.append(record.id)
        if self._with_tokens:
            self.tokens.append(record.codes)
        else:
            self.keys.append(content_key(record))
            self.hashed &= bool(record.words_hash)
        self.counts.append(len(record.codes))
        self.shingles.append(record.shingles)
        origin = record.origin or Origin("", -1, 0)
        self.sizes.append(-1 if origin.content else origin.size)
        self.changed.append(origin.mtime_ns)
        self.written.append(nanoseconds_written(record) if self._is_by_date else 0)
        source = origin.root, origin.prefix, record.index, record.routing
        self.source.append(self.sources.setdefault(source, len(self.sources)))
        self.text_hashes += _short(record.text_hash)
        self.words_hashes += _words(record)
        is_file = record.origin is not None and not origin.content
        self.contents += _short("" if is_file or not record.digest else record.digest + origin.content)
        self.fresh.append(self._is_fresh(record))
        self.chosen.append(self._is_kept(record))
        if self._field is not None:
            self.values.append(record.metadata.get(self._field))


def content_key(record: Record) -> int:
    """64 bits that are equal for documents of the same words, and change with these; of one place where no hash is."""
    known = _words(record)
    if known == _UNKNOWN:
        known = _short(repr((record.place, record.shingles, record.codes.tobytes())))
    return int.from_bytes(known[:8], "little", signed=True)


def _short(value: str) -> bytes:
    """A hash as others may have written it, in 16 bytes; all 0 if there is none."""
    data = value.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, digest_size=_HASH_BYTES).digest() if data else _UNKNOWN


def _words(record: Record) -> bytes:
    """What is equal for documents of the same words, or without words for those of the same text."""
    words = record.words_hash if len(record.codes) else ""
    return _short(words or (record.text_hash and f"text {record.text_hash}"))


def _numbered(hashes: bytearray) -> Ints:
    """A number for each hash, equal where they are; one of its own where it is not known."""
    halves = np.frombuffer(hashes, np.uint64).reshape(-1, 2)
    order = np.lexsort((halves[:, 0], halves[:, 1]))
    ordered = halves[order]
    new = np.ones(len(order), bool)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1) | ~ordered[1:].any(axis=1)
    numbers = np.empty(len(order), np.int64)
    numbers[order] = np.cumsum(new)
    return numbers


def _likely(shingles: Ints, counts: Ints, buckets: int) -> Ints:
    """The numbers of distinct shingles, at least those of tokens; where not known, what fills as many buckets."""
    filled = np.minimum(counts, buckets - 0.5) / buckets
    return np.where(shingles > 0, np.maximum(shingles, counts), np.ceil(-buckets * np.log1p(-filled)).astype(np.int64))
