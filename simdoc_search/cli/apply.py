"""`simdoc-search apply`: applies a plan of duplicates, or undoes its changes."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from simdoc_search.cli.apply_output import print_report, print_report_as_json, print_undo_report, update_command
from simdoc_search.cli.common import explain_interruption, json_option, print_json, say, shorten_path, stage_progress
from simdoc_search.cli.config import read_config_value
from simdoc_search.cli.help_layout import Command
from simdoc_search.cli.index_location_options import store_option
from simdoc_search.display import command_line, format_count
from simdoc_search.errors import StoreError, StoreNotFoundError

if TYPE_CHECKING:
    from simdoc_search.duplicates.plan import DropMethod, ExpectedChanges, PlanIndex, UndoReport
    from simdoc_search.indexing.restored_files import RestoredFiles
    from simdoc_search.stores.base import Store
    from simdoc_search.stores.location import EngineKind

_QUESTIONS = {"move": "Move {}", "delete": "Delete {}", "hardlink": "Replace {} with hard links"}


@click.command(cls=Command, main_options=["--dry-run", "--move-to", "--delete", "--hardlink", "--undo"])
@click.argument("plan", required=False, type=click.Path(), metavar="[PLAN]")
@click.option(
    "--move-to",
    type=click.Path(file_okay=False),
    metavar="DIR",
    help="Move the files marked `drop` in PLAN to DIR.",
)
@click.option(
    "--delete",
    is_flag=True,
    help="Delete the files marked `drop` in PLAN. Dropped documents without a file are removed from the index.",
)
@click.option(
    "--hardlink",
    is_flag=True,
    help="Replace each dropped file with a hard link to the kept file, if the two have the same bytes.",
)
@click.option("--undo", "undo_file", type=click.Path(), metavar="FILE", help="Undo the changes recorded in FILE.")
@click.option("--dry-run", is_flag=True, help="Check everything and print what would be done, but change nothing.")
@click.option(
    "--yes", is_flag=True, help="Do not ask for confirmation. Without a terminal, --delete requires this option."
)
@store_option
@json_option
def apply(
    plan: str | None,
    move_to: str | None,
    delete: bool,
    hardlink: bool,
    undo_file: str | None,
    dry_run: bool,
    yes: bool,
    store: str,
    engine: EngineKind | None,
    as_json: bool,
) -> None:
    """Move, delete or hard-link the duplicates listed in PLAN.

    First write PLAN with `duplicates --plan`, and edit it. The command changes the files marked `drop` in PLAN. If a
    file or the kept file of its group has changed since PLAN was written, the file is left alone and listed, and the
    exit status is 1. All changes are recorded in PLAN.undo. After an interruption, run the same command again to
    resume.

    \b
      simdoc-search apply plan.tsv --move-to ./dropped --dry-run
      simdoc-search apply plan.tsv --move-to ./dropped
      simdoc-search apply --undo plan.tsv.undo
    """
    is_chosen: dict[DropMethod, bool] = {"move": move_to is not None, "delete": delete, "hardlink": hardlink}
    methods = [method for method, chosen in is_chosen.items() if chosen]
    if undo_file is not None:
        if plan is not None or methods or dry_run:
            raise click.UsageError(
                "--undo cannot be combined with PLAN, --move-to, --delete, --hardlink or --dry-run; omit these options"
            )
        _undo(undo_file, store, engine, as_json=as_json)
        return
    if move_to is not None and not move_to.strip():
        raise click.UsageError("--move-to is empty; give a folder. If you used a shell variable, check that it is set")
    if plan is None or len(methods) != 1:
        raise click.UsageError("give PLAN and one of --move-to DIR, --delete or --hardlink; or give only --undo FILE")
    from simdoc_search.duplicates.plan import apply_plan, expected_changes, read_index, read_plan, undo_path

    rows, method, plan_undo_file = read_plan(plan), methods[0], undo_path(plan)
    expected, undo_command = expected_changes(rows), command_line(store, "apply", "--undo", plan_undo_file)
    store_to_update = _open_store_to_update(
        store, engine, is_required=bool(expected.fileless_document_count and method == "delete")
    )
    if move_to is not None and store_to_update is not None:
        _warn_if_indexed(Path(move_to), store_to_update)
    _confirm(expected, method, dry_run=dry_run, yes=yes)
    explanation = f"run the same command again to resume, or undo the changes with: {undo_command}"
    with explain_interruption(explanation), stage_progress(hidden=as_json) as update:
        report = apply_plan(
            rows, method, Path(plan_undo_file), move_to=move_to, store=store_to_update, dry_run=dry_run,
            progress=lambda share: update("applying", share),
        )  # fmt: skip
    if as_json:
        print_report_as_json(report, method, dry_run=dry_run)
    else:
        print_report(
            report, method, undo_command, store, dry_run=dry_run, store=store_to_update,
            has_table_rows=expected.fileless_document_count > 0
            and (store_to_update is None or store_to_update.is_simdoc_index),
            is_index_known=bool(read_index(Path(plan_undo_file)).location),
        )  # fmt: skip
    if report.left_alone or report.refused_groups or report.not_removed:
        raise SystemExit(1)


def _confirm(expected: ExpectedChanges, method: DropMethod, *, dry_run: bool, yes: bool) -> None:
    """Ask for confirmation in a terminal. Without `--yes`, refuse to delete anything that cannot be restored."""
    singular, plural = "file that differs from the kept file", "files that differ from the kept file"
    differing = format_count(expected.differing_file_count, singular, plural) if expected.differing_file_count else ""
    documents = (
        f"{format_count(expected.fileless_document_count, 'document')} without files"
        if expected.fileless_document_count
        else ""
    )
    irrecoverable = " and ".join(filter(None, (differing, documents)))
    if method == "delete" and irrecoverable:
        if not (yes or dry_run):
            raise click.ClickException(
                f"the deletion of {irrecoverable} cannot be undone; check the plan with --dry-run, then add --yes"
            )
        say(f"note: the deletion of {irrecoverable} cannot be undone", err=True)
    if yes or dry_run:
        return
    if _can_prompt():
        files = format_count(expected.file_count, "file")
        click.confirm(f"{_QUESTIONS[method].format(files)} ({expected.freed_bytes:,} bytes)?", abort=True, err=True)
    elif method == "delete":
        raise click.ClickException(
            "cannot ask for confirmation outside a terminal; check the plan with --dry-run, then add --yes"
        )


def _can_prompt() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def _open_store_to_update(store: str, engine: EngineKind | None, *, is_required: bool) -> Store | None:
    from simdoc_search.stores import open_store

    try:
        return open_store(store, engine=engine)
    except StoreError as error:
        if is_required and isinstance(error, StoreNotFoundError):
            problem = f"the plan lists documents of an index, but {store} is not an index"
            raise StoreNotFoundError(
                f"{problem}; add the option --store that the first lines of the plan show"
            ) from error
        if is_required:
            raise
        if not isinstance(error, StoreNotFoundError):
            say(
                f"note: the index will not be updated: {error}. Update it later with: {update_command(store)}", err=True
            )
    return None


def _warn_if_indexed(folder: Path, store: Store) -> None:
    """Print a note if the folder for moved files is in an indexed folder, because `index` would read them again."""
    from simdoc_search.indexing.input_paths import find_roots

    absolute = Path(os.path.abspath(folder))  # noqa: PTH100 - Path.resolve would follow links
    with suppress(StoreError):  # files can be moved without the store
        root = max(find_roots(store, [str(absolute / "file")]), key=lambda root: len(root.parts), default=None)
        if root and not any(name.startswith(".") for name in absolute.relative_to(root).parts):
            say(
                f"note: {folder} is in the indexed folder {shorten_path(str(root))}, so the moved files will be found "
                "as copies again; choose a folder outside the indexed folder",
                err=True,
            )


def _undo(file: str, store: str, engine: EngineKind | None, *, as_json: bool) -> None:
    from simdoc_search.duplicates.plan import undo

    with explain_interruption(), stage_progress(hidden=as_json) as update:
        report = undo(Path(file), lambda share: update("undoing", share))
    indexed, index = _index_restored_files(report, store, engine)
    if as_json:
        values = {
            "restored": report.restored,
            "unchanged_count": report.unchanged_count,
            "not_restored": [{"name": name, "reason": reason} for name, reason in report.not_restored],
            "not_indexed": indexed.not_indexed_paths,
        }
        print_json(values)
    else:
        print_undo_report(report, indexed, file, index, store)
    if report.not_restored:
        raise SystemExit(1)


def _index_restored_files(report: UndoReport, store: str, engine: EngineKind | None) -> tuple[RestoredFiles, PlanIndex]:
    """Add restored files to the index of the plan again. Also return this index, for the command that adds the others.

    If the undo file does not name an index, because `apply` did not know it, the index of `--store` is used.
    """
    from simdoc_search.duplicates.plan import find_plan_index
    from simdoc_search.indexing.restored_files import RestoredFiles, index_restored_files
    from simdoc_search.stores import open_store
    from simdoc_search.stores.location import absolute_location, is_same_location

    paths, index = report.restored + report.earlier_restored, report.index
    try:
        if index.location and not is_same_location(index.location, absolute_location(store)):
            is_given = click.get_current_context().get_parameter_source("store") is ParameterSource.COMMANDLINE
            if is_given or "://" in index.location:  # another user may have written the URL, to get passwords or texts
                return RestoredFiles(0, paths, f"the plan belongs to the index {index.location}, not to {store}"), index
            store, engine = index.location, None
        opened = open_store(store, engine=engine)
    except StoreNotFoundError:
        return RestoredFiles(0, paths, f"{store} is not an index"), replace(index, location="")
    except StoreError as error:
        return RestoredFiles(0, paths, str(error)), index
    index = replace(index, location=store) if index.location else find_plan_index(opened, paths)
    indexed = index_restored_files(opened, paths, index.folders, read_config_value("index", "exclude_files") or ())
    if not (index.location or indexed.problem):
        indexed = indexed._replace(problem=f"{store} does not contain their folders")
    return indexed, index
