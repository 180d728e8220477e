"""The pages of the search for duplicates, and the plan with the user's decisions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from threading import Lock
from typing import Any

from simdoc_search.as_json import duplicates_omissions_as_json, duplicates_summary_as_json, group_as_json
from simdoc_search.documents import DocumentKey
from simdoc_search.duplicates import Duplicate, Duplicates, Group
from simdoc_search.duplicates.plan.creation import plan_rows
from simdoc_search.duplicates.plan.rows import ACTIONS, Action, PlanRow
from simdoc_search.duplicates.plan.table import table_lines
from simdoc_search.errors import QuerySyntaxError
from simdoc_search.web.request import PageRequest
from simdoc_search.web.response import Download, Page, Redirect, url_for

_DEFAULT_GROUPS, _MAX_MEMBERS = 20, 100
_KEEP_RULES = ("longest", "first", "newest", "oldest")
_ROW_FIELD_PREFIX = "row-"


@dataclass(slots=True)
class DuplicatesReview:
    """Groups of duplicates and the user's decisions. Both are kept only in memory.

    Attributes:
        duplicates: The groups.
        options: The options of the search: `overlap` in percent, `keep` and `measure`.
        decisions: The actions that the user chose instead of the proposed ones.
    """

    duplicates: Duplicates
    options: Mapping[str, str]
    decisions: dict[DocumentKey, Action] = field(default_factory=dict)
    _known_groups: list[Group] = field(default_factory=list)
    _remaining_groups: Iterator[Group] | None = None
    _lock: Lock = field(default_factory=Lock)

    def groups(self, start: int, count: int) -> list[Group]:
        """Return up to `count` groups, from index `start` on. Each group is computed only once."""
        if start >= self.duplicates.group_count:
            return []
        with self._lock:
            self._remaining_groups = self._remaining_groups or self.duplicates.groups()
            self._known_groups += islice(self._remaining_groups, max(0, start + count - len(self._known_groups)))
            return self._known_groups[start : start + count]

    def action(self, duplicate: Duplicate) -> Action:
        """Return the action that the user chose for a duplicate, or the proposed action."""
        return self.decisions.get(duplicate.key, duplicate.action)

    def find_duplicate(self, name: str) -> Duplicate:
        """Return the duplicate to which the form field `row-GROUP-MEMBER` refers.

        Raises:
            QuerySyntaxError: There is no such duplicate.
        """
        numbers = name.removeprefix(_ROW_FIELD_PREFIX).split("-")
        if len(numbers) == 2 and all(number.isascii() and number.isdigit() and len(number) < 10 for number in numbers):
            group_number, member = map(int, numbers)
            for group in self.groups(group_number, 1):
                if member < len(group.duplicates):
                    return group.duplicates[member]
        raise QuerySyntaxError(f"there is no row {name[:40]!r}; reload the page")


def duplicates(request: PageRequest) -> Page:
    """Return the page that shows the progress of the search, or groups of duplicates."""

    def show_groups(review: DuplicatesReview, start: int, limit: int) -> tuple[int, dict[str, Any], dict[str, Any]]:
        groups = review.groups(start, limit)
        values = {"groups": groups, "max_members": _MAX_MEMBERS}
        return review.duplicates.group_count, values, _as_json(review, groups) if request.wants_json else {}

    page = request.served_store.duplicates.make_page(request, "duplicates.html", _DEFAULT_GROUPS, show_groups)
    return replace(page, values={**page.values, "keep_rules": _KEEP_RULES})


def _as_json(review: DuplicatesReview, groups: list[Group]) -> dict[str, Any]:
    """Return the JSON of the command `duplicates`, without pairs and without file paths."""
    groups_as_json = [group_as_json(group) for group in groups]
    for group_values in groups_as_json:
        for document in (group_values["kept"], *group_values["duplicates"]):
            document["path"] = None
    summary = duplicates_summary_as_json(review.duplicates, review.options["keep"])
    return {**summary, "groups": groups_as_json, **duplicates_omissions_as_json(review.duplicates)}


def start_duplicates(request: PageRequest) -> Redirect:
    """Start a search for duplicates."""
    search = request.served_store.search()
    overlap = request.percent("overlap")
    options: dict[str, Any] = {
        "measure": request.measure,
        "keep": request.value("keep") or "longest",
        "filters": request.filters(),
        "verify": not request.is_on("estimate"),
        **({} if overlap is None else {"overlap": overlap}),
    }
    form_values = {"keep": options["keep"], "measure": request.measure, "overlap": request.value("overlap") or "80"}
    return request.served_store.duplicates.start(
        lambda report: DuplicatesReview(search.duplicates(**options, progress=report), form_values)
    )


def stop_duplicates(request: PageRequest) -> Redirect:
    """Stop the running search."""
    return request.served_store.duplicates.stop()


def decide(request: PageRequest) -> Redirect:
    """Save the user's decisions. Each value `row-GROUP-MEMBER` is `keep`, `drop` or `decide`."""
    review = _require_review(request)
    chosen_actions = {
        name: (review.find_duplicate(name), _parse_action(request.value(name), name))
        for name in request.values
        if name.startswith(_ROW_FIELD_PREFIX)
    }
    for duplicate, action in chosen_actions.values():
        if action == duplicate.action:
            review.decisions.pop(duplicate.key, None)
        else:
            review.decisions[duplicate.key] = action
    if request.value("then") == "plan":
        next_page = "/duplicates/plan.tsv"
    else:
        next_page = url_for("/duplicates", start=request.value("start"), limit=request.value("limit"))
    return Redirect(next_page, {"decided": len(review.decisions)})


def plan(request: PageRequest) -> Download:
    """Return the plan of `duplicates --plan` with the user's decisions. It contains file paths."""
    review = _require_review(request)
    rows = plan_rows(review.duplicates, request.served_store.search().store)
    command = "simdoc-search apply plan.tsv --move-to DIR --dry-run"
    return Download("plan.tsv", table_lines(_apply_decisions(rows, review), command, review.duplicates.drop_scope))


def _apply_decisions(rows: Iterator[PlanRow], review: DuplicatesReview) -> Iterator[PlanRow]:
    """Yield the rows with the user's decisions. A row without a state is not dropped, because its file has changed."""
    for row in rows:
        action = review.decisions.get(row.key) if row.action != "keep" else None
        yield row if action is None or (action == "drop" and row.state is None) else replace(row, action=action)


def _require_review(request: PageRequest) -> DuplicatesReview:
    if (review := request.served_store.duplicates.result) is None:
        raise QuerySyntaxError("there is no result yet; start the search for duplicates and wait until it has finished")
    return review


def _parse_action(text: str, name: str) -> Action:
    for action in ACTIONS:
        if text == action:
            return action
    raise QuerySyntaxError(f"{name} must be keep, drop or decide, not {text[:40]!r}")
