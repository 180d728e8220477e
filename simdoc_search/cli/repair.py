"""`simdoc-search repair`: copies the readable documents of a damaged store to a new one."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from simdoc_search.cli.common import document_progress, json_option, print_json, say
from simdoc_search.cli.help_layout import Command
from simdoc_search.display import format_count


@click.command(cls=Command)
@click.argument("store")
@click.option("--to", "target", required=True, metavar="DIR", help="Folder of the new index. It must be new or empty.")
@json_option
def repair(store: str, target: str, as_json: bool) -> None:
    """Copy the readable documents of a damaged index to a new index.

    If some documents cannot be read, the command lists them, and its exit status is 1. Index their files again.

    The damaged index is not changed. The command locks it, so that nobody can write to it during the repair. If you
    only have read permission, the command cannot lock the index. In that case, make sure that nobody writes to it.

    \b
      simdoc-search repair ./.simdoc --to ./repaired.simdoc
    """
    from simdoc_search.stores.local.repair import repair_store
    from simdoc_search.stores.location import check_not_url

    for folder in (store, target):
        check_not_url(folder)
    with document_progress(hidden=as_json, has_total=True) as update:
        repaired = repair_store(Path(store), Path(target), lambda done, total: update(completed=done, total=total))
    if as_json:
        print_json({"store": target, **asdict(repaired)})
    else:
        for id in repaired.unreadable_ids:
            say(f"unreadable: {id}")
        for damage in repaired.damaged_deletions:
            say(f"note: {damage.file}: {damage.problem}")
        unreadable = f", {len(repaired.unreadable_ids):,} unreadable" if repaired.unreadable_ids else ""
        say(f"{format_count(repaired.document_count, 'document')} saved to {target}{unreadable}")
    if repaired.unreadable_ids:
        raise SystemExit(1)
