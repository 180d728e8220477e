"""What all indices behind a name have in common: those that can be asked for fingerprints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from simdoc_search.errors import FormatMismatchError, StoreError, StoreNotFoundError
from simdoc_search.sketch.kinds import KINDS, Kind
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.mapping_check import MappingFault, find_faults
from simdoc_search.stores.remote.mappings import fields_of
from simdoc_search.stores.remote.schema import recorded_limits, settings_of
from simdoc_search.stores.remote.texts import backfill_command

Mappings = Mapping[str, Mapping[str, Any]]


def queryable(mappings: Mappings, field: str) -> dict[str, Mapping[str, Any]]:
    """The mappings of those indices whose documents can be found by their fingerprints."""
    return {index: each for index, each in mappings.items() if not _asking(each, field)}


def why_left_out(
    index: str, mappings: Mappings, field: str, location: str, settings: Mapping[str, Any] | None = None
) -> str:
    """Why an index cannot be asked, and what to do; to follow its name.

    Args:
        index: its name.
        mappings: of all indices behind the name.
        field: the object field of the fingerprints.
        location: the address of the engine, and the name.
        settings: those of the index, below `index`, if they are known.
    """
    mapping = mappings[index]
    faults = list(find_faults(mapping, settings or {}, field))
    wrong = next((each for each in faults if each.blocks_queries and each.problem != _missing(mapping, field)), None)
    if wrong is not None:
        return f"it cannot be asked: {wrong.problem}"
    if hindered := next((each for each in faults if each.blocks_writes), None):
        return f"it has no field {field}.tokens, and backfill cannot add it, as {hindered.problem}"
    return f"it has no field {field}.tokens; {backfill_command(mappings.values(), field, location)}"


def common_settings(mappings: Mappings, field: str, location: str) -> Settings:
    """The settings that all indices behind a name say in the `meta` of our field, but for those that have none.

    Where they differ in a kind of tokens they can be asked for all else: `require_kind`.

    Raises:
        StoreError: none of them can be asked.
        FormatMismatchError: they differ, or are of a newer version.
    """
    found = {
        index: settings_of(fields_of(each, field)["tokens"].get("meta", {}))
        for index, each in queryable(mappings, field).items()
    }
    if not found:
        raise StoreError(none_can_be_asked(mappings, field, location))
    first, *others = found.items()
    for index, settings in others:
        if _bare(settings) != _bare(first[1]):
            raise FormatMismatchError(
                f"{first[0]} and {index} have fingerprints of different settings; ask them apart",
                found=settings.to_dict(),
                expected=first[1].to_dict(),
            )
    of_all = {name: {getattr(each, name) for each in found.values()} for name in KINDS}
    different: dict[str, Any] = {name: None for name, each in of_all.items() if len(each) > 1}
    return replace(first[1], **different, limits=recorded_limits(mappings.values(), field))


def none_can_be_asked(
    mappings: Mappings, field: str, location: str, settings: Mappings | None = None, known: Mappings | None = None
) -> str:
    """What is said where no index behind a name can be asked.

    Args:
        mappings: of the indices.
        field: the object field of the fingerprints.
        location: the address of the engine, and the name.
        settings: those of the indices, below `index`, as far as they are known.
        known: the mappings of closed indices too.

    Raises:
        FormatMismatchError: a newer version made the fingerprints of one.
    """
    for each in mappings.values():
        if tokens := fields_of(each, field).get("tokens"):
            settings_of(tokens.get("meta", {}))
    reasons = {
        index: why_left_out(index, known or mappings, field, location, (settings or {}).get(index))
        for index in mappings
    }
    begin = "it has no field "
    if len(reasons) > 1 and len(set(reasons.values())) == 1 and next(iter(reasons.values())).startswith(begin):
        reason = next(iter(reasons.values())).removeprefix(begin)
        return f"none of the indices {', '.join(sorted(reasons))} of {location} has a field {reason}"
    index, reason = min(reasons.items(), key=lambda each: each[1].startswith(begin))
    return f"the index {index} of {location} {reason.removeprefix('it ')}"


def require_kind(mappings: Mappings, field: str, location: str, kind: Kind) -> None:
    """See whether all indices behind a name, of settings that are common, can be asked for a kind of tokens.

    Raises:
        FormatMismatchError: one of them has none, or two have different ones.
        StoreError: they lie in a field of another kind.
    """
    forms: dict[Any, str] = {}
    for index, mapping in queryable(mappings, field).items():
        form = getattr(settings_of(fields_of(mapping, field)["tokens"].get("meta", {})), kind.name)
        if form is None:
            lacks, how = "was made without", kind.how_to_add(location)
            if not is_own({index: mapping}, field):
                lacks = "has no"
                how = backfill_command(mappings.values(), field, location, kind.backfill_option)
            raise FormatMismatchError(f"the index {index} of {location} {lacks} {kind.name}; {how}")
        forms.setdefault(form, index)
        if fault := next((each for each in find_faults(mapping, {}, field) if each.kind == kind.name), None):
            raise StoreError(f"the index {index} of {location} cannot be asked for {kind.name}: {fault.problem}")
    if len(forms) > 1:
        one, other, *_ = forms.values()
        raise FormatMismatchError(f"{one} and {other} have {kind.name} of different settings; ask them apart")


def is_own(mappings: Mappings, field: str) -> bool:
    """Whether all indices behind a name that can be asked were made by `simdoc-search index`."""
    return all("facts" in fields_of(each, field) for each in queryable(mappings, field).values())


def check_unchanged(mappings: Mappings | None, field: str, settings: Settings, location: str) -> None:
    """See whether indices of our own are as they were when they were opened; an engine would make one that is gone.

    Raises:
        StoreNotFoundError: they are gone.
        StoreError: others have their name, or one of them lacks our field.
    """
    if mappings is None:
        raise StoreNotFoundError(f"the index {location} is gone; open the store again to make it")
    now = common_settings(mappings, field, location).unlocked(settings.minhash.key, location)
    if not is_own(mappings, field) or now != settings:
        raise StoreError(f"the index {location} is another one than was opened; open the store again")
    if others := sorted(mappings.keys() - queryable(mappings, field).keys()):
        how = "take it out of the alias, then index again"
        raise StoreError(f"the index {others[0]} of {location} was not made by simdoc-search index; {how}")


def _asking(mapping: Mapping[str, Any], field: str) -> list[MappingFault]:
    return [each for each in find_faults(mapping, {}, field) if each.blocks_queries]


def _missing(mapping: Mapping[str, Any], field: str) -> str:
    """What is said of an index without our field; empty: it has it."""
    return "" if "tokens" in fields_of(mapping, field) else f"there is no field {field}.tokens"


def _bare(settings: Settings) -> Settings:
    """The settings of the fingerprints alone."""
    none: dict[str, Any] = dict.fromkeys(KINDS)
    return replace(settings, **none)
