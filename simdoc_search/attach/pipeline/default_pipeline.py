"""Indices told to run the pipeline on every write."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from simdoc_search.attach.backfill.targets import UNTOLD, Target, find_targets
from simdoc_search.attach.backfill.task import Task
from simdoc_search.attach.steps import Step
from simdoc_search.errors import StoreError
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.errors import RequestError
from simdoc_search.stores.remote.mappings import fields_of, mappings_of
from simdoc_search.stores.remote.texts import recorded_text_fields, text_field_names

NONE = "_none"
"""What engines call no pipeline."""


def mapping_steps(targets: Iterable[Target], field: str) -> list[Step]:
    """What gives indices the mapping of our field, and the note of their text fields, where they lack it."""
    lacking = {each.index: each.missing | each.noted for each in targets if each.missing or each.noted}
    return [
        Step(
            (index, "_mapping"),
            {"properties": {field: {"dynamic": "false", "properties": properties}}},
            f"{'add' if 'tokens' in properties else 'complete'} the field {field} in the mapping of {index}",
            refused=partial(_not_mapped, index, field),
        )
        for index, properties in lacking.items()
    ]


def _not_mapped(index: str, field: str, error: RequestError) -> str | None:
    if error.status not in (400, 403, 500):  # 500: an object that was disabled
        return None
    return f"the index {index} does not take the mapping of {field} ({error})"


def use_steps(engine: Engine, targets: Iterable[Target], field: str, *, name: str, force: bool) -> list[Step]:
    """What makes indices run a pipeline on every write, once they have the mapping of our field.

    It is the final pipeline, as that runs on partial updates too, on the whole document. From then on the engine
    refuses each write to the index while the pipeline is missing: unset `index.final_pipeline` before it is deleted.

    Raises:
        StoreError: one has another final pipeline, or no node runs pipelines.
    """
    check_can_ingest(engine)
    steps = []
    for each in targets:
        there = final_pipeline(engine, each.index)
        check_final_pipeline(f"index {each.index}", there, name, force=force)
        if there != name:
            change = f"set index.final_pipeline of {each.index} to {name}"
            undo = f"set it to {there}"
            body, check = {"index.final_pipeline": name}, partial(_check_mapped, index=each.index, field=field)
            steps.append(Step((each.index, "_settings"), body, change, undo, check=check))
    return steps


def check_can_ingest(engine: Engine) -> None:
    """See whether the engine has a node that runs pipelines.

    Raises:
        StoreError: it has none.
    """
    nodes = engine.call("GET", ["_nodes", "ingest:true", "_none"], allow=UNTOLD)
    if nodes is not None and "nodes" in nodes and not nodes["nodes"]:
        raise StoreError(f"no node of {engine.name} has the role ingest, so each write would fail; give one that role")


def check_final_pipeline(owner: str, there: str, name: str, *, force: bool) -> None:
    """See whether an index or index template may get a final pipeline.

    Raises:
        StoreError: it has another one.
    """
    if there not in (NONE, name) and not force:
        how = f'add the processor {{"pipeline": {{"name": "{name}"}}}} to that, or replace it with --force'
        raise StoreError(f"the {owner} has the final pipeline {there} already; {how}")


def _check_mapped(engine: Engine, index: str, field: str) -> None:
    """See whether an index has our field: with `dynamic: strict` it would refuse each write of the pipeline.

    Raises:
        StoreError: it has not.
    """
    if "tokens" not in fields_of((mappings_of(engine, index) or {}).get(index, {}), field):
        how = "the pipeline would fill fields that are not mapped; put the mapping of template show first"
        raise StoreError(f"the index {index} has no field {field}.tokens, so {how}")


def final_pipeline(engine: Engine, index: str) -> str:
    """The final pipeline of a concrete index; `_none` if it has none."""
    found = engine.call("GET", [index, "_settings"], flat_settings=True)
    return str(found.get(index, {}).get("settings", {}).get("index.final_pipeline", NONE))


def common_settings_of(targets: Sequence[Target], index: str) -> Settings:
    """How the fingerprints of the indices behind a name are made.

    Raises:
        StoreError: they have different settings.
    """
    found = [each.settings for each in targets]
    if any(each != found[0] for each in found):
        raise StoreError(f"the indices behind {index} have different settings; name them one by one, with --name")
    return found[0]


def targets_of(
    engine: Engine, index: str, text_field: str | Sequence[str], field: str, *, force: bool = False
) -> list[Target]:
    """The indices behind a name, all of them fit for a pipeline of these text fields.

    Args:
        engine: where they are.
        index: the name of an index, an alias or a data stream.
        text_field: where the text is.
        field: the object field to fill.
        force: also where fingerprints of other text fields are noted.

    Raises:
        StoreNotFoundError: there is none.
        StoreError: one of them cannot have fingerprints.
    """
    names = text_field_names(text_field)
    targets, skipped = find_targets(engine, index, Task(names, field=field, force=True))
    if skipped:
        raise StoreError(f"the index {skipped[0].index} cannot have fingerprints: {skipped[0].reason}")
    other = next((each for each in targets if each.note), None)
    if other and not force:
        mappings = mappings_of(engine, index) or {}
        own = recorded_text_fields([mappings.get(other.index, {})], field)
        noted = own or recorded_text_fields(mappings.values(), field)
        same = " ".join(f"--text-field {name}" for name in noted) or "their --text-field"
        how = f"give {same}, or replace it with --force and run simdoc-search backfill --force --stale"
        whose = f"of {other.index}" if own else f"beside {other.index}"
        raise StoreError(f"the fingerprints {whose} are of {' and '.join(noted) or 'other text fields'}; {how}")
    return targets
