"""Output of `simdoc-search apply`: the changes in the terminal, and as JSON."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING

from simdoc_search.cli.common import TABLE_ADVICE, print_json, say, shorten_path
from simdoc_search.display import command_line, format_count, list_examples

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simdoc_search.duplicates.plan import ApplyReport, DropMethod, PlanIndex, UndoReport
    from simdoc_search.indexing.restored_files import RestoredFiles
    from simdoc_search.stores.base import Store

_DONE_VERBS = {"move": "moved", "delete": "deleted", "hardlink": "linked"}
_PLANNED_VERBS = {"move": "move", "delete": "delete", "hardlink": "link"}
_SEPARATORS = {"move": "->", "delete": "duplicate of", "hardlink": "="}
_MAX_EXAMPLES = 5


def print_report(
    report: ApplyReport,
    method: DropMethod,
    undo_command: str,
    location: str,
    *,
    dry_run: bool,
    store: Store | None,
    has_table_rows: bool,
    is_index_known: bool,
) -> None:
    """Print each change, and the reasons for the documents that were left alone.

    `store` is the store that was updated; None if there is none. `has_table_rows` says whether the plan has documents
    that are rows of tables. `is_index_known` says whether the undo file names the index of the dropped files.
    """
    from simdoc_search.duplicates.plan import find_empty_folders

    for name, kept_or_target in report.dropped:
        verb = (_PLANNED_VERBS if dry_run else _DONE_VERBS)[method]
        mark = "  (cannot be undone)" if name in report.irrecoverable else ""
        say(f"{verb}  {shorten_path(name)}  {_SEPARATORS[method]}  {shorten_path(kept_or_target)}{mark}")
    if fileless_count := sum(left_alone.has_no_file for left_alone in report.left_alone):
        documents = format_count(fileless_count, "document")
        say(
            f"left alone: {documents} without a file; to remove such documents from the index, use --delete and "
            "--store",
            err=True,
        )
    for left_alone in (each for each in report.left_alone if not each.has_no_file):
        say(f"left alone: {shorten_path(left_alone.name)}: {left_alone.reason}", err=True)
    if any(left_alone.needs_new_plan for left_alone in report.left_alone):
        names = [left_alone.name for left_alone in report.left_alone if left_alone.needs_new_plan]
        command = command_line(location, "duplicates", *_find_indexed_folders(names, store), "--plan", "NEW")
        say(f"to write a new plan for these documents, run: {command}", err=True)
    for group, reason in report.refused_groups.items():
        say(f"group {group} was not applied: {reason}", err=True)
    for reason, count in Counter(report.not_removed.values()).items():
        documents_are = format_count(count, "document of a dropped file is", "documents of dropped files are")
        command = update_command(location)
        say(f"{documents_are} still in the index: {reason}. To remove such documents, run: {command}", err=True)
    would_be = "would be " * dry_run
    file_count = len(report.dropped) - report.dropped_fileless_count
    removed_count = report.removed_count + report.dropped_fileless_count
    documents = format_count(removed_count, "document")
    counts = [
        (file_count, f"{format_count(file_count, 'file')} {would_be}{_DONE_VERBS[method]}"),
        (report.earlier_dropped_count, f"{report.earlier_dropped_count:,} already done"),
        (len(report.left_alone), f"{len(report.left_alone):,} left alone"),
        (len(report.refused_groups), f"{format_count(len(report.refused_groups), 'group')} not applied"),
        (removed_count, f"{documents} {would_be}removed from the index"),
    ]
    say(", ".join(text for number, (count, text) in enumerate(counts) if count or not number))
    if has_table_rows:
        say(f"note: documents without a file exist only in the index. {TABLE_ADVICE}", err=True)
    if empty := [] if dry_run else find_empty_folders(name for name, _ in report.dropped):
        folders_have = format_count(len(empty), "folder has", "folders have")
        say(f"{folders_have} no files now: {list_examples([*map(shorten_path, empty)], _MAX_EXAMPLES)}", err=True)
    if dry_run:
        say("dry run: nothing was changed", err=True)
    elif file_count:
        say(_describe_undo(report, undo_command), err=True)
        if method != "hardlink" and not is_index_known:
            say(f"if the changed files are in an index, update it with: {update_command('INDEX')}", err=True)


def _describe_undo(report: ApplyReport, undo_command: str) -> str:
    """Return the line with the command that undoes the changes, as far as possible."""
    if not report.irrecoverable:
        return f"to undo these changes, run: {undo_command}"
    count = len(report.dropped)
    if not (undoable_count := count - len(report.irrecoverable)):
        return f"{'the deletion' if count == 1 else f'the {count:,} deletions'} cannot be undone"
    return f"{undoable_count:,} of the {count:,} deletions can be undone; to undo them, run: {undo_command}"


def _find_indexed_folders(paths: Sequence[str], store: Store | None) -> list[str]:
    """Return the indexed folders that contain these files, or the placeholder `FOLDER` if they are not known.

    `paths` are the names of documents. The list is empty if none of them has a file.
    """
    from simdoc_search.indexing.input_paths import find_roots

    if not (files := list(filter(os.path.isabs, paths))):
        return []
    roots = set() if store is None else find_roots(store, files)
    return sorted(str(root) for root in roots if roots.isdisjoint(root.parents)) or ["FOLDER"]


def print_report_as_json(report: ApplyReport, method: DropMethod, *, dry_run: bool) -> None:
    """Print the report as one JSON object."""
    from simdoc_search.duplicates.plan import find_empty_folders

    kept_or_target_key = "moved_to" if method == "move" else "kept"
    print_json(
        {
            "dry_run": dry_run,
            "dropped": [
                {"name": name, kept_or_target_key: path, "can_be_undone": name not in report.irrecoverable}
                for name, path in report.dropped
            ],
            "earlier_dropped_count": report.earlier_dropped_count,
            "left_alone": [{"name": name, "reason": reason} for name, reason, _ in report.left_alone],
            "refused_groups": [{"group": group, "reason": reason} for group, reason in report.refused_groups.items()],
            "removed_count": report.removed_count,
            "not_removed": [{"id": key.id, "reason": reason} for key, reason in report.not_removed.items()],
            "empty_folders": [] if dry_run else find_empty_folders(name for name, _ in report.dropped),
        }
    )


def print_undo_report(report: UndoReport, indexed: RestoredFiles, undo_file: str, index: PlanIndex, store: str) -> None:
    """Print the restored files, and those that are not in the index again. `store` is the location of `--store`."""
    for name in report.restored:
        say(f"restored  {shorten_path(name)}")
    for name, reason in report.not_restored:
        say(f"not restored: {shorten_path(name)}: {reason}", err=True)
    in_place = f", {report.unchanged_count:,} already at the original path" if report.unchanged_count else ""
    count = len(report.not_restored)
    missing = f", {count:,} not restored (still listed in {undo_file})" if count else ""
    documents = format_count(indexed.document_count, "document")
    updated_index = "the index" if index.location in ("", store) else f"the index {shorten_path(index.location)}"
    added = f", {documents} added to {updated_index}" if indexed.document_count else ""
    say(f"{len(report.restored):,} restored{in_place}{missing}{added}")
    if paths := indexed.not_indexed_paths:
        from simdoc_search.indexing.restored_files import arguments_to_index

        # Unlike `index`, `duplicates` gives the files of several folders the prefixes that they had.
        command = command_line(index.location or "INDEX", "duplicates", *arguments_to_index(paths, index.folders))
        files_are = format_count(len(paths), "restored file is", "restored files are")
        problem = f", because {indexed.problem}" if indexed.problem else ""
        them = "it" if len(paths) == 1 else "them"
        say(
            f"{files_are} not in the index{problem}: {list_examples([*map(shorten_path, paths)], _MAX_EXAMPLES)}",
            err=True,
        )
        say(f"to add {them} to the index, run: {command}", err=True)


def update_command(location: str) -> str:
    """Return the command that removes the documents of missing files from the index."""
    return command_line(location, "index", "FOLDER", "--prune")
