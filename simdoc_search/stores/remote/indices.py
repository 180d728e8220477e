"""The indices behind the name of a store. An application may roll over, or close an index, at any time."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from simdoc_search.errors import FormatMismatchError, StoreError
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.excluded_indices import LeftOutIndex
from simdoc_search.stores.remote.active_field import only_fingerprint_field
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.errors import closed_index
from simdoc_search.stores.remote.mapping_check import is_closed
from simdoc_search.stores.remote.mappings import mappings_of
from simdoc_search.stores.remote.shared_settings import (
    Mappings,
    common_settings,
    is_own,
    none_can_be_asked,
    queryable,
    why_left_out,
)

LOOKED_AT_AGAIN = 10.0
"""Seconds after which the indices behind an alias are looked at again."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """What was found behind a name.

    Attributes:
        mappings: of the open indices.
        asked: of those of them whose documents can be found.
        known: of all of them, the closed ones too.
        closed: the names of these.
        settings: of all of them, below `index`, as far as they are known.
    """

    mappings: Mappings
    asked: Mappings
    known: Mappings
    closed: frozenset[str] = frozenset()
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


class Indices:
    """The indices behind a name, for many threads.

    Args:
        engine: where they are.
        name: of an index, an alias, a data stream, or a pattern.
        mappings: those of all that are behind the name, as they were just read.
        field: the object field of the fingerprints; None: the one in use.

    Attributes:
        field: the object field of the fingerprints.
        settings: those of the fingerprints, of all indices that can be asked.
        own: whether `simdoc-search index` made these.

    Raises:
        StoreError: none of them can be asked.
        FormatMismatchError: they have fingerprints of different settings.
    """

    def __init__(self, engine: Engine, name: str, mappings: Mappings, field: str | None = None) -> None:
        self.name = name
        self._location = f"{engine.name}/{name}"
        self._is_one = list(mappings) == [name]
        self.field: str = field or only_fingerprint_field(mappings, self._location)
        self._seen = self._see(engine, mappings)
        self.settings: Settings = self._common(self._seen)
        self.own: bool = is_own(self.mappings, self.field)
        self._left_out: tuple[_Seen | None, tuple[LeftOutIndex, ...]] = None, ()
        self._until = time.monotonic() + LOOKED_AT_AGAIN

    @property
    def mappings(self) -> Mappings:
        """The mappings of all that are open."""
        return self._seen.mappings

    @property
    def asked(self) -> Mappings:
        """The mappings of those whose documents can be found."""
        return self._seen.asked

    @property
    def unfit(self) -> list[str]:
        """The names of the others that are open."""
        seen = self._seen
        return [] if seen.asked is seen.mappings else sorted(seen.mappings.keys() - seen.asked.keys())

    def only_asked(self, engine: Engine) -> list[dict[str, Any]]:
        """The clause that leaves out documents of the others, as they are now; none where there are no others."""
        self.look(engine)
        return [{"bool": {"must_not": [{"terms": {"_index": self.unfit}}]}}] if self.unfit else []

    def fault_in(self, index: str | None) -> str:
        """Why a document in an index cannot be compared, to follow its name; empty: its index can be asked."""
        return (
            f"is in the index {index}, which cannot be asked (see simdoc-search check)" if index in self.unfit else ""
        )

    def look(self, engine: Engine) -> None:
        """See which indices there are now, unless that is known from some seconds ago.

        Raises:
            FormatMismatchError: some have fingerprints of other settings.
            StoreError: the engine does not tell.
        """
        if not self._is_one and time.monotonic() > self._until:
            self._look_again(engine)

    def left_out(self, engine: Engine) -> tuple[LeftOutIndex, ...]:
        """Those that cannot be asked, as they were when they were looked at. Raises as `look`."""
        if self._is_one:
            return ()
        if engine.closed_indices and not self._seen.closed:
            self._look_again(engine)
        seen, found = self._left_out
        if seen is not self._seen:
            seen = self._seen
            found = tuple(self._counted(engine, seen))
            self._left_out = seen, found
        return found

    def _look_again(self, engine: Engine) -> None:
        mappings = mappings_of(engine, self.name)
        if mappings is None:
            return  # which whoever asks is told
        seen = self._see(engine, mappings)
        now = self._common(seen)
        if now.minhash != self.settings.minhash or now.analysis != self.settings.analysis:
            raise FormatMismatchError(
                f"the indices of {self._location} have fingerprints of other settings now; open the store again",
                found=now.to_dict(),
                expected=self.settings.to_dict(),
            )
        self._seen, self._until = seen, time.monotonic() + LOOKED_AT_AGAIN

    def _see(self, engine: Engine, mappings: Mappings) -> _Seen:
        """What is behind the name, the closed ones apart.

        Raises:
            StoreError: all are closed.
        """
        asked = queryable(mappings, self.field)
        if self._is_one and asked:
            return _Seen(mappings, mappings, mappings)  # if it is closed, the first search says so
        path = [self.name, "_settings"]
        found = engine.call("GET", path, expand_wildcards="open,closed", allow=(403,))
        settings = {index: each["settings"].get("index", {}) for index, each in (found or {}).items()}
        closed = frozenset(index for index, each in settings.items() if is_closed(each))
        if found is None:
            closed = engine.closed_indices
        there = {index: each for index, each in mappings.items() if index not in closed}
        if not there:
            raise closed_index(engine.name, ", ".join(sorted(closed)))
        asked = {index: each for index, each in asked.items() if index in there}
        return _Seen(there, there if len(there) == len(asked) else asked, mappings, closed, settings)

    def _common(self, seen: _Seen) -> Settings:
        """The settings of those that can be asked.

        Raises:
            StoreError: there is none.
        """
        if not seen.asked:
            closed = [f"the index {each} is closed" for each in sorted(seen.closed)]
            reason = none_can_be_asked(seen.mappings, self.field, self._location, seen.settings, seen.known)
            raise StoreError("; ".join([reason, *closed]))
        return common_settings(seen.asked, self.field, self._location)

    def _counted(self, engine: Engine, seen: _Seen) -> Iterator[LeftOutIndex]:
        for index in self.unfit:
            reason = why_left_out(index, seen.known, self.field, self._location, seen.settings.get(index))
            yield LeftOutIndex(index, engine.count(self.name, {"term": {"_index": index}}), reason)
        for index in sorted(seen.closed):
            yield LeftOutIndex(index, None, f"it is closed; open it with POST /{index}/_open")
