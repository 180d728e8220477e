"""Plans and runs `template install`. Everything is checked before the first change.

The parts are installed in this order: component template, mappings of the indices, ingest pipeline, index template,
`final_pipeline` setting of the indices, search templates. An index gets the mapping before it uses the pipeline.
Otherwise an index with `dynamic: strict` would reject all writes, because the pipeline writes an unmapped field.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from simdoc_search.attach.backfill.options import BackfillOptions
from simdoc_search.attach.backfill.targets import Target, describe_keyword_fields, find_targets
from simdoc_search.attach.index_template import TemplateExtension, check_final_pipeline, plan_index_template_steps
from simdoc_search.attach.next_index import find_next_index_warnings
from simdoc_search.attach.pipeline import UNSUPPORTED_KINDS, plan_pipeline_steps
from simdoc_search.attach.search_templates import plan_search_template_steps
from simdoc_search.attach.steps import InstallationPart, Step, plan_install_step, run_steps
from simdoc_search.errors import StoreError
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.advice import backfill_advice, install_pipeline_command
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.errors import RequestError
from simdoc_search.stores.remote.schema import component_template, without_kinds


@dataclass(frozen=True, slots=True)
class InstallRequest:
    """The parts to install, and their options.

    The component template has the same name as `field`. Indices with fingerprints keep their settings; for
    `change_settings`, see `BackfillOptions`. `pipeline`, `index` and `index_template` may be empty. `index` is an
    index, an alias or a data stream that will use the pipeline. `force` replaces installed parts that differ.
    """

    field: str
    settings: Settings
    change_settings: Callable[[Settings], Settings] | None = None
    pipeline: str = ""
    text_fields: Sequence[str] = ()
    index: str = ""
    index_template: str = ""
    include_search_templates: bool = False
    force: bool = False


@dataclass(frozen=True, slots=True)
class InstallPlan:
    """The steps of an installation whose checks have all passed.

    There is no step for a part that is already installed. `indices` will use the pipeline. `warnings` are sentences for
    the user.
    """

    engine: Engine
    request: InstallRequest
    steps: list[Step] = field(default_factory=list)
    indices: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def get_steps(self, part: InstallationPart) -> list[Step]:
        """Return the steps of one part."""
        return [step for step in self.steps if step.part == part]

    def run(self) -> None:
        """Run all steps.

        Raises:
            StoreError: a step failed. The message lists the changes already made.
        """
        run_steps(self.engine, self.steps)


def plan_installation(engine: Engine, request: InstallRequest) -> InstallPlan:
    """Check everything and return the steps, without changing anything.

    Raises:
        StoreNotFoundError: no index has this name.
        StoreError: an installed part differs from the requested one, fingerprints cannot be added to an index, or the
            engine cannot compute fingerprints.
    """
    check_url_without_index(engine, takes_index=bool(request.pipeline and not request.index))
    fingerprint_field, force = request.field, request.force
    targets = _find_targets(engine, request) if request.index else []
    settings = _require_common_settings(targets, request)
    pipeline: list[Step] = []
    if request.pipeline:
        pipeline_settings = without_kinds(settings, UNSUPPORTED_KINDS) if targets else settings
        pipeline = plan_pipeline_steps(
            engine,
            request.text_fields,
            fingerprint_field,
            settings=pipeline_settings,
            name=request.pipeline,
            force=force,
        )
    template = component_template(settings if request.index_template else request.settings, fingerprint_field)
    mapping = template["template"]["mappings"]["properties"][fingerprint_field]
    extension = TemplateExtension(fingerprint_field, mapping, request.pipeline, request.text_fields)
    plan = InstallPlan(engine, request, indices=[target.index.name for target in targets])
    plan.steps.extend(plan_component_steps(engine, template, fingerprint_field, force=force))
    plan.steps.extend(plan_mapping_steps(targets, fingerprint_field))
    plan.steps.extend(pipeline)
    if request.index_template:
        steps, warnings = plan_index_template_steps(engine, request.index_template, extension, force=force)
        plan.steps.extend(steps)
        plan.warnings.extend(warnings)
    plan.steps.extend(plan_index_pipeline_steps(targets, request.pipeline, force=force))
    if request.include_search_templates:
        plan.steps.extend(plan_search_template_steps(engine, fingerprint_field, force=force))
    for target in targets:
        plan.warnings.extend(describe_keyword_fields(target.index, request.text_fields))
    if kinds := [kind for kind in UNSUPPORTED_KINDS if targets and getattr(settings, kind) is not None]:
        mappings, location = [target.index.mappings for target in targets], f"{engine.name}/{request.index}"
        advice = backfill_advice(mappings, fingerprint_field, location, text_fields=request.text_fields)
        plan.warnings.append(
            f"the pipeline does not compute {' and '.join(kinds)}; to add them to new documents, {advice} regularly"
        )
    if request.index:
        command = install_pipeline_command(engine.name, request.pipeline, request.text_fields, fingerprint_field)
        plan.warnings.extend(
            find_next_index_warnings(engine, request.index, extension, command, request.index_template)
        )
    return plan


def plan_component_steps(engine: Engine, template: dict[str, Any], name: str, *, force: bool = False) -> list[Step]:
    """Return the step that installs a component template; none if it is already installed.

    Raises:
        StoreError: a different component template has this name, and `force` is not set.
    """
    path_parts = ["_component_template", name]
    response = engine.call("GET", path_parts, allowed_statuses=(404,))
    existing = response["component_templates"][0]["component_template"] if response else None
    return plan_install_step(
        engine, "component", path_parts, template, existing=existing, name=f"component template {name}", force=force
    )


def plan_mapping_steps(targets: Sequence[Target], field: str) -> list[Step]:
    """Return the steps that complete the mapping of the fingerprint field in each index."""
    steps = []
    for target in targets:
        if missing := target.missing_mappings | target.text_fields_mapping:
            body = {"properties": {field: {"dynamic": "false", "properties": missing}}}
            name = target.index.name
            change = f"add the field {field} to" if "tokens" in missing else f"complete the field {field} in"
            steps.append(Step("mapping", (name, "_mapping"), body, f"{change} the mapping of {name}"))
    return steps


def plan_index_pipeline_steps(targets: Sequence[Target], pipeline: str, *, force: bool = False) -> list[Step]:
    """Return the steps that make indices use a pipeline on every write.

    The pipeline becomes their final pipeline, which also runs on partial updates, with the whole document. An index
    rejects all writes while its pipeline is missing. So set `index.final_pipeline` to `_none` before you delete a
    pipeline.

    Raises:
        StoreError: an index has another final pipeline, and `force` is not set.
    """
    steps = []
    for target in targets:
        name, existing = target.index.name, target.index.final_pipeline
        check_final_pipeline(f"index {name}", existing, pipeline, force=force)
        if existing != pipeline:
            change = f"set index.final_pipeline of {name} to {pipeline}"
            undo = f"set index.final_pipeline back to {existing}"
            steps.append(Step("index pipeline", (name, "_settings"), {"index.final_pipeline": pipeline}, change, undo))
    return steps


def check_url_without_index(engine: Engine, *, takes_index: bool) -> None:
    """Check that the URL does not contain an index. It may have a path, because the engine may be behind a proxy.

    `takes_index` says whether the message suggests `--index` for the name of the index.
    """
    try:
        if urlsplit(engine.name).path:
            engine.call("GET", ["_component_template"])
    except RequestError as error:
        if error.status not in (400, 404, 405):
            raise
        url, _, index = engine.name.rpartition("/")
        option = f" --index {index}" if takes_index else ""
        raise StoreError(
            f"templates belong to the engine, not to an index; use {url}{option}, and keep the other options"
        ) from error


def _find_targets(engine: Engine, request: InstallRequest) -> list[Target]:
    """Return the indices behind the requested name. All of them must be able to use the pipeline.

    Raises:
        StoreNotFoundError: no index has this name.
        StoreError: fingerprints cannot be added to an index.
    """
    options = BackfillOptions(
        [*request.text_fields], request.field, change_settings=request.change_settings, force=request.force
    )
    targets, skipped = find_targets(engine, request.index, options)
    if skipped:
        raise StoreError(f"the index {skipped[0].index} cannot use the pipeline: {skipped[0].reason}")
    return targets


def _require_common_settings(targets: Sequence[Target], request: InstallRequest) -> Settings:
    """Return the settings of the indices, which may differ only in the kinds of tokens that a pipeline does not make.

    Raises:
        StoreError: the settings differ.
    """
    settings = [target.settings for target in targets] or [request.settings]
    if len({without_kinds(other, UNSUPPORTED_KINDS) for other in settings}) > 1:
        advice = "install one pipeline per index, each with a different --name"
        raise StoreError(f"the indices behind {request.index} have different fingerprint settings; {advice}")
    return settings[-1]
