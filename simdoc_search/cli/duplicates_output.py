"""Output of `simdoc-search duplicates`: groups in the terminal, one JSON object, pairs as CSV."""

from __future__ import annotations

import csv
import json
import os
import shlex
import sys
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from dataclasses import asdict
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simdoc_search.as_json import cluster_as_json, duplicates_head, duplicates_tail, pair_as_json
from simdoc_search.cli.common import Interrupted, say, share_progress, text_file, with_left_out
from simdoc_search.display import counted, format_bytes, safe_json, show_more, showing, without_secrets
from simdoc_search.duplicates import Duplicates, GroupedDocument
from simdoc_search.duplicates.paths import ARCHIVE_GONE, FILE_GONE
from simdoc_search.errors import CorpusError, StoreError
from simdoc_search.stores.location import parse_location

if TYPE_CHECKING:
    from simdoc_search.duplicates.mark_update import MarkReport
    from simdoc_search.search import SimilaritySearch
    from simdoc_search.stores.base import Store

_DEFAULT_STORE = "./.simdoc"
_MAX_LEFT_OUT = 3
_COLUMNS = ("a", "b", "overlap", "kind", "exact", "a_index", "a_routing", "b_index", "b_routing")


def print_groups(found: Duplicates, limit: int | None, page: Path | None, *, estimated_by_option: bool) -> None:
    """Print the groups, the summary and the path of the page on stdout, and notes on stderr."""
    for group in found.groups(limit):
        say(f"{'keep':>8}  {_line(group.kept)}")
        for duplicate in group.duplicates:
            say(f"{duplicate.action:>8}  {_line(duplicate)}  ({duplicate.reason})")
        say()
    say(summary(found))
    if limit is not None and (more := show_more(limit, found.group_count, option="--limit")):
        say(f"{showing(limit, found.group_count, what='group')}.{more}")
    if page:
        say(f"page: {page}")
    for note in notes(found, estimated_by_option=estimated_by_option):
        say(f"note: {note}", err=True)


def print_as_json(
    found: Duplicates, keep: str, limit: int | None, problems: list[str], marks: MarkReport | None
) -> None:
    """Print one JSON object, part after part, because there may be millions of pairs."""
    clusters = map(cluster_as_json, found.groups(limit))
    click.echo("{" + _members(with_left_out(duplicates_head(found, keep))), nl=False)
    for name, values in (("clusters", clusters), ("pairs", map(pair_as_json, found.pairs()))):
        click.echo(f',\n"{name}": [', nl=False)
        for number, value in enumerate(values):
            click.echo(("," if number else "") + "\n" + _json(value), nl=False)
        click.echo("]", nl=False)
    mark_report = {} if marks is None else {"marks": asdict(marks)}
    click.echo(",\n" + _members({**duplicates_tail(found), "problems": problems, **mark_report}) + "}")


def write_csv(found: Duplicates, file: str) -> None:
    """Write all pairs as CSV with the columns of `_COLUMNS`; index and routing are empty in a local store.

    Raises:
        ClickException: the file cannot be written.
    """
    with nullcontext(sys.stdout) if file == "-" else text_file(Path(file), newline="") as out:
        writer = csv.DictWriter(out, _COLUMNS)
        writer.writeheader()
        for pair in found.pairs():
            row = {**pair_as_json(pair), "overlap": f"{pair.overlap:.6f}", "exact": str(pair.exact).lower()}
            writer.writerow(row)
        out.flush()


def check_files(
    csv_file: str | None, html: Path | None, plan: str | None, folders: Iterable[str], *, as_json: bool
) -> None:
    """Refuse output files that cannot be written, or that would overwrite a document or another plan.

    Raises:
        UsageError: both JSON and CSV would go to stdout, or the page would.
        CorpusError: there is no such folder, or the file exists in a folder that is indexed.
        PlanError: the plan exists already.
    """
    from simdoc_search.duplicates.plan import check_new

    if plan is not None:
        check_new(Path(plan))
    if csv_file == "-" and as_json:
        raise click.UsageError("give --json or --csv -, because both go to stdout")
    if str(html) == "-":
        raise click.UsageError("--html takes the name of a file")
    for file in [str(file) for file in (csv_file, html) if file is not None and file != "-"]:
        path = Path(file).resolve()
        if not path.parent.is_dir():
            raise CorpusError(f"{file} cannot be written: no such file or directory")
        if path.exists() and any(path.is_relative_to(Path(folder).resolve()) for folder in folders):
            raise CorpusError(f"{file} may be a document, because it is in a folder to be indexed; name another file")


def save_plan(found: Duplicates, file: str, store: Store, location: str, *, quiet: bool) -> None:
    """Write the plan, and print the command that applies it."""
    from simdoc_search.duplicates.plan import write_plan

    store_arguments = [] if location == _DEFAULT_STORE else ["--store", without_secrets(location)]
    command = shlex.join(["simdoc-search", "apply", file, *store_arguments, "--move-to", "DIR", "--dry-run"])
    with share_progress(hidden=quiet) as update:
        rows = write_plan(found, file, store, command=command, progress=lambda share: update("planning", share))
    say(f"{counted(rows, 'row')} written to {file}; edit it, then: {command}", err=True)


