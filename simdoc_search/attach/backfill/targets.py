"""Is each index behind a name fit for our field, and which of its documents is a round about?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any

from simdoc_search.attach.backfill.indices import indices_behind
from simdoc_search.attach.backfill.task import SkippedIndex, Task, UnfitIndexError
from simdoc_search.attach.backfill.text_fields import check_text_fields_noted, noted_by_others
from simdoc_search.concepts import Extractor
from simdoc_search.errors import FormatMismatchError, StoreNotFoundError
from simdoc_search.sketch.key import key_from
from simdoc_search.sketch.kinds import KINDS
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.fingerprint_value import fingerprint_in, is_ours
from simdoc_search.stores.remote.mapping_check import find_faults
from simdoc_search.stores.remote.mappings import add_fields, fields_of, list_some, mapping_at
from simdoc_search.stores.remote.queries import in_random_order
from simdoc_search.stores.remote.schema import MARK_FIELDS, component_template, format_label, labels_of, settings_of
from simdoc_search.stores.remote.texts import has_text, record_text_fields, text_paths, text_query, why_not_text
from simdoc_search.stores.sketching import check_can_sketch, extractor_for

UNTOLD = (400, 401, 403, 404, 405, 410)
"""What engines answer that have no such request, or do not let us."""

_LOOKED_AT = 100
"""Documents that are read to see what they have where the mapping does not say."""


@dataclass(frozen=True, slots=True)
class Target:
    """A concrete index that is fit.

    Attributes:
        index: its name; behind a data stream, that of a backing index.
        uuid: tells it from another one that gets its name.
        shards: how many primary shards it has.
        replicas: how many copies each of them has.
        settings: how its fingerprints are made.
        missing: the mapping of what our field lacks.
        chosen: the query of the alias, or aliases, by which it was named.
        extractor: what finds the concepts of its documents, if they are to have some.
        noted: what of its mapping is there, and gets a note of the fields of the text.
        has_text: the query of documents that have a text; None: no query of this index tells them.
        ours: the mapping of what is below our field, once it is there.
        note: that it gets fingerprints of other text fields than it had, or than the others behind the name.
    """

    index: str
    uuid: str
    shards: int
    replicas: int
    settings: Settings
    missing: dict[str, Any]
    chosen: list[dict[str, Any]]
    extractor: Extractor | None = None
    noted: dict[str, Any] = field(default_factory=dict)
    has_text: dict[str, Any] | None = None
    ours: dict[str, Any] = field(default_factory=dict)
    note: str = ""

    @property
    def labels(self) -> list[str]:
        """What stands in the `format` of its documents: that which they get, and what is as good."""
        return labels_of(self.settings)


def find_targets(engine: Engine, name: str, task: Task) -> tuple[list[Target], list[SkippedIndex]]:
    """The indices behind the name of an index, an alias or a data stream, and those that are not fit.

    An index without our field gets the settings of the others behind the name, or the usual ones.

    Raises:
        StoreNotFoundError: there is none.
        StoreError: the engine does not tell.
    """
    found, skipped = indices_behind(engine, name)
    if not found and not skipped:
        raise StoreNotFoundError(f"{engine.name} has no index {name}; make it first")
    usual = Settings().with_key(key_from())
    settings = next(filter(None, (_settings(each, task.field) for each in found.values())), usual)
    of_others = noted_by_others(engine, found, task.field)
    targets = []
    for index, each in sorted(found.items()):
        try:
            _check_fit(engine, index, each, task)
            note = check_text_fields_noted(index, each["mappings"], task, of_others)
            target = _target(index, each, name, task, settings)
            there = text_query(engine, index, each["mappings"], task.text_fields, target.chosen)
            targets.append(replace(target, has_text=None if task.full else there, note=note))
        except (UnfitIndexError, FormatMismatchError) as error:
            skipped.append(SkippedIndex(index, str(error)))
    return targets, skipped


def add_mapping(engine: Engine, target: Target, field: str) -> None:
    """Give an index what our field lacks; no other field is touched.

    Raises:
        UnfitIndexError: the engine does not take it.
        StoreError: it does not answer.
    """
    if target.noted:  # a help for readers alone, so whoever may not write it does not
        add_fields(engine, target.index, field, target.noted)
    if reason := add_fields(engine, target.index, field, target.missing):
        raise UnfitIndexError(reason)


def _target(index: str, found: Mapping[str, Any], name: str, task: Task, usual: Settings) -> Target:
    there = _settings(found, task.field)
    settings = _wanted_settings(there, usual, task)
    extractor = extractor_for(settings, task.extractor)
    check_can_sketch(settings, extractor, "it")
    wanted = component_template(settings, task.field)["template"]["mappings"]["properties"][task.field]["properties"]
    ours = fields_of(found["mappings"], task.field)
    wanted["text_hash"] = record_text_fields(ours.get("text_hash", wanted["text_hash"]), task.text_fields)
    is_noted = wanted["text_hash"] == ours.get("text_hash", wanted["text_hash"])
    later = MARK_FIELDS if there else ()  # which an index gets when it is marked, as its fields may be numbered
    missing = {name: each for name, each in wanted.items() if name not in ours and name not in later}
    if there and settings != there:
        missing["tokens"] = wanted["tokens"]  # its meta says which kinds of tokens there are now
    below = found["settings"]["index"]
    return Target(
        index,
        below["uuid"],
        int(below["number_of_shards"]),
        int(below.get("number_of_replicas", 0)),
        settings.unlocked(key_from(), index),
        missing,
        chosen_by(index, found, name.split(",")),
        extractor,
        {} if is_noted else {"text_hash": wanted["text_hash"]},
        ours={**wanted, **ours},
    )


def _wanted_settings(there: Settings | None, usual: Settings, task: Task) -> Settings:
    """The settings that the field of an index is to have.

    Args:
        there: those that it has; None: it has no fingerprints.
        usual: those of a new field.
        task: what is to be done.

    Raises:
        UnfitIndexError: it has other settings already.
    """
    wanted = task.change(there or usual) if task.change else there or usual
    if there is None or there == wanted:
        return wanted
    added: dict[str, Any] = {name: None for name in KINDS if getattr(there, name) is None}
    if there != replace(wanted, **added):
        has, asked = format_label(there), format_label(wanted)
        how = "name a new field with --field, or leave out the options for settings"
        raise UnfitIndexError(f"its field {task.field} has the settings {has!r}, not {asked!r}; {how}")
    return wanted


def _settings(found: Mapping[str, Any], field: str) -> Settings | None:
    """The settings that an index says; None if it has no fingerprints, or wrong ones."""
    tokens = fields_of(found["mappings"], field).get("tokens")
    try:
        return None if tokens is None else settings_of(tokens.get("meta", {}))
    except FormatMismatchError:
        return None


def chosen_by(index: str, found: Mapping[str, Any], names: list[str]) -> list[dict[str, Any]]:
    """What the aliases let through by which an index was named; nothing to choose by if it was named otherwise."""

    def is_named(name: str) -> bool:
        return any(fnmatchcase(name, each) for each in names)

    if is_named(index) or is_named(found.get("data_stream", "")):
        return []
    filters = [alias.get("filter") for name, alias in found.get("aliases", {}).items() if is_named(name)]
    return [{"bool": {"should": filters, "minimum_should_match": 1}}] if filters and all(filters) else []


def maximum(engine: Engine, index: str, field: str, query: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The greatest value of a field in the documents that a query finds, all without one, as an engine says it."""
    body = {"size": 0, "query": query or {"match_all": {}}, "aggs": {"greatest": {"max": {"field": field}}}}
    return dict(engine.search(index, body)["aggregations"]["greatest"])


