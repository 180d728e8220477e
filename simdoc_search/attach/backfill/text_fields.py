"""Of which text fields are the fingerprints of an index, and of those beside it? Others are taken by `force` alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from simdoc_search.attach.backfill.task import Task, UnfitIndexError
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.mappings import mapping_at
from simdoc_search.stores.remote.texts import recorded_text_fields

_UNTOLD = (400, 403, 404)


def noted_by_others(engine: Engine, found: Mapping[str, Any], field: str) -> list[str]:
    """The text fields that are noted in some indices, or in those beside them: behind one alias, or a data stream.

    Args:
        engine: where they are.
        found: the indices, as the engine describes them.
        field: the object field of the fingerprints.

    Returns:
        None where no index notes any, or where they differ.

    Raises:
        StoreError: the engine does not answer.
    """
    mappings = {index: each["mappings"] for index, each in found.items()}
    if not all(recorded_text_fields([each], field) for each in mappings.values()):
        above = {name for each in found.values() for name in each.get("aliases", {})}
        above |= {str(each["data_stream"]) for each in found.values() if each.get("data_stream")}
        for name in sorted(above):
            beside = engine.call("GET", [name, "_mapping"], allow=_UNTOLD) or {}
            mappings |= {index: each["mappings"] for index, each in beside.items()}
    return recorded_text_fields(mappings.values(), field)


def check_text_fields_noted(index: str, mappings: Mapping[str, Any], task: Task, of_others: Sequence[str]) -> str:
    """See whether an index has fingerprints of the text fields of a task, or the others beside it have.

    Args:
        index: its name.
        mappings: those of the index.
        task: what is to be done.
        of_others: what the others note. If the index has no such fields, they say nothing of it.

    Returns:
        What `force` does, a sentence; empty: there is nothing to force.

    Raises:
        UnfitIndexError: there are others, and `force` was not asked for.
    """
    own, asked = recorded_text_fields([mappings], task.field), " and ".join(task.text_fields)
    has_these = all(mapping_at(mappings, each) is not None for each in of_others)
    noted = own or (of_others if has_these else [])
    if not noted or [*noted] == task.text_fields:
        return ""
    there, same = " and ".join(noted), " ".join(f"--text-field {each}" for each in noted)
    if not task.force and own:
        how = f"give {same}, or --force --stale to make all of them anew of {asked}"
        raise UnfitIndexError(f"its fingerprints are of {there}; {how}")
    if not task.force:
        how = f"give {same}, or --force to take {asked} here"
        raise UnfitIndexError(f"the other indices behind its alias have fingerprints of {there}; {how}")
    if own and task.stale:
        return f"all fingerprints of {index} are made anew of {asked}, no longer of {there}"
    if own:
        kept = f"those of {there} are kept, and --stale makes them anew"
        return f"new fingerprints of {index} are of {asked}; {kept}"
    return f"fingerprints of {index} are of {asked}, those of the other indices of {there}"
