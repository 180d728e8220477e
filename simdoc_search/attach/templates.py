"""The mapping of our field, put into an engine as a component template that index templates are composed of."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from copy import deepcopy
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from simdoc_search.attach.steps import Step
from simdoc_search.errors import StoreError
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.errors import RequestError
from simdoc_search.stores.remote.schema import DEFAULT_FIELD, component_template

COMPONENT = "simdoc"
"""The name of the component template for the usual field."""

_NO_SUCH_REQUEST = (400, 404, 405)


def component_name(field: str) -> str:
    """Return the name of the component template for a field: the name of the field."""
    return COMPONENT if field == DEFAULT_FIELD else field


def component_step(
    engine: Engine, field: str = DEFAULT_FIELD, *, settings: Settings | None = None, force: bool = False
) -> Step | None:
    """What puts the component template into an engine; None if it is there already.

    Args:
        engine: where.
        field: the name of the field.
        settings: what the field's `meta` says; None: the defaults.
        force: replace another one of this name; what an older simdoc-search put there is replaced in any case.

    Raises:
        StoreError: another one of this name is there, and may not be replaced.
        StoreUnavailableError: the engine does not answer.
        RequestError: it refuses.
    """
    wanted, place = component_template(settings, field), ["_component_template", component_name(field)]
    with on_an_engine(engine, "template", "simdoc-search template install"):
        found = engine.call("GET", place, allow=(404,))
        there = found["component_templates"][0]["component_template"] if found else None
        may = force or (there is not None and is_same(_as_now(there, field), wanted))
        return step_unless_there(engine, place, wanted, there, f"component template {component_name(field)}", force=may)


@contextmanager
def on_an_engine(engine: Engine, what: str, command: str) -> Iterator[None]:
    """Say what to do where an address names an index, and no such thing can be there.

    Raises:
        StoreError: it does.
    """
    try:
        yield
    except RequestError as error:
        path = urlsplit(engine.name).path
        if not path or error.status not in _NO_SUCH_REQUEST:
            raise
        address = engine.name.removesuffix(path)
        how = f"leave out {path}: {command} {address}"
        raise StoreError(f"a {what} belongs to the engine, not to an index; {how}") from error


def step_unless_there(
    engine: Engine, place: list[str], wanted: dict[str, Any], there: dict[str, Any] | None, what: str, *, force: bool
) -> Step | None:
    """What puts something at a place; what describes it does not count where it is compared with what is there.

    Returns:
        The step; None: it is there already.

    Raises:
        StoreError: another one is there, and may not be replaced.
    """
    if there is None:
        step = Step(tuple(place), wanted, f"install the {what}")
        return replace(step, undo=f"DELETE {step.path}")
    if is_same(there, wanted):
        return None
    if not force:
        raise StoreError(f"{engine.name} has another {what}; compare it with template show, or use --force")
    return Step(tuple(place), wanted, f"replace the {what}")


def _as_now(there: dict[str, Any], field: str) -> dict[str, Any]:
    """A component template without what ours once had."""
    template = deepcopy(there)
    with suppress(AttributeError, KeyError):
        template["template"]["mappings"]["properties"][field]["properties"]["error"].pop("ignore_above", None)
    return template


def is_same(there: dict[str, Any], wanted: dict[str, Any]) -> bool:
    """Whether a template or pipeline is as wanted, but for what describes it."""
    return bool(_plain(_without_words(there)) == _plain(_without_words(wanted)))


def _without_words(body: dict[str, Any]) -> dict[str, Any]:
    return {key: each for key, each in body.items() if key in ("template", "processors")}


def _plain(value: Any) -> Any:
    """Settings as an engine gives them back: all as text."""
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items() if each != {}}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return str(value).lower()
