"""The whole collection: its families of versions, and its topics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from simdoc_search.as_json import families_as_json, topics_as_json
from simdoc_search.errors import QuerySyntaxError
from simdoc_search.groups import Families
from simdoc_search.web.background_jobs import Finding, FoundTopics
from simdoc_search.web.request import Asked
from simdoc_search.web.response import Answer, Moved
from simdoc_search.web.versions import check_has_concepts, limits_of

_GROUPS, _MOST_GROUPS, _MEMBERS = 10, 100, 50

Result = TypeVar("Result")
Shown = tuple[int, dict[str, Any], dict[str, Any]]
"""How many groups there are, what the page shows, and the answer for a program."""


def families(asked: Asked) -> Answer:
    """What is being done, or what was found: some of the families of versions."""
    return _answer(asked, asked.collection.families, _families)


def topics(asked: Asked) -> Answer:
    """The same of topics."""
    check_has_concepts(asked)
    return _answer(asked, asked.collection.topics, _topics)


def find_families(asked: Asked) -> Moved:
    """Look for the families of versions of all documents."""
    search = asked.collection.search()
    options: dict[str, Any] = {"filters": asked.filters(), **limits_of(asked)}
    return _start(asked.collection.families, lambda update: search.version_families(**options, progress=update),
                  "/families")  # fmt: skip


def find_topics(asked: Asked) -> Moved:
    """Group all documents by topic."""
    check_has_concepts(asked)
    search = asked.collection.search()
    options: dict[str, Any] = {"filters": asked.filters(), **limits_of(asked)}
    return _start(asked.collection.topics, lambda update: FoundTopics(search.topics(**options, progress=update)),
                  "/topics")  # fmt: skip


def stop_families(asked: Asked) -> Moved:
    """End the search that is running."""
    asked.collection.families.stop()
    return Moved("/families", {"state": "stopping"})


def stop_topics(asked: Asked) -> Moved:
    """End the search that is running."""
    asked.collection.topics.stop()
    return Moved("/topics", {"state": "stopping"})


def _start(finding: Finding[Result], find: Callable[[Callable[[str, float], None]], Result], path: str) -> Moved:
    if not finding.start(find):
        raise QuerySyntaxError("such a search is running; wait until it ends, or stop it")
    return Moved(path, {"state": "running", "stage": "reading", "share": 0.0})


def _answer(asked: Asked, finding: Finding[Result], shown: Callable[[Asked, Result, int, int], Shown]) -> Answer:
    state, found = finding.state, finding.found
    problem = asked.collection.shown(finding.problem)
    values = {"stage": "", "share": 0.0, "found": None, "problem": problem, "members": _MEMBERS}
    if state is not None:
        values |= {"stage": state[0], "share": state[1]}
        said = {"state": "running", "stage": state[0], "share": state[1]}
        return Answer("groups.html", values, said, status=202 if asked.wants_json else 200, refresh=2)
    if found is None or problem:
        return Answer("groups.html", values, {"state": "none", "problem": problem or None})
    start = asked.number("start", 0, 0, 10**9)
    count = asked.number("limit", _GROUPS, 1, _MOST_GROUPS)
    total, of_page, answered = shown(asked, found, count, start)
    after = start + count if start + count < total else None
    before = max(start - count, 0) if start else None
    values |= {**of_page, "start": start, "limit": count, "before": before, "after": after}
    return Answer("groups.html", values, {"state": "done", **answered, "next": after})


def _families(asked: Asked, found: Families, count: int, start: int) -> Shown:
    """Git is not asked when files were committed: a request starts no other program."""
    search = asked.collection.search()
    shown = [search.ordered(each, version_control=False) for each in found.families(count, start)]
    return found.family_count, {"found": found, "groups": shown}, families_as_json(found, shown)


def _topics(asked: Asked, found: FoundTopics, count: int, start: int) -> Shown:
    search = asked.collection.search()
    shown = []
    for each in found.topics.topics(count, start):
        if each.centre not in found.names:
            found.names[each.centre] = search.named(each)
        shown.append((each, found.names[each.centre]))
    return found.topics.topic_count, {"found": found.topics, "groups": shown}, topics_as_json(found.topics, shown)
