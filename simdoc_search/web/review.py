"""Keeps the groups of duplicates and the user's decisions about them, and makes the rows of the plan."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, starmap
from threading import Lock
from typing import NamedTuple

from simdoc_search.display import format_bytes
from simdoc_search.documents import DocumentKey
from simdoc_search.duplicates import Duplicate, Duplicates, Group, GroupedDocument
from simdoc_search.duplicates.plan.creation import plan_rows
from simdoc_search.duplicates.plan.rows import Action, LeftAlone, PlanRow
from simdoc_search.errors import QuerySyntaxError
from simdoc_search.stores.base import Store

ROW_FIELD_PREFIX = "row-"
_PROPOSED_KEPT_SUFFIX = "kept"
"""If the user keeps another document, `row-GROUP-kept` is the form field of the document that was to be kept."""


@dataclass(frozen=True, slots=True)
class Member:
    """A document of a group that is not the kept one."""

    form_field: str  # the name of its form field, `row-GROUP-MEMBER`
    document: Duplicate
    action: Action  # the action that the user chose, or the proposed one
    index: int | None  # in `Group.duplicates` of the search; None for the document that was proposed as the kept one


class ReviewedGroup(NamedTuple):
    """A group with the decisions of the user."""

    group_index: int
    kept: GroupedDocument  # the proposed document, or the one that the user chose
    members: tuple[Member, ...]  # the other documents


@dataclass(slots=True)
class DuplicatesReview:
    """Groups of duplicates and the user's decisions. Both are kept only in memory."""

    duplicates: Duplicates
    options: Mapping[str, str]  # of the search: `overlap` in percent, `keep` and `measure`
    omissions: Sequence[str] = ()  # sentences about what was not compared
    decisions: dict[DocumentKey, Action] = field(default_factory=dict)  # instead of the proposed actions
    kept_instead: dict[int, int] = field(default_factory=dict)  # maps the index of a group to that of the duplicate
    keeps_undecided: bool = False  # whether documents without a decision are kept
    # the documents in `decisions`
    _decided_members: dict[DocumentKey, Member] = field(default_factory=dict)
    _known_groups: list[Group] = field(default_factory=list)
    _remaining_groups: Iterator[Group] | None = None
    # the groups in which another document is kept, by the index of the group and of that document
    _changed_groups: dict[tuple[int, int], Group] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def groups(self, start: int, count: int) -> list[Group]:
        """Return up to `count` groups, from index `start` on. Each group is computed only once."""
        if start >= self.duplicates.group_count:
            return []
        with self._lock:
            self._remaining_groups = self._remaining_groups or self.duplicates.groups()
            self._known_groups += islice(self._remaining_groups, max(0, start + count - len(self._known_groups)))
            return self._known_groups[start : start + count]

    def reviewed_groups(self, start: int, count: int) -> list[ReviewedGroup]:
        """Return up to `count` groups with the decisions, from index `start` on."""
        return [self._review(group_index, group) for group_index, group in enumerate(self.groups(start, count), start)]

    def dropped_documents(self, max_count: int) -> list[ReviewedGroup]:
        """Return up to `max_count` documents that the plan drops, by group."""
        groups: list[ReviewedGroup] = []
        for group_index in range(self.duplicates.group_count if max_count else 0):
            [group] = self.reviewed_groups(group_index, 1)
            members = tuple(member for member in group.members if member.action == "drop")[:max_count]
            max_count -= len(members)
            if members:
                groups.append(group._replace(members=members))
            if not max_count:
                break
        return groups

    def _review(self, group_index: int, group: Group) -> ReviewedGroup:
        indices: list[int | None] = list(range(len(group.duplicates)))
        if (chosen_index := self.kept_instead.get(group_index)) is not None:
            indices = [None, *indices[:chosen_index], *indices[chosen_index + 1 :]]
        current = self._with_chosen_document(group_index, group)
        members = (
            Member(
                f"{ROW_FIELD_PREFIX}{group_index}-{_PROPOSED_KEPT_SUFFIX if index is None else index}",
                duplicate,
                self.action(duplicate.key, duplicate.action),
                index,
            )
            for index, duplicate in zip(indices, current.duplicates, strict=True)
        )
        return ReviewedGroup(group_index, current.kept, tuple(members))

    def _with_chosen_document(self, group_index: int, group: Group) -> Group:
        """Return a group of the search, in which the document that the user chose is kept."""
        chosen_index = self.kept_instead.get(group_index)
        if chosen_index is None:
            return group
        key = group_index, chosen_index
        if key not in self._changed_groups:
            self._changed_groups[key] = self.duplicates.keep_instead(group, chosen_index)
        return self._changed_groups[key]

    def action(self, key: DocumentKey, proposed: Action) -> Action:
        """Return the action that the user chose for a document, or the proposed action."""
        default: Action = "keep" if self.keeps_undecided and proposed == "decide" else proposed
        return self.decisions.get(key, default)

    def find_member(self, name: str) -> Member:
        """Return the document to which the form field `row-GROUP-MEMBER` refers."""
        numbers = name.removeprefix(ROW_FIELD_PREFIX).split("-")
        if (
            len(numbers) == 2
            and _is_index(numbers[0])
            and (numbers[1] == _PROPOSED_KEPT_SUFFIX or _is_index(numbers[1]))
        ):
            for group in self.reviewed_groups(int(numbers[0]), 1):
                index = None if numbers[1] == _PROPOSED_KEPT_SUFFIX else int(numbers[1])
                for member in group.members:
                    if member.index == index:
                        return member
        raise QuerySyntaxError(f"there is no row {name[:40]!r}; reload the page")

    def save_decision(self, member: Member, action: Action) -> None:
        """Save the user's decision about a document. A document in an archive or e-mail cannot be removed."""
        key = member.document.key
        if action == "drop" and member.document.archive is not None:
            return
        self.decisions.pop(key, None)
        if action != self.action(key, member.document.action):
            self.decisions[key], self._decided_members[key] = action, member

    def keep_instead(self, name: str) -> int:
        """Keep the document of a form field `row-GROUP-MEMBER` instead of the kept one. Return the index of its group.

        Decisions about this document, about the one that was kept before, and about the proposed one are discarded.
        """
        member = self.find_member(name)
        group_index = int(name.removeprefix(ROW_FIELD_PREFIX).partition("-")[0])
        [group], [reviewed] = self.groups(group_index, 1), self.reviewed_groups(group_index, 1)
        for key in (member.document.key, reviewed.kept.key, group.kept.key):
            self.decisions.pop(key, None)
        if member.index is None:
            del self.kept_instead[group_index]
        else:
            self.kept_instead[group_index] = member.index
        for changed in self.reviewed_groups(group_index, 1)[0].members:  # other actions may be proposed now
            if action := self.decisions.get(changed.document.key):
                self.save_decision(changed, action)
        return group_index

    def drop_only_identical_copies(self) -> None:
        """Remove all identical copies, and keep all other documents. Earlier actions are discarded."""
        self.decisions.clear()
        self.keeps_undecided = True

    def reset(self) -> None:
        """Discard all decisions."""
        self.decisions.clear()
        self.kept_instead.clear()
        self.keeps_undecided = False

    @property
    def has_decisions(self) -> bool:
        """Whether the plan differs from the proposed one."""
        return bool(self.decisions or self.kept_instead or self.keeps_undecided)

    def count_actions(self) -> dict[Action, int]:
        """Return how many members the plan keeps, drops and leaves undecided. `ReviewedGroup.kept` is not counted."""
        drops, total = self.duplicates.drop_count, self.duplicates.duplicate_count
        counts: dict[Action, int] = {"keep": 0, "drop": drops, "decide": total - drops}
        for group_index in self.kept_instead:
            [group] = self.groups(group_index, 1)
            for duplicate in group.duplicates:
                counts[duplicate.action] -= 1
            for duplicate in self._with_chosen_document(group_index, group).duplicates:
                counts[duplicate.action] += 1
        if self.keeps_undecided:
            counts = {"keep": counts["decide"], "drop": counts["drop"], "decide": 0}
        for key, action in self.decisions.items():
            proposed = self._decided_members[key].document.action
            counts["keep" if self.keeps_undecided and proposed == "decide" else proposed] -= 1
            counts[action] += 1
        return counts

    def count_freed_bytes(self) -> int:
        """Return how many bytes are freed by deleting the documents that the plan drops."""
        actions: dict[int, Action] = {}
        for group_index in self.kept_instead:
            group = self._with_chosen_document(group_index, *self.groups(group_index, 1))
            actions[group.kept.number] = "keep"
            actions |= {duplicate.number: duplicate.action for duplicate in group.duplicates}
        actions |= {self._decided_members[key].document.number: action for key, action in self.decisions.items()}
        return self.duplicates.count_freed_bytes(actions) if actions else self.duplicates.freed_bytes

    def find_left_alone(self, rows: Iterable[PlanRow]) -> list[LeftAlone]:
        """Return the documents that the user wants to drop, although their rows do not: their files have changed."""
        with_problem = [row for row in rows if row.problem and row.action != "drop"]
        drop_count = self.count_actions()["drop"] if with_problem else 0
        planned = {member.document.key for group in self.dropped_documents(drop_count) for member in group.members}
        return [LeftAlone(row.name, row.problem, needs_new_plan=True) for row in with_problem if row.key in planned]

    def describe_plan(self) -> str:
        """Return how many members the plan drops, leaves undecided and keeps, and the bytes that it frees."""
        counts, freed = self.count_actions(), self.count_freed_bytes()
        parts = [f"{counts['drop']:,} to remove", f"{counts['decide']:,} undecided"]
        if counts["keep"]:
            parts.append(f"{counts['keep']:,} to keep")
        if freed:
            parts.append(f"{format_bytes(freed)} to free")
        return ", ".join(parts)

    @property
    def plan_name(self) -> str:
        """The file name of the plan. Plans with different decisions have different names."""
        decisions = sorted((repr(key), action) for key, action in self.decisions.items())
        state = repr((id(self.duplicates), decisions, sorted(self.kept_instead.items()), self.keeps_undecided))
        return f"duplicates-{hashlib.blake2b(state.encode('utf-8', 'replace'), digest_size=3).hexdigest()}.tsv"

    def plan_rows(self, store: Store, progress: Callable[[float], None] = lambda _: None) -> Iterator[PlanRow]:
        """Yield the rows of the plan with the user's decisions. The files are read.

        A row without a state is not dropped, because its file has changed.
        """
        groups = starmap(self._with_chosen_document, enumerate(self.duplicates.groups()))
        for row in plan_rows(groups, self.duplicates, store, progress):
            action = self.action(row.key, row.action)
            is_final = not row.kept_name or (action == "drop" and row.state is None)
            yield row if is_final else replace(row, action=action)


def _is_index(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10
