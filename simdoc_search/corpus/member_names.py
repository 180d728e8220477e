"""What are members of archives called? `old.zip!2021/Report.txt`, `mail.mbox!Re: thing.eml`, no two the same."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import PurePosixPath
from typing import Literal

CLOSED = "an archive or a mailbox; --archives looks into it"
OUTSIDE = "not a file but a link or device in an archive"

Kind = Literal["zip", "tar", "mbox"]

_ENDINGS: dict[str, Kind] = {
    ".zip": "zip",
    **dict.fromkeys((".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tbz", ".tar.xz", ".txz"), "tar"),
    **dict.fromkeys((".mbox", ".mbox.gz"), "mbox"),
}
_IN_A_PATH = re.compile(rf"^(.*?(?:{'|'.join(map(re.escape, _ENDINGS))}))!", re.IGNORECASE | re.DOTALL)
_CONTROL = re.compile(r"[\x00-\x1f\x7f]+")
_SPACES = re.compile(r"\s+")
_LONGEST_NAME, _LONGEST_SUBJECT = 400, 120
"""In bytes of UTF-8, so that an id fits with what stands before it."""


def kind_of_archive(name: str) -> Kind | None:
    """What is inside, by the ending of a name; None: it is no archive."""
    lower = name.lower()
    return next((kind for ending, kind in _ENDINGS.items() if lower.endswith(ending)), None)


def is_archive(name: str) -> bool:
    """Whether a file can be looked into, by the ending of its name."""
    return kind_of_archive(name) is not None


def archive_of(path: str) -> str | None:
    """The path of the archive in which a member lies, the outermost one; None for what is in no archive."""
    found = _IN_A_PATH.match(path)
    return found[1] if found else None


class Names:
    """Names of members, all different and harmless: below the archive, without links up, without control characters.

    Args:
        taken: how often each name came by, also in the archives around this one.
        prefix: what stands before, of an archive in an archive.
    """

    def __init__(self, taken: Counter[str], prefix: str) -> None:
        self._taken, self._prefix = taken, prefix

    def of(self, name: str) -> str:
        """That of a file: absolute ones and `..` stay below the archive."""
        parts = [part for part in re.split(r"[/\\]", name) if part not in ("", ".", "..")]
        if parts and re.fullmatch("[A-Za-z]:", parts[0]):
            parts = parts[1:]
        name = _plain("/".join(parts)).encode()[-_LONGEST_NAME:].decode(errors="ignore")
        path = PurePosixPath(name.strip("/") or "unnamed")
        return self._own(str(path.with_suffix("")), path.suffix)

    def of_message(self, subject: str) -> str:
        """That of a message: its subject; it is an e-mail by its ending."""
        said = _SPACES.sub(" ", _plain(subject)).replace("/", "_").replace("\\", "_").strip()
        short = said.encode()[:_LONGEST_SUBJECT].decode(errors="ignore")
        return self._own(short.strip(" .") or "no subject", ".eml")

    def _own(self, stem: str, ending: str) -> str:
        """The name, or with the first number behind that makes it one of its own."""
        first = name = f"{self._prefix}{stem}{ending}"
        while name in self._taken:
            self._taken[first] += 1
            name = f"{self._prefix}{stem} {self._taken[first]}{ending}"
        self._taken[name] = 1
        return name


def _plain(name: str) -> str:
    return _CONTROL.sub(" ", name.encode("utf-8", "backslashreplace").decode())
