"""Converts the size and settings of a store to JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from simdoc_search.sketch.settings import Settings
    from simdoc_search.stores.base import StoreInfo


def info_as_json(info: StoreInfo) -> dict[str, Any]:
    """Convert the number of documents, the size and the settings of a store."""
    settings = {**info.settings.to_dict(), **_analysis_and_sketch(info.settings)}
    return {
        "store": info.location,
        "document_count": info.document_count,
        "bytes": info.bytes,
        "text_bytes": info.text_bytes,
        "text_fields": [*info.text_fields],
        "settings": settings,
    }


def _analysis_and_sketch(settings: Settings) -> dict[str, dict[str, Any]]:
    """Return the settings of the analysis and of the sketch. The JSON key of the sketch is its name."""
    sketch = settings.sketch
    values = {key: value for key, value in asdict(cast(Any, sketch)).items() if key != "key"}
    return {"analysis": settings.to_dict()["analysis"], sketch.name: values}
