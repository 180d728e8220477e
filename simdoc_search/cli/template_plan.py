"""What `simdoc-search template install` did, or would do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simdoc_search.cli.common import print_json, say

if TYPE_CHECKING:
    from simdoc_search.attach.installation import Plan


def plan_as_json(plan: Plan, *, dry_run: bool) -> dict[str, Any]:
    """What a program reads; of a dry run the requests too."""
    from simdoc_search.attach.search_templates import search_templates
    from simdoc_search.attach.templates import component_name

    wanted = plan.wanted
    done: dict[str, Any] = {"component_template": component_name(wanted.field), "installed": plan.component is not None}
    if wanted.pipeline:
        done |= {"pipeline": wanted.pipeline, "pipeline_installed": plan.pipeline is not None}
    if wanted.index_template:
        done |= {"index_template": wanted.index_template, "index_template_changed": plan.index_template is not None}
    if wanted.index:
        done["indices"] = plan.indices
    if wanted.search:
        done["search_templates"] = list(search_templates(wanted.field))
        done["search_templates_installed"] = [each.place[-1] for each in plan.search]
    done |= {"changes": [each.change for each in plan.steps], "warnings": plan.warnings}
    if dry_run:
        requests = [{"method": "PUT", "path": each.path, "body": each.body} for each in plan.steps]
        done |= {"dry_run": True, "requests": requests}
    return done


def say_plan(plan: Plan, *, dry_run: bool) -> None:
    """What was done, and what is to be done by hand."""
    if dry_run:
        _say_changes(plan)
    else:
        _say_done(plan)
    for each in plan.warnings:
        say(f"note: {each}", err=True)


def _say_changes(plan: Plan) -> None:
    say("this would be changed:" if plan.steps else "nothing would be changed")
    for each in plan.steps:
        say(f"  {each.change}")
    if step := plan.index_template:
        say(f"PUT {step.path}")
        print_json(dict(step.body))


def _say_done(plan: Plan) -> None:
    from simdoc_search.attach.templates import component_name

    wanted = plan.wanted
    component = component_name(wanted.field)
    say(f"the component template {component} {'is installed' if plan.component else 'was there already'}")
    if wanted.pipeline:
        say(f"the pipeline {wanted.pipeline} {'is installed' if plan.pipeline else 'was there already'}")
    if wanted.index_template:
        have = "has" if plan.index_template else "had"
        what = "the pipeline and the text fields" if wanted.pipeline else "the component template"
        already = "" if plan.index_template else " already"
        how = "; add --index NAME for those that are there" if wanted.pipeline and not wanted.index else ""
        say(f"the index template {wanted.index_template} {have} {what}{already}, for indices to come{how}")
    for each in plan.indices:
        say(f"{each} uses it for each write; for the documents that it has already, run simdoc-search backfill")
    if not wanted.index and not wanted.index_template:
        pipeline = f', "template": {{"settings": {{"index.final_pipeline": "{wanted.pipeline}"}}}}'
        both = f'"composed_of": ["{component}"]{pipeline if wanted.pipeline else ""}'
        them = "both" if wanted.pipeline else "it"
        say(f"add {them} to your index template with --index-template NAME, or by hand:  {both}")
    if wanted.search:
        new = ", ".join(each.place[-1] for each in plan.search)
        say("the search templates " + (f"{new} are installed" if new else "were there already"))
