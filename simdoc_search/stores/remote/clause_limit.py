"""How many clauses does an engine take in one query?"""

from __future__ import annotations

from simdoc_search.query.dsl import MAX_CLAUSES
from simdoc_search.stores.remote.engine import Engine


def max_clauses(engine: Engine) -> int:
    """The engine's clause limit; the default of all engines if we may not ask for it."""
    key = "indices.query.bool.max_clause_count"
    if key in engine.limits:
        return engine.limits[key]
    asked = {"include_defaults": True, "flat_settings": True}
    settings = engine.call("GET", ["_cluster", "settings"], **asked, allow=(401, 403)) or {}
    found = (settings.get(scope, {}).get(key) for scope in ("transient", "persistent", "defaults"))
    limit = str(next(filter(None, found), MAX_CLAUSES))
    engine.limits[key] = int(limit) if limit.isdecimal() and len(limit) < 10 else MAX_CLAUSES
    return engine.limits[key]
