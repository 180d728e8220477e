"""Defines the fields of a tantivy index, and converts records to tantivy documents and back."""

from __future__ import annotations

import json
import zlib
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np
import tantivy
from numpy.typing import NDArray

from simdoc_search.analysis.distinct import distinct
from simdoc_search.analysis.words import joined_words
from simdoc_search.documents import DocumentKey, MetadataValue
from simdoc_search.errors import StoreError
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.simhash import Simhashes
from simdoc_search.sketch.token_kinds import TOKEN_KINDS, TokenKind, TokenKindName, token_kind_names, token_kinds
from simdoc_search.sketch.tokens import empty_token_ids, encode_as_texts
from simdoc_search.sketch.word_pairs import word_pair_token_ids
from simdoc_search.stores.fields import METADATA_FIELD, alternative_names, escape_surrogates, metadata_terms
from simdoc_search.stores.local.packed_tokens import (
    pack_fingerprints,
    pack_tokens_of_kind,
    unpack_fingerprint,
    unpack_simhashes,
    unpack_tokens_of_kind,
)
from simdoc_search.stores.record import Digest, EncodedRecord, Origin, Record, RecordPart, StoredText

MAX_TERM_BYTES = 65_000
"""tantivy silently drops terms of 65,530 bytes and more."""

TEXT_COMPRESSION_LEVEL = 1
"""The zlib compression level.

tantivy compresses records and texts in the same blocks, but most records are read without their texts. Compressing the
texts first makes these blocks faster to read.
"""

_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))

_STORED_FIELD_OF_KIND: dict[TokenKindName, str] = {name: f"{name[:-1]}_codes" for name in TOKEN_KINDS}
"""Maps passages, sentences and concepts to their stored fields. Each is also indexed, in a field with its own name."""

WORD_PAIRS_FIELD = "word_pairs"
"""The field with the token ids of the pairs of adjacent words."""

_CHECKSUM_FIELDS = ("codes", "rest", "text", *_STORED_FIELD_OF_KIND.values())
"""The fields that the checksum of a document covers, besides the id.

A missing field does not change the checksum, so fields can be added.
"""


def optional_fields(settings: Settings) -> list[str]:
    """Return the names of the optional fields of a store, for `build_schema`."""
    return [*token_kind_names(settings), *([WORD_PAIRS_FIELD] if settings.indexes_word_pairs else [])]


def build_schema(optional_names: Collection[str]) -> tantivy.Schema:
    """Return the schema of an index. Optional fields come last, so the numbers of the others do not change."""
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("id", stored=True, tokenizer_name="raw", index_option="basic")
    for name in ("names", "path", METADATA_FIELD):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("tokens", tokenizer_name="whitespace", index_option="basic")
    builder.add_unsigned_field("buckets", indexed=True, fast=True)
    builder.add_unsigned_field("checksum", stored=True)
    for name in ("codes", "rest", "text"):
        builder.add_bytes_field(name, stored=True)
    for name, stored in _STORED_FIELD_OF_KIND.items():
        if name in optional_names:
            builder.add_text_field(name, tokenizer_name="whitespace", index_option="basic")
            builder.add_bytes_field(stored, stored=True)
    if WORD_PAIRS_FIELD in optional_names:
        builder.add_text_field(WORD_PAIRS_FIELD, tokenizer_name="whitespace", index_option="basic")
    return builder.build()


def encode_records(records: Sequence[Record], settings: Settings, store_text: bool) -> list[EncodedRecord]:
    """Convert records to the values of the index fields. It is faster to convert many records at once."""
    token_ids = [record.token_ids for record in records]
    values_of_records: list[dict[str, Any]] = [
        {"tokens": tokens, "buckets": len(part), "codes": packed}
        for part, tokens, packed in zip(
            token_ids, encode_as_texts(token_ids), pack_fingerprints(token_ids, settings.sketch.slot_count), strict=True
        )
    ]
    for kind in token_kinds(settings):
        token_ids = [getattr(record, kind.name) for record in records]
        sets = token_ids if kind.is_sorted_set else list(map(distinct, token_ids))
        for values, part, tokens in zip(values_of_records, token_ids, encode_as_texts(sets, kind.length), strict=True):
            values[kind.name] = tokens
            values[_STORED_FIELD_OF_KIND[kind.name]] = pack_tokens_of_kind(part, kind)
    if settings.indexes_word_pairs:
        pairs = [_word_pairs(record, settings) for record in records]
        for values, tokens in zip(values_of_records, encode_as_texts(pairs), strict=True):
            values[WORD_PAIRS_FIELD] = tokens
    for record, values in zip(records, values_of_records, strict=True):
        if len(record.id.encode()) > MAX_TERM_BYTES:
            raise StoreError(f"the id {record.id[:40]!r}… is too long for the local index; shorten the id")
        values["id"] = record.id
        values["names"] = alternative_names(record.id)
        values["path"] = path_terms(record.path)
        values[METADATA_FIELD] = metadata_terms(record)
        values["rest"] = _to_bytes(_encode_other_values(record))
        if store_text and record.text is not None:
            values["text"] = zlib.compress(_to_bytes(record.text), TEXT_COMPRESSION_LEVEL)
        values["checksum"] = _checksum(record.id, map(values.get, _CHECKSUM_FIELDS))
    return [EncodedRecord(record.id, values) for record, values in zip(records, values_of_records, strict=True)]


