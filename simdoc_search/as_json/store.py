"""What a store has."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from simdoc_search.sketch.settings import Settings
    from simdoc_search.stores.base import StoreInfo


def info_as_json(found: StoreInfo) -> dict[str, Any]:
    """How many documents it has, its size and its settings."""
    values = {"store": found.location, "documents": found.documents, "bytes": found.bytes}
    settings = {**found.settings.to_dict(), **_parts(found.settings), "token_length": found.settings.token_length}
    return {**values, "text_bytes": found.text_bytes, "settings": settings}


def _parts(settings: Settings) -> dict[str, dict[str, Any]]:
    """What makes words, and what makes tokens of them, each by its name."""
    sketch = settings.minhash
    values = {key: value for key, value in asdict(cast(Any, sketch)).items() if key != "key"}
    return {"analysis": settings.to_dict()["analysis"], sketch.name: values}
