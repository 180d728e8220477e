"""Remembers the ids of a run in at most 63 bytes each, because there can be millions of them."""

from __future__ import annotations

from array import array
from enum import IntEnum

_INITIAL_SLOTS = 1 << 10


class IdStatus(IntEnum):
    """How a run changes the document with an id, compared with the store before the run."""

    NOT_WRITTEN = 1  # the document was neither written nor removed
    ADDED = 2
    UNCHANGED = 3
    REPLACED = 4
    DELETED = 5


class SeenIds:
    """The ids of a run and their statuses, in a hash table with open addressing. An id takes 20 to 63 bytes.

    The table contains a 64-bit hash of each id. Among ten million ids, two have the same hash with a probability of 3
    in a million. In this case, a count is wrong by one.
    """

    def __init__(self) -> None:
        self._length = 0
        self._allocate(_INITIAL_SLOTS)

    def __contains__(self, id: str) -> bool:
        return self._statuses[self._slot(hash(id))] != 0

    def add(self, id: str, path_number: int, digest: str | None) -> None:
        """Add a new id.

        `path_number` is the `InputPath.number` of the path that has the id, or 0 if the document is not a file.
        `digest` is that of the stored document, if there is one.
        """
        if 3 * (self._length + 1) > 2 * len(self._statuses):
            self._grow()
        key = hash(id)
        self._put(self._slot(key), key, _short_digest(digest), path_number, IdStatus.NOT_WRITTEN)
        self._length += 1

    def path_number(self, id: str) -> int:
        """Return the `path_number` that was added with an id."""
        return self._path_numbers[self._slot(hash(id))]

    def note_stored(self, id: str, digest: str) -> None:
        """Record that the store has, or will have, a document with this digest."""
        slot = self._slot(hash(id))
        previous = self._digests[slot]
        self._statuses[slot] = (
            IdStatus.ADDED
            if previous == 0
            else IdStatus.UNCHANGED
            if previous == _short_digest(digest)
            else IdStatus.REPLACED
        )

    def note_removed(self, id: str) -> None:
        """Record that the store will have no document with this id."""
        slot = self._slot(hash(id))
        self._statuses[slot] = IdStatus.DELETED if self._digests[slot] else IdStatus.NOT_WRITTEN

    def note_refused(self, id: str) -> None:
        """Record that the store refused the change of this document."""
        self._statuses[self._slot(hash(id))] = IdStatus.NOT_WRITTEN

    def is_stored(self, id: str) -> bool:
        """Return whether the store has, or will have, a document with this id."""
        slot = self._slot(hash(id))
        status = self._statuses[slot]
        return status != IdStatus.DELETED and (status != IdStatus.NOT_WRITTEN or self._digests[slot] != 0)

    def is_new(self, id: str) -> bool:
        """Return whether the run found the id, and the store had no document with this id before."""
        slot = self._slot(hash(id))
        return self._statuses[slot] != 0 and self._digests[slot] == 0

    def count(self, status: IdStatus) -> int:
        """Return the number of ids with this status."""
        return self._statuses.count(status)

    def _slot(self, key: int) -> int:
        """Return the slot of a key, or the free slot for it."""
        statuses, keys, mask = self._statuses, self._keys, len(self._statuses) - 1
        slot = key & mask
        while statuses[slot] and keys[slot] != key:
            slot = (slot + 1) & mask
        return slot

    def _put(self, slot: int, key: int, digest: int, path_number: int, status: int) -> None:
        self._keys[slot], self._digests[slot], self._path_numbers[slot], self._statuses[slot] = (
            key,
            digest,
            path_number,
            status,
        )

    def _allocate(self, slot_count: int) -> None:
        self._statuses = bytearray(slot_count)  # 0 means that the slot is free
        self._keys = array("q", [0]) * slot_count  # an array that is created from bytes takes 1/16 more memory
        self._digests = array("q", [0]) * slot_count  # 0 means that the store had no document with this id
        self._path_numbers = array("I", [0]) * slot_count

    def _grow(self) -> None:
        rows = zip(self._keys, self._digests, self._path_numbers, self._statuses, strict=True)
        self._allocate(2 * len(self._statuses))
        for key, digest, path_number, status in rows:
            if status:
                self._put(self._slot(key), key, digest, path_number, status)


def _short_digest(digest: str | None) -> int:
    """Return 64 bits of a digest, or 0 for None."""
    return 0 if digest is None else hash(digest) or 1
