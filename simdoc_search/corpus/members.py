"""Reads the members of an archive or a mailbox, and the attachments of an e-mail, without unpacking them to disk.

A few kilobytes can unpack to gigabytes. The size of a member, the total size of all members, their number, and the
depth of nested archives are therefore limited.
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

from simdoc_search.corpus.attachments import find_attachments
from simdoc_search.corpus.file_reader import open_source
from simdoc_search.corpus.file_source import FileSource
from simdoc_search.corpus.formats import MBOX_EXTENSIONS, TAR_EXTENSIONS, FileFormat, determine_format
from simdoc_search.corpus.mailbox import read_messages
from simdoc_search.corpus.member_names import MemberNames

MAX_DEPTH = 3
"""Maximum depth of nested archives."""

MAX_MEMBERS = 1_000_000

# The total size of all members is limited to the larger of 40 times the maximum size of a member and 200 times the size
# of the archive.
_TOTAL_LIMIT_FACTOR, _MAX_EXPANSION_RATIO = 40, 200
_TAR_HEADER_TYPES = frozenset(
    (tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE)
)
_MAX_TAR_HEADER_BYTES = 1 << 18
_CHUNK_BYTES = 1 << 20
_MEMBERS_PER_BATCH = 64

_DAMAGE_ERRORS = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    OSError,
    ValueError,
    RuntimeError,  # zipfile raises RuntimeError for an encrypted member
    NotImplementedError,
    IndexError,
    KeyError,
    OverflowError,
)

_DECOMPRESSORS: dict[bytes, Callable[[BinaryIO], Any]] = {
    b"\x1f\x8b": lambda file: gzip.GzipFile(fileobj=file),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\0": lzma.LZMAFile,
}


@dataclass(frozen=True, slots=True)
class Member:
    """A file in an archive, a message of a mailbox, or an attachment of an e-mail."""

    name: str  # the part of the id after `!`; empty for the archive as a whole
    data: bytes = b""  # empty if the member is not read
    mtime_ns: int = 0  # modification time in nanoseconds since 1970; 0 if unknown
    reason: str = ""  # why the member, or the rest of the archive, is not read; empty if it is read


class _LimitError(Exception):
    """The archive exceeds a limit. The message is the reason in a few words."""


@dataclass(slots=True)
class _Budget:
    """Counts how many members and bytes may still be unpacked."""

    max_total_bytes: int
    max_member_bytes: int
    members_left: int
    name_counts: Counter[str] = field(default_factory=Counter)
    bytes_left: int = field(init=False)

    def __post_init__(self) -> None:
        self.bytes_left = self.max_total_bytes

    def count_member(self) -> None:
        self.members_left -= 1
        if self.members_left < 0:
            raise _LimitError(f"there are more than {MAX_MEMBERS:,} members")

    def count_bytes(self, size: int) -> None:
        self.bytes_left -= size
        if self.bytes_left < 0:
            raise _LimitError(f"the members unpack to more than {self.max_total_bytes:,} bytes in total")

    def reason_to_skip(self, name: str, size: int) -> str:
        """Return the reason why a member is not read, or an empty string. `name` is its path in its own archive."""
        parts = PurePosixPath(name).parts
        if any(part.startswith(".") or part == "__MACOSX" for part in parts):
            return "hidden"
        return f"{size:,} bytes are over the limit of {self.max_member_bytes:,}" if size > self.max_member_bytes else ""

    def read(self, file: IO[bytes]) -> bytes:
        """Read a member. The size in its header is not trusted."""
        chunks, size = [], 0
        while chunk := file.read(_CHUNK_BYTES):
            chunks.append(chunk)
            size += len(chunk)
            self.count_bytes(len(chunk))
            if size > self.max_member_bytes:
                raise ValueError(f"the member exceeds its stated size and the limit of {self.max_member_bytes:,} bytes")
        return b"".join(chunks)


def read_members(source: FileSource) -> Iterator[list[Member]]:
    """Yield the members of an archive or a mailbox, or the attachments of an e-mail, in batches.

    The members of nested archives and the attachments of messages are included.

    If the rest of the archive cannot be read, an additional `Member` without a name comes last, and its `reason` says
    why. Members larger than the `max_bytes` of the source are skipped.
    """
    max_member_bytes = source.max_bytes or (1 << 40)
    max_total_bytes = max(_TOTAL_LIMIT_FACTOR * max_member_bytes, _MAX_EXPANSION_RATIO * source.size)
    budget = _Budget(max_total_bytes, max_member_bytes, MAX_MEMBERS)
    batch: list[Member] = []
    size = 0
    try:
        with open_source(source) as file:
            for member in _iterate_members(file, source.format, "", budget, 1):
                batch.append(member)
                size += len(member.data)
                if size >= _CHUNK_BYTES or len(batch) >= _MEMBERS_PER_BATCH:
                    yield batch
                    batch, size = [], 0
    except OSError as error:
        batch.append(Member("", reason=(error.strerror or str(error)).lower()))
    yield batch


def _iterate_members(file: BinaryIO, format: FileFormat, prefix: str, budget: _Budget, depth: int) -> Iterator[Member]:
    names = MemberNames(budget.name_counts, prefix)
    try:
        if format.extension in TAR_EXTENSIONS:
            yield from _tar_members(file, names, budget, depth)
        elif format.extension in MBOX_EXTENSIONS:
            yield from _mailbox_members(_decompress(file), names, budget, depth)
        elif format.is_mail:
            yield from _attachment_members(prefix, budget.read(file), 0, budget, depth)
        else:
            yield from _zip_members(file, names, budget, depth)
    except _LimitError as error:
        yield Member(prefix.removesuffix("!"), reason=str(error))
    except _DAMAGE_ERRORS as error:
        yield Member(prefix.removesuffix("!"), reason=f"damaged: {str(error)[:120] or type(error).__name__}")


def _zip_members(file: BinaryIO, names: MemberNames, budget: _Budget, depth: int) -> Iterator[Member]:
    with zipfile.ZipFile(file) as archive:
        for info in archive.infolist():
            if info.is_dir():
                continue
            name = names.for_file(info.filename)
            budget.count_member()
            reason = budget.reason_to_skip(name.removeprefix(names.prefix), info.file_size) or (
                "encrypted" if info.flag_bits & 1 else ""
            )
            if reason:
                yield Member(name, reason=reason)
                continue
            try:
                with archive.open(info) as opened:
                    data = budget.read(opened)
            except _DAMAGE_ERRORS as error:
                yield Member(name, reason=f"damaged: {str(error)[:120]}")
                continue
            yield from _expand_member(name, data, _zip_time_ns(info.date_time), budget, depth)


class _TarInfo(tarfile.TarInfo):
    """A tar header that limits the size of long names and attributes, because tarfile reads them into memory."""

    def _proc_member(self, archive: tarfile.TarFile) -> tarfile.TarInfo:
        if self.type in _TAR_HEADER_TYPES and self.size > _MAX_TAR_HEADER_BYTES:
            raise tarfile.ReadError(
                f"a header has {self.size:,} bytes, more than the limit of {_MAX_TAR_HEADER_BYTES:,}"
            )
        member: tarfile.TarInfo = super()._proc_member(archive)  # type: ignore[misc] # tarfile allows overriding it
        return member


def _tar_members(file: BinaryIO, names: MemberNames, budget: _Budget, depth: int) -> Iterator[Member]:
    with tarfile.open(fileobj=_decompress(file), mode="r|", errorlevel=1, tarinfo=_TarInfo) as archive:
        for info in archive:
            archive.members.clear()  # type: ignore[attr-defined] # otherwise tarfile keeps all members in memory
            archive.pax_headers.clear()  # type: ignore[attr-defined] # otherwise each member has a copy of these headers
            if info.isdir():
                continue
            name = names.for_file(info.name)
            budget.count_member()
            if not info.isreg():
                yield Member(name, reason="a link or device in an archive, not a regular file")
            elif reason := budget.reason_to_skip(name.removeprefix(names.prefix), info.size):
                budget.count_bytes(info.size)  # tarfile decompresses skipped members too
                yield Member(name, reason=reason)
            else:
                opened = archive.extractfile(info)
                data = budget.read(opened) if opened else b""
                yield from _expand_member(name, data, max(0, int(info.mtime)) * 10**9, budget, depth)


def _mailbox_members(file: IO[bytes], names: MemberNames, budget: _Budget, depth: int) -> Iterator[Member]:
    limit = budget.max_member_bytes
    for message in read_messages(file, limit):
        budget.count_member()
        budget.count_bytes(message.size)
        name = names.for_message(message.subject)
        if message.data is None:
            yield Member(name, reason=f"{message.size:,} bytes are over the limit of {limit:,}")
        else:
            yield from _expand_member(name, message.data, message.sent_ns, budget, depth)


def _attachment_members(prefix: str, message: bytes, mtime_ns: int, budget: _Budget, depth: int) -> Iterator[Member]:
    names = MemberNames(budget.name_counts, prefix)
    try:
        for attachment in find_attachments(message):
            name = names.for_file(attachment.name)
            budget.count_member()
            budget.count_bytes(len(attachment.data))
            if reason := budget.reason_to_skip(name.removeprefix(names.prefix), len(attachment.data)):
                yield Member(name, reason=reason)
            else:
                yield from _expand_member(name, attachment.data, mtime_ns, budget, depth + 1)
    except ValueError as error:
        yield Member(f"{prefix}attachments", reason=f"damaged: {error}")


def _expand_member(name: str, data: bytes, mtime_ns: int, budget: _Budget, depth: int) -> Iterator[Member]:
    format = determine_format(name)
    if format.kind != "archive":
        yield Member(name, data, mtime_ns)
        if format.has_attachments and depth < MAX_DEPTH:
            yield from _attachment_members(f"{name}!", data, mtime_ns, budget, depth)
    elif depth >= MAX_DEPTH:
        yield Member(name, reason=f"nested in {depth} archives")
    else:
        yield from _iterate_members(io.BytesIO(data), format, f"{name}!", budget, depth + 1)


def _decompress(file: BinaryIO) -> IO[bytes]:
    """Decompress a file if it is compressed. `_DECOMPRESSORS` detect a truncated file; those of tarfile do not."""
    beginning = file.read(6)
    file.seek(0)
    for magic, decompressor in _DECOMPRESSORS.items():
        if beginning.startswith(magic):
            decompressed: IO[bytes] = decompressor(file)
            return decompressed
    return file


def _zip_time_ns(parts: tuple[int, int, int, int, int, int]) -> int:
    """Convert a time without a time zone to nanoseconds since 1970. The time is assumed to be in UTC."""
    try:
        return int(datetime(*parts, tzinfo=timezone.utc).timestamp()) * 10**9
    except ValueError:
        return 0
