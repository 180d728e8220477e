"""Which indices stand behind a name, and is each fit for our field?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from simdoc_search.backfill.fitness import blocked, check_fit
from simdoc_search.backfill.task import SkippedIndex, Task, UnfitIndexError
from simdoc_search.errors import FormatMismatchError, StoreNotFoundError
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote_mappings import fields_of
from simdoc_search.stores.remote_schema import format_label, settings_of
from simdoc_search.stores.rest import Engine, RequestError
from simdoc_search.stores.templates import component_template

__all__ = ["Target", "add_mapping", "find_targets"]


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
    """

    index: str
    uuid: str
    shards: int
    replicas: int
    settings: Settings
    missing: dict[str, Any]
    chosen: list[dict[str, Any]]

    @property
    def label(self) -> str:
        """What stands in the `format` of its documents."""
        return format_label(self.settings)


def find_targets(engine: Engine, name: str, task: Task) -> tuple[list[Target], list[SkippedIndex]]:
    """The indices behind the name of an index, an alias or a data stream, and those that are not fit.

    An index without our field gets the settings of the others behind the name, or the usual ones.

    Raises:
        StoreNotFoundError: there is none.
        StoreError: the engine does not tell.
    """
    found, skipped = _indices(engine, name)
    if not found and not skipped:
        raise StoreNotFoundError(f"{engine.name} has no index {name}; make it first")
    settings = next(filter(None, (_settings(each, task.field) for each in found.values())), Settings())
    targets = []
    for index, each in sorted(found.items()):
        try:
            check_fit(engine, index, each, task)
            targets.append(_target(index, each, name, task.field, settings))
        except (UnfitIndexError, FormatMismatchError) as error:
            skipped.append(SkippedIndex(index, str(error)))
    return targets, skipped


def add_mapping(engine: Engine, target: Target, field: str) -> None:
    """Give an index what our field lacks; no other field is touched.

    Raises:
        UnfitIndexError: the engine does not take it.
        StoreError: it does not answer.
    """
    if not target.missing:
        return
    try:
        engine.call("PUT", [target.index, "_mapping"], {"properties": {field: {"properties": target.missing}}})
    except RequestError as error:
        if error.status not in (400, 403, 500):  # 500: an object that was disabled
            raise
        raise UnfitIndexError(f"it does not take the mapping of {field} ({error})") from error


def _indices(engine: Engine, name: str) -> tuple[dict[str, Any], list[SkippedIndex]]:
    try:
        return dict(engine.call("GET", [name], expand_wildcards="open,closed")), []
    except RequestError as error:
        if error.kind != "cluster_block_exception":
            raise
    found: dict[str, Any] = {}
    skipped = []
    for index in _names(engine.call("GET", ["_resolve", "index", name], expand_wildcards="open,closed")):
        try:
            found |= engine.call("GET", [index])
        except RequestError as error:
            if error.kind != "cluster_block_exception":
                raise
            skipped.append(SkippedIndex(index, blocked("metadata")))
    return found, skipped


def _names(resolved: Mapping[str, Any]) -> list[str]:
    """The concrete indices in an answer of `_resolve/index`."""
    names = [each["name"] for each in resolved.get("indices", ())]
    for kind, key in (("aliases", "indices"), ("data_streams", "backing_indices")):
        for each in resolved.get(kind, ()):
            names += [each[key]] if isinstance(each[key], str) else each[key]
    return sorted(set(names))


def _target(index: str, found: Mapping[str, Any], name: str, field: str, usual: Settings) -> Target:
    wanted = component_template(usual, field)["template"]["mappings"]["properties"][field]["properties"]
    ours = fields_of(found["mappings"], field)
    below = found["settings"]["index"]
    return Target(
        index,
        below["uuid"],
        int(below["number_of_shards"]),
        int(below.get("number_of_replicas", 0)),
        _settings(found, field) or usual,
        {name: each for name, each in wanted.items() if name not in ours},
        _chosen(index, found, name.split(",")),
    )


def _settings(found: Mapping[str, Any], field: str) -> Settings | None:
    """The settings that an index says; None if it has no fingerprints, or wrong ones."""
    tokens = fields_of(found["mappings"], field).get("tokens")
    try:
        return None if tokens is None else settings_of(tokens.get("meta", {}))
    except FormatMismatchError:
        return None


def _chosen(index: str, found: Mapping[str, Any], names: list[str]) -> list[dict[str, Any]]:
    """What the aliases let through by which an index was named; nothing to choose by if it was named otherwise."""

    def is_named(name: str) -> bool:
        return any(fnmatchcase(name, each) for each in names)

    if is_named(index) or is_named(found.get("data_stream", "")):
        return []
    filters = [alias.get("filter") for name, alias in found.get("aliases", {}).items() if is_named(name)]
    return [{"bool": {"should": filters, "minimum_should_match": 1}}] if filters and all(filters) else []
