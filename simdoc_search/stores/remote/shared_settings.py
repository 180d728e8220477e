"""The settings that all indices behind a name share, and why an index cannot be queried."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from simdoc_search.errors import FormatMismatchError, StoreError, StoreNotFoundError
from simdoc_search.sketch.kinds import KINDS, Kind
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.mapping_check import find_faults
from simdoc_search.stores.remote.mappings import fields_of
from simdoc_search.stores.remote.schema import recorded_limits, settings_of
from simdoc_search.stores.remote.texts import backfill_command

Mappings = Mapping[str, Mapping[str, Any]]

_NO_FIELD = "it has no field "


def queryable(mappings: Mappings, field: str) -> dict[str, Mapping[str, Any]]:
    """Return the mappings of the indices whose documents can be found by their fingerprints."""
    return {
        index: mapping
        for index, mapping in mappings.items()
        if not any(fault.blocks_queries for fault in find_faults(mapping, {}, field))
    }


def why_not_queryable(
    index: str, mappings: Mappings, field: str, location: str, settings: Mapping[str, Any] | None = None
) -> str:
    """Return why an index cannot be queried, and what to do; to follow its name.

    Args:
        index: name of the index.
        mappings: mappings of all indices behind the name.
        field: the fingerprint field.
        location: address of the engine and the name.
        settings: settings of the index below `index`, if known.
    """
    mapping = mappings[index]
    faults = list(find_faults(mapping, settings or {}, field))
    no_field = "" if "tokens" in fields_of(mapping, field) else f"there is no field {field}.tokens"
    if other := next((fault for fault in faults if fault.blocks_queries and fault.problem != no_field), None):
        return f"it cannot be asked: {other.problem}"
    if hindrance := next((fault for fault in faults if fault.blocks_writes), None):
        return f"{_NO_FIELD}{field}.tokens, and backfill cannot add it, as {hindrance.problem}"
    return f"{_NO_FIELD}{field}.tokens; {backfill_command(mappings.values(), field, location)}"


def common_settings(mappings: Mappings, field: str, location: str) -> Settings:
    """Return the settings that all queryable indices have.

    A kind of tokens in which they differ is left out; see `require_kind`.

    Raises:
        StoreError: no index can be queried.
        FormatMismatchError: the fingerprints have different settings, or those of a newer version.
    """
    settings = {index: _settings_in(mapping, field) for index, mapping in queryable(mappings, field).items()}
    if not settings:
        raise StoreError(why_none_is_queryable(mappings, field, location))
    (first_index, first), *others = settings.items()
    for index, other in others:
        if _without_kinds(other) != _without_kinds(first):
            raise FormatMismatchError(
                f"{first_index} and {index} have fingerprints of different settings; ask them apart",
                found=other.to_dict(),
                expected=first.to_dict(),
            )
    forms = {name: {getattr(values, name) for values in settings.values()} for name in KINDS}
    different: dict[str, Any] = {name: None for name, values in forms.items() if len(values) > 1}
    return replace(first, **different, limits=recorded_limits(mappings.values(), field))


def why_none_is_queryable(
    mappings: Mappings, field: str, location: str, settings: Mappings | None = None, known: Mappings | None = None
) -> str:
    """Return the message for a name of which no index can be queried.

    Args:
        mappings: mappings of the open indices.
        field: the fingerprint field.
        location: address of the engine and the name.
        settings: settings of the indices below `index`, as far as they are known.
        known: mappings of all indices, also closed ones.

    Raises:
        FormatMismatchError: a newer version made the fingerprints of an index.
    """
    for mapping in mappings.values():
        if "tokens" in fields_of(mapping, field):
            _settings_in(mapping, field)
    all_mappings, all_settings = known or mappings, settings or {}
    reasons = {
        index: why_not_queryable(index, all_mappings, field, location, all_settings.get(index)) for index in mappings
    }
    reason = min(reasons.values(), key=lambda reason: reason.startswith(_NO_FIELD))
    names = sorted(index for index, other in reasons.items() if other == reason)
    shown = f"the index {names[0]}" if len(names) == 1 else f"each of the indices {', '.join(names)}"
    return f"{shown} of {location} {reason.removeprefix('it ')}"


def require_kind(mappings: Mappings, field: str, location: str, kind: Kind) -> None:
    """Check that all queryable indices have a kind of tokens.

    Raises:
        FormatMismatchError: an index has none, or two indices have different ones.
        StoreError: the field of these tokens has another mapping.
    """
    forms: dict[Any, str] = {}
    for index, mapping in queryable(mappings, field).items():
        form = getattr(_settings_in(mapping, field), kind.name)
        if form is None:
            lacks, how = "has no", backfill_command(mappings.values(), field, location, kind.backfill_option)
            if is_own({index: mapping}, field):
                lacks, how = "was made without", kind.how_to_add(location)
            raise FormatMismatchError(f"the index {index} of {location} {lacks} {kind.name}; {how}")
        forms.setdefault(form, index)
        if fault := next((fault for fault in find_faults(mapping, {}, field) if fault.kind == kind.name), None):
            raise StoreError(f"the index {index} of {location} cannot be asked for {kind.name}: {fault.problem}")
    if len(forms) > 1:
        first, other, *_ = forms.values()
        raise FormatMismatchError(f"{first} and {other} have {kind.name} of different settings; ask them apart")


def is_own(mappings: Mappings, field: str) -> bool:
    """Return whether `simdoc-search index` made all queryable indices."""
    return all("facts" in fields_of(mapping, field) for mapping in queryable(mappings, field).values())


def check_unchanged(mappings: Mappings | None, field: str, settings: Settings, location: str) -> None:
    """Check that indices of our own are as they were when they were opened.

    Raises:
        StoreNotFoundError: they are gone.
        StoreError: other indices have their name, or one of them lacks our field.
    """
    if mappings is None:
        raise StoreNotFoundError(f"the index {location} is gone; open the store again to make it")
    current = common_settings(mappings, field, location).unlocked(settings.minhash.key, location)
    if not is_own(mappings, field) or current != settings:
        raise StoreError(f"the index {location} is another one than was opened; open the store again")
    if others := sorted(mappings.keys() - queryable(mappings, field).keys()):
        how = "take it out of the alias, then index again"
        raise StoreError(f"the index {others[0]} of {location} was not made by simdoc-search index; {how}")


def _settings_in(mapping: Mapping[str, Any], field: str) -> Settings:
    return settings_of(fields_of(mapping, field)["tokens"].get("meta", {}))


def _without_kinds(settings: Settings) -> Settings:
    none: dict[str, Any] = dict.fromkeys(KINDS)
    return replace(settings, **none)
