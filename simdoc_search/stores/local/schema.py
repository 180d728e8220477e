"""Defines the fields of a tantivy index, and converts records to tantivy documents and back."""

from __future__ import annotations

import json
import zlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import astuple
from typing import Any

import numpy as np
import tantivy
from numpy.typing import NDArray

from simdoc_search.analysis.distinct import distinct
from simdoc_search.analysis.words import joined_words
from simdoc_search.documents import MetadataValue
from simdoc_search.errors import StoreError
from simdoc_search.sketch.kinds import TOKEN_KINDS, TokenKind, TokenKindName, token_kind_names, token_kinds
from simdoc_search.sketch.sentences import decode_sentences, encode_sentences
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.tokens import HASH_BITS, encode_text
from simdoc_search.sketch.winnow import empty_codes
from simdoc_search.stores.fields import METADATA_FIELD, alternative_names, escape_surrogates, metadata_terms
from simdoc_search.stores.record import EncodedRecord, Origin, Record

MAX_TERM_BYTES = 65_000
"""tantivy silently drops terms of 65,530 bytes and more."""

HASH_FIELDS = ("text_hash", "words_hash")
"""Fields with hashes, for finding identical texts and texts with the same words."""

TEXT_COMPRESSION = 1
"""The zlib compression level.

tantivy compresses records and texts in the same blocks, but most records are read without their texts. Compressing the
texts first makes these blocks faster to read.
"""

_LOW_BITS = HASH_BITS - 1  # the highest bit of a hash is stored separately, so that the other bits fit into a byte

_STORED_FIELDS: dict[TokenKindName, str] = {name: f"{name[:-1]}_codes" for name in TOKEN_KINDS}
"""The stored field for each kind of tokens. The indexed field has the name of the kind."""

WORDS_FIELD = "words"
"""The field with the words of the texts. It does not record how often and where a document contains a word."""

_CHECKSUM_FIELDS = ("id", "codes", "rest", "text", *_STORED_FIELDS.values())
"""The fields in the checksum of a document. A missing field does not change the checksum, so fields can be added."""


def optional_fields(settings: Settings) -> list[str]:
    """Return the names of the optional fields of a store, for `build_schema`."""
    return [*token_kind_names(settings), *([WORDS_FIELD] if settings.indexes_words else [])]


def build_schema(optional_names: Collection[str]) -> tantivy.Schema:
    """Return the schema of an index. Optional fields come last, so that they do not change the numbers of the others.

    Args:
        optional_names: names of the optional fields that the index has.
    """
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("id", stored=True, tokenizer_name="raw", index_option="basic")
    for name in ("names", "path", METADATA_FIELD, *HASH_FIELDS):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("tokens", tokenizer_name="whitespace", index_option="basic")
    builder.add_unsigned_field("buckets", indexed=True, fast=True)
    builder.add_unsigned_field("checksum", stored=True)
    for name in ("codes", "rest", "text"):
        builder.add_bytes_field(name, stored=True)
    for name, stored in _STORED_FIELDS.items():
        if name in optional_names:
            builder.add_text_field(name, tokenizer_name="whitespace", index_option="basic")
            builder.add_bytes_field(stored, stored=True)
    if WORDS_FIELD in optional_names:
        builder.add_text_field(WORDS_FIELD, tokenizer_name="whitespace", index_option="basic")
    return builder.build()


