"""Formats the commands that messages recommend for the index of an application."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from simdoc_search.display import quote_command
from simdoc_search.errors import StoreError
from simdoc_search.stores.fields import METADATA_FIELD
from simdoc_search.stores.remote.mappings import mapped_fields, shorten_list
from simdoc_search.stores.remote.pipelines import DEFAULT_PIPELINE
from simdoc_search.stores.remote.schema import DEFAULT_FIELD, fingerprint_field_names
from simdoc_search.stores.remote.texts import recorded_text_fields, text_paths

_USUAL_TEXT_FIELDS = ("body", "text", "content", "fulltext", "full_text", "message", "description")
"""Usual names of the field that contains the text, the most common names first."""


def install_pipeline_command(
    engine_url: str, pipeline: str, text_fields: Iterable[str], field: str, *options: str
) -> str:
    """Return the command that installs a pipeline for these text fields and this fingerprint field."""
    name = [] if pipeline == DEFAULT_PIPELINE else ["--name", pipeline]
    texts = [part for text_field in text_fields for part in ("--text-field", text_field)]
    fields = [] if field == DEFAULT_FIELD else ["--field", field]
    return quote_command("template", "install", engine_url, "--pipeline", *name, *texts, *fields, *options)


def backfill_advice(
    mappings: Iterable[Mapping[str, Any]],
    field: str,
    location: str,
    *options: str,
    text_fields: Sequence[str] = (),
    pipeline: str = "",
    offers_pipeline: bool = False,
) -> str:
    """Return the advice to run `simdoc-search backfill`, with the complete command, as a part of a sentence.

    If `simdoc-search index` created an index, return the advice to run that command. If the mappings record no text
    fields, the advice names `text_fields`, or guesses the text field. `pipeline` is a pipeline to install first,
    because an index lacks it; see `find_missing_pipeline`. If `offers_pipeline`, the advice also names the command that
    installs a first pipeline.
    """
    all_mappings = list(mappings)
    if any(METADATA_FIELD in mapped_fields(mapping, field) for mapping in all_mappings):
        return "update the index with `simdoc-search index`"
    recorded, remark = recorded_text_fields(all_mappings, field), ""
    if not (recorded or text_fields):
        guessed, remark = _guess_text_field(all_mappings, field)
        text_fields = [guessed]
    needed = [] if field == DEFAULT_FIELD else ["--field", field]
    needed += [] if recorded else [part for name in text_fields for part in ("--text-field", name)]
    url, _, index = location.rpartition("/")
    install = install_pipeline_command(
        url, pipeline or DEFAULT_PIPELINE, recorded or text_fields, field, "--index", index
    )
    if not pipeline:
        advice = f"run `{quote_command('backfill', location, *needed, *options)}`{remark}"
        offer = f"; to let the engine fingerprint new documents too, run `{install}` first"
        return advice + offer * offers_pipeline
    stale = [] if "--stale" in options else ["--stale"]
    backfill = quote_command("backfill", location, *needed, *options, *stale)
    return (
        f"run `{install}`, so that new documents get fingerprints (add --index-template NAME if an index template "
        f"creates the next index), then run `{backfill}`{remark}"
    )


def require_text_fields(mappings: Sequence[Mapping[str, Any]], field: str, location: str) -> tuple[str, ...]:
    """Return the recorded text fields. Raises StoreError if there are none."""
    if all(METADATA_FIELD in mapped_fields(mapping, field) for mapping in mappings):
        raise StoreError(f"the command `simdoc-search index` created {location}; update the index with that command")
    recorded = recorded_text_fields(mappings, field)
    if not recorded:
        guessed, remark = _guess_text_field(mappings, field)
        raise StoreError(
            f"the mapping of {location} does not record which field contains the text; add --text-field "
            f"{shlex.quote(guessed)}{remark}"
        )
    return tuple(recorded)


def _guess_text_field(mappings: Iterable[Mapping[str, Any]], field: str) -> tuple[str, str]:
    """Return the most likely text field of indices that record none, and a remark in parentheses that it is a guess.

    Without a text field in the mappings, the result is the placeholder `FIELD` and an empty remark.
    """
    paths = list(dict.fromkeys(path for mapping in mappings for path in _application_text_paths(mapping, field)))
    guessed = min(paths, key=_sort_key, default="FIELD")
    if not paths:
        return guessed, ""
    if len(paths) == 1:
        return guessed, f" ({guessed} is a guess; it is the only text field in the mapping)"
    return guessed, f" ({guessed} is a guess; the text fields in the mapping are {shorten_list(paths)})"


def _application_text_paths(mapping: Mapping[str, Any], field: str) -> Iterator[str]:
    excluded = {field, *fingerprint_field_names(mapping)}
    properties = mapping.get("properties", {}).items()
    return text_paths({name: mapped for name, mapped in properties if name not in excluded})


def _sort_key(path: str) -> tuple[bool, int, int]:
    """Return a sort key. Fields that probably contain the text come first."""
    last = path.rpartition(".")[2].lower()
    return (
        last not in _USUAL_TEXT_FIELDS,
        path.count("."),
        _USUAL_TEXT_FIELDS.index(last) if last in _USUAL_TEXT_FIELDS else 0,
    )
