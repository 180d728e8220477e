"""Makes the terms that stores index besides the tokens of a record: its names and its metadata."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from difflib import SequenceMatcher
from unicodedata import normalize

from simdoc_search.stores.filters import Condition, FilterValue
from simdoc_search.stores.record import Record

MAX_METADATA_BYTES = 1_000
"""Maximum length of a metadata term in bytes. A longer value is replaced by its hash, so that filters find it."""

MAX_SUGGESTIONS = 3
MIN_SIMILARITY = 0.5


def indexable(text: str) -> str:
    """Escape lone surrogates, which UTF-8 cannot represent and engines refuse."""
    return text.encode("utf-8", "backslashreplace").decode()


def names_of(id: str) -> list[str]:
    """Return other names of a document: its last path component, and both without extension."""
    last = id.rsplit("/", 1)[-1]
    dot = last.rfind(".")
    extension = len(last) - dot if 0 < dot < len(last) - 1 else 0
    member = last.rpartition("!")[2]  # of an archive, or a message of a mailbox
    names = {last, member, *(name[: len(name) - extension] for name in (id, last, member))}
    return sorted(names - {""})


def metadata_term(key: str, value: FilterValue) -> str:
    """Return the term of a metadata field with this value. Numbers and booleans are written as in JSON."""
    text = f"{key}\0{value if isinstance(value, str) else json.dumps(value)}"
    encoded = text.encode("utf-8", "surrogatepass")
    if len(encoded) > MAX_METADATA_BYTES:
        return f"{indexable(key[:100])}\0\0{hashlib.sha256(encoded).hexdigest()}"
    return indexable(text)


def root_term(root: str) -> str:
    """Return the term of documents with this root. No metadata field can have the same term."""
    return metadata_term("\0root", root)


def metadata_prefix(key: str) -> str:
    """Return the common prefix of all terms of a metadata field."""
    return indexable(f"{key[:100]}\0")


def field_or_folder_names(records: Iterable[Record], condition: Condition) -> list[str]:
    """Return the metadata fields of some records or, for a condition on `path`, their top-level folders."""
    if condition.field == "path":
        return sorted({f"{first}/" for first, slash, _ in (record.path.partition("/") for record in records) if slash})
    return sorted({key for record in records for key in record.metadata})


def metadata_terms(record: Record) -> list[str]:
    """Return the terms of the metadata and of the root of a record, sorted, without repeats."""
    terms = {root_term(record.origin.root)} if record.origin else set()
    for key, value in record.metadata.items():
        terms.update(metadata_term(key, item) for item in (value if isinstance(value, list) else [value]))
    return sorted(terms)


def most_similar_ids(id: str, stored: Iterable[str]) -> list[str]:
    """Return the up to three stored ids that are most similar to an id, best first."""
    ranked = sorted((-_similarity(id, other), other) for other in stored)
    return [other for similarity, other in ranked if -similarity >= MIN_SIMILARITY][:MAX_SUGGESTIONS]


def _similarity(id: str, stored: str) -> float:
    """Return the similarity of an id to a stored id or one of its names, 0..1. Equal strings have 1."""
    id, stored = normalize("NFC", id), normalize("NFC", stored)
    return max(SequenceMatcher(None, id, name).ratio() for name in (stored, *names_of(stored)))
