"""`simdoc-search backfill`: adds fingerprints to the documents of an application's index."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from simdoc_search.cli.common import CommandInterruptedError, document_progress, json_option, print_json, say
from simdoc_search.cli.help_layout import Command
from simdoc_search.cli.index_location_options import engine_option, field_options
from simdoc_search.cli.index_output import print_incomplete_documents
from simdoc_search.cli.settings_options import make_settings_changer, settings_options
from simdoc_search.display import format_bytes, format_count

if TYPE_CHECKING:
    from simdoc_search.attach.backfill import BackfillOptions, BackfillReport, CostEstimate, SkippedIndex
    from simdoc_search.stores.location import EngineKind
    from simdoc_search.stores.remote.engine import Engine

_MAX_PRINTED_REFUSALS = 20


def _parse_rate(_context: click.Context, _parameter: click.Parameter, value: str | None) -> float | None:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(?:/s)?", value or "")
    if value is not None and (not match or not float(match[1])):
        raise click.BadParameter(f"{value!r} is not a number of documents per second, such as 500/s")
    return float(match[1]) if match else None


@click.command(cls=Command, main_options=["--text-field", "--dry-run", "--stale", "--throttle", "--with"])
@click.argument("url")
@field_options
@click.option("--stale", is_flag=True,
              help="Also replace fingerprints that do not match the current text. Only documents written since the "
              "last run with --stale are checked.")  # fmt: skip
@click.option(
    "--full", is_flag=True, help="With --stale: check all documents, not only those written since the last check."
)
@click.option(
    "--force",
    is_flag=True,
    help="Allow a text field other than the one that the existing fingerprints were computed from.",
)
@click.option("--passages", "add_passages", is_flag=True,
              help="Add the data for finding shared passages if the existing fingerprints were computed without it "
              "(--no-passages).")  # fmt: skip
@settings_options
@click.option("--throttle", callback=_parse_rate, metavar="N/s", help="Maximum number of documents per second.")
@click.option(
    "--in-engine", is_flag=True, help="Let the engine compute the fingerprints, with the ingest pipeline `simdoc`."
)
@click.option("--dry-run", is_flag=True, help="Only estimate the required space and time. Write nothing.")
@engine_option
@json_option
def backfill(
    url: str,
    text_fields: tuple[str, ...],
    field: str | None,
    stale: bool,
    full: bool,
    force: bool,
    add_passages: bool,
    throttle: float | None,
    in_engine: bool,
    dry_run: bool,
    engine: EngineKind | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Add fingerprints to the documents of an existing index.

    URL names an index, an alias or a data stream. Your application can keep writing to it. The command adds one object
    field to the mapping, and only writes this field. It never overwrites changes by other programs. Run it again after
    an interruption, or after documents have been added or changed. The exit status is 1 if an index was skipped or a
    document was refused.

    The settings of existing fingerprints cannot be changed. To use different settings, add fingerprints to another
    field. Choose its name with --field.

    \b
      simdoc-search backfill http://localhost:9200/articles --text-field body
      simdoc-search backfill http://localhost:9200/articles --throttle 500/s
      simdoc-search backfill http://localhost:9200/articles --stale --dry-run
    """
    from simdoc_search.attach.backfill import BackfillOptions, estimate_cost
    from simdoc_search.attach.backfill.targets import choose_fields
    from simdoc_search.stores.remote.connection import connect

    if field and "." in field:
        raise click.BadParameter(f"{field!r} contains a dot; choose a top-level field", param_hint="--field")
    if full and not stale:
        raise click.UsageError("--full only works with --stale; add --stale")
    change = make_settings_changer(options, passages=add_passages)
    client, index = connect(url, engine=engine)
    field, text_fields = choose_fields(client, index, field, text_fields)
    backfill_options = BackfillOptions(text_fields, field, stale, throttle, change, full=full, force=force)
    if dry_run:
        _print_estimate(estimate_cost(client, index, backfill_options), f"{client.name}/{index}", as_json)
    else:
        _run(client, index, backfill_options, as_json, in_engine=in_engine)


