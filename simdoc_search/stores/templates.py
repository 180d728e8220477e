"""The mapping of our field for OpenSearch and Elasticsearch, as a component template."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any

__all__ = ["component_template"]

_NAME = "simdoc.component.json"


def component_template() -> dict[str, Any]:
    """The body for `PUT _component_template/simdoc`; it names the default settings in the field's `meta`."""
    shipped = resources.files("simdoc_search").joinpath("index_templates", _NAME)
    if not shipped.is_file():  # a checkout keeps the folder at its top
        shipped = Path(__file__).parents[2] / "index_templates" / _NAME
    template: dict[str, Any] = json.loads(shipped.read_text("utf-8"))
    return template
