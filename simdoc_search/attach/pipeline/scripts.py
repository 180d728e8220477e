"""Which of our scripts does a pipeline run, by itself or by pipelines that it calls?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

_DEEPEST = 5
"""Pipelines that call pipelines."""

_OURS = {"into", "format", "token_length"}
"""What a script of ours has among its parameters."""

_CHOSEN = ("into", "fields", "format", "shingle_size", "token_length", "longest_text")
"""Those by which a person's pipeline differs from another's; an older version may have other ones of the rest."""

Body = Mapping[str, Any]


def parameters_in(body: Body, read: Callable[[str], Body | None], depth: int = _DEEPEST) -> Iterator[Body]:
    """The parameters of the scripts that make fingerprints, in their order.

    Args:
        body: of a pipeline, as the engine gives it.
        read: from the name of another one to its body; None: there is none, or we may not see it.
        depth: how many pipelines may call one another.
    """
    for processor in body.get("processors", ()):
        params = processor.get("script", {}).get("params", {})
        if params.keys() >= _OURS:
            yield params
        called = processor.get("pipeline", {}).get("name")
        inner = read(called) if called and depth else None
        if inner is not None:
            yield from parameters_in(inner, read, depth - 1)


def is_as_ours(there: Body | None, wanted: Body) -> bool:
    """Whether a pipeline is nothing but our script, with the same choices: an older version may have made it."""
    if there is None or len(there.get("processors", ())) != 1 or len(wanted["processors"]) != 1:
        return False
    has, needs = (each["processors"][0].get("script", {}).get("params", {}) for each in (there, wanted))
    return needs.keys() >= _OURS and all(key in has and has[key] == needs.get(key) for key in _CHOSEN)
