"""`simdoc-search backfill`: fingerprints for an index that already exists."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from simdoc_search.cli.common import (
    Interrupted,
    document_progress,
    engine_option,
    errors_as_sentences,
    field_options,
    json_option,
    print_json,
    say,
)
from simdoc_search.cli.index_output import print_incomplete
from simdoc_search.cli.settings_options import settings_change, settings_options
from simdoc_search.display import counted, format_bytes

if TYPE_CHECKING:
    from simdoc_search.attach.backfill import BackfillReport, Estimate, SkippedIndex, Task
    from simdoc_search.stores.location import EngineKind
    from simdoc_search.stores.remote.engine import Engine

_SHOWN = 20  # refused documents that are listed for people


def _query(_context: click.Context, _parameter: click.Parameter, value: str | None) -> dict[str, Any] | None:
    if value is None or not value.lstrip().startswith("{"):
        return None if value is None else {"query_string": {"query": value}}
    try:
        return dict(json.loads(value))
    except json.JSONDecodeError as error:
        raise click.BadParameter(f"it begins like JSON, but is none: {error}") from None


def _rate(_context: click.Context, _parameter: click.Parameter, value: str | None) -> float | None:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)(?:/s)?", value or "")
    if value is not None and (not found or not float(found[1])):
        raise click.BadParameter(f"{value!r} is not a number of documents a second, such as 500/s")
    return float(found[1]) if found else None


@click.command()
@click.argument("url")
@field_options
@click.option("--query", callback=_query, metavar="QUERY", help="Only documents that it finds: Lucene syntax, or JSON.")
@click.option("--stale", is_flag=True,
              help="Compare texts too, of all documents written since the last such run, and mend what is of another "
              "text, or malformed.")  # fmt: skip
@click.option("--full", is_flag=True, help="With --stale: compare all texts again.")
@click.option("--force", is_flag=True, help="Take another text field than the one of the fingerprints that are there.")
@click.option("--passages", "add_passages", is_flag=True,
              help="Also store what finds shared passages, if the field was made without.")  # fmt: skip
@settings_options
@click.option("--throttle", callback=_rate, metavar="N/s", help="Write at most N documents per second.")
@click.option("--in-engine", is_flag=True, help="Let the engine make the fingerprints, by the pipeline simdoc.")
@click.option("--dry-run", is_flag=True, help="Write nothing; say how many bytes and hours it would take.")
@click.option("--watch", is_flag=True, help="Go on with what is new or changes, until Ctrl-C; see --changed-field.")
@click.option("--changed-field", metavar="FIELD", help="With --watch: a date or number that grows with each change.")
@engine_option
@json_option
@errors_as_sentences
def backfill(
    url: str,
    text_fields: tuple[str, ...],
    field: str | None,
    query: dict[str, Any] | None,
    stale: bool,
    full: bool,
    force: bool,
    add_passages: bool,
    throttle: float | None,
    in_engine: bool,
    dry_run: bool,
    watch: bool,
    changed_field: str | None,
    engine: EngineKind | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Give the documents of an index fingerprints, while its application goes on writing.

    The URL names an index, an alias or a data stream. The mapping is added, and nothing but the object field is
    written, never over the write of another. Run it again to go on, and for texts that came later: it reads documents
    that have a text and no fingerprint, and removes the fingerprints of texts that are gone. Exit code 1 if an index or
    a document could not be done.

    \b
      simdoc-search backfill http://localhost:9200/articles --text-field body --dry-run
      simdoc-search backfill http://localhost:9200/articles --text-field body --throttle 500/s
    """
    from simdoc_search.attach.backfill import Task, estimate
    from simdoc_search.attach.backfill.indices import field_behind, text_fields_behind
    from simdoc_search.stores.remote.connection import connect

    if watch != (changed_field is not None):
        raise click.UsageError("--watch and --changed-field belong together")
    if watch and dry_run:
        raise click.UsageError("--dry-run looks once; leave out --watch")
    if in_engine and watch:
        raise click.UsageError("--in-engine is done once; a pipeline of the index then keeps it up to date")
    if field and "." in field:
        raise click.BadParameter(
            "the field stands at the top of a document; name it without dots", param_hint="--field"
        )
    if full and not stale:
        raise click.UsageError("--full is for --stale")
    asked, index = connect(url, engine=engine)
    field = field or field_behind(asked, index)
    text_fields = text_fields or text_fields_behind(asked, index, field)
    change = settings_change(options, passages=add_passages)
    task = Task(text_fields, field, query, stale, throttle, change, full=full, force=force)
    if dry_run:
        _show_estimate(estimate(asked, index, task), f"{asked.name}/{index}", as_json)
    elif in_engine:
        _run_in_engine(asked, index, task, as_json)
    else:
        _run(asked, index, task, changed_field, as_json)