# --- what makes one unfit ---


def _check_fit(engine: Engine, index: str, found: Mapping[str, Any], task: Task) -> None:
    """See whether an index, as the engine describes it, is fit for a task.

    Raises:
        UnfitIndexError: it is not; the first reason why.
        StoreError: the engine does not answer.
    """
    mappings = found["mappings"]
    faults = (
        each.problem for each in find_faults(mappings, found["settings"]["index"], task.field) if each.blocks_writes
    )
    if reason := next(faults, None):
        raise UnfitIndexError(reason)
    ours = fields_of(mappings, task.field)
    if "facts" in ours:
        raise UnfitIndexError("it was made by simdoc-search index; use that to bring it up to date")
    if reason := next(filter(None, (why_not_text(mappings, each) for each in task.text_fields)), None):
        raise UnfitIndexError(reason)
    if "tokens" not in ours or any(mapping_at(mappings, each) is None for each in task.text_fields):
        _look_at_documents(engine, index, mappings, task)


def _look_at_documents(engine: Engine, index: str, mappings: Mapping[str, Any], task: Task) -> None:
    """Where the mapping does not say it: a misspelt field must not mark all as empty, and our name must be free.

    Raises:
        UnfitIndexError: no document has the text, or one has something else where our field is to be.
    """
    body = {"size": _LOOKED_AT, "_source": [*task.text_fields, task.field], "query": in_random_order({"match_all": {}})}
    sources = [hit.get("_source", {}) for hit in engine.search(index, body)["hits"]["hits"]]
    for text_field in task.text_fields if sources else ():
        if mapping_at(mappings, text_field) is None and not any(has_text(each, text_field) for each in sources):
            others = {name: each for name, each in mappings.get("properties", {}).items() if name != task.field}
            has = list_some(text_paths(others))
            raise UnfitIndexError(f"no field {text_field} is in its mapping or its documents; it has {has}")
    if not all(is_ours(fingerprint_in(each, task.field)) for each in sources):
        raise UnfitIndexError(f"its documents have something else in {task.field}; choose another name with --field")
