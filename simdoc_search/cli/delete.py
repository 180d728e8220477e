"""`simdoc-search delete`: remove documents from the store."""

from __future__ import annotations

import click

from simdoc_search.cli.common import errors_as_sentences, json_option, print_json, store_option

__all__ = ["delete"]


@click.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@store_option
@json_option
@errors_as_sentences
def delete(ids: tuple[str, ...], store: str, as_json: bool) -> None:
    """Remove documents from the store; their files stay.

    \b
      simdoc-search delete notes/old.txt
    """
    from simdoc_search.search import SimilaritySearch
    from simdoc_search.stores import open_store

    deleted = SimilaritySearch(open_store(store)).delete(ids)
    if as_json:
        print_json({"deleted": deleted})
    else:
        click.echo(f"{deleted} deleted")
