"""The pipeline put into an engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from simdoc_search.attach.actions import fingerprint_field
from simdoc_search.attach.pipeline.body import pipeline_body
from simdoc_search.attach.pipeline.scripts import is_as_ours
from simdoc_search.attach.steps import Step, run_steps
from simdoc_search.attach.templates import on_an_engine, step_unless_there
from simdoc_search.errors import StoreError
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.schema import DEFAULT_FIELD

PIPELINE = "simdoc"
"""The usual name of the pipeline."""

_PROBE = "Straße ΟΔΟΣ ﬁne 漢字 カタカナ ภาษาไทย हिन्दी e\u0301\u0323 שָׁלוֹם 👩\u200d❤\ufe0f\u200d👩 𐐀 3.14 ﷺ \U0001e2ec"
"""Words of all kinds, some of letters that Unicode has only since its version 12."""

NO_SCRIPTS = "use simdoc-search backfill without --in-engine, or fingerprint_actions in your loader"
"""What to do where no pipeline can make fingerprints."""


def install_pipeline(
    engine: Engine,
    text_field: str | Sequence[str] = "body",
    field: str = DEFAULT_FIELD,
    *,
    settings: Settings | None = None,
    name: str = PIPELINE,
    force: bool = False,
) -> bool:
    """Put the pipeline into an engine, and see whether it makes our very fingerprints.

    Args and errors as for `pipeline_step`.

    Returns:
        Whether it was not there already.
    """
    step = pipeline_step(engine, text_field, field, settings=settings, name=name, force=force)
    run_steps(engine, filter(None, [step]))
    return step is not None


def pipeline_step(
    engine: Engine,
    text_field: str | Sequence[str] = "body",
    field: str = DEFAULT_FIELD,
    *,
    settings: Settings | None = None,
    name: str = PIPELINE,
    force: bool = False,
) -> Step | None:
    """What puts the pipeline into an engine; None if it is there already.

    Args:
        engine: where; it is asked whether it makes our very fingerprints.
        text_field: where the text is, see `pipeline_body`.
        field: the object field to fill.
        settings: how to fingerprint; None: the defaults.
        name: what it is called there; one pipeline is for one choice of text fields and settings.
        force: replace another one of this name; what an older simdoc-search put there is replaced in any case.

    Raises:
        StoreError: another one of this name is there and may not be replaced, or the engine runs no scripts, cannot
            make such fingerprints, or makes others.
        StoreUnavailableError: the engine does not answer.
        RequestError: it refuses.
    """
    body = pipeline_body(settings, text_field, field)
    with on_an_engine(engine, "pipeline", "simdoc-search template install"):
        engine.require_scripts("ingest", NO_SCRIPTS)
        _check_equal(engine, settings or Settings())
        return _step(engine, name, body, force=force)


def _step(engine: Engine, name: str, body: dict[str, Any], *, force: bool) -> Step | None:
    there = read_pipeline(engine, name)
    force = force or is_as_ours(there, body)
    return step_unless_there(engine, ["_ingest", "pipeline", name], body, there, f"pipeline {name}", force=force)


def read_pipeline(engine: Engine, name: str) -> dict[str, Any] | None:
    """The body of a pipeline; None: there is none of this name."""
    found: dict[str, Any] = engine.call("GET", ["_ingest", "pipeline", name], allow=(404,)) or {}
    return found.get(name)


def _check_equal(engine: Engine, settings: Settings) -> None:
    """See whether the engine makes our fingerprints: its Java may be older than the letters."""
    asked = {"pipeline": pipeline_body(settings), "docs": [{"_source": {"body": _PROBE}}]}
    answer = engine.call("POST", ["_ingest", "pipeline", "_simulate"], asked)
    try:
        found = answer["docs"][0]
        made = found.get("doc", {}).get("_source", {}).get(DEFAULT_FIELD) or {}
        problem = made.get("error") or found.get("error", {}).get("reason") or "other tokens"
    except (AttributeError, IndexError, KeyError, TypeError):
        raise StoreError(f"what answers at {engine.name} runs no pipelines; check the address") from None
    if made != fingerprint_field(_PROBE, settings):
        raise StoreError(f"{engine.name} does not make our fingerprints ({problem}); use simdoc-search backfill")
