"""`simdoc-search info`: what is in the store?"""

from __future__ import annotations

import click

from simdoc_search.cli.common import errors_as_sentences, json_option, print_json, store_option

__all__ = ["info"]


@click.command()
@store_option
@json_option
@errors_as_sentences
def info(store: str, as_json: bool) -> None:
    """Show how many documents a store has, its size and its settings.

    \b
      simdoc-search info
    """
    from simdoc_search.stores import open_store

    found = open_store(store).info()
    settings = found.settings.to_dict()
    if as_json:
        values = {"store": found.location, "documents": found.documents, "bytes": found.bytes}
        print_json({**values, "text_bytes": found.text_bytes, "settings": settings})
        return
    size = "unknown: the engine does not tell us" if found.bytes is None else f"{found.bytes:,}"
    if found.bytes and found.documents:
        size += f" ({found.bytes / found.documents:,.0f} per document)"
    click.echo(f"store      {found.location}")
    click.echo(f"documents  {found.documents:,}")
    click.echo(f"bytes      {size}")
    share = "of these bytes" if found.text_compressed else "bytes before the engine compresses them"
    texts = "none kept" if found.text_bytes is None else f"kept, about {found.text_bytes:,} {share}"
    click.echo(f"texts      {texts}")
    for part in ("analysis", "minhash"):
        click.echo(f"{part:<10} " + ", ".join(f"{name} {value}" for name, value in settings[part].items()))
    click.echo(f"tokens     {found.settings.token_length} characters each")
