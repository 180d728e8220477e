"""What a run remembers of each id that came by: a few bytes, as there may be many millions."""

from __future__ import annotations

from array import array
from enum import IntEnum

_FIRST_SLOTS = 1 << 10


class Fate(IntEnum):
    """What became of the document of an id, beside what the store had before."""

    NOTHING = 1
    """It is in the store as it was before, or still is not."""
    INDEXED = 2
    UNCHANGED = 3
    REPLACED = 4
    DELETED = 5


class Seen:
    """The ids of a run with their fates: a hash table with open addressing, of 20 to 63 bytes an id.

    An id is known by 64 bits of its hash. Two of ten million are taken for one with a probability of 3 in a million;
    then a count is wrong by one, no document.
    """

    def __init__(self) -> None:
        self._length = 0
        self._allocate(_FIRST_SLOTS)

    def __contains__(self, id: str) -> bool:
        return self._fates[self._slot(hash(id))] != 0

    def add(self, id: str, place: int, digest: str | None) -> None:
        """Remember an id that did not come before.

        Args:
            id: the id.
            place: where it came from, 0 to 2**32 - 1.
            digest: of the document that the store had before; None if it had none.
        """
        if 3 * (self._length + 1) > 2 * len(self._fates):
            self._grow()
        key = hash(id)
        self._put(self._slot(key), key, _short(digest), place, Fate.NOTHING)
        self._length += 1

    def place(self, id: str) -> int:
        """Where an id came from."""
        return self._places[self._slot(hash(id))]

    def stored(self, id: str, digest: str) -> None:
        """The store is given a document of this id, or has it already."""
        slot = self._slot(hash(id))
        before = self._digests[slot]
        fate = Fate.INDEXED if before == 0 else Fate.UNCHANGED if before == _short(digest) else Fate.REPLACED
        self._fates[slot] = fate

    def removed(self, id: str) -> None:
        """The store is to have none of this id any more."""
        slot = self._slot(hash(id))
        self._fates[slot] = Fate.DELETED if self._digests[slot] else Fate.NOTHING

    def refused(self, id: str) -> None:
        """The store did not do what it was told of this id."""
        self._fates[self._slot(hash(id))] = Fate.NOTHING

    def is_stored(self, id: str) -> bool:
        """Whether the store has a document of this id, or is about to."""
        slot = self._slot(hash(id))
        fate = self._fates[slot]
        return fate != Fate.DELETED and (fate != Fate.NOTHING or self._digests[slot] != 0)

    def is_new(self, id: str) -> bool:
        """Whether the id came by and the store had no document of it before."""
        slot = self._slot(hash(id))
        return self._fates[slot] != 0 and self._digests[slot] == 0

    def count(self, fate: Fate) -> int:
        """How many ids had this fate."""
        return self._fates.count(fate)

    def _slot(self, key: int) -> int:
        """Where a key is, or the free slot where it would be."""
        fates, keys, last = self._fates, self._keys, len(self._fates) - 1
        slot = key & last
        while fates[slot] and keys[slot] != key:
            slot = (slot + 1) & last
        return slot

    def _put(self, slot: int, key: int, digest: int, place: int, fate: int) -> None:
        self._keys[slot], self._digests[slot], self._places[slot], self._fates[slot] = key, digest, place, fate

    def _allocate(self, slots: int) -> None:
        self._fates = bytearray(slots)  # 0: free
        self._keys = array("q", [0]) * slots  # of just this size; one made of bytes takes a sixteenth more
        self._digests = array("q", [0]) * slots  # 0: the store had none
        self._places = array("I", [0]) * slots

    def _grow(self) -> None:
        rows = zip(self._keys, self._digests, self._places, self._fates, strict=True)
        self._allocate(2 * len(self._fates))
        for key, digest, place, fate in rows:
            if fate:
                self._put(self._slot(key), key, digest, place, fate)


def _short(digest: str | None) -> int:
    """64 bits that tell digests of one id apart; 0 is none."""
    return 0 if digest is None else hash(digest) or 1
