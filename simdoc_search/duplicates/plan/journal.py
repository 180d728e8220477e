"""The undo file of a plan: a journal of changes. Each change is written to disk before it is made.

A line describes a change that is about to be made. Whether it was made can be seen from the changed file. So a
journal needs no repair after a process is killed. A change that is made twice is written twice. Another line names the
index of the dropped files, so that an undo updates this index and no other.

One process at a time appends lines. Each line has a checksum. Lines after a damaged line are not read. If a killed
process left the last line unfinished, the next process overwrites this line.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import stat
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import astuple, dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO, Literal

from simdoc_search.duplicates.plan.lock import lock_file
from simdoc_search.duplicates.plan.rows import MAX_PLAN_BYTES, DropMethod, FileState, PlanError
from simdoc_search.durable import DISK_FULL_ADVICE, is_disk_full, sync_folder

_HEADER = {"simdoc-search": "undo file of a plan", "version": 2}
_ANY_HEADER = re.compile(rb'[0-9a-f]+ \{"simdoc-search": "undo file of a plan", "version": (\d{1,9})\b')
_CHECKSUM_BYTES = 8
_ACTIONS = frozenset({"move", "delete", "hardlink", "remove", "folder", "undone"})
_MAX_INDEX_LINE_BYTES = 1 << 20
_OPEN_FLAGS = sum(getattr(os, name, 0) for name in ("O_BINARY", "O_NOFOLLOW", "O_NONBLOCK"))


@dataclass(frozen=True, slots=True)
class Change:
    """A change that is about to be made."""

    # how the file is dropped; `remove` if a document without a file is removed from the store; `folder` if a folder is
    # made for moved files; `undone` if the earlier change of this path was undone
    action: DropMethod | Literal["remove", "folder", "undone"]
    path: str  # path of the file or folder, or name of the document
    target: str  # new path of a moved file; otherwise path or name of the document that is kept instead
    run_id: str  # id of the run, which is part of the names of the hidden files of the run
    state: FileState | None = None  # state of the file before the change; None for a document without a file
    mode: int = 0o600  # permissions of the file before the change


@dataclass(frozen=True, slots=True)
class PlanIndex:
    """The index that has the documents of dropped files."""

    location: str = ""  # absolute path or URL of the index, without secrets; empty if the index is not known
    # the indexed folders and files that contain the dropped files, each with the prefix of its ids
    folders: Mapping[str, str] = field(default_factory=dict)


class Journal:
    """An open and locked undo file. The first change that is appended creates the file.

    `index` is the index that the file names. `changes` are the last changes of each path, in order, except changes that
    were undone. They end before the first damaged line, which `damage` describes. `undone_paths` are those whose last
    change was undone. `run_id` is for new changes.

    Raises:
        PlanError: the file cannot be read, is not an undo file, or another process is using it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.index: PlanIndex = PlanIndex()
        self.changes: dict[str, Change] = {}
        self.undone_paths: set[str] = set()
        self.run_id: str = secrets.token_hex(4)
        self.damage: str = ""
        self._file: BinaryIO | None = None
        self._unwritten_index_line = b""
        self._end = 0  # where the undamaged lines of the file end
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

    def append(self, *changes: Change) -> None:
        """Record changes that are about to be made. They are on disk when this method returns.

        Raises:
            PlanError: the changes cannot be written, so they must not be made.
        """
        try:
            self._write(self._unwritten_index_line + b"".join(map(_encode_change, changes)))
        except OSError as error:
            advice = f"; {DISK_FULL_ADVICE}" if is_disk_full(error) else ""
            reason = (error.strerror or str(error)).lower()
            raise PlanError(f"{self.path} cannot be written, so no more changes are made: {reason}{advice}") from None
        self._unwritten_index_line = b""
        self._remember(changes)

    def record_index(self, index: PlanIndex) -> None:
        """Record the index with the next change, unless the file already names an index, or the index is not known."""
        if index.location and not self.index.location:
            self.index = index
            self._unwritten_index_line = _encode_line(
                {"act": "index", "location": index.location, "folders": dict(index.folders)}
            )

    def append_folders(self, folders: Iterable[Path]) -> None:
        """Record folders that are about to be made. Raises PlanError as `append` does."""
        self.append(*(Change("folder", str(folder), "", self.run_id) for folder in folders))

    def append_undone(self, change: Change) -> None:
        """Record that a change was undone, so that it is not undone again. Raises PlanError as `append` does."""
        self.append(replace(change, action="undone"))

    def remove(self) -> None:
        """Remove the undo file while it is locked."""
        if os.name == "nt":  # Windows cannot remove an open file
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
            raise PlanError(f"{self.path} is a symbolic link, not an undo file; move it away or rename the plan")
        descriptor = os.open(self.path, flags | os.O_RDWR | _OPEN_FLAGS, 0o600)
        try:
            info = os.fstat(descriptor)
            if not stat.S_ISREG(info.st_mode):
                raise PlanError(f"{self.path} is not a regular file, so it is not an undo file; move it away")
            if info.st_size > MAX_PLAN_BYTES:
                raise PlanError(
                    f"{self.path} is larger than {MAX_PLAN_BYTES:,} bytes, so it is not an undo file; move it away"
                )
            # The process that held the lock before may have removed the file.
            if not (lock_file(descriptor) and os.path.samestat(info, os.lstat(self.path))):
                raise self._busy_error()
        except BaseException:
            os.close(descriptor)
            raise
        return os.fdopen(descriptor, "rb+")

    def _busy_error(self) -> PlanError:
        return PlanError(f"another run of `apply` is using {self.path}; wait until that run ends, then try again")

    def _read(self, data: bytes) -> None:
        header = _encode_line(_HEADER)
        if header.startswith(data):
            return  # a process was killed while it was writing the header
        if not data.startswith(header):
            if match := _ANY_HEADER.match(data):
                raise PlanError(
                    f"{self.path} was written by another version of simdoc-search (format {match[1].decode()}, not "
                    f"{_HEADER['version']}); undo the changes with that version, or update simdoc-search"
                )
            raise PlanError(f"{self.path} is not an undo file; move it away or rename the plan")
        lines = data[: data.rfind(b"\n")].split(b"\n")
        self._end = len(header)
        for number, line in enumerate(lines[1:], 2):
            try:
                parsed = _parse_line(line)
            except (ValueError, TypeError, KeyError, RecursionError):
                self.damage = f"{self.path} is damaged, starting at line {number:,} of {len(lines):,}"
                return
            if isinstance(parsed, PlanIndex):
                self.index = parsed
            else:
                self._remember([parsed])
            self._end += len(line) + 1

    def _remember(self, changes: Iterable[Change]) -> None:
        for change in changes:
            self.changes.pop(change.path, None)
            self.undone_paths.discard(change.path)
            if change.action == "undone":
                self.undone_paths.add(change.path)
            else:
                self.changes[change.path] = change

    def _write(self, data: bytes) -> None:
        is_new = self._file is None
        if self._file is None:
            try:
                self._file = self._open(os.O_CREAT | os.O_EXCL)
            except FileExistsError:
                raise self._busy_error() from None
        data = data if self._end else _encode_line(_HEADER) + data
        self._file.seek(self._end)
        self._file.truncate()
        self._file.write(data)
        self._file.flush()
        os.fsync(self._file.fileno())
        self._end += len(data)
        if is_new:
            sync_folder(self.path.parent)


