"""Rows of a plan, and the state of each document when the plan was written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from simdoc_search.documents import Place
from simdoc_search.errors import SimdocError

Action = Literal["keep", "drop", "decide"]
"""Keep it; drop it; not decided yet, so keep it."""

ACTIONS: tuple[Action, ...] = get_args(Action)

IN_ARCHIVE = "it lies in an archive, which is left as it is"
"""The note of a document in an archive. It is never dropped, and nothing is dropped because of it."""

MAX_BYTES = 1 << 31
"""The maximum size of a plan or an undo file: some millions of rows."""

How = Literal["move", "delete", "hardlink"]
"""What happens to dropped files."""


class PlanError(SimdocError):
    """A plan or its undo file cannot be read or written, or contradicts itself."""


class LeftAloneError(Exception):
    """A document is left unchanged. The message is the reason."""


@dataclass(frozen=True, slots=True)
class FileState:
    """The state of a file.

    Attributes:
        size: in bytes.
        mtime_ns: time of the last change in nanoseconds.
        hash: BLAKE2b of its bytes, 16 bytes in hexadecimal.
    """

    size: int
    mtime_ns: int
    hash: str

    def __str__(self) -> str:
        return f"file:{self.size}:{self.mtime_ns}:{self.hash}"


@dataclass(frozen=True, slots=True)
class TextState:
    """The state of a document without a file: its `text_hash`."""

    hash: str

    def __str__(self) -> str:
        return f"text:{self.hash}"


State = FileState | TextState


@dataclass(frozen=True, slots=True)
class PlanRow:
    """One document of a group.

    Attributes:
        action: what to do with it.
        group: the number of its group, from 1.
        place: where it is in the store.
        path: the absolute path of its file; None: it has no file.
        kept: the `name` of the document that is kept instead; empty for the kept document of the group.
        state: its state when the plan was written; None: not known, so it is never changed.
        overlap: with the kept document, in percent, for people.
        kind: what it has in common with the kept document, for people.
        changed: the modification date of its file, for people.
        note: why the action is proposed, for people.
    """

    action: Action
    group: int
    place: Place
    path: str | None
    kept: str
    state: State | None
    overlap: str = ""
    kind: str = ""
    changed: str = ""
    note: str = ""

    @property
    def name(self) -> str:
        """The path, or for a document without a file `INDEX/ID` or the id."""
        if self.path is not None:
            return self.path
        return self.place.id if self.place.index is None else f"{self.place.index}/{self.place.id}"

    @property
    def unknown(self) -> str:
        """The message for a row without a state."""
        if IN_ARCHIVE in self.note:
            return IN_ARCHIVE
        return f"the plan does not say what it was ({self.note or 'no state'})"
