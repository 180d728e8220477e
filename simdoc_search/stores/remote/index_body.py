"""The mapping of our field for OpenSearch and Elasticsearch: as a component template, and for an index of our own."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any

from simdoc_search.sketch.kinds import names_of_kinds
from simdoc_search.sketch.limits import Limits
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.limits import with_limits
from simdoc_search.stores.remote.schema import to_meta

FIELD = "simdoc"
"""The usual name of our field."""

MARKS = ("duplicate_of", "cluster")
"""Those of its parts that only documents of groups of duplicates have: see `marks.py`."""


def component_template(settings: Settings | None = None, field: str = FIELD) -> dict[str, Any]:
    """The body for `PUT _component_template/simdoc`.

    Args:
        settings: what the field's `meta` says; None: the defaults.
        field: the name of the field.
    """
    template = _shipped("simdoc.component.json")
    mapping = template["template"]["mappings"]["properties"].pop(FIELD)
    settings = settings or Settings()
    mapping["properties"]["tokens"]["meta"] = to_meta(settings)
    if settings.limits != Limits():
        mapping["properties"] |= with_limits(mapping["properties"], settings.limits)
    tokens, passages, *others = mapping["properties"].items()  # all further kinds are indexed as passage tokens are
    further = dict.fromkeys(names_of_kinds(settings), passages[1])
    mapping["properties"] = dict([tokens]) | further | dict(others)
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


def _shipped(name: str) -> dict[str, Any]:
    file = resources.files("simdoc_search").joinpath("index_templates", name)
    if not file.is_file():  # a checkout keeps the folder at its top
        file = Path(__file__).parents[3] / "index_templates" / name
    template: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return template
