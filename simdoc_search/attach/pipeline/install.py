"""The pipeline put into an engine, and an index told to use it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from simdoc_search.attach.actions import fingerprint_field
from simdoc_search.attach.backfill.targets import UNTOLD, Target, add_mapping, find_targets
from simdoc_search.attach.backfill.task import Task
from simdoc_search.attach.pipeline.body import pipeline_body
from simdoc_search.attach.templates import on_an_engine, put_once
from simdoc_search.errors import StoreError
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.index_body import FIELD
from simdoc_search.stores.remote.texts import names_of_fields

__all__ = [
    "NONE",
    "PIPELINE",
    "final_pipeline",
    "install_pipeline",
    "put_pipeline",
    "read_pipeline",
    "settings_of_index",
    "use_pipeline",
]

PIPELINE = "simdoc"
"""The usual name of the pipeline."""

NONE = "_none"
"""What engines call no pipeline."""

_PROBE = "Straße ΟΔΟΣ ﬁne 漢字 カタカナ ภาษาไทย हिन्दी e\u0301\u0323 שָׁלוֹם 👩\u200d❤\ufe0f\u200d👩 𐐀 3.14 ﷺ \U0001e2ec"
"""Words of all kinds, some of letters that Unicode has only since its version 12."""


def install_pipeline(
    engine: Engine,
    text_field: str | Sequence[str] = "body",
    into: str = FIELD,
    *,
    settings: Settings | None = None,
    name: str = PIPELINE,
    force: bool = False,
    note: str = "",
) -> bool:
    """Put the pipeline into an engine, and see whether it makes our very fingerprints.

    Args:
        engine: where.
        text_field: where the text is, see `pipeline_body`.
        into: the object field to fill.
        settings: how to fingerprint; None: the defaults.
        name: what it is called there; one pipeline is for one choice of text fields and settings.
        force: replace another one of this name.
        note: what its description begins with.

    Returns:
        Whether it was not there already.

    Raises:
        StoreError: another one of this name is there and may not be replaced, or the engine cannot make such
            fingerprints, or makes others.
        StoreUnavailableError: the engine does not answer.
        RequestError: it refuses, as where scripts are not allowed.
    """
    body = pipeline_body(settings, text_field, into)
    body["description"] = note + body["description"]
    with on_an_engine(engine, "pipeline", "simdoc-search template install"):
        _check_equal(engine, settings or Settings())
        return put_pipeline(engine, name, body, force=force)


def put_pipeline(engine: Engine, name: str, body: dict[str, Any], *, force: bool = False) -> bool:
    """Put any pipeline into an engine; whether it was not there already.

    Raises:
        StoreError: another one of this name is there, and may not be replaced.
    """
    there = read_pipeline(engine, name)
    return put_once(engine, ["_ingest", "pipeline", name], body, there, f"pipeline {name}", force=force)


def read_pipeline(engine: Engine, name: str) -> dict[str, Any] | None:
    """The body of a pipeline; None: there is none of this name."""
    found: dict[str, Any] = engine.call("GET", ["_ingest", "pipeline", name], allow=(404,)) or {}
    return found.get(name)


def use_pipeline(
    engine: Engine,
    index: str,
    text_field: str | Sequence[str] = "body",
    into: str = FIELD,
    *,
    name: str = PIPELINE,
    force: bool = False,
) -> list[str]:
    """Make an index, or all behind an alias, run an installed pipeline on every write, and give it our mapping.

    It is the final pipeline, as that runs on partial updates too, on the whole document. From then on the engine
    refuses each write to the index while the pipeline is missing: unset `index.final_pipeline` before it is deleted.
    With `force` another final pipeline of the index is replaced.

    Returns:
        The indices.

    Raises:
        StoreNotFoundError: there is no such index.
        StoreError: one of them cannot have our field, has another final pipeline, or no node runs pipelines.
        StoreUnavailableError: the engine does not answer.
    """
    targets = _targets(engine, index, text_field, into)
    nodes = engine.call("GET", ["_nodes", "ingest:true", "_none"], allow=UNTOLD)
    if nodes is not None and "nodes" in nodes and not nodes["nodes"]:
        raise StoreError(f"no node of {engine.name} has the role ingest, so each write would fail; give one that role")
    for each in targets:
        there = final_pipeline(engine, each.index)
        if there not in (NONE, name) and not force:
            how = f'add the processor {{"pipeline": {{"name": "{name}"}}}} to that, or replace it with --force'
            raise StoreError(f"the index {each.index} has the final pipeline {there} already; {how}")
    for each in targets:
        add_mapping(engine, each, into)
        engine.call("PUT", [each.index, "_settings"], {"index.final_pipeline": name})
    return [each.index for each in targets]


def final_pipeline(engine: Engine, index: str) -> str:
    """The final pipeline of a concrete index; `_none` if it has none."""
    found = engine.call("GET", [index, "_settings"], flat_settings=True)
    return str(found.get(index, {}).get("settings", {}).get("index.final_pipeline", NONE))


def settings_of_index(
    engine: Engine, index: str, text_field: str | Sequence[str] = "body", into: str = FIELD
) -> Settings:
    """How the fingerprints of an index are made, or are to be made: those that a pipeline for it must have.

    Raises:
        StoreNotFoundError: there is no such index.
        StoreError: it cannot have our field, or indices behind an alias have different settings.
    """
    found = [each.settings for each in _targets(engine, index, text_field, into)]
    if any(each != found[0] for each in found):
        raise StoreError(f"the indices behind {index} have different settings; name them one by one, with --name")
    return found[0]


def _targets(engine: Engine, index: str, text_field: str | Sequence[str], into: str) -> list[Target]:
    targets, skipped = find_targets(engine, index, Task(names_of_fields(text_field), field=into))
    if skipped:
        raise StoreError(f"the index {skipped[0].index} cannot have fingerprints: {skipped[0].reason}")
    return targets


def _check_equal(engine: Engine, settings: Settings) -> None:
    """See whether the engine makes our fingerprints: its Java may be older than the letters."""
    asked = {"pipeline": pipeline_body(settings), "docs": [{"_source": {"body": _PROBE}}]}
    answer = engine.call("POST", ["_ingest", "pipeline", "_simulate"], asked)
    try:
        found = answer["docs"][0]
        made = found.get("doc", {}).get("_source", {}).get(FIELD) or {}
        problem = made.get("error") or found.get("error", {}).get("reason") or "other tokens"
    except (AttributeError, IndexError, KeyError, TypeError):
        raise StoreError(f"what answers at {engine.name} runs no pipelines; check the address") from None
    if made != fingerprint_field(_PROBE, settings):
        raise StoreError(f"{engine.name} does not make our fingerprints ({problem}); use simdoc-search backfill")
