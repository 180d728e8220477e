"""`simdoc-search repair`: copies the readable documents of a damaged store into a new store."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from simdoc_search.cli.common import document_progress, errors_as_sentences, json_option, print_json, say
from simdoc_search.display import counted


@click.command()
@click.argument("store")
@click.option("--to", "target", required=True, help="Folder of the new store. It must not exist or be empty.")
@json_option
@errors_as_sentences
def repair(store: str, target: str, as_json: bool) -> None:
    """Copy the readable documents of a damaged store into a new store.

    If some documents cannot be read, the command lists them and exits with status 1. Index their files again.

    The damaged store is not changed. It is locked, so that nobody can write to it during the repair. If you may only
    read it, it cannot be locked: make sure that nobody writes to it.

    \b
      simdoc-search repair ./.simdoc --to ./mended.simdoc
    """
    from simdoc_search.stores.local.repair import repair_store
    from simdoc_search.stores.location import check_folder

    for folder in (store, target):
        check_folder(folder)
    with document_progress(hidden=as_json, of_total=True) as update:
        repaired = repair_store(Path(store), Path(target), lambda done, total: update(completed=done, total=total))
    if as_json:
        print_json({"store": target, **asdict(repaired)})
    else:
        for id in repaired.lost:
            say(f"lost: {id}")
        for doubt in repaired.doubts:
            say(f"note: {doubt.place}: {doubt.problem}")
        lost = f", {counted(len(repaired.lost), 'is lost', 'are lost')}" if repaired.lost else ""
        say(f"{counted(repaired.documents, 'document')} saved to {target}{lost}")
    if repaired.lost:
        raise SystemExit(1)
