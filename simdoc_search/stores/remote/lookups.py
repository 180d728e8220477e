"""What a store in an engine says of its ids, fields and folders beside the documents themselves."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any

from simdoc_search.documents import MAX_ID_BYTES
from simdoc_search.stores.closing import Closing
from simdoc_search.stores.fields import beginning_of_facts, indexable, most_alike, names_of, sampled_names
from simdoc_search.stores.filters import Condition
from simdoc_search.stores.record import Record
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.moments import all_hits
from simdoc_search.stores.remote.queries import Ids, any_path

__all__ = ["Lookups"]

SAMPLE = 200
SUGGESTIONS_LOOKED_AT = 20


class Lookups(Closing):
    """The part of such a store that looks up names."""

    index: str
    field: str
    own: bool
    _engine: Engine
    _ids: Ids
    _mappings: Mapping[str, Mapping[str, Any]]

    @abstractmethod
    def _record(self, hit: Mapping[str, Any]) -> Record: ...

    def named(self, name: str) -> list[str]:
        """The ids whose last path component, with or without its ending, is `name`; sorted."""
        if not self.own:
            return []
        query = {"query": {"term": {f"{self.field}.names": indexable(name)}}, "_source": False, "sort": ["_doc"]}
        return sorted({hit["_id"] for hit in all_hits(self._engine, self.index, query)})

    def suggest(self, id: str) -> list[str]:
        """Up to three stored ids that look like this one, best first."""
        if not self.own or len(id) > MAX_ID_BYTES:
            return []
        names, field = [indexable(each) for each in {id, *names_of(id)}], f"{self.field}.names"
        fuzzy = [{"fuzzy": {field: {"value": name, "fuzziness": distance}}} for name in names for distance in (1, 2)]
        begun = [{"prefix": {field: name[: len(name) * 2 // 3]}} for name in names]
        found: set[str] = set()
        for either in (fuzzy, begun):
            body = {"query": {"bool": {"should": either}}, "size": SUGGESTIONS_LOOKED_AT, "_source": False}
            found.update(hit["_id"] for hit in self._engine.search(self.index, body)["hits"]["hits"])
        return most_alike(id, found)

    def beginning(self, begin: str, limit: int) -> list[str]:
        """Some ids that begin so, at most `limit`; sorted. None where ids are not indexed as terms."""
        asked = [self._ids.field] if self._ids.field else [f"{self.field}.{name}" for name in ("path", "names")]
        if not self.own and self._ids.field is None:
            return []
        either = [{"prefix": {field: begin}} for field in asked]
        body = {"query": {"bool": {"should": either}}, "size": limit, "_source": self._ids.parts}
        found = map(self._ids.of, self._engine.search(self.index, body)["hits"]["hits"])
        return sorted(id for id in found if id.startswith(begin))

    def alternatives(self, condition: Condition) -> list[str] | None:
        """What documents have in place of a field, or a path, that none has; see `Store`."""
        query = {"query": self._existence(condition)}
        if self._engine.call("POST", [self.index, "_count"], query, terminate_after=1)["count"]:
            return None
        if not self.own:
            names = {name for mapping in self._mappings.values() for name in _leaves(mapping)}
            return sorted(name for name in names if not name.startswith(f"{self.field}."))
        some = self._engine.search(self.index, {"size": SAMPLE, "_source": ["metadata"]})["hits"]["hits"]
        return sampled_names(map(self._record, some), condition)

    def _existence(self, condition: Condition) -> dict[str, Any]:
        """The query of the documents that have a field at all, or a path that begins so."""
        if not self.own:
            return {"exists": {"field": condition.field}}
        if condition.field == "path":
            return any_path(condition.values, self.field)
        return {"prefix": {f"{self.field}.facts": beginning_of_facts(condition.field)}}


def _leaves(mapping: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    for name, each in mapping.get("properties", {}).items():
        if "properties" in each:
            yield from _leaves(each, f"{prefix}{name}.")
        else:
            yield prefix + name
