"""Converts records to index documents and back.

Other programs may write to the index, so a document may contain any values. `{"a.b": 1}` is read like `{"a": {"b":
1}}`, and `[1]` like `1`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple
from typing import Any

import numpy as np

from simdoc_search.analysis.words import without_surrogates
from simdoc_search.documents import DocumentKey
from simdoc_search.errors import DocumentError
from simdoc_search.sketch.sentences import decode_simhashes
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.token_kinds import TOKEN_KINDS, TokenKind, token_kinds
from simdoc_search.sketch.tokens import TokenIds, decode_text, empty_token_ids, encode_as_texts
from simdoc_search.stores.fields import METADATA_FIELD, alternative_names, metadata_terms
from simdoc_search.stores.record import EncodedRecord, Origin, Record
from simdoc_search.stores.remote.bulk import json_line
from simdoc_search.stores.remote.errors import one_line
from simdoc_search.stores.remote.schema import MAX_PATH_CHARACTERS, format_label
from simdoc_search.stores.remote.texts import read_text

_REQUIRED_ORIGIN_PARTS = ("root", "size", "mtime_ns", "prefix")
_ORIGIN_PARTS = (*_REQUIRED_ORIGIN_PARTS, "content", "archive")  # the stored names of the fields of `Origin`, in order
_PLAIN_TYPES = frozenset({str, int, dict, type(None)})
_TYPE_NAMES = {bool: "a boolean", int: "a number", float: "a number", str: "a string", dict: "an object"}


class _MalformedError(Exception):
    """A part of a document is malformed.

    The message is a sentence without its subject, such as "has 2 values in path". Callers put the id of the document
    before it.
    """


def build_field_values(records: Sequence[Record], settings: Settings) -> list[dict[str, Any]]:
    """Return the value of the fingerprint field for each record. Kinds of tokens that the index lacks are omitted."""
    texts = {"tokens": encode_as_texts([record.token_ids for record in records])}
    for kind in token_kinds(settings):
        texts[kind.name] = encode_as_texts([getattr(record, kind.name) for record in records], kind.length)
    label = format_label(settings)
    return [
        {
            **dict(zip(texts, texts_of_record, strict=True)),
            "shingles": record.shingle_count,
            "buckets": len(record.token_ids),
            "text_hash": record.text_hash,
            "words_hash": record.words_hash,
            "format": label,
        }
        for record, *texts_of_record in zip(records, *texts.values(), strict=True)
    ]


def encode_records(
    records: Sequence[Record], settings: Settings, *, field: str, store_text: bool
) -> list[EncodedRecord]:
    """Convert records to the lines of their documents in a bulk request."""
    sources = to_sources(records, settings, field=field, store_text=store_text)
    return [EncodedRecord(record.id, json_line(source)) for record, source in zip(records, sources, strict=True)]


def to_sources(records: Sequence[Record], settings: Settings, *, field: str, store_text: bool) -> list[dict[str, Any]]:
    """Return the index document for each record, for an index that simdoc-search created."""
    field_values = build_field_values(records, settings)
    return [
        _to_source(record, values, field=field, store_text=store_text)
        for record, values in zip(records, field_values, strict=True)
    ]


def _to_source(record: Record, values: dict[str, Any], *, field: str, store_text: bool) -> dict[str, Any]:
    values |= {
        "digest": record.digest,
        "names": [_json_value(name) for name in alternative_names(record.id)],
        "path": _json_value(record.path)[:MAX_PATH_CHARACTERS],
        METADATA_FIELD: metadata_terms(record),
    }
    if record.origin:
        values["origin"] = {
            key: value
            for key, value in zip(_ORIGIN_PARTS, astuple(record.origin), strict=True)
            if value or key in _REQUIRED_ORIGIN_PARTS
        }
    source: dict[str, Any] = {field: values, "metadata": _json_value(dict(record.metadata))}
    if store_text and record.text is not None:
        source["body"] = _json_value(record.text)
    return source


def to_record(
    key: DocumentKey,
    source: Mapping[str, Any],
    *,
    field: str,
    text_fields: Sequence[str] | None = None,
    known_fault: str = "",
) -> Record:
    """Return the record of a document. Missing or malformed parts are empty. `Record.fault` lists the malformed parts.

    `source` is the `_source` of the document, or parts of it. If `text_fields` is None, the text is in `body`, as in an
    index that simdoc-search created. If a fault of the fingerprint field is already known, the field is not read.
    """
    faults = [known_fault] if known_fault else []
    if known_fault:
        source = {name: value for name, value in source.items() if name.partition(".")[0] != field}

    def read(reader: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return reader(source, *arguments)
        except _MalformedError as error:
            faults.append(str(error))
            return None

    token_ids = read(_read_token_set, None, f"{field}.tokens")
    kinds = {name: read(_read_kind, kind, f"{field}.{name}") for name, kind in TOKEN_KINDS.items()}
    tokens_by_kind: dict[str, Any] = {
        name: empty_token_ids() if found is None else found for name, found in kinds.items()
    }
    return Record(
        id=key.id,
        token_ids=empty_token_ids() if token_ids is None else token_ids,
        shingle_count=read(_read_integer, f"{field}.shingles") or 0,
        digest=read(_read_single_value, f"{field}.digest", str) or "",
        metadata=read(_read_single_value, "metadata", dict) or {},
        text=read(_read_single_value, "body", str) if text_fields is None else read(_read_text, text_fields),
        origin=read(_read_origin, f"{field}.origin"),
        text_hash=read(_read_single_value, f"{field}.text_hash", str) or "",
        words_hash=read(_read_single_value, f"{field}.words_hash", str) or "",
        fault="; ".join(faults),
        **tokens_by_kind,
        index=key.index,
        routing=key.routing,
    )


def read_token_ids(source: Mapping[str, Any], *, field: str) -> TokenIds | str:
    """Return the tokens of a document as ascending numbers, or what is wrong, such as "has 2 values in path"."""
    try:
        token_ids = _read_token_set(source, None, f"{field}.tokens")
    except _MalformedError as error:
        return str(error)
    return token_ids if len(token_ids) else f"has no {field}.tokens in its _source"


def read_text_hash(source: Mapping[str, Any], *, field: str) -> str:
    """Return the hash of the text of a document, or an empty string if the hash is missing or malformed."""
    try:
        return _read_single_value(source, f"{field}.text_hash", str) or ""
    except _MalformedError:
        return ""


def _json_value(value: Any) -> Any:
    """Replace lone surrogates, which JSON in UTF-8 cannot contain, with U+FFFD."""
    if isinstance(value, str):
        return without_surrogates(value)
    if isinstance(value, list):
        return [_json_value(item) for item in value]
    if isinstance(value, dict):
        return {_json_value(key): _json_value(item) for key, item in value.items()}
    return value


def _read_kind(source: Mapping[str, Any], kind: TokenKind, path: str) -> TokenIds:
    if kind.is_sorted_set:
        return _read_token_set(source, kind.length, path)
    token_ids = _read_tokens(source, kind.length, path)
    if kind.name == "sentences":
        try:
            decode_simhashes(token_ids)
        except ValueError as error:
            raise _MalformedError(f"has invalid hashes in {path} ({one_line(error)})") from None
    return token_ids


def _read_token_set(source: Mapping[str, Any], length: int | None, path: str) -> TokenIds:
    token_ids = _read_tokens(source, length, path)
    if (token_ids[1:] > token_ids[:-1]).all():
        return token_ids
    token_ids = np.sort(token_ids)
    if (token_ids[1:] == token_ids[:-1]).any():
        raise _MalformedError(f"has repeated {path.rpartition('.')[2]}")
    return token_ids


def _read_tokens(source: Mapping[str, Any], length: int | None, path: str) -> TokenIds:
    text = _read_single_value(source, path, str)
    if not text:
        return empty_token_ids()
    try:
        return decode_text(text, length)
    except ValueError as error:
        raise _MalformedError(f"has invalid {path.rpartition('.')[2]} ({one_line(error)})") from None


def _read_text(source: Mapping[str, Any], text_fields: Sequence[str]) -> str | None:
    try:
        return read_text(source, text_fields)
    except DocumentError as error:
        raise _MalformedError(f"has no text that can be read ({error})") from None


def _read_single_value(source: Mapping[str, Any], path: str, expected_type: type) -> Any:
    """Return the only value at a path, or None if there is no value."""
    first, _, last = path.partition(".")
    parent = source.get(first)
    if (
        last and type(parent) is dict and path not in source and type(parent.get(last)) in _PLAIN_TYPES
    ):  # simdoc-search writes values in this form, so no search for other forms is needed
        values = [] if parent.get(last) is None else [parent[last]]
    else:
        values = list(_find_values(source, path.split(".")))
    if len(values) > 1:
        raise _MalformedError(f"has {len(values)} values in {path}")
    if not values:
        return None
    if not isinstance(values[0], expected_type):
        actual, expected = (
            _TYPE_NAMES.get(kind, "a value of another type") for kind in (type(values[0]), expected_type)
        )
        raise _MalformedError(f"has {actual} in {path}, not {expected}")
    return values[0]


def _find_values(value: Any, path: list[str]) -> Iterator[Any]:
    """Yield the values that an engine finds at a path."""
    if isinstance(value, list):
        for item in value:
            yield from _find_values(item, path)
    elif not path:
        if value is not None:
            yield value
    elif isinstance(value, Mapping):
        for count in range(1, len(path) + 1):
            key = ".".join(path[:count])
            if key in value:
                yield from _find_values(value[key], path[count:])
    elif value is not None:
        actual = _TYPE_NAMES.get(type(value), "a value of another type")
        raise _MalformedError(f"has {actual} where the field {'.'.join(path)} is expected")


def _read_integer(source: Mapping[str, Any], path: str) -> int:
    """Return the integer at a path. Fractions and numeric strings are rounded down, because engines accept them too."""
    value = _read_single_value(source, path, object)
    if type(value) is int and 0 <= value < 1 << 31:
        return value
    try:
        number = math.floor(float(value or 0)) if isinstance(value, (int, float, str, type(None))) else -1
    except (ValueError, OverflowError):
        number = -1
    if isinstance(value, bool) or not 0 <= number < 1 << 31:
        raise _MalformedError(f"has an invalid number in {path}")
    return number


def _read_origin(source: Mapping[str, Any], path: str) -> Origin | None:
    value = _read_single_value(source, path, dict)
    if not value:
        return None
    root, size, modified = (value.get(name) for name in ("root", "size", "mtime_ns"))
    others = [value.get(name) or "" for name in ("prefix", "content", "archive")]
    are_strings = all(isinstance(value, str) for value in (root, *others))
    if not (are_strings and type(size) is int and type(modified) is int):
        raise _MalformedError(f"has an invalid {path}")
    return Origin(root, size, modified, *others)
