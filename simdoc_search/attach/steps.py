"""What an engine is told to change, request by request: shown first, or done."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from simdoc_search.errors import StoreError
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.errors import RequestError


@dataclass(frozen=True, slots=True)
class Step:
    """One PUT request.

    Attributes:
        place: the parts of its path.
        body: what is sent.
        change: what it changes, as a command to a person.
        undo: how to take it back; empty: it is not to be taken back.
        refused: says in other words why the engine refuses it; None, or its None: the engine's own are used.
        check: is called before it is sent, and raises a StoreError if it must not be sent.
    """

    place: tuple[str, ...]
    body: Mapping[str, Any]
    change: str
    undo: str = ""
    refused: Callable[[RequestError], str | None] | None = None
    check: Callable[[Engine], None] | None = None

    @property
    def path(self) -> str:
        """The path of the request."""
        return "/" + "/".join(quote(part, safe="*,-_.:") for part in self.place)


def run_steps(engine: Engine, steps: Iterable[Step]) -> None:
    """Take steps in their order, up to the first that fails.

    Raises:
        StoreError: one failed; the message says what was done before, and how to take it back.
    """
    done: list[Step] = []
    for step in steps:
        try:
            _run(engine, step)
        except StoreError as error:
            if not done:
                raise
            before = "; ".join(each.change + (f" (undo: {each.undo})" if each.undo else "") for each in done)
            raise StoreError(f"{error}. Done before that: {before}") from error
        done.append(step)


def _run(engine: Engine, step: Step) -> None:
    if step.check:
        step.check(engine)
    try:
        engine.call("PUT", step.place, dict(step.body))
    except RequestError as error:
        if step.refused is None or (said := step.refused(error)) is None:
            raise
        raise StoreError(said) from error
