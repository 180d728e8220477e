"""Output of `simdoc-search template install` and `simdoc-search template remove`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simdoc_search.cli.common import print_json, say
from simdoc_search.display import quote_command
from simdoc_search.stores.remote.schema import DEFAULT_FIELD

if TYPE_CHECKING:
    from simdoc_search.attach.installation import InstallPlan
    from simdoc_search.attach.removal import RemovalPlan

_OVERLAP_LIMIT = (
    "hits of simdoc-similar can be far below the parameter `overlap`; also give `buckets`, the number of tokens of the "
    "query document"
)


def plan_as_json(plan: InstallPlan, *, dry_run: bool) -> dict[str, Any]:
    """Return the plan as JSON. For a dry run, it includes the requests."""
    from simdoc_search.attach.search_templates import build_search_templates

    request = plan.request
    values: dict[str, Any] = {"component_template": request.field, "installed": bool(plan.get_steps("component"))}
    if request.pipeline:
        values |= {"pipeline": request.pipeline, "pipeline_installed": bool(plan.get_steps("pipeline"))}
    if request.index_template:
        is_changed = bool(plan.get_steps("index template"))
        values |= {"index_template": request.index_template, "index_template_changed": is_changed}
    if request.index:
        values["indices"] = plan.indices
    if request.include_search_templates:
        values["search_templates"] = list(build_search_templates(request.field))
        values["search_templates_installed"] = [step.path_parts[-1] for step in plan.get_steps("search template")]
    values |= {"changes": [step.change for step in plan.steps], "warnings": plan.warnings}
    if dry_run:
        requests = [{"method": step.method, "path": step.path, "body": step.body} for step in plan.steps]
        values |= {"dry_run": True, "requests": requests}
    return values


def print_plan(plan: InstallPlan, *, dry_run: bool) -> None:
    """Print the changes that were made, or would be made, and the next steps."""
    if dry_run:
        _print_changes(plan)
    else:
        _print_installed(plan)
    for warning in plan.warnings:
        say(f"note: {warning}", err=True)


def print_removal(plan: RemovalPlan, *, dry_run: bool) -> None:
    """Print the changes that were made, or would be made, and what is kept."""
    say(f"these changes {'would be' if dry_run else 'were'} made:" if plan.changes else "nothing to remove")
    for change in plan.changes:
        say(f"  {change}")
    for warning in plan.warnings:
        say(f"note: {warning}", err=True)


def _print_changes(plan: InstallPlan) -> None:
    say("these changes would be made:" if plan.steps else "nothing would be changed")
    for step in plan.steps:
        say(f"  {step.change}")
    for step in plan.get_steps("index template"):
        say(f"PUT {step.path}")
        print_json(dict(step.body or {}))


def _print_installed(plan: InstallPlan) -> None:
    request = plan.request
    say(f"the component template {request.field} {_describe_state(plan.get_steps('component'))}")
    if request.pipeline:
        fields = f"the text field{'s' * (len(request.text_fields) > 1)} {' and '.join(request.text_fields)}"
        say(f"the pipeline {request.pipeline} for {fields} {_describe_state(plan.get_steps('pipeline'))}")
    if request.index_template:
        contents = "the pipeline and the text fields" if request.pipeline else "the component template"
        includes = "now includes" if plan.get_steps("index template") else "already included"
        hint = (
            "; to use the pipeline in an existing index, add --index NAME"
            if request.pipeline and not request.index
            else ""
        )
        say(f"the index template {request.index_template} {includes} {contents}, for new indices{hint}")
    for index in plan.indices:
        say(f"{index} uses the pipeline for every write")
    if request.index:
        # The option --stale replaces fingerprints whose text was updated before the index used the pipeline.
        field = [] if request.field == DEFAULT_FIELD else ["--field", request.field]
        command = quote_command("backfill", f"{plan.engine.name}/{request.index}", "--stale", *field)
        say(f"to fingerprint existing documents, run `{command}`")
    if not request.index and not request.index_template and (request.pipeline or not request.include_search_templates):
        pipeline = f', "template": {{"settings": {{"index.final_pipeline": "{request.pipeline}"}}}}'
        body = f'"composed_of": ["{request.field}"]{pipeline if request.pipeline else ""}'
        if request.pipeline:
            say("to use the pipeline in an existing index, run the command again with --index NAME")
        templates = "the component template and the pipeline" if request.pipeline else "the component template"
        say(
            f"for new indices, add {templates} to your index template with --index-template NAME, or add this to the "
            f"body of the template:  {body}"
        )
    if request.include_search_templates:
        installed = ", ".join(step.path_parts[-1] for step in plan.get_steps("search template"))
        say(
            f"the search templates {installed} are installed"
            if installed
            else "the search templates were already installed"
        )
        say(f"note: {_OVERLAP_LIMIT}", err=True)


def _describe_state(steps: list[Any]) -> str:
    return "is installed" if steps else "was already installed"