def check_can_mark(store: str, *, compares_all: bool) -> None:
    """Refuse to mark a folder, or to mark after only new documents were compared."""
    if not compares_all:
        raise click.UsageError("--mark needs all documents compared; leave out --new and --since")
    if isinstance(parse_location(store), Path):
        raise StoreError(f"{store} is a folder; only documents of an engine can be marked. For files, use --plan")


def set_marks(search: SimilaritySearch, found: Duplicates, *, quiet: bool) -> MarkReport:
    """Mark the duplicates in the engine, and print the numbers of marks."""
    try:
        with share_progress(hidden=quiet) as update:
            report = search.mark_duplicates(found, progress=update)
    except KeyboardInterrupt:
        raise Interrupted("interrupted; some marks are set. Run the same command to set the others") from None
    say(f"marks: {report.set:,} set, {report.removed:,} removed, {report.unchanged:,} unchanged", err=True)
    if report.passed_over:
        changed = counted(report.passed_over, "document")
        say(f"note: {changed} changed or deleted meanwhile; run the same command to mark them", err=True)
    for id, reason in report.reasons.items():
        say(f"Error: the document {id!r} has no new mark: {reason}", err=True)
    if report.refused > len(report.reasons):
        say(f"Error: {report.refused - len(report.reasons):,} more have no new marks", err=True)
    return report


def summary(found: Duplicates) -> str:
    """Return the numbers of groups and duplicates in one line."""
    if not found.group_count:
        of_new = "" if found.fresh == found.documents else f" of {counted(found.fresh, 'new document')}"
        return f"no duplicates{of_new} among {counted(found.documents, 'document')}"
    counts = f"{counted(found.group_count, 'group')}, {counted(found.duplicate_count, 'duplicate')}"
    to_decide = f"{found.drops:,} to drop, {found.duplicate_count - found.drops:,} to decide"
    saved = f", {format_bytes(found.frees)} to save" if found.frees else ""
    return f"{counts}: {to_decide}{saved}"


def notes(found: Duplicates, *, estimated_by_option: bool) -> Iterator[str]:
    """Yield what limits the result."""
    if found.fresh < found.documents and found.group_count:
        yield f"{counted(found.fresh, 'new document')} compared with all {found.documents:,}; the others are kept"
    if not found.verified:
        why = "--estimate is set" if estimated_by_option else "the store has no texts"
        yield f"overlaps are estimated from the fingerprints, because {why}; near the threshold some are wrong"
    elif found.unverified:
        overlaps = counted(found.unverified, "overlap is", "overlaps are")
        yield f"{overlaps} estimated, because texts are missing or have changed"
    if found.floods:
        alike = counted(found.floods.documents, "document")
        yield f"{alike} look alike, over {found.floods.limit:,} of one kind; each was compared with only a few of them"
        if found.floods.left_over:
            left_over = counted(found.floods.left_over, "comparison was", "comparisons were")
            yield f"at most {left_over} not made there, so a duplicate may be missing"
    if found.ignored:
        yield f"{counted(found.ignored, 'word is', 'words are')} ignored in the documents whose texts were compared"
    for root, count in found.gone.items():
        command = shlex.join(["simdoc-search", "index", root, "--prune"])
        files = "file is gone" if count == 1 else "files are gone"
        yield f"left out: {counted(count, 'document')} of {root}, whose {files}. Remove from the index with: {command}"
    others = [(place.id, reason) for place, reason in found.left_out.items() if reason not in (FILE_GONE, ARCHIVE_GONE)]
    for id, reason in others[:_MAX_LEFT_OUT]:
        yield f"left out: the document {id!r}: {reason}"
    if len(others) > _MAX_LEFT_OUT:
        yield f"left out: {len(others) - _MAX_LEFT_OUT:,} more like these; --json names them"


def columns_of(document: GroupedDocument) -> tuple[str, str, str]:
    """Return size, date, and the path from the current folder; the id if there is no file."""
    size = "" if document.size is None else format_bytes(document.size)
    changed = document.changed
    date = "" if changed is None else f"{datetime.fromtimestamp(changed / 1e9, timezone.utc):%Y-%m-%d}"
    if document.path is None:
        return size, date, document.id if document.place.index is None else f"{document.place.index}/{document.id}"
    return size, date, document.path.removeprefix(os.path.join(os.getcwd(), ""))  # noqa: PTH109, PTH118 - as text


def _line(document: GroupedDocument) -> str:
    size, date, name = columns_of(document)
    return f"{size:>11}  {date:>10}  {name}"


def _members(values: dict[str, Any]) -> str:
    """Return the members of a JSON object, a line each, without its braces."""
    return ",\n".join(f"{json.dumps(name)}: {_json(value)}" for name, value in values.items())


def _json(value: Any) -> str:
    is_unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    return safe_json(json.dumps(value, ensure_ascii=not is_unicode))