def _word_pairs(record: Record, settings: Settings) -> NDArray[np.uint32]:
    if record.word_pairs is None:
        return word_pair_token_ids([joined_words(record.text or "", settings.analysis)])[0]
    return record.word_pairs


def to_record(
    document: tantivy.Document,
    settings: Settings,
    *,
    load: Collection[RecordPart] = (),
) -> Record:
    """Convert a tantivy document back into a record."""
    shingles, digest, text_hash, words_hash, metadata, origin = _read_other_values(document)
    passages, sentences, concepts = (
        read_token_ids_of_kind(document, kind) if name in load else empty_token_ids()
        for name, kind in TOKEN_KINDS.items()
    )
    return Record(
        id=read_id(document),
        token_ids=read_token_ids(document, settings),
        shingle_count=shingles,
        digest=digest,
        metadata=metadata,
        text=read_text(document) if "text" in load else None,
        origin=origin and Origin(*origin),
        text_hash=text_hash,
        words_hash=words_hash,
        passages=passages,
        sentences=sentences,
        concepts=concepts,
    )


def to_digest(document: tantivy.Document) -> Digest:
    """Return the digest and the origin of a document. This is faster than `to_record`."""
    _, digest, _, _, _, origin = _read_other_values(document)
    return Digest(read_id(document), digest, origin and Origin(*origin))


def to_stored_text(document: tantivy.Document) -> StoredText | None:
    """Return the text of a document with its key and hash, or None if its text is not stored."""
    text = read_text(document)
    return None if text is None else StoredText(DocumentKey(read_id(document)), text, _read_other_values(document)[2])


def read_document(searcher: tantivy.Searcher, address: tantivy.DocAddress) -> tantivy.Document:
    """Read a document, and verify its checksum.

    Raises:
        StoreError: the document is damaged.
    """
    document = searcher.doc(address)
    if document.get_first("checksum") != _checksum(read_id(document), map(document.get_first, _CHECKSUM_FIELDS)):
        raise StoreError(
            f"the document {read_id(document)!r} is damaged (its checksum does not match); run `simdoc-search check` "
            "to list all damage, and `simdoc-search repair` to save the readable documents"
        )
    return document


def read_id(document: tantivy.Document) -> str:
    """Return the id of a document."""
    return str(document.get_first("id"))


def read_text(document: tantivy.Document) -> str | None:
    """Return the text of a document, or None if its text is not stored."""
    body = document.get_first("text")
    return None if body is None else zlib.decompress(_stored_bytes(body)).decode("utf-8", "surrogatepass")


def read_token_ids(document: tantivy.Document, settings: Settings) -> NDArray[np.uint32]:
    """Return the fingerprint tokens of a document as numbers."""
    return unpack_fingerprint(_stored_bytes(document.get_first("codes")), settings.sketch.slot_count)


def read_token_ids_of_kind(document: tantivy.Document, kind: TokenKind) -> NDArray[np.uint32]:
    """Return the tokens of a kind as numbers, in their original order; an empty array if the store lacks the kind."""
    packed = document.get_first(_STORED_FIELD_OF_KIND[kind.name])
    return empty_token_ids() if packed is None else unpack_tokens_of_kind(_stored_bytes(packed), kind)


def read_simhashes(document: tantivy.Document) -> Simhashes:
    """Return the simhashes of the sentences of a document; an empty array if the store lacks sentences."""
    packed = document.get_first(_STORED_FIELD_OF_KIND["sentences"])
    return unpack_simhashes(b"" if packed is None else _stored_bytes(packed))


def read_metadata(document: tantivy.Document, names: Sequence[str]) -> dict[str, MetadataValue]:
    """Return the values of the given metadata fields that a document has."""
    if not names:
        return {}
    _, _, _, _, metadata, _ = _read_other_values(document)
    return {name: metadata[name] for name in names if name in metadata}


def path_terms(path: str) -> list[str]:
    """Return a path and its parent folders. Each folder ends with `/`, so that one term finds all documents in it."""
    path = escape_surrogates(path).encode()[:MAX_TERM_BYTES].decode(errors="ignore")
    ends = [position + 1 for position, character in enumerate(path) if character == "/"]
    return [path, *(path[:end] for end in ends if end < len(path))]


def _encode_other_values(record: Record) -> str:
    """Return the counts, hashes, metadata and origin of a record as JSON, for the stored field `rest`."""
    origin = record.origin
    values = [
        record.shingle_count,
        record.digest,
        record.text_hash,
        record.words_hash,
        dict(record.metadata),
        origin
        and [origin.root, origin.size, origin.mtime_ns, origin.prefix, origin.content_hash, origin.archive_state],
    ]
    return _JSON.encode(values)


def _read_other_values(document: tantivy.Document) -> list[Any]:
    """Return the values that `_encode_other_values` wrote."""
    values: list[Any] = json.loads(_to_text(document.get_first("rest")))
    return values


def _checksum(id: str, parts: Iterable[Any]) -> int:
    """Return the CRC-32 of the id and the values of `_CHECKSUM_FIELDS`, which are bytes or None."""
    return zlib.crc32(b"".join([id.encode(), *filter(None, parts)]))


def _to_bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _to_text(stored: object) -> str:
    return _stored_bytes(stored).decode("utf-8", "surrogatepass")


def _stored_bytes(stored: object) -> bytes:
    if not isinstance(stored, bytes):
        raise ValueError("a stored field is missing")
    return stored
