"""Mappings of an application with our field."""

from __future__ import annotations

from typing import Any

from simdoc_search.stores.remote.schema import component_template

NAMED = {"index.query.default_field": ["title"]}
"""The setting of an index that excludes our fields from searches without a field."""


def mapping(**changes: Any) -> dict[str, Any]:
    """The mapping of the component template, with changes to our fields. None removes a field."""
    made: dict[str, Any] = component_template()["template"]["mappings"]
    ours = made["properties"]["simdoc"]["properties"]
    for name, change in changes.items():
        both = {**ours.pop(name, {}), **(change or {})}
        ours |= {name: {key: value for key, value in both.items() if value is not None}} if change else {}
    return made
