"""What an archive or a mailbox holds: its members one after the other, each with its bytes or why it is not read.

Nothing is ever unpacked onto the disk. What a few kilobytes can unpack to is bounded: each member as a file is, all of
them together, their number, and archives in archives.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import PurePosixPath
from typing import IO, Any, BinaryIO

from simdoc_search.corpus.load import opened
from simdoc_search.corpus.mailbox import messages
from simdoc_search.corpus.member_names import OUTSIDE, Names, is_archive, kind_of_archive
from simdoc_search.documents import FileSource

MAX_DEPTH = 3
"""An archive in an archive in an archive; one more is left closed."""

MAX_MEMBERS = 1_000_000

_TOTAL_FILES = 40  # so many of the largest files all members together may have, ...
_TOTAL_RATIO = 200  # ... or so many times the bytes of the archive
_NAMES_AND_ATTRIBUTES = frozenset(
    (tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE)
)
_LARGEST_HEADER = 1 << 18  # bytes of a member's name or attributes in a tar archive
_PIECE = 1 << 20
_AT_ONCE = 64

_BROKEN = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    OSError,
    ValueError,
    RuntimeError,  # what zipfile says of a password
    NotImplementedError,
    IndexError,
    KeyError,
    OverflowError,
)


_COMPRESSIONS: dict[bytes, Callable[[BinaryIO], Any]] = {
    b"\x1f\x8b": lambda file: gzip.GzipFile(fileobj=file),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\0": lzma.LZMAFile,
}


@dataclass(frozen=True, slots=True)
class Member:
    """A file in an archive, or a message of a mailbox.

    Attributes:
        name: what stands after the `!` in its id; empty for the archive as a whole.
        data: all of its bytes; empty if there is a reason.
        mtime_ns: time of its last change in nanoseconds; 0 if it says none.
        reason: why it is not read, in a few words; of the archive as a whole: what comes after is not read.
    """

    name: str
    data: bytes = b""
    mtime_ns: int = 0
    reason: str = ""


@dataclass(slots=True)
class _Budget:
    """How much may still be unpacked, of how many members."""

    most: int
    each: int
    members: int
    bytes: int = field(init=False)
    names: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.bytes = self.most


class _TooMuchError(Exception):
    """The archive as a whole unpacks to too much; the message is the reason."""


def members(source: FileSource) -> Iterator[list[Member]]:
    """The members of an archive or a mailbox in their order, some at a time; also of those in it.

    One of the whole is the last if the rest cannot be read. One larger than the source's `max_bytes` is left out; all
    together may have 40 times as much, or 200 times the bytes of the archive.
    """
    each = source.max_bytes or (1 << 40)
    budget = _Budget(max(_TOTAL_FILES * each, _TOTAL_RATIO * source.size), each, MAX_MEMBERS)
    some: list[Member] = []
    size = 0
    try:
        with opened(source) as raw, io.BufferedReader(raw) as file:  # else lines are read byte by byte
            for member in _members(file, source.path.name, "", budget, 1):
                some.append(member)
                size += len(member.data)
                if size >= _PIECE or len(some) >= _AT_ONCE:
                    yield some
                    some, size = [], 0
    except OSError as error:
        some.append(Member("", reason=(error.strerror or str(error)).lower()))
    yield some


def _members(file: BinaryIO, name: str, prefix: str, budget: _Budget, depth: int) -> Iterator[Member]:
    names = Names(budget.names, prefix)
    try:
        match kind_of_archive(name):
            case "zip":
                yield from _zipped(file, names, budget, depth)
            case "tar":
                yield from _tarred(file, names, budget, depth)
            case "mbox":
                yield from _mailed(_unpacked(file), names, budget)
    except _TooMuchError as error:
        yield Member(prefix.removesuffix("!"), reason=str(error))
    except _BROKEN as error:
        yield Member(prefix.removesuffix("!"), reason=f"damaged: {str(error)[:120] or type(error).__name__}")


def _zipped(file: BinaryIO, names: Names, budget: _Budget, depth: int) -> Iterator[Member]:
    with zipfile.ZipFile(file) as archive:
        for info in archive.infolist():
            if info.is_dir():
                continue
            name = names.of(info.filename)
            _count(budget)
            if reason := _unread(name, info.file_size, budget):
                yield Member(name, reason=reason)
            elif info.flag_bits & 1:
                yield Member(name, reason="encrypted")
            else:
                try:
                    with archive.open(info) as opened:
                        data = _read(opened, budget)
                except _BROKEN as error:
                    yield Member(name, reason=f"damaged: {str(error)[:120]}")
                    continue
                yield from _inside(name, data, _of_zip(info.date_time), budget, depth)


class _TarInfo(tarfile.TarInfo):
    """A header of a tar archive, whose names and attributes have a limit, as tarfile reads them at once."""

    def _proc_member(self, archive: tarfile.TarFile) -> tarfile.TarInfo:
        if self.type in _NAMES_AND_ATTRIBUTES and self.size > _LARGEST_HEADER:
            raise tarfile.ReadError(f"a header of {self.size:,} bytes is over the limit of {_LARGEST_HEADER:,}")
        member: tarfile.TarInfo = super()._proc_member(archive)  # type: ignore[misc] # tarfile names it in a comment
        return member


def _tarred(file: BinaryIO, names: Names, budget: _Budget, depth: int) -> Iterator[Member]:
    with tarfile.open(fileobj=_unpacked(file), mode="r|", errorlevel=1, tarinfo=_TarInfo) as archive:
        for info in archive:
            archive.members.clear()  # type: ignore[attr-defined] # it keeps all that it has seen
            archive.pax_headers.clear()  # type: ignore[attr-defined] # and copies them for each member
            if info.isdir():
                continue
            name = names.of(info.name)
            _count(budget)
            if not info.isreg():
                yield Member(name, reason=OUTSIDE)
                continue
            if reason := _unread(name, info.size, budget):
                _spend(budget, info.size)  # what is passed over is unpacked all the same
                yield Member(name, reason=reason)
                continue
            opened = archive.extractfile(info)
            data = _read(opened, budget) if opened else b""
            yield from _inside(name, data, max(0, int(info.mtime)) * 10**9, budget, depth)


def _mailed(file: IO[bytes], names: Names, budget: _Budget) -> Iterator[Member]:
    for message in messages(file, budget.each):
        _count(budget)
        _spend(budget, message.size)
        name = names.of_message(message.subject)
        reason = f"{message.size:,} bytes are over the limit of {budget.each:,}" if message.data is None else ""
        yield Member(name, message.data or b"", message.sent_ns, reason)


def _inside(name: str, data: bytes, mtime_ns: int, budget: _Budget, depth: int) -> Iterator[Member]:
    """A member; or what is in it, if it is an archive itself."""
    if not is_archive(name):
        yield Member(name, data, mtime_ns)
    elif depth >= MAX_DEPTH:
        yield Member(name, reason=f"an archive in {depth} others")
    else:
        yield from _members(io.BytesIO(data), PurePosixPath(name).name, f"{name}!", budget, depth + 1)


def _unread(name: str, size: int, budget: _Budget) -> str:
    """Why a member is left out before it is read; empty if it is read."""
    parts = PurePosixPath(name.rpartition("!")[2]).parts
    if any(part.startswith(".") or part == "__MACOSX" for part in parts):
        return "hidden"
    return f"{size:,} bytes are over the limit of {budget.each:,}" if size > budget.each else ""


def _count(budget: _Budget) -> None:
    budget.members -= 1
    if budget.members < 0:
        raise _TooMuchError(f"the rest of more than {MAX_MEMBERS:,} members")


def _spend(budget: _Budget, size: int) -> None:
    budget.bytes -= size
    if budget.bytes < 0:
        raise _TooMuchError(f"all together unpack to more than {budget.most:,} bytes")


def _read(file: IO[bytes], budget: _Budget) -> bytes:
    """All bytes of a member, whatever its header said of their number.

    Raises:
        ValueError: they are more than a file may have.
        _TooMuchError: with them, all members have too many.
    """
    pieces, size = [], 0
    while piece := file.read(_PIECE):
        pieces.append(piece)
        size += len(piece)
        _spend(budget, len(piece))
        if size > budget.each:
            raise ValueError(f"more bytes than its header says, over the limit of {budget.each:,}")
    return b"".join(pieces)


def _unpacked(file: BinaryIO) -> IO[bytes]:
    """A file without its compression, which unlike that of tarfile says it if the file is cut."""
    beginning = file.read(6)
    file.seek(0)
    for magic, opened_as in _COMPRESSIONS.items():
        if beginning.startswith(magic):
            unpacked: IO[bytes] = opened_as(file)
            return unpacked
    return file


def _of_zip(parts: tuple[int, int, int, int, int, int]) -> int:
    """A time without a zone, taken for UTC, so that it is the same everywhere."""
    try:
        return int(datetime(*parts, tzinfo=timezone.utc).timestamp()) * 10**9
    except ValueError:
        return 0
