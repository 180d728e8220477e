"""Plans the installation of the pipeline in an engine."""

from __future__ import annotations

from collections.abc import Sequence

from simdoc_search.attach.actions import fingerprint_field
from simdoc_search.attach.pipeline.body import build_pipeline_body
from simdoc_search.attach.steps import Step, plan_install_step
from simdoc_search.errors import StoreError
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.pipelines import DEFAULT_PIPELINE, is_marked_for_deletion
from simdoc_search.stores.remote.schema import DEFAULT_FIELD

_TEST_TEXT = (
    "Straße ΟΔΟΣ ﬁne 漢字 カタカナ ภาษาไทย हिन्दी e\u0301\u0323 שָׁלוֹם 👩\u200d❤\ufe0f\u200d👩 𐐀 3.14 ﷺ \U0001e2ec"
)
"""Words in many writing systems, including a letter that was added in Unicode 12."""

SCRIPT_ALTERNATIVE = "use `simdoc-search backfill` without --in-engine, or the Python function `fingerprint_actions`"
"""What to do if an engine cannot run the pipeline; the end of a message."""


def plan_pipeline_steps(
    engine: Engine,
    text_field: str | Sequence[str] = "body",
    field: str = DEFAULT_FIELD,
    *,
    settings: Settings | None = None,
    name: str = DEFAULT_PIPELINE,
    force: bool = False,
) -> list[Step]:
    """Return the step that installs the pipeline; none if it is already installed.

    The engine must compute the same fingerprint of a test text as this package. Different text fields or settings need
    pipelines with different names. With `force`, a different pipeline of the same name is overwritten.

    Raises:
        StoreError: a different pipeline has this name, or the engine cannot compute these fingerprints.
    """
    body = build_pipeline_body(settings, text_field, field)
    engine.require_scripts("ingest", SCRIPT_ALTERNATIVE)
    _check_same_fingerprint(engine, settings or Settings())
    path_parts = ["_ingest", "pipeline", name]
    existing = (engine.call("GET", path_parts, allowed_statuses=(404,)) or {}).get(name)
    if existing and is_marked_for_deletion(existing):
        existing = None  # install it again, without the mark
    return plan_install_step(
        engine, "pipeline", path_parts, body, existing=existing, name=f"pipeline {name}", force=force
    )


def _check_same_fingerprint(engine: Engine, settings: Settings) -> None:
    """Check that the engine computes the same fingerprint as this package.

    An old Java version may not know some letters.
    """
    body = {"pipeline": build_pipeline_body(settings), "docs": [{"_source": {"body": _TEST_TEXT}}]}
    response = engine.call("POST", ["_ingest", "pipeline", "_simulate"], body)
    try:
        result = response["docs"][0]
        value = result.get("doc", {}).get("_source", {}).get(DEFAULT_FIELD) or {}
        problem = value.get("error") or result.get("error", {}).get("reason") or "the tokens differ"
    except (AttributeError, IndexError, KeyError, TypeError):
        raise StoreError(f"{engine.name} does not run ingest pipelines; check the URL") from None
    if value != fingerprint_field(_TEST_TEXT, settings):
        fault = f"the pipeline at {engine.name} does not compute the same fingerprints as simdoc-search ({problem})"
        raise StoreError(f"{fault}; use `simdoc-search backfill` instead")
