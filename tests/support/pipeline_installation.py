"""Installs parts of `template install` one by one."""

from __future__ import annotations

from typing import Any

from simdoc_search.attach.backfill import BackfillOptions
from simdoc_search.attach.backfill.targets import find_targets
from simdoc_search.attach.installation import plan_index_pipeline_steps, plan_mapping_steps
from simdoc_search.attach.pipeline import plan_pipeline_steps
from simdoc_search.attach.search_templates import plan_search_template_steps
from simdoc_search.attach.steps import run_steps
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.pipelines import DEFAULT_PIPELINE
from simdoc_search.stores.remote.schema import DEFAULT_FIELD

__all__ = ["install_pipeline", "install_search_templates", "use_pipeline"]


def install_pipeline(engine: Engine, text_field: str | list[str] = "body", **options: Any) -> bool:
    """Install the pipeline, and return whether it was not installed."""
    steps = plan_pipeline_steps(engine, text_field, **options)
    run_steps(engine, steps)
    return bool(steps)


def install_search_templates(engine: Engine, field: str = DEFAULT_FIELD, *, force: bool = False) -> list[str]:
    """Install the search templates, and return the names of those that were not installed."""
    steps = plan_search_template_steps(engine, field, force=force)
    run_steps(engine, steps)
    return [step.path_parts[-1] for step in steps]


def use_pipeline(engine: Engine, index: str, *, name: str = DEFAULT_PIPELINE) -> list[str]:
    """Install the pipeline for `body` in the indices of a name, and return the names of the indices."""
    targets, skipped = find_targets(engine, index, BackfillOptions("body"))
    assert not skipped
    run_steps(engine, [*plan_mapping_steps(targets, DEFAULT_FIELD), *plan_index_pipeline_steps(targets, name)])
    return [target.index.name for target in targets]
