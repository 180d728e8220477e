"""Finds the settings that all indices behind a name share, and explains why an index cannot be queried."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from simdoc_search.errors import FormatMismatchError, StoreError, StoreNotFoundError
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.token_kinds import TOKEN_KINDS, TokenKind
from simdoc_search.stores.fields import METADATA_FIELD
from simdoc_search.stores.remote.advice import backfill_advice
from simdoc_search.stores.remote.mapping_check import find_faults
from simdoc_search.stores.remote.mappings import mapped_fields
from simdoc_search.stores.remote.schema import parse_meta, recorded_thresholds, without_kinds

Mappings = Mapping[str, Mapping[str, Any]]
"""Mappings of indices by their names."""


class NotQueryableReason(NamedTuple):
    """Why an index cannot be queried."""

    reason: str  # the reason, and what to do. It begins with "the index".
    only_lacks_field: bool  # whether the missing fingerprint field is the only fault that prevents queries


def select_queryable_mappings(mappings: Mappings, field: str) -> dict[str, Mapping[str, Any]]:
    """Select the mappings of the indices whose documents can be found by their fingerprints."""
    return {
        index: mapping
        for index, mapping in mappings.items()
        if not any(fault.blocks_queries for fault in find_faults(mapping, {}, field))
    }


def explain_not_queryable(
    index: str,
    mappings: Mappings,
    field: str,
    location: str,
    settings: Mapping[str, Any] | None = None,
    *,
    pipeline: str = "",
) -> NotQueryableReason:
    """Return why an index cannot be queried, and what to do.

    `mappings` are those of all indices behind the name. `settings` is the `index` part of the settings of the index, if
    it could be read. `pipeline` is that of `backfill_advice`.
    """
    faults = list(find_faults(mappings[index], settings or {}, field))
    if query_fault := next((fault for fault in faults if fault.blocks_queries and not fault.lacks_tokens), None):
        return NotQueryableReason(f"the index cannot be queried: {query_fault.problem}", only_lacks_field=False)
    if write_fault := next((fault for fault in faults if fault.blocks_writes), None):
        advice = f", and `backfill` cannot add this field, because {write_fault.problem}"
    else:
        advice = f"; to add fingerprints, {backfill_advice(mappings.values(), field, location, pipeline=pipeline)}"
    return NotQueryableReason(f"the index has no field {field}.tokens{advice}", only_lacks_field=True)


def common_settings(mappings: Mappings, field: str, location: str) -> Settings:
    """Return the settings that all queryable indices share.

    Passages, sentences or concepts are omitted if the indices have different settings for them; see `require_kind`.

    Raises:
        StoreError: no index can be queried.
        FormatMismatchError: the fingerprints have different settings, or a newer version of simdoc-search wrote them.
    """
    queryable = select_queryable_mappings(mappings, field)
    settings = {index: _settings_in(index, mapping, field) for index, mapping in queryable.items()}
    if not settings:
        raise StoreError(none_queryable_message(mappings, field, location))
    (first_index, first), *others = settings.items()
    for index, other in others:
        if without_kinds(other) != without_kinds(first):
            raise FormatMismatchError(
                f"the indices {first_index} and {index} have fingerprints with different settings; query each index "
                "separately",
                found=other.to_dict(),
                expected=first.to_dict(),
            )
    by_kind = {name: {getattr(values, name) for values in settings.values()} for name in TOKEN_KINDS}
    different: dict[str, Any] = {name: None for name, values in by_kind.items() if len(values) > 1}
    return replace(first, **different, thresholds=recorded_thresholds(mappings.values(), field))


def none_queryable_message(
    mappings: Mappings,
    field: str,
    location: str,
    settings: Mappings | None = None,
    all_mappings: Mappings | None = None,
) -> str:
    """Return the error message for a name if no index behind it can be queried.

    `mappings` are those of the open indices. `all_mappings` also contains those of closed indices. `settings` contains
    the `index` part of the settings of each index, if it could be read.

    Raises:
        FormatMismatchError: a newer version of simdoc-search wrote the fingerprints of an index.
    """
    for index, mapping in mappings.items():
        if "tokens" in mapped_fields(mapping, field):
            try:
                _settings_in(index, mapping, field)
            except FormatMismatchError as error:
                if error.found is not None:  # otherwise, the faults of the mapping say more
                    raise
    all_mappings, all_settings = all_mappings or mappings, settings or {}
    reasons = {
        index: explain_not_queryable(index, all_mappings, field, location, all_settings.get(index))
        for index in mappings
    }
    # Prefer faults other than a missing field, because they are more serious.
    shown_reason = min(reasons.values(), key=lambda reason: reason.only_lacks_field)
    names = sorted(index for index, reason in reasons.items() if reason == shown_reason)
    shown = f"the index {names[0]}" if len(names) == 1 else f"each of the indices {', '.join(names)}"
    return f"{shown} of {location} {shown_reason.reason.removeprefix('the index ')}"


def require_kind(mappings: Mappings, field: str, location: str, kind: TokenKind) -> None:
    """Check that all queryable indices have passages, sentences or concepts, as `kind` says.

    Raises:
        FormatMismatchError: an index does not have such tokens, or two indices have them with different settings.
        StoreError: the field for these tokens has a wrong mapping.
    """
    index_by_settings: dict[Any, str] = {}
    for index, mapping in select_queryable_mappings(mappings, field).items():
        kind_settings = getattr(_settings_in(index, mapping, field), kind.name)
        if kind_settings is None:
            options = kind.backfill_option.split()
            problem, advice = "has no", backfill_advice(mappings.values(), field, location, *options)
            if is_created_by_simdoc({index: mapping}, field):
                problem, advice = "was created without", kind.how_to_add(location)
            raise FormatMismatchError(f"the index {index} of {location} {problem} {kind.name}; {advice}")
        index_by_settings.setdefault(kind_settings, index)
        if fault := next(
            (fault for fault in find_faults(mapping, {}, field) if fault.blocked_token_kind == kind.name), None
        ):
            raise StoreError(f"the index {index} of {location} cannot be queried for {kind.name}: {fault.problem}")
    if len(index_by_settings) > 1:
        first, other, *_ = index_by_settings.values()
        raise FormatMismatchError(
            f"the indices {first} and {other} have {kind.name} with different settings; query each index separately"
        )


def is_created_by_simdoc(mappings: Mappings, field: str) -> bool:
    """Return whether `simdoc-search index` created all queryable indices."""
    return all(
        METADATA_FIELD in mapped_fields(mapping, field)
        for mapping in select_queryable_mappings(mappings, field).values()
    )


def check_unchanged(mappings: Mappings | None, field: str, settings: Settings, location: str) -> None:
    """Check that the opened indices were not removed or replaced.

    Raises:
        StoreNotFoundError: the indices were removed.
        StoreError: other indices have replaced them, or an index has no fingerprint field.
    """
    if mappings is None:
        raise StoreNotFoundError(f"the index {location} no longer exists; open the index again to recreate the index")
    current = common_settings(mappings, field, location).with_verified_key(settings.sketch.key, location)
    if not is_created_by_simdoc(mappings, field) or current != settings:
        raise StoreError(f"the index {location} was replaced with another index; open the index again")
    if others := sorted(mappings.keys() - select_queryable_mappings(mappings, field).keys()):
        raise StoreError(
            f"the index {others[0]} behind {location} was not created with `simdoc-search index`; remove this index "
            "from the alias, then run `simdoc-search index` again"
        )


def _settings_in(index: str, mapping: Mapping[str, Any], field: str) -> Settings:
    try:
        return parse_meta(mapped_fields(mapping, field)["tokens"].get("meta", {}))
    except FormatMismatchError as error:
        message = f"cannot use {field}.tokens of the index {index}: {error}"
        raise FormatMismatchError(message, found=error.found, expected=error.expected) from None
