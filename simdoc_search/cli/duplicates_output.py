"""Output of `simdoc-search duplicates`: groups in the terminal, JSON, pairs as CSV, the plan, and marks."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simdoc_search.as_json.duplicates import (
    duplicates_omissions_as_json,
    duplicates_summary_as_json,
    group_as_json,
    pair_as_json,
)
from simdoc_search.cli.common import (
    TABLE_ADVICE,
    explain_interruption,
    json_text,
    open_text_file,
    say,
    shorten_path,
    stage_progress,
    with_left_out_indices,
)
from simdoc_search.cli.duplicates_hints import note_lines
from simdoc_search.display import (
    command_line,
    describe_shown_hits,
    format_bytes,
    format_count,
    format_more_hits_hint,
)
from simdoc_search.duplicates import Duplicates, GroupedDocument
from simdoc_search.durable import check_output_folder
from simdoc_search.errors import CorpusError, StoreError
from simdoc_search.passages.dates import format_day
from simdoc_search.stores.location import parse_location

if TYPE_CHECKING:
    from simdoc_search.duplicates.mark_update import MarkReport
    from simdoc_search.search.similarity_search import SimilaritySearch
    from simdoc_search.stores.base import Store

_CSV_COLUMNS = ("a", "b", "overlap", "kind", "exact", "a_index", "a_routing", "b_index", "b_routing")


def print_groups(
    result: Duplicates,
    limit: int | None,
    page: Path | None,
    store: Store,
    location: str,
    *,
    is_estimate_requested: bool,
) -> None:
    """Print at most `limit` groups, the summary and the path of the page on stdout, and notes on stderr."""
    for line in _legend_lines(result):
        say(line, err=True)
    for group in result.groups(limit):
        say(f"{'keep':>8}  {_format_line(group.kept)}")
        for duplicate in group.duplicates:
            line = f"{duplicate.action:>8}  {_format_line(duplicate)}"
            if duplicate.reason == "identical":
                say(f"{line}  (identical)")
            else:
                say(line)
                say(f"{'':10}{duplicate.reason}")
        say()
    say(format_summary(result))
    if limit is not None and (more := format_more_hits_hint(limit, result.group_count)):
        say(f"{describe_shown_hits(limit, result.group_count, singular='group')}.{more}")
    if page:
        say(f"page: {page}")
    for note in note_lines(result, store, location, is_estimate_requested=is_estimate_requested):
        say(f"note: {note}", err=True)


def _legend_lines(result: Duplicates) -> Iterator[str]:
    """Yield a line about each action in the groups, and an empty line."""
    if result.group_count:
        scope = f", or has the {result.drop_scope.replace('-', ' ')}" if result.drop_scope else ""
        yield "    keep  the document to keep"
        if result.drop_count:
            yield f"    drop  identical to the document to keep{scope}"
        if result.drop_count < result.duplicate_count:
            yield "  decide  you decide; the line below says what differs: kept document → this one"
        yield ""


def print_as_json(
    result: Duplicates, keep: str, limit: int | None, problems: list[str], marks: MarkReport | None
) -> None:
    """Print one JSON object piece by piece, because there may be millions of pairs."""
    groups = map(group_as_json, result.groups(limit))
    click.echo("{" + _json_members(with_left_out_indices(duplicates_summary_as_json(result, keep))), nl=False)
    for name, values in (("groups", groups), ("pairs", map(pair_as_json, result.pairs()))):
        click.echo(f',\n"{name}": [', nl=False)
        for number, value in enumerate(values):
            click.echo(("," if number else "") + "\n" + json_text(value), nl=False)
        click.echo("]", nl=False)
    mark_report = {} if marks is None else {"marks": asdict(marks)}
    click.echo(
        ",\n" + _json_members({**duplicates_omissions_as_json(result), "problems": problems, **mark_report}) + "}"
    )


def write_csv(result: Duplicates, file: str) -> None:
    """Write all pairs as CSV with the columns of `_CSV_COLUMNS`. Index and routing are empty for a local store."""
    with nullcontext(sys.stdout) if file == "-" else open_text_file(Path(file), newline="") as out:
        writer = csv.DictWriter(out, _CSV_COLUMNS)
        writer.writeheader()
        for pair in result.pairs():
            row = {**pair_as_json(pair), "overlap": f"{pair.overlap:.6f}", "exact": str(pair.exact).lower()}
            writer.writerow(row)
        out.flush()


def check_output_files(
    csv_file: str | None, html: Path | None, plan: str | None, folders: Iterable[str], *, as_json: bool
) -> None:
    """Check that the output files can be written, and that they overwrite neither a document nor a plan."""
    from simdoc_search.duplicates.plan import check_plan_is_new

    if plan is not None:
        check_plan_is_new(Path(plan))
    if csv_file == "-" and as_json:
        raise click.UsageError("'--json' and '--csv -' both write to stdout; give only one of them")
    if str(html) == "-":
        raise click.UsageError("--html cannot write to stdout (-); choose a file")
    for file in [str(file) for file in (csv_file, html) if file is not None and file != "-"]:
        path = Path(file).resolve()
        check_output_folder(Path(file))
        if path.exists() and any(path.is_relative_to(Path(folder).resolve()) for folder in folders):
            raise CorpusError(
                f"cannot overwrite {file}, because the file may be one of the documents to compare; choose another file"
            )


def save_plan(
    result: Duplicates, file: str, store: Store, location: str, sources: Iterable[str], *, quiet: bool
) -> None:
    """Write the plan, and print the command that applies it."""
    from simdoc_search.corpus import has_several_documents
    from simdoc_search.duplicates.plan import write_plan

    # Documents of an application have no files that could be moved.
    method = ["--move-to", "DIR"] if store.is_simdoc_index else ["--delete"]
    command = command_line(location, "apply", file, *method, "--dry-run")
    with stage_progress(hidden=quiet) as update:
        rows = write_plan(result, file, store, command=command, progress=lambda share: update("planning", share))
    say(f"{format_count(rows, 'row')} written to {file}; edit the file, then run: {command}", err=True)
    if any(map(has_several_documents, sources)):
        say(f"note: `apply` cannot change rows of tables. {TABLE_ADVICE}", err=True)


def check_can_mark(store: str, *, compares_all: bool) -> None:
    """Check that the store is in an engine, and that all documents are compared."""
    if not compares_all:
        raise click.UsageError("--mark must compare all documents; omit --new and --since")
    if isinstance(parse_location(store), Path):
        raise StoreError(
            f"{store} is a folder, but --mark needs an index in OpenSearch or Elasticsearch; for files, use --plan"
        )


def set_marks(search: SimilaritySearch, result: Duplicates, *, quiet: bool) -> MarkReport:
    """Mark the duplicates in the engine, and print how many marks were set."""
    explanation = "some duplicates are already marked. Run the same command again to mark the others"
    with explain_interruption(explanation), stage_progress(hidden=quiet) as update:
        report = search.mark_duplicates(result, progress=update)
    counts = f"{report.marked_count:,} set, {report.removed_count:,} removed, {report.unchanged_count:,} unchanged"
    say(f"marks on duplicates and kept documents: {counts}", err=True)
    if report.skipped_count:
        documents_were = format_count(report.skipped_count, "document was", "documents were")
        say(
            f"note: {documents_were} changed or deleted during this run; run the same command again to update all "
            "marks",
            err=True,
        )
    for id, reason in report.refusal_reasons.items():
        say(f"Error: the document {id!r} was not marked: {reason}", err=True)
    if report.refused_count > len(report.refusal_reasons):
        more = format_count(
            report.refused_count - len(report.refusal_reasons), "more document was", "more documents were"
        )
        say(f"Error: {more} not marked", err=True)
    return report


def format_summary(result: Duplicates) -> str:
    """Return one line with the number of groups and duplicates, and the bytes to free."""
    if not result.group_count:
        of_new = (
            ""
            if result.new_document_count == result.document_count
            else f" of {format_count(result.new_document_count, 'new document')}"
        )
        count = result.textless_file_count
        and_files = f" and {format_count(count, 'file without text', 'files without text')}" if count else ""
        return f"no duplicates{of_new} among {format_count(result.document_count, 'document')}{and_files}"
    counts = f"{format_count(result.group_count, 'group')}, {format_count(result.duplicate_count, 'duplicate')}"
    to_decide = f"{result.drop_count:,} to drop, {result.duplicate_count - result.drop_count:,} to decide"
    freed = f", {format_bytes(result.freed_bytes)} to free" if result.freed_bytes else ""
    return f"{counts}: {to_decide}{freed}"


def format_size_date_and_name(document: GroupedDocument) -> tuple[str, str, str]:
    """Return size, date, and the path relative to the current folder, or the id of a document without a file.

    The date is the one by which `newest` or `oldest` chooses the kept document, or else the file's modification time.
    """
    size = "" if document.size is None else format_bytes(document.size)
    date = document.written or ("" if document.mtime_ns is None else format_day(document.mtime_ns))
    if document.path is None:
        return size, date, document.key.qualified_id
    return size, date, shorten_path(document.path)


def _format_line(document: GroupedDocument) -> str:
    size, date, name = format_size_date_and_name(document)
    return f"{size:>11}  {date:>10}  {name}" if size or date else name


def _json_members(values: dict[str, Any]) -> str:
    """Return the members of a JSON object, one per line, without the braces."""
    return ",\n".join(f"{json.dumps(name)}: {json_text(value)}" for name, value in values.items())
