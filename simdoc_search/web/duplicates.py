"""The pages of the search for duplicates, and the plan with the user's decisions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from simdoc_search.as_json.duplicates import duplicates_omissions_as_json, duplicates_summary_as_json, group_as_json
from simdoc_search.display import format_count
from simdoc_search.documents import DocumentKey
from simdoc_search.duplicates import KEEP_RULES, Duplicates, GroupedDocument
from simdoc_search.duplicates.omissions import (
    describe_skipped_comparisons,
    describe_unlisted_documents,
    list_left_out_documents,
)
from simdoc_search.duplicates.plan import undo_path
from simdoc_search.duplicates.plan.rows import ACTIONS, Action
from simdoc_search.duplicates.plan.table import table_lines
from simdoc_search.errors import QuerySyntaxError
from simdoc_search.passages.summary import excerpt
from simdoc_search.search.columns import Columns, format_column_value
from simdoc_search.search.similarity_search import SimilaritySearch
from simdoc_search.web.background_job import Progress
from simdoc_search.web.request import PageRequest
from simdoc_search.web.response import Page, Redirect, TsvDownload, url_for
from simdoc_search.web.review import ROW_FIELD_PREFIX, DuplicatesReview, ReviewedGroup
from simdoc_search.web.skipped import list_skipped_files

_DEFAULT_GROUPS, _MAX_MEMBERS, _MAX_DROPPED_DOCUMENTS = 20, 100, 500
_MAX_LEFT_OUT_DOCUMENTS = 10
_MAX_EXCERPTS = 100
"""The maximum number of texts that a page reads for excerpts."""
_EXCERPT_WORDS = 24
_KINDS_WITH_OTHER_TEXT = ("near", "same words")


@dataclass(frozen=True, slots=True)
class DocumentFacts:
    """The facts about a document that help to decide which copy to keep."""

    date: str = ""  # when the document was written; empty if unknown
    excerpt: str = ""  # the beginning and the end of the text; empty if it is not read


def duplicates(request: PageRequest) -> Page:
    """Return the page that shows the progress of the search, or groups of duplicates."""

    def show_groups(review: DuplicatesReview, start: int, limit: int) -> tuple[int, dict[str, Any], dict[str, Any]]:
        count = review.duplicates.group_count
        if request.wants_json:
            return count, {}, _as_json(review, start, limit)
        groups = review.reviewed_groups(start, limit)
        facts = _read_facts(request.served_store.search(), groups)
        return count, {"groups": groups, "max_members": _MAX_MEMBERS, "facts": facts}, {}

    page = request.served_store.duplicates.make_page(request, "duplicates.html", _DEFAULT_GROUPS, show_groups)
    return replace(page, values={**page.values, "keep_rules": KEEP_RULES})


def _as_json(review: DuplicatesReview, start: int, limit: int) -> dict[str, Any]:
    """Return the JSON of the command `duplicates`, without pairs and without file paths."""
    groups_as_json = [group_as_json(group) for group in review.groups(start, limit)]
    for group_values in groups_as_json:
        for document in (group_values["kept"], *group_values["duplicates"]):
            document["path"] = None
    summary = duplicates_summary_as_json(review.duplicates, review.options["keep"])
    return {**summary, "groups": groups_as_json, **duplicates_omissions_as_json(review.duplicates)}


def _read_facts(search: SimilaritySearch, groups: list[ReviewedGroup]) -> dict[DocumentKey, DocumentFacts]:
    """Read the dates of all shown documents, and excerpts of kept documents and of members with a different text."""
    shown: list[GroupedDocument] = []
    with_text: list[GroupedDocument] = []
    for group in groups:
        members = group.members[:_MAX_MEMBERS]
        shown += [group.kept, *(member.document for member in members)]
        others = (member.document for member in members if member.document.kind in _KINDS_WITH_OTHER_TEXT)
        with_text += [group.kept, *others]
    columns = Columns(["date"])
    records = columns.read_records(search.store, [document.key for document in shown])
    texts = columns.read_records(search.store, [document.key for document in with_text[:_MAX_EXCERPTS]], load={"text"})
    excerpts = {record.key: excerpt(record.text or "", _EXCERPT_WORDS) for record in texts}
    facts = {
        document.key: DocumentFacts(f"{datetime.fromtimestamp(document.mtime_ns / 1e9, timezone.utc):%Y-%m-%d %H:%M}")
        for document in shown
        if not document.indexed and document.mtime_ns is not None
    }
    for record in records:
        date = format_column_value("date", columns.get_values(record)["date"])
        facts[record.key] = DocumentFacts(date, excerpts.get(record.key, ""))
    return facts


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
    local = request.local

    def find(report: Progress) -> DuplicatesReview:
        skipped = list_skipped_files(search.store, local, report) if local and not options["filters"] else None
        result = search.duplicates(**options, skipped=skipped, progress=report)
        return DuplicatesReview(result, form_values, _describe_omissions(result))

    return request.served_store.duplicates.start(find)


def _describe_omissions(result: Duplicates) -> list[str]:
    notes = [*describe_skipped_comparisons(result), describe_unlisted_documents(result)]
    left_out = list_left_out_documents(result)
    notes += [f"left out: {key.id}: {reason}" for key, reason in left_out[:_MAX_LEFT_OUT_DOCUMENTS]]
    if more := len(left_out[_MAX_LEFT_OUT_DOCUMENTS:]):
        notes.append(f"left out: {format_count(more, 'more document')}")
    sentences = [f"{note[:1].upper()}{note[1:]}." for note in notes if note]
    return [*sentences, *filter(None, [result.describe_unsplit_texts()])]


def save_decisions(request: PageRequest) -> Redirect:
    """Save the user's decisions.

    The form has these values:

    - `row-GROUP-MEMBER`: the action of a document: `keep`, `drop` or `decide`
    - `pick`, `selected`: several documents, and an action for all of them
    - `instead`: a document to keep instead of the one that its group keeps now
    - `then`: `identical` removes all identical copies and keeps all other documents, `reset` discards all decisions,
      and `plan` opens the plan
    """
    review = require_review(request)
    actions = {name: request.value(name) for name in request.values if name.startswith(ROW_FIELD_PREFIX)}
    if selected := request.value("selected"):
        actions |= dict.fromkeys(request.all_values("pick"), selected)
    chosen = [(review.find_member(name), _parse_action(text, name)) for name, text in actions.items()]
    for member, action in chosen:
        review.save_decision(member, action)
    here = {"start": request.value("here"), "limit": request.value("limit")}
    match request.value("then"):
        case "plan":
            next_page = "/duplicates/plan"
        case "identical":
            review.drop_only_identical_copies()
            next_page = "/duplicates/plan"
        case "reset":
            review.reset()
            next_page = url_for("/duplicates", **here)
        case _ if instead := request.value("instead"):
            next_page = f"{url_for('/duplicates', **here)}#group-{review.keep_instead(instead)}"
        case _ if selected:
            next_page = url_for("/duplicates", **here)
        case _:
            next_page = url_for("/duplicates", start=request.value("start"), limit=request.value("limit"))
    return Redirect(next_page, {"decision_count": len(review.decisions), "plan": review.describe_plan()})


def plan_summary(request: PageRequest) -> Page:
    """Return the page with the documents to remove, the download, and the command that applies the plan."""
    review = require_review(request)
    counts = review.count_actions()
    command, undo_command = _commands(review, request)
    values = {
        "review": review,
        "counts": counts,
        "dropped": [] if request.wants_json else review.dropped_documents(min(counts["drop"], _MAX_DROPPED_DOCUMENTS)),
        "max_dropped": _MAX_DROPPED_DOCUMENTS,
        "command": command,
        "undo_command": undo_command,
        "can_apply": request.local is not None and request.local.removed_files_folder is not None,
    }
    as_json: dict[str, Any] = {str(action): count for action, count in counts.items()}
    as_json |= {"group_count": review.duplicates.group_count, "file": review.plan_name, "command": command}
    return Page("plan.html", values, as_json)


def plan(request: PageRequest) -> TsvDownload:
    """Return the plan of `duplicates --plan` with the user's decisions. It contains file paths."""
    review = require_review(request)
    rows = review.plan_rows(request.served_store.search().store)
    command, _ = _commands(review, request)
    return TsvDownload(review.plan_name, table_lines(rows, command, review.duplicates.drop_scope))


def _commands(review: DuplicatesReview, request: PageRequest) -> tuple[str, str]:
    """Return the commands that apply the downloaded plan and undo it. For another computer, the folders are unknown."""
    file, target = review.plan_name, "removed"
    if request.local is not None:
        downloads = Path.home() / "Downloads"
        file = str((downloads if downloads.is_dir() else Path.home()) / file)
        target = str(Path.home() / "simdoc-search-removed")
    return (
        request.command_line("apply", file, "--move-to", target),
        request.command_line("apply", "--undo", undo_path(file)),
    )


def require_review(request: PageRequest) -> DuplicatesReview:
    """Return the groups of the last search."""
    if (review := request.served_store.duplicates.result) is None:
        raise QuerySyntaxError("there is no result yet; start the search for duplicates and wait until it has finished")
    return review


def _parse_action(text: str, name: str) -> Action:
    if text in ACTIONS:
        return text
    raise QuerySyntaxError(f"{name} must be 'keep', 'drop' or 'decide', not {text[:40]!r}")
