"""Reads the mappings, settings and aliases of the indices behind a name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from simdoc_search.errors import FormatMismatchError, StoreNotFoundError
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.fields import METADATA_FIELD
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.mapping_check import is_closed
from simdoc_search.stores.remote.mappings import mapped_fields
from simdoc_search.stores.remote.pipelines import NO_PIPELINE
from simdoc_search.stores.remote.queries import any_clause
from simdoc_search.stores.remote.schema import find_fingerprint_field, parse_meta
from simdoc_search.stores.remote.texts import recorded_text_fields


@dataclass(frozen=True, slots=True)
class SkippedIndex:
    """An index that was skipped, and the reason."""

    index: str
    reason: str


@dataclass(frozen=True, slots=True)
class IndexDescription:
    """A concrete index, with its mappings and settings.

    In a data stream, `name` is that of the backing index. The settings are without the prefix `index`. `filters` are
    those of the requested aliases, combined into at most one clause. `other_names` are the aliases and the data stream
    that contain the index.
    """

    name: str
    field: str
    mappings: Mapping[str, Any]
    index_settings: Mapping[str, Any]
    filters: Sequence[dict[str, Any]] = ()
    other_names: Sequence[str] = ()

    @property
    def uuid(self) -> str:
        """The UUID of the index. A new index with the same name has a different UUID."""
        return str(self.index_settings["uuid"])

    @property
    def shard_count(self) -> int:
        """The number of primary shards."""
        return int(self.index_settings.get("number_of_shards", 1))

    @property
    def copy_count(self) -> int:
        """The number of copies of each shard, including the primary."""
        return 1 + int(self.index_settings.get("number_of_replicas", 0))

    @property
    def is_closed(self) -> bool:
        """Whether the index is closed."""
        return is_closed(self.index_settings)

    @property
    def is_simdoc_index(self) -> bool:
        """Whether `simdoc-search index` created the index."""
        return METADATA_FIELD in self.subfields

    @property
    def final_pipeline(self) -> str:
        """The name of the pipeline that runs last on every write; `_none` if there is none."""
        return str(self.index_settings.get("final_pipeline", NO_PIPELINE))

    @property
    def subfields(self) -> dict[str, Any]:
        """The mappings of the subfields of the fingerprint field, by name; empty if the field is missing."""
        return mapped_fields(self.mappings, self.field)

    @property
    def settings(self) -> Settings | None:
        """The settings of the fingerprints; None if the mapping has none, or if they cannot be read."""
        if "tokens" not in self.subfields:
            return None
        try:
            return parse_meta(self.subfields["tokens"].get("meta", {}))
        except FormatMismatchError:
            return None

    @property
    def text_fields(self) -> list[str]:
        """The text fields that the mapping records; empty if it records none."""
        return recorded_text_fields([self.mappings], self.field)


def describe_indices(engine: Engine, name: str, field: str | None = None) -> list[IndexDescription]:
    """Return the indices behind a name, including closed ones, sorted by name.

    `name` is an index, an alias, a data stream or a pattern, or several of these, separated by commas. If `field` is
    None, it is the only fingerprint field in the mappings.

    Raises:
        StoreNotFoundError: no index has this name.
        StoreError: the indices have several fingerprint fields, or the engine does not respond.
    """
    descriptions = engine.call("GET", [name], expand_wildcards="open,closed")
    if not descriptions:
        raise StoreNotFoundError(f"{engine.name} has no index {name}; create it first")
    mappings = {index: index_body["mappings"] for index, index_body in descriptions.items()}
    field = field or find_fingerprint_field(mappings, f"{engine.name}/{name}")
    names = name.split(",")
    return [
        IndexDescription(
            index,
            field,
            index_body["mappings"],
            index_body["settings"]["index"],
            _combine_filters(index, index_body, names),
            _find_other_names(index_body),
        )
        for index, index_body in sorted(descriptions.items())
    ]


def _combine_filters(index: str, index_body: Mapping[str, Any], names: Sequence[str]) -> list[dict[str, Any]]:
    """Return the filters of the aliases in `names`, as at most one clause.

    There is no clause if one of the names selects the whole index.
    """

    def is_named(name: str) -> bool:
        return any(fnmatchcase(name, pattern) for pattern in names)

    if is_named(index) or is_named(index_body.get("data_stream", "")):
        return []
    filters = [alias.get("filter") for name, alias in index_body.get("aliases", {}).items() if is_named(name)]
    return [any_clause(filters)] if filters and all(filters) else []


def _find_other_names(index_body: Mapping[str, Any]) -> list[str]:
    stream = index_body.get("data_stream")
    return sorted(index_body.get("aliases", {})) + ([str(stream)] if stream else [])
