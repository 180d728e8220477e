"""Rows of a plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from simdoc_search.documents import Place
from simdoc_search.errors import SimdocError

Action = Literal["keep", "drop", "decide"]
"""Keep the document; drop it; not decided yet, so keep it."""

ACTIONS: tuple[Action, ...] = get_args(Action)

How = Literal["move", "delete", "hardlink"]
"""What happens to dropped files."""

IN_ARCHIVE = "it is in an archive, which is left unchanged"
"""Why a document in an archive is never dropped, and why nothing is dropped for it."""

MAX_BYTES = 1 << 31
"""Maximum size of a plan or an undo file: millions of rows."""


class PlanError(SimdocError):
    """A plan or its undo file cannot be read or written, or contradicts itself."""


class LeftAloneError(Exception):
    """A document is left unchanged. The message is the reason."""


@dataclass(frozen=True, slots=True)
class FileState:
    """The state of a file: size in bytes, modification time in nanoseconds, and BLAKE2b of its bytes in hexadecimal."""

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
    """One document of a group."""

    action: Action  # what to do with it
    group: int  # the number of its group, from 1
    place: Place  # its place in the store
    path: str | None  # the absolute path of its file; None if it has no file
    kept: str  # the `name` of the document that is kept instead; empty for the kept document of the group
    state: State | None  # its state when the plan was written; None: unknown, so it is never changed
    overlap: str = ""  # overlap with the kept document in percent, for people
    kind: str = ""  # what it has in common with the kept document, for people
    changed: str = ""  # modification date of its file, for people
    note: str = ""  # why the action is proposed, for people

    @property
    def name(self) -> str:
        """The path; for a document without a file `INDEX/ID`, or the id."""
        return self.path or (self.place.id if self.place.index is None else f"{self.place.index}/{self.place.id}")

    @property
    def no_state(self) -> str:
        """The message for a row without a state."""
        if IN_ARCHIVE in self.note:
            return IN_ARCHIVE
        return f"the plan does not say what it was ({self.note or 'no state'})"
