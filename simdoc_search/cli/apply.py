"""`simdoc-search apply`: applies a plan of duplicates, or undoes its changes."""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from simdoc_search.cli.common import (
    Interrupted,
    handle_errors,
    json_option,
    print_json,
    say,
    stage_progress,
    store_option,
)
from simdoc_search.display import counted
from simdoc_search.errors import StoreError, StoreNotFoundError

if TYPE_CHECKING:
    from simdoc_search.duplicates.plan import ApplyReport, DropMethod, ExpectedChanges
    from simdoc_search.stores.base import Store
    from simdoc_search.stores.location import EngineKind

_DONE = {"move": "moved", "delete": "deleted", "hardlink": "linked"}
_TO_DO = {"move": "move", "delete": "delete", "hardlink": "link"}
_QUESTIONS = {"move": "Move", "delete": "Delete", "hardlink": "Replace by links"}
_ARROWS = {"move": "->", "delete": "because of", "hardlink": "="}
_UPDATE_STORE = "simdoc-search index FOLDER --prune"
_NEEDS_NEW_PLAN = re.compile("changed|is gone|has no state for it|not in the store")
"""Matches the reasons for leaving a document alone that a new plan resolves."""


@click.command()
@click.argument("plan", required=False, type=click.Path(), metavar="[PLAN]")
@click.option("--move-to", type=click.Path(file_okay=False), metavar="DIR", help="Move dropped files into DIR.")
@click.option(
    "--delete", is_flag=True, help="Delete dropped files, and dropped documents without files from the store."
)
@click.option(
    "--hardlink", is_flag=True, help="Replace dropped files by hard links to the kept file, if their bytes are equal."
)
@click.option("--undo", "undo_file", type=click.Path(), metavar="FILE", help="Undo the changes recorded in FILE.")
@click.option("--dry-run", is_flag=True, help="Check everything and print what would be done, but change nothing.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@store_option
@json_option
@handle_errors
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

    First write PLAN with `duplicates --plan`, and edit it. If a file or its kept file has changed since PLAN was
    written, the file is left alone and listed. All changes are recorded in PLAN.undo. If a run is interrupted, run the
    same command again; it resumes. The exit status is 1 if a file was left alone.

    \b
      simdoc-search apply plan.tsv --move-to ./dropped --dry-run
      simdoc-search apply plan.tsv --move-to ./dropped
      simdoc-search apply --undo plan.tsv.undo
    """
    given: dict[DropMethod, bool] = {"move": move_to is not None, "delete": delete, "hardlink": hardlink}
    hows = [how for how, is_given in given.items() if is_given]
    if undo_file is not None:
        if plan is not None or hows or dry_run:
            raise click.UsageError(
                "--undo cannot be combined with PLAN, --move-to, --delete, --hardlink or --dry-run; leave them out"
            )
        _undo(undo_file, as_json=as_json)
        return
    if move_to is not None and not move_to.strip():
        raise click.UsageError("--move-to is empty; give a folder, and check that your shell variables are set")
    if plan is None or len(hows) != 1:
        raise click.UsageError("give PLAN and one of --move-to DIR, --delete and --hardlink, or only --undo FILE")
    from simdoc_search.duplicates.plan import apply_plan, expected_changes, read_plan

    rows, how = read_plan(plan), hows[0]
    expected = expected_changes(rows)
    _confirm(expected, how, dry_run=dry_run, yes=yes)
    opened = _store_to_update(store, engine, is_needed=bool(expected.document_count and how == "delete"))
    try:
        with stage_progress(hidden=as_json) as update:
            report = apply_plan(
                rows, how, Path(f"{plan}.undo"), move_to=move_to, store=opened, dry_run=dry_run,
                progress=lambda share: update("applying", share),
            )  # fmt: skip
    except KeyboardInterrupt:
        raise Interrupted("interrupted; run the same command again to resume, or undo it") from None
    if as_json:
        _print_json(report, dry_run=dry_run)
    else:
        _print(report, how, plan, dry_run=dry_run, has_store=opened is not None)
    if report.left_alone or report.refused_groups or report.not_removed:
        raise SystemExit(1)


def _confirm(expected: ExpectedChanges, how: DropMethod, *, dry_run: bool, yes: bool) -> None:
    """Ask for confirmation in a terminal. Without `--yes`, refuse to delete anything that cannot be restored.

    Raises:
        ClickException: `--yes` is needed.
        Abort: the user says no.
    """
    unlike = (
        f"{counted(expected.differing_files, 'file')} with other bytes than the kept one"
        if expected.differing_files
        else ""
    )
    documents = f"{counted(expected.document_count, 'document')} without files" if expected.document_count else ""
    lost = " and ".join(filter(None, (unlike, documents)))
    if how == "delete" and lost:
        if not (yes or dry_run):
            raise click.ClickException(f"{lost} could not be restored; check with --dry-run, then add --yes")
        say(f"note: {lost} cannot be restored once deleted", err=True)
    if yes or dry_run:
        return
    if _can_ask():
        files = counted(expected.file_count, "file")
        click.confirm(f"{_QUESTIONS[how]} {files}, {expected.freed_bytes:,} bytes?", abort=True, err=True)
    elif how == "delete":
        raise click.ClickException(
            "cannot ask for confirmation, because this is not a terminal; check with --dry-run, then add --yes"
        )


def _can_ask() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def _store_to_update(store: str, engine: EngineKind | None, *, is_needed: bool) -> Store | None:
    from simdoc_search.stores import open_store

    try:
        return open_store(store, engine=engine)
    except StoreError as error:
        if is_needed:
            raise
        if not isinstance(error, StoreNotFoundError):
            say(f"note: the store is not updated; run {_UPDATE_STORE} later. The reason: {error}", err=True)
    return None


def _print(report: ApplyReport, how: DropMethod, plan: str, *, dry_run: bool, has_store: bool) -> None:
    for name, other in report.dropped:
        say(f"{_TO_DO[how] if dry_run else _DONE[how]}  {_relative(name)}  {_ARROWS[how]}  {_relative(other)}")
    for name, reason in report.left_alone:
        say(f"left alone: {_relative(name)}: {reason}", err=True)
    if any(_NEEDS_NEW_PLAN.search(reason) for _, reason in report.left_alone):
        say("to index FOLDER again and plan these anew, run: simdoc-search duplicates FOLDER --plan NEW", err=True)
    for group, reason in report.refused_groups.items():
        say(f"group {group} is refused: {reason}", err=True)
    for reason, count in Counter(report.not_removed.values()).items():
        documents = counted(count, "document")
        say(f"{documents} of dropped files are still in the store ({reason}); run {_UPDATE_STORE}", err=True)
    counts = [
        (len(report.dropped), f"{len(report.dropped):,} {'would be ' * dry_run}{_DONE[how]}"),
        (report.dropped_before, f"{report.dropped_before:,} done before"),
        (len(report.left_alone), f"{len(report.left_alone):,} left alone"),
        (len(report.refused_groups), f"{counted(len(report.refused_groups), 'group')} refused"),
        (report.removed, f"{counted(report.removed, 'document')} removed from the store"),
    ]
    say(", ".join(text for number, (count, text) in enumerate(counts) if count or not number))
    if dry_run:
        say("dry run: nothing was changed", err=True)
    elif report.dropped:
        say(f"to undo this, run: simdoc-search apply --undo {plan}.undo", err=True)
        if how != "hardlink" and not has_store:
            say(f"if a store has these files, update it with: {_UPDATE_STORE}", err=True)


def _print_json(report: ApplyReport, *, dry_run: bool) -> None:
    print_json(
        {
            "dry_run": dry_run,
            "done": [{"name": name, "other": other} for name, other in report.dropped],
            "before": report.dropped_before,
            "left": [{"name": name, "reason": reason} for name, reason in report.left_alone],
            "refused": [{"group": group, "reason": reason} for group, reason in report.refused_groups.items()],
            "forgotten": report.removed,
            "not_forgotten": [{"id": place.id, "reason": reason} for place, reason in report.not_removed.items()],
        }
    )


def _undo(file: str, *, as_json: bool) -> None:
    from simdoc_search.duplicates.plan import undo

    with stage_progress(hidden=as_json) as update:
        report = undo(Path(file), lambda share: update("undoing", share))
    if as_json:
        left = [{"name": name, "reason": reason} for name, reason in report.not_restored]
        print_json({"restored": report.restored, "before": report.unchanged, "left": left})
    else:
        for name in report.restored:
            say(f"restored  {_relative(name)}")
        for name, reason in report.not_restored:
            say(f"not restored: {_relative(name)}: {reason}", err=True)
        before = f", {report.unchanged:,} already in place" if report.unchanged else ""
        not_restored = (
            f", {len(report.not_restored):,} not restored; they are still in {file}" if report.not_restored else ""
        )
        say(f"{len(report.restored):,} restored{before}{not_restored}")
        if report.restored:
            say("to add them to the store again, run: simdoc-search index FOLDER", err=True)
    if report.not_restored:
        raise SystemExit(1)


def _relative(path: str) -> str:
    return path.removeprefix(os.path.join(os.getcwd(), ""))  # noqa: PTH109, PTH118 - as text
