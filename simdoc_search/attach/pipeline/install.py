"""Installs the pipeline in an engine."""

from __future__ import annotations

from collections.abc import Sequence

from simdoc_search.attach.actions import fingerprint_field
from simdoc_search.attach.pipeline.body import pipeline_body
from simdoc_search.attach.steps import Step, plan_install_step
from simdoc_search.errors import StoreError
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.schema import DEFAULT_FIELD

PIPELINE = "simdoc"
"""The default name of the pipeline."""

_PROBE = "Straße ΟΔΟΣ ﬁne 漢字 カタカナ ภาษาไทย हिन्दी e\u0301\u0323 שָׁלוֹם 👩\u200d❤\ufe0f\u200d👩 𐐀 3.14 ﷺ \U0001e2ec"
"""Words in many scripts. Some have letters that Unicode has only since version 12."""

WITHOUT_SCRIPTS = "use simdoc-search backfill without --in-engine, or fingerprint_actions in your loader"
"""What to do if an engine cannot run the pipeline, as a part of a message."""


def plan_pipeline_steps(
    engine: Engine,
    text_field: str | Sequence[str] = "body",
    field: str = DEFAULT_FIELD,
    *,
    settings: Settings | None = None,
    name: str = PIPELINE,
    force: bool = False,
) -> list[Step]:
    """Return the step that installs the pipeline; none if it is installed already.

    First the engine must prove that it makes the same fingerprint of a test text as this package.

    Args:
        engine: the engine.
        text_field: the field of the text, see `pipeline_body`.
        field: the object field to fill.
        settings: the settings of the fingerprints; None for the default ones.
        name: the name of the pipeline. Other text fields or settings need another pipeline.
        force: whether to replace a different pipeline with this name.

    Raises:
        StoreError: a different pipeline has this name, or the engine cannot make such fingerprints.
    """
    body = pipeline_body(settings, text_field, field)
    engine.require_scripts("ingest", WITHOUT_SCRIPTS)
    _check_equal(engine, settings or Settings())
    segments = ["_ingest", "pipeline", name]
    existing = (engine.call("GET", segments, allow=(404,)) or {}).get(name)
    return plan_install_step(
        engine, "pipeline", segments, body, existing=existing, name=f"pipeline {name}", force=force
    )


def _check_equal(engine: Engine, settings: Settings) -> None:
    """Check that the engine makes the same fingerprint as this package. An old Java may not know all letters."""
    body = {"pipeline": pipeline_body(settings), "docs": [{"_source": {"body": _PROBE}}]}
    answer = engine.call("POST", ["_ingest", "pipeline", "_simulate"], body)
    try:
        result = answer["docs"][0]
        value = result.get("doc", {}).get("_source", {}).get(DEFAULT_FIELD) or {}
        problem = value.get("error") or result.get("error", {}).get("reason") or "the tokens differ"
    except (AttributeError, IndexError, KeyError, TypeError):
        raise StoreError(f"{engine.name} does not run pipelines; check the address") from None
    if value != fingerprint_field(_PROBE, settings):
        fault = f"{engine.name} makes other fingerprints than simdoc-search ({problem})"
        raise StoreError(f"{fault}; use simdoc-search backfill")
