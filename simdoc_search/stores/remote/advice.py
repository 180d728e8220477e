"""Which `simdoc-search backfill` gives an index what it lacks?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from simdoc_search.stores.remote.index_body import FIELD
from simdoc_search.stores.remote.mappings import fields_of, some_of, text_fields
from simdoc_search.stores.remote.texts import noted_text_fields

_USUAL = ("body", "text", "content", "fulltext", "full_text", "message", "description")
"""Names under which applications keep the text of a document."""


def how_to_backfill(mappings: Iterable[Mapping[str, Any]], field: str, location: str, more: str = "") -> str:
    """The command, for a sentence.

    Args:
        mappings: of all indices behind the name. The text fields that one of them notes are proposed, else a guess.
        field: the object field of the fingerprints.
        location: the address of the engine, and the name.
        more: further options.
    """
    known = list(mappings)
    noted = noted_text_fields(known, field)
    there = list(dict.fromkeys(name for each in known for name in _text_fields(each, field)))
    texts = noted or [min(there, key=_unlikely, default="FIELD")]
    named = "".join(f" --text-field {each}" for each in texts)
    ours = "" if field == FIELD else f" --field {field}"
    guessed = ""
    if len(there) == 1 and not noted:
        guessed = f" (a guess: {there[0]} is the only text field of the mapping)"
    elif there and not noted:
        guessed = f" ({texts[0]} is a guess; the text fields of the mapping are {some_of(there)})"
    return f"run simdoc-search backfill {location}{named}{ours}{more and f' {more}'}{guessed}"


def _text_fields(mapping: Mapping[str, Any], field: str) -> list[str]:
    """The fields of text but those of fingerprints."""
    there = mapping.get("properties", {})
    return list(text_fields({name: there[name] for name in there if not _is_ours(mapping, name, field)}))


def _is_ours(mapping: Mapping[str, Any], name: str, field: str) -> bool:
    return name == field or {"tokens", "format"} <= fields_of(mapping, name).keys()


def _unlikely(name: str) -> tuple[bool, int, int]:
    """Less for a field that is more likely to have the text."""
    last = name.rpartition(".")[2].lower()
    return last not in _USUAL, name.count("."), _USUAL.index(last) if last in _USUAL else 0
