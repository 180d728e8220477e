"""Requests that change an engine, to be shown first, or sent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import quote

from simdoc_search.errors import StoreError
from simdoc_search.stores.remote.engine import Engine

Part = Literal["component", "mapping", "pipeline", "index template", "index pipeline", "search template"]
"""The part of an installation that a step belongs to."""


@dataclass(frozen=True, slots=True)
class Step:
    """A PUT request.

    Attributes:
        part: the part of the installation.
        place: the parts of the path.
        body: the body.
        change: the change as an imperative clause.
        undo: how to undo it; empty if there is no need.
    """

    part: Part
    place: tuple[str, ...]
    body: Mapping[str, Any]
    change: str
    undo: str = ""

    @property
    def path(self) -> str:
        """The path of the request."""
        return path_of(self.place)


def path_of(place: Iterable[str]) -> str:
    """Return a path from its parts, quoted."""
    return "/" + "/".join(quote(part, safe="*,-_.:") for part in place)


def install_step(
    engine: Engine, part: Part, place: Iterable[str], body: dict[str, Any], *, existing: object, name: str, force: bool
) -> list[Step]:
    """Return the step that installs a body; none if the existing body in the engine is equal.

    Descriptions are not compared. `existing` is None if there is none. `name` is for messages.

    Raises:
        StoreError: the body in the engine is different, and `force` is not set.
    """
    if existing is None:
        return [Step(part, tuple(place), body, f"install the {name}", f"DELETE {path_of(place)}")]
    parts = ("template", "processors", "script")  # what is not a description
    if isinstance(existing, Mapping) and all(_plain(existing.get(part)) == _plain(body.get(part)) for part in parts):
        return []
    if not force:
        raise StoreError(f"{engine.name} has another {name}; compare it with template show, or replace it with --force")
    return [Step(part, tuple(place), body, f"replace the {name}")]


def run_steps(engine: Engine, steps: Iterable[Step]) -> None:
    """Send the requests in their order, up to the first that fails.

    Raises:
        StoreError: a request failed. The message lists those before it, and how to undo them.
    """
    done: list[Step] = []
    for step in steps:
        try:
            engine.call("PUT", step.place, dict(step.body))
        except StoreError as error:
            before = "; ".join(
                earlier.change + (f" (undo: {earlier.undo})" if earlier.undo else "") for earlier in done
            )
            message = f"cannot {step.change}: {error}"
            raise StoreError(f"{message}. Done before that: {before}" if before else message) from error
        done.append(step)


def _plain(value: Any) -> Any:
    """A value as engines return it: settings as text, and no empty objects."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items() if item != {}}
    return [_plain(item) for item in value] if isinstance(value, list) else str(value).lower()
