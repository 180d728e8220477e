"""Builds the terms for names and metadata, which stores index in addition to the tokens of a record."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from difflib import SequenceMatcher
from unicodedata import normalize

from simdoc_search.stores.filters import Condition, FilterValue
from simdoc_search.stores.record import Record

MAX_METADATA_TERM_BYTES = 1_000
"""Maximum length of a metadata term in bytes. A longer term is replaced with a hash, so that filters still match it."""

METADATA_FIELD = "facts"
"""Stored name of the field with the terms of the metadata and of the indexed folder; see `metadata_terms`."""

ORIGIN_FIELD = "\0origin"
"""The field of a condition on the file or folder that documents were read from; see `origin_value` for its values."""

_ROOT_FIELD = "\0root"
"""The field name in the terms of `root_term`. No metadata field has this name."""

MAX_SUGGESTIONS, _MAX_SUGGESTIONS_WITH_WORD, _MAX_DISTINCTIVE_WORDS = 3, 10, 3
MIN_SIMILARITY = 0.5
MIN_WORD_LENGTH = 4
_ASCII_WORDS = re.compile("[A-Za-z]+")


def escape_surrogates(text: str) -> str:
    """Escape lone surrogates, which UTF-8 cannot encode and engines reject."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def alternative_names(id: str) -> list[str]:
    """Return other names for an id.

    They are its last path component, its archive member, both of these without extension, and the id without extension.
    """
    member = last = id.rsplit("/", 1)[-1]
    if "!" in member:
        from simdoc_search.corpus.member_names import find_archive  # noqa: PLC0415 - loads all readers of files

        while archive := find_archive(member):
            member = member[len(archive) + 1 :]
    dot = member.rfind(".")
    extension = len(member) - dot if 0 < dot < len(member) - 1 else 0
    names = {last, member, *(name[: len(name) - extension] for name in (id, last, member))}
    return sorted(names - {""})


def metadata_term(key: str, value: FilterValue) -> str:
    """Return the term for a metadata field with this value. Numbers and booleans are written as in JSON."""
    text = f"{key}\0{value if isinstance(value, str) else json.dumps(value)}"
    encoded = text.encode("utf-8", "surrogatepass")
    if len(encoded) > MAX_METADATA_TERM_BYTES:
        return f"{escape_surrogates(key[:100])}\0\0{hashlib.sha256(encoded).hexdigest()}"
    return escape_surrogates(text)


def root_term(root_folder: str) -> str:
    """Return the term of documents that were indexed from this folder. No metadata field has this term."""
    return metadata_term(_ROOT_FIELD, root_folder)


def origin_value(root_folder: str, path: str = "") -> str:
    """Return a value for a condition on `ORIGIN_FIELD`. It matches documents that were indexed from `root_folder`.

    If `path` ends with `/`, it is a folder, and only documents in it match. Otherwise, it is a file, and only this file
    and its members match. If `path` is empty, all documents that were indexed from `root_folder` match.
    """
    return f"{root_folder}\0{path}"


def parse_origin_value(value: FilterValue) -> tuple[str, str]:
    """Return the `root_folder` and the `path` of a value that `origin_value` returned."""
    root_folder, _, path = str(value).partition("\0")
    return root_folder, path


def metadata_prefix(key: str) -> str:
    """Return the common prefix of all terms of a metadata field."""
    return escape_surrogates(f"{key[:100]}\0")


def field_or_folder_names(records: Iterable[Record], condition: Condition) -> list[str]:
    """Return the names of the records' metadata fields, or for a condition on `path`, of their top-level folders."""
    if condition.field == "path":
        return sorted({f"{first}/" for first, slash, _ in (record.path.partition("/") for record in records) if slash})
    return sorted({key for record in records for key in record.metadata})


def metadata_terms(record: Record) -> list[str]:
    """Return the distinct terms of the metadata and of the indexed folder of a record, sorted."""
    terms = {root_term(record.origin.root)} if record.origin else set()
    for key, value in record.metadata.items():
        terms.update(metadata_term(key, item) for item in (value if isinstance(value, list) else [value]))
    return sorted(terms)


def most_similar_ids(id: str, stored_ids: Iterable[str]) -> list[str]:
    """Return stored ids that are similar to an id, by descending similarity.

    At most ten ids are returned, and at most three if they do not contain one of the longest words of the id.
    """
    ranked = [(similarity, other) for other in stored_ids if (similarity := _similarity(id, other)) >= MIN_SIMILARITY]
    ids = [other for _, other in sorted(ranked, key=lambda pair: (-pair[0], pair[1]))]
    return [
        other
        for number, other in enumerate(ids[:_MAX_SUGGESTIONS_WITH_WORD])
        if number < MAX_SUGGESTIONS or _shares_word(id, other)
    ]


def distinctive_words(id: str) -> list[str]:
    """Return the longest words of an id, at most three. They consist of ASCII letters."""
    words = {word for word in _ASCII_WORDS.findall(id) if len(word) >= MIN_WORD_LENGTH}
    return sorted(words, key=lambda word: (-len(word), word))[:_MAX_DISTINCTIVE_WORDS]


def _similarity(id: str, stored_id: str) -> float:
    """Return the highest similarity of an id to a stored id and its other names, from 0 to 1 (equal).

    Letter case is ignored. A stored id that contains one of the longest words of the id has at least
    `MIN_SIMILARITY`, so that it can be suggested.
    """
    similarity = max(
        SequenceMatcher(None, _fold(id), name).ratio()
        for name in (_fold(stored_id), *alternative_names(_fold(stored_id)))
    )
    return (
        max(similarity, MIN_SIMILARITY + (1 - MIN_SIMILARITY) * similarity)
        if _shares_word(id, stored_id)
        else similarity
    )


def _shares_word(id: str, stored_id: str) -> bool:
    """Return whether a stored id contains one of the longest words of an id. Letter case is ignored."""
    return any(word in _fold(stored_id) for word in distinctive_words(_fold(id)))


def _fold(id: str) -> str:
    return normalize("NFC", id).casefold()
