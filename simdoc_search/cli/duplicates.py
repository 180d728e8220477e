"""`simdoc-search duplicates`: finds groups of duplicates, and proposes which documents to keep."""

from __future__ import annotations

import os
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import click

from simdoc_search.cli.common import json_option, say, stage_progress, workers_option
from simdoc_search.cli.comparison_options import ignore_option, read_ignored_texts
from simdoc_search.cli.complete import complete_paths
from simdoc_search.cli.help_layout import Command
from simdoc_search.cli.index_location_options import ChosenIndex, index_options
from simdoc_search.cli.index_paths import index_paths
from simdoc_search.cli.query_options import (
    FilterPairs,
    date_type,
    filter_options,
    is_any_option_given,
    make_filters,
    measure_option,
    min_overlap_option,
    warn_unused_exclusions,
)

if TYPE_CHECKING:
    from datetime import datetime

    from simdoc_search.duplicates.verdicts import DropScope
    from simdoc_search.passages.exact_overlap import MeasureName


@click.command(
    cls=Command, main_options=["--overlap", "--keep", "--plan", "--mark", "--html", "--size"], shows_time=True
)
@click.argument("folders", nargs=-1, metavar="[FOLDER]...", shell_complete=complete_paths)
@min_overlap_option
@measure_option("documents", "the duplicate", "the kept document")
@filter_options
@click.option(
    "--keep", default="longest", show_default=True, metavar="RULE",
    help="Which document of a group to keep: `longest`, `first` (by id), `newest`, `oldest`, or the one with the "
    "highest (`max:FIELD`) or lowest (`min:FIELD`) metadata value. `longest` prefers the text that most copies share "
    "verbatim, then the longest text.",
)  # fmt: skip
@click.option(
    "--keep-in", multiple=True, metavar="FOLDER|PREFIX", shell_complete=complete_paths,
    help="Prefer to keep the files in FOLDER, or documents whose id begins with PREFIX, such as originals/. Overrides "
    "--keep. Repeatable.",
)  # fmt: skip
@click.option(
    "--previous-plan", type=click.Path(dir_okay=False), metavar="PLAN",
    help="Keep the same documents as the earlier plan PLAN. Overrides --keep.",
)  # fmt: skip
@click.option(
    "--since",
    type=date_type,
    metavar="DATE",
    help="Only find duplicates of files that changed since DATE, such as 2026-11-30.",
)
@click.option(
    "--new",
    "only_new",
    is_flag=True,
    help="Only find duplicates of files in FOLDER that were added or changed since FOLDER was last indexed.",
)
@click.option("--estimate", is_flag=True, help="Estimate overlaps from the fingerprints. Do not compare the texts.")
@ignore_option
@click.option(
    "--size", type=click.IntRange(min=1), help="Show only the N groups with the most space to free.", metavar="N"
)
@click.option(
    "--csv", "csv_file", type=click.Path(dir_okay=False, allow_dash=True), metavar="FILE",
    help="Write all pairs to FILE as CSV. Use - for stdout.",
)  # fmt: skip
@click.option(
    "--plan", type=click.Path(dir_okay=False), metavar="FILE",
    help="Write a plan to FILE, for `apply`. FILE must not exist. You can edit the plan before you run `apply`.",
)  # fmt: skip
@click.option(
    "--drop", type=click.Choice(["same-text", "same-words"]),
    help="Also give the action `drop` to files with the same text or words as the kept file, not only to files with "
    "the same bytes. `apply` moves or deletes files with this action. Their pictures, layout or "
    "punctuation may differ from the kept file, but not the signs of numbers or the cells of a table. "
    "`same-words` includes `same-text`.",
)  # fmt: skip
@click.option(
    "--html", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
    help="Write an HTML page with the groups. You can open each near duplicate side by side with the kept document.",
)  # fmt: skip
@click.option("--fail-if-any", is_flag=True, help="Exit with status 1 if there are duplicates.")
@click.option(
    "--mark", "sets_marks", is_flag=True,
    help="Mark the duplicates in the index of an engine. Sets the fields simdoc.duplicate_of and simdoc.cluster. "
    "Without --keep and --keep-in, documents that an earlier run kept are kept again.",
)  # fmt: skip
@workers_option
@index_options()
@json_option
def duplicates(
    folders: tuple[str, ...],
    overlap: Fraction,
    measure: MeasureName,
    filters: FilterPairs,
    excluded: FilterPairs,
    keep: str,
    keep_in: tuple[str, ...],
    previous_plan: str | None,
    since: datetime | None,
    only_new: bool,
    estimate: bool,
    ignore: tuple[str, ...],
    size: int | None,
    csv_file: str | None,
    plan: str | None,
    drop: DropScope | None,
    html: Path | None,
    fail_if_any: bool,
    sets_marks: bool,
    workers: int,
    index: ChosenIndex,
    as_json: bool,
) -> None:
    """Find copies in a folder or the index, and propose which to keep.

    With FOLDER, the command first indexes the folder, and then compares only the documents in it. Files without text,
    such as photos and scans, are duplicates if their bytes are equal.

    \b
      simdoc-search duplicates ~/Documents
      simdoc-search duplicates ~/Documents --plan plan.tsv --keep newest
      simdoc-search duplicates --store http://localhost:9200/articles --mark
      simdoc-search duplicates --filter path=reports/ --csv pairs.csv

    Each group begins with the document to keep. For each other document, the command proposes an action and gives the
    reason. It proposes `drop` if the file has the same bytes as the kept file. It proposes `decide` if only the text,
    the words or some of the words are the same. The command never changes files. With --mark, it changes documents in
    the engine.

    To skip files of FOLDER by name, set `exclude-files` in the [index] table of simdoc.toml.
    """
    from simdoc_search.cli.duplicates_hints import hint_lines
    from simdoc_search.cli.duplicates_output import (
        check_can_mark,
        check_output_files,
        print_as_json,
        print_groups,
        save_plan,
        set_marks,
        write_csv,
    )
    from simdoc_search.cli.duplicates_page import write_page
    from simdoc_search.duplicates.plan import read_plan

    if only_new and not folders:
        raise click.UsageError("--new needs FOLDER; without a folder, use --since DATE")
    check_output_files(csv_file, html, plan, folders, as_json=as_json)
    preferred_ids = [row.key.id for row in read_plan(previous_plan) if row.action == "keep"] if previous_plan else []
    if sets_marks:
        check_can_mark(index.location, compares_all=not (only_new or since))

    new_ids: list[str] = []
    search, problems, _, skipped = index_paths(
        folders, index, new_ids.append, workers=workers, quiet=as_json, compares_skipped=not only_new
    )
    warn_unused_exclusions(search.store, excluded)
    only_folders = all(map(os.path.isdir, folders)) and not only_new
    if not only_folders and not only_new:
        say(
            "comparing all documents in the index, because one of the given paths is not a folder; to compare only the "
            "documents of some folders, give only folders",
            err=True,
        )
    if sets_marks and not is_any_option_given("keep", "keep_in"):
        preferred_ids += search.read_kept_ids()
    with stage_progress(hidden=as_json) as update:
        result = search.duplicates(
            overlap=overlap,
            measure=measure,
            filters=make_filters(filters, excluded),
            in_folders=[os.path.abspath(folder) for folder in folders] if only_folders else (),  # noqa: PTH100 - Path.resolve would follow links
            since=since and since.astimezone(),
            new_ids=new_ids if only_new else None,
            keep=keep,
            preferred_ids=preferred_ids,
            keep_in=keep_in,
            skipped=None if only_new or sets_marks or not folders else skipped,
            verify=not estimate,
            drop=drop,
            progress=update,
            ignore=read_ignored_texts(ignore, lambda: search),
            workers=workers,
        )
    marks = set_marks(search, result, quiet=as_json) if sets_marks else None
    if csv_file:
        write_csv(result, csv_file)
    if plan:
        save_plan(result, plan, search.store, index.location, folders, quiet=as_json)
    if html:
        write_page(html, result, search.store, index.location, limit=size, is_estimate_requested=estimate)
    if as_json:
        print_as_json(result, keep, size, problems, marks)
    elif csv_file != "-":
        print_groups(result, size, html, search.store, index.location, is_estimate_requested=estimate)
        if not (plan or html or csv_file or fail_if_any or sets_marks):
            has_overlap = is_any_option_given("overlap")
            for line in hint_lines(result, search.store, index.location, folders, keep=keep, has_overlap=has_overlap):
                say(line, err=True)
    if problems or (marks and marks.refused_count) or (fail_if_any and result.group_count):
        raise SystemExit(1)
