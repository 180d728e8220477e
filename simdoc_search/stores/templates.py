"""The mapping of our field for OpenSearch and Elasticsearch: as a component template, and for an index of our own."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any

from simdoc_search.errors import StoreError
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote_schema import to_meta
from simdoc_search.stores.rest import Engine

__all__ = ["COMPONENT", "FIELD", "component_template", "install_component", "store_index"]

COMPONENT = "simdoc"
"""The name of the component template."""

FIELD = "simdoc"
"""The usual name of our field."""


def component_template(settings: Settings | None = None, field: str = FIELD) -> dict[str, Any]:
    """The body for `PUT _component_template/simdoc`.

    Args:
        settings: what the field's `meta` says; None: the defaults.
        field: the name of the field.
    """
    template = _shipped("simdoc.component.json")
    mapping = template["template"]["mappings"]["properties"].pop(FIELD)
    mapping["properties"]["tokens"]["meta"] = to_meta(settings or Settings())
    template["template"]["mappings"]["properties"][field] = mapping
    return template


def store_index(settings: Settings, *, field: str, store_texts: bool) -> dict[str, Any]:
    """The body that makes an index as `simdoc-search index` has it; shards and replicas are left to its templates."""
    index: dict[str, Any] = _shipped("simdoc.store.json")["template"]
    fields = index["mappings"]["properties"]
    ours = component_template(settings, field)["template"]["mappings"]["properties"][field]
    ours["properties"] |= fields.pop(FIELD)["properties"]
    fields[field] = ours
    if not store_texts:
        del fields["body"]
    return index


def install_component(engine: Engine, field: str = FIELD, *, force: bool = False) -> bool:
    """Put the component template into an engine.

    Returns:
        Whether it was not there already.

    Raises:
        StoreError: another one of this name is there, and may not be replaced.
        StoreUnavailableError: the engine does not answer.
        RequestError: it refuses.
    """
    wanted = component_template(field=field)
    place = ["_component_template", COMPONENT]
    found = engine.call("GET", place, allow=(404,))
    if found:
        there = found["component_templates"][0]["component_template"]
        if _plain(there.get("template")) == _plain(wanted["template"]):
            return False
        if not force:
            what = f"another component template {COMPONENT}"
            raise StoreError(f"{engine.name} has {what}; compare it with template show, or use --force")
    engine.call("PUT", place, wanted)
    return True


def _plain(value: Any) -> Any:
    """Settings as an engine gives them back: all as text."""
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items() if each != {}}
    return str(value).lower()


def _shipped(name: str) -> dict[str, Any]:
    file = resources.files("simdoc_search").joinpath("index_templates", name)
    if not file.is_file():  # a checkout keeps the folder at its top
        file = Path(__file__).parents[2] / "index_templates" / name
    template: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return template
