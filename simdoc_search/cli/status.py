"""`simdoc-search status`: shows how many documents of an index have current fingerprints."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

from simdoc_search.cli.common import json_option, print_json, say
from simdoc_search.cli.help_layout import Command
from simdoc_search.cli.index_location_options import engine_option, field_options

if TYPE_CHECKING:
    from simdoc_search.stores.location import EngineKind

_MAX_SAMPLE_SIZE = 10_000


def _parse_percentage(_context: click.Context, _parameter: click.Parameter, value: str | None) -> float | None:
    match = re.fullmatch(r"(\d{1,3}(?:\.\d+)?) ?%?", value or "")
    if value is not None and (not match or float(match[1]) > 100):
        raise click.BadParameter(f"{value!r} is not a percentage, such as 1%")
    return float(match[1]) / 100 if match else None


@click.command(cls=Command)
@click.argument("store", metavar="[URL]", required=False, envvar="SIMDOC_STORE")
@field_options
@click.option("--sample", "sample_size", type=click.IntRange(0, _MAX_SAMPLE_SIZE), default=200, show_default=True,
              help="Maximum number of fingerprints to compare with the current texts.")  # fmt: skip
@click.option("--max-stale", callback=_parse_percentage, metavar="PERCENT",
              help="Exit with status 1 if more than PERCENT of the fingerprints are stale (estimated).")  # fmt: skip
@click.option("--max-missing", callback=_parse_percentage, metavar="PERCENT",
              help="Exit with status 1 if more than PERCENT of the documents have no fingerprint.")  # fmt: skip
@click.option("--prometheus", is_flag=True, help="Print metrics for Prometheus.")
@engine_option
@json_option
def status(
    store: str | None,
    field: str | None,
    text_fields: tuple[str, ...],
    sample_size: int,
    max_stale: float | None,
    max_missing: float | None,
    prometheus: bool,
    engine: EngineKind | None,
    as_json: bool,
) -> None:
    """Show how many documents have current fingerprints.

    URL names an index, an alias or a pattern. The default is the value of SIMDOC_STORE. The command counts the
    documents with and without a fingerprint. It also counts the fingerprints whose settings differ from those of the
    fingerprint field, and the documents for which the ingest pipeline failed.

    A fingerprint is stale if it does not match the current text. The command estimates the number of stale fingerprints
    from a sample of the documents written during or after the last `backfill --stale`. If the sample contains all of
    these documents, the number is exact. To find problems with the index itself, use `check`.

    \b
      simdoc-search status http://localhost:9200/articles
      simdoc-search status http://localhost:9200/articles --max-stale 1%
    """
    from simdoc_search.attach.inspection import inspect_indices
    from simdoc_search.cli.status_output import (
        describe_next_step,
        describe_uncertainty,
        exceeded_threshold_lines,
        inspection_as_json,
        inspection_lines,
        metric_lines,
    )
    from simdoc_search.stores.remote.connection import connect
    from simdoc_search.stores.remote.pipelines import find_missing_pipeline

    if prometheus and as_json:
        raise click.UsageError("give either --json or --prometheus, not both")
    if not store:
        raise click.UsageError("give the URL of the index, or set SIMDOC_STORE to it")
    client, index = connect(store, engine=engine)
    inspection = inspect_indices(client, index, field=field, text_fields=text_fields, sample_size=sample_size)
    if max_stale is not None and inspection.sample.not_compared_reason:
        raise click.ClickException(
            f"cannot estimate how many fingerprints are stale: {inspection.sample.not_compared_reason}"
        )
    if as_json:
        print_json({"url": f"{client.name}/{index}", **inspection_as_json(inspection)})
    elif prometheus:
        click.echo("\n".join(metric_lines(inspection, index)))
    else:
        for line in inspection_lines(inspection, client.name, index):
            say(line)
        if note := describe_uncertainty(inspection, max_stale, _MAX_SAMPLE_SIZE):
            say(note, err=True)
    exceeded = list(exceeded_threshold_lines(inspection, max_stale, max_missing, _MAX_SAMPLE_SIZE))
    for line in exceeded:
        say(line, err=True)
    pipeline = find_missing_pipeline(client, inspection.index_settings, inspection.all_indices[0].field)
    next_step = describe_next_step(inspection, f"{client.name}/{index}", pipeline)
    if next_step and (exceeded or not (as_json or prometheus)):
        say(next_step, err=True)
    if exceeded:
        raise SystemExit(1)
