"""Parts of `template install`, one by one: each is planned, and done at once."""

from __future__ import annotations

from simdoc_search.attach.pipeline import PIPELINE
from simdoc_search.attach.pipeline.default_pipeline import mapping_steps, targets_of, use_steps
from simdoc_search.attach.search_templates import search_template_steps
from simdoc_search.attach.steps import run_steps
from simdoc_search.attach.templates import component_step
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.schema import DEFAULT_FIELD

__all__ = ["install_component", "install_search_templates", "use_pipeline"]


def install_component(engine: Engine) -> bool:
    """Put the component template there; whether it was not there already."""
    step = component_step(engine)
    run_steps(engine, filter(None, [step]))
    return step is not None


def install_search_templates(engine: Engine, field: str = DEFAULT_FIELD, *, force: bool = False) -> list[str]:
    """Put the search templates there; the names of those that were not there already."""
    steps = search_template_steps(engine, field, force=force)
    run_steps(engine, steps)
    return [each.place[-1] for each in steps]


def use_pipeline(engine: Engine, index: str, *, name: str = PIPELINE, force: bool = False) -> list[str]:
    """Give the indices behind a name our mapping, and let them run the pipeline of `body`; which these are."""
    targets = targets_of(engine, index, "body", DEFAULT_FIELD, force=force)
    run_steps(
        engine,
        [*mapping_steps(targets, DEFAULT_FIELD), *use_steps(engine, targets, DEFAULT_FIELD, name=name, force=force)],
    )
    return [each.index for each in targets]
