"""Finds the pipelines that compute fingerprints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simdoc_search.stores.remote.engine import Engine

DEFAULT_PIPELINE = "simdoc"
"""Default name of the pipeline."""

NO_PIPELINE = "_none"
"""The value of `index.final_pipeline` and `index.default_pipeline` if an index has no pipeline."""

_FINGERPRINT_PARAMETERS = {"fields", "into", "format", "hash_bits"}
"""A script with all of these parameters computes fingerprints."""


DELETION_MARK = {"description": "Computes fingerprints until `simdoc-search template remove` deletes this pipeline"}
"""The part of a pipeline's body that marks the pipeline for deletion."""


def is_marked_for_deletion(body: Mapping[str, Any]) -> bool:
    """Return whether a removal has begun to delete a pipeline."""
    return body.items() >= DELETION_MARK.items()


def fingerprint_parameters(processor: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the parameters of a processor that computes fingerprints, otherwise None. `into` is their field."""
    parameters: Mapping[str, Any] = processor.get("script", {}).get("params", {})
    return parameters if parameters.keys() >= _FINGERPRINT_PARAMETERS else None


def find_missing_pipeline(engine: Engine, settings: Mapping[str, Mapping[str, Any]], field: str) -> str:
    """Return the final pipeline that fills the field in an index, if another index has no final pipeline.

    For example, the index after a rollover lacks the pipeline if the index template does not name it. Without such an
    index, return an empty string. `settings` contains the `index` part of the settings of each index.
    """
    names = {str(values.get("final_pipeline", NO_PIPELINE)) for values in settings.values()}
    if NO_PIPELINE not in names:
        return ""
    candidates = sorted(names - {NO_PIPELINE})
    return next((name for name in candidates if _fills_field(engine, name, field)), "")


def _fills_field(engine: Engine, pipeline: str, field: str) -> bool:
    body = engine.get_if_allowed("_ingest", "pipeline", pipeline).get(pipeline, {})
    found = map(fingerprint_parameters, body.get("processors", ()))
    return any(parameters is not None and parameters["into"] == field for parameters in found)
