"""All documents of a collection as a few arrays.

Memory during a search for duplicates:

| What | Memory |
|---|---|
| each document | its id, and about 500 bytes |
| each token | 4 bytes. If all tokens exceed 128 MB, they are in a temporary file that is mapped into memory |
| each document in a collection of at most 262,000 documents | 1 kB in addition |
| each candidate pair | 35 bytes |
"""

from __future__ import annotations

import hashlib
import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from simdoc_search.corpus.member_names import find_archive_file
from simdoc_search.documents import DocumentKey, MetadataValue
from simdoc_search.duplicates.arrays import Ints, is_run_start
from simdoc_search.duplicates.fingerprint_table import FingerprintTable
from simdoc_search.duplicates.keep_order import (
    KeepCriteria,
    KeepRule,
    find_dated_documents,
    find_first_mtimes,
    may_be_export,
    time_written,
)
from simdoc_search.duplicates.paths import ARCHIVE_GONE, FILE_GONE, find_file_problem
from simdoc_search.duplicates.temporary_files import TokenBuffer
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.record import Origin, Record, file_path

_MAX_TOKEN_BYTES = 1 << 27
_HASH_BYTES = 16
_NO_HASH = bytes(_HASH_BYTES)
_IS_HEXADECIMAL = re.compile("[0-9a-f]*[1-9a-f][0-9a-f]*").fullmatch  # a hash of only zeros means that there is none
_NO_ORIGIN = Origin("", -1, 0)
_NUMBERS_PER_DOCUMENT = 10
NO_FINGERPRINT = "has no fingerprint"
TEXT_CHANGED = "changed after indexing"


