"""`simdoc-search status`: how are the documents of an index?"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

from simdoc_search.cli.common import engine_option, errors_as_sentences, field_options, json_option, print_json, say

if TYPE_CHECKING:
    from simdoc_search.stores.location import EngineKind


def _share(_context: click.Context, _parameter: click.Parameter, value: str | None) -> float | None:
    found = re.fullmatch(r"(\d{1,3}(?:\.\d+)?) ?%?", value or "")
    if value is not None and (not found or float(found[1]) > 100):
        raise click.BadParameter(f"{value!r} is no percentage, such as 1%")
    return float(found[1]) / 100 if found else None


@click.command()
@click.argument("url")
@field_options
@click.option(
    "--sample",
    type=click.IntRange(0, 10_000),
    default=200,
    show_default=True,
    help="Draw at most so many documents, and make their fingerprints again.",
)
@click.option("--disk-usage", is_flag=True, help="Ask also what the field takes: Elasticsearch reads the whole index.")
@click.option("--max-stale", callback=_share, metavar="PERCENT", help="Exit code 1 if more are estimated to be stale.")
@click.option("--max-missing", callback=_share, metavar="PERCENT", help="Exit code 1 if more have no fingerprint.")
@click.option("--prometheus", is_flag=True, help="Print metrics in the text format of Prometheus.")
@engine_option
@json_option
@errors_as_sentences
def status(
    url: str,
    field: str | None,
    text_fields: tuple[str, ...],
    sample: int,
    disk_usage: bool,
    max_stale: float | None,
    max_missing: float | None,
    prometheus: bool,
    engine: EngineKind | None,
    as_json: bool,
) -> None:
    """Say how the documents of an index are, or of all behind an alias or a pattern: `check` says how the index is.

    Counted are those with a fingerprint, without one, with one of other settings, and those for which the engine's
    pipeline could make none. How many are stale, of another text than the document has now, a sample tells: of the
    documents written since `backfill --stale` compared texts. If all of these are looked at, the number is exact.

    \b
      simdoc-search status http://localhost:9200/articles
      simdoc-search status http://localhost:9200/articles --max-stale 1% --max-missing 5%
    """
    from simdoc_search.attach.status import survey
    from simdoc_search.cli.status_output import as_values, lines_of, metrics_of, passed
    from simdoc_search.stores.remote.connection import connect

    if as_json and prometheus:
        raise click.UsageError("--json or --prometheus, one of them")
    asked, index = connect(url, engine=engine)
    found = survey(asked, index, field=field, text_fields=text_fields, sample=sample, disk_usage=disk_usage)
    if max_stale is not None and found.staleness is None:
        raise click.ClickException(f"how many are stale is not known: {found.not_sampled}")
    if as_json:
        print_json({"url": f"{asked.name}/{index}", **as_values(found)})
    else:
        for line in metrics_of(found, index) if prometheus else lines_of(found):
            say(line)
    too_many = list(passed(found, max_stale, max_missing))
    for line in too_many:
        say(line, err=True)
    if too_many:
        raise SystemExit(1)
