"""Do the indices behind a name go together: one setting of fingerprints, made of the same text fields?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from simdoc_search.errors import StoreError
from simdoc_search.sketch.kinds import KINDS
from simdoc_search.stores.remote.mappings import fields_of
from simdoc_search.stores.remote.schema import settings_of
from simdoc_search.stores.remote.shared_settings import common_settings, queryable, require_kind
from simdoc_search.stores.remote.texts import recorded_text_fields


def differences(mappings: Mapping[str, Mapping[str, Any]], field: str, location: str) -> Iterator[str]:
    """What keeps queries from comparing the documents of these indices, a sentence each.

    Args:
        mappings: of the indices; those that cannot be asked are told apart already.
        field: the object field of the fingerprints.
        location: the address of the engine, and the name.
    """
    asked = queryable(mappings, field)
    if len(asked) < 2:
        return
    try:
        common_settings(asked, field, location)
    except StoreError as error:
        yield str(error)
        return
    forms = [settings_of(fields_of(each, field)["tokens"].get("meta", {})) for each in asked.values()]
    for kind in KINDS.values():
        if len({getattr(each, kind.name) for each in forms}) > 1:
            try:
                require_kind(asked, field, location, kind)
            except StoreError as error:
                yield str(error)
    yield from _text_fields(asked, field, location)


def _text_fields(mappings: Mapping[str, Mapping[str, Any]], field: str, location: str) -> Iterator[str]:
    noted = {index: recorded_text_fields([each], field) for index, each in sorted(mappings.items())}
    kinds: dict[tuple[str, ...], str] = {}
    for index, names in noted.items():
        if names:
            kinds.setdefault(tuple(names), index)
    if len(kinds) > 1:
        said = ", ".join(f"{index} of {' and '.join(names)}" for names, index in kinds.items())
        first = next(iter(kinds))
        texts = "".join(f" --text-field {each}" for each in first)
        yield (
            f"fingerprints are of different text fields ({said}); "
            f"if {' and '.join(first)} is the right one, run simdoc-search backfill {location}{texts} --stale --force"
        )
