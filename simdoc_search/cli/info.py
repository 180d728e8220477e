"""`simdoc-search info`: shows the size and the settings of a store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, cast

import click

from simdoc_search.cli.common import json_option, print_json, say
from simdoc_search.cli.help_layout import Command
from simdoc_search.cli.index_location_options import ChosenIndex, index_options
from simdoc_search.cli.threshold_options import threshold_lines
from simdoc_search.display import format_count

if TYPE_CHECKING:
    from simdoc_search.analysis import Analysis
    from simdoc_search.sketch.base import Sketch
    from simdoc_search.sketch.settings import Settings
    from simdoc_search.stores.base import StoreInfo


@click.command(cls=Command)
@index_options(reads_texts=False)
@json_option
def info(index: ChosenIndex, as_json: bool) -> None:
    """Show the size and the settings of an index.

    \b
      simdoc-search info
    """
    from simdoc_search.as_json.store import info_as_json
    from simdoc_search.search.passage_candidates import describe_guarantee

    opened = index.open()
    store_info = opened.info()
    if as_json:
        print_json(info_as_json(store_info))
        return
    _print_sizes(store_info)
    _print_settings(store_info.settings, describe_guarantee(opened))


def _print_sizes(info: StoreInfo) -> None:
    size = "unknown, because the engine does not report the size" if info.bytes is None else f"{info.bytes:,}"
    if info.bytes and info.document_count:
        size += f" ({info.bytes / info.document_count:,.0f} per document)"
    unit = "bytes of the total" if info.is_text_compressed else "bytes before compression by the engine"
    texts = "not stored" if info.text_bytes is None else f"stored, about {info.text_bytes:,} {unit}"
    texts = f"in {' and '.join(info.text_fields)}" if info.text_fields else texts
    say(f"index      {info.location}")
    say(f"documents  {info.document_count:,}")
    say(f"bytes      {size}")
    say(f"texts      {texts}")


def _print_settings(settings: Settings, passage_guarantee: str) -> None:
    from simdoc_search.sketch.thresholds import SimilarityThresholds

    say(f"compared   {_describe_analysis(settings.analysis)}")
    say(f"sketch     {_describe_sketch(settings.sketch)}")
    say(f"passages   {passage_guarantee}")
    if settings.sentences:
        say("versions   documents are compared by their stored sentences")
    for line in threshold_lines(settings.thresholds) if settings.thresholds != SimilarityThresholds() else []:
        say(line)
    if settings.identifies_language:
        say(
            "language   from the metadata, or else identified from the text; select documents with "
            "--filter language=CODE"
        )
    if settings.excluded_parts:
        say(f"excluded   {', '.join(part.replace('-', ' ') for part in settings.excluded_parts)}")
    if concepts := settings.concepts:
        synonyms = f", with synonyms (checksum {concepts.synonyms_checksum})" if concepts.synonyms_checksum else ""
        say(f"related    documents are compared by their stored concepts, extracted by {concepts.extractor}{synonyms}")


def _describe_analysis(analysis: Analysis) -> str:
    defaults = {**type(analysis)().to_dict(), "shingle_size": analysis.shingle_size, "unit": analysis.unit}
    runs = f"runs of {format_count(analysis.shingle_size, analysis.unit)}, ignoring case"
    return runs + _describe_differences(analysis.to_dict(), defaults)


def _describe_sketch(sketch: Sketch) -> str:
    """Return a sketch in the syntax of `--sketch`, and its other settings that are not defaults."""
    values, defaults = asdict(cast(Any, sketch)), asdict(cast(Any, type(sketch)()))
    keyed = ", with SIMDOC_HASH_KEY" if values.pop("key", None) else ""
    return f"{sketch.name}:{values.pop(sketch.parameter_names[0])}{_describe_differences(values, defaults)}{keyed}"


def _describe_differences(values: Mapping[str, Any], defaults: Mapping[str, Any]) -> str:
    return "".join(f", {name} {value}" for name, value in values.items() if value != defaults.get(name))