def _run(engine: Engine, index: str, options: BackfillOptions, as_json: bool, *, in_engine: bool) -> None:
    from simdoc_search.attach.backfill import Backfill
    from simdoc_search.stores.remote.pipelines import DEFAULT_PIPELINE

    with document_progress(hidden=as_json, has_total=True) as update:

        def progress(done: int, total: int) -> None:
            update(completed=done, total=max(done, total))

        run = Backfill(engine, index, options, progress, pipeline=DEFAULT_PIPELINE if in_engine else "")
        report, is_interrupted = run.report, False
        try:
            run.run()
        except KeyboardInterrupt:
            is_interrupted = True
    if as_json:
        print_json({"url": f"{engine.name}/{index}", "interrupted": is_interrupted, **asdict(report)})
    elif not (is_interrupted and in_engine):  # the engine does not report the counts of a cancelled task
        _print_report(report, "compared before" if options.stale else "fingerprinted before")
    if is_interrupted:
        raise CommandInterruptedError("interrupted; run the same command again to resume")
    if report.refused or report.skipped_indices:
        raise SystemExit(1)


def _print_report(report: BackfillReport, unread_state: str) -> None:
    optional = {
        "without words": report.wordless_count,
        "without a text any more (fingerprint removed)": report.removed_count,
        "without text": report.textless_count,
        f"not read ({unread_state}, or without text)": report.unread_count,
        "read again because other programs changed the document": report.conflict_count,
        "deleted in the meantime": report.deleted_count,
        "possibly updated (the engine had not answered yet)": report.unconfirmed_count,
        "refused": len(report.refused),
    }
    counts = {"unchanged": report.unchanged_count} | {name: count for name, count in optional.items() if count}
    updated = f"{format_count(report.updated_count, 'document')} updated"
    say(", ".join([updated, *(f"{count:,} {name}" for name, count in counts.items())]) + f" ({report.seconds:.1f} s)")
    print_incomplete_documents(report.incomplete)
    for document in report.refused[:_MAX_PRINTED_REFUSALS]:
        say(f"  {document.index}: {document.id}: {document.reason}", err=True)
    if len(report.refused) > _MAX_PRINTED_REFUSALS:
        say(f"  and {len(report.refused) - _MAX_PRINTED_REFUSALS:,} more; --json lists all", err=True)
    _print_notes(report.skipped_indices, report.notes)


def _print_notes(skipped: Iterable[SkippedIndex], notes: Iterable[str]) -> None:
    for note in notes:
        say(f"note: {note}", err=True)
    indices_by_reason: dict[str, list[str]] = {}
    for index in skipped:
        indices_by_reason.setdefault(index.reason, []).append(index.index)
    for reason, indices in indices_by_reason.items():
        say(f"skipped: {', '.join(indices)}: {reason}", err=True)


def _print_estimate(estimate: CostEstimate, url: str, as_json: bool) -> None:
    if as_json:
        print_json({"url": url, "bytes_per_document": round(estimate.bytes_per_document), **asdict(estimate)})
    else:
        is_exact = estimate.max_write_count == estimate.write_count
        writes = (
            f"{estimate.write_count:,}"
            if is_exact
            else f"about {estimate.write_count:,} (at most {estimate.max_write_count:,})"
        )
        if estimate.document_count or not estimate.skipped_indices:
            say(f"documents  {estimate.document_count:,} to read, of which {writes} would be written")
        if estimate.max_write_count:
            _print_cost(estimate)
        _print_notes(estimate.skipped_indices, estimate.notes)
        say("nothing was written")
    if estimate.skipped_indices:
        raise SystemExit(1)


def _print_cost(estimate: CostEstimate) -> None:
    added, max_added = format_bytes(estimate.bytes_added), format_bytes(estimate.max_bytes_added)
    say(
        f"disk       {added} more ({estimate.bytes_per_document:,.0f} bytes per document), but up to {max_added} more "
        "until the engine merges segments; `GET _cat/allocation` shows the free space"
    )
    sample = format_count(estimate.sampled_count, "document")
    say(f"time       {_format_duration(estimate.seconds)}, estimated from {sample}")


def _format_duration(seconds: float) -> str:
    if seconds < 90:
        return f"about {max(1, seconds):.0f} s"
    return f"about {seconds / 60:.0f} min" if seconds < 5400 else f"about {seconds / 3600:.1f} h"