def read_index(undo_file: Path) -> PlanIndex:
    """Return the index that the first change of an undo file recorded. It is not known if the file cannot be read."""
    with suppress(OSError, ValueError, TypeError, KeyError, RecursionError), undo_file.open("rb") as file:
        file.readline(_MAX_INDEX_LINE_BYTES)
        parsed = _parse_line(file.readline(_MAX_INDEX_LINE_BYTES).removesuffix(b"\n"))
        if isinstance(parsed, PlanIndex):
            return parsed
    return PlanIndex()


def _encode_line(value: dict[str, Any]) -> bytes:
    text = json.dumps(value).encode()  # JSON in ASCII can represent any file name
    return _checksum(text) + b" " + text + b"\n"


def _encode_change(change: Change) -> bytes:
    names = {"act": change.action, "path": change.path, "other": change.target, "token": change.run_id}
    return _encode_line({**names, "state": change.state and astuple(change.state), "mode": change.mode})


def _checksum(text: bytes) -> bytes:
    return blake2b(text, digest_size=_CHECKSUM_BYTES).hexdigest().encode()


def _parse_line(line: bytes) -> Change | PlanIndex:
    checksum, _, text = line.partition(b" ")
    if checksum != _checksum(text):
        raise ValueError("wrong checksum")
    value = json.loads(text)
    if value["act"] == "index":
        folders = {str(folder): str(prefix) for folder, prefix in dict(value["folders"]).items()}
        return PlanIndex(str(value["location"]), folders)
    if value["act"] not in _ACTIONS or not str(value["token"]).isalnum():
        raise ValueError(value["act"])
    state = FileState(*value["state"]) if value["state"] else None
    path, target, run_id = (str(value[name]) for name in ("path", "other", "token"))
    return Change(value["act"], path, target, run_id, state, int(value["mode"]))