def encode_record(record: Record, settings: Settings, store_text: bool) -> EncodedRecord:
    """Convert a record to the values of the index fields."""
    if len(record.id.encode()) > MAX_TERM_BYTES:
        raise StoreError(f"the id {record.id[:40]!r}… is too long for the local store; shorten it")
    values: dict[str, Any] = {
        "id": record.id,
        "names": alternative_names(record.id),
        "path": path_terms(record.path),
        METADATA_FIELD: metadata_terms(record),
        "tokens": encode_text(record.codes),
        "buckets": len(record.codes),
        "codes": _pack_fingerprint(record.codes, settings.minhash.slot_count),
        "rest": _to_bytes(_encode_rest(record)),
    }
    values |= {name: value for name in HASH_FIELDS if (value := getattr(record, name))}
    for kind in token_kinds(settings):
        codes = getattr(record, kind.name)
        values[kind.name] = encode_text(codes if kind.is_sorted_set else distinct(codes), kind.length)
        values[_STORED_FIELDS[kind.name]] = _pack_kind(codes, kind)
    if store_text and record.text is not None:
        values["text"] = zlib.compress(_to_bytes(record.text), TEXT_COMPRESSION)
    if settings.indexes_words and record.text is not None:
        values[WORDS_FIELD] = record.words.decode() or joined_words(record.text, settings.analysis)
    values["checksum"] = _checksum(*(values.get(name) for name in _CHECKSUM_FIELDS))
    return EncodedRecord(record.id, values)


def to_record(
    document: tantivy.Document, settings: Settings, *, text: bool, passages: bool = False, sketches: bool = False
) -> Record:
    """Convert a tantivy document back into a record."""
    rest = json.loads(_to_text(document.get_first("rest")))
    return Record(
        id=read_id(document),
        codes=read_codes(document, settings),
        shingles=rest["shingles"],
        digest=rest["digest"],
        metadata=rest["metadata"],
        text=read_text(document) if text else None,
        origin=Origin(*rest["origin"]) if rest["origin"] else None,
        text_hash=rest.get("text_hash", ""),
        words_hash=rest.get("words_hash", ""),
        passages=read_codes_of_kind(document, TOKEN_KINDS["passages"]) if passages else empty_codes(),
        sentences=read_codes_of_kind(document, TOKEN_KINDS["sentences"]) if sketches else empty_codes(),
        concepts=read_codes_of_kind(document, TOKEN_KINDS["concepts"]) if sketches else empty_codes(),
    )


def read_document(searcher: tantivy.Searcher, address: tantivy.DocAddress) -> tantivy.Document:
    """Read a document, and verify its checksum.

    Raises:
        StoreError: the document is damaged.
    """
    document = searcher.doc(address)
    if document.get_first("checksum") != _checksum(*(document.get_first(name) for name in _CHECKSUM_FIELDS)):
        raise StoreError(
            f"the document {read_id(document)!r} is damaged (its checksum does not match); run simdoc-search check to "
            "list all damage, and simdoc-search repair to save the readable documents"
        )
    return document


def read_id(document: tantivy.Document) -> str:
    """Return the id of a document."""
    return str(document.get_first("id"))


def read_text(document: tantivy.Document) -> str | None:
    """Return the text of a document, or None if its text is not stored."""
    body = document.get_first("text")
    return None if body is None else zlib.decompress(_stored_bytes(body)).decode("utf-8", "surrogatepass")


def split_into_terms(words: Iterable[str]) -> list[str]:
    """Return the distinct index terms for these words.

    A normalised word that contains spaces is indexed as several terms.
    """
    return list(dict.fromkeys(" ".join(words).split(" ")))


def read_codes(document: tantivy.Document, settings: Settings) -> NDArray[np.uint32]:
    """Return the fingerprint tokens of a document as numbers."""
    return _unpack_fingerprint(_stored_bytes(document.get_first("codes")), settings.minhash.slot_count)


def read_codes_of_kind(document: tantivy.Document, kind: TokenKind) -> NDArray[np.uint32]:
    """Return the tokens of a kind as numbers, in their original order; an empty array if the store lacks the kind."""
    packed = document.get_first(_STORED_FIELDS[kind.name])
    return empty_codes() if packed is None else _unpack_kind(_stored_bytes(packed), kind)


def read_metadata(document: tantivy.Document, names: Sequence[str]) -> dict[str, MetadataValue]:
    """Return the values of the given metadata fields that a document has."""
    if not names:
        return {}
    metadata = json.loads(_to_text(document.get_first("rest")))["metadata"]
    return {name: metadata[name] for name in names if name in metadata}


