"""The undo file of a plan: a journal of what was about to be done, on disk before it is.

A line says what is about to be done, never that it is done: that is seen from the files. So a process that is killed
leaves nothing to mend here, and a run that acts twice writes the same line twice.

Lines are only ever appended, by one process at a time. Each has a checksum of its own: what follows a damaged line is
not read. Only a last line that a killed process left without an end is written over.
"""

from __future__ import annotations

import json
import os
import secrets
import stat
from collections.abc import Iterable
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO, Literal

from simdoc_search.duplicates.plan.lock import lock_file
from simdoc_search.duplicates.plan.rows import MAX_BYTES, FileState, How, PlanError
from simdoc_search.durable import MAKE_ROOM, is_full, sync_folder

_HEAD = {"simdoc-search": "undo file of a plan", "version": 2}
_CHECKSUM_BYTES = 8


@dataclass(frozen=True, slots=True)
class Act:
    """Something that is about to be done.

    Attributes:
        how: what is done to a file; `remove`: a document without a file leaves its store; `undone`: the one before of
            this path is.
        path: the file; of such a document its name.
        other: where it is moved to; or what is kept for it, a path or the name of a document.
        token: of the run, in the names of what it hides meanwhile.
        state: what the file is before; None for a document.
        mode: the permissions of the file before.
    """

    how: How | Literal["remove", "undone"]
    path: str
    other: str
    token: str
    state: FileState | None = None
    mode: int = 0o600


class Journal:
    """An undo file, open and locked.

    Args:
        path: where it is; it is made by the first note.
        read_only: only read it, without a lock.

    Attributes:
        path: the same.
        acts: what it says, the last of each path.
        token: of this run, for new acts.
        damage: a sentence if a line is damaged, so that `acts` is what stands before it; otherwise empty.

    Raises:
        PlanError: it cannot be read, is not an undo file, or another process is using it.
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path
        self.acts: dict[str, Act] = {}
        self.token: str = secrets.token_hex(4)
        self.damage: str = ""
        self._file: BinaryIO | None = None
        self._end = 0  # of the lines that are whole
        try:
            self._file = self._open(0, read_only=read_only)
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

    def note(self, *acts: Act) -> None:
        """Write down what is about to be done; it is on disk when this returns.

        Raises:
            PlanError: that is not possible, so nothing may be done.
        """
        try:
            self._write(acts)
        except OSError as error:
            advice = f"; {MAKE_ROOM}" if is_full(error) else ""
            raise PlanError(
                f"{self.path} cannot be written, so no more is done: {(error.strerror or str(error)).lower()}{advice}"
            ) from None
        self._take(acts)

    def note_undone(self, act: Act) -> None:
        """Write down that an act was undone; a second undoing leaves it out.

        Raises:
            PlanError: that is not possible.
        """
        self.note(replace(act, how="undone"))

    def remove(self) -> None:
        """Remove the undo file, while nobody else can lock it."""
        if os.name == "nt":  # where no open file can be removed
            self.close()
        self.path.unlink()
        self.close()

    def close(self) -> None:
        """Close the file, which unlocks it."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _open(self, flags: int, *, read_only: bool = False) -> BinaryIO:
        """Open and lock the file."""
        for name in ("O_BINARY", "O_NOFOLLOW", "O_NONBLOCK"):
            flags |= getattr(os, name, 0)
        if self.path.is_symlink():
            raise PlanError(f"{self.path} is a symbolic link, not an undo file; name another plan")
        handle = os.open(self.path, flags | (os.O_RDONLY if read_only else os.O_RDWR), 0o600)
        try:
            info = os.fstat(handle)
            if not stat.S_ISREG(info.st_mode):
                raise PlanError(f"{self.path} is not a regular file, so it is not an undo file; name another plan")
            if info.st_size > MAX_BYTES:
                raise PlanError(f"{self.path} is larger than {MAX_BYTES:,} bytes, so it is not an undo file")
            # Whoever had the lock until now may have removed the file.
            if not read_only and not (lock_file(handle) and os.path.samestat(info, os.lstat(self.path))):
                raise self._busy
        except BaseException:
            os.close(handle)
            raise
        return os.fdopen(handle, "rb" if read_only else "rb+")

    @property
    def _busy(self) -> PlanError:
        return PlanError(f"another apply is using {self.path}; wait until it has ended, then try again")

    def _read(self, data: bytes) -> None:
        head = _line(_HEAD)
        if head.startswith(data):
            return  # killed before it was whole
        if not data.startswith(head):
            raise PlanError(f"{self.path} is not an undo file of this version; name another plan")
        lines = data[: data.rfind(b"\n")].split(b"\n")
        self._end = len(head)
        for number, line in enumerate(lines[1:], 2):
            try:
                act = _act(line)
            except (ValueError, TypeError, KeyError, RecursionError):
                self.damage = f"{self.path} is damaged from line {number:,} of {len(lines):,} on"
                return
            self._take([act])
            self._end += len(line) + 1

    def _take(self, acts: Iterable[Act]) -> None:
        """The last act of a path counts, also in their order."""
        for each in acts:
            self.acts.pop(each.path, None)
            if each.how != "undone":
                self.acts[each.path] = each

    def _write(self, acts: Iterable[Act]) -> None:
        if is_new := self._file is None:
            try:
                self._file = self._open(os.O_CREAT | os.O_EXCL)
            except FileExistsError:
                raise self._busy from None
        data = b"" if self._end else _line(_HEAD)
        data += b"".join(_line(_plain(each)) for each in acts)
        assert self._file is not None  # noqa: S101 - for mypy
        self._file.seek(self._end)
        self._file.truncate()
        self._file.write(data)
        self._file.flush()
        os.fsync(self._file.fileno())
        self._end += len(data)
        if is_new:
            sync_folder(self.path.parent)


def _line(value: dict[str, Any]) -> bytes:
    text = json.dumps(value).encode()  # ASCII, so any name can be written
    return _checksum(text) + b" " + text + b"\n"


def _checksum(text: bytes) -> bytes:
    return blake2b(text, digest_size=_CHECKSUM_BYTES).hexdigest().encode()


def _plain(act: Act) -> dict[str, Any]:
    state = act.state and [act.state.size, act.state.mtime_ns, act.state.hash]
    return {
        "act": act.how, "path": act.path, "other": act.other, "token": act.token, "state": state, "mode": act.mode,
    }  # fmt: skip


def _act(line: bytes) -> Act:
    checksum, _, text = line.partition(b" ")
    if checksum != _checksum(text):
        raise ValueError("another checksum")
    value = json.loads(text)
    if value["act"] not in {"move", "delete", "hardlink", "remove", "undone"} or not str(value["token"]).isalnum():
        raise ValueError(value["act"])
    return Act(
        value["act"], str(value["path"]), str(value["other"]), str(value["token"]),
        FileState(*value["state"]) if value["state"] else None, int(value["mode"]),
    )  # fmt: skip
