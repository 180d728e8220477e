"""`simdoc-search duplicates`: finds duplicates, and proposes which documents to keep."""

from __future__ import annotations

import os
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import click

from simdoc_search.cli.common import (
    Interrupted,
    document_progress,
    errors_as_sentences,
    field_options,
    json_option,
    open_for_query,
    say,
    share_progress,
    store_option,
)
from simdoc_search.cli.comparison_options import ignore_option, ignored_texts
from simdoc_search.cli.complete import complete_paths
from simdoc_search.cli.config import set_for
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
    from simdoc_search.duplicates.verdicts import DropScope
    from simdoc_search.search import SimilaritySearch
    from simdoc_search.stores.base import Store
    from simdoc_search.stores.location import EngineKind


@click.command()
@click.argument("folders", nargs=-1, metavar="[FOLDER]...", shell_complete=complete_paths)
@click.option("--overlap", type=percent_type, default="80", show_default=True, metavar="PERCENT", help="Least overlap.")
@click.option(
    "--measure", type=click.Choice(["jaccard", "containment", "contained"]), default="jaccard", show_default=True,
    help="What overlap means: the share of both documents together (default), the share of a document that is in the "
    "kept one (containment), or the share of the kept one that is in the other (contained).",
)  # fmt: skip
@filter_options
@click.option(
    "--keep", default="longest", show_default=True, metavar="RULE",
    help="Which document to keep: longest, first (by id), newest, oldest, max:FIELD or min:FIELD of the metadata. "
    "longest prefers the text that most copies share verbatim, then the longest one.",
)  # fmt: skip
@click.option(
    "--keep-in", multiple=True, metavar="PREFIX",
    help="Keep documents whose id begins with PREFIX, such as originals/, whatever --keep says. May be repeated.",
)  # fmt: skip
@click.option(
    "--as-before", type=click.Path(dir_okay=False), metavar="PLAN",
    help="Keep the documents that an earlier plan keeps, whatever --keep says.",
)  # fmt: skip
@click.option(
    "--since", type=day_type, metavar="DATE", help="Compare only files changed since DATE (2026-11-30) with all others."
)
@click.option("--new", "only_new", is_flag=True, help="Compare only new and changed files in FOLDER with all others.")
@click.option("--estimate", is_flag=True, help="Do not compare the texts; estimate overlaps from the fingerprints.")
@ignore_option
@click.option(
    "--via", type=click.Choice(["memory", "engine"]), default="memory", show_default=True,
    help="Where documents are compared: in the memory of this machine, or in the engine of the store if they do not "
    "fit into memory.",
)  # fmt: skip
@click.option(
    "--checkpoint", type=click.Path(dir_okay=False), metavar="FILE",
    help="With --via engine: write the progress to FILE, and resume from it.",
)  # fmt: skip
@click.option("--limit", type=click.IntRange(min=1), help="Show the N groups that free most space.", metavar="N")
@click.option(
    "--csv", "csv_file", type=click.Path(dir_okay=False, allow_dash=True), metavar="FILE",
    help="Write all pairs as CSV; - is stdout.",
)  # fmt: skip
@click.option(
    "--plan", type=click.Path(dir_okay=False), metavar="FILE",
    help="Write a table of the groups to FILE, which you edit and simdoc-search apply executes. FILE must be new.",
)  # fmt: skip
@click.option(
    "--drop", type=click.Choice(["same-text", "same-words"]),
    help="What the plan drops besides files with equal bytes. Such files may have other pictures, layout or signs. "
    "same-words includes same-text.",
)  # fmt: skip
@click.option(
    "--html", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
    help="Write one page with the groups, and both texts behind each near duplicate.",
)  # fmt: skip
@click.option("--fail-if-any", is_flag=True, help="Exit with status 1 if there is a group.")
@click.option(
    "--mark", "marking", is_flag=True,
    help="Write into the documents of an engine which one each duplicates: simdoc.duplicate_of and simdoc.cluster.",
)  # fmt: skip
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
    limit: int | None,
    csv_file: str | None,
    plan: str | None,
    drop: DropScope | None,
    html: Path | None,
    fail_if_any: bool,
    marking: bool,
    text_fields: tuple[str, ...],
    field: str | None,
    store: str,
    engine: EngineKind | None,
    as_json: bool,
) -> None:
    """Find duplicates in the store. A FOLDER is indexed first, and only its documents are compared.

    Each group begins with its kept document. The others are shown with a proposed action and the reason. "drop" is
    only proposed for files with equal bytes. "decide" leaves the choice to you: the text, the words or a part of the
    words are equal, but not the bytes. The command changes nothing, except with --mark.

    --exclude leaves out documents by their metadata. To leave out files of a FOLDER by their names, set exclude in
    simdoc.toml, under [index] exclude, or run simdoc-search index FOLDER --exclude first.

    \b
      simdoc-search duplicates ./corpus
      simdoc-search duplicates --overlap 95 --keep newest
      simdoc-search duplicates --filter path=reports/ --csv pairs.csv
      simdoc-search duplicates ./corpus --plan plan.tsv
    """
    from simdoc_search.cli.duplicates_output import (
        check_can_mark,
        check_files,
        print_as_json,
        print_groups,
        save_plan,
        set_marks,
        write_csv,
    )
    from simdoc_search.cli.duplicates_page import write_page
    from simdoc_search.duplicates.plan import read_plan

    if only_new and not folders:
        raise click.UsageError("--new needs a FOLDER to look for new documents in; --since takes a date")
    check_files(csv_file, html, plan, folders, as_json=as_json)
    kept_before = [row.place.id for row in read_plan(as_before) if row.action == "keep"] if as_before else []
    if marking:
        check_can_mark(store, compares_all=not (only_new or since))

    def open_index(*, create: bool) -> Store:
        return open_for_query(store, engine=engine, text_field=text_fields, field=field, create=create)

    new: list[str] = []
    search, problems = indexed(folders, open_index, new.append, quiet=as_json)
    say_unused_exclusions(search.store, excluded)
    only_folders = all(map(os.path.isdir, folders)) and not only_new
    if not only_folders and not only_new:
        say("comparing all documents of the store, because not every path is a folder", err=True)
    if marking:
        kept_before += search.kept_by_marks()
    try:
        with share_progress(hidden=as_json) as update:
            found = search.duplicates(
                overlap=overlap,
                measure=measure,
                filters=filters_of(filters, excluded),
                within=[os.path.abspath(folder) for folder in folders] if only_folders else (),  # noqa: PTH100 - links as they are
                since=since and since.astimezone(),
                new=new if only_new else None,
                keep=keep,
                kept_before=kept_before,
                keep_in=keep_in,
                verify=not estimate,
                via=via,
                checkpoint=checkpoint,
                drop=drop,
                progress=update,
                ignore=ignored_texts(ignore, lambda: search),
            )
    except KeyboardInterrupt:
        if via == "memory":
            raise
        resume = (
            f"run the same command to resume from {checkpoint}" if checkpoint else "with --checkpoint you can resume"
        )
        raise Interrupted(f"interrupted; {resume}") from None
    marks = set_marks(search, found, quiet=as_json) if marking else None
    if csv_file:
        write_csv(found, csv_file)
    if plan:
        save_plan(found, plan, search.store, store, quiet=as_json)
    if html:
        write_page(html, found, search.store.settings.analysis, limit=limit, estimated_by_option=estimate)
    if as_json:
        print_as_json(found, keep, limit, problems, marks)
    elif csv_file != "-":
        print_groups(found, limit, html, estimated_by_option=estimate)
    if problems or (marks and marks.refused) or (fail_if_any and found.group_count):
        raise SystemExit(1)


