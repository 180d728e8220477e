"""`simdoc-search duplicates`: which documents could go, each for one that stays?"""

from __future__ import annotations

import itertools
import os
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from simdoc_search.cli.asking import Given, filter_options, filters_of, percent_type
from simdoc_search.cli.common import (
    Interrupted,
    counted,
    document_progress,
    errors_as_sentences,
    json_option,
    say,
    share_progress,
    store_option,
    text_field_option,
)
from simdoc_search.cli.complete import complete_paths
from simdoc_search.errors import CorpusError

if TYPE_CHECKING:
    from collections.abc import Callable

    from simdoc_search.duplicates.measures import MeasureName
    from simdoc_search.search import SimilaritySearch
    from simdoc_search.stores.base import Store
    from simdoc_search.stores.location import EngineKind

__all__ = ["duplicates"]


@click.command()
@click.argument("folders", nargs=-1, metavar="[FOLDER]...", shell_complete=complete_paths)
@click.option("--overlap", type=percent_type, default="80", show_default=True, metavar="PERCENT", help="Least overlap.")
@click.option(
    "--measure",
    type=click.Choice(["jaccard", "containment", "contained"]),
    default="jaccard",
    show_default=True,
    help="What overlap means: shared of all; the share of a document that is in the kept one; or the other way round.",
)
@filter_options
@click.option(
    "--keep",
    default="longest",
    show_default=True,
    metavar="RULE",
    help="Which one stays: longest, first (by id), newest, oldest, max:FIELD or min:FIELD of the metadata.",
)
@click.option("--estimate", is_flag=True, help="Do not compare the texts; the fingerprints decide.")
@click.option("--differences", is_flag=True, help="Say of each near one which words differ; slower.")
@click.option("--limit", type=click.IntRange(min=1), help="Show so many groups, those with most to save.")
@click.option(
    "--csv", "csv_file", type=click.Path(dir_okay=False, allow_dash=True), metavar="FILE",
    help="Write all pairs as CSV; - is stdout.",
)  # fmt: skip
@click.option("--html", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="Write one page: the groups, with both texts behind each near one.")  # fmt: skip
@click.option("--fail-if-any", is_flag=True, help="Exit code 1 if there is a group.")
@text_field_option
@store_option
@json_option
@errors_as_sentences
def duplicates(
    folders: tuple[str, ...],
    overlap: Fraction,
    measure: MeasureName,
    filters: Given,
    excluded: Given,
    keep: str,
    estimate: bool,
    differences: bool,
    limit: int | None,
    csv_file: str | None,
    html: Path | None,
    fail_if_any: bool,
    text_fields: tuple[str, ...],
    store: str,
    engine: EngineKind | None,
    as_json: bool,
) -> None:
    """Find duplicates in the store; a FOLDER is indexed first, and only its documents are looked at.

    Each group begins with the document that stays. Each other one was compared with it: identical (the same text), the
    same words (but for letter case and punctuation), or how many percent overlap. Nothing is changed.

    \b
      simdoc-search duplicates ./corpus
      simdoc-search duplicates --overlap 95 --keep newest
      simdoc-search duplicates --filter path=reports/ --csv pairs.csv
    """
    from simdoc_search.cli.duplicates_page import write_page
    from simdoc_search.cli.duplicates_report import print_as_json, print_for_people, write_csv
    from simdoc_search.stores import open_store

    if csv_file == "-" and as_json:
        raise click.UsageError("give --json or --csv -, as both go to stdout")
    search, problems = indexed(
        folders, partial(open_store, store, engine=engine, text_field=text_fields), quiet=as_json
    )
    only_folders = all(map(os.path.isdir, folders))
    if not only_folders:
        say("looked at are all documents of the store, as not everything named is a folder", err=True)
    with share_progress(hidden=as_json) as update:
        found = search.duplicates(
            overlap=overlap,
            measure=measure,
            filters=filters_of(filters, excluded),
            within=[os.path.abspath(each) for each in folders] if only_folders else (),  # noqa: PTH100 - links as they are
            keep=keep,
            verify=not estimate,
            progress=update,
        )
    if csv_file:
        write_csv(found, csv_file)
    if html:
        write_page(html, found, search.store.settings.analysis, limit=limit, asked_to_estimate=estimate)
    if as_json:
        print_as_json(found, keep, limit, problems, with_differences=differences)
    elif csv_file != "-":
        print_for_people(found, limit, with_differences=differences, asked_to_estimate=estimate)
    if html and not as_json and csv_file != "-":
        say(f"page: {html}")
    if problems or (fail_if_any and found.group_count):
        raise SystemExit(1)


def indexed(paths: tuple[str, ...], opened: Callable[..., Store], *, quiet: bool) -> tuple[SimilaritySearch, list[str]]:
    """Bring the store up to date with these folders, and open it; what could not be done is said, and returned.

    Raises:
        CorpusError: nothing of what was named can be read; no store is made for nothing.
    """
    from simdoc_search.corpus import read_corpus
    from simdoc_search.indexing import FILE_TIMEOUT, going_on
    from simdoc_search.search import SimilaritySearch
    from simdoc_search.workers import Limits, fair_memory

    problems: list[str] = []
    workers = os.cpu_count() or 1
    limits = Limits(FILE_TIMEOUT, fair_memory(workers))
    sources = going_on(read_corpus(paths, limits=limits), problems)
    first = list(itertools.islice(sources, 1))
    if problems and not first:
        raise CorpusError("; ".join(problems))
    search = SimilaritySearch(opened(create=bool(paths)))
    if not paths:
        return search, []
    try:
        with document_progress(hidden=quiet) as update:
            report = search.index(
                itertools.chain(first, sources), workers=workers, progress=lambda count: update(advance=count)
            )
    except KeyboardInterrupt:
        raise Interrupted("interrupted; what was ready is stored, run the same command to go on") from None
    skipped = f", {len(report.skipped):,} skipped (simdoc-search index lists them)" if report.skipped else ""
    say(f"{report.indexed + report.replaced:,} indexed, {report.unchanged:,} unchanged{skipped}", err=True)
    refused = [f"the store refused {counted(len(report.refused), 'document')}"] if report.refused else []
    problems += [*report.problems, *refused]
    for problem in problems:
        say(f"Error: {problem}", err=True)
    return search, problems
