"""Scripts in Painless: some engines lack the module that runs them, and others do not allow them."""

from __future__ import annotations

from typing import Any, Literal

from simdoc_search.errors import StoreError
from simdoc_search.stores.remote.engine import Engine

_LANGUAGE = "painless"
_UNTOLD = (400, 403, 404, 405)
"""We may not ask, or the engine is too old to answer. What it is asked to run then says it."""


def require_scripts(engine: Engine, context: Literal["ingest", "update"], instead: str) -> None:
    """Raise an error if an engine runs no scripts.

    Args:
        engine: which one.
        context: what the script is for.
        instead: what to do if there are none.

    Raises:
        StoreError: it has no Painless, or does not allow such scripts.
        StoreUnavailableError: it does not answer.
    """
    told: dict[str, Any] | None = engine.call("GET", ["_script_language"], allow=_UNTOLD)
    if told is None:
        return
    contexts = next(
        (each["contexts"] for each in told.get("language_contexts", ()) if each["language"] == _LANGUAGE), None
    )
    if contexts is None:
        raise StoreError(f"{engine.name} cannot run scripts, as it lacks the module lang-painless; {instead}")
    if context not in contexts or "inline" not in told.get("types_allowed", ()):
        allowed = "see its settings script.allowed_types and script.allowed_contexts"
        raise StoreError(f"{engine.name} does not allow scripts for {context} ({allowed}); {instead}")
