"""A token as text, and back. This is a stored format: changing it means raising `specs.BUCKETED_VERSION`.

`bucketed`: the bucket number, then the top bits of the bucket's val1, together 24 bits (or 30), six bits a character,
most significant first. The alphabet has no lower-case letter: a user's own search words, lower-cased by her analyzer,
never equal a token with a letter; for those without one (every eighth, like `2024`) the field's `simple` search
analyzer keeps words of letters only.

`lucene`: the terms that Lucene's MinHashFilter indexes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.distinct import distinct
from simdoc_search.sketch.minhash import MinHash, Minima

if TYPE_CHECKING:
    from simdoc_search.sketch.schemes import AnySketch

__all__ = [
    "ALPHABET",
    "TOKEN_LENGTHS",
    "bucketed_codes",
    "check_bucketed",
    "decode",
    "decode_text",
    "encode",
    "hash_bits",
    "is_bucketed",
    "lucene_terms",
]

ALPHABET = "".join(c for c in map(chr, range(33, 127)) if not c.islower() and c not in '"\\<&')
TOKEN_LENGTHS = (4, 5)
_MAX_BUCKETS = 4096
_BITS = 6  # of a character
_LETTERS = np.frombuffer(ALPHABET.encode("ascii"), np.uint8)
_SPACE, _NO_VALUE = 64, 255
_VALUES = bytes(
    {ord(" "): _SPACE, **{ord(c): value for value, c in enumerate(ALPHABET)}}.get(each, _NO_VALUE)
    for each in range(256)
)

Codes = NDArray[np.uint32]


def bucketed_codes(values: Minima, settings: AnySketch, length: int = 4) -> Codes:
    """The tokens of a fingerprint, or of another sketch, as numbers.

    Args:
        values: bucket minima.
        settings: how they were made; hash_count and hash_set_size 1, bucket_count a power of two up to 4096.
        length: characters of a token, 4 or 5.

    Returns:
        uint32, shape (values,), ascending: bucket number, then the top bits of val1 (15 of them for 512 buckets
        and length 4). A sketch without numbered places has as many top bits as there is room for, none twice.

    Raises:
        ValueError: the settings do not fit.
    """
    check_bucketed(settings, length)
    bits = hash_bits(settings, length)
    codes = ((values.slots << bits).astype(np.uint64) | (values.val1 >> np.uint64(64 - bits))).astype(np.uint32)
    return codes if settings.positions else distinct(codes)


def is_bucketed(settings: AnySketch) -> bool:
    """Whether settings have bucketed tokens."""
    try:
        check_bucketed(settings, TOKEN_LENGTHS[0])
    except ValueError:
        return False
    return True


def check_bucketed(settings: AnySketch, length: int) -> None:
    """Refuse settings that have no bucketed tokens.

    Raises:
        ValueError: see `bucketed_codes`.
    """
    if length not in TOKEN_LENGTHS:
        raise ValueError(f"a token has 4 or 5 characters, not {length!r}")
    if not isinstance(settings, MinHash):
        return
    count = settings.bucket_count
    if settings.hash_count != 1 or settings.hash_set_size != 1:
        raise ValueError(f"bucketed tokens need hash_count 1 and hash_set_size 1, not {settings}; use format 'lucene'")
    if count & (count - 1) or count > _MAX_BUCKETS:
        raise ValueError(
            f"bucketed tokens need a power of two up to {_MAX_BUCKETS} as the number of buckets, such as "
            f"{min(1 << count.bit_length() - 1, _MAX_BUCKETS)}, not {count}; the sketches xor, universal and bottom_k "
            "take any size"
        )


def encode(codes: Codes, length: int = 4) -> list[str]:
    """The numbers as tokens of `length` characters.

    Raises:
        ValueError: a number needs more characters.
    """
    if len(codes) and int(codes.max()) >> (_BITS * length):
        raise ValueError(f"{int(codes.max())} does not fit into {length} characters")
    text = np.empty((len(codes), length + 1), np.uint8)
    text[:, length] = ord(" ")
    for place in range(length):
        text[:, place] = _LETTERS[(codes >> np.uint32(_BITS * (length - 1 - place))) & np.uint32(63)]
    return text.tobytes().decode("ascii").split()


def decode(tokens: Sequence[str], length: int = 4) -> Codes:
    """The numbers of tokens that `encode` wrote.

    Raises:
        ValueError: a token has another length, or a character outside the alphabet.
    """
    joined = "".join(tokens)
    if not joined.isascii() or not {length}.issuperset(map(len, tokens)):
        wrong = next(token for token in tokens if len(token) != length or not token.isascii())
        raise ValueError(f"{wrong!r} is not a token of {length} characters")
    values = _values(joined).reshape(-1, length)
    if (values >= _SPACE).any():
        raise ValueError(f"{tokens[int(np.argmax((values >= _SPACE).any(axis=1)))]!r} is not a token")
    return _numbers(values)


def decode_text(text: str, length: int = 4) -> Codes:
    """The same for the text that a field holds, tokens between spaces: several times faster where it is as we write it.

    Raises:
        ValueError: as `decode`.
    """
    if text.isascii() and len(text) % (length + 1) == length:
        values = _values(f"{text} ")
        rows = values.reshape(-1, length + 1)
        is_space = values == _SPACE
        if values.max() == _SPACE and is_space[length :: length + 1].all() and np.count_nonzero(is_space) == len(rows):
            return _numbers(rows[:, :length])
    return decode(text.split(), length)


def _values(text: str) -> NDArray[np.uint8]:
    """What each character stands for."""
    return np.frombuffer(text.encode("ascii").translate(_VALUES), np.uint8)


def _numbers(values: NDArray[np.uint8]) -> Codes:
    """Of the values of characters, shape (tokens, characters)."""
    codes = np.zeros(len(values), np.uint32)
    for place in range(values.shape[1]):
        codes <<= np.uint32(_BITS)
        codes |= values[:, place]
    return codes


def lucene_terms(values: Minima, settings: AnySketch, *, repeats: bool = False) -> list[str]:
    """The terms as they stand in a Lucene index, in the order in which the filter emits them.

    A term is 8 UTF-16 units: val2, then val1; with several hash functions the function's number, val2, and the
    upper half of val1. Units that are no valid UTF-16 become U+FFFD, as they do when Lucene writes UTF-8.

    Args:
        values: bucket minima, rotated if the engine's filter rotates.
        settings: how they were made.
        repeats: give a term as often as the filter emits it; otherwise once, at its first place.

    Raises:
        ValueError: the settings have a hash key, or are of another sketch, which no engine's filter knows.
    """
    if not isinstance(settings, MinHash):
        raise ValueError(f"the sketch {settings.name} has no terms of Lucene's; use format 'bucketed'")
    if settings.key is not None:
        raise ValueError("fingerprints with a hash key have no terms of Lucene's; use format 'bucketed'")
    rows = np.empty((len(values.slots), 8), ">u2")
    if settings.hash_count == 1:
        rows[:, :4] = values.val2.astype(">u8").view(">u2").reshape(-1, 4)
        rows[:, 4:] = values.val1.astype(">u8").view(">u2").reshape(-1, 4)
    else:
        rows[:, :2] = (values.slots // settings.bucket_count).astype(">u4").view(">u2").reshape(-1, 2)
        rows[:, 2:6] = values.val2.astype(">u8").view(">u2").reshape(-1, 4)
        rows[:, 6:] = (values.val1 >> np.uint64(32)).astype(">u4").view(">u2").reshape(-1, 2)
    terms = [row.tobytes().decode("utf-16-be", "replace") for row in rows]
    return terms if repeats else list(dict.fromkeys(terms))


def hash_bits(settings: AnySketch, length: int = 4) -> int:
    """How many low bits of a code are hash; the others are the bucket, or whatever place is numbered."""
    return _BITS * length - (max(1, settings.positions) - 1).bit_length()
