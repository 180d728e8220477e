"""An index whose pipeline fills one field is made to fill another one too, and later that one alone.

No pipeline that is there is changed, as other indices may use it: the index gets another one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from simdoc_search.attach.pipeline.install import (
    NONE,
    final_pipeline,
    install_pipeline,
    put_pipeline,
    read_pipeline,
)
from simdoc_search.attach.pipeline.scripts import parameters_in
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
    filled = _filled(engine, name)
    if old not in filled or new in filled:
        return
    install_pipeline(engine, text, new, settings=settings, name=new)
    both = f"{name}-and-{new}"
    put_pipeline(engine, both, {"processors": [{"pipeline": {"name": each}} for each in (new, name)]})
    engine.call("PUT", [index, "_settings"], {"index.final_pipeline": both})


def fill_alone(engine: Engine, index: str, field: str) -> None:
    """Let an index that `fill_beside` made to fill two fields fill this one alone."""
    name = final_pipeline(engine, index)
    filled = _filled(engine, name)
    if field not in filled or len(filled) == 1:
        return
    alone = field if field in _filled(engine, field) else name.removesuffix(f"-and-{filled[0]}")
    engine.call("PUT", [index, "_settings"], {"index.final_pipeline": alone})


def _filled(engine: Engine, name: str) -> list[str]:
    """The fields that a pipeline fills, by our script or by a pipeline that it calls."""
    found = None if name == NONE else read_pipeline(engine, name)
    return [str(each["into"]) for each in parameters_in(found or {}, partial(read_pipeline, engine))]
