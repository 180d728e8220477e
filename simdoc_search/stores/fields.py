"""What stores index of a record besides its tokens: other names, and metadata as exact terms."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from difflib import SequenceMatcher
from pathlib import PurePosixPath
from unicodedata import normalize

from simdoc_search.stores.filters import Condition, FilterValue
from simdoc_search.stores.record import Record

MAX_METADATA_BYTES = 1_000
"""A longer metadata value is indexed by its hash, so that filters still find it."""

MAX_SUGGESTIONS = 3
MIN_SIMILARITY = 0.5


def indexable(text: str) -> str:
    """Return the text as engines accept it: lone surrogates, which UTF-8 cannot express, are escaped."""
    return text.encode("utf-8", "backslashreplace").decode()


def names_of(id: str) -> list[str]:
    """Return other names of a document: its last path component, and both without extension."""
    last = id.rsplit("/", 1)[-1]
    extension = len(PurePosixPath(last).suffix)
    member = last.rpartition("!")[2]  # of an archive, or a message of a mailbox
    names = {last, member, *(name[: len(name) - extension] for name in (id, last, member))}
    return sorted(names - {""})


def metadata_term(key: str, value: FilterValue) -> str:
    """Return the term by which a filter finds a metadata field with this value; numbers as in JSON."""
    text = f"{key}\0{value if isinstance(value, str) else json.dumps(value)}"
    encoded = text.encode("utf-8", "surrogatepass")
    if len(encoded) > MAX_METADATA_BYTES:
        return f"{indexable(key[:100])}\0\0{hashlib.sha256(encoded).hexdigest()}"
    return indexable(text)


def root_term(root: str) -> str:
    """Return the term of documents that were read from a root folder; no metadata field has it."""
    return metadata_term("\0root", root)


def metadata_prefix(key: str) -> str:
    """Return the common prefix of all terms of a metadata field."""
    return indexable(f"{key[:100]}\0")


def field_or_folder_names(records: Iterable[Record], condition: Condition) -> list[str]:
    """Return the metadata fields of some records, or the top-level folders of their paths."""
    if condition.field == "path":
        return sorted({f"{first}/" for first, slash, _ in (each.path.partition("/") for each in records) if slash})
    return sorted({key for record in records for key in record.metadata})


def metadata_terms(record: Record) -> list[str]:
    """Return the terms of all metadata of a record and of its root, without repeats, in order."""
    facts = {root_term(record.origin.root)} if record.origin else set()
    for key, value in record.metadata.items():
        facts.update(metadata_term(key, each) for each in (value if isinstance(value, list) else [value]))
    return sorted(facts)


def most_similar_ids(id: str, stored: Iterable[str]) -> list[str]:
    """Return up to three stored ids that are most similar to the given one, best first."""
    ranked = sorted((-_similarity(id, other), other) for other in stored)
    return [other for similarity, other in ranked if -similarity >= MIN_SIMILARITY][:MAX_SUGGESTIONS]


def _similarity(id: str, stored: str) -> float:
    """Return 1 if the stored id, or a name of it, equals the given one, and less the more edits are needed."""
    id, stored = normalize("NFC", id), normalize("NFC", stored)
    return max(SequenceMatcher(None, id, name).ratio() for name in (stored, *names_of(stored)))
