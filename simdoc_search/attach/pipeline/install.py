"""Installs the pipeline in an engine."""

from __future__ import annotations

from collections.abc import Sequence

from simdoc_search.attach.actions import fingerprint_field
from simdoc_search.attach.pipeline.body import pipeline_body
from simdoc_search.attach.steps import Step, install_step
from simdoc_search.errors import StoreError
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.schema import DEFAULT_FIELD

PIPELINE = "simdoc"
"""The default name of the pipeline."""

_PROBE = "Straße ΟΔΟΣ ﬁne 漢字 カタカナ ภาษาไทย हिन्दी e\u0301\u0323 שָׁלוֹם 👩\u200d❤\ufe0f\u200d👩 𐐀 3.14 ﷺ \U0001e2ec"
"""Words of all kinds, some with letters that Unicode has only since version 12."""

NO_SCRIPTS = "use simdoc-search backfill without --in-engine, or fingerprint_actions in your loader"
"""What to do if an engine cannot run the pipeline."""


def pipeline_steps(
    engine: Engine,
    text_field: str | Sequence[str] = "body",
    field: str = DEFAULT_FIELD,
    *,
    settings: Settings | None = None,
    name: str = PIPELINE,
    force: bool = False,
) -> list[Step]:
    """Return the step that installs the pipeline; none if it is installed already.

    The engine makes some fingerprints as a test, which must equal ours.

    Args:
        engine: the engine.
        text_field: the field of the text, see `pipeline_body`.
        field: the object field to fill.
        settings: the settings of the fingerprints; None for the default ones.
        name: the name of the pipeline. A pipeline has one choice of text fields and settings.
        force: whether to replace another pipeline with this name.

    Raises:
        StoreError: another pipeline has this name, or the engine cannot make such fingerprints.
    """
    body = pipeline_body(settings, text_field, field)
    engine.require_scripts("ingest", NO_SCRIPTS)
    _check_equal(engine, settings or Settings())
    place = ["_ingest", "pipeline", name]
    existing = (engine.call("GET", place, allow=(404,)) or {}).get(name)
    return install_step(engine, "pipeline", place, body, existing=existing, name=f"pipeline {name}", force=force)


def _check_equal(engine: Engine, settings: Settings) -> None:
    """Check that the engine makes our fingerprints. Its Java may be older than some letters."""
    body = {"pipeline": pipeline_body(settings), "docs": [{"_source": {"body": _PROBE}}]}
    answer = engine.call("POST", ["_ingest", "pipeline", "_simulate"], body)
    try:
        result = answer["docs"][0]
        value = result.get("doc", {}).get("_source", {}).get(DEFAULT_FIELD) or {}
        problem = value.get("error") or result.get("error", {}).get("reason") or "other tokens"
    except (AttributeError, IndexError, KeyError, TypeError):
        raise StoreError(f"{engine.name} does not run pipelines; check the address") from None
    if value != fingerprint_field(_PROBE, settings):
        raise StoreError(f"{engine.name} does not make our fingerprints ({problem}); use simdoc-search backfill")
