"""Builds the script that removes the fingerprint field from a document.

A partial update can only set the field to null, which stays in `_source`. A strict index without the field then rejects
a copy of the document.
"""

from __future__ import annotations

from typing import Any

_SOURCE = (
    "if (!ctx._source.keySet().removeIf(key -> key == params.field || key.startsWith(params.field + '.'))) "
    "{ ctx.op = 'noop' }"
)
"""Removes the field, including dotted keys such as `simdoc.tokens`. Does not write a document without the field."""


def build_removal_script(field: str) -> dict[str, Any]:
    """Return the script for an update, or for an update by query."""
    return {"source": _SOURCE, "params": {"field": field}}