def path_terms(path: str) -> list[str]:
    """Return a path and its parent folders. Each folder ends with `/`, so that one term finds all documents in it."""
    path = escape_surrogates(path).encode()[:MAX_TERM_BYTES].decode(errors="ignore")
    ends = [position + 1 for position, character in enumerate(path) if character == "/"]
    return [path, *(path[:end] for end in ends if end < len(path))]


def _encode_rest(record: Record) -> str:
    origin = record.origin
    metadata: dict[str, MetadataValue] = dict(record.metadata)
    rest = {
        "shingles": record.shingles,
        "digest": record.digest,
        "text_hash": record.text_hash,
        "words_hash": record.words_hash,
        "metadata": metadata,
        "origin": astuple(origin)[: None if origin.content else 4] if origin else None,
    }
    return json.dumps(rest, ensure_ascii=False, separators=(",", ":"))


def _checksum(*parts: object) -> int:
    """Return the CRC-32 of the values of fields. A missing field counts as empty."""
    checksum = 0
    for part in parts:
        checksum = zlib.crc32(
            part.encode() if isinstance(part, str) else part if isinstance(part, bytes) else b"", checksum
        )
    return checksum


def _pack_fingerprint(codes: NDArray[np.uint32], slot_count: int) -> bytes:
    """Pack the codes of a fingerprint.

    The first bits say which slots are filled. The next bits are the highest bits of all hashes. The other 8 bits of
    each hash follow, one byte per hash.
    """
    bits = np.zeros(slot_count + len(codes), np.uint8)
    bits[codes >> HASH_BITS] = 1
    bits[slot_count:] = codes >> _LOW_BITS & 1
    return np.packbits(bits).tobytes() + codes.astype(np.uint8).tobytes()


def _unpack_fingerprint(packed: bytes, slot_count: int) -> NDArray[np.uint32]:
    octets = np.frombuffer(packed, np.uint8)
    codes = np.flatnonzero(np.unpackbits(octets, count=slot_count)).astype(np.uint32)
    low = octets[len(octets) - len(codes) :]
    high = np.unpackbits(octets[: len(octets) - len(codes)])[slot_count : slot_count + len(codes)]
    codes <<= np.uint32(HASH_BITS)
    codes |= high.astype(np.uint32) << np.uint32(_LOW_BITS)
    codes |= low
    return codes


def _token_bytes(length: int) -> int:
    return (6 * length + 7) // 8


def _pack(codes: NDArray[np.uint32], length: int) -> bytes:
    """Pack codes without the bytes that are always zero for tokens of this length."""
    octets = codes.astype(">u4").view(np.uint8).reshape(-1, 4)
    return octets[:, 4 - _token_bytes(length) :].tobytes()


def _unpack(packed: bytes, length: int) -> NDArray[np.uint32]:
    width = _token_bytes(length)
    octets = np.zeros((len(packed) // width, 4), np.uint8)
    octets[:, 4 - width :] = np.frombuffer(packed, np.uint8).reshape(-1, width)
    return octets.view(">u4").ravel().astype(np.uint32)


def _pack_kind(codes: NDArray[np.uint32], kind: TokenKind) -> bytes:
    """Pack the tokens of a kind. The four tokens of a sentence become one 8-byte number."""
    return decode_sentences(codes).astype(">u8").tobytes() if kind.name == "sentences" else _pack(codes, kind.length)


def _unpack_kind(packed: bytes, kind: TokenKind) -> NDArray[np.uint32]:
    if kind.name == "sentences":
        return encode_sentences(np.frombuffer(packed, ">u8").astype(np.uint64))
    return _unpack(packed, kind.length)


def _to_bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _to_text(stored: object) -> str:
    return _stored_bytes(stored).decode("utf-8", "surrogatepass")


def _stored_bytes(stored: object) -> bytes:
    if not isinstance(stored, bytes):
        raise ValueError("a stored field is missing")
    return stored
