"""Which documents a round is about, as queries."""

from __future__ import annotations

from typing import Any

from simdoc_search.attach.backfill.targets import Target
from simdoc_search.attach.backfill.task import Task
from simdoc_search.sketch.kinds import names_of_kinds
from simdoc_search.stores.remote.queries import complete_query, lacking_kinds_query

Query = dict[str, Any]


def all_chosen(target: Target, task: Task, filters: list[Query] | None = None, **clauses: list[Query]) -> Query:
    """What the task and the alias choose, and these clauses."""
    chosen = [*target.chosen, *([task.query] if task.query else []), *(filters or [])]
    return {"bool": {"filter": chosen, **clauses}}


def to_do(target: Target, task: Task, must_not: list[Query] | None = None) -> Query:
    """Documents that lack something, and that these do not find; where an index tells it, those that have a text.

    Fingerprints of documents that have no text any more are found too, where it tells it.
    """
    return all_chosen(target, task, [_lacking(target, task)], must_not=must_not or [])


def doubtful(target: Target, task: Task) -> Query:
    """Documents of which no query tells whether all is right, so that the text is compared.

    They have a fingerprint of these settings. Without `stale` they are those alone that have the mark of a text without
    words: older versions gave it also to documents without a text, which have got one since.
    """
    if task.stale:
        return all_chosen(target, task, [_of_format(target, task)])
    return all_chosen(target, task, [_exists(task, "format")], must_not=[_exists(task, "tokens")])


def changed_since(target: Target, task: Task, field: str, value: Any) -> Query:
    """Documents with a fingerprint, and with this value or a greater one."""
    return all_chosen(target, task, [_exists(task, "format"), {"range": {field: {"gte": value}}}])


def both(*clauses: Query) -> Query:
    """What all of these find."""
    return {"bool": {"filter": [*clauses]}}


def _lacking(target: Target, task: Task) -> Query:
    lacking = _not(_of_format(target, task)) if task.stale else _incomplete(target, task)
    if target.has_text is None:
        return lacking
    ours = _either(_exists(task, "format"), _exists(task, "tokens"))
    return _either(
        {"bool": {"filter": [lacking, target.has_text]}},
        {"bool": {"filter": [ours], "must_not": [target.has_text]}},
    )


def _incomplete(target: Target, task: Task) -> Query:
    """Documents without a fingerprint, or that lack tokens of a kind."""
    names = names_of_kinds(target.settings)
    without = [lacking_kinds_query(target.settings, task.field, *names)] if names else []
    return _either(_not(_exists(task, "format")), *without)


def _either(*clauses: Query) -> Query:
    return clauses[0] if len(clauses) == 1 else {"bool": {"should": [*clauses], "minimum_should_match": 1}}


def _not(clause: Query) -> Query:
    return {"bool": {"must_not": [clause]}}


def _exists(task: Task, name: str) -> Query:
    return {"exists": {"field": f"{task.field}.{name}"}}


def _of_format(target: Target, task: Task) -> Query:
    return complete_query(target.settings, task.field)