class Documents:
    """All documents, in keep order. The kept document of a group has the smallest index in the group.

    A document is left out if its file no longer exists or is now a symbolic link, or if its archive has the bytes of a
    preferred archive in `equal_files`. `leave_out_changed` leaves out more documents.

    Args:
        records: the documents, with their tokens.
        settings: settings of the fingerprints.
        keep_rule: the rule that chooses the kept document.
        is_new: returns whether a document is new. Older documents are kept, and are only compared with new ones.
        is_preferred: returns whether a document is kept even if the rule prefers another one.
        equal_files: files that are not in the store, each with the same bytes as another one; see
            `records_of_equal_files`.
        max_token_bytes: maximum size of the tokens in memory, in bytes. If they exceed it, they are stored in a
            temporary file.

    Attributes:
        table: the fingerprints.
        left_out: for each document that is left out, its key and the reason.
        text_labels: one number per document, equal for equal texts; int64, shape (documents,).
        same_words_labels: one number per document, equal for documents with the same words in the same order.
        content_labels: one number per document, equal for documents without files that have equal text and metadata,
            and for members of archives that have equal bytes. Any other document of the store has a unique number.
            Files of `equal_files` have equal numbers if their bytes are equal.
        file_sizes: size of the file in bytes; -1 if it is unknown, or the document is in an archive.
        mtimes: modification time of the file in nanoseconds; 0 if it is unknown.
        written_ns: when the text of the document was written, in nanoseconds since 1970; 0 if unknown or if the rule
            does not need it.
        date_part_counts: how precise `written_ns` is; see `TimeWritten.part_count`.
        keep_rule: the rule that chooses the kept document.
        first_new_index: the index of the first new document.
        has_field: whether any document has the metadata field of the rule.
        has_date: whether any document has a date, if the rule needs dates.
        has_preferred: whether any document is preferred.
        roots: the indexed folders and files of the documents.
        missing_files: number of documents whose file no longer exists, per indexed folder or file.
    """

    keep_rule: KeepRule

    def __init__(
        self,
        records: Iterable[Record],
        settings: Settings,
        keep_rule: KeepRule,
        *,
        is_new: Callable[[Record], bool] = lambda _: True,
        is_preferred: Callable[[Record], bool] = lambda _: False,
        equal_files: Iterable[Record] = (),
        max_token_bytes: int = _MAX_TOKEN_BYTES,
    ) -> None:
        self.left_out: dict[DocumentKey, str] = {}
        self.missing_files: Counter[str] = Counter()
        self.keep_rule, self._ids = keep_rule, _StringBuffer()
        self._sources: dict[
            tuple[str, str, str | None, str | None], int
        ] = {}  # the key is (root, prefix, index, routing)
        tokens, numbers = TokenBuffer(max_token_bytes), array("q")
        text_hashes, word_hashes, content_hashes = bytearray(), bytearray(), bytearray()
        values: list[MetadataValue | None] = []
        self._indexed_count = 0  # number of documents of the store, which precede the files in the input
        comparable = ((record, True) for record in records if not self._leave_out(record))
        for record, is_indexed in chain(comparable, ((record, False) for record in equal_files)):
            self._indexed_count += is_indexed
            origin = record.origin or _NO_ORIGIN
            source = self._sources.setdefault(
                (origin.root, origin.prefix, record.index, record.routing), len(self._sources)
            )
            size = -1 if origin.content_hash else origin.size
            dates = (*time_written(record), may_be_export(record)) if keep_rule.is_by_date else (0, 0, False)
            counts_and_dates = len(record.token_ids), record.shingle_count, size, origin.mtime_ns, *dates
            numbers.extend((*counts_and_dates, source, is_new(record), is_preferred(record)))
            self._ids.append(record.id)
            tokens.append(record.token_ids)
            if keep_rule.field:
                values.append(record.metadata.get(keep_rule.field))
            text_hashes += _short_hash(record.text_hash)
            word_hashes += _words_hash(record)
            has_own_file = record.origin is not None and not origin.content_hash
            content_hash = origin.content_hash or ("" if has_own_file else record.digest)
            content_hashes += _short_hash(content_hash if is_indexed else record.text_hash)
        columns = np.frombuffer(numbers, np.int64).reshape(-1, _NUMBERS_PER_DOCUMENT).T
        counts, shingles, sizes, mtimes, written_at, part_counts, exported, source_of, new, preferred = columns
        text_labels, same_words_labels = _label_hashes(text_hashes), _label_hashes(word_hashes)
        copies, equal = np.bincount(same_words_labels)[same_words_labels], np.bincount(text_labels)[text_labels]
        self._source_parts = list(self._sources)
        if keep_rule.is_by_date:
            dated = find_dated_documents(text_labels, same_words_labels, written_at, part_counts, exported > 0)
            written_at, part_counts = written_at[dated], part_counts[dated]
        criteria = KeepCriteria(
            self._ids.__getitem__, lambda position: self._path(position, source_of[position]) or self._ids[position],
            shingles, copies, equal, written_at, values, new > 0, preferred > 0, mtimes,
            find_first_mtimes(same_words_labels, mtimes) if keep_rule.is_by_date else None,
        )  # fmt: skip
        self._order = order = self._without_members_of_equal_archives(
            keep_rule.order(criteria), source_of, _label_hashes(content_hashes), sizes
        )
        self._source_of = source_of[order]
        self._text_hashes, self._content_hashes = text_hashes, content_hashes
        self.table: FingerprintTable = _make_table(tokens.read(), counts, shingles, order, settings)
        self.text_labels: Ints = text_labels[order]
        self.same_words_labels: Ints = same_words_labels[order]
        self.content_labels: Ints = _label_hashes(content_hashes)[order]
        self.file_sizes: Ints = sizes[order]
        self.mtimes: Ints = mtimes[order]
        self.written_ns: Ints = written_at[order]
        self.date_part_counts: Ints = part_counts[order]
        self.first_new_index: int = len(order) - int(new[order].sum())
        self.has_field: bool = any(value is not None for value in values)
        self.has_date: bool = bool(written_at.any())
        self.has_preferred: bool = bool(preferred.any())
        self.roots: list[str] = sorted({root for root, *_ in self._source_parts if root})

    def __len__(self) -> int:
        return len(self._order)

    def input_position(self, number: int) -> int:
        """Return the position of a document in the input, from 0. Documents that were left out do not count."""
        return int(self._order[number])

    def id(self, number: int) -> str:
        """Return the id of a document."""
        return self._ids[self.input_position(number)]

    def key(self, number: int) -> DocumentKey:
        """Return the key of a document: its id, index and routing."""
        _, _, index, routing = self._source_parts[self._source_of[number]]
        return DocumentKey(self.id(number), index, routing)

    def has_text_hash(self, number: int, text_hash: str) -> bool:
        """Return whether a document had this `text_hash` when it was read."""
        return self._hash_at(self._text_hashes, number) == _short_hash(text_hash)

    def has_content_hash(self, number: int, content_hash: str) -> bool:
        """Return whether a document is a member of an archive with this hash of its bytes."""
        return self._hash_at(self._content_hashes, number) == _short_hash(content_hash)

    def _hash_at(self, hashes: bytearray, number: int) -> bytearray:
        begin = _HASH_BYTES * self.input_position(number)
        return hashes[begin : begin + _HASH_BYTES]

    def leave_out_changed(self, number: int) -> None:
        """Leave out a document whose text has changed, so that no other document has the same words."""
        self.left_out[self.key(number)] = TEXT_CHANGED
        self.same_words_labels[number] = -1 - number

    def is_indexed(self, number: int) -> bool:
        """Return whether a document is in the store. Otherwise it is one of `equal_files`."""
        return self.input_position(number) < self._indexed_count

    def path(self, number: int) -> str | None:
        """Return the path of a document's file; None if it has no file."""
        return self._path(self.input_position(number), self._source_of[number])

    def _path(self, input_position: int, source: int) -> str | None:
        root, prefix, _, _ = self._source_parts[source]
        return file_path(root, prefix, self._ids[input_position]) if root else None

    def _without_members_of_equal_archives(self, order: Ints, source_of: Ints, labels: Ints, sizes: Ints) -> Ints:
        """Return the order without the members of each archive that has the bytes of a preferred archive."""
        kept_labels, archives = set(), set()
        for position in order[order >= self._indexed_count].tolist():
            path = self._path(position, source_of[position])
            if labels[position] in kept_labels and path is not None and find_archive_file(f"{path}!"):
                archives.add(path)
            kept_labels.add(labels[position])
        if not archives:
            return order
        is_member = np.zeros(len(order), bool)
        for position in np.flatnonzero(sizes < 0).tolist():
            path = self._path(position, source_of[position])
            is_member[position] = path is not None and find_archive_file(path) in archives
        return order[~is_member[order]]

    def _leave_out(self, record: Record) -> bool:
        """Return whether a document cannot be compared, and remember the reason."""
        reason = find_file_problem(record) or _find_fingerprint_problem(record)
        if reason:
            self.left_out[record.key] = reason
        if reason in (FILE_GONE, ARCHIVE_GONE) and record.origin:
            self.missing_files[record.origin.root] += 1
        return bool(reason)


