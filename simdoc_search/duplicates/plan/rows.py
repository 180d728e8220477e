"""The rows of a plan, the states of their documents, and the report of applying the plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, get_args

from simdoc_search.documents import DocumentKey
from simdoc_search.errors import SimdocError

Action = Literal["keep", "drop", "decide"]
"""What to do with a document: keep it, drop it, or keep it until the user decides."""

ACTIONS: tuple[Action, ...] = get_args(Action)

DropMethod = Literal["move", "delete", "hardlink"]
"""How files are dropped: moved to another folder, deleted, or replaced with a hard link to the kept file."""

IN_ARCHIVE = "the file is in an archive or e-mail, which is never changed"
"""The reason why a document in an archive or e-mail is never dropped."""

_NO_FILE = "the document has no file; to remove it from the index, use --delete and --store"

MAX_PLAN_BYTES = 1 << 31
"""Maximum size of a plan or an undo file, enough for millions of rows."""


def describe_kept_problem(problem: str) -> str:
    """Return why a duplicate is not dropped, if there is a problem with the document to keep instead."""
    if problem == IN_ARCHIVE:
        return "the document to keep is in an archive or e-mail"
    return problem and f"the document to keep has a problem: {problem}"


class PlanError(SimdocError):
    """A plan or its undo file cannot be read or written, or is not valid."""


class LeftAloneError(Exception):
    """A document is left unchanged. The message says why.

    Attributes:
        needs_new_plan: whether the plan is out of date for this document, so a new plan would help.
    """

    def __init__(self, message: str, *, needs_new_plan: bool = False) -> None:
        super().__init__(message)
        self.needs_new_plan = needs_new_plan


class LeftAlone(NamedTuple):
    """A document that was left unchanged, although its row says `drop`."""

    name: str  # `PlanRow.name`
    reason: str
    needs_new_plan: bool = False  # whether the plan is out of date for this document, so a new plan would help

    @classmethod
    def without_file(cls, name: str) -> LeftAlone:
        """Return the report of a document that has no file to move or link."""
        return cls(name, _NO_FILE)

    @property
    def has_no_file(self) -> bool:
        """Whether the document is left alone because it has no file."""
        return self.reason == _NO_FILE


@dataclass(slots=True)
class ApplyReport:
    """The changes made by applying a plan."""

    # the name of each dropped file or document, with its new path or the name of the kept document
    dropped: list[tuple[str, str]] = field(default_factory=list)
    irrecoverable: set[str] = field(default_factory=set)  # the names of those dropped that an undo cannot restore
    dropped_fileless_count: int = 0  # number of dropped documents that have no file
    earlier_dropped_count: int = 0  # number of documents that an earlier run of the same plan dropped
    left_alone: list[LeftAlone] = field(default_factory=list)
    refused_groups: dict[int, str] = field(default_factory=dict)  # for each group that was left unchanged, the reason
    removed_count: int = 0  # number of documents that were removed from the store because their files were dropped
    # for each document that is still in the store although its file was dropped: its key and the reason
    not_removed: Mapping[DocumentKey, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FileState:
    """The state of a file."""

    size: int  # size in bytes
    mtime_ns: int  # modification time in nanoseconds
    hash: str  # BLAKE2b hash of the bytes, in hexadecimal

    def __str__(self) -> str:
        return f"file:{self.size}:{self.mtime_ns}:{self.hash}"


@dataclass(frozen=True, slots=True)
class DocumentState:
    """The state of a document without a file: `DocumentHashes.content`."""

    hash: str

    def __str__(self) -> str:
        return f"document:{self.hash}"


State = FileState | DocumentState


@dataclass(frozen=True, slots=True)
class PlanRow:
    """One document of a group."""

    action: Action  # what to do with the document
    group: int  # group number, from 1
    key: DocumentKey  # key of the document in the store
    path: str | None  # absolute path of the document's file; None if it has no file
    kept_name: str  # `name` of the document that is kept instead; empty for the kept document of the group
    # state of the document when the plan was written; None if it is unknown; then the document must not be changed
    state: State | None
    overlap: str = ""  # overlap with the kept document in percent, for information only
    kind: str = ""  # what the document has in common with the kept one, for information only
    modified_on: str = ""  # modification date of the file, for information only
    note: str = ""  # why the action is proposed, for information only
    problem: str = ""  # why the document cannot be dropped; a plan file has it only as a part of `note`

    @property
    def name(self) -> str:
        """The path of the file; for a document without a file, `INDEX/ID` or the id."""
        return self.path or self.key.qualified_id

    def missing_state_error(self) -> LeftAloneError:
        """Return the error for a row without a state."""
        if IN_ARCHIVE in self.note:
            return LeftAloneError(IN_ARCHIVE)
        note = f" ({self.note})" if self.note else ""
        return LeftAloneError(
            "changes to the document cannot be detected, because this row of the plan has no value in the column "
            f"`state`{note}",
            needs_new_plan=True,
        )
