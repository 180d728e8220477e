"""Selects the indices that can get fingerprints, and plans their mappings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from simdoc_search.attach.backfill.options import BackfillOptions
from simdoc_search.attach.backfill.report import UnsupportedIndexError
from simdoc_search.attach.indices import IndexDescription, SkippedIndex, describe_indices
from simdoc_search.concepts import Extractor
from simdoc_search.errors import FormatMismatchError
from simdoc_search.sketch.key import resolve_hash_key
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.token_kinds import TOKEN_KINDS
from simdoc_search.stores.remote.advice import require_text_fields
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.fingerprint_value import is_simdoc_value, read_fingerprint_value
from simdoc_search.stores.remote.mapping_check import find_faults
from simdoc_search.stores.remote.mappings import add_fields, mapping_at, shorten_list
from simdoc_search.stores.remote.queries import randomize_order
from simdoc_search.stores.remote.schema import MARK_FIELDS, field_mappings, format_label
from simdoc_search.stores.remote.texts import (
    build_text_fields_mapping,
    find_text_field_problem,
    find_text_query,
    has_text,
    recorded_text_fields,
    text_paths,
)
from simdoc_search.stores.sentences_and_concepts import check_can_index, choose_extractor

_SAMPLE_SIZE = 100
"""Number of documents to read if the mapping does not describe the fields."""


@dataclass(frozen=True, slots=True)
class Target:
    """A concrete index that can get fingerprints.

    Attributes:
        index: the index.
        settings: the settings of its fingerprints.
        missing_mappings: mappings of subfields to add to the fingerprint field.
        text_fields_mapping: mapping that records the text fields; empty if the index has it already.
        extractor: finds the concepts of its documents; None if the settings have no concepts.
        text_query: finds the documents with a text; None if no query can find them.
        subfields: mappings of all subfields of the fingerprint field, including `missing_mappings`.
        notes: sentences about what `force` changes, and about text fields that may not contain text.
    """

    index: IndexDescription
    settings: Settings
    missing_mappings: dict[str, Any] = field(default_factory=dict)
    text_fields_mapping: dict[str, Any] = field(default_factory=dict)
    extractor: Extractor | None = None
    text_query: dict[str, Any] | None = None
    subfields: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def find_targets(engine: Engine, name: str, options: BackfillOptions) -> tuple[list[Target], list[SkippedIndex]]:
    """Return the indices behind a name that can get fingerprints, and the skipped ones.

    A new fingerprint field gets the settings of the field in another index behind the name. If no index has the field,
    it gets the default settings.

    Raises:
        StoreNotFoundError: no index has this name.
    """
    indices, skipped = describe_indices(engine, name, options.field), list[SkippedIndex]()
    default_settings = next(
        (index.settings for index in indices if index.settings), Settings().with_key(resolve_hash_key())
    )
    other_text_fields = _find_shared_text_fields(engine, indices)
    targets = []
    for index in indices:
        try:
            _check_index(engine, index, options)
            note = _check_text_fields(index, options, other_text_fields)
            target = _plan_target(index, options, default_settings)
            query = (
                None
                if options.full
                else find_text_query(engine, index.name, index.mappings, options.text_fields, index.filters)
            )
            notes = (*filter(None, [note]), *describe_keyword_fields(index, options.text_fields))
            targets.append(replace(target, text_query=query, notes=notes))
        except (UnsupportedIndexError, FormatMismatchError) as error:
            skipped.append(SkippedIndex(index.name, str(error)))
    return targets, skipped


def choose_fields(
    engine: Engine, name: str, field: str | None, text_fields: Sequence[str]
) -> tuple[str, tuple[str, ...]]:
    """Return the fingerprint field and the text fields. If they are not given, they are read from the mappings.

    Raises:
        StoreNotFoundError: no index has this name.
        StoreError: the mappings have several fingerprint fields, or do not record the text fields.
    """
    if field and text_fields:
        return field, tuple(text_fields)
    indices = describe_indices(engine, name, field)
    field = indices[0].field
    mappings = [index.mappings for index in indices]
    text_fields = text_fields or _find_shared_text_fields(engine, indices)
    return field, tuple(text_fields or require_text_fields(mappings, field, f"{engine.name}/{name}"))


def add_mapping(engine: Engine, target: Target, field: str) -> None:
    """Add the missing mappings to the fingerprint field of an index. No other field changes.

    Raises:
        UnsupportedIndexError: the engine rejects the mapping.
    """
    if target.text_fields_mapping:  # if the engine rejects this mapping, users can give --text-field instead
        add_fields(engine, target.index.name, field, target.text_fields_mapping)
    if reason := add_fields(engine, target.index.name, field, target.missing_mappings):
        raise UnsupportedIndexError(reason)


def _plan_target(index: IndexDescription, options: BackfillOptions, default_settings: Settings) -> Target:
    settings = _choose_settings(index.settings, default_settings, options)
    extractor = choose_extractor(settings, options.extractor)
    check_can_index(settings, extractor, "the index")
    all_mappings = field_mappings(settings, options.field)
    text_hash_mapping = index.subfields.get("text_hash", all_mappings["text_hash"])
    all_mappings["text_hash"] = build_text_fields_mapping(text_hash_mapping, options.text_fields)
    optional = MARK_FIELDS if index.settings else ()  # these are not missing, because marking duplicates adds them
    missing = {
        name: mapping for name, mapping in all_mappings.items() if name not in index.subfields and name not in optional
    }
    if index.settings and settings != index.settings:
        missing["tokens"] = all_mappings["tokens"]  # the `meta` of this field must list the added kinds of tokens
    return Target(
        index,
        settings.with_verified_key(resolve_hash_key(), index.name),
        missing,
        {} if all_mappings["text_hash"] == text_hash_mapping else {"text_hash": all_mappings["text_hash"]},
        extractor,
        subfields={**all_mappings, **index.subfields},
    )


def _choose_settings(
    existing_settings: Settings | None, default_settings: Settings, options: BackfillOptions
) -> Settings:
    """Return the settings that the fingerprint field will have.

    Raises:
        UnsupportedIndexError: the field has settings that cannot be changed to the requested ones.
    """
    requested = (
        options.change_settings(existing_settings or default_settings)
        if options.change_settings
        else existing_settings or default_settings
    )
    if existing_settings is None or existing_settings == requested:
        return requested
    added: dict[str, Any] = {name: None for name in TOKEN_KINDS if getattr(existing_settings, name) is None}
    if existing_settings != replace(requested, **added):
        existing_parts, parts = format_label(existing_settings).split("; "), format_label(requested).split("; ")
        differences = [
            "; ".join(part for part in own if part not in other)
            for own, other in ((existing_parts, parts), (parts, existing_parts))
        ]
        existing, changed = differences if all(differences) else map(format_label, (existing_settings, requested))
        advice = "choose a new field with --field, or omit the options that change settings"
        raise UnsupportedIndexError(
            f"the field {options.field} has the settings {existing!r}, not {changed!r}; {advice}"
        )
    return requested


# --- checks ---


def _check_index(engine: Engine, index: IndexDescription, options: BackfillOptions) -> None:
    """Raise an UnsupportedIndexError with the first reason why fingerprints cannot be added to an index, if any."""
    faults = [
        fault.problem
        for fault in find_faults(index.mappings, index.index_settings, options.field)
        if fault.blocks_writes
    ]
    if not faults and index.is_simdoc_index:
        faults.append("the command `simdoc-search index` created this index; update the index with that command")
    faults += filter(None, (find_text_field_problem(index.mappings, name) for name in options.text_fields))
    if faults:
        raise UnsupportedIndexError(faults[0])
    if "tokens" not in index.subfields or any(mapping_at(index.mappings, name) is None for name in options.text_fields):
        _check_documents(engine, index, options)


def _check_documents(engine: Engine, index: IndexDescription, options: BackfillOptions) -> None:
    """Check the fields of a sample of documents, because a text field may be misspelt.

    Raises:
        UnsupportedIndexError: no document has the text field, or the fingerprint field of a document contains something
            else.
    """
    body = {
        "size": _SAMPLE_SIZE,
        "_source": [*options.text_fields, options.field],
        "query": randomize_order({"match_all": {}}),
    }
    sources = [hit.get("_source", {}) for hit in engine.search(index.name, body)["hits"]["hits"]]
    for name in options.text_fields if sources else ():
        if mapping_at(index.mappings, name) is None and not any(has_text(source, name) for source in sources):
            properties = index.mappings.get("properties", {})
            other_fields = {key: mapping for key, mapping in properties.items() if key != options.field}
            advice = f"choose a text field with --text-field ({shorten_list(text_paths(other_fields))})"
            raise UnsupportedIndexError(f"neither the mapping nor the sampled documents have a field {name}; {advice}")
    if not all(is_simdoc_value(read_fingerprint_value(source, options.field)) for source in sources):
        raise UnsupportedIndexError(
            f"in some documents, the field {options.field} contains values that are not fingerprints; choose another "
            "field with --field"
        )


def _check_text_fields(index: IndexDescription, options: BackfillOptions, other_text_fields: Sequence[str]) -> str:
    """Check that existing fingerprints were computed from the requested text fields.

    `other_text_fields`, from the other indices behind an alias, are used if this index records no text fields.

    Returns:
        A sentence about what `force` changes; empty if it changes nothing.

    Raises:
        UnsupportedIndexError: the fingerprints were computed from other text fields, and `force` is not set.
    """
    recorded = index.text_fields
    if not recorded and all(mapping_at(index.mappings, name) is not None for name in other_text_fields):
        expected = other_text_fields
    else:
        expected = recorded
    if not expected or [*expected] == options.text_fields:
        return ""
    old, new = " and ".join(expected), " and ".join(options.text_fields)
    if not options.force:
        owner = "the index" if recorded else "the other indices behind the alias"
        flags = " ".join(f"--text-field {name}" for name in expected)
        raise UnsupportedIndexError(
            f"the fingerprints of {owner} were computed from {old}, not {new}; give {flags}, or --force to use {new}"
        )
    if not recorded:
        return f"{index.name}: fingerprints are computed from {new}, but in the other indices from {old}"
    if options.stale:
        return f"{index.name}: all fingerprints are now computed from {new}, no longer from {old}"
    problem = f"new fingerprints are computed from {new}, but existing ones were computed from {old}"
    return f"{index.name}: {problem}; add --stale to replace the existing ones"


def describe_keyword_fields(index: IndexDescription, text_fields: Sequence[str]) -> list[str]:
    """Return a sentence about each new text field that is a keyword field, because it may be the wrong field."""
    new = [name for name in text_fields if name not in index.text_fields]
    return [
        f"{index.name}: {name} is a keyword field; check that it contains the text of a document"
        for name in new
        if (mapping_at(index.mappings, name) or {}).get("type") == "keyword"
    ]


def _find_shared_text_fields(engine: Engine, indices: Sequence[IndexDescription]) -> list[str]:
    """Return the text fields recorded in these indices, or in the other indices of their aliases and data streams.

    Returns an empty list if no index records any, or if the recorded fields differ.
    """
    mappings = {index.name: index.mappings for index in indices}
    if not all(index.text_fields for index in indices):
        for name in sorted({name for index in indices for name in index.other_names}):
            shared = engine.get_if_allowed(name, "_mapping")
            mappings |= {other: described["mappings"] for other, described in shared.items()}
    return recorded_text_fields(mappings.values(), indices[0].field)
