"""Saves the progress of a duplicate search to a file, so that another run can resume it. The search runs in an engine.

The file is an SQLite database. It identifies documents by `words_key`, so a document with changed words counts as new.
The results of each batch of queries are written in one transaction, so the file is consistent even if a run is killed.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from simdoc_search.duplicates.arrays import Bools, Ints
from simdoc_search.durable import DISK_FULL_ADVICE
from simdoc_search.errors import StoreError

_APPLICATION_ID = 0x73696D65  # "sime"; SQLite stores it in the header of the file
_TABLES = (
    "CREATE TABLE options (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE queried (key INTEGER PRIMARY KEY)",
    "CREATE TABLE pairs (a INTEGER, b INTEGER, estimate REAL NOT NULL, PRIMARY KEY (a, b)) WITHOUT ROWID",
    "CREATE TABLE skipped_matches (key INTEGER PRIMARY KEY, count INTEGER NOT NULL)",
)
_PAIR_DTYPE = np.dtype([("a", np.int64), ("b", np.int64), ("estimate", np.float32)])


class Checkpoint:
    """The progress of a search for duplicates.

    Args:
        file: path of the checkpoint file; None for a temporary file.
        options: all options that the results depend on.

    Raises:
        StoreError: the file cannot be used, is not a checkpoint, or was written with other options.
    """

    def __init__(self, file: str | os.PathLike[str] | None, options: Mapping[str, str]) -> None:
        self._name = str(file or "the temporary file")
        with self._convert_errors():
            # For an empty name, SQLite opens a temporary file and deletes it on closing.
            self._database = sqlite3.connect(os.fspath(file) if file else "", timeout=0, isolation_level=None)
            try:
                self._open(options)
            except BaseException:
                self._database.close()
                raise

    def prune(self, keys: Ints) -> Bools:
        """Delete the data of documents whose key is not among these keys.

        Returns:
            For each key, whether its document was queried before; bool, shape (documents,).
        """
        execute = self._database.execute
        with self._transaction():
            execute("CREATE TEMP TABLE present (key INTEGER PRIMARY KEY)")
            self._database.executemany("INSERT INTO present VALUES (?)", ((key,) for key in keys.tolist()))
            execute("DELETE FROM queried WHERE key NOT IN present")
            execute("DELETE FROM skipped_matches WHERE key NOT IN present")
            execute("DELETE FROM pairs WHERE a NOT IN present OR b NOT IN present")
            execute("DROP TABLE present")
            queried = np.fromiter((key for (key,) in execute("SELECT key FROM queried")), np.int64)
        return np.isin(keys, queried)

    def save(
        self, queried: Iterable[int], pairs: Iterable[tuple[int, int, float]], skipped_match_counts: Mapping[int, int]
    ) -> None:
        """Save the results of a batch of queries. All documents are given by key.

        Args:
            queried: the queried documents.
            pairs: pairs of documents, and their estimated overlap.
            skipped_match_counts: for each document with too many matches, how many matches were not compared.
        """
        ordered = ((min(a, b), max(a, b), estimate) for a, b, estimate in pairs)
        add = self._database.executemany
        with self._transaction():
            add("INSERT OR IGNORE INTO queried VALUES (?)", ((key,) for key in queried))
            add("INSERT OR IGNORE INTO pairs VALUES (?, ?, ?)", ordered)
            add(
                "INSERT INTO skipped_matches VALUES (?, ?) "
                "ON CONFLICT DO UPDATE SET count = max(count, excluded.count)",
                skipped_match_counts.items(),
            )

    def read_pairs(self) -> tuple[Ints, Ints, NDArray[np.float32]]:
        """Return the keys of both documents of each pair, and the estimated overlaps."""
        with self._convert_errors():
            rows = np.fromiter(self._database.execute("SELECT a, b, estimate FROM pairs"), _PAIR_DTYPE)
        return rows["a"], rows["b"], rows["estimate"]

    def read_skipped_match_counts(self) -> dict[int, int]:
        """Map the key of each document with too many matches to the number of matches that were not compared."""
        with self._convert_errors():
            return dict(self._database.execute("SELECT key, count FROM skipped_matches"))

    def close(self) -> None:
        """Close the file. A temporary file is deleted."""
        self._database.close()

    def _open(self, options: Mapping[str, str]) -> None:
        ((application_id,),) = self._database.execute("PRAGMA application_id")
        self._database.execute("PRAGMA locking_mode = EXCLUSIVE")
        with self._transaction():
            if not application_id and not list(self._database.execute("SELECT 1 FROM sqlite_master LIMIT 1")):
                for statement in (*_TABLES, f"PRAGMA application_id = {_APPLICATION_ID}"):
                    self._database.execute(statement)
                self._database.executemany("INSERT INTO options VALUES (?, ?)", options.items())
            elif application_id != _APPLICATION_ID:
                raise sqlite3.DatabaseError("file is not a checkpoint")
            stored = dict(self._database.execute("SELECT name, value FROM options"))
        for name, value in options.items():
            if stored.get(name) != value:
                raise StoreError(
                    f"{self._name} was written for {name} {stored.get(name)}, not {value}; "
                    "use the same options again, or choose another file"
                )

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._convert_errors():
            self._database.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                if self._database.in_transaction:  # if the disk is full, SQLite has already rolled back
                    self._database.execute("ROLLBACK")
                raise
            self._database.execute("COMMIT")

    @contextmanager
    def _convert_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            if "is full" in str(error):
                raise StoreError(f"{self._name} cannot be written: the disk is full; {DISK_FULL_ADVICE}") from error
            reason = "is in use by another run" if "locked" in str(error) else f"cannot be used ({error})"
            raise StoreError(f"{self._name} {reason}; choose another file, or omit --checkpoint") from error
