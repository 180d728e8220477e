"""Creates unique names for members of archives and for attachments.

Examples are `old.zip!2021/Report.txt`, `mail.mbox!Re: thing.eml` and `offer.eml!prices.pdf`.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import PurePosixPath

from simdoc_search.corpus.formats import ARCHIVE_EXTENSIONS, ATTACHMENT_EXTENSION, determine_format

_CONTAINERS = "|".join(map(re.escape, (*ARCHIVE_EXTENSIONS, ATTACHMENT_EXTENSION)))
_ARCHIVE_PATH = re.compile(rf"^(.*?(?:{_CONTAINERS}))!", re.IGNORECASE | re.DOTALL)
_CONTROLS = re.compile(r"[\x00-\x1f\x7f]+")
_SPACES = re.compile(r"\s+")
_MAX_NAME_BYTES, _MAX_SUBJECT_BYTES = 400, 120  # an id has at most 512 bytes, and begins with the path of the archive


def find_archive(path: str) -> str | None:
    """Return the path of the outermost archive or e-mail of a member. None if the path is not that of a member."""
    match = _ARCHIVE_PATH.match(path) if "!" in path else None
    return match[1] if match else None


def find_archive_file(path: str) -> str | None:
    """Return the path of the outermost archive of a member, as `find_archive` does; None for an attachment."""
    archive = find_archive(path)
    return archive if archive and determine_format(archive).kind == "archive" else None


class MemberNames:
    """Creates unique and safe names. They are relative, and contain neither `..` nor control characters.

    Args:
        counts: number of uses of each name, shared by nested archives.
        prefix: the name of this archive and `!` if it is in another archive; otherwise empty.
    """

    def __init__(self, counts: Counter[str], prefix: str) -> None:
        self.prefix: str = prefix
        self._counts = counts

    def for_file(self, name: str) -> str:
        """Return the name of a file, without a drive, a leading `/` and `..`."""
        parts = [part for part in re.split(r"[/\\]", name) if part not in ("", ".", "..")]
        if parts and re.fullmatch("[A-Za-z]:", parts[0]):
            parts = parts[1:]
        name = _replace_controls("/".join(parts)).encode()[-_MAX_NAME_BYTES:].decode(errors="ignore")
        path = PurePosixPath(name.strip("/") or "unnamed")
        return self._make_unique(str(path.with_suffix("")), path.suffix)

    def for_message(self, subject: str) -> str:
        """Return the name of an e-mail message: its subject and `.eml`."""
        subject = _SPACES.sub(" ", _replace_controls(subject)).replace("/", "_").replace("\\", "_").strip()
        short = subject.encode()[:_MAX_SUBJECT_BYTES].decode(errors="ignore")
        return self._make_unique(short.strip(" .") or "no subject", ".eml")

    def _make_unique(self, stem: str, suffix: str) -> str:
        base = name = f"{self.prefix}{stem}{suffix}"
        while name in self._counts:
            self._counts[base] += 1
            name = f"{self.prefix}{stem} {self._counts[base]}{suffix}"
        self._counts[name] = 1
        return name


def _replace_controls(name: str) -> str:
    return _CONTROLS.sub(" ", name.encode("utf-8", "backslashreplace").decode())
