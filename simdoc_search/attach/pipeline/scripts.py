"""Which of our scripts does a pipeline run, by itself or by pipelines that it calls?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

__all__ = ["parameters_in"]

_DEEPEST = 5
"""Pipelines that call pipelines."""

_OURS = {"into", "format", "token_length"}
"""What a script of ours has among its parameters."""

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
