"""Encodes tokens as text. This is a stored format. If it changes, increase the `version` of all sketches.

A `bucketed` token has the number of the bucket and then the highest bits of the bucket's val1, 24 or 30 bits in total.
Each character encodes six bits, most significant first. The alphabet has no lower-case letters. A search word that was
lower-cased by an analyzer therefore never equals a token that contains a letter. One token in eight has no letter, such
as `2024`. The `simple` search analyzer of the field only keeps letters, so a search never matches these tokens either.

`MinHash.lucene_terms` returns the terms that Lucene's MinHashFilter indexes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from simdoc_search.sketch.base import TOKEN_LENGTH, Codes, Minima, Sketch

ALPHABET = "".join(c for c in map(chr, range(33, 127)) if not c.islower() and c not in '"\\<&')
TOKEN_LENGTHS = (4, 5)
_BITS = 6  # of a character
_SHIFTS = np.arange(_BITS * (max(TOKEN_LENGTHS) - 1), -1, -_BITS, dtype=np.uint32)  # of the characters of a code
_SPACE, _NO_VALUE = 64, 255
_CHARACTERS = f"{ALPHABET} ".ljust(256).encode("ascii")  # of the values
_VALUES = bytes((ALPHABET + " ").find(chr(byte)) % 256 for byte in range(256))  # -1 % 256 is _NO_VALUE


def bucketed_codes(values: Minima, sketch: Sketch, length: int = TOKEN_LENGTH) -> Codes:
    """Return the token codes of a text.

    Args:
        values: the minima of the text.
        sketch: the sketch that made them.
        length: characters of a token, 4 or 5.

    Returns:
        uint32, shape (values,), ascending. Each code has the number of the slot and then the highest bits of val1:
        15 bits for 512 buckets and length 4.

    Raises:
        ValueError: the sketch has no bucketed tokens, or the length is not 4 or 5.
    """
    if length not in TOKEN_LENGTHS:
        raise ValueError(f"a token must have 4 or 5 characters, not {length!r}")
    sketch.require_bucketed_tokens()
    bits = hash_bits(sketch, length)
    return ((values.slots << bits).astype(np.uint64) | (values.val1 >> np.uint64(64 - bits))).astype(np.uint32)


def encode(codes: Codes, length: int = TOKEN_LENGTH) -> list[str]:
    """Encode codes as tokens of `length` characters. The errors are those of `encode_text`."""
    return encode_text(codes, length).split()


def encode_text(codes: Codes, length: int = TOKEN_LENGTH) -> str:
    """Encode codes as the text of a field: tokens of `length` characters, separated by spaces.

    Raises:
        ValueError: a code needs more characters.
    """
    if len(codes) and int(codes.max()) >> (_BITS * length):
        raise ValueError(f"the number {int(codes.max())} cannot be encoded in a token of {length} characters")
    values = np.full((len(codes), length + 1), _SPACE, np.uint8)
    values[:, :length] = (codes[:, np.newaxis] >> _SHIFTS[-length:]) & np.uint32(63)
    return values.tobytes()[:-1].translate(_CHARACTERS).decode("ascii")


def decode(tokens: Sequence[str], length: int = TOKEN_LENGTH) -> Codes:
    """Return the codes from which `encode` made the tokens; uint32.

    Raises:
        ValueError: a token has another length, or other characters.
    """
    joined = "".join(tokens)
    if not joined.isascii() or not {length}.issuperset(map(len, tokens)):
        wrong = next(token for token in tokens if len(token) != length or not token.isascii())
        raise ValueError(f"{wrong!r} is not a token of {length} characters")
    values = _values(joined).reshape(-1, length)
    if (values >= _SPACE).any():
        raise ValueError(f"{tokens[int(np.argmax((values >= _SPACE).any(axis=1)))]!r} is not a token")
    return _numbers(values)


def decode_text(text: str, length: int = TOKEN_LENGTH) -> Codes:
    """Decode the text of a field, that is, tokens separated by spaces. The errors are those of `decode`.

    This is fastest if there is exactly one space between tokens.
    """
    if text.isascii() and len(text) % (length + 1) == length:
        values = _values(f"{text} ")
        rows = values.reshape(-1, length + 1)
        is_space = values == _SPACE
        if values.max() == _SPACE and is_space[length :: length + 1].all() and np.count_nonzero(is_space) == len(rows):
            return _numbers(rows[:, :length])
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


def hash_bits(sketch: Sketch, length: int = TOKEN_LENGTH) -> int:
    """Return how many low bits of a code belong to the hash. The other bits are the number of the slot."""
    return _BITS * length - (sketch.slot_count - 1).bit_length()
