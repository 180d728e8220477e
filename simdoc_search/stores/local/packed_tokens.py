"""Packs token ids for the stored fields of a local store."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from simdoc_search.sketch.sentences import decode_simhashes, encode_simhashes
from simdoc_search.sketch.simhash import Simhashes
from simdoc_search.sketch.token_kinds import TokenKind
from simdoc_search.sketch.tokens import HASH_BITS

_LOW_BIT_COUNT = HASH_BITS - 1  # the low 8 bits of a hash are stored as one byte, and its highest bit separately


def pack_fingerprints(fingerprints: Sequence[NDArray[np.uint32]], slot_count: int) -> list[bytes]:
    """Pack the token ids of each fingerprint.

    A packed fingerprint has three parts, each of whole bytes: one bit per slot (1 if the slot is filled), the highest
    of the nine bits of each hash, and the other eight bits of each hash.
    """
    if not fingerprints:
        return []
    counts = np.array(list(map(len, fingerprints)))
    token_ids, rows, ends = np.concatenate(fingerprints), np.repeat(np.arange(len(counts)), counts), np.cumsum(counts)
    slots = np.zeros((len(counts), slot_count), np.uint8)
    slots[rows, token_ids >> HASH_BITS] = 1
    high = np.zeros((len(counts), max(counts)), np.uint8)
    high[rows, np.arange(len(token_ids)) - (ends - counts)[rows]] = token_ids >> _LOW_BIT_COUNT & 1
    return [
        slots_of_row.tobytes() + high_of_row[: (count + 7) // 8].tobytes() + low_of_row.tobytes()
        for slots_of_row, high_of_row, low_of_row, count in zip(
            np.packbits(slots, axis=1),
            np.packbits(high, axis=1),
            np.split(token_ids.astype(np.uint8), ends[:-1]),
            counts.tolist(),
            strict=True,
        )
    ]


def unpack_fingerprint(packed: bytes, slot_count: int) -> NDArray[np.uint32]:
    """Return the token ids of a packed fingerprint."""
    octets = np.frombuffer(packed, np.uint8)
    token_ids = np.flatnonzero(np.unpackbits(octets, count=slot_count)).astype(np.uint32)
    low = octets[len(octets) - len(token_ids) :]
    high = np.unpackbits(octets[(slot_count + 7) // 8 :], count=len(token_ids))
    token_ids <<= np.uint32(HASH_BITS)
    token_ids |= high.astype(np.uint32) << np.uint32(_LOW_BIT_COUNT)
    token_ids |= low
    return token_ids


def _count_token_bytes(length: int) -> int:
    return (6 * length + 7) // 8


def _pack(token_ids: NDArray[np.uint32], length: int) -> bytes:
    """Pack token ids without the bytes that are always zero for tokens of this length."""
    octets = token_ids.astype(">u4").view(np.uint8).reshape(-1, 4)
    return octets[:, 4 - _count_token_bytes(length) :].tobytes()


def _unpack(packed: bytes, length: int) -> NDArray[np.uint32]:
    width = _count_token_bytes(length)
    octets = np.zeros((len(packed) // width, 4), np.uint8)
    octets[:, 4 - width :] = np.frombuffer(packed, np.uint8).reshape(-1, width)
    return octets.view(">u4").ravel().astype(np.uint32)


def pack_tokens_of_kind(token_ids: NDArray[np.uint32], kind: TokenKind) -> bytes:
    """Pack passage, sentence or concept tokens. The four tokens of a sentence become one 8-byte number."""
    return (
        decode_simhashes(token_ids).astype(">u8").tobytes()
        if kind.name == "sentences"
        else _pack(token_ids, kind.length)
    )


def unpack_tokens_of_kind(packed: bytes, kind: TokenKind) -> NDArray[np.uint32]:
    """Unpack passage, sentence or concept tokens."""
    if kind.name == "sentences":
        return encode_simhashes(unpack_simhashes(packed))
    return _unpack(packed, kind.length)


def unpack_simhashes(packed: bytes) -> Simhashes:
    """Return the simhashes of packed sentences."""
    return np.frombuffer(packed, ">u8").astype(np.uint64)
