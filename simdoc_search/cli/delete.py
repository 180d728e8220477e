"""`simdoc-search delete`: removes documents from the store."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from simdoc_search.cli.common import json_option, print_json, say
from simdoc_search.cli.complete import complete_ids
from simdoc_search.cli.help_layout import Command
from simdoc_search.cli.index_location_options import store_option
from simdoc_search.cli.index_output import print_refused_documents, refused_documents_as_json
from simdoc_search.display import format_count
from simdoc_search.errors import WriteRefusedError

if TYPE_CHECKING:
    from simdoc_search.stores.base import Store
    from simdoc_search.stores.location import EngineKind


@click.command(cls=Command)
@click.argument("ids", nargs=-1, required=True, metavar="ID...", shell_complete=complete_ids)
@store_option
@json_option
def delete(ids: tuple[str, ...], store: str, engine: EngineKind | None, as_json: bool) -> None:
    """Remove documents from the index, but not their files.

    \b
      simdoc-search delete notes/old.txt
    """
    from simdoc_search.search.similarity_search import SimilaritySearch
    from simdoc_search.stores import open_store

    refused: dict[str, str] = {}
    try:
        search = SimilaritySearch(open_store(store, engine=engine))
        deleted = search.delete(_replace_paths(search.store, ids))
    except WriteRefusedError as error:
        deleted, refused = error.accepted_count, error.reasons_by_id
    if as_json:
        print_json({"deleted_count": deleted, "refused": refused_documents_as_json(refused)})
    else:
        say(f"{format_count(deleted, 'document')} deleted" + (f", {len(refused):,} refused" if refused else ""))
        print_refused_documents(refused)
    if refused:
        raise SystemExit(1)


def _replace_paths(store: Store, ids: Sequence[str]) -> list[str]:
    """Replace each path of an indexed file with the id of its document. A stored id takes precedence over a path."""
    from simdoc_search.search.resolver import Resolver

    paths = [id for id in ids if os.path.isfile(id)]  # noqa: PTH113 - Path.is_file may raise for a long name
    stored = {digest.id for digest in store.digests(paths)} if paths else set()
    resolver = Resolver(store)
    found = {path: resolver.find_ids_by_path(path) for path in paths if path not in stored}
    return [found[id][0] if len(found.get(id, ())) == 1 else id for id in ids]
