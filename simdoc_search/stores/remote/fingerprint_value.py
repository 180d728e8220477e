"""Checks whether simdoc-search wrote the value of a fingerprint field, and whether the value is well formed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simdoc_search.documents import DocumentKey
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.token_kinds import TOKEN_KINDS, token_kinds
from simdoc_search.sketch.tokens import HASH_BITS, encode_as_text
from simdoc_search.stores.record import Record
from simdoc_search.stores.remote.records import to_record
from simdoc_search.stores.remote.schema import MARK_FIELDS

_FINGERPRINT_PARTS = frozenset(
    {"tokens", "shingles", "buckets", "text_hash", "words_hash", *TOKEN_KINDS, "format", "error", *MARK_FIELDS}
)


def read_fingerprint_value(source: Mapping[str, Any], field: str) -> Any:
    """Return the value of the fingerprint field. Merge keys with dots, such as `simdoc.tokens`, into the value."""
    dotted = {key: value for key, value in source.items() if key.startswith(f"{field}.") and value is not None}
    if not dotted:
        return source.get(field)
    value = source.get(field)
    parts = {key.removeprefix(f"{field}."): part for key, part in dotted.items()}
    return {**parts, **value} if isinstance(value, Mapping) else parts


def is_simdoc_value(value: Any) -> bool:
    """Return whether simdoc-search or its ingest pipeline wrote the value of the fingerprint field. None is accepted.

    Such a value has a `format` label, or contains only parts of a fingerprint, which may be malformed. Other values
    belong to the application and are never replaced.
    """
    if value is None:
        return True
    if isinstance(value, list):
        return all(isinstance(item, Mapping) and is_simdoc_value(item) for item in value)
    if not isinstance(value, Mapping):
        return False
    label = value.get("format")
    if label is not None:
        return isinstance(label, str) and "; " in label
    has_hash = isinstance(value.get("text_hash"), str) or value.get("tokens") is None
    return has_hash and value.keys() <= _FINGERPRINT_PARTS


def describe_fault(source: Mapping[str, Any], field: str, settings: Settings) -> str:
    """Return what is wrong with a document's fingerprint, such as "is not an object", or an empty string."""
    values = source.get(field)
    if read_fingerprint_value(source, field) is not values:
        return "has keys with dots"
    if not isinstance(values, Mapping):
        return "is not an object"
    record = to_record(DocumentKey(""), {field: values}, field=field)
    return record.fault.replace(f"{field}.", "") or next(_find_faults(values, record, settings), "")


def _find_faults(values: Mapping[str, Any], record: Record, settings: Settings) -> Iterator[str]:
    """Yield the faults of a fingerprint that can be read as a record."""
    tokens: dict[str, tuple[NDArray[np.uint32], int | None]] = {"tokens": (record.token_ids, None)}
    if len(record.token_ids):
        tokens |= {kind.name: (getattr(record, kind.name), kind.length) for kind in token_kinds(settings)}
    for name, (token_ids, token_length) in tokens.items():
        # every text with tokens has passages and sentences
        if name in ("passages", "sentences") and not len(token_ids):
            yield f"has no {name}"
        if not _contains_only(values.get(name), token_ids, token_length):
            yield f"has invalid {name}"
    if values.get("shingles") != record.shingle_count or values.get("buckets") != len(record.token_ids):
        yield "has the wrong number of shingles or buckets"
    buckets = record.token_ids >> np.uint32(HASH_BITS)
    if len(np.unique(buckets)) < len(buckets):
        yield "has two tokens in one bucket"


def _contains_only(text: Any, token_ids: NDArray[np.uint32], token_length: int | None) -> bool:
    """Return whether a string contains nothing except the tokens that were decoded from it, and single spaces.

    This is so if it has the length of the encoded tokens.
    """
    if not len(token_ids):
        return text in ("", None)
    return isinstance(text, str) and len(text) == len(encode_as_text(token_ids, token_length))
