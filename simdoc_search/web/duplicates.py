"""Which documents could go, and the plan that says so."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from simdoc_search.as_json import cluster_as_json, duplicates_head, duplicates_tail
from simdoc_search.duplicates import Duplicate
from simdoc_search.duplicates.plan.creation import plan_rows
from simdoc_search.duplicates.plan.rows import ACTIONS, Action, PlanRow
from simdoc_search.duplicates.plan.table import table_lines
from simdoc_search.errors import QuerySyntaxError
from simdoc_search.web.background_jobs import Found
from simdoc_search.web.request import Asked
from simdoc_search.web.response import Answer, Download, Moved, address

_GROUPS, _MOST_GROUPS, _MEMBERS = 20, 100, 100
_RULES = ("longest", "first", "newest", "oldest")
_ROW = "row-"


def duplicates(asked: Asked) -> Answer:
    """What is being done, or what was found: some of its groups."""
    finding = asked.collection.finding
    found, state = finding.found, finding.state
    if state is not None:
        values = {"stage": state[0], "share": state[1], "found": None, "rules": _RULES, "problem": ""}
        said = {"state": "running", "stage": state[0], "share": state[1]}
        return Answer("duplicates.html", values, said, status=202 if asked.wants_json else 200, refresh=2)
    problem = asked.collection.shown(finding.problem)
    if found is None or problem:
        values = {"stage": "", "share": 0.0, "found": None, "rules": _RULES, "problem": problem}
        return Answer("duplicates.html", values, {"state": "none", "problem": problem or None})
    start = asked.number("start", 0, 0, 10**9)
    count = asked.number("limit", _GROUPS, 1, _MOST_GROUPS)
    groups = found.groups(start, count)
    total = found.duplicates.group_count
    values = {
        "stage": "",
        "share": 0.0,
        "problem": "",
        "found": found,
        "groups": groups,
        "members": _MEMBERS,
        "start": start,
        "before": max(start - count, 0) if start else None,
        "after": start + count if start + count < total else None,
        "limit": count,
        "rules": _RULES,
        "action_of": partial(_action_of, found),
    }
    return Answer("duplicates.html", values, _as_json(found, asked, start, count))


def _as_json(found: Found, asked: Asked, start: int, count: int) -> dict[str, Any]:
    """As the command line says it, without pairs and paths of files."""
    head = duplicates_head(found.duplicates, found.asked["keep"])
    clusters = [cluster_as_json(each) for each in found.groups(start, count)] if asked.wants_json else []
    for each in clusters:
        for one in (each["kept"], *each["duplicates"]):
            one["path"] = None
    after = start + count if start + count < found.duplicates.group_count else None
    return {"state": "done", **head, "clusters": clusters, "next": after, **duplicates_tail(found.duplicates)}


def start(asked: Asked) -> Moved:
    """Look for duplicates among all documents."""
    search = asked.collection.search()
    overlap = asked.percent("overlap")
    options: dict[str, Any] = {
        "measure": asked.measure,
        "keep": asked.one("keep") or "longest",
        "filters": asked.filters(),
        "verify": not asked.is_on("estimate"),
        **({} if overlap is None else {"overlap": overlap}),
    }
    kept = {"keep": options["keep"], "measure": asked.measure, "overlap": asked.one("overlap") or "80"}
    if not asked.collection.finding.start(lambda update: Found(search.duplicates(**options, progress=update), kept)):
        raise QuerySyntaxError("a search for duplicates is running; wait for its end, or stop it")
    return Moved("/duplicates", {"state": "running", "stage": "reading", "share": 0.0})


def stop(asked: Asked) -> Moved:
    """End the search that is running."""
    asked.collection.finding.stop()
    return Moved("/duplicates", {"state": "stopping"})


def decide(asked: Asked) -> Moved:
    """Note what is to become of some documents: `row-GROUP-MEMBER` is keep, drop or decide."""
    found = _found(asked)
    decided = {}
    for name in asked.values:
        if name.startswith(_ROW):
            decided[_member(found, name)] = _action(asked.one(name), name)
    for each, action in decided.items():
        if action == each.action:
            found.decided.pop(each.place, None)
        else:
            found.decided[each.place] = action
    to = "/duplicates/plan.tsv" if asked.one("then") == "plan" else "/duplicates"
    values = {} if asked.one("then") == "plan" else {"start": asked.one("start"), "limit": asked.one("limit")}
    return Moved(address(to, **values), {"decided": len(found.decided)})


def plan(asked: Asked) -> Download:
    """The plan with what was decided, as `duplicates --plan` writes it; it names files by their paths."""
    found = _found(asked)
    rows = plan_rows(found.duplicates, asked.collection.search().store)
    command = "simdoc-search apply plan.tsv --move-to DIR --dry-run"
    return Download("plan.tsv", table_lines(_decided(rows, found), command, found.duplicates.drop))


def _decided(rows: Iterator[PlanRow], found: Found) -> Iterator[PlanRow]:
    """A row without a state is not to be dropped, whatever was decided: what it was is not known."""
    for row in rows:
        action = found.decided.get(row.place) if row.action != "keep" else None
        yield row if action is None or (action == "drop" and row.state is None) else replace(row, action=action)


def _found(asked: Asked) -> Found:
    if (found := asked.collection.finding.found) is None:
        raise QuerySyntaxError("nothing was looked for yet; start the search for duplicates first")
    return found


def _member(found: Found, name: str) -> Duplicate:
    numbers = name.removeprefix(_ROW).split("-")
    if len(numbers) == 2 and all(each.isascii() and each.isdigit() and len(each) < 10 for each in numbers):
        group, member = map(int, numbers)
        if group < found.duplicates.group_count:
            of = found.groups(group, 1)[0]
            if member < len(of.duplicates):
                return of.duplicates[member]
    raise QuerySyntaxError(f"{name[:40]!r} is no row of what was found; load the page again")


def _action(text: str, name: str) -> Action:
    for each in ACTIONS:
        if text == each:
            return each
    raise QuerySyntaxError(f"{name} must be keep, drop or decide, not {text[:40]!r}")


def _action_of(found: Found, each: Duplicate) -> Action:
    return found.decided.get(each.place) or each.action
