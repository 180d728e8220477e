"""Makes archives and mailboxes, also hostile ones."""

from __future__ import annotations

import io
import tarfile
import warnings
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["encrypted", "mail", "mbox", "packed_tar", "packed_zip"]

Files = Sequence[tuple[str, bytes | str]] | Mapping[str, bytes | str]


def packed_zip(files: Files) -> bytes:
    """A zip archive. Names may be repeated and may be paths to anywhere."""
    written = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        warnings.simplefilter("ignore")
        for name, content in _pairs(files):
            archive.writestr(zipfile.ZipInfo(name, (2021, 3, 4, 5, 6, 8)), content, zipfile.ZIP_DEFLATED)
    return written.getvalue()


def encrypted(archive: bytes, name: str) -> bytes:
    """A zip archive with one member marked as encrypted."""
    changed = bytearray(archive)
    for signature, flags, named in ((b"PK\3\4", 6, 30), (b"PK\1\2", 8, 46)):
        at = -1
        while (at := changed.find(signature, at + 1)) >= 0:
            if changed[at + named :].startswith(name.encode()):
                changed[at + flags] |= 1
    return bytes(changed)


def packed_tar(files: Files, compression: str = "gz", links: Mapping[str, str] | None = None) -> bytes:
    """A tar archive, perhaps with links."""
    written = io.BytesIO()
    mode: Any = f"w:{compression}"
    with tarfile.open(fileobj=written, mode=mode) as archive:
        for name, content in _pairs(files):
            info = tarfile.TarInfo(name)
            data = content.encode() if isinstance(content, str) else content
            info.size, info.mtime = len(data), 1_600_000_000
            archive.addfile(info, io.BytesIO(data))
        for name, target in (links or {}).items():
            info = tarfile.TarInfo(name)
            info.type, info.linkname = tarfile.SYMTYPE, target
            archive.addfile(info)
    return written.getvalue()


def mail(subject: str, text: str, *, sender: str = "Ada <ada@example.org>") -> bytes:
    """A message for a mailbox, with its `From ` line."""
    head = f"From: {sender}\nSubject: {subject}\nDate: Mon, 2 Mar 2020 10:00:00 +0000\n"
    return f"From ada@example.org Mon Mar  2 10:00:00 2020\n{head}\n{text}\n\n".encode()


def mbox(*messages: bytes) -> bytes:
    """A mailbox."""
    return b"".join(messages)


def _pairs(files: Files) -> Sequence[tuple[str, bytes | str]]:
    return list(files.items()) if isinstance(files, Mapping) else list(files)
