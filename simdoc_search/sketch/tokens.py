"""Encodes tokens as text. This is a stored format. If it changes, increase the `version` of all sketches.

The code of a `bucketed` token has the number of the slot and then the highest 9 bits of the slot's val1. It has 18 bits
for the default 512 buckets, and 21 for the maximum of 4,096 slots. Each character encodes six bits, most significant
first. A code has three characters, or four if it does not fit into 18 bits. The alphabet has no lower-case letters. A
search word that was lower-cased by an analyzer therefore never equals a token that contains a letter. A token without
letters, such as `202`, does not match either, because the `simple` search analyzer of the field only keeps letters.

`MinHash.lucene_terms` returns the terms that Lucene's MinHashFilter indexes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from simdoc_search.sketch.base import Minima, Sketch

HASH_BITS = 9
"""Number of bits of a token that belong to the hash.

With more bits, most tokens occur in one document only, and an index needs several times the space; docs/figures.md
compares them. Two different minima have equal tokens with a probability of 1 in 512 (see `estimate.compare_codes`).
"""

Codes = NDArray[np.uint32]
"""Tokens as numbers; `encode` makes strings from them."""

ALPHABET = "".join(c for c in map(chr, range(33, 127)) if not c.islower() and c not in '"\\<&')
_LENGTH, _MAX_LENGTH = 3, 5  # characters of a token of a fingerprint with up to 512 slots, and of any token
_BITS = 6  # of a character
_SHIFTS = np.arange(_BITS * (_MAX_LENGTH - 1), -1, -_BITS, dtype=np.uint32)  # of the characters of a code
_SPACE, _NO_VALUE = 64, 255
_CHARACTERS = f"{ALPHABET} ".ljust(256).encode("ascii")  # of the values
_VALUES = bytes((ALPHABET + " ").find(chr(byte)) % 256 for byte in range(256))  # -1 % 256 is _NO_VALUE


def bucketed_codes(values: Minima, sketch: Sketch) -> Codes:
    """Return the token codes of a text.

    Args:
        values: the minima of the text.
        sketch: the sketch that made them.

    Returns:
        uint32, shape (values,), ascending. Each code has the number of the slot and then the highest 9 bits of val1.

    Raises:
        ValueError: the sketch has no bucketed tokens.
    """
    sketch.require_bucketed_tokens()
    hashes = (values.val1 >> np.uint64(64 - HASH_BITS)).astype(np.uint32)
    return values.slots.astype(np.uint32) << np.uint32(HASH_BITS) | hashes


def encode(codes: Codes, length: int | None = None) -> list[str]:
    """Encode codes as tokens. The arguments and errors are those of `encode_text`."""
    return encode_text(codes, length).split()


def encode_text(codes: Codes, length: int | None = None) -> str:
    """Encode codes as the text of a field: tokens separated by spaces.

    Args:
        codes: the codes.
        length: number of characters of each token. None: three or four, as each code of a fingerprint needs.

    Raises:
        ValueError: a code needs more characters.
    """
    is_long = codes >> np.uint32(_BITS * _LENGTH) > 0
    if length is None and is_long.any():
        short, long = (
            iter(encode(codes[part], width)) for part, width in ((~is_long, _LENGTH), (is_long, _LENGTH + 1))
        )
        return " ".join(next(long if is_next_long else short) for is_next_long in is_long.tolist())
    width = length or _LENGTH
    if len(codes) and int(codes.max()) >> (_BITS * width):
        raise ValueError(f"the number {int(codes.max())} cannot be encoded in a token of {width} characters")
    values = np.full((width + 1, len(codes)), _SPACE, np.uint8)
    values[:width] = (codes >> _SHIFTS[-width:, np.newaxis]) & np.uint32(63)  # numpy is slow along a short last axis
    return values.tobytes("F")[:-1].translate(_CHARACTERS).decode("ascii")


def decode(tokens: Sequence[str], length: int | None = None) -> Codes:
    """Return the codes from which `encode` made the tokens; uint32.

    Raises:
        ValueError: a token has another length, or other characters.
    """
    width = length or _LENGTH
    if length is None and (_LENGTH + 1) in map(len, tokens):
        zero, width = ALPHABET[0], _LENGTH + 1
        for token in tokens:
            if len(token) == width and token.startswith(zero):
                raise ValueError(f"{token!r} is not a token, because its code needs only {_LENGTH} characters")
        tokens = [zero + token if len(token) == _LENGTH else token for token in tokens]
    joined = "".join(tokens)
    if not joined.isascii() or not {width}.issuperset(map(len, tokens)):
        wrong = next(token for token in tokens if len(token) != width or not token.isascii())
        raise ValueError(f"{wrong!r} is not a token of {width} characters")
    values = _values(joined).reshape(-1, width)
    if (values >= _SPACE).any():
        raise ValueError(f"{tokens[int(np.argmax((values >= _SPACE).any(axis=1)))]!r} is not a token")
    return _numbers(values)


def decode_text(text: str, length: int | None = None) -> Codes:
    """Decode the text of a field, that is, tokens separated by spaces. The errors are those of `decode`.

    This is fastest if all tokens have the same length, and there is exactly one space between them.
    """
    width = length or _LENGTH
    if text.isascii() and len(text) % (width + 1) == width:
        values = _values(f"{text} ")
        rows = values.reshape(-1, width + 1)
        is_space = values == _SPACE
        if values.max() == _SPACE and is_space[width :: width + 1].all() and np.count_nonzero(is_space) == len(rows):
            return _numbers(rows[:, :width])
    return decode(text.split(), length)


def _values(text: str) -> NDArray[np.uint8]:
    """Return the value of each character: 0..63, `_SPACE` for a space, `_NO_VALUE` for others."""
    return np.frombuffer(text.encode("ascii").translate(_VALUES), np.uint8)


def _numbers(values: NDArray[np.uint8]) -> Codes:
    """Combine character values of shape (tokens, characters) into numbers."""
    codes = np.zeros(len(values), np.uint32)
    for index in range(values.shape[1]):
        codes <<= np.uint32(_BITS)
        codes |= values[:, index]
    return codes
