"""The value of the fingerprint field in a document: whether it is ours, and whether it is well formed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simdoc_search.sketch.kinds import KINDS, kinds_of
from simdoc_search.sketch.sentences import sentences_of_codes
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.tokens import decode_text, hash_bits
from simdoc_search.stores.remote.schema import MARK_FIELDS

_PARTS = frozenset(
    {"tokens", "shingles", "buckets", "text_hash", "words_hash", *KINDS, "format", "error", *MARK_FIELDS}
)


def fingerprint_in(source: Mapping[str, Any], field: str) -> Any:
    """Return the value of the fingerprint field. Keys with a dot, such as `simdoc.tokens`, are parts of an object."""
    dotted = {key: value for key, value in source.items() if key.startswith(f"{field}.") and value is not None}
    if not dotted:
        return source.get(field)
    value = source.get(field)
    parts = {key.removeprefix(f"{field}."): each for key, each in dotted.items()}
    return {**parts, **value} if isinstance(value, Mapping) else parts


def is_ours(value: Any) -> bool:
    """Return whether a value of the fingerprint field is absent, ours, or written by a loader for us.

    A value of the application is never replaced. Ours has our label, or only parts of ours, which may be malformed.
    """
    if value is None:
        return True
    if isinstance(value, list):
        return all(isinstance(item, Mapping) and is_ours(item) for item in value)
    if not isinstance(value, Mapping):
        return False
    label = value.get("format")
    if label is not None:
        return isinstance(label, str) and "; " in label
    has_hash = isinstance(value.get("text_hash"), str) or value.get("tokens") is None
    return has_hash and value.keys() <= _PARTS


def fault_of(source: Mapping[str, Any], field: str, settings: Settings) -> str:
    """Return what is wrong with a document's fingerprint, in words that follow "it"; empty if it is as we write it."""
    values = source.get(field)
    if fingerprint_in(source, field) is not values:
        return "has keys with dots"
    if not isinstance(values, Mapping):
        return f"is {_type_of(values)}, not an object"
    tokens = values.get("tokens")
    if tokens is not None and not isinstance(tokens, str):
        return f"has tokens that are {_type_of(tokens)}, not a text"
    if tokens and (fault := _fault_of_tokens(tokens, settings) or _fault_of_kinds(values, settings)):
        return fault
    for name in ("shingles", "buckets"):
        if type(values.get(name)) is not int:
            return f"has {name} that are {_type_of(values.get(name))}, not a number"
    count = (tokens or "").count(" ") + bool(tokens)
    return "" if values["buckets"] == count else f"has {count} tokens for {values['buckets']} buckets"


def _fault_of_tokens(tokens: str, settings: Settings) -> str:
    codes = _decoded(tokens, settings.token_length)
    if codes is None:
        return "has tokens that are none of ours"
    if not settings.minhash.positions:
        return "" if len(np.unique(codes)) == len(codes) else "has a token twice"
    buckets = codes >> np.uint32(hash_bits(settings.minhash, settings.token_length))
    is_unique = (buckets[1:] > buckets[:-1]).all() or len(np.unique(buckets)) == len(buckets)
    return "" if is_unique else "has two tokens of one bucket"


def _fault_of_kinds(values: Mapping[str, Any], settings: Settings) -> str:
    """Return the fault of the other tokens. A text with a fingerprint has passages and sentences, maybe no concepts."""
    for kind in kinds_of(settings):
        tokens = values.get(kind.name)
        if not isinstance(tokens, str):
            return f"has {kind.name} that are {_type_of(tokens)}, not a text"
        if not tokens and kind.name != "concepts":
            return f"has no {kind.name}"
        if tokens and not _is_well_formed(tokens, kind.name, kind.length):
            return f"has {kind.name} that are none of ours"
    return ""


def _is_well_formed(tokens: str, kind: str, length: int) -> bool:
    codes = _decoded(tokens, length)
    if codes is None or kind != "sentences":
        return codes is not None
    try:
        sentences_of_codes(codes)
    except ValueError:
        return False
    return True


def _decoded(tokens: str, length: int) -> NDArray[np.uint32] | None:
    """Return tokens as numbers, or None if we did not write them, with one space between two tokens."""
    try:
        codes = decode_text(tokens, length)
    except ValueError:
        return None
    return codes if len(tokens) + 1 == len(codes) * (length + 1) else None


def _type_of(value: Any) -> str:
    names = {list: "a list", str: "a text", type(None): "null", bool: "a boolean", float: "a fraction"}
    return names.get(type(value), "an object" if isinstance(value, Mapping) else "a number")
