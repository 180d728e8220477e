"""Encodes tokens as text, the form in which stores keep them.

If the encoding changes, increase the `version` of all sketches.

The code of a `bucketed` token contains the index of the slot, followed by the highest 9 bits of the slot's val1. It
has 18 bits for the default 512 buckets, and 21 bits for the maximum of 4,096 slots. Each character encodes six bits,
most significant first. A code has three characters, or four if it does not fit into 18 bits. The alphabet has no
lower-case letters. If an analyzer lower-cases a search word, the word never equals a token that contains a letter. A
token without letters, such as `202`, never matches a search word, because the `simple` search analyzer of the field
only keeps letters.

`MinHash.lucene_terms` returns the terms that Lucene's MinHashFilter indexes.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from simdoc_search.sketch.base import Minima, Sketch

HASH_BITS = 9
"""Number of bits of a token that belong to the hash.

With more bits, most tokens would occur in only one document, and an index would need several times the space.
docs/figures.md compares different numbers of bits. Two different minima have equal tokens with a probability of 1 in
512 (see `estimate.compare_codes`).
"""

Codes = NDArray[np.uint32]
"""Tokens as numbers; `encode` makes strings from them."""

ALPHABET = "".join(c for c in map(chr, range(33, 127)) if not c.islower() and c not in '"\\<&')
_TOKEN_LENGTH = 3  # enough for a fingerprint with at most 512 slots
_MAX_TOKEN_LENGTH = 5  # enough for a code of 30 bits
_CHARACTER_BITS = 6
_SHIFTS = np.arange(_CHARACTER_BITS * (_MAX_TOKEN_LENGTH - 1), -1, -_CHARACTER_BITS, dtype=np.uint32)
_SPACE, _INVALID = 64, 255
_CHARACTERS = f"{ALPHABET} ".ljust(256).encode("ascii")  # maps each value of 6 bits to its character
_VALUES = bytes((ALPHABET + " ").find(chr(byte)) % 256 for byte in range(256))  # maps other characters to _INVALID


def bucketed_codes(values: Minima, sketch: Sketch) -> Codes:
    """Return the token codes of a text.

    Args:
        values: the minima of the text.
        sketch: the sketch that made them.

    Returns:
        uint32, shape (values,), ascending. Each code is the index of the slot, followed by the highest 9 bits of val1.

    Raises:
        ValueError: the sketch does not support tokens in the format `bucketed`.
    """
    sketch.require_bucketed_tokens()
    hashes = (values.val1 >> np.uint64(64 - HASH_BITS)).astype(np.uint32)
    return values.slots.astype(np.uint32) << np.uint32(HASH_BITS) | hashes


def encode(codes: Codes, length: int | None = None) -> list[str]:
    """Return the tokens of codes. The arguments and errors are those of `encode_text`."""
    return encode_text(codes, length).split()


def encode_text(codes: Codes, length: int | None = None) -> str:
    """Return the text of a field: the tokens of codes, separated by spaces.

    Args:
        codes: the codes.
        length: number of characters of each token. None: three characters, or four for a code that needs them.

    Raises:
        ValueError: a code needs more characters.
    """
    is_long = codes >> np.uint32(_CHARACTER_BITS * _TOKEN_LENGTH) > 0
    if length is None and is_long.any():
        short, long = (
            iter(encode(codes[part], width))
            for part, width in ((~is_long, _TOKEN_LENGTH), (is_long, _TOKEN_LENGTH + 1))
        )
        return " ".join(next(long if is_next_long else short) for is_next_long in is_long.tolist())
    width = length or _TOKEN_LENGTH
    if len(codes) and int(codes.max()) >> (_CHARACTER_BITS * width):
        raise ValueError(f"the number {int(codes.max())} cannot be encoded in a token of {width} characters")
    values = np.full((width + 1, len(codes)), _SPACE, np.uint8)
    values[:width] = (codes >> _SHIFTS[-width:, np.newaxis]) & np.uint32(63)  # numpy is slow along a short last axis
    return values.tobytes("F")[:-1].translate(_CHARACTERS).decode("ascii")


def encode_texts(codes: Sequence[Codes], length: int | None = None) -> list[str]:
    """Return the result of `encode_text` for each array. This is several times faster than one call per array."""
    if not codes:
        return []
    joined, width = encode_text(np.concatenate(codes), length), (length or _TOKEN_LENGTH) + 1
    ends = list(itertools.accumulate(width * len(part) for part in codes))
    if len(joined) > max(ends[-1] - 1, 0):  # some tokens have four characters, so `ends` is wrong
        return [encode_text(part, length) for part in codes]
    return [joined[begin:end].rstrip(" ") for begin, end in zip([0, *ends], ends)]  # noqa: B905 - `ends` has one item less


def decode(tokens: Sequence[str], length: int | None = None) -> Codes:
    """Return the codes from which `encode` made the tokens; uint32.

    Raises:
        ValueError: a token has a different length, or a character that is not in the alphabet.
    """
    width = length or _TOKEN_LENGTH
    if length is None and (_TOKEN_LENGTH + 1) in map(len, tokens):
        zero, width = ALPHABET[0], _TOKEN_LENGTH + 1
        for token in tokens:
            if len(token) == width and token.startswith(zero):
                raise ValueError(f"{token!r} is not a token, because its code needs only {_TOKEN_LENGTH} characters")
        tokens = [zero + token if len(token) == _TOKEN_LENGTH else token for token in tokens]
    joined = "".join(tokens)
    if not joined.isascii() or not {width}.issuperset(map(len, tokens)):
        wrong = next(token for token in tokens if len(token) != width or not token.isascii())
        raise ValueError(f"{wrong!r} is not a token of {width} characters")
    values = _character_values(joined).reshape(-1, width)
    if (values >= _SPACE).any():
        raise ValueError(f"{tokens[int(np.argmax((values >= _SPACE).any(axis=1)))]!r} is not a token")
    return _combine_characters(values)


def decode_text(text: str, length: int | None = None) -> Codes:
    """Return the codes of the tokens in the text of a field, which are separated by spaces.

    The errors are those of `decode`.

    This is fastest if all tokens have the same length and are separated by exactly one space.
    """
    width = length or _TOKEN_LENGTH
    if text.isascii() and len(text) % (width + 1) == width:
        values = _character_values(f"{text} ")
        rows = values.reshape(-1, width + 1)
        is_space = values == _SPACE
        if values.max() == _SPACE and is_space[width :: width + 1].all() and np.count_nonzero(is_space) == len(rows):
            return _combine_characters(rows[:, :width])
    return decode(text.split(), length)


def _character_values(text: str) -> NDArray[np.uint8]:
    """Return the value of each character: 0..63, `_SPACE` for a space, or `_INVALID`."""
    return np.frombuffer(text.encode("ascii").translate(_VALUES), np.uint8)


def _combine_characters(values: NDArray[np.uint8]) -> Codes:
    """Combine character values of shape (tokens, characters) into numbers."""
    codes = np.zeros(len(values), np.uint32)
    for index in range(values.shape[1]):
        codes <<= np.uint32(_CHARACTER_BITS)
        codes |= values[:, index]
    return codes
