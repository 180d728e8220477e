"""Output of `simdoc-search index`, for people and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import islice
from typing import TYPE_CHECKING, Any

from simdoc_search.cli.common import say
from simdoc_search.display import format_count, list_examples
from simdoc_search.documents import RejectedDocument, SkippedFile

if TYPE_CHECKING:
    from simdoc_search.indexing.report import IndexReport

_MAX_PRINTED_REFUSALS = 20
_MAX_EXAMPLES = 3


def report_as_json(report: IndexReport) -> dict[str, Any]:
    """Return the report as JSON."""
    skipped = [_skipped_as_json(file) for file in report.skipped]
    return {**asdict(report), "skipped": skipped, "refused": refused_documents_as_json(report.refused)}


def _skipped_as_json(file: SkippedFile) -> dict[str, Any]:
    entry = {"path": file.path, "reason": file.reason}
    if not isinstance(file, RejectedDocument):
        return entry
    return {**entry, "id": file.id, "duplicate_of": file.duplicate_of, "overlap": file.overlap, "exact": file.exact}


def refused_documents_as_json(refused: Mapping[str, str]) -> list[dict[str, str]]:
    """Return one object per document that the store refused."""
    return [{"id": id, "reason": reason} for id, reason in refused.items()]


def print_report(report: IndexReport) -> None:
    """Print the counts on stdout, and skipped and refused documents on stderr."""
    counts = [f"{report.added_count:,} indexed", f"{report.unchanged_count:,} unchanged"]
    optional = {"replaced": report.replaced_count, "removed from the index": report.deleted_count}
    counts += [f"{count:,} {name}" for name, count in optional.items() if count]
    if report.repeated_id_count:
        counts.append(format_count(report.repeated_id_count, "duplicate id"))
    if report.skipped:
        counts.append(f"{len(report.skipped):,} skipped")
    if report.refused:
        counts.append(f"{len(report.refused):,} refused")
    say(", ".join(counts) + f" in {report.seconds:.1f} s")
    print_skipped_files(report.skipped)
    print_refused_documents(report.refused)
    print_incomplete_documents(report.incomplete)
    print_unread_attachments(report.unread_attachments)
    for note in report.notes:
        say(note, err=True)
    for problem in report.problems:
        say(f"Error: {problem}", err=True)


def print_refused_documents(refused: Mapping[str, str]) -> None:
    """Print the first refused documents on stderr."""
    for id, reason in islice(refused.items(), _MAX_PRINTED_REFUSALS):
        say(f"  {id}: {reason}", err=True)
    if len(refused) > _MAX_PRINTED_REFUSALS:
        say(
            f"  and {len(refused) - _MAX_PRINTED_REFUSALS:,} more refused documents; "
            "--json lists all refused documents",
            err=True,
        )


def print_incomplete_documents(incomplete: Mapping[str, str]) -> None:
    """Print which documents were stored without data, such as `sentences`. `incomplete` maps their ids to the data."""
    for missing in sorted(set(incomplete.values())):
        ids = [id for id, data in incomplete.items() if data == missing]
        examples = list_examples(ids, _MAX_EXAMPLES)
        say(f"  {len(ids):,} stored without {missing}, which could not be computed: {examples}", err=True)


def print_unread_attachments(attachments: Mapping[str, Sequence[str]]) -> None:
    """Print on stderr which attachments of e-mails were not read."""
    if attachments:
        count = sum(map(len, attachments.values()))
        names = [f"{id} ({list_examples(names, _MAX_EXAMPLES)})" for id, names in attachments.items()]
        attachments_were = format_count(count, "attachment was", "attachments were")
        advice = "to search attachments, save them as files and index the files"
        say(f"  {attachments_were} not read; {advice}: {list_examples(names, _MAX_EXAMPLES)}", err=True)


def print_skipped_files(skipped: Sequence[SkippedFile], *, advice: bool = True) -> None:
    """Print one line per reason on stderr, with examples and advice about the options of `index`."""
    from simdoc_search.indexing.skip_reasons import group_by_reason

    groups = group_by_reason(skipped)
    for group in groups:
        hint = f"; {group.advice}" if advice and group.advice else ""
        say(
            f"  {len(group.files):,} {group.noun or group.label}: {list_examples(group.files, _MAX_EXAMPLES)}{hint}",
            err=True,
        )
    if any(len(group.files) > _MAX_EXAMPLES for group in groups):
        say("  --json lists all skipped files", err=True)
