"""Removes the objects of tests from a cluster, and checks that none is left."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any

from simdoc_search.errors import StoreError
from simdoc_search.stores.remote.engine import Engine
from tests.support.gateway import Gateway

__all__ = ["remove_all"]

ROUNDS, PAUSE = 5, 1.0
"""Number of rounds of removal, and seconds between them. A late write may create an index again."""

ABSENT = (400, 404, 405)
"""Statuses for a missing object, or for a kind of objects that the engine does not have."""

LISTED = {
    "_data_stream": "data_streams",
    "_resolve/index": "indices",
    "_index_template": "index_templates",
    "_component_template": "component_templates",
    "_template": None,
    "_ingest/pipeline": None,
}
"""Paths that list objects by name, and the keys of the lists, in the order of removal."""

OPTIONS: dict[str, dict[str, Any]] = {"_resolve/index": {"expand_wildcards": "all"}}
"""Parameters of a listing. Indices have no path before their name."""


def remove_all(engine: Engine, between: Gateway) -> list[str]:
    """Close a gateway, and remove the objects that tests made through it.

    Returns:
        The objects that could not be removed or listed, with the reasons.
    """
    between.is_open = False
    for _ in range(ROUNDS):
        problems = [problem for place in _left(engine, between) for problem in _tried(engine, "DELETE", place)]
        time.sleep(PAUSE)
        unknown = [problem for kind in LISTED for problem in _tried(engine, "GET", _listing(kind, between))]
        left = ["/".join(place) for place in _left(engine, between)]
        if not (problems or unknown or left):
            return []
    return list(dict.fromkeys([*problems, *unknown, *left]))


def _left(engine: Engine, between: Gateway) -> list[list[str]]:
    """Return the paths of the objects whose names begin with the prefix."""
    places = []
    for kind, key in LISTED.items():
        answer: dict[str, Any] = {}
        with suppress(StoreError):
            answer = engine.call("GET", _listing(kind, between), allowed_statuses=ABSENT, **OPTIONS.get(kind, {})) or {}
        names = [thing["name"] for thing in answer.get(key, ())] if key else [*answer]
        places += [[*([] if kind in OPTIONS else kind.split("/")), name] for name in names]
    known = [[*kind.split("/"), name] for kind, name in sorted(between.made)]
    more = [place for place in known if place not in places and "*" not in place[-1]]
    return places + [place for place in more if engine.call("GET", place, allowed_statuses=(*ABSENT, 403))]


def _listing(kind: str, between: Gateway) -> list[str]:
    return [*kind.split("/"), f"{between.prefix}*"]


def _tried(engine: Engine, method: str, place: list[str]) -> list[str]:
    """Send a request. Return its error in a list, or an empty list."""
    try:
        engine.call(method, place, allowed_statuses=ABSENT if method == "GET" else (404,))
    except StoreError as error:
        return [f"{'/'.join(place)} ({error})"]
    return []
