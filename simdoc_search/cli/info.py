"""`simdoc-search info`: what is in the store?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from simdoc_search.cli.common import errors_as_sentences, json_option, print_json, say, store_option

if TYPE_CHECKING:
    from simdoc_search.sketch.settings import Settings
    from simdoc_search.stores.location import EngineKind

__all__ = ["info"]


@click.command()
@store_option
@json_option
@errors_as_sentences
def info(store: str, engine: EngineKind | None, as_json: bool) -> None:
    """Show how many documents a store has, its size and its settings.

    \b
      simdoc-search info
    """
    from simdoc_search.as_json import info_as_json, parts_of
    from simdoc_search.stores import open_store

    found = open_store(store, engine=engine).info()
    if as_json:
        print_json(info_as_json(found))
        return
    size = "unknown: the engine does not tell us" if found.bytes is None else f"{found.bytes:,}"
    if found.bytes and found.documents:
        size += f" ({found.bytes / found.documents:,.0f} per document)"
    say(f"store      {found.location}")
    say(f"documents  {found.documents:,}")
    say(f"bytes      {size}")
    share = "of these bytes" if found.text_compressed else "bytes before the engine compresses them"
    texts = "none kept" if found.text_bytes is None else f"kept, about {found.text_bytes:,} {share}"
    say(f"texts      {texts}")
    for part, values in parts_of(found.settings).items():
        say(f"{part:<10} " + ", ".join(f"{name} {value}" for name, value in values.items()))
    keyed = ", with a hash key" if found.settings.minhash.key else ""
    say(f"tokens     {found.settings.token_length} characters each{keyed}")
    say(f"passages   {_passages(found.settings)}")
    if found.settings.sentences:
        say("sentences  as numbers of 64 bits, by which versions are found")
    if found.settings.language:
        say("language   identified where a document does not say it, for --filter language=CODE")
    if found.settings.left_out:
        say(f"left out   {', '.join(found.settings.left_out)}")
    if concepts := found.settings.concepts:
        synonyms = f", with synonyms {concepts.synonyms}" if concepts.synonyms else ""
        say(f"concepts   found by {concepts.extractor}{synonyms}, by which related documents are found")


def _passages(settings: Settings) -> str:
    if settings.passages is None:
        return "none, so what long documents share in a few places is not found"
    size = settings.analysis.shingle_size
    return f"each shared run of {settings.passages.run(size)} {settings.analysis.unit}s is found"
