"""`simdoc-search duplicates`: which documents could go, each for one that stays?"""

from __future__ import annotations

import os
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from simdoc_search.cli.common import (
    Interrupted,
    document_progress,
    errors_as_sentences,
    field_options,
    json_option,
    say,
    share_progress,
    store_option,
)
from simdoc_search.cli.comparison_options import ignore_option, ignored_texts
from simdoc_search.cli.complete import complete_paths
from simdoc_search.cli.config import set_for
from simdoc_search.cli.duplicates_marks import check_can_mark, mark, mark_option
from simdoc_search.cli.duplicates_plan import (
    as_before_option,
    check_plan,
    drop_option,
    keep_in_option,
    kept_by,
    make_plan,
    plan_option,
)
from simdoc_search.cli.duplicates_via import going_on_with
from simdoc_search.cli.open_store import open_to_ask
from simdoc_search.cli.query_options import (
    GivenFilters,
    day_type,
    filter_options,
    filters_of,
    percent_type,
    say_unused_exclusions,
)
from simdoc_search.display import counted

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from simdoc_search.duplicates import Via
    from simdoc_search.duplicates.measures import MeasureName
    from simdoc_search.duplicates.verdicts import Widened
    from simdoc_search.search import SimilaritySearch
    from simdoc_search.stores.base import Store
    from simdoc_search.stores.location import EngineKind


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
    help="Which document to keep: longest, first (by id), newest, oldest, max:FIELD or min:FIELD of the metadata. "
    "longest prefers the text that most copies share verbatim, then the longest one.",
)
@keep_in_option
@as_before_option
@click.option(
    "--since", type=day_type, metavar="DATE", help="Compare only what changed since then, with all: 2026-11-30."
)
@click.option("--new", "only_new", is_flag=True, help="Compare only what is new or changed in FOLDER, with all.")
@click.option("--estimate", is_flag=True, help="Do not compare the texts; the fingerprints decide.")
@ignore_option
@click.option(
    "--via",
    type=click.Choice(["memory", "engine"]),
    default="memory",
    show_default=True,
    help="Who compares: this machine, or the engine of the store, for more than fits in here.",
)
@click.option(
    "--checkpoint", type=click.Path(dir_okay=False), metavar="FILE",
    help="With --via engine: note in FILE what is done, and go on from what is noted there.",
)  # fmt: skip
@click.option(
    "--differences", is_flag=True, help="Say of each near one which words differ; takes about ten times as long."
)
@click.option("--limit", type=click.IntRange(min=1), help="Show the N groups that save most.", metavar="N")
@click.option(
    "--csv", "csv_file", type=click.Path(dir_okay=False, allow_dash=True), metavar="FILE",
    help="Write all pairs as CSV; - is stdout.",
)  # fmt: skip
@plan_option
@drop_option
@click.option("--html", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="Write one page: the groups, with both texts behind each near one.")  # fmt: skip
@click.option("--fail-if-any", is_flag=True, help="Exit code 1 if there is a group.")
@mark_option
@field_options
@store_option
@json_option
@errors_as_sentences
def duplicates(
    folders: tuple[str, ...],
    overlap: Fraction,
    measure: MeasureName,
    filters: GivenFilters,
    excluded: GivenFilters,
    keep: str,
    keep_in: tuple[str, ...],
    as_before: str | None,
    since: datetime | None,
    only_new: bool,
    estimate: bool,
    ignore: tuple[str, ...],
    via: Via,
    checkpoint: str | None,
    differences: bool,
    limit: int | None,
    csv_file: str | None,
    plan: str | None,
    drop: Widened | None,
    html: Path | None,
    fail_if_any: bool,
    marking: bool,
    text_fields: tuple[str, ...],
    field: str | None,
    store: str,
    engine: EngineKind | None,
    as_json: bool,
) -> None:
    """Find duplicates in the store; a FOLDER is indexed first, and only its documents are looked at.

    Each group begins with the document to keep. Each other document is shown with what to do and why. Only files with
    equal bytes are proposed as "drop". "decide" means that you choose: the file has the same text, the same words or a
    part of the words, but other bytes. The command changes nothing, except with --mark.

    --exclude leaves out documents by their metadata. Which files of a FOLDER are left out by their names is said in
    simdoc.toml, under [index] exclude, or by simdoc-search index FOLDER --exclude before.

    \b
      simdoc-search duplicates ./corpus
      simdoc-search duplicates --overlap 95 --keep newest
      simdoc-search duplicates --filter path=reports/ --csv pairs.csv
      simdoc-search duplicates ./corpus --plan plan.tsv
    """
    from simdoc_search.cli.duplicates_page import write_page
    from simdoc_search.cli.duplicates_report import check_outputs, print_as_json, print_for_people, write_csv

    if only_new and not folders:
        raise click.UsageError("--new needs a FOLDER to look for new documents in; --since takes a date")
    new: list[str] = []
    check_outputs(csv_file, html, folders, as_json=as_json)
    check_plan(plan)
    kept_before = kept_by(as_before)
    if marking:
        check_can_mark(store, compares_all=not (only_new or since))
    search, problems = indexed(
        folders,
        partial(open_to_ask, store, engine=engine, text_field=text_fields, field=field),
        new.append,
        quiet=as_json,
    )
    say_unused_exclusions(search.store, excluded)
    only_folders = all(map(os.path.isdir, folders)) and not only_new
    if not only_folders and not only_new:
        say("looked at are all documents of the store, as not everything named is a folder", err=True)
    with share_progress(hidden=as_json) as update, going_on_with(via, checkpoint):
        found = search.duplicates(
            overlap=overlap,
            measure=measure,
            filters=filters_of(filters, excluded),
            within=[os.path.abspath(each) for each in folders] if only_folders else (),  # noqa: PTH100 - links as they are
            since=since and since.astimezone(),
            new=new if only_new else None,
            keep=keep,
            kept_before=[*kept_before, *(search.kept_by_marks() if marking else ())],
            keep_in=keep_in,
            verify=not estimate,
            via=via,
            checkpoint=checkpoint,
            drop=drop,
            progress=update,
            ignore=ignored_texts(ignore, lambda: search),
        )
    marks = mark(search, found, quiet=as_json) if marking else None
    if csv_file:
        write_csv(found, csv_file)
    if plan:
        make_plan(found, plan, search.store, store, quiet=as_json)
    if html:
        write_page(html, found, search.store.settings.analysis, limit=limit, asked_to_estimate=estimate)
    if as_json:
        print_as_json(found, keep, limit, problems, with_differences=differences, marks=marks)
    elif csv_file != "-":
        print_for_people(found, limit, with_differences=differences, asked_to_estimate=estimate)
    if html and not as_json and csv_file != "-":
        say(f"page: {html}")
    if problems or (marks and marks.refused) or (fail_if_any and found.group_count):
        raise SystemExit(1)


def indexed(
    paths: tuple[str, ...], opened: Callable[..., Store], written: Callable[[str], None], *, quiet: bool
) -> tuple[SimilaritySearch, list[str]]:
    """Bring the store up to date with these folders, and open it; what could not be done is said, and returned.

    Raises:
        CorpusError: nothing of what was named can be read; no store is made for nothing.
    """
    from simdoc_search.corpus import read_corpus
    from simdoc_search.indexing import FILE_TIMEOUT, require_readable
    from simdoc_search.search import SimilaritySearch
    from simdoc_search.workers import ItemLimits, fair_memory

    problems: list[str] = []
    workers = os.cpu_count() or 1
    limits = ItemLimits(FILE_TIMEOUT, fair_memory(workers))
    exclude = set_for("index", "exclude") or ()  # a folder has the same documents, whoever reads it
    sources = require_readable(read_corpus(paths, exclude=exclude, limits=limits), problems)
    search = SimilaritySearch(opened(create=bool(paths)))
    if not paths:
        return search, []
    try:
        with document_progress(hidden=quiet) as update:
            report = search.index(
                sources,
                workers=workers,
                archives=bool(set_for("index", "archives")),
                own_ids=True,
                progress=lambda count: update(advance=count),
                written=written,
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
