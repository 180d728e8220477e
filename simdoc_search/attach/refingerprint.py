"""Other settings for the fingerprints of an index that is in use: another field beside the first, then instead of it.

    begun     the index gets a second field, `simdoc_2` beside `simdoc`, with the new settings in its mapping
    filled    each document gets it by a backfill; until then, and while it goes on, all queries ask the first field
    switched  the mapping's `_meta` names the field that queries ask: stores that are opened from then on do
    removed   the first field leaves the documents

Each step may be taken again, and a run that broke off is completed by another one. What the application changes until
the switch is done gets the new field from the same backfill, which reads all once more before it, and after it what has
changed since. What is written later needs it from who writes; where a pipeline of the engine fills the first field, it
fills both from the beginning, and in the end the new one alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any

from simdoc_search.attach.backfill import Backfill, BackfillReport, Progress, Task
from simdoc_search.attach.backfill.targets import add_mapping, find_targets
from simdoc_search.attach.backfill.task import UnfitIndexError
from simdoc_search.attach.pipeline.field_switch import fill_alone, fill_beside
from simdoc_search.attach.pipeline.unused_pipelines import remove_unused
from simdoc_search.attach.update_by_query import update_by_query
from simdoc_search.errors import FormatMismatchError, StoreError, StoreNotFoundError
from simdoc_search.sketch.key import key_from
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.active_field import field_in_use, use_field
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.mappings import fields_of, mappings_of
from simdoc_search.stores.remote.schema import settings_of
from simdoc_search.stores.remote.shared_settings import common_settings, is_own
from simdoc_search.stores.remote.texts import require_text_fields
from simdoc_search.stores.remote.watches import WATCHES, Watch, Watches

_ROUNDS = 10
"""How often documents that still have the old field are looked for, as others write meanwhile."""


@dataclass(frozen=True, slots=True)
class Change:
    """Other settings for an index, or for all behind an alias.

    Attributes:
        index: its name.
        old: the field that queries ask before.
        new: the field that they ask afterwards.
        settings: those of the new one.
        text_fields: where the text is.
        taken: names that would come before `new`, and are those of other fields.
    """

    index: str
    old: str
    new: str
    settings: Settings
    text_fields: tuple[str, ...]
    taken: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Removed:
    """What was removed with the fields that nobody asks any more.

    Attributes:
        documents: for each such field how many documents had it.
        pipelines: those that filled it beside the one in use, and that a change of settings had made.
        idle: those that somebody else made, and that nothing uses any more.
    """

    documents: dict[str, int]
    pipelines: list[str]
    idle: list[str]


def change_of(
    engine: Engine, index: str, changed: Callable[[Settings], Settings], text_fields: tuple[str, ...] = ()
) -> Change:
    """What is to be done for other settings; a change to them that was begun before goes on.

    Args:
        engine: where the index is.
        index: the name of an index or an alias.
        changed: from the settings of the index to those that it is to have.
        text_fields: where the text is; empty: as `backfill` noted it.

    Raises:
        StoreNotFoundError: there is no such index.
        StoreError: the settings are the same, the index was made by `simdoc-search index`, or nobody knows where the
            text is.
    """
    mappings = _mappings(engine, index)
    location = f"{engine.name}/{index}"
    old = field_in_use(mappings, location)
    settings = common_settings(mappings, old, location).unlocked(key_from(), location)
    if is_own(mappings, old):
        raise StoreError(f"{location} was made by simdoc-search index; index again into another one with these options")
    wanted = changed(settings)
    if wanted == settings:
        raise StoreError(f"{location} has these settings already, in its field {old}; there is nothing to change")
    known = text_fields or require_text_fields(mappings.values(), old, location)
    new = _new_field(mappings, old, wanted)
    names = {name for each in mappings.values() for name in each.get("properties", {})} - {old, new}
    before = [f"{_base(old)}_{number}" for number in range(2, _number(new))]
    return Change(index, old, new, wanted, known, tuple(name for name in before if name in names))


def fill(
    engine: Engine, change: Change, *, throttle: float | None = None, progress: Progress | None = None
) -> BackfillReport:
    """Give each document the new field too, or anew where its text is another one since.

    If the engine fills the old field by a pipeline of the index, it fills both from now on.

    Raises:
        StoreError: as `Backfill.run`; or the engine has such a pipeline, and cannot make these fingerprints.
    """
    return _filling(engine, change, throttle, progress).run()


def switch(
    engine: Engine, change: Change, *, throttle: float | None = None, progress: Progress | None = None
) -> BackfillReport:
    """Let queries ask the new field, of which also that is right that was changed while it was filled, or is just now.

    Raises:
        StoreError: as `Backfill.run`; or an index is gone.
    """
    filling = _filling(engine, change, throttle, progress)
    filling.run()
    for index in _mappings(engine, change.index):
        use_field(engine, index, change.new)
    return filling.catch_up()


def _filling(engine: Engine, change: Change, throttle: float | None, progress: Progress | None) -> Backfill:
    """The backfill of the new field. Its mapping comes first, so that no write with it is refused, and none guessed."""
    task = Task(change.text_fields, change.new, stale=True, throttle=throttle, settings=change.settings)
    targets, _ = find_targets(engine, change.index, task)
    with suppress(UnfitIndexError):  # which the backfill finds and names, as those that are no target
        for each in targets:
            add_mapping(engine, each, change.new)
        for each in targets:
            fields = (change.old, change.new)
            fill_beside(engine, each.index, fields, change.text_fields, change.settings)
    return Backfill(engine, change.index, task, progress)


def watched_before(engine: Engine, change: Change) -> list[Watch]:
    """The watches in the usual index for documents of this one that are of other settings than the new ones, by id.

    Each has the tokens of a text that may be another one since, so nobody but who set it can set it anew.

    Raises:
        StoreError: the engine does not tell.
    """
    names = {change.index, *_mappings(engine, change.index)}
    of_each = (Watches(engine, WATCHES, name, change.new, change.settings).all() for name in names)
    found = {each.place: each for watches in of_each for each in watches if each.outdated}
    return sorted(found.values(), key=lambda each: (each.place.id, each.place.index or ""))


def remove_others(
    engine: Engine, index: str, *, throttle: float | None = None, progress: Callable[[int], None] = lambda _: None
) -> Removed:
    """Remove from all documents the fields of earlier or other settings than those that queries ask.

    The mapping keeps their names, as no engine forgets a field; they cost nothing there.

    Raises:
        StoreNotFoundError: there is no such index.
        StoreError: as `update_by_query`; the engine runs no scripts; documents get the field again and again; or a
            pipeline that fills it does other things too.
    """
    engine = engine.in_background()
    mappings = _mappings(engine, index)
    used = field_in_use(mappings, f"{engine.name}/{index}")
    others = {name: _family(mapping, used) - {used} for name, mapping in mappings.items()}
    if any(others.values()):
        engine.require_scripts("update", "leave the other fields there, which costs only space")
    left = {each for name in mappings for each in fill_alone(engine, name, used, others[name])}
    pipelines, idle = remove_unused(engine, left)
    removed: dict[str, int] = {}
    for name in mappings:
        use_field(engine, name, used, alone=True)  # before, so that nobody comes to ask for what is going
        for field in sorted(others[name]):
            count = _removed(engine, name, field, throttle, partial(_further, progress, sum(removed.values())))
            removed[field] = removed.get(field, 0) + count
    return Removed(removed, pipelines, idle)


def removing_script(field: str) -> str:
    """What removes a field from a document, also where its keys are written with dots; in Painless."""
    return f"ctx._source.remove('{field}'); ctx._source.keySet().removeIf(key -> key.startsWith('{field}.'))"


def _removed(engine: Engine, index: str, field: str, throttle: float | None, progress: Callable[[int], None]) -> int:
    query = {"bool": {"should": [{"exists": {"field": f"{field}.{part}"}} for part in ("tokens", "format")]}}
    total = 0
    for _ in range(_ROUNDS):
        engine.refresh(index, allow=(403,))
        done = update_by_query(
            engine, index, query, script=removing_script(field), throttle=throttle, progress=progress
        )
        total += done.updated
        if done.failures:
            id, reason = next(iter(done.failures.items()))
            raise StoreError(f"the document {id!r} of {index} cannot be written ({reason}); mend it, and run it again")
        if not done.updated and not done.conflicts:
            return total
    raise StoreError(f"documents of {index} get {field} again and again; let their writers leave it out first")


def _further(progress: Callable[[int], None], before: int, written: int) -> None:
    progress(before + written)


def _mappings(engine: Engine, index: str) -> dict[str, dict[str, Any]]:
    mappings = mappings_of(engine, index)
    if mappings is None:
        raise StoreNotFoundError(f"{engine.name} has no index {index}; make it first")
    return mappings


def _new_field(mappings: Mapping[str, Mapping[str, Any]], old: str, wanted: Settings) -> str:
    """The field of a change that was begun, or a name that no index has."""
    others = sorted({field for each in mappings.values() for field in _family(each, old)} - {old})
    for field in others:
        tokens = [fields_of(each, field)["tokens"] for each in mappings.values() if field in _family(each, old)]
        if all(_says(each, wanted) for each in tokens):
            return field
    base, taken = _base(old), {name for each in mappings.values() for name in each.get("properties", {})}
    return next(name for number in count(2) if (name := f"{base}_{number}") not in taken)


def _says(tokens: Mapping[str, Any], settings: Settings) -> bool:
    """Whether a mapping of tokens has these settings."""
    with suppress(FormatMismatchError):
        return bool(settings_of(tokens.get("meta", {})) == settings)
    return False


def _family(mapping: Mapping[str, Any], field: str) -> set[str]:
    """The fields of fingerprints that have the same name up to a number."""
    like = re.compile(rf"{re.escape(_base(field))}(_\d+)?")
    names = (name for name in mapping.get("properties", {}) if like.fullmatch(name))
    return {name for name in names if "tokens" in fields_of(mapping, name)}


def _number(field: str) -> int:
    found = re.search(r"_(\d+)$", field)
    return int(found[1]) if found else 1


def _base(field: str) -> str:
    return re.sub(r"_\d+$", "", field)
