"""Indices as an application makes them, for the benchmarks that need an engine that runs."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any
from uuid import uuid4

from simdoc_search.stores.remote.engine import Engine

ACTIONS_AT_ONCE = 500


@contextmanager
def new_index(engine: Engine, properties: dict[str, Any], **settings: Any) -> Iterator[str]:
    """Create an index without replicas, and return its name. It is deleted at the end of the block."""
    name = f"bench-{uuid4().hex[:12]}"
    body = {"settings": {"number_of_replicas": 0, **settings}, "mappings": {"properties": properties}}
    engine.call("PUT", [name], body)
    try:
        yield name
    finally:
        engine.call("DELETE", [name], allowed_statuses=(404,))


def send(engine: Engine, name: str, actions: Iterable[tuple[Any, Any]]) -> float:
    """Send actions with their documents in bulks, as an application does. Return the seconds until a refresh."""
    began = time.perf_counter()
    actions = iter(actions)
    while some := list(islice(actions, ACTIONS_AT_ONCE)):
        lines = "".join(f"{json.dumps(line)}\n" for pair in some for line in pair)
        if engine.call("POST", [name, "_bulk"], lines.encode())["errors"]:
            sys.exit("the engine refused documents; give it a larger heap")
    engine.refresh(name)
    return time.perf_counter() - began
