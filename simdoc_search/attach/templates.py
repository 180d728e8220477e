"""The mapping of our field, put into an engine as a component template that index templates are composed of."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from simdoc_search.errors import StoreError
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.engine import Engine, RequestError
from simdoc_search.stores.remote.index_body import FIELD, component_template

__all__ = ["COMPONENT", "install_component"]

COMPONENT = "simdoc"
"""The name of the component template."""

_NO_SUCH_REQUEST = (400, 404, 405)


def install_component(
    engine: Engine, field: str = FIELD, *, settings: Settings | None = None, force: bool = False
) -> bool:
    """Put the component template into an engine.

    Args:
        engine: where.
        field: the name of the field.
        settings: what the field's `meta` says; None: the defaults.
        force: replace another one of this name.

    Returns:
        Whether it was not there already.

    Raises:
        StoreError: another one of this name is there, and may not be replaced.
        StoreUnavailableError: the engine does not answer.
        RequestError: it refuses.
    """
    try:
        return _install(engine, component_template(settings, field), force=force)
    except RequestError as error:
        path = urlsplit(engine.name).path
        if not path or error.status not in _NO_SUCH_REQUEST:
            raise
        address = engine.name.removesuffix(path)
        how = f"leave out {path}: simdoc-search template install {address}"
        raise StoreError(f"a template belongs to the engine, not to an index; {how}") from error


def _install(engine: Engine, wanted: dict[str, Any], *, force: bool) -> bool:
    place = ["_component_template", COMPONENT]
    found = engine.call("GET", place, allow=(404,))
    if found:
        there = found["component_templates"][0]["component_template"]
        if _plain(there.get("template")) == _plain(wanted["template"]):
            return False
        if not force:
            what = f"another component template {COMPONENT}"
            raise StoreError(f"{engine.name} has {what}; compare it with template show, or use --force")
    engine.call("PUT", place, wanted)
    return True


def _plain(value: Any) -> Any:
    """Settings as an engine gives them back: all as text."""
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items() if each != {}}
    return str(value).lower()