def _run(engine: Engine, index: str, task: Task, changed_field: str | None, as_json: bool) -> None:
    from simdoc_search.attach.backfill import Backfill

    interrupted = False
    with document_progress(hidden=as_json, of_total=True) as update:
        running = Backfill(engine, index, task, lambda done, total: update(completed=done, total=max(done, total)))
        try:
            if changed_field is None:
                running.run()
            else:
                running.watch(changed_field)
        except KeyboardInterrupt:
            interrupted = True
    report = running.report
    _print(engine, index, report, as_json, interrupted=interrupted)
    if interrupted and changed_field is None:
        raise Interrupted("interrupted; what was sent is done too, run the same command to go on")
    _exit_if_failed(report)


def _run_in_engine(engine: Engine, index: str, task: Task, as_json: bool) -> None:
    from simdoc_search.attach.backfill.engine_side import backfill_in_engine

    with document_progress(hidden=as_json, of_total=True) as update:
        try:
            report = backfill_in_engine(
                engine, index, task, lambda done, total: update(completed=done, total=max(done, total))
            )
        except KeyboardInterrupt:
            raise Interrupted("interrupted; what is done is done, run the same command to go on") from None
    _print(engine, index, report, as_json, interrupted=False)
    _exit_if_failed(report)


def _print(engine: Engine, index: str, report: BackfillReport, as_json: bool, *, interrupted: bool) -> None:
    if as_json:
        print_json({"url": f"{engine.name}/{index}", "interrupted": interrupted, **asdict(report)})
    else:
        _show_report(report)


def _exit_if_failed(report: BackfillReport) -> None:
    """End with exit code 1 if an index or a document could not be done."""
    if report.refused or report.skipped_indices:
        raise SystemExit(1)


def _show_report(report: BackfillReport) -> None:
    """Say what a backfill did."""
    counts = [f"{report.updated:,} updated", f"{report.unchanged:,} unchanged"]
    if report.without_words:
        counts.append(f"{report.without_words:,} without words")
    if report.removed:
        counts.append(f"{report.removed:,} removed (text gone)")
    if report.without_text:
        counts.append(f"{report.without_text:,} without text")
    if report.conflicts:
        counts.append(f"{report.conflicts:,} read again, as others had changed them")
    if report.deleted_meanwhile:
        counts.append(f"{report.deleted_meanwhile:,} deleted meanwhile")
    if report.refused:
        counts.append(f"{len(report.refused):,} refused")
    say(f"{', '.join(counts)} in {report.seconds:.1f} s")
    print_incomplete(report.incomplete)
    for each in report.refused[:_SHOWN]:
        say(f"  {each.index}: {each.id}: {each.reason}", err=True)
    if len(report.refused) > _SHOWN:
        say(f"  and {len(report.refused) - _SHOWN:,} more; --json has all", err=True)
    _show_skipped(report.skipped_indices, report.notes)


def _show_skipped(skipped: Iterable[SkippedIndex], notes: Iterable[str]) -> None:
    for note in notes:
        say(f"note: {note}", err=True)
    for each in skipped:
        say(f"skipped: {each.index}: {each.reason}", err=True)


def _show_estimate(found: Estimate, place: str, as_json: bool) -> None:
    if as_json:
        print_json({"url": place, "bytes_per_document": round(found.bytes_per_document), **asdict(found)})
    else:
        most = "" if found.writes_at_most == found.writes else f", at most {found.writes_at_most:,} by the sample"
        say(f"documents  {found.documents:,}, of which {found.writes:,} would be written{most}")
        added, meanwhile = format_bytes(found.bytes_added), format_bytes(found.bytes_meanwhile)
        say(
            f"bytes      {added} more ({found.bytes_per_document:,.0f} each), "
            f"{meanwhile} until old states are merged away; GET _cat/allocation shows the room on each disk"
        )
        say(f"time       {_time(found.seconds)}, judged by {counted(found.sampled, 'document')}")
        say("nothing was written")
        _show_skipped(found.skipped_indices, found.notes)
    if found.skipped_indices:
        raise SystemExit(1)


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"about {seconds:.0f} s"
    return f"about {seconds / 60:.0f} min" if seconds < 5400 else f"about {seconds / 3600:.1f} h"
