"""`simdoc-search apply`: applies a plan of duplicates, or undoes it."""

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
    errors_as_sentences,
    json_option,
    print_json,
    say,
    share_progress,
    store_option,
)
from simdoc_search.display import counted
from simdoc_search.errors import StoreError, StoreNotFoundError

if TYPE_CHECKING:
    from simdoc_search.duplicates.plan import Applied, Expected, How
    from simdoc_search.stores.base import Store
    from simdoc_search.stores.location import EngineKind

_DONE = {"move": "moved", "delete": "deleted", "hardlink": "linked"}
_TO_DO = {"move": "move", "delete": "delete", "hardlink": "link"}
_AGAIN = "simdoc-search index FOLDER --prune"
_PLAN_AGAIN = re.compile("changed|is gone|does not say what it was|not in the store")
"""Reasons for leaving a document alone that a new plan resolves."""


@click.command()
@click.argument("plan", required=False, type=click.Path(), metavar="PLAN")
@click.option("--move-to", type=click.Path(file_okay=False), metavar="DIR", help="Move dropped files into DIR.")
@click.option(
    "--delete", is_flag=True, help="Delete dropped files, and dropped documents without files from the store."
)
@click.option(
    "--hardlink", is_flag=True, help="Replace dropped files by hard links to the kept file, if their bytes are equal."
)
@click.option("--undo", "undo_file", type=click.Path(), metavar="FILE", help="Undo the changes in this undo file.")
@click.option("--dry-run", is_flag=True, help="Check everything and print what would be done. Change nothing.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@store_option
@json_option
@errors_as_sentences
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
    """Move, delete or hard-link the duplicates listed in PLAN, or undo that.

    `duplicates --plan` writes a plan, and you edit it. Each file is checked again before it is changed. If the file or
    the kept one has changed since, it is left alone and listed. All changes are recorded in PLAN.undo. If a run is
    interrupted, run the same command again; it resumes. The exit status is 1 if anything was left alone.

    \b
      simdoc-search apply plan.tsv --move-to ./dropped --dry-run
      simdoc-search apply plan.tsv --move-to ./dropped
      simdoc-search apply --undo plan.tsv.undo
    """
    given: dict[How, bool] = {"move": move_to is not None, "delete": delete, "hardlink": hardlink}
    hows = [how for how, is_given in given.items() if is_given]
    if undo_file is not None:
        if plan is not None or hows or dry_run:
            raise click.UsageError("--undo takes the undo file alone")
        _undo(undo_file, as_json)
        return
    if move_to is not None and not move_to.strip():
        raise click.UsageError("--move-to names no folder; is a variable empty?")
    if plan is None or len(hows) != 1:
        raise click.UsageError("name a plan and one of --move-to DIR, --delete and --hardlink; or --undo FILE")
    _apply(plan, hows[0], move_to, store, engine, dry_run=dry_run, yes=yes, as_json=as_json)


def _apply(
    plan: str,
    how: How,
    move_to: str | None,
    store: str,
    engine: EngineKind | None,
    *,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> None:
    from simdoc_search.duplicates.plan import apply_plan, expected, indexed_around, read_plan
    from simdoc_search.duplicates.plan.table import undo_file

    rows = read_plan(plan)
    known = expected(rows)
    if move_to is not None:
        for folder in indexed_around(rows, move_to):
            again = "the next run indexes the moved files again; choose a folder outside"
            say(f"note: {move_to} is in {_short(folder)}, which is indexed: {again}", err=True)
    _agree(known, how, dry_run=dry_run, yes=yes)
    opened = _opened(store, engine, needed=bool(known.documents and how == "delete"))
    try:
        with share_progress(hidden=as_json) as update:
            report = apply_plan(
                rows, how, undo_file(Path(plan)), to=move_to, store=opened, dry_run=dry_run,
                progress=lambda share: update("applying", share),
            )  # fmt: skip
    except KeyboardInterrupt:
        raise Interrupted("interrupted; run the same command again to resume, or undo it") from None
    if as_json:
        _print_json(report, dry_run)
    else:
        _print(report, how, plan, dry_run=dry_run, has_store=opened is not None)
    if report.left or report.refused or report.not_forgotten:
        raise SystemExit(1)


def _agree(known: Expected, how: How, *, dry_run: bool, yes: bool) -> None:
    """Refuse what cannot be undone without `--yes`, and ask for confirmation in a terminal."""
    if lost := _lost(known) if how == "delete" else "":
        if not (yes or dry_run):
            raise click.ClickException(f"{lost} could not be restored; look with --dry-run, then add --yes")
        say(f"note: {lost} cannot be restored once deleted", err=True)
    if yes or dry_run:
        return
    if not _can_answer():
        if how == "delete":
            raise click.ClickException("to delete without being asked, add --yes; look with --dry-run first")
        return
    what = {"move": "Move", "delete": "Delete", "hardlink": "Replace by links"}[how]
    click.confirm(f"{what} {counted(known.files, 'file')}, {known.size:,} bytes?", abort=True, err=True)


def _lost(known: Expected) -> str:
    files = f"{counted(known.unlike, 'file')} with other bytes than the kept one" if known.unlike else ""
    documents = f"{counted(known.documents, 'document')} without files" if known.documents else ""
    return " and ".join(filter(None, (files, documents)))


def _can_answer() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def _opened(store: str, engine: EngineKind | None, *, needed: bool) -> Store | None:
    """The store; None if there is none and none is needed."""
    from simdoc_search.stores import open_store

    try:
        return open_store(store, engine=engine)
    except StoreNotFoundError:
        if needed:
            raise
    except StoreError as error:
        if needed:
            raise
        say(f"note: the store is not updated, run {_AGAIN} later: {error}", err=True)
    return None


def _print(report: Applied, how: How, plan: str, *, dry_run: bool, has_store: bool) -> None:
    arrow = {"move": "->", "delete": "as there is", "hardlink": "="}[how]
    for name, other in report.done:
        say(f"{_TO_DO[how] if dry_run else _DONE[how]}  {_short(name)}  {arrow}  {_short(other)}")
    for name, reason in report.left:
        say(f"left alone: {_short(name)}: {reason}", err=True)
    if any(_PLAN_AGAIN.search(reason) for _, reason in report.left):
        say(
            "to plan these again: simdoc-search duplicates FOLDER --plan NEW  (indexes FOLDER)",
            err=True,
        )
    for group, reason in report.refused.items():
        say(f"group {group} is refused: {reason}", err=True)
    for reason, count in Counter(report.not_forgotten.values()).items():
        say(
            f"{counted(count, 'document')} of dropped files are still in the store ({reason}); run {_AGAIN}",
            err=True,
        )
    counts = [f"{len(report.done):,} {'would be ' * dry_run}{_DONE[how]}"]
    counts += [f"{report.before:,} before"] if report.before else []
    counts += [f"{len(report.left):,} left alone"] if report.left else []
    counts += [f"{counted(len(report.refused), 'group')} refused"] if report.refused else []
    counts += [f"{counted(report.forgotten, 'document')} of them removed from the store"] if report.forgotten else []
    say(", ".join(counts))
    if dry_run:
        say("nothing was done", err=True)
    elif report.done:
        say(f"to undo it: simdoc-search apply --undo {plan}.undo", err=True)
        if how != "hardlink" and not has_store:
            say(f"to update a store that has these files, run {_AGAIN}", err=True)


def _print_json(report: Applied, dry_run: bool) -> None:
    print_json(
        {
            "dry_run": dry_run,
            "done": [{"name": name, "other": other} for name, other in report.done],
            "before": report.before,
            "left": [{"name": name, "reason": reason} for name, reason in report.left],
            "refused": [{"group": group, "reason": reason} for group, reason in report.refused.items()],
            "forgotten": report.forgotten,
            "not_forgotten": [{"id": place.id, "reason": reason} for place, reason in report.not_forgotten.items()],
        }
    )


def _undo(file: str, as_json: bool) -> None:
    from simdoc_search.duplicates.plan import undo

    with share_progress(hidden=as_json) as update:
        report = undo(Path(file), lambda share: update("undoing", share))
    if as_json:
        left = [{"name": name, "reason": reason} for name, reason in report.left]
        print_json({"restored": report.restored, "before": report.before, "left": left})
    else:
        for name in report.restored:
            say(f"restored  {_short(name)}")
        for name, reason in report.left:
            say(f"not restored: {_short(name)}: {reason}", err=True)
        counts = [f"{len(report.restored):,} restored"]
        counts += [f"{report.before:,} as they were"] if report.before else []
        counts += [f"{len(report.left):,} not restored; they are still in {file}"] if report.left else []
        say(", ".join(counts))
        if report.restored:
            say("to add them to a store again, run simdoc-search index FOLDER", err=True)
    if report.left:
        raise SystemExit(1)


def _short(path: str) -> str:
    return path.removeprefix(os.path.join(os.getcwd(), ""))  # noqa: PTH109, PTH118 - as text
