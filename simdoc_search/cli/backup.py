"""`simdoc-search backup`: copies a local store, even while other programs write to it."""

from __future__ import annotations

from pathlib import Path

import click

from simdoc_search.cli.common import document_progress, json_option, print_json, say
from simdoc_search.cli.help_layout import Command
from simdoc_search.display import format_count


@click.command(cls=Command)
@click.argument("store")
@click.argument("target", metavar="DIR")
@json_option
def backup(store: str, target: str, as_json: bool) -> None:
    """Copy an index to the new folder DIR.

    Other programs can keep writing to the index. The copy contains everything up to the last commit. The command
    verifies the checksum of every file. To restore the index, copy the folder back.

    \b
      simdoc-search backup ./.simdoc ./backup-monday
    """
    from simdoc_search.stores.local.backup import backup_store
    from simdoc_search.stores.location import check_not_url

    for folder in (store, target):
        check_not_url(folder)
    with document_progress(hidden=as_json, counts_bytes=True) as update:
        documents = backup_store(Path(store), Path(target), lambda done, total: update(completed=done, total=total))
    if as_json:
        print_json({"store": target, "document_count": documents})
    else:
        say(f"{format_count(documents, 'document')} copied to {target}")
