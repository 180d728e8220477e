"""`--plan` of `simdoc-search duplicates`: the table that `simdoc-search apply` reads."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from simdoc_search.cli.common import say, share_progress
from simdoc_search.display import counted, without_secrets

if TYPE_CHECKING:
    from simdoc_search.duplicates import Duplicates
    from simdoc_search.stores.base import Store

_DEFAULT_STORE = "./.simdoc"

plan_option: Final = click.option(
    "--plan",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Write what could go as a table to edit, for simdoc-search apply; FILE must be new.",
)

drop_option: Final = click.option(
    "--drop",
    type=click.Choice(["same-text", "same-words"]),
    help="What the plan drops besides files with equal bytes. Such files may have other pictures, layout or signs. "
    "same-words includes same-text.",
)

as_before_option: Final = click.option(
    "--as-before",
    type=click.Path(dir_okay=False),
    metavar="PLAN",
    help="What that earlier plan keeps stays again, whatever --keep says.",
)

keep_in_option: Final = click.option(
    "--keep-in",
    multiple=True,
    metavar="PREFIX",
    help="What has an id that begins so stays rather than others, whatever --keep says: originals/. May be repeated.",
)


def kept_by(plan: str | None) -> list[str]:
    """The ids of the documents that an earlier plan keeps."""
    if plan is None:
        return []
    from simdoc_search.duplicates.plan import read_plan

    return [row.place.id for row in read_plan(plan) if row.action == "keep"]


def check_plan(file: str | None) -> None:
    """Refuse a plan that would be written over another one, before anything is done."""
    if file is not None:
        from simdoc_search.duplicates.plan.table import check_new

        check_new(Path(file))


def make_plan(found: Duplicates, file: str, store: Store, location: str, *, quiet: bool) -> None:
    """Write the plan, and say which command applies it."""
    from simdoc_search.duplicates.plan import write_plan

    beside = [] if location == _DEFAULT_STORE else ["--store", without_secrets(location)]
    command = shlex.join(["simdoc-search", "apply", file, *beside, "--move-to", "DIR", "--dry-run"])
    with share_progress(hidden=quiet) as update:
        rows = write_plan(found, file, store, command=command, progress=lambda share: update("planning", share))
    say(f"{counted(rows, 'row')} written to {file}; edit it, then: {command}", err=True)
