"""Which pipelines of ours does no index use any more, and may go?"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from simdoc_search.attach.backfill.targets import UNTOLD
from simdoc_search.attach.pipeline.field_switch import MADE
from simdoc_search.stores.remote.engine import Engine

_SETTINGS = ("final_pipeline", "default_pipeline")
_ONLY: dict[str, Any] = {"filter_path": ",".join(f"**.{each}" for each in (*_SETTINGS, "name", "index_patterns"))}
_PLACES: tuple[tuple[list[str], dict[str, Any]], ...] = (
    (["_all", "_settings"], {"expand_wildcards": "all", **_ONLY}),
    (["_index_template"], _ONLY),
    (["_template"], _ONLY),
    (["_component_template"], {}),
)


def remove_unused(engine: Engine, names: Collection[str]) -> tuple[list[str], list[str]]:
    """Remove of these pipelines those that `fill_beside` made, and that no index, template or pipeline names.

    Returns:
        Those that are removed; and those that somebody else made, and nothing names any more. Where the engine does
        not tell who names what, none is removed.
    """
    if not names:
        return [], []
    known = engine.call("GET", ["_ingest", "pipeline"], allow=UNTOLD, filter_path="*.description,**.pipeline.name")
    named = _named(engine)
    if known is None or named is None:
        return [], sorted(names)
    calls = {name: set(_values(body, {"name"})) for name, body in known.items()}
    made = {name for name in names if str(known.get(name, {}).get("description", "")).startswith(MADE)}
    removed = made - _reached(calls, named | (calls.keys() - made))
    for each in sorted(removed):
        engine.call("DELETE", ["_ingest", "pipeline", each], allow=(404,))
    idle = (names & known.keys()) - made - _reached(calls, named | (calls.keys() - {*names}))
    return sorted(removed), sorted(idle)


def _named(engine: Engine) -> set[str] | None:
    """The pipelines that settings of indices and templates name; None: the engine does not tell."""
    found: set[str] = set()
    for place, options in _PLACES:
        answer = engine.call("GET", place, allow=UNTOLD, **options)
        if answer is None:
            return None
        found |= set(_values(answer, {*_SETTINGS}))
    return found


def _values(value: Any, keys: set[str]) -> Iterator[str]:
    """All strings of these keys, however deep."""
    if isinstance(value, list):
        for each in value:
            yield from _values(each, keys)
    elif isinstance(value, Mapping):
        for key, each in value.items():
            if key in keys and isinstance(each, str):
                yield each
            else:
                yield from _values(each, keys)


def _reached(calls: Mapping[str, set[str]], roots: set[str]) -> set[str]:
    """These pipelines, and all that they call."""
    found: set[str] = set()
    waiting = [*roots]
    while waiting:
        each = waiting.pop()
        if each not in found:
            found.add(each)
            waiting += calls.get(each, ())
    return found
