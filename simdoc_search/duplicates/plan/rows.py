"""What a row of a plan is, and what a document was when the plan was written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from simdoc_search.documents import Place
from simdoc_search.errors import SimdocError

Action = Literal["keep", "drop", "decide"]
"""It stays; it goes; nobody has said yet, so it stays."""

ACTIONS: tuple[Action, ...] = get_args(Action)

IN_ARCHIVE = "it lies in an archive, which is left as it is"
"""The note of a row of which nothing is ever taken out, nor anything else for its sake."""

MAX_BYTES = 1 << 31
"""The maximum size of a plan or an undo file: some millions of rows."""

How = Literal["move", "delete", "hardlink"]
"""What becomes of the files that go."""


class PlanError(SimdocError):
    """A plan, or the undo file of one, cannot be read or written, or says what cannot be meant."""


class LeftAloneError(Exception):
    """A document is left as it is, for the reason that the message says in a few words."""


@dataclass(frozen=True, slots=True)
class FileState:
    """What a file was.

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
    """What the text of a document without a file was: its `text_hash`."""

    hash: str

    def __str__(self) -> str:
        return f"text:{self.hash}"


State = FileState | TextState


@dataclass(frozen=True, slots=True)
class PlanRow:
    """One document of a group.

    Attributes:
        action: what is to become of it.
        group: the number of its group, from 1.
        place: where it is in the store.
        path: the absolute path of its file; None: it was read from none.
        kept: the `name` of the document that stays for it; empty for the kept document of the group.
        state: what it was when the plan was written; None: not known, so it is never touched.
        overlap: with the one that stays, in percent, for people.
        kind: what it has in common with the document that stays for it, for people.
        changed: the day on which its file last changed, for people.
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
        """The path; of a document without a file its index, if it has one, and its id."""
        if self.path is not None:
            return self.path
        return self.place.id if self.place.index is None else f"{self.place.index}/{self.place.id}"

    @property
    def unknown(self) -> str:
        """What is said where the state is not known."""
        if IN_ARCHIVE in self.note:
            return IN_ARCHIVE
        return f"the plan does not say what it was ({self.note or 'no state'})"
