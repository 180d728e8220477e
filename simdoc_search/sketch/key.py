"""A secret key of an index: who does not have it cannot tell which tokens a text gets."""

from __future__ import annotations

import hashlib
import os

from simdoc_search.errors import FormatMismatchError, StoreError

HASH_KEY = "SIMDOC_HASH_KEY"
"""The environment variable that holds the key; it is given in no other way outside a program."""

MIN_CHARACTERS = 16


class HashKey:
    """A key for hashing shingles. Two are equal if their check values are.

    An index stores the check value alone: it says whether a key is the right one, and is no help in finding it. A
    short or guessable key could be guessed with it; 32 random bytes, as `openssl rand -hex 32` prints them, cannot.

    Args:
        secret: at least 16 characters.

    Attributes:
        check: the check value, 16 hexadecimal digits.

    Raises:
        ValueError: the secret is shorter, and is not shown.
    """

    __slots__ = ("_words", "check")

    def __init__(self, secret: str) -> None:
        if not isinstance(secret, str) or len(secret) < MIN_CHARACTERS:
            raise ValueError(
                f"a hash key has at least {MIN_CHARACTERS} characters; make one with: openssl rand -hex 32"
            )
        root = hashlib.blake2b(secret.encode("utf-8", "surrogatepass")).digest()
        words = hashlib.blake2b(b"simdoc-search shingles", key=root, digest_size=16).digest()
        self._words: tuple[int, int] | None = (int.from_bytes(words[:8], "little"), int.from_bytes(words[8:], "little"))
        self.check: str = hashlib.blake2b(b"simdoc-search check", key=root, digest_size=8).hexdigest()

    @classmethod
    def of_check(cls, check: str) -> HashKey:
        """What an index knows of its key. It makes no fingerprints.

        Raises:
            ValueError: that is no check value.
        """
        if not isinstance(check, str) or len(check) != 16 or set(check) - set("0123456789abcdef"):
            raise ValueError(f"{check!r:.60} is no check value of a hash key")
        known = cls.__new__(cls)
        known._words, known.check = None, check
        return known

    @property
    def is_known(self) -> bool:
        """Whether the key itself is here, and not its check value alone."""
        return self._words is not None

    @property
    def words(self) -> tuple[int, int]:
        """The 128 bits for the hash, as two numbers.

        Raises:
            FormatMismatchError: only the check value is known.
        """
        if self._words is None:
            raise FormatMismatchError(f"these fingerprints need the hash key of their index; set {HASH_KEY} to it")
        return self._words

    def __eq__(self, other: object) -> bool:
        return self.check == other.check if isinstance(other, HashKey) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.check)

    def __repr__(self) -> str:
        return f"HashKey(check={self.check!r})"


def key_from(secret: str | None = None) -> HashKey | None:
    """The key of a secret, else of the one in the environment; None if there is neither.

    Raises:
        StoreError: the secret is too short.
    """
    given = secret if secret is not None else os.environ.get(HASH_KEY) or None
    try:
        return None if given is None else HashKey(given)
    except ValueError as error:
        raise StoreError(f"{HASH_KEY}: {error}" if secret is None else str(error)) from None
