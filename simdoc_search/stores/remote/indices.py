"""Tracks the indices behind the name of a store. An application may roll over or close an index at any time."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from simdoc_search.errors import FormatMismatchError, StoreError
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.record import LeftOutIndex
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.errors import closed_index_error
from simdoc_search.stores.remote.mapping_check import is_closed
from simdoc_search.stores.remote.mappings import read_index_settings, read_mappings
from simdoc_search.stores.remote.pipelines import find_missing_pipeline
from simdoc_search.stores.remote.schema import find_fingerprint_field
from simdoc_search.stores.remote.shared_settings import (
    Mappings,
    common_settings,
    explain_not_queryable,
    is_created_by_simdoc,
    none_queryable_message,
    select_queryable_mappings,
)

RELOAD_INTERVAL_SECONDS = 10.0
"""Seconds after which the indices behind an alias are read again."""


@dataclass(frozen=True, slots=True)
class _IndicesState:
    """The state of the indices when it was last read.

    Documents can be found in the indices of `queryable_mappings`. `all_mappings` includes closed indices. `settings`
    has the `index` part of the settings of each index, if they could be read.
    """

    mappings: Mappings
    queryable_mappings: Mappings
    all_mappings: Mappings
    closed_indices: frozenset[str] = frozenset()
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


class Indices:
    """The indices behind a name. Several threads can use it.

    `name` is the name of an index, an alias or a data stream, or a pattern. If `field` is None, it is the only
    fingerprint field in the mappings. `is_simdoc_index` says whether `simdoc-search index` created all queryable
    indices.

    Raises:
        StoreError: no index can be queried, or there are several fingerprint fields.
        FormatMismatchError: the fingerprints in the indices have different settings.
    """

    def __init__(self, engine: Engine, name: str, mappings: Mappings, field: str | None = None) -> None:
        self.name = name
        self._location = f"{engine.name}/{name}"
        self._is_one_index = list(mappings) == [name]
        self.field: str = field or find_fingerprint_field(mappings, self._location)
        self._state = self._read(engine, mappings)
        self.settings: Settings = self._common_settings(self._state)
        self.is_simdoc_index: bool = is_created_by_simdoc(self.mappings, self.field)
        self._fresh_until = time.monotonic() + RELOAD_INTERVAL_SECONDS

    @property
    def mappings(self) -> Mappings:
        """Mappings of the open indices."""
        return self._state.mappings

    @property
    def queryable_mappings(self) -> Mappings:
        """Mappings of the indices whose documents can be found."""
        return self._state.queryable_mappings

    def exclusion_clauses(self, engine: Engine) -> list[dict[str, Any]]:
        """Return a list with the clause that excludes the indices that cannot be queried; empty if there are none."""
        self.reload_if_old(engine)
        excluded = self._not_queryable(self._state)
        return [{"bool": {"must_not": [{"terms": {"_index": excluded}}]}}] if excluded else []

    def describe_fault(self, index: str | None) -> str:
        """Return why the documents of an index cannot be compared ("is in the index ..."), or an empty string."""
        is_excluded = index in self._not_queryable(self._state)
        command = f"simdoc-search check {self._location}"
        return f"is in the index {index}, which cannot be queried (see `{command}`)" if is_excluded else ""

    def reload_if_old(self, engine: Engine) -> None:
        """Read the indices again, unless they were read less than RELOAD_INTERVAL_SECONDS ago.

        Raises:
            FormatMismatchError: the settings of the fingerprints have changed.
            StoreError: see `Engine.call`.
        """
        if not self._is_one_index and time.monotonic() > self._fresh_until:
            self._read_again(engine)

    def find_left_out_indices(self, engine: Engine) -> tuple[LeftOutIndex, ...]:
        """Return the indices that are not queried. Raises the errors of `reload_if_old`."""
        if self._is_one_index:
            return ()
        if engine.closed_indices and not self._state.closed_indices:
            self._read_again(engine)
        state, left_out = self._state, []
        not_queryable = self._not_queryable(state)
        pipeline = find_missing_pipeline(engine, state.settings, self.field) if not_queryable else ""
        for index in not_queryable:
            problem = explain_not_queryable(
                index, state.all_mappings, self.field, self._location, state.settings.get(index), pipeline=pipeline
            )
            left_out.append(LeftOutIndex(index, engine.count(self.name, {"term": {"_index": index}}), problem.reason))
        closed = [LeftOutIndex(index, None, closed_reason(index)) for index in sorted(state.closed_indices)]
        return (*left_out, *closed)

    def _read_again(self, engine: Engine) -> None:
        mappings = read_mappings(engine, self.name)
        if mappings is None:
            return  # the index is missing, so the next query raises an error
        state = self._read(engine, mappings)
        settings = self._common_settings(state)
        if settings.sketch != self.settings.sketch or settings.analysis != self.settings.analysis:
            raise FormatMismatchError(
                f"the fingerprint settings of {self._location} have changed; open the index again",
                found=settings.to_dict(),
                expected=self.settings.to_dict(),
            )
        self._state, self._fresh_until = state, time.monotonic() + RELOAD_INTERVAL_SECONDS

    def _read(self, engine: Engine, mappings: Mappings) -> _IndicesState:
        """Read which indices are open, closed and queryable. Raises StoreError if all indices are closed."""
        queryable_now = select_queryable_mappings(mappings, self.field)
        if self._is_one_index and queryable_now:
            # This saves a request. If the index is closed, the first query raises an error.
            return _IndicesState(mappings, mappings, mappings)
        settings = read_index_settings(engine, self.name)
        if settings is None:
            settings, closed = {}, engine.closed_indices
        else:
            closed = frozenset(index for index, values in settings.items() if is_closed(values))
        opened = {index: mapping for index, mapping in mappings.items() if index not in closed}
        if not opened:
            raise closed_index_error(engine.name, ", ".join(sorted(closed)))
        queryable_now = {index: mapping for index, mapping in queryable_now.items() if index in opened}
        return _IndicesState(opened, queryable_now, mappings, closed, settings)

    def _common_settings(self, state: _IndicesState) -> Settings:
        if state.queryable_mappings:
            return common_settings(state.queryable_mappings, self.field, self._location)
        reason = none_queryable_message(state.mappings, self.field, self._location, state.settings, state.all_mappings)
        raise StoreError(
            "; ".join([reason, *(f"the index {index} is closed" for index in sorted(state.closed_indices))])
        )

    @staticmethod
    def _not_queryable(state: _IndicesState) -> list[str]:
        return sorted(state.mappings.keys() - state.queryable_mappings.keys())


def closed_reason(index: str) -> str:
    """Return the reason why a closed index is not queried, and how to open it."""
    return f"the index is closed; open it with `POST /{index}/_open`"
