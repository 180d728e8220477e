"""The index template of an application, extended: what a rollover makes has our field, the pipeline and the notes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from simdoc_search.attach.pipeline.default_pipeline import NONE, check_final_pipeline
from simdoc_search.attach.steps import Step
from simdoc_search.errors import FormatMismatchError, StoreError
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.errors import RequestError
from simdoc_search.stores.remote.mapping_check import find_faults
from simdoc_search.stores.remote.mappings import fields_of, list_some, mapping_at
from simdoc_search.stores.remote.schema import settings_of
from simdoc_search.stores.remote.texts import record_text_fields, recorded_text_fields, text_paths, why_not_text

_UNTOLD = (401, 403, 404, 405)
_OF_THE_ENGINE = ("created_date", "modified_date")
"""What newer engines say of a template, in milliseconds too, and do not take back."""


@dataclass(frozen=True, slots=True)
class Extension:
    """What an index template is to have.

    Attributes:
        component: the name of the component template.
        field: the object field of the fingerprints.
        mapping: its mapping, as the component template has it.
        pipeline: the final pipeline; empty: the template's own stays.
        text_fields: where the text is, to be noted in the mapping; empty: nothing is noted.
    """

    component: str
    field: str
    mapping: Mapping[str, Any]
    pipeline: str = ""
    text_fields: Sequence[str] = ()


def index_template_step(
    engine: Engine, name: str, wanted: Extension, *, patterns: Sequence[str] = (), force: bool = False
) -> tuple[Step | None, list[str]]:
    """What extends an index template, or makes one; all that it has already is kept as it is.

    Args:
        engine: where.
        name: of the index template.
        wanted: what it is to have.
        patterns: for one that is not there yet: the names of its indices.
        force: replace another final pipeline.

    Returns:
        The step, None if the template has all of it; and what a person should know.

    Raises:
        StoreError: there is no such template, it is a legacy one, has another final pipeline, or makes indices that
            cannot have fingerprints.
        StoreUnavailableError: the engine does not answer.
        RequestError: it refuses to tell.
    """
    found = engine.call("GET", ["_index_template", name], allow=(404,))
    there = found["index_templates"][0]["index_template"] if found else None
    if found and (len(found["index_templates"]) > 1 or found["index_templates"][0]["name"] != name):
        names = list_some(each["name"] for each in found["index_templates"])
        raise StoreError(f"{name} matches the index templates {names}; name one of them")
    if there is None:
        _check_may_be_made(engine, name, patterns)
    elif patterns and sorted(patterns) != sorted(there["index_patterns"]):
        has = ", ".join(there["index_patterns"])
        raise StoreError(f"the index template {name} is there already, for {has}; leave out --index-pattern")
    before = taken_back(there) if there else {"index_patterns": [*patterns]}
    warnings = _check(engine, name, before, wanted, force=force)
    after, changes = _extended(before, wanted)
    if there is not None and after == before:
        return None, warnings
    change = f"{'make' if there is None else 'extend'} the index template {name}: {', '.join(changes)}"
    undo = f"DELETE /_index_template/{name}" if there is None else ""
    return Step(("_index_template", name), after, change, undo), warnings


def all_index_templates(engine: Engine) -> dict[str, dict[str, Any]] | None:
    """The composable index templates by name; None: the engine does not tell."""
    found = engine.call("GET", ["_index_template"], allow=_UNTOLD)
    return None if found is None else {each["name"]: each["index_template"] for each in found["index_templates"]}


def legacy_templates(engine: Engine, index: str) -> list[str]:
    """The legacy templates (`_template`) that apply to an index of this name if no index template does."""
    found = engine.call("GET", ["_template"], allow=_UNTOLD) or {}
    return sorted(name for name, each in found.items() if matches(each.get("index_patterns", ()), index))


def matches(patterns: Iterable[str], name: str) -> bool:
    """Whether one of these patterns of an index template matches a name, or another pattern."""
    return any(fnmatchcase(name, each.replace("[", "[[]").replace("?", "[?]")) for each in patterns)


def resolved(engine: Engine, name: str, body: Mapping[str, Any] | None = None) -> dict[str, Any] | None:
    """What an index of a template gets, with all components; None: the engine does not tell.

    Args:
        engine: where.
        name: of the index template.
        body: as if it had this body; None: as it is.

    Raises:
        StoreError: the engine does not take the body.
    """
    try:
        place = ["_index_template", "_simulate", name]
        answer = engine.call("POST", place, None if body is None else dict(body), allow=_UNTOLD)
    except RequestError as error:
        if error.status != 400:
            raise
        raise StoreError(f"the index template {name} cannot be extended ({error})") from error
    return None if answer is None else answer.get("template", {})


def is_covered(template: Mapping[str, Any], wanted: Extension) -> bool:
    """Whether an index that gets this, as `resolved` says it, has all of what is wanted."""
    mappings = template.get("mappings", {})
    noted = recorded_text_fields([mappings], wanted.field)
    return (
        "tokens" in fields_of(mappings, wanted.field)
        and (not wanted.pipeline or _final_pipeline(template) == wanted.pipeline)
        and (not wanted.text_fields or not _can_be_noted(wanted) or noted == [*wanted.text_fields])
    )


def taken_back(there: Mapping[str, Any]) -> dict[str, Any]:
    """A template as engines take it back."""
    return {key: each for key, each in there.items() if not key.startswith(_OF_THE_ENGINE)}


def _extended(before: Mapping[str, Any], wanted: Extension) -> tuple[dict[str, Any], list[str]]:
    """A template with what is wanted, and what is new in it."""
    body, changes = deepcopy(dict(before)), []
    composed = body.get("composed_of") or []
    if wanted.component not in composed:
        body["composed_of"] = [*composed, wanted.component]
        changes.append(f"add {wanted.component} to composed_of")
    template = body.get("template") or {}
    if wanted.pipeline and _final_pipeline(template) != wanted.pipeline:
        settings = template.get("settings") or {}
        template["settings"] = {**settings, "index": {**settings.get("index", {}), "final_pipeline": wanted.pipeline}}
        changes.append(f"set index.final_pipeline to {wanted.pipeline}")
    mappings = template.get("mappings") or {}
    text_hash = fields_of(mappings, wanted.field).get("text_hash", wanted.mapping["properties"]["text_hash"])
    noting = record_text_fields(text_hash, wanted.text_fields) if wanted.text_fields else text_hash
    if noting != text_hash:
        properties = mappings.get("properties") or {}
        ours = properties.get(wanted.field) or {"dynamic": "false"}
        ours = {**ours, "properties": {**ours.get("properties", {}), "text_hash": noting}}
        template["mappings"] = {**mappings, "properties": {**properties, wanted.field: ours}}
        changes.append(f"note that the text is in {' and '.join(wanted.text_fields)}")
    if template:
        body["template"] = template
    return body, changes


def _check(engine: Engine, name: str, before: Mapping[str, Any], wanted: Extension, *, force: bool) -> list[str]:
    """See whether the indices of a template can have fingerprints; what a person should know.

    The component may not be there yet, so the engine is asked with its mapping in the template.

    Raises:
        StoreError: they cannot.
    """
    body = deepcopy(dict(before))
    body["composed_of"] = [each for each in body.get("composed_of") or [] if each != wanted.component]
    template = body.setdefault("template", {})
    properties = template.setdefault("mappings", {}).setdefault("properties", {})
    own = properties.get(wanted.field, {})
    if own.get("type", "object") == "object":
        both = {**wanted.mapping["properties"], **own.get("properties", {})}
        properties[wanted.field] = {**wanted.mapping, **own, "properties": both}
    made = resolved(engine, name, body) or template
    mappings, settings = made.get("mappings", {}), (made.get("settings") or {}).get("index", {})
    faults = [each.problem for each in find_faults(mappings, settings, wanted.field) if each.blocks_writes]
    faults += filter(None, (why_not_text(mappings, each) for each in wanted.text_fields))
    tokens = fields_of(mappings, wanted.field).get("tokens", {})
    if not faults and not _is_same_format(tokens, wanted.mapping["properties"]["tokens"]):
        faults.append(f"its own mapping of {wanted.field}.tokens is of other settings; take it out")
    if faults:
        raise StoreError(f"the index template {name} makes indices that cannot have fingerprints: {faults[0]}")
    if wanted.pipeline:
        check_final_pipeline(f"index template {name}", _final_pipeline(made), wanted.pipeline, force=force)
    others = {key: each for key, each in mappings.get("properties", {}).items() if key != wanted.field}
    has = list_some(text_paths(others))
    missing = [each for each in wanted.text_fields if others and mapping_at(mappings, each) is None]
    warnings = [f"the index template {name} maps no field {each}; it maps {has}" for each in missing]
    if wanted.text_fields and not _can_be_noted(wanted):
        warnings.append("the mapping has no room to note the text fields; name them in each command with --text-field")
    return warnings


def _check_may_be_made(engine: Engine, name: str, patterns: Sequence[str]) -> None:
    """See whether a template that is not there may be made.

    Raises:
        StoreError: it may not; the message says what to do.
    """
    if engine.call("GET", ["_template", name], allow=_UNTOLD):
        how = "make an index template of it (PUT _index_template), and run this again"
        raise StoreError(f"{name} is a legacy template (_template), which has no component templates; {how}")
    there = all_index_templates(engine) or {}
    if not patterns:
        has = list_some(each for each in there if not each.startswith("."))
        how = "name one that is there, or make it with --index-pattern 'PATTERN'"
        raise StoreError(f"{engine.name} has no index template {name}; {how} (it has: {has})")
    for pattern in patterns:
        for other, each in there.items():
            if matches(each["index_patterns"], pattern) or any(
                matches([pattern], one) for one in each["index_patterns"]
            ):
                how = f"only one applies to an index, so extend that one: --index-template {other}"
                raise StoreError(f"the index template {other} matches {pattern} already; {how}")
        if legacy := legacy_templates(engine, pattern):
            how = "an index template takes its place; make one of it (PUT _index_template), and run this again"
            raise StoreError(f"the legacy template {legacy[0]} matches {pattern} already; {how}")


def _can_be_noted(wanted: Extension) -> bool:
    return "meta" in record_text_fields({}, wanted.text_fields)


def _final_pipeline(template: Mapping[str, Any]) -> str:
    return str(((template.get("settings") or {}).get("index") or {}).get("final_pipeline", NONE))


def _is_same_format(tokens: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    try:
        return settings_of(tokens.get("meta", {})) == settings_of(wanted["meta"])
    except FormatMismatchError:
        return False
