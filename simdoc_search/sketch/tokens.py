"""Encodes the tokens of fingerprints as text, the form in which stores keep them.

If the encoding changes, increase the `version` of all sketches.

In memory, a token is an integer, its token id. The id of a `bucketed` token contains the index of the slot, followed by
the highest 9 bits of the slot's val1. It has 18 bits for the default 512 buckets, and 21 bits for the maximum of 4,096
slots. Each character of a token encodes six bits of the id, most significant first. A token has three characters, or
four if its id does not fit into 18 bits.

The alphabet has no lower-case letters. If an analyzer lower-cases a search word, the word never equals a token that
contains a letter. A token without letters, such as `202`, never matches a search word, because the `simple` search
analyzer of the field only keeps letters.

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
512 (see `estimate.compare_token_ids`).
"""

TokenIds = NDArray[np.uint32]
"""Tokens as integers. `encode` returns these tokens as strings."""

_EMPTY: TokenIds = np.zeros(0, np.uint32)

ALPHABET = "".join(c for c in map(chr, range(33, 127)) if not c.islower() and c not in '"\\<&')
_TOKEN_LENGTH = 3  # 3 characters of 6 bits hold a slot below 512 (9 bits) and a hash of 9 bits
_MAX_TOKEN_LENGTH = 5  # 5 characters of 6 bits hold a token id of 30 bits
_CHARACTER_BITS = 6
_SHIFTS = np.arange(_CHARACTER_BITS * (_MAX_TOKEN_LENGTH - 1), -1, -_CHARACTER_BITS, dtype=np.uint32)
_SPACE, _INVALID = 64, 255
_CHARACTERS = f"{ALPHABET} ".ljust(256).encode("ascii")  # maps 0 to 63 to the alphabet, and _SPACE to the space
# Maps the characters of the alphabet to 0 to 63, the space to _SPACE, and other bytes to _INVALID (-1 % 256).
_VALUES = bytes((ALPHABET + " ").find(chr(byte)) % 256 for byte in range(256))


def empty_token_ids() -> TokenIds:
    """Return an empty array of token ids. Every call returns the same array."""
    return _EMPTY


def unite_token_ids(a: TokenIds, b: TokenIds) -> TokenIds:
    """Return the token ids that are in `a` or `b`; ascending, distinct."""
    return np.union1d(a, b)


def bucketed_token_ids(minima: Minima, sketch: Sketch) -> TokenIds:
    """Return the token ids of a text from the minima that a sketch made.

    Returns:
        uint32, shape (minima,), ascending. Each id is the index of the slot, followed by the highest 9 bits of val1.

    Raises:
        ValueError: the sketch does not support tokens in the format `bucketed`.
    """
    sketch.require_bucketed_tokens()
    hashes = (minima.val1 >> np.uint64(64 - HASH_BITS)).astype(np.uint32)
    return minima.slots.astype(np.uint32) << np.uint32(HASH_BITS) | hashes


def encode(token_ids: TokenIds, length: int | None = None) -> list[str]:
    """Return the tokens with these ids. The arguments and errors are those of `encode_as_text`."""
    return encode_as_text(token_ids, length).split()


def encode_as_text(token_ids: TokenIds, length: int | None = None) -> str:
    """Return the text of a field: the tokens with these ids, separated by spaces.

    Args:
        token_ids: the ids of the tokens.
        length: number of characters of each token. None: three characters, or four for an id that needs them.

    Raises:
        ValueError: a token id needs more characters.
    """
    is_long = token_ids >> np.uint32(_CHARACTER_BITS * _TOKEN_LENGTH) > 0
    if length is None and is_long.any():
        short, long = (
            iter(encode(token_ids[part], width))
            for part, width in ((~is_long, _TOKEN_LENGTH), (is_long, _TOKEN_LENGTH + 1))
        )
        return " ".join(next(long if is_next_long else short) for is_next_long in is_long.tolist())
    width = length or _TOKEN_LENGTH
    if len(token_ids) and int(token_ids.max()) >> (_CHARACTER_BITS * width):
        raise ValueError(f"the token id {int(token_ids.max())} is too large for a token of {width} characters")
    values = np.full((width + 1, len(token_ids)), _SPACE, np.uint8)
    values[:width] = (token_ids >> _SHIFTS[-width:, np.newaxis]) & np.uint32(
        63
    )  # numpy is slow along a short last axis, so the characters of a token are on the first one
    return values.tobytes("F")[:-1].translate(_CHARACTERS).decode("ascii")


