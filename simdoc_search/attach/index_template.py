"""Extends the index template of an application, so that new indices get the fingerprint field and the pipeline."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from simdoc_search.attach.steps import Step
from simdoc_search.errors import FormatMismatchError, StoreError
from simdoc_search.stores.remote.engine import UNSUPPORTED_OR_FORBIDDEN_STATUSES, Engine
from simdoc_search.stores.remote.mapping_check import find_faults
from simdoc_search.stores.remote.mappings import mapped_fields, mapping_at, shorten_list
from simdoc_search.stores.remote.pipelines import NO_PIPELINE
from simdoc_search.stores.remote.schema import parse_meta
from simdoc_search.stores.remote.texts import (
    build_text_fields_mapping,
    find_text_field_problem,
    recorded_text_fields,
    text_paths,
)

_DATE_KEY_PREFIXES = ("created_date", "modified_date")
"""Prefixes of the keys that newer engines add to a template, and reject in requests."""


@dataclass(frozen=True, slots=True)
class TemplateExtension:
    """The parts that an index template must include.

    The component template has the same name as `field`, and contains `mapping`. If `pipeline` is empty, the template
    keeps its pipeline. `text_fields` are recorded in the mapping.
    """

    field: str
    mapping: Mapping[str, Any]
    pipeline: str = ""
    text_fields: Sequence[str] = ()


def plan_index_template_steps(
    engine: Engine, name: str, extension: TemplateExtension, *, force: bool = False
) -> tuple[list[Step], list[str]]:
    """Return the step that extends an index template, and warnings.

    If the template already has all parts of the extension, no step is returned. The rest of the template is kept. A
    different final pipeline is replaced only with `force`.

    Raises:
        StoreError: there is no such template, the template has another final pipeline, or fingerprints cannot be added
            to its indices.
    """
    templates = (engine.call("GET", ["_index_template", name], allowed_statuses=(404,)) or {}).get(
        "index_templates", []
    )
    if [template["name"] for template in templates] != [name]:
        is_legacy = engine.get_if_allowed("_template", name)
        legacy_advice = f"replace the legacy template {name} (in _template) with an index template"
        advice = legacy_advice if is_legacy else "create the template"
        other_names = (other for other in read_index_templates(engine) or {} if not other.startswith("."))
        if existing := shorten_list(other_names, if_empty=""):
            advice += f", or choose another template ({existing})"
        raise StoreError(f"{engine.name} has no index template {name}; {advice}")
    old_template = remove_dates(templates[0]["index_template"])
    warnings = _check_template(engine, name, old_template, extension, force=force)
    new_template, changes = _extend_template(old_template, extension)
    if new_template == old_template:
        return [], warnings
    change = f"extend the index template {name}: {', '.join(changes)}"
    return [Step("index template", ("_index_template", name), new_template, change)], warnings


def read_index_templates(engine: Engine) -> dict[str, dict[str, Any]] | None:
    """Return the index templates by name; None if the engine does not return them."""
    response = engine.get_if_allowed("_index_template")
    if not response:
        return None
    return {item["name"]: item["index_template"] for item in response["index_templates"]}


def matches_any(patterns: Iterable[str], name: str) -> bool:
    """Return whether a name matches any of the patterns of an index template. The only wildcard is `*`."""
    return any(fnmatchcase(name, pattern.replace("[", "[[]").replace("?", "[?]")) for pattern in patterns)


def resolve_template(engine: Engine, name: str, body: dict[str, Any] | None = None) -> dict[str, Any] | None:
    """Return the settings and mappings that a new index gets from a template.

    If `body` is given, it replaces the stored template. Returns None if the engine cannot simulate templates.
    """
    response = engine.call(
        "POST", ["_index_template", "_simulate", name], body, allowed_statuses=UNSUPPORTED_OR_FORBIDDEN_STATUSES[1:]
    )
    return None if response is None else response.get("template", {})


def has_extension(template: Mapping[str, Any], extension: TemplateExtension) -> bool:
    """Return whether a resolved template contains all parts of an extension."""
    mappings = template.get("mappings", {})
    recorded = recorded_text_fields([mappings], extension.field)
    return (
        "tokens" in mapped_fields(mappings, extension.field)
        and (not extension.pipeline or _get_final_pipeline(template) == extension.pipeline)
        and (
            not extension.text_fields or not _can_record_text_fields(extension) or recorded == [*extension.text_fields]
        )
    )


def check_final_pipeline(owner: str, existing_pipeline: str, new_pipeline: str, *, force: bool) -> None:
    """Raise a StoreError if the owner has a final pipeline other than `new_pipeline`, and `force` is not set."""
    if existing_pipeline not in (NO_PIPELINE, new_pipeline) and not force:
        advice = (
            f'add the processor {{"pipeline": {{"name": "{new_pipeline}"}}}} to {existing_pipeline}, '
            f"or replace {existing_pipeline} with --force"
        )
        raise StoreError(f"the {owner} already has the final pipeline {existing_pipeline}; {advice}")


def remove_dates(template: Mapping[str, Any]) -> dict[str, Any]:
    """Return a template without the dates that engines reject."""
    return {key: value for key, value in template.items() if not key.startswith(_DATE_KEY_PREFIXES)}


def _extend_template(old_template: Mapping[str, Any], extension: TemplateExtension) -> tuple[dict[str, Any], list[str]]:
    """Return the extended template, and a description of each change."""
    body, changes = deepcopy(dict(old_template)), []
    composed = body.get("composed_of") or []
    if extension.field not in composed:
        body["composed_of"] = [*composed, extension.field]
        changes.append(f"add {extension.field} to composed_of")
    template = body.get("template") or {}
    if extension.pipeline and _get_final_pipeline(template) != extension.pipeline:
        settings = template.get("settings") or {}
        index_settings = {**settings.get("index", {}), "final_pipeline": extension.pipeline}
        template["settings"] = {**settings, "index": index_settings}
        changes.append(f"set index.final_pipeline to {extension.pipeline}")
    mappings = template.get("mappings") or {}
    text_hash_mapping = mapped_fields(mappings, extension.field).get(
        "text_hash", extension.mapping["properties"]["text_hash"]
    )
    new_text_hash_mapping = (
        build_text_fields_mapping(text_hash_mapping, extension.text_fields)
        if extension.text_fields
        else text_hash_mapping
    )
    if new_text_hash_mapping != text_hash_mapping:
        properties = mappings.get("properties") or {}
        field = properties.get(extension.field) or {"dynamic": "false"}
        field = {**field, "properties": {**field.get("properties", {}), "text_hash": new_text_hash_mapping}}
        template["mappings"] = {**mappings, "properties": {**properties, extension.field: field}}
        changes.append(f"record the text fields {' and '.join(extension.text_fields)}")
    if template:
        body["template"] = template
    return body, changes


def _check_template(
    engine: Engine, name: str, old_template: Mapping[str, Any], extension: TemplateExtension, *, force: bool
) -> list[str]:
    """Check that fingerprints can be added to the indices of a template, and return warnings.

    The component template may not be installed yet. The engine therefore resolves a copy of the index template that
    contains the mapping of the component template.

    Raises:
        StoreError: fingerprints cannot be added to the indices, or the template has another final pipeline.
    """
    field = extension.field
    body = deepcopy(dict(old_template))
    body["composed_of"] = [other for other in body.get("composed_of") or [] if other != extension.field]
    template = body.setdefault("template", {})
    properties = template.setdefault("mappings", {}).setdefault("properties", {})
    template_field = properties.get(field, {})
    if template_field.get("type", "object") == "object":
        merged = {**extension.mapping["properties"], **template_field.get("properties", {})}
        properties[field] = {**extension.mapping, **template_field, "properties": merged}
    resolved = resolve_template(engine, name, body) or template
    mappings, settings = resolved.get("mappings", {}), (resolved.get("settings") or {}).get("index", {})
    faults = [fault.problem for fault in find_faults(mappings, settings, field) if fault.blocks_writes]
    faults += filter(None, (find_text_field_problem(mappings, text_field) for text_field in extension.text_fields))
    tokens = mapped_fields(mappings, field).get("tokens", {})
    if not faults and not _has_same_settings(tokens, extension.mapping["properties"]["tokens"]):
        faults.append(
            f"the template has its own mapping of {field}.tokens, with different settings; remove that mapping from "
            "the template"
        )
    if faults:
        raise StoreError(f"cannot add fingerprints to the indices of the index template {name}: {faults[0]}")
    if extension.pipeline:
        check_final_pipeline(f"index template {name}", _get_final_pipeline(resolved), extension.pipeline, force=force)
    other_fields = {key: mapping for key, mapping in mappings.get("properties", {}).items() if key != field}
    mapped = shorten_list(text_paths(other_fields), if_empty="none")
    missing = [path for path in extension.text_fields if other_fields and mapping_at(mappings, path) is None]
    advice = f"the template has these text fields: {mapped}"
    warnings = [f"the index template {name} does not map the field {path}; {advice}" for path in missing]
    if extension.text_fields and not _can_record_text_fields(extension):
        warnings.append(
            "the mapping cannot record the names of the text fields, because there are too many text fields or their "
            "names are too long; give --text-field with every command"
        )
    return warnings


def _can_record_text_fields(extension: TemplateExtension) -> bool:
    return "meta" in build_text_fields_mapping({}, extension.text_fields)


def _get_final_pipeline(template: Mapping[str, Any]) -> str:
    return str(((template.get("settings") or {}).get("index") or {}).get("final_pipeline", NO_PIPELINE))


def _has_same_settings(tokens: Mapping[str, Any], expected: Mapping[str, Any]) -> bool:
    try:
        return parse_meta(tokens.get("meta", {})) == parse_meta(expected["meta"])
    except FormatMismatchError:
        return False
