"""`simdoc-search dedupe`: removes the duplicate rows of a dataset."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from simdoc_search.cli.common import (
    explain_interruption,
    json_option,
    make_progress,
    print_json,
    say,
    workers_option,
)
from simdoc_search.cli.complete import complete_paths
from simdoc_search.cli.help_layout import Command
from simdoc_search.cli.query_options import measure_option, min_overlap_option
from simdoc_search.display import format_count

if TYPE_CHECKING:
    from collections.abc import Callable

    from simdoc_search.dedupe import DedupeReport
    from simdoc_search.passages.exact_overlap import MeasureName


_MAX_LISTED_ROWS = 5
_MAX_RUN_CHARACTERS = 200


@click.command(cls=Command, main_options=["--output", "--text", "--overlap", "--keep", "--annotate"])
@click.argument("source", metavar="DATASET", type=click.Path(), shell_complete=complete_paths)
@click.option(
    "-o", "--output", required=True, type=click.Path(), metavar="PATH",
    help="File or folder to write. It gets the columns and the order of DATASET. The extension decides the format.",
)  # fmt: skip
@click.option("--text", metavar="COLUMN", help="Column with the texts.  [default: guessed and printed]")
@click.option(
    "--id", metavar="COLUMN", help="Column with the ids, to name rows in the output.  [default: row numbers from 0]"
)
@min_overlap_option
@measure_option("rows", "the removed row", "the kept row")
@click.option(
    "--keep", default="longest", show_default=True, metavar="RULE",
    help="Which row of a group to keep: `longest`, `first`, or the one with the highest (`max:COLUMN`) or lowest "
    "(`min:COLUMN`) value. `longest` prefers the text that most copies share verbatim, then the longest text.",
)  # fmt: skip
@click.option(
    "--annotate", is_flag=True,
    help="Write all rows, with the columns duplicate_of, cluster, overlap and kind. Remove nothing.",
)  # fmt: skip
@click.option(
    "--pairs", type=click.Path(dir_okay=False), metavar="FILE",
    help="Write a table to FILE (.csv, .jsonl or .parquet): each removed row and the row that was kept instead.",
)  # fmt: skip
@click.option(
    "--report", "page", type=click.Path(dir_okay=False), metavar="FILE",
    help="Write an HTML page with the groups. You can open each near duplicate side by side with the kept row.",
)  # fmt: skip
@click.option(
    "--against", type=click.Path(), metavar="OLD",
    help="Also remove duplicates of the rows in OLD, which is a dataset or a folder that --save wrote.",
)  # fmt: skip
@click.option(
    "--save", type=click.Path(file_okay=False), metavar="DIR",
    help="Save the kept rows in DIR, for --against in a later run. With --against, DIR also contains the old rows.",
)  # fmt: skip
@click.option(
    "--decontaminate", type=click.Path(), multiple=True, metavar="EVAL",
    help="Also remove rows that share a run of consecutive words with the evaluation set EVAL. Repeatable.",
)  # fmt: skip
@click.option(
    "--run-words", type=click.IntRange(min=1), default=13, show_default=True, metavar="N",
    help="With --decontaminate: number of words in a run.",
)  # fmt: skip
@workers_option
@json_option
def dedupe(
    source: str,
    output: str,
    text: str | None,
    id: str | None,
    overlap: Fraction,
    measure: MeasureName,
    keep: str,
    annotate: bool,
    pairs: str | None,
    page: str | None,
    against: str | None,
    save: str | None,
    decontaminate: tuple[str, ...],
    run_words: int,
    workers: int,
    as_json: bool,
) -> None:
    """Remove the duplicate rows of a dataset, and write the kept rows.

    DATASET is a Parquet, JSONL, CSV or Arrow file, a folder of such files, or a saved Hugging Face dataset. JSONL and
    CSV may be compressed (.gz, .zst). A duplicate is only removed after its text was compared with the kept row's.

    \b
      simdoc-search dedupe data.parquet -o kept.parquet
      simdoc-search dedupe shards/ -o kept/ --text content --keep max:score
      simdoc-search dedupe data.jsonl.gz -o marked.jsonl.gz --annotate --id url

    If the command is interrupted, run it again; it resumes. Rows that cannot be compared are kept and listed.
    """
    from simdoc_search.dedupe import DedupeOptions, deduplicate_files

    options = DedupeOptions(text=text, id=id, overlap=overlap, keep=keep, measure=measure, run_words=run_words)
    with explain_interruption(), _row_progress(hidden=as_json) as update:
        report = deduplicate_files(
            source, output, options, annotate=annotate, pairs=pairs, page=page, against=against, save=save,
            decontaminate=decontaminate, workers=workers, progress=update,
            warn=lambda note: say(f"note: {note}", err=True),
        )  # fmt: skip
    if as_json:
        print_json({**report.to_dict(), "output": output})
    else:
        _print_report(report, Path(output), run_words, annotate=annotate)


def _print_report(report: DedupeReport, output: Path, run_words: int, *, annotate: bool) -> None:
    if report.is_text_column_guessed:
        say(f"note: compared the column {report.text_column!r}; choose another one with --text", err=True)
    counts = report.removed_counts.items()
    removed = ", ".join(f"{count:,} {_describe_kind(kind, count)}" for kind, count in counts if count)
    verb = "found" if annotate else "removed"
    say(
        f"{format_count(report.row_count, 'row')}: {report.kept_count:,} kept, {report.removed_count:,} {verb}"
        f"{f' ({removed})' if removed else ''}"
    )
    for reason, count in report.left_out_counts.items():
        rows = [row for row in report.left_out_rows if row.reason == reason][:_MAX_LISTED_ROWS]
        listed = ", ".join(f"{row.shard}:{row.row}" for row in rows) + (", ..." if count > len(rows) else "")
        kept = "was kept without being compared" if count == 1 else "were kept without being compared"
        say(f"note: {format_count(count, 'row')} {reason} {kept}: {listed}", err=True)
    if report.partly_compared_row_count:
        say(
            f"note: {format_count(report.partly_compared_row_count, 'kept row was', 'kept rows were')} compared with "
            "only some of the similar rows, because too many rows are similar",
            err=True,
        )
    if report.valueless_count:
        say(
            f"note: {format_count(report.valueless_count, 'row has', 'rows have')} neither a number nor text in the "
            "column of --keep: any other row is preferred",
            err=True,
        )
    if report.string_count:
        say(
            f"note: {format_count(report.string_count, 'row has', 'rows have')} text, not a number, in the column of "
            "--keep: text is compared character by character, and any number is preferred to text",
            err=True,
        )
    if report.old_row_count:
        old = format_count(report.old_row_count, "row")
        say(f"compared with {old} of --against: {format_count(report.old_duplicate_count, 'duplicate')} {verb}")
    for row in report.evaluation_rows[:_MAX_LISTED_ROWS]:
        run = row.shared_words[:_MAX_RUN_CHARACTERS]
        say(f"{row.shard}:{row.row} shares consecutive words with {row.evaluation_text}: {run}")
    if report.evaluation and (short_text_count := report.evaluation.short_text_count):
        names = ", ".join(report.evaluation.short_text_names[:_MAX_LISTED_ROWS])
        more = ", ..." if short_text_count > _MAX_LISTED_ROWS else ""
        advice = "to compare shorter texts, give a smaller --run-words"
        say(
            f"note: evaluation texts with fewer than {run_words} words were skipped ({short_text_count:,} in total): "
            f"{names}{more}; {advice}",
            err=True,
        )
    if report.copied_files:
        files_were = format_count(len(report.copied_files), "other file was", "other files were")
        say(f"note: {files_were} copied unchanged from the folder", err=True)
    say(f"written: {output}")


def _describe_kind(kind: str, count: int) -> str:
    if kind == "near":
        return "near duplicate" if count == 1 else "near duplicates"
    if kind == "evaluation":
        return "with consecutive words of an evaluation text"
    return f"with the {kind}"


@contextmanager
def _row_progress(*, hidden: bool) -> Iterator[Callable[[str, float, int], None]]:
    """Show a bar on stderr for each stage, with the number of rows per second and the remaining time.

    Yields:
        A function that takes the name of a stage, the completed share of this stage, 0..1, and the completed rows.
    """
    from rich.progress import BarColumn, TextColumn

    rows_column = TextColumn("{task.fields[rows]:,} rows, {task.fields[rate]}")
    columns = (TextColumn("{task.description:<10}"), BarColumn(), rows_column)
    with make_progress(hidden, *columns, shows_remaining_time=True) as bar:
        stages: dict[str, Any] = {}

        def update(stage: str, share: float, rows: int) -> None:
            if stage not in stages:
                stages[stage] = bar.add_task(stage, total=1.0 if share else None, rows=0, rate="", first_row=rows)
            task = bar.tasks[stages[stage]]
            seconds = task.elapsed or 0
            rate = f"{(rows - task.fields['first_row']) / seconds:,.0f}/s" if seconds > 1 else ""
            bar.update(stages[stage], total=1.0 if share else None, completed=share, rows=rows, rate=rate)

        yield update
