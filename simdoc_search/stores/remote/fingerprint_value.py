"""What a document has at our field: is it ours, and is it a fingerprint as we write it?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simdoc_search.sketch.kinds import KINDS, Kind, kinds_of
from simdoc_search.sketch.sentences import sentences_of_codes
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.tokens import decode_text, encode, hash_bits

_NAMES = frozenset(
    {
        "tokens",
        "shingles",
        "buckets",
        "text_hash",
        "words_hash",
        *KINDS,
        "format",
        "error",
        "duplicate_of",
        "cluster",
    }
)

_NO_VALUE = 64
_VALUES = np.full(256, _NO_VALUE, np.int64)
_VALUES[[ord(each) for each in encode(np.arange(64, dtype=np.uint32), 1)]] = np.arange(64)


def fingerprint_in(source: Mapping[str, Any], field: str) -> Any:
    """What a document has at our field; keys with a dot, like `simdoc.tokens`, are those of an object."""
    dotted = {key: value for key, value in source.items() if key.startswith(f"{field}.") and value is not None}
    if not dotted:
        return source.get(field)
    inner = source.get(field)
    below = {key.removeprefix(f"{field}."): value for key, value in dotted.items()}
    return {**below, **inner} if isinstance(inner, Mapping) else below


def is_ours(value: Any) -> bool:
    """Whether what a document has at our field was written by us, or by a loader for us, or is nothing at all.

    What an application keeps there is never replaced. A fingerprint has our label, or, where that is missing, nothing
    but parts of ours; else it may be malformed.
    """
    if value is None:
        return True
    if isinstance(value, list):
        return all(isinstance(each, Mapping) and is_ours(each) for each in value)
    if not isinstance(value, Mapping):
        return False
    label = value.get("format")
    if label is not None:
        return isinstance(label, str) and "; " in label
    hashed = isinstance(value.get("text_hash"), str) or value.get("tokens") is None
    return hashed and value.keys() <= _NAMES


def fault_of(source: Mapping[str, Any], field: str, settings: Settings) -> str:
    """What is wrong with the form of a document's fingerprint, in words that follow "it"; empty if nothing is."""
    values = source.get(field)
    if fingerprint_in(source, field) is not values:
        return "has keys with dots"
    if not isinstance(values, Mapping):
        return f"is {_kind(values)}, not an object"
    tokens = values.get("tokens")
    if tokens is not None and not isinstance(tokens, str):
        return f"has tokens that are {_kind(tokens)}, not a text"
    if tokens and (fault := _fault_of_tokens(tokens, settings) or _fault_of_kinds(values, settings)):
        return fault
    for name in ("shingles", "buckets"):
        if type(values.get(name)) is not int:
            return f"has {name} that are {_kind(values.get(name))}, not a number"
    count = (tokens or "").count(" ") + bool(tokens)
    return "" if values["buckets"] == count else f"has {count} tokens for {values['buckets']} buckets"


def _fault_of_kinds(values: Mapping[str, Any], settings: Settings) -> str:
    """The same for its tokens of other kinds, those that an index of these settings has."""
    faults = (_fault_of_kind(values.get(each.name), each) for each in kinds_of(settings))
    return next(filter(None, faults), "")


def _fault_of_kind(tokens: Any, kind: Kind) -> str:
    """A text that has tokens of a fingerprint has passage tokens and sentences too; it may have no concepts."""
    if not isinstance(tokens, str):
        return f"has {kind.name} that are {_kind(tokens)}, not a text"
    if not tokens:
        return "" if kind.name == "concepts" else f"has no {kind.name}"
    if _values_of(tokens, kind.length) is None:
        return f"has {kind.name} that are none of ours"
    if kind.name == "sentences":
        try:
            sentences_of_codes(decode_text(tokens, kind.length))
        except ValueError:
            return "has sentences that are none of ours"
    return ""


def _values_of(tokens: str, length: int) -> NDArray[np.int64] | None:
    """What each character of each token stands for; None if some are no tokens."""
    if not tokens.isascii():
        return None
    raw = np.frombuffer(f"{tokens} ".encode("ascii"), np.uint8)
    if len(raw) % (length + 1) or (raw[length :: length + 1] != ord(" ")).any():
        return None
    values = _VALUES[raw.reshape(-1, length + 1)[:, :length]]
    return None if values.max() == _NO_VALUE else values


def _fault_of_tokens(tokens: str, settings: Settings) -> str:
    """The same for its tokens, quickly, as all documents of an index may be looked at."""
    length = settings.token_length
    values = _values_of(tokens, length)
    if values is None:
        return "has tokens that are none of ours"
    bits = 6 * length - hash_bits(settings.minhash, length)
    buckets = values[:, 0]  # a token begins with the number of its bucket
    for place in range(1, -(-bits // 6)):
        buckets = buckets << 6 | values[:, place]
    buckets = buckets >> (-bits % 6)
    is_once = (buckets[1:] > buckets[:-1]).all() or len(np.unique(buckets)) == len(buckets)
    return "" if is_once else "has two tokens of one bucket"


def _kind(value: Any) -> str:
    names = {list: "a list", str: "a text", type(None): "null", bool: "a boolean", float: "a fraction"}
    return names.get(type(value), "an object" if isinstance(value, Mapping) else "a number")
