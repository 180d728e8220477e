"""Decides the kind of each duplicate, and the action that a plan proposes for it.

All output (terminal, JSON, HTML page, browser and plan) shows these verdicts. The action `decide` leaves the choice
to the user.

| Kind | What is equal | Proposed action |
|---|---|---|
| `identical` | the bytes; for documents without files, the text and the metadata | drop |
| `hard link` | the file, which has another name in the group | drop if the other name is dropped, else decide |
| `same text` | the text, but not the bytes | decide |
| `same words` | the words in their order; letter case, punctuation or spaces differ | decide |
| `near` | at least the chosen overlap | decide |
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, get_args

from simdoc_search.corpus.formats import describe_content_beyond_text, determine_format
from simdoc_search.corpus.member_names import find_archive
from simdoc_search.corpus.text_filters import FRONT_MATTER, QUOTED_REPLIES
from simdoc_search.duplicates.contents import Contents
from simdoc_search.duplicates.document_arrays import Documents
from simdoc_search.duplicates.plan.files import count_freed_bytes
from simdoc_search.duplicates.plan.rows import IN_ARCHIVE, Action, describe_kept_problem
from simdoc_search.errors import QuerySyntaxError

DuplicateKind = Literal["identical", "hard link", "same text", "same words", "near"]
DUPLICATE_KINDS: tuple[DuplicateKind, ...] = get_args(DuplicateKind)

DropScope = Literal["same-text", "same-words"]
"""Which duplicates a plan drops besides files with equal bytes. `same-words` includes `same-text`."""

DROP_SCOPES: tuple[DropScope, ...] = get_args(DropScope)

ATTACHMENTS_DIFFER = "the attachments differ or cannot be read"
"""The reason why an e-mail with the same text is not dropped."""

SAME_FILE = "through a symbolic link to a folder; deleting it deletes the file"
"""The reason why no plan drops a document whose file is also another document."""

_DROPPED_KINDS: Mapping[DropScope | None, tuple[DuplicateKind, ...]] = {
    None: ("identical",),
    "same-text": ("identical", "same text"),
    "same-words": ("identical", "same text", "same words"),
}


def check_drop_scope(drop_scope: DropScope | None) -> None:
    """Raise `QuerySyntaxError` if a drop scope is not valid."""
    if drop_scope not in _DROPPED_KINDS:
        raise QuerySyntaxError(f"drop must be one of {', '.join(DROP_SCOPES)}, not {drop_scope!r:.60}")


@dataclass(frozen=True, slots=True)
class Verdict:
    """The kind of a duplicate, and the action that a plan proposes for it."""

    kind: DuplicateKind  # what the duplicate has in common with `duplicate_of`
    action: Action  # the proposed action
    duplicate_of: int  # index of the document to keep instead
    link_of: int | None = None  # index of another document with the same file; None if there is none
    problem: str = ""  # why no plan drops the duplicate, or why its bytes were not compared


class Verdicts:
    """The verdicts on all duplicates.

    The duplicates in `groups` are in the order of preference. `drop_scope` says which kinds a plan drops besides
    identical documents. `text_problems` is the result of `find_text_problems`. `excluded_parts` are the parts of files
    that are not in their texts.

    Attributes:
        kind_counts: number of duplicates of each kind.
        drop_count: number of duplicates that a plan would drop.
        freed_bytes: bytes freed by deleting the duplicates that a plan would drop.
    """

    def __init__(
        self,
        documents: Documents,
        groups: Mapping[int, list[int]],
        contents: Contents,
        drop_scope: DropScope | None = None,
        text_problems: Mapping[int, str] = MappingProxyType({}),
        *,
        excluded_parts: Collection[str] = (),
    ) -> None:
        self._documents, self._contents, self._dropped_kinds = documents, contents, _DROPPED_KINDS[drop_scope]
        self._text_problems, self._excluded_parts = text_problems, excluded_parts
        self._verdicts: dict[int, Verdict] = {}
        for kept, duplicates in groups.items():
            self._verdicts |= self.decide_group(kept, duplicates)
        self.kind_counts: Counter[DuplicateKind] = Counter(verdict.kind for verdict in self._verdicts.values())
        actions = self._actions()
        self.drop_count: int = sum(action == "drop" for action in actions.values())
        self._freed_bytes_by = self.freed_bytes_by_document(actions)
        self.freed_bytes: int = sum(self._freed_bytes_by.values())

    def __getitem__(self, number: int) -> Verdict:
        """Return the verdict on a duplicate."""
        return self._verdicts[number]

    def bytes_freed_by(self, number: int) -> int:
        """Return the number of bytes that a document contributes to the space freed by the whole plan.

        Hard links to one file are counted once.
        """
        return self._freed_bytes_by.get(number, 0)

    def count_freed_bytes(self, actions: Mapping[int, Action]) -> int:
        """Return the number of bytes that the plan frees if some documents have these actions instead."""
        return sum(self.freed_bytes_by_document({**self._actions(), **actions}).values())

    def _actions(self) -> dict[int, Action]:
        return {number: verdict.action for number, verdict in self._verdicts.items()}

    def freed_bytes_by_document(self, actions: Mapping[int, Action]) -> dict[int, int]:
        """Return how many bytes each document frees if documents have these actions. Omit those that free nothing."""
        files = self._contents.files
        dropped = (number for number, action in actions.items() if action == "drop" and number in files)
        return count_freed_bytes({number: files[number] for number in dropped})

    def has_other_links(self, number: int) -> bool:
        """Return whether the file of a document has other hard links, so that deleting it may free nothing."""
        file = self._contents.files.get(number)
        return file is not None and file.link_count > 1

    def classify_pair(self, a: int, b: int) -> DuplicateKind:
        """Return the duplicate kind of a pair of documents that overlap enough."""
        contents, documents = self._contents, self._documents
        file, other = contents.files.get(a), contents.files.get(b)
        if file and other and file.inode == other.inode:
            return "hard link"
        if contents.labels[a] == contents.labels[b]:
            return "identical"
        if documents.text_labels[a] == documents.text_labels[b]:
            return "same text"
        return "same words" if documents.same_words_labels[a] == documents.same_words_labels[b] else "near"

    def decide_group(self, kept: int, duplicates: Sequence[int]) -> dict[int, Verdict]:
        """Return the verdicts on the duplicates of a group, in order of preference, if `kept` is kept."""
        verdicts: dict[int, Verdict] = {}
        labels, files = self._contents.labels, self._contents.files
        problems = {number: self._find_problem(number) for number in (kept, *duplicates)}
        first_with_content = {} if problems[kept] else {int(labels[kept]): kept}
        first_with_inode = {files[kept].inode: kept} if kept in files else {}
        # A file that can be kept comes before those that cannot, so that its copies are copies of this file.
        for number in sorted(duplicates, key=lambda number: bool(problems[number])):
            link_of = first_with_inode.setdefault(files[number].inode, number) if number in files else number
            first = first_with_content.setdefault(int(labels[number]), number)
            if link_of != number:
                verdicts[number] = self._decide_link(number, link_of, verdicts.get(link_of))
                continue
            duplicate_of = kept if first == number else _resolve_kept(first, verdicts)
            kind = self.classify_pair(duplicate_of, number)
            problem = problems[number] or describe_kept_problem(problems[duplicate_of])
            if kind in ("same text", "same words"):
                if not self._contents.have_equal_attachments(number, duplicate_of):
                    problem = problem or ATTACHMENTS_DIFFER
                problem = problem or self._describe_excluded_part(number) or self._describe_excluded_part(duplicate_of)
            if kind == "same words":
                # If the user keeps another document, the pair is the other way round.
                problem = problem or self._text_problems.get(number) or self._text_problems.get(duplicate_of, "")
            action: Action = "drop" if kind in self._dropped_kinds and not problem else "decide"
            verdicts[number] = Verdict(kind, action, duplicate_of, problem=problem)
        return verdicts

    def _decide_link(self, number: int, link_of: int, other: Verdict | None) -> Verdict:
        """Return the verdict on a hard link to the file of `link_of`, which is dropped only if `link_of` is dropped.

        `other` is the verdict on `link_of`; None if it is the kept document.
        """
        file = self._contents.files[number]
        paths = self._documents.path(number), self._documents.path(link_of)
        if len({os.path.realpath(path) for path in paths if path is not None}) == 1:
            return Verdict("hard link", "decide", link_of, link_of, SAME_FILE)
        if other and other.action == "drop" and file.link_count > 1:
            return Verdict("hard link", "drop", other.duplicate_of, link_of)
        return Verdict("hard link", "decide", link_of, link_of)

    def _describe_excluded_part(self, number: int) -> str:
        """Say which part of a file the index leaves out, so that files with the same text may differ in it."""
        format = determine_format(self._documents.path(number) or "")
        if FRONT_MATTER in self._excluded_parts and format.kind == "markdown":
            return "the front matter, which the index leaves out, may differ"
        if QUOTED_REPLIES in self._excluded_parts and format.is_mail:
            return "the quoted replies, which the index leaves out, may differ"
        return ""

    def _find_problem(self, number: int) -> str:
        path = self._documents.path(number)
        in_archive = path is not None and self._documents.file_sizes[number] < 0 and find_archive(path)
        return IN_ARCHIVE if in_archive else self._contents.problems.get(number, "")


def _resolve_kept(number: int, verdicts: Mapping[int, Verdict]) -> int:
    """Return the document, or the document that is kept instead if this one is dropped."""
    verdict = verdicts.get(number)
    return verdict.duplicate_of if verdict and verdict.action == "drop" else number


def reason_for(
    verdict: Verdict,
    *,
    overlap: str,
    differences: str,
    reference_id: str,
    paths: tuple[str | None, str | None],
    frees_bytes: bool,
) -> str:
    """Return a short reason for the action that a plan proposes.

    `overlap` is formatted for display. `differences` describes how the texts differ, and is empty if it is unknown.
    `reference_id` is the id of the document to keep instead, or of the other hard link. It is empty if that document is
    the kept document of the group. `paths` are the paths of the duplicate and of the document to keep.
    """
    match verdict.kind:
        case "identical":
            to_other = f" to {reference_id}" if reference_id else ""
            frees_nothing = verdict.action == "drop" and not frees_bytes
            why = (
                "; deleting the file frees no space, because other hard links to the file remain"
                if frees_nothing
                else ""
            )
            reason = f"identical{to_other}{why}"
        case "hard link":
            if verdict.problem:
                return f"the same file as {reference_id}, {verdict.problem}"
            return f"hard link to {reference_id}; deleting the link frees no space"
        case "same text":
            reason = "same text" if verdict.problem else f"same text, different {_describe_other_content(paths)}"
        case "same words":
            reason = f"same words; {differences or 'letter case, punctuation and symbols were not compared'}"
        case "near":
            reason = f"overlap {overlap}; {differences}" if differences else f"overlap {overlap}"
    return f"{reason}; {verdict.problem}" if verdict.problem else reason


def _describe_other_content(paths: tuple[str | None, str | None]) -> str:
    """Say what may differ between two documents with the same text."""
    if paths[0] is None:
        return "metadata"
    return f"bytes ({describe_content_beyond_text(*paths)} may differ)"
