"""The undo file of a plan: a journal of changes, each on disk before it is made.

A line names a change that is about to be made. Whether it was made is seen from the files. So nothing must be mended
here after a process was killed, and a change that is made twice is written twice.

Lines are only appended, by one process at a time. Each line has a checksum; nothing is read after a damaged line. Only
a last line that a killed process left unfinished is overwritten.
"""

from __future__ import annotations

import json
import os
import secrets
import stat
from collections.abc import Iterable
from dataclasses import asdict, astuple, dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO, Literal

from simdoc_search.duplicates.plan.lock import lock_file
from simdoc_search.duplicates.plan.rows import MAX_BYTES, FileState, How, PlanError
from simdoc_search.durable import DISK_FULL_ADVICE, is_full, sync_folder

_HEADER = {"simdoc-search": "undo file of a plan", "version": 2}
_CHECKSUM_BYTES = 8
_FLAGS = sum(getattr(os, name, 0) for name in ("O_BINARY", "O_NOFOLLOW", "O_NONBLOCK"))


@dataclass(frozen=True, slots=True)
class Change:
    """A change that is about to be made."""

    # what happens to a file; `remove`: a document without a file is removed from its store; `undone`: the earlier
    # change of this path was undone
    act: How | Literal["remove", "undone"]
    path: str  # the path of the file, or the name of the document
    other: str  # where the file is moved to, or what is kept instead: a path, or the name of a document
    token: str  # of the run, in the names of files that it hides
    state: FileState | None = None  # the state of the file before; None for a document
    mode: int = 0o600  # the permissions of the file before


class Journal:
    """An undo file, open and locked. It is created by the first note.

    Attributes:
        changes: the last change of each path, in order.
        token: of this run, for new changes.
        damage: a sentence if a line is damaged, so that `changes` has what precedes it; else empty.

    Raises:
        PlanError: it cannot be read, is not an undo file, or another process is using it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.changes: dict[str, Change] = {}
        self.token: str = secrets.token_hex(4)
        self.damage: str = ""
        self._file: BinaryIO | None = None
        self._end = 0  # of the undamaged lines
        try:
            self._file = self._open()
            self._read(self._file.read())
        except FileNotFoundError:
            pass
        except OSError as error:
            self.close()
            raise PlanError(f"{path} cannot be read: {(error.strerror or str(error)).lower()}") from None
        except PlanError:
            self.close()
            raise

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def note(self, *changes: Change) -> None:
        """Write changes that are about to be made; they are on disk when this returns.

        Raises:
            PlanError: they cannot be written, so they must not be made.
        """
        try:
            self._append(b"".join(map(_change_line, changes)))
        except OSError as error:
            advice = f"; {DISK_FULL_ADVICE}" if is_full(error) else ""
            reason = (error.strerror or str(error)).lower()
            raise PlanError(f"{self.path} cannot be written, so nothing more is changed: {reason}{advice}") from None
        self._take(changes)

    def note_undone(self, change: Change) -> None:
        """Write that a change was undone, so that it is not undone again. Raises PlanError as `note`."""
        self.note(replace(change, act="undone"))

    def remove(self) -> None:
        """Remove the undo file while it is locked."""
        if os.name == "nt":  # where an open file cannot be removed
            self.close()
        self.path.unlink()
        self.close()

    def close(self) -> None:
        """Close the file, which unlocks it."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _open(self, flags: int = 0) -> BinaryIO:
        if self.path.is_symlink():
            raise PlanError(f"{self.path} is a symbolic link, not an undo file; name another plan")
        handle = os.open(self.path, flags | os.O_RDWR | _FLAGS, 0o600)
        try:
            info = os.fstat(handle)
            if not stat.S_ISREG(info.st_mode):
                raise PlanError(f"{self.path} is not a regular file, so it is not an undo file; name another plan")
            if info.st_size > MAX_BYTES:
                raise PlanError(f"{self.path} is larger than {MAX_BYTES:,} bytes, so it is not an undo file")
            # The process that held the lock until now may have removed the file.
            if not (lock_file(handle) and os.path.samestat(info, os.lstat(self.path))):
                raise self._busy()
        except BaseException:
            os.close(handle)
            raise
        return os.fdopen(handle, "rb+")

    def _busy(self) -> PlanError:
        return PlanError(f"another apply is using {self.path}; wait until it has ended, then try again")

    def _read(self, data: bytes) -> None:
        header = _line(_HEADER)
        if header.startswith(data):
            return  # a process was killed while it wrote the header
        if not data.startswith(header):
            raise PlanError(f"{self.path} is not an undo file of this version; name another plan")
        lines = data[: data.rfind(b"\n")].split(b"\n")
        self._end = len(header)
        for number, line in enumerate(lines[1:], 2):
            try:
                change = _change(line)
            except (ValueError, TypeError, KeyError, RecursionError):
                self.damage = f"{self.path} is damaged from line {number:,} of {len(lines):,} on"
                return
            self._take([change])
            self._end += len(line) + 1

    def _take(self, changes: Iterable[Change]) -> None:
        for change in changes:
            self.changes.pop(change.path, None)
            if change.act != "undone":
                self.changes[change.path] = change

    def _append(self, data: bytes) -> None:
        is_new = self._file is None
        if self._file is None:
            try:
                self._file = self._open(os.O_CREAT | os.O_EXCL)
            except FileExistsError:
                raise self._busy() from None
        data = data if self._end else _line(_HEADER) + data
        self._file.seek(self._end)
        self._file.truncate()
        self._file.write(data)
        self._file.flush()
        os.fsync(self._file.fileno())
        self._end += len(data)
        if is_new:
            sync_folder(self.path.parent)


def _line(value: dict[str, Any]) -> bytes:
    text = json.dumps(value).encode()  # ASCII, so any file name can be written
    return _checksum(text) + b" " + text + b"\n"


def _change_line(change: Change) -> bytes:
    return _line({**asdict(change), "state": change.state and astuple(change.state)})


def _checksum(text: bytes) -> bytes:
    return blake2b(text, digest_size=_CHECKSUM_BYTES).hexdigest().encode()


def _change(line: bytes) -> Change:
    checksum, _, text = line.partition(b" ")
    if checksum != _checksum(text):
        raise ValueError("wrong checksum")
    value = json.loads(text)
    if value["act"] not in {"move", "delete", "hardlink", "remove", "undone"} or not str(value["token"]).isalnum():
        raise ValueError(value["act"])
    state = FileState(*value["state"]) if value["state"] else None
    return Change(value["act"], str(value["path"]), str(value["other"]), str(value["token"]), state, int(value["mode"]))
