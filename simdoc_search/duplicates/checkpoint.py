"""The queried documents and the pairs found so far, in a file, so that another run can resume.

The file is an SQLite database. It knows documents by `content_key`, so a changed document counts as another one. The
results of each batch of queries are one transaction, so the file is consistent whenever a run ends.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from simdoc_search.duplicates.table import Ints
from simdoc_search.durable import MAKE_ROOM
from simdoc_search.errors import StoreError

OPEN, LATE, ASKED = 0, 1, 2
"""Not queried yet; not queried, and added after others were queried; done."""

Flood = tuple[int, int, bytes]
"""The key of a document of a flood, the number of its matches that were not read, and its tokens, uint32."""

_APPLICATION = 0x73696D64  # "simd", by which we know a file of ours
_TABLES = """
    CREATE TABLE bound (name TEXT PRIMARY KEY, value TEXT NOT NULL);
    CREATE TABLE documents (key INTEGER PRIMARY KEY, state INTEGER NOT NULL);
    CREATE TABLE pairs (a INTEGER, b INTEGER, estimate REAL NOT NULL, PRIMARY KEY (a, b)) WITHOUT ROWID;
    CREATE TABLE floods (key INTEGER PRIMARY KEY, missed INTEGER NOT NULL, codes BLOB NOT NULL);
"""
_PAIR = np.dtype([("a", np.int64), ("b", np.int64), ("estimate", np.float32)])
_STATE = np.dtype([("key", np.int64), ("state", np.int64)])


class Checkpoint:
    """The progress of a run.

    Args:
        file: its path; None: a temporary file.
        bound: name to value of what the results depend on. A file made for other values is refused.

    Raises:
        StoreError: the file cannot be used, is not a checkpoint, or was made for other values.
    """

    def __init__(self, file: str | os.PathLike[str] | None, bound: Mapping[str, str]) -> None:
        self._name = str(file or "the temporary file")
        with self._sentences():
            # An empty name is a file of SQLite's own, that goes when it is closed.
            self._file = sqlite3.connect(os.fspath(file) if file else "", timeout=0, isolation_level=None)
            try:
                self._open(bound)
            except BaseException:
                self._file.close()
                raise

    def begin(self, keys: Ints) -> Ints:
        """Set the documents of this run. What is known of others is removed.

        Returns:
            The state of each: OPEN, LATE or ASKED; int64, shape (documents,).
        """
        order = np.argsort(keys)
        ordered = keys[order]
        with self._transaction():
            known = np.fromiter(self._file.execute("SELECT key, state FROM documents ORDER BY key"), _STATE)
            gone = known["key"][~np.isin(known["key"], ordered, assume_unique=True)]
            new = ordered[~np.isin(ordered, known["key"], assume_unique=True)]
            self._forget(gone)
            self._file.executemany(
                "INSERT INTO documents VALUES (?, ?)", ((key, LATE if len(known) else OPEN) for key in new.tolist())
            )
            now = np.fromiter(self._file.execute("SELECT key, state FROM documents ORDER BY key"), _STATE)
        states = np.empty(len(keys), np.int64)
        states[order] = now["state"]
        return states

    def note(self, asked: Iterable[int], pairs: Iterable[tuple[int, int, float]], floods: Iterable[Flood]) -> None:
        """Write the results of a batch in one transaction.

        Args:
            asked: the keys of the queried documents.
            pairs: the keys of two documents, in any order, and their estimated overlap.
            floods: documents with too many matches, and these matches.
        """
        with self._transaction():
            add = self._file.executemany
            add("UPDATE documents SET state = ? WHERE key = ?", ((ASKED, key) for key in asked))
            add("INSERT OR IGNORE INTO pairs VALUES (?, ?, ?)", ((min(a, b), max(a, b), e) for a, b, e in pairs))
            add(
                "INSERT INTO floods VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET missed = max(missed, excluded.missed)",
                floods,
            )

    def pairs(self) -> tuple[Ints, Ints, NDArray[np.float32]]:
        """All pairs: the keys of both documents, and the estimates."""
        with self._sentences():
            found = np.fromiter(self._file.execute("SELECT a, b, estimate FROM pairs"), _PAIR)
        return found["a"], found["b"], found["estimate"]

    def floods(self) -> Iterator[Flood]:
        """All documents of floods."""
        with self._sentences():
            yield from self._file.execute("SELECT key, missed, codes FROM floods")

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _open(self, bound: Mapping[str, str]) -> None:
        ((application,),) = self._file.execute("PRAGMA application_id")
        self._file.execute("PRAGMA locking_mode = EXCLUSIVE")
        with self._transaction():
            if not application and not list(self._file.execute("SELECT 1 FROM sqlite_master LIMIT 1")):
                for each in filter(str.strip, _TABLES.split(";")):
                    self._file.execute(each)
                self._file.execute(f"PRAGMA application_id = {_APPLICATION}")
                self._file.executemany("INSERT INTO bound VALUES (?, ?)", bound.items())
            elif application != _APPLICATION:
                raise sqlite3.DatabaseError("file is not a database of ours")
            made_for = dict(self._file.execute("SELECT name, value FROM bound"))
        for name, value in bound.items():
            if (there := made_for.get(name)) != value:
                raise StoreError(
                    f"{self._name} was made for {name} {there}, not {value}; ask the same again, or name another file"
                )

    def _forget(self, gone: Ints) -> None:
        if not len(gone):
            return
        self._file.execute("CREATE TEMP TABLE gone (key INTEGER PRIMARY KEY)")
        self._file.executemany("INSERT INTO gone VALUES (?)", ((key,) for key in gone.tolist()))
        for each in ("documents WHERE key IN gone", "floods WHERE key IN gone", "pairs WHERE a IN gone OR b IN gone"):
            self._file.execute(f"DELETE FROM {each}")  # noqa: S608 - no word of it comes from outside
        self._file.execute("DROP TABLE gone")

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._sentences():
            self._file.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                if self._file.in_transaction:  # a full disk has ended it already
                    self._file.execute("ROLLBACK")
                raise
            self._file.execute("COMMIT")

    @contextmanager
    def _sentences(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            if "is full" in str(error):
                raise StoreError(f"{self._name} cannot be written: the disk is full; {MAKE_ROOM}") from error
            what = "is in use by another run" if "locked" in str(error) else f"cannot be used ({error})"
            raise StoreError(f"{self._name} {what}; name another file, or leave --checkpoint out") from error
