"""All that `template install` puts into an engine: everything is checked first, then done in a safe order.

    the component template, the mapping of indices, the pipeline, the index template, the pipeline of indices

A pipeline that fills a field which is not mapped has each write refused where the mapping is `dynamic: strict`. So each
index has the mapping before it runs the pipeline.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from simdoc_search.attach import templates
from simdoc_search.attach.backfill.targets import UNTOLD, Target
from simdoc_search.attach.index_template import Extension, index_template_step
from simdoc_search.attach.next_index import warn_of_next_indices, warn_of_other_templates
from simdoc_search.attach.pipeline.default_pipeline import (
    check_can_ingest,
    common_settings_of,
    mapping_steps,
    targets_of,
    use_steps,
)
from simdoc_search.attach.pipeline.install import PIPELINE, pipeline_step
from simdoc_search.attach.search_templates import search_template_steps
from simdoc_search.attach.steps import Step, run_steps
from simdoc_search.errors import StoreError
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.schema import DEFAULT_FIELD, component_template


@dataclass(frozen=True, slots=True)
class Installation:
    """What is to be installed.

    Attributes:
        field: the object field of the fingerprints.
        settings: how they are made, unless the index says otherwise.
        pipeline: the name of the pipeline; empty: none is installed.
        text_fields: where the text is.
        index: an index, an alias or a data stream that is to use the pipeline; empty: none.
        index_template: one that is to have all of it; empty: none.
        index_patterns: of an index template that is not there yet.
        search: the search templates too.
        force: replace what is there and differs.
    """

    field: str
    settings: Settings
    pipeline: str = ""
    text_fields: Sequence[str] = ()
    index: str = ""
    index_template: str = ""
    index_patterns: Sequence[str] = ()
    search: bool = False
    force: bool = False


@dataclass(slots=True)
class Plan:
    """What is to be done, after everything was checked.

    Attributes:
        engine: where.
        wanted: what is to be installed.
        component: the step of the component template; None: it is there already, as with the other steps.
        pipeline: that of the pipeline.
        index_template: that of the index template.
        mappings: those that give indices our field.
        uses: those that make indices run the pipeline.
        search: those of the search templates.
        indices: which of them use the pipeline afterwards.
        warnings: what a person should know.
    """

    engine: Engine
    wanted: Installation
    component: Step | None = None
    pipeline: Step | None = None
    index_template: Step | None = None
    mappings: list[Step] = field(default_factory=list)
    uses: list[Step] = field(default_factory=list)
    search: list[Step] = field(default_factory=list)
    indices: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def steps(self) -> list[Step]:
        """All, in their order."""
        made = [self.component, *self.mappings, self.pipeline, self.index_template, *self.uses, *self.search]
        return [each for each in made if each is not None]

    def run(self) -> None:
        """Do it.

        Raises:
            StoreError: the engine refuses a step; the message says what was done before.
        """
        run_steps(self.engine, self.steps)


def plan_installation(engine: Engine, wanted: Installation) -> Plan:
    """Check everything, and change nothing.

    Raises:
        StoreNotFoundError: there is no such index.
        StoreError: something is there that may not be replaced, cannot have fingerprints, or the engine cannot make
            them; the message says what to do.
        StoreUnavailableError: the engine does not answer.
        RequestError: it refuses.
    """
    plan, force = Plan(engine, wanted), wanted.force
    targets = targets_of(engine, wanted.index, wanted.text_fields, wanted.field, force=force) if wanted.index else []
    settings = common_settings_of(targets, wanted.index) if targets else wanted.settings
    if wanted.pipeline:
        name, texts = wanted.pipeline, wanted.text_fields
        plan.pipeline = pipeline_step(engine, texts, wanted.field, settings=settings, name=name, force=force)
        check_can_ingest(engine)
    of_template = settings if wanted.index_template else wanted.settings
    plan.component = templates.component_step(engine, wanted.field, settings=of_template, force=force)
    plan.mappings = mapping_steps(targets, wanted.field)
    plan.uses = use_steps(engine, targets, wanted.field, name=wanted.pipeline, force=force)
    plan.indices = [each.index for each in targets]
    extension = _extension(wanted, of_template)
    if wanted.index_template:
        plan.index_template, warnings = index_template_step(
            engine, wanted.index_template, extension, patterns=wanted.index_patterns, force=force
        )
        plan.warnings += warnings
    if wanted.search:
        plan.search = search_template_steps(engine, wanted.field, force=force)
    if wanted.pipeline:
        _check_users(plan, targets)
        command, extended = _command(engine, wanted), wanted.index_template
        plan.warnings += warn_of_other_templates(engine, extension, command, extended)
        if wanted.index:
            plan.warnings += warn_of_next_indices(engine, wanted.index, extension, command, extended)
    return plan


def _extension(wanted: Installation, settings: Settings) -> Extension:
    mapping = component_template(settings, wanted.field)["template"]["mappings"]["properties"][wanted.field]
    return Extension(templates.component_name(wanted.field), wanted.field, mapping, wanted.pipeline, wanted.text_fields)


def _check_users(plan: Plan, targets: Sequence[Target]) -> None:
    """See whether each index that runs a pipeline of this name has the mapping of the field.

    Raises:
        StoreError: one has not, and the pipeline is to be installed.
    """
    name, field = plan.wanted.pipeline, plan.wanted.field
    everywhere: dict[str, Any] = {"expand_wildcards": "all", "allow": UNTOLD}
    everywhere["filter_path"] = f"*.settings.index.*_pipeline,*.mappings.properties.{field}.properties.tokens.type"
    found = plan.engine.call("GET", ["_all", "_settings"], **everywhere) or {}
    users = {index for index, each in found.items() if name in each["settings"].get("index", {}).values()}
    users -= {each.index for each in targets}
    mapped = plan.engine.call("GET", ["_all", "_mapping"], **everywhere) if users else None
    if mapped is None or not (bare := sorted(users - mapped.keys())):
        return
    how = f"give them the mapping with --index {','.join(bare[:5])}{',...' if len(bare) > 5 else ''}"
    said = f"{bare[0]} runs the pipeline {name} and has no field {field}, so it may refuse each write; {how}"
    if plan.pipeline is not None:
        raise StoreError(f"the index {said}")
    plan.warnings.append(f"the index {said}")


def _command(engine: Engine, wanted: Installation) -> str:
    """What a person types to do the same once more, for something else."""
    name = [] if wanted.pipeline == PIPELINE else ["--name", wanted.pipeline]
    texts = [part for each in wanted.text_fields for part in ("--text-field", each)]
    ours = [] if wanted.field == DEFAULT_FIELD else ["--field", wanted.field]
    return shlex.join(["simdoc-search", "template", "install", engine.name, "--pipeline", *name, *texts, *ours])