class _StringBuffer:
    """A list of strings in one buffer, to save memory."""

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._ends = array("q", [0])

    def append(self, text: str) -> None:
        self._bytes += text.encode("utf-8", "surrogatepass")
        self._ends.append(len(self._bytes))

    def __getitem__(self, index: int) -> str:
        return self._bytes[self._ends[index] : self._ends[index + 1]].decode("utf-8", "surrogatepass")


def _find_fingerprint_problem(record: Record) -> str:
    if record.fault or len(record.token_ids):
        return record.fault
    return "has no words" if record.text_hash else NO_FINGERPRINT


def _short_hash(value: str) -> bytes:
    """Convert a hash to 16 bytes. An empty hash becomes zeros.

    The hashes of `text_hash`, which have 16 bytes in hexadecimal, are decoded. Other hashes are hashed again.
    """
    if len(value) == 2 * _HASH_BYTES and _IS_HEXADECIMAL(value):
        return bytes.fromhex(value)
    data = value.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, digest_size=_HASH_BYTES).digest() if data else _NO_HASH


def _words_hash(record: Record) -> bytes:
    """Return the hash of a document's words, 16 bytes. If it is unknown, return the hash of the text."""
    return _short_hash(record.words_hash or (record.text_hash and f"text {record.text_hash}"))


def _label_hashes(hashes: bytearray) -> Ints:
    """Return one number per hash, equal for equal hashes. Each unknown hash gets a unique number."""
    halves = np.frombuffer(hashes, np.uint64).reshape(-1, 2)
    order = np.lexsort((halves[:, 0], halves[:, 1]))
    ordered = halves[order]
    is_new_label = is_run_start(*ordered.T) | ~ordered.any(axis=1)
    labels = np.empty(len(order), np.int64)
    labels[order] = np.cumsum(is_new_label)
    return labels


def _make_table(
    token_ids: NDArray[np.uint32], counts: Ints, shingles: Ints, order: Ints, settings: Settings
) -> FingerprintTable:
    """Make the table of fingerprints in keep order. An unknown number of shingles is estimated from the tokens."""
    sketch, buckets = settings.sketch, settings.sketch.slot_count
    min_shingles = np.minimum(counts, 1) if sketch.fills_all_slots else counts
    filled = np.minimum(min_shingles, buckets - 0.5) / buckets
    estimate = np.ceil(-buckets * np.log1p(-filled)).astype(np.int64)
    shingles = np.where(shingles > 0, np.maximum(shingles, min_shingles), estimate)
    begins = np.cumsum(counts) - counts
    return FingerprintTable(token_ids, begins[order], counts[order], shingles[order], buckets)
