"""An index whose pipeline fills one field is made to fill another one too, and later that one alone.

No pipeline that is there is changed, as other indices may use it: the index gets another one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from simdoc_search.attach.pipeline.body import pipeline_body
from simdoc_search.attach.pipeline.install import NONE, final_pipeline, install_pipeline
from simdoc_search.attach.templates import put_once
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.engine import Engine

__all__ = ["fill_alone", "fill_beside"]


def fill_beside(engine: Engine, index: str, fields: tuple[str, str], text: Sequence[str], settings: Settings) -> None:
    """Let an index whose final pipeline fills a field fill another one too; any other index is left alone.

    Args:
        engine: where it is.
        index: a concrete one.
        fields: the one that is filled, and the one that is to be filled too.
        text: where the text is.
        settings: of the new field.

    Raises:
        StoreError: the engine cannot make fingerprints of these settings.
    """
    old, new = fields
    name = final_pipeline(engine, index)
    filled = list(_filled(engine, name))
    if old not in filled or new in filled:
        return
    install_pipeline(engine, text, new, settings=settings, name=new)
    both = f"{name}-and-{new}"
    body = pipeline_body(settings, text, new)
    body["processors"].append({"pipeline": {"name": name}})
    _put(engine, both, body)
    engine.call("PUT", [index, "_settings"], {"index.final_pipeline": both})


def fill_alone(engine: Engine, index: str, field: str) -> None:
    """Let an index that `fill_beside` made to fill two fields fill this one alone."""
    name = final_pipeline(engine, index)
    filled = list(_filled(engine, name))
    if field not in filled or len(filled) == 1:
        return
    alone = field if field in _filled(engine, field) else name.removesuffix(f"-and-{filled[0]}")
    engine.call("PUT", [index, "_settings"], {"index.final_pipeline": alone})


def _put(engine: Engine, name: str, body: dict[str, Any]) -> None:
    place = ["_ingest", "pipeline", name]
    found = engine.call("GET", place, allow=(404,)) or {}
    put_once(engine, place, body, found.get(name), f"pipeline {name}", force=False)


def _filled(engine: Engine, name: str) -> Iterator[str]:
    """The fields that a pipeline fills, by our script or by a pipeline that it calls."""
    found = None if name == NONE else engine.call("GET", ["_ingest", "pipeline", name], allow=(404,))
    for processor in (found or {}).get(name, {}).get("processors", ()):
        called = _below(processor, "pipeline").get("name")
        if into := _below(_below(processor, "script"), "params").get("into"):
            yield str(into)
        elif called and called != name:
            yield from _filled(engine, str(called))


def _below(value: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = value.get(key)
    return found if isinstance(found, Mapping) else {}
