"""`simdoc-search backup`: copies a store while others write to it."""

from __future__ import annotations

from pathlib import Path

import click

from simdoc_search.cli.common import document_progress, errors_as_sentences, json_option, print_json, say
from simdoc_search.display import counted


@click.command()
@click.argument("store")
@click.argument("target", metavar="DIR")
@json_option
@errors_as_sentences
def backup(store: str, target: str, as_json: bool) -> None:
    """Copy a store into a new folder DIR. Others may write to the store meanwhile.

    The copy has the documents of the last commit, and the command verifies every file. The copy is a store too: to
    restore it, copy it back.

    \b
      simdoc-search backup ./.simdoc ./backup-monday
    """
    from simdoc_search.stores.local.backup import backup_store
    from simdoc_search.stores.location import check_folder

    for folder in (store, target):
        check_folder(folder)
    with document_progress(hidden=as_json, of_bytes=True) as update:
        documents = backup_store(Path(store), Path(target), lambda done, total: update(completed=done, total=total))
    if as_json:
        print_json({"store": target, "documents": documents})
    else:
        say(f"{counted(documents, 'document')} copied to {target}")
