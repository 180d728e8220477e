"""Selects the indices that can get fingerprints, and plans their mappings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from simdoc_search.attach.backfill.task import Task, UnfitIndexError
from simdoc_search.attach.indices import UNSUPPORTED_OR_FORBIDDEN, ApplicationIndex, SkippedIndex, describe_indices
from simdoc_search.concepts import Extractor
from simdoc_search.errors import FormatMismatchError
from simdoc_search.sketch.key import key_from
from simdoc_search.sketch.kinds import KINDS
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.fingerprint_value import fingerprint_in, is_ours
from simdoc_search.stores.remote.mapping_check import find_faults
from simdoc_search.stores.remote.mappings import add_fields, list_some, mapping_at
from simdoc_search.stores.remote.queries import in_random_order
from simdoc_search.stores.remote.schema import MARK_FIELDS, field_mappings, format_label
from simdoc_search.stores.remote.texts import (
    has_text,
    record_text_fields,
    recorded_text_fields,
    require_text_fields,
    text_paths,
    text_query,
    why_not_text,
)
from simdoc_search.stores.sketching import check_can_sketch, choose_extractor

_SAMPLE = 100
"""Number of documents to read if the mapping does not describe them."""


@dataclass(frozen=True, slots=True)
class Target:
    """A concrete index that can get fingerprints.

    Attributes:
        index: the index.
        settings: the settings of its fingerprints.
        missing: mappings to add below the fingerprint field.
        record: mapping that records the text fields; empty if the index has it.
        extractor: finds the concepts of its documents; None if the settings have no concepts.
        text_query: finds the documents with a text; None if no query can tell.
        fields: mappings below the fingerprint field after `missing` is added.
        note: a sentence if fingerprints come from different text fields, here or in other indices; may be empty.
    """

    index: ApplicationIndex
    settings: Settings
    missing: dict[str, Any] = field(default_factory=dict)
    record: dict[str, Any] = field(default_factory=dict)
    extractor: Extractor | None = None
    text_query: dict[str, Any] | None = None
    fields: dict[str, Any] = field(default_factory=dict)
    note: str = ""


def find_targets(engine: Engine, name: str, task: Task) -> tuple[list[Target], list[SkippedIndex]]:
    """Return the indices behind a name that can get fingerprints, and the skipped ones.

    A new field gets the settings of this field in the other indices behind the name, or the default settings.

    Raises:
        StoreNotFoundError: no index has this name.
    """
    indices, skipped = describe_indices(engine, name, task.field), list[SkippedIndex]()
    default = next((index.settings for index in indices if index.settings), Settings().with_key(key_from()))
    others = _shared_text_fields(engine, indices)
    targets = []
    for index in indices:
        try:
            _check_fit(engine, index, task)
            note = _check_text_fields(index, task, others)
            target = _target(index, task, default)
            query = (
                None if task.full else text_query(engine, index.name, index.mappings, task.text_fields, index.filters)
            )
            targets.append(replace(target, text_query=query, note=note))
        except (UnfitIndexError, FormatMismatchError) as error:
            skipped.append(SkippedIndex(index.name, str(error)))
    return targets, skipped


def choose_fields(
    engine: Engine, name: str, field: str | None, text_fields: Sequence[str]
) -> tuple[str, tuple[str, ...]]:
    """Return the fingerprint field and the text fields: the given ones, or else those in the mappings of the indices.

    Raises:
        StoreNotFoundError: no index has this name.
        StoreError: the mappings have several fingerprint fields, or do not record the text fields.
    """
    if field and text_fields:
        return field, tuple(text_fields)
    indices = describe_indices(engine, name, field)
    field = indices[0].field
    mappings = [index.mappings for index in indices]
    known = text_fields or _shared_text_fields(engine, indices)
    return field, tuple(known or require_text_fields(mappings, field, f"{engine.name}/{name}"))


def add_mapping(engine: Engine, target: Target, field: str) -> None:
    """Add the missing mappings below the fingerprint field of an index. No other field changes.

    Raises:
        UnfitIndexError: the engine refuses the mapping.
    """
    if target.record:  # it only helps readers, so it is no error if this user may not add it
        add_fields(engine, target.index.name, field, target.record)
    if reason := add_fields(engine, target.index.name, field, target.missing):
        raise UnfitIndexError(reason)


def _target(index: ApplicationIndex, task: Task, default: Settings) -> Target:
    settings = _wanted_settings(index.settings, default, task)
    extractor = choose_extractor(settings, task.extractor)
    check_can_sketch(settings, extractor, "it")
    wanted = field_mappings(settings, task.field)
    text_hash = index.fields.get("text_hash", wanted["text_hash"])
    wanted["text_hash"] = record_text_fields(text_hash, task.text_fields)
    optional = MARK_FIELDS if index.settings else ()  # added when documents are marked
    missing = {name: mapping for name, mapping in wanted.items() if name not in index.fields and name not in optional}
    if index.settings and settings != index.settings:
        missing["tokens"] = wanted["tokens"]  # its meta lists the kinds of tokens
    return Target(
        index,
        settings.unlocked(key_from(), index.name),
        missing,
        {} if wanted["text_hash"] == text_hash else {"text_hash": wanted["text_hash"]},
        extractor,
        fields={**wanted, **index.fields},
    )


def _wanted_settings(existing: Settings | None, default: Settings, task: Task) -> Settings:
    """The settings that the field will have.

    Raises:
        UnfitIndexError: the field has other settings already.
    """
    wanted = task.change(existing or default) if task.change else existing or default
    if existing is None or existing == wanted:
        return wanted
    added: dict[str, Any] = {name: None for name in KINDS if getattr(existing, name) is None}
    if existing != replace(wanted, **added):
        labels = f"{format_label(existing)!r}, not {format_label(wanted)!r}"
        how = "name a new field with --field, or leave out the options that change settings"
        raise UnfitIndexError(f"its field {task.field} has the settings {labels}; {how}")
    return wanted


# --- checks ---


def _check_fit(engine: Engine, index: ApplicationIndex, task: Task) -> None:
    """Check that an index can get fingerprints.

    Raises:
        UnfitIndexError: the index cannot get fingerprints. The message is the first reason.
    """
    faults = [
        fault.problem for fault in find_faults(index.mappings, index.index_settings, task.field) if fault.blocks_writes
    ]
    if not faults and index.is_own:
        faults.append("simdoc-search index created it; use that command to update it")
    faults += filter(None, (why_not_text(index.mappings, name) for name in task.text_fields))
    if faults:
        raise UnfitIndexError(faults[0])
    if "tokens" not in index.fields or any(mapping_at(index.mappings, name) is None for name in task.text_fields):
        _check_documents(engine, index, task)


def _check_documents(engine: Engine, index: ApplicationIndex, task: Task) -> None:
    """Check a sample of the documents. A misspelt text field must not mark all documents as empty.

    Raises:
        UnfitIndexError: no document has the text field, or some have other values in the fingerprint field.
    """
    body = {"size": _SAMPLE, "_source": [*task.text_fields, task.field], "query": in_random_order({"match_all": {}})}
    sources = [hit.get("_source", {}) for hit in engine.search(index.name, body)["hits"]["hits"]]
    for name in task.text_fields if sources else ():
        if mapping_at(index.mappings, name) is None and not any(has_text(source, name) for source in sources):
            properties = index.mappings.get("properties", {})
            others = {key: mapping for key, mapping in properties.items() if key != task.field}
            how = f"its text fields are {list_some(text_paths(others))}"
            raise UnfitIndexError(f"neither its mapping nor its documents have a field {name}; {how}")
    if not all(is_ours(fingerprint_in(source, task.field)) for source in sources):
        raise UnfitIndexError(f"its documents have other values in {task.field}; choose another name with --field")


def _check_text_fields(index: ApplicationIndex, task: Task, others: Sequence[str]) -> str:
    """Check that existing fingerprints, here or in the other indices behind an alias, come from the same text fields.

    Returns:
        What `force` changes, as a sentence; empty if it changes nothing.

    Raises:
        UnfitIndexError: they come from other text fields, and `force` is not set.
    """
    recorded = index.text_fields
    if not recorded and all(mapping_at(index.mappings, name) is not None for name in others):
        expected = others
    else:
        expected = recorded
    if not expected or [*expected] == task.text_fields:
        return ""
    before, now = " and ".join(expected), " and ".join(task.text_fields)
    if not task.force:
        whose = "its fingerprints" if recorded else "the fingerprints of the other indices behind its alias"
        options = " ".join(f"--text-field {name}" for name in expected)
        raise UnfitIndexError(f"{whose} come from {before}, not {now}; give {options}, or --force to use {now}")
    if not recorded:
        return f"{index.name}: fingerprints come from {now}, those of the other indices from {before}"
    if task.stale:
        return f"{index.name}: all fingerprints now come from {now}, no longer from {before}"
    return f"{index.name}: new fingerprints come from {now}, existing ones still from {before}; --stale replaces them"


def _shared_text_fields(engine: Engine, indices: Sequence[ApplicationIndex]) -> list[str]:
    """The text fields that these indices record, or else the other indices of their aliases and data streams.

    Empty if no index records any, or if the recorded fields differ.
    """
    mappings = {index.name: index.mappings for index in indices}
    if not all(index.text_fields for index in indices):
        for name in sorted({name for index in indices for name in index.other_names}):
            shared = engine.call("GET", [name, "_mapping"], allow=UNSUPPORTED_OR_FORBIDDEN) or {}
            mappings |= {other: described["mappings"] for other, described in shared.items()}
    return recorded_text_fields(mappings.values(), indices[0].field)
