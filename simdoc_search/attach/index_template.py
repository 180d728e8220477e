"""Extends the index template of an application, so that future indices have the fingerprint field and the pipeline."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from simdoc_search.attach.indices import NO_PIPELINE, UNSUPPORTED_OR_FORBIDDEN
from simdoc_search.attach.steps import Step
from simdoc_search.errors import FormatMismatchError, StoreError
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.mapping_check import find_faults
from simdoc_search.stores.remote.mappings import fields_of, list_some, mapping_at
from simdoc_search.stores.remote.schema import settings_of
from simdoc_search.stores.remote.texts import record_text_fields, recorded_text_fields, text_paths, why_not_text

_DATES = ("created_date", "modified_date")
"""Prefixes of keys that newer engines return in a template, but do not accept."""


@dataclass(frozen=True, slots=True)
class Extension:
    """What an index template must have.

    Attributes:
        field: the object field of the fingerprints. The component template has the same name.
        mapping: the mapping of this field in the component template.
        pipeline: the final pipeline; empty to keep the pipeline of the template.
        text_fields: the text fields that the mapping must record; may be empty.
    """

    field: str
    mapping: Mapping[str, Any]
    pipeline: str = ""
    text_fields: Sequence[str] = ()


def index_template_steps(
    engine: Engine, name: str, extension: Extension, *, force: bool = False
) -> tuple[list[Step], list[str]]:
    """Return the step that extends an index template, and warnings. There is no step if nothing is missing.

    Everything else in the template is kept. A different final pipeline is replaced only with `force`.

    Raises:
        StoreError: there is no such template, it has another final pipeline, or its indices cannot have fingerprints.
    """
    templates = (engine.call("GET", ["_index_template", name], allow=(404,)) or {}).get("index_templates", [])
    if [template["name"] for template in templates] != [name]:
        is_legacy = engine.call("GET", ["_template", name], allow=UNSUPPORTED_OR_FORBIDDEN)
        how = "replace this legacy template (_template) with an index template" if is_legacy else "create it"
        existing = list_some(other for other in all_index_templates(engine) or {} if not other.startswith("."))
        raise StoreError(f"{engine.name} has no index template {name}; {how}, or name another one ({existing})")
    before = without_dates(templates[0]["index_template"])
    warnings = _check(engine, name, before, extension, force=force)
    after, changes = _extend(before, extension)
    if after == before:
        return [], warnings
    change = f"extend the index template {name}: {', '.join(changes)}"
    return [Step("index template", ("_index_template", name), after, change)], warnings


def all_index_templates(engine: Engine) -> dict[str, dict[str, Any]] | None:
    """Return the index templates by name; None if the engine does not return them."""
    answer = engine.call("GET", ["_index_template"], allow=UNSUPPORTED_OR_FORBIDDEN)
    return None if answer is None else {item["name"]: item["index_template"] for item in answer["index_templates"]}


def matches(patterns: Iterable[str], name: str) -> bool:
    """Return whether one of the patterns of an index template matches a name. The only wildcard is `*`."""
    return any(fnmatchcase(name, pattern.replace("[", "[[]").replace("?", "[?]")) for pattern in patterns)


def resolved_template(engine: Engine, name: str, body: dict[str, Any] | None = None) -> dict[str, Any] | None:
    """Return the settings and mappings that a template, or `body` in its place, gives to a new index.

    Returns None if the engine does not simulate templates.
    """
    answer = engine.call("POST", ["_index_template", "_simulate", name], body, allow=UNSUPPORTED_OR_FORBIDDEN[1:])
    return None if answer is None else answer.get("template", {})


def is_covered(template: Mapping[str, Any], extension: Extension) -> bool:
    """Return whether a resolved template contains everything in an extension."""
    mappings = template.get("mappings", {})
    recorded = recorded_text_fields([mappings], extension.field)
    return (
        "tokens" in fields_of(mappings, extension.field)
        and (not extension.pipeline or _final_pipeline(template) == extension.pipeline)
        and (not extension.text_fields or not _can_record(extension) or recorded == [*extension.text_fields])
    )


def check_final_pipeline(owner: str, existing: str, name: str, *, force: bool) -> None:
    """Check that an index or index template can get a final pipeline.

    Raises:
        StoreError: it has another final pipeline, and `force` is not set.
    """
    if existing not in (NO_PIPELINE, name) and not force:
        how = f'add the processor {{"pipeline": {{"name": "{name}"}}}} to it, or replace it with --force'
        raise StoreError(f"the {owner} already has the final pipeline {existing}; {how}")


def without_dates(template: Mapping[str, Any]) -> dict[str, Any]:
    """Return a template without the dates that engines do not accept."""
    return {key: value for key, value in template.items() if not key.startswith(_DATES)}


def _extend(before: Mapping[str, Any], extension: Extension) -> tuple[dict[str, Any], list[str]]:
    """The extended template, and the list of changes."""
    body, changes = deepcopy(dict(before)), []
    composed = body.get("composed_of") or []
    if extension.field not in composed:
        body["composed_of"] = [*composed, extension.field]
        changes.append(f"add {extension.field} to composed_of")
    template = body.get("template") or {}
    if extension.pipeline and _final_pipeline(template) != extension.pipeline:
        settings = template.get("settings") or {}
        index_settings = {**settings.get("index", {}), "final_pipeline": extension.pipeline}
        template["settings"] = {**settings, "index": index_settings}
        changes.append(f"set index.final_pipeline to {extension.pipeline}")
    mappings = template.get("mappings") or {}
    text_hash = fields_of(mappings, extension.field).get("text_hash", extension.mapping["properties"]["text_hash"])
    recording = record_text_fields(text_hash, extension.text_fields) if extension.text_fields else text_hash
    if recording != text_hash:
        properties = mappings.get("properties") or {}
        field = properties.get(extension.field) or {"dynamic": "false"}
        field = {**field, "properties": {**field.get("properties", {}), "text_hash": recording}}
        template["mappings"] = {**mappings, "properties": {**properties, extension.field: field}}
        changes.append(f"record that the text is in {' and '.join(extension.text_fields)}")
    if template:
        body["template"] = template
    return body, changes


def _check(engine: Engine, name: str, before: Mapping[str, Any], extension: Extension, *, force: bool) -> list[str]:
    """Check that indices of a template can have fingerprints, and return warnings.

    The simulated body includes the mapping itself, because the component template may not be installed yet.

    Raises:
        StoreError: the indices cannot have fingerprints, or the template has another final pipeline.
    """
    field = extension.field
    body = deepcopy(dict(before))
    body["composed_of"] = [other for other in body.get("composed_of") or [] if other != extension.field]
    template = body.setdefault("template", {})
    properties = template.setdefault("mappings", {}).setdefault("properties", {})
    own = properties.get(field, {})
    if own.get("type", "object") == "object":
        merged = {**extension.mapping["properties"], **own.get("properties", {})}
        properties[field] = {**extension.mapping, **own, "properties": merged}
    resolved = resolved_template(engine, name, body) or template
    mappings, settings = resolved.get("mappings", {}), (resolved.get("settings") or {}).get("index", {})
    faults = [fault.problem for fault in find_faults(mappings, settings, field) if fault.blocks_writes]
    faults += filter(None, (why_not_text(mappings, text_field) for text_field in extension.text_fields))
    tokens = fields_of(mappings, field).get("tokens", {})
    if not faults and not _has_same_settings(tokens, extension.mapping["properties"]["tokens"]):
        faults.append(f"its own mapping of {field}.tokens has other settings; remove it")
    if faults:
        raise StoreError(f"indices of the index template {name} cannot have fingerprints: {faults[0]}")
    if extension.pipeline:
        check_final_pipeline(f"index template {name}", _final_pipeline(resolved), extension.pipeline, force=force)
    others = {key: mapping for key, mapping in mappings.get("properties", {}).items() if key != field}
    mapped = list_some(text_paths(others))
    missing = [path for path in extension.text_fields if others and mapping_at(mappings, path) is None]
    warnings = [f"the index template {name} does not map the field {path}; it maps {mapped}" for path in missing]
    if extension.text_fields and not _can_record(extension):
        warnings.append("the mapping has no space to record the text fields; give --text-field with each command")
    return warnings


def _can_record(extension: Extension) -> bool:
    return "meta" in record_text_fields({}, extension.text_fields)


def _final_pipeline(template: Mapping[str, Any]) -> str:
    return str(((template.get("settings") or {}).get("index") or {}).get("final_pipeline", NO_PIPELINE))


def _has_same_settings(tokens: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    try:
        return settings_of(tokens.get("meta", {})) == settings_of(wanted["meta"])
    except FormatMismatchError:
        return False
