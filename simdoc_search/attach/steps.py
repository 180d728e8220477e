"""Requests that change an engine. A dry run shows them instead of sending them."""

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
        segments: the segments of the path.
        body: the body.
        change: the change in the imperative, such as `install the pipeline simdoc`.
        undo: how to undo the change; may be empty.
    """

    part: Part
    segments: tuple[str, ...]
    body: Mapping[str, Any]
    change: str
    undo: str = ""

    @property
    def path(self) -> str:
        """The path of the request."""
        return path_of(self.segments)


def path_of(segments: Iterable[str]) -> str:
    """Join the segments of a path, percent-encoded."""
    return "/" + "/".join(quote(segment, safe="*,-_.:") for segment in segments)


def install_step(
    engine: Engine,
    part: Part,
    segments: Iterable[str],
    body: dict[str, Any],
    *,
    existing: object,
    name: str,
    force: bool,
) -> list[Step]:
    """Return the step that installs a body; none if the engine already has an equal body.

    Descriptions are not compared. `existing` is the body in the engine, or None. `name` appears in messages.

    Raises:
        StoreError: the body in the engine is different, and `force` is not set.
    """
    if existing is None:
        return [Step(part, tuple(segments), body, f"install the {name}", f"DELETE {path_of(segments)}")]
    keys = ("template", "processors", "script")  # everything but the description
    if isinstance(existing, Mapping) and all(_plain(existing.get(key)) == _plain(body.get(key)) for key in keys):
        return []
    if not force:
        how = "compare it with template show, or replace it with --force"
        raise StoreError(f"{engine.name} has a different {name}; {how}")
    return [Step(part, tuple(segments), body, f"replace the {name}")]


def run_steps(engine: Engine, steps: Iterable[Step]) -> None:
    """Send the requests in order, and stop at the first that fails.

    Raises:
        StoreError: a request failed. The message lists the changes that were made, and how to undo them.
    """
    done: list[Step] = []
    for step in steps:
        try:
            engine.call("PUT", step.segments, dict(step.body))
        except StoreError as error:
            before = "; ".join(
                earlier.change + (f" (undo: {earlier.undo})" if earlier.undo else "") for earlier in done
            )
            message = f"cannot {step.change}: {error}"
            raise StoreError(f"{message}. Changes made before: {before}" if before else message) from error
        done.append(step)


def _plain(value: Any) -> Any:
    """Bring a value into the form that engines return: strings in lower case, and no empty objects."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items() if item != {}}
    return [_plain(item) for item in value] if isinstance(value, list) else str(value).lower()
