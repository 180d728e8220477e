"""`simdoc-search backup`: a copy of a store while others write to it."""

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
    """Copy a store into a new folder DIR, also while others write to it.

    The copy is the store as its last commit has it, verified, and gets its name when it is complete. It is a store like
    any other: to restore it, copy it back.

    \b
      simdoc-search backup ./.simdoc ./backup-monday
    """
    from simdoc_search.stores.local.backup import backup_store
    from simdoc_search.stores.location import check_folder

    for each in (store, target):
        check_folder(each)
    with document_progress(hidden=as_json, of_bytes=True) as update:
        documents = backup_store(Path(store), Path(target), lambda done, total: update(completed=done, total=total))
    if as_json:
        print_json({"store": target, "documents": documents})
    else:
        say(f"{counted(documents, 'document')} copied to {target}")
