"""Which documents a round is about, as queries."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from simdoc_search.attach.backfill.targets import Target
from simdoc_search.attach.backfill.task import Task
from simdoc_search.sketch.kinds import names_of_kinds
from simdoc_search.stores.remote.queries import of_format, without_kinds

__all__ = [
    "all_chosen",
    "changed_since",
    "in_order_of_change",
    "of_another_format",
    "of_changes",
    "of_this_format",
    "to_do",
]

Query = dict[str, Any]


def all_chosen(target: Target, task: Task, filters: list[Query] | None = None, **clauses: list[Query]) -> Query:
    """What the task and the alias choose, and these clauses."""
    chosen = [*target.chosen, *([task.query] if task.query else []), *(filters or [])]
    return {"bool": {"filter": chosen, **clauses}}


def to_do(target: Target, task: Task, must_not: list[Query] | None = None) -> Query:
    """Documents without a fingerprint, or without tokens of a kind that there are to be, and that these do not find."""
    left_out = must_not or []
    if not names_of_kinds(target.settings):
        return all_chosen(target, task, must_not=[_with_a_format(task), *left_out])
    return all_chosen(target, task, [_lacking(target, task)], must_not=left_out)


def of_another_format(target: Target, task: Task) -> Query:
    """Documents without a fingerprint of these settings."""
    return all_chosen(target, task, must_not=[_of_format(target, task)])


def of_this_format(target: Target, task: Task) -> Query:
    """Documents with a fingerprint of these settings, whatever their text is now."""
    return all_chosen(target, task, [_of_format(target, task)])


def of_changes(target: Target, task: Task, first: int, last: int) -> Query:
    """The same, whose last change has one of these numbers."""
    return all_chosen(target, task, [_of_format(target, task), {"range": {"_seq_no": {"gte": first, "lte": last}}}])


def in_order_of_change(target: Target, task: Task, first: int, last: int, parts: int) -> Iterator[Query]:
    """The same in so many parts."""
    ends = [first + (last + 1 - first) * number // parts for number in range(parts + 1)] if parts else []
    for start, end in pairwise(ends):
        yield of_changes(target, task, start, end - 1)


def changed_since(target: Target, task: Task, field: str, value: Any) -> Query:
    """Documents without a fingerprint, and those with this value or a greater one; None: no document has a value."""
    changed: list[Query] = [] if value is None else [{"range": {field: {"gte": value}}}]
    return all_chosen(target, task, [_lacking(target, task, *changed)])


def _lacking(target: Target, task: Task, *others: Query) -> Query:
    """Documents that have no fingerprint, or lack tokens of a kind; and these others."""
    names = names_of_kinds(target.settings)
    without = [without_kinds(target.settings, task.field, *names)] if names else []
    either = [{"bool": {"must_not": [_with_a_format(task)]}}, *without, *others]
    return {"bool": {"should": either, "minimum_should_match": 1}}


def _with_a_format(task: Task) -> Query:
    return {"exists": {"field": f"{task.field}.format"}}


def _of_format(target: Target, task: Task) -> Query:
    return of_format(target.settings, task.field)
