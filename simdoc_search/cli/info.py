"""`simdoc-search info`: what is in the store?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, cast

import click

from simdoc_search.cli.common import errors_as_sentences, field_option, json_option, print_json, say, store_option
from simdoc_search.cli.limit_options import lines_of_limits
from simdoc_search.cli.open_store import open_to_ask
from simdoc_search.display import counted

if TYPE_CHECKING:
    from simdoc_search.analysis import Analysis
    from simdoc_search.sketch.base import Sketch
    from simdoc_search.sketch.settings import Settings
    from simdoc_search.stores.location import EngineKind


@click.command()
@field_option
@store_option
@json_option
@errors_as_sentences
def info(field: str | None, store: str, engine: EngineKind | None, as_json: bool) -> None:
    """Show how many documents a store has, its size and its settings.

    \b
      simdoc-search info
    """
    from simdoc_search.as_json import info_as_json
    from simdoc_search.sketch.limits import Limits

    opened = open_to_ask(store, engine=engine, field=field)
    found = opened.info()
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
    say(f"compared   {_compared(found.settings.analysis)}")
    say(f"sketch     {_sketch(found.settings.minhash)}")
    say(f"passages   {_passages(found.settings, finds_phrases=opened.finds_phrases)}")
    if found.settings.sentences:
        say("versions   found by their sentences")
    for line in lines_of_limits(found.settings.limits) if found.settings.limits != Limits() else []:
        say(line)
    if found.settings.language:
        say("language   identified where a document does not say it: --filter language=CODE")
    if found.settings.left_out:
        say(f"left out   {', '.join(found.settings.left_out)}")
    if concepts := found.settings.concepts:
        synonyms = f", with synonyms {concepts.synonyms}" if concepts.synonyms else ""
        say(f"related    documents found by concepts of {concepts.extractor}{synonyms}")


def _compared(analysis: Analysis) -> str:
    """What of a text is, and which settings are not the usual ones."""
    usual = {**type(analysis)().to_dict(), "shingle_size": analysis.shingle_size, "unit": analysis.unit}
    runs = f"runs of {counted(analysis.shingle_size, analysis.unit)}, whatever the letter case"
    return runs + _unusual(analysis.to_dict(), usual)


def _sketch(sketch: Sketch) -> str:
    """What is kept of a text in place of it, as `--sketch` has it."""
    values, usual = asdict(cast(Any, sketch)), asdict(cast(Any, type(sketch)()))
    keyed = ", made with SIMDOC_HASH_KEY" if values.pop("key", None) else ""
    return f"{sketch.name}:{values.pop(sketch.stored_fields[0])}{_unusual(values, usual)}{keyed}"


def _unusual(values: Mapping[str, Any], usual: Mapping[str, Any]) -> str:
    return "".join(f", {name} {value}" for name, value in values.items() if value != usual.get(name))


def _passages(settings: Settings, *, finds_phrases: bool) -> str:
    from simdoc_search.passages.align import LONG_RUN, SHORT_RUN, SHORT_TEXT

    if settings.passages is None:
        return "none, so what long documents share in a few places is not found"
    if finds_phrases:
        return f"every shared run of {SHORT_RUN} words is found; of {LONG_RUN} if a text has over {SHORT_TEXT:,} words"
    size = settings.analysis.shingle_size
    return f"each shared run of {settings.passages.run(size)} {settings.analysis.unit}s is found"
