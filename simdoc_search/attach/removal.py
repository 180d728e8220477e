"""Plans and runs `template remove`, which removes the parts of simdoc-search from the indices of an application.

First, writes no longer compute fingerprints. Then the field is removed from the documents. Last, the parts that nothing
else uses are deleted, because an index rejects all writes while its pipeline is missing. A pipeline to delete is marked
before everything else. If the removal is interrupted, no index may name this pipeline any more, but the next removal
finds the mark.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from simdoc_search.attach.field_removal import FieldRemoval, fingerprint_query, plan_field_removal
from simdoc_search.attach.index_pipeline import PIPELINE_SETTINGS
from simdoc_search.attach.index_template import matches_any, read_index_templates, remove_dates
from simdoc_search.attach.indices import IndexDescription, describe_indices
from simdoc_search.attach.installation import check_url_without_index
from simdoc_search.attach.search_templates import build_search_templates, insert_default_field
from simdoc_search.attach.steps import Step, run_steps
from simdoc_search.attach.update_by_query import WrittenCallback
from simdoc_search.display import format_count
from simdoc_search.errors import StoreError
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.mappings import shorten_list
from simdoc_search.stores.remote.pipelines import (
    DEFAULT_PIPELINE,
    DELETION_MARK,
    NO_PIPELINE,
    fingerprint_parameters,
    is_marked_for_deletion,
)
from simdoc_search.stores.remote.watches import DEFAULT_WATCHES_INDEX, WATCHED_FIELD


@dataclass(frozen=True, slots=True)
class RemovalPlan:
    """The changes of a removal.

    `marks` are the requests that mark the pipelines to delete. `steps` are the requests before the field is removed
    from the documents of the open indices (`field_removals`), and `deletions` those after it. `warnings` are sentences
    about the parts that are kept.
    """

    engine: Engine
    fingerprint_field: str
    marks: list[Step] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    field_removals: list[FieldRemoval] = field(default_factory=list)
    deletions: list[Step] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def changes(self) -> list[str]:
        """A description of each change in the imperative, in order."""
        documents = [
            f"remove the field {each.field} from {format_count(each.count, 'document')} of {each.index}"
            for each in self.field_removals
            if each.count
        ]
        return [step.change for step in self.steps] + documents + [step.change for step in self.deletions]

    def run(self, progress: WrittenCallback = lambda _: None) -> None:
        """Make all changes. `progress` is called with the number of documents that the current update has processed.

        Raises:
            StoreError: a change failed. Run the same removal again to resume.
        """
        run_steps(self.engine, [*self.marks, *self.steps])
        for each in self.field_removals:
            each.run(self.engine, progress)
        run_steps(self.engine, self.deletions)


def plan_removal(engine: Engine, index: str, field: str) -> RemovalPlan:
    """Return the changes that remove fingerprints from the indices behind a name, without changing anything.

    `index` is an index, an alias, a data stream or a pattern. If it is empty, only what no index uses is removed.

    Raises:
        StoreNotFoundError: no index has this name.
        StoreError: `simdoc-search index` created the index, its pipeline does not exist, or the URL contains an index.
    """
    check_url_without_index(engine, takes_index=not index)
    plan = RemovalPlan(engine, field)
    named_indices = describe_indices(engine, index, field) if index else []
    if created := [each.name for each in named_indices if each.is_simdoc_index]:
        raise StoreError(f"`simdoc-search index` created the index {created[0]}; to remove it, delete the index")
    pipeline_bodies: dict[str, Any] = engine.call("GET", ["_ingest", "pipeline"], allowed_statuses=(404,)) or {}
    own_pipelines = {name for name, body in pipeline_bodies.items() if _only_computes_fingerprints(body, field)}
    _check_pipelines_exist(engine, named_indices, pipeline_bodies)
    all_names = {index, *(name for each in named_indices for name in (each.name, *each.other_names))} - {""}
    templates: dict[str, Mapping[str, Any]] = dict(read_index_templates(engine) or {})
    used = _plan_write_changes(plan, named_indices, templates, all_names, own_pipelines)
    for each in named_indices:
        if each.is_closed:
            plan.warnings.append(f"{each.name} is closed; open it, and run the command again to remove the field")
        else:
            plan.field_removals.append(plan_field_removal(engine, each))
    templates |= {step.path_parts[1]: step.body or {} for step in plan.steps if step.part == "index template"}
    used |= {name for name in own_pipelines if is_marked_for_deletion(pipeline_bodies[name])}
    deletable = used | (own_pipelines & {DEFAULT_PIPELINE} if index else own_pipelines)
    pipelines = {name: name in used and name != DEFAULT_PIPELINE for name in deletable}
    parts = _find_parts(engine, field, pipeline_bodies, templates, pipelines=pipelines, all_names=all_names)
    advice = "" if index else "; to remove the fingerprints of an index, add --index NAME"
    _plan_deletions(plan, parts, advice)
    _plan_marks(plan, pipeline_bodies)
    if names := shorten_list([each.name for each in named_indices if each.subfields], if_empty=""):
        plan.warnings.append(f"the mapping of {names} keeps the empty field {field}")
    return plan


def _check_pipelines_exist(engine: Engine, indices: Iterable[IndexDescription], pipelines: Mapping[str, Any]) -> None:
    """Raise StoreError if an index names a pipeline that does not exist, so that no document can be written."""
    for each in indices:
        for setting in PIPELINE_SETTINGS:
            name = each.index_settings.get(setting, NO_PIPELINE)
            if name != NO_PIPELINE and name not in pipelines:
                body = json.dumps({f"index.{setting}": NO_PIPELINE})
                url = f"{engine.name}/{each.name}/_settings"
                command = shlex.join(["curl", "-X", "PUT", url, "-H", "Content-Type: application/json", "-d", body])
                raise StoreError(
                    f"the pipeline {name} of the index {each.name} does not exist, so writes fail; run `{command}`, "
                    "then run the same command again"
                )


def _plan_write_changes(
    plan: RemovalPlan,
    named_indices: Sequence[IndexDescription],
    templates: Mapping[str, Any],
    all_names: Iterable[str],
    own_pipelines: set[str],
) -> set[str]:
    """Add the steps after which writes no longer compute fingerprints. Return the names of our pipelines in use."""
    used: set[str] = set()
    for name, template in templates.items():
        if any(matches_any(template["index_patterns"], each) for each in all_names):
            body = _remove_parts(template, plan.fingerprint_field, own_pipelines)
            if body != remove_dates(template):
                used |= _pipelines_of(_index_settings(template)) & own_pipelines
                change = f"remove {plan.fingerprint_field} from the index template {name}"
                plan.steps.append(Step("index template", ("_index_template", name), body, change))
    for each in named_indices:
        settings = {f"index.{key}": None for key in PIPELINE_SETTINGS if each.index_settings.get(key) in own_pipelines}
        if settings:
            used |= _pipelines_of(each.index_settings) & own_pipelines
            change = f"remove {' and '.join(settings)} from {each.name}"
            plan.steps.append(Step("index pipeline", (each.name, "_settings"), settings, change))
    return used


class _Part(NamedTuple):
    """A part of simdoc-search that an engine may have, and what else uses it."""

    kind: str
    path_parts: tuple[str, ...]
    users: list[str]


def _find_parts(
    engine: Engine,
    field: str,
    pipeline_bodies: Mapping[str, Any],
    templates: Mapping[str, Any],
    *,
    pipelines: Mapping[str, bool],
    all_names: set[str],
) -> Iterator[_Part]:
    """Yield the parts that may be deleted, with the users that are not in `all_names`.

    `templates` are the index templates after the removal. `pipelines` maps the name of each pipeline of simdoc-search
    to True if only settings and other pipelines use it. Otherwise, programs may also name it in their requests.
    """
    others = [each for each in describe_indices(engine, "*", field) if each.name not in all_names]
    filled = [
        f"the index {each.name}"
        for each in others
        if each.subfields and not each.is_closed and engine.count(each.name, fingerprint_query(field))
    ]
    for name, has_only_listed_users in sorted(pipelines.items()):
        users = [f"the index {each.name}" for each in others if name in _pipelines_of(each.index_settings)]
        users += [
            f"the index template {key}"
            for key, body in templates.items()
            if name in _pipelines_of(_index_settings(body))
        ]
        users += [f"the pipeline {key}" for key, body in pipeline_bodies.items() if name in _called_pipelines(body)]
        yield _Part("pipeline", ("_ingest", "pipeline", name), users or filled * (not has_only_listed_users))
    similar = engine.call("GET", ["_scripts", "simdoc-similar"], allowed_statuses=(404,))
    is_of_other_field = similar and insert_default_field(field) not in similar["script"]["source"]
    search_users = ["another fingerprint field"] if is_of_other_field else filled
    for name in build_search_templates(field):
        yield _Part("search template", ("_scripts", name), search_users)
    composed = [f"the index template {key}" for key, body in templates.items() if field in body.get("composed_of", ())]
    yield _Part("component template", ("_component_template", field), composed or filled)
    if any(each.name == DEFAULT_WATCHES_INDEX for each in others):
        own = [{"terms": {f"{WATCHED_FIELD}.{key}": sorted(all_names)}} for key in ("index", "alias")]
        count = engine.count(DEFAULT_WATCHES_INDEX, {"bool": {"must_not": own}})
        users = [format_count(count, "watch of another index", "watches of other indices")] if count else []
        yield _Part("index of watches", (DEFAULT_WATCHES_INDEX,), users)


def _plan_deletions(plan: RemovalPlan, parts: Iterable[_Part], advice: str) -> None:
    """Add the steps that delete the existing parts that nothing else uses, and warnings about those that are kept.

    A warning ends with `advice` if an index uses the parts.
    """
    kept: dict[str, dict[str, list[str]]] = {}
    for part in parts:
        if plan.engine.call("GET", part.path_parts, allowed_statuses=(404,)) is None:
            continue
        name = part.path_parts[-1]
        if part.users:
            users = shorten_list(part.users, if_empty="")
            kept.setdefault(users, {}).setdefault(part.kind, []).append(name)
        else:
            plan.deletions.append(Step("deletion", part.path_parts, None, f"delete the {part.kind} {name}"))
    for users, names_by_kind in kept.items():
        parts_kept = ", ".join(
            f"{kind}{'s' * (len(names) > 1)} {', '.join(names)}" for kind, names in names_by_kind.items()
        )
        plan.warnings.append(
            f"kept {parts_kept}: still used by {users}{advice if users.startswith('the index ') else ''}"
        )


def _plan_marks(plan: RemovalPlan, pipeline_bodies: Mapping[str, Any]) -> None:
    """Add the steps that mark the pipelines to delete."""
    names = [step.path_parts[-1] for step in plan.deletions if step.path_parts[:2] == ("_ingest", "pipeline")]
    for name in names:
        if not is_marked_for_deletion(pipeline_bodies[name]):
            body = remove_dates(pipeline_bodies[name]) | DELETION_MARK
            plan.marks.append(Step("deletion", ("_ingest", "pipeline", name), body, f"mark the pipeline {name}"))


def _only_computes_fingerprints(body: Mapping[str, Any], field: str) -> bool:
    """Return whether a pipeline only computes the fingerprints of this field."""
    found = [fingerprint_parameters(processor) for processor in body.get("processors", ())]
    return bool(found) and all(parameters is not None and parameters["into"] == field for parameters in found)


def _called_pipelines(body: Mapping[str, Any]) -> set[str]:
    return {processor.get("pipeline", {}).get("name", "") for processor in body.get("processors", ())}


def _index_settings(template: Mapping[str, Any]) -> Mapping[str, Any]:
    return (template.get("template", {}).get("settings") or {}).get("index") or {}


def _pipelines_of(index_settings: Mapping[str, Any]) -> set[str]:
    return {str(index_settings[key]) for key in PIPELINE_SETTINGS if key in index_settings}


def _remove_parts(template: Mapping[str, Any], field: str, pipelines: set[str]) -> dict[str, Any]:
    """Return an index template without the component template, the field and the pipelines."""
    body = deepcopy(remove_dates(template))
    if field in body.get("composed_of", ()):
        body["composed_of"].remove(field)
    _delete_path(body, ("template", "mappings", "properties", field))
    for key in PIPELINE_SETTINGS:
        if _index_settings(body).get(key) in pipelines:
            _delete_path(body, ("template", "settings", "index", key))
    return body


def _delete_path(body: dict[str, Any], path: Sequence[str]) -> None:
    """Delete a nested value if it exists, and the objects that become empty by it."""
    key, *rest = path
    if rest and body.get(key):
        _delete_path(body[key], rest)
        if body[key]:
            return
    elif rest:
        return
    body.pop(key, None)
