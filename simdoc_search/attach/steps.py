"""Plans and sends the requests that change an engine. A dry run prints them instead."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import quote

from simdoc_search.errors import StoreError
from simdoc_search.stores.remote.engine import Engine

InstallationPart = Literal[
    "component", "mapping", "pipeline", "index template", "index pipeline", "search template", "deletion"
]
"""The part of an installation that a step belongs to, or `deletion` for any part that is deleted."""


@dataclass(frozen=True, slots=True)
class Step:
    """A PUT request, or a DELETE request if it has no body.

    `change` describes the change in the imperative, such as `install the pipeline simdoc`. `undo` says how to undo it,
    and may be empty.
    """

    part: InstallationPart
    path_parts: tuple[str, ...]
    body: Mapping[str, Any] | None
    change: str
    undo: str = ""

    @property
    def method(self) -> str:
        """The HTTP method."""
        return "DELETE" if self.body is None else "PUT"

    @property
    def path(self) -> str:
        """The path of the URL."""
        return join_path(self.path_parts)


def join_path(path_parts: Iterable[str]) -> str:
    """Percent-encode the segments of a path, and join them."""
    return "/" + "/".join(quote(segment, safe="*,-_.:") for segment in path_parts)


def plan_install_step(
    engine: Engine,
    part: InstallationPart,
    path_parts: Iterable[str],
    body: dict[str, Any],
    *,
    existing: object,
    name: str,
    force: bool,
) -> list[Step]:
    """Return the step that installs a body; none if the engine already has an equal body.

    `existing` is the body in the engine, or None. Differences in `description` are ignored. `name` is used in messages.

    Raises:
        StoreError: the body in the engine is different, and `force` is not set.
    """
    if existing is None:
        return [Step(part, tuple(path_parts), body, f"install the {name}", f"DELETE {join_path(path_parts)}")]
    keys = ("template", "processors", "script")  # compare all keys except the description
    if isinstance(existing, Mapping) and all(
        _normalise(existing.get(key)) == _normalise(body.get(key)) for key in keys
    ):
        return []
    if not force:
        installed = f"curl {shlex.quote(engine.name + join_path(path_parts))}"
        keep = "choose another --name, or " if part == "pipeline" else ""
        raise StoreError(
            f"the {name} on {engine.name} differs from the new one; see the installed one with `{installed}`; {keep}"
            "replace it by running the same command with --force"
        )
    return [Step(part, tuple(path_parts), body, f"replace the {name}")]


def run_steps(engine: Engine, steps: Iterable[Step]) -> None:
    """Send the requests in order, until one fails.

    Raises:
        StoreError: a request failed. The message lists the changes already made, and how to undo them.
    """
    completed: list[Step] = []
    for step in steps:
        try:
            if step.body is None:
                engine.call("DELETE", step.path_parts, allowed_statuses=(404,))
            else:
                engine.call("PUT", step.path_parts, dict(step.body))
        except StoreError as error:
            changes = "; ".join(
                earlier.change + (f" (undo: {earlier.undo})" if earlier.undo else "") for earlier in completed
            )
            message = f"cannot {step.change}: {error}"
            raise StoreError(f"{message}. Changes already made: {changes}" if changes else message) from error
        completed.append(step)


def _normalise(value: Any) -> Any:
    """Convert a value to the form that engines return: all values are strings in lower case, without empty objects."""
    if isinstance(value, Mapping):
        return {key: _normalise(item) for key, item in value.items() if item != {}}
    return [_normalise(item) for item in value] if isinstance(value, list) else str(value).lower()