def encode_as_texts(token_ids: Sequence[TokenIds], length: int | None = None) -> list[str]:
    """Return the result of `encode_as_text` for each array. This is several times faster than one call per array."""
    if not token_ids:
        return []
    joined, width = encode_as_text(np.concatenate(token_ids), length), (length or _TOKEN_LENGTH) + 1
    ends = list(itertools.accumulate(width * len(part) for part in token_ids))
    if len(joined) > max(ends[-1] - 1, 0):  # some tokens have four characters, but `ends` assumes three
        return [encode_as_text(part, length) for part in token_ids]
    return [joined[begin:end].rstrip(" ") for begin, end in zip([0, *ends], ends)]  # noqa: B905 - `ends` has one item less


def decode(tokens: Sequence[str], length: int | None = None) -> TokenIds:
    """Return the ids of tokens, as the inverse of `encode`; uint32.

    Raises:
        ValueError: a token has a different length, or a character that is not in the alphabet.
    """
    width = length or _TOKEN_LENGTH
    if length is None and (_TOKEN_LENGTH + 1) in map(len, tokens):
        zero, width = ALPHABET[0], _TOKEN_LENGTH + 1
        for token in tokens:
            if len(token) == width and token.startswith(zero):
                raise ValueError(f"{token!r} is not a token, because its id needs only {_TOKEN_LENGTH} characters")
        tokens = [zero + token if len(token) == _TOKEN_LENGTH else token for token in tokens]
    joined = "".join(tokens)
    if not joined.isascii() or not {width}.issuperset(map(len, tokens)):
        wrong = next(token for token in tokens if len(token) != width or not token.isascii())
        raise ValueError(f"{wrong!r} is not a token of {width} characters")
    values = _character_values(joined).reshape(-1, width)
    if (values >= _SPACE).any():
        raise ValueError(f"{tokens[int(np.argmax((values >= _SPACE).any(axis=1)))]!r} is not a token")
    return _combine_characters(values)


def decode_text(text: str, length: int | None = None) -> TokenIds:
    """Return the ids of the tokens in the text of a field. Spaces separate the tokens.

    The errors are those of `decode`.

    This is fastest if all tokens have the same length and are separated by exactly one space.
    """
    width = length or _TOKEN_LENGTH
    if text.isascii() and len(text) % (width + 1) == width:
        values, count = f"{text} ".encode("ascii").translate(_VALUES), len(text) // (width + 1) + 1
        has_equal_lengths = values[width :: width + 1].count(_SPACE) == values.count(_SPACE) == count
        if has_equal_lengths and _INVALID not in values:
            return _combine_characters(np.frombuffer(values, np.uint8).reshape(count, width + 1)[:, :width])
    return decode(text.split(), length)


def _character_values(text: str) -> NDArray[np.uint8]:
    """Return the value of each character: 0..63, `_SPACE` for a space, or `_INVALID`."""
    return np.frombuffer(text.encode("ascii").translate(_VALUES), np.uint8)


def _combine_characters(values: NDArray[np.uint8]) -> TokenIds:
    """Combine character values of shape (tokens, characters) into numbers."""
    token_ids = np.zeros(len(values), np.uint32)
    for index in range(values.shape[1]):
        token_ids <<= np.uint32(_CHARACTER_BITS)
        token_ids |= values[:, index]
    return token_ids