def indexed(
    paths: tuple[str, ...], open_index: Callable[..., Store], written: Callable[[str], None], *, quiet: bool
) -> tuple[SimilaritySearch, list[str]]:
    """Bring the store up to date with some paths, and open it; returns the problems, which are also printed.

    Raises:
        CorpusError: nothing can be read. No store is made then.
    """
    from simdoc_search.corpus import read_corpus
    from simdoc_search.indexing import FILE_TIMEOUT, require_readable
    from simdoc_search.search import SimilaritySearch
    from simdoc_search.workers import ItemLimits, memory_per_worker

    problems: list[str] = []
    workers = os.cpu_count() or 1
    limits = ItemLimits(FILE_TIMEOUT, memory_per_worker(workers))
    exclude = set_for("index", "exclude") or ()  # a folder has the same documents, for all commands
    sources = require_readable(read_corpus(paths, exclude=exclude, limits=limits), problems)
    search = SimilaritySearch(open_index(create=bool(paths)))
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
        raise Interrupted("interrupted; finished documents are stored. Run the same command to resume") from None
    skipped = f", {len(report.skipped):,} skipped (simdoc-search index lists them)" if report.skipped else ""
    say(f"{report.indexed + report.replaced:,} indexed, {report.unchanged:,} unchanged{skipped}", err=True)
    problems += report.problems
    if report.refused:
        problems.append(f"the store refused {counted(len(report.refused), 'document')}")
    for problem in problems:
        say(f"Error: {problem}", err=True)
    return search, problems
