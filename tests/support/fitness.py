"""Mappings of an application with our field, and what `check` says of an index."""

from __future__ import annotations

from typing import Any

from simdoc_search.attach.check import Finding, check_index
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.schema import component_template

NAMED = {"index.query.default_field": ["title"]}
"""A setting of indices whose owner knows what searches without a field look into."""


def mapping(**changes: Any) -> dict[str, Any]:
    """The mapping of the component template, with changes to our fields; None takes one out."""
    made: dict[str, Any] = component_template()["template"]["mappings"]
    ours = made["properties"]["simdoc"]["properties"]
    for name, change in changes.items():
        ours[name] = None if change is None else {**ours.get(name, {}), **change}
        ours[name] = ours[name] and {key: value for key, value in ours[name].items() if value is not None}
    made["properties"]["simdoc"]["properties"] = {name: value for name, value in ours.items() if value}
    return made


def check(engine: Engine, index: str, field: str = "simdoc") -> list[Finding]:
    """What is said of an index, but for the note that every application's index with our field gets."""
    return [each for each in check_index(engine, index, field) if "answers that show _source" not in each.problem]
