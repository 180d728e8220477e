"""Defines the secret hash key of an index. Without the key, nobody can compute the tokens of a text."""

from __future__ import annotations

import hashlib
import os
import re

from simdoc_search.errors import FormatMismatchError, StoreError

HASH_KEY_VARIABLE = "SIMDOC_HASH_KEY"
"""The environment variable that contains the key. The command line has no option for it."""

_MIN_CHARACTERS = 16
_CHECKSUM_PATTERN = re.compile("[0-9a-f]{16}")


class HashKey:
    """A key for hashing shingles. Two keys are equal if their checksums are equal.

    An index stores only the checksum, which shows whether a key is correct. An attacker who knows the checksum can
    guess a short or simple key, but not 32 random bytes, such as the output of `openssl rand -hex 32`.

    Args:
        secret: a string of at least 16 characters.

    Attributes:
        checksum: 16 hexadecimal digits.

    Raises:
        ValueError: the secret is too short. The message does not show it.
    """

    __slots__ = ("_siphash_key", "checksum")

    def __init__(self, secret: str) -> None:
        if not isinstance(secret, str) or len(secret) < _MIN_CHARACTERS:
            raise ValueError(
                f"a hash key must have at least {_MIN_CHARACTERS} characters; create a key with: openssl rand -hex 32"
            )
        root = hashlib.blake2b(secret.encode("utf-8", "surrogatepass")).digest()
        words = hashlib.blake2b(b"simdoc-search shingles", key=root, digest_size=16).digest()
        self._siphash_key: tuple[int, int] | None = (
            int.from_bytes(words[:8], "little"),
            int.from_bytes(words[8:], "little"),
        )
        self.checksum: str = hashlib.blake2b(b"simdoc-search check", key=root, digest_size=8).hexdigest()

    @classmethod
    def from_checksum(cls, checksum: str) -> HashKey:
        """Return a key with a known checksum but an unknown secret. It cannot be used to compute fingerprints.

        Raises:
            ValueError: the checksum is malformed.
        """
        if not isinstance(checksum, str) or not _CHECKSUM_PATTERN.fullmatch(checksum):
            raise ValueError(f"the checksum of a hash key must be 16 hexadecimal digits, not {checksum!r:.60}")
        key = cls.__new__(cls)
        key._siphash_key, key.checksum = None, checksum
        return key

    @property
    def has_secret(self) -> bool:
        """Whether the secret is known, not only the checksum."""
        return self._siphash_key is not None

    @property
    def siphash_key(self) -> tuple[int, int]:
        """The key for SipHash, as two 64-bit numbers.

        Raises:
            FormatMismatchError: only the checksum is known.
        """
        if self._siphash_key is None:
            raise FormatMismatchError(f"the index was created with a hash key; set {HASH_KEY_VARIABLE} to this key")
        return self._siphash_key

    def __eq__(self, other: object) -> bool:
        return self.checksum == other.checksum if isinstance(other, HashKey) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.checksum)

    def __repr__(self) -> str:
        return f"HashKey(checksum={self.checksum!r})"


def resolve_hash_key(secret: str | None = None) -> HashKey | None:
    """Return the key with this secret, or else with the secret in SIMDOC_HASH_KEY; None if neither is set.

    Raises:
        StoreError: the secret is too short.
    """
    used_secret = secret if secret is not None else os.environ.get(HASH_KEY_VARIABLE) or None
    try:
        return None if used_secret is None else HashKey(used_secret)
    except ValueError as error:
        raise StoreError(f"{HASH_KEY_VARIABLE}: {error}" if secret is None else str(error)) from None
