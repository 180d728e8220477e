"""An index whose pipeline fills one field is made to fill another one too, and later that one alone.

    articles                                the pipeline of the index, as somebody installed it
    articles-simdoc_2                       fills the other field
    articles-and-articles-simdoc_2          calls both, while both fields are filled

No pipeline that is there is changed, as other indices may use it: the index gets another one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import chain, count
from typing import Any

from simdoc_search.attach.pipeline.body import pipeline_body
from simdoc_search.attach.pipeline.default_pipeline import NONE, final_pipeline
from simdoc_search.attach.pipeline.install import install_pipeline, put_pipeline, read_pipeline
from simdoc_search.attach.pipeline.scripts import called_by, does_more, parameters_in
from simdoc_search.attach.templates import is_same
from simdoc_search.errors import StoreError
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.engine import Engine

MADE = "Made by simdoc-search refingerprint. "
"""What the description of such a pipeline begins with: it may go when nobody uses it."""

Bodies = Mapping[str, Mapping[str, Any]]


def fill_beside(engine: Engine, index: str, fields: tuple[str, str], text: Sequence[str], settings: Settings) -> None:
    """Let an index whose final pipeline fills a field fill another one too; any other index is left alone.

    Args:
        engine: where it is.
        index: a concrete one, which has the mapping of both fields.
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
    base = f"{name.removesuffix(f'-{old}')}-{new}"
    alone = _name(engine, base, pipeline_body(settings, text, new))
    install_pipeline(engine, text, new, settings=settings, name=alone, note=MADE)
    calls = {"description": MADE, "processors": [{"pipeline": {"name": each}} for each in (alone, name)]}
    both = _name(engine, f"{name}-and-{alone}", calls)
    put_pipeline(engine, both, calls)
    engine.call("PUT", [index, "_settings"], {"index.final_pipeline": both})


def fill_alone(engine: Engine, index: str, field: str, others: set[str]) -> set[str]:
    """Let an index that `fill_beside` made to fill two fields fill this one without the others.

    Args:
        engine: where it is.
        index: a concrete one.
        field: the one that is filled from now on.
        others: those that are not; what else is filled is so from now on too.

    Returns:
        The pipelines that it ran before and runs no longer.

    Raises:
        StoreError: one of them does other things too, which would be lost.
    """
    name = final_pipeline(engine, index)
    filled = _filled(engine, name)
    kept = {*filled} - others
    if field not in filled or len(filled) == len(kept):
        return set()
    bodies = _below(name, partial(read_pipeline, engine))
    below = {each: _below(each, bodies.get).keys() for each in bodies}
    own = {each for each, body in bodies.items() if does_more(body)}
    fit = [each for each, inner in below.items() if _fields(bodies, each) == kept and own <= inner]
    if not fit:
        gone = ", ".join(sorted({*filled} & others))
        alone = next((each for each in bodies if _fields(bodies, each) == {field}), f"one that fills {field}")
        how = f"let it call {alone} in place of what fills {gone}, and run this again"
        more = next((each for each, body in bodies.items() if not body.get("description", "").startswith(MADE)), name)
        raise StoreError(f"the pipeline {more} of the index {index} does more than fill {gone}; {how}")
    engine.call("PUT", [index, "_settings"], {"index.final_pipeline": fit[-1]})
    return bodies.keys() - below[fit[-1]]


def _name(engine: Engine, base: str, body: dict[str, Any]) -> str:
    """The first name that is free, or has this very pipeline, as after a run that broke off."""
    names = chain([base], (f"{base}-{number}" for number in count(2)))
    return next(each for each in names if (there := read_pipeline(engine, each)) is None or is_same(there, body))


def _below(name: str, read: Any) -> dict[str, Mapping[str, Any]]:
    """The bodies of a pipeline and of all that it calls, it first."""
    found: dict[str, Mapping[str, Any]] = {}
    waiting = [name]
    while waiting:
        each = waiting.pop(0)
        if each not in found and (body := read(each)) is not None:
            found[each] = body
            waiting += called_by(body)
    return found


def _filled(engine: Engine, name: str) -> list[str]:
    """The fields that a pipeline fills, by our script or by a pipeline that it calls."""
    found = None if name == NONE else read_pipeline(engine, name)
    return [str(each["into"]) for each in parameters_in(found or {}, partial(read_pipeline, engine))]


def _fields(bodies: Bodies, name: str) -> set[str]:
    """The same of one whose bodies are known."""
    return {str(each["into"]) for each in parameters_in(bodies[name], bodies.get)}
