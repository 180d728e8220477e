"""Removes the fingerprint field from the documents of an index.

A partial update can only set the field to null, which stays in `_source`. A strict index without the field then rejects
a copy of the document. So scripts remove the field.

No query finds the documents in which the field is null, so all documents without a fingerprint are read. They are few
while the others have one. So these documents are updated first: after an interruption, the next removal reads them
again. If no document has a fingerprint, only the documents without a text are read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from simdoc_search.attach.indices import IndexDescription
from simdoc_search.attach.update_by_query import WrittenCallback, update_by_query
from simdoc_search.errors import StoreError
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.point_in_time import all_hits
from simdoc_search.stores.remote.queries import any_clause, exists_clause
from simdoc_search.stores.remote.texts import find_text_query

_MAX_ROUNDS = 10
"""Maximum number of rounds. A round updates the documents that other writers changed during the previous one."""

_SCRIPT = (
    "if (!ctx._source.keySet().removeIf(key -> key == params.field || key.startsWith(params.field + '.'))) "
    "{ ctx.op = 'noop' }"
)
"""Removes the field, including dotted keys such as `simdoc.tokens`. Does not write a document without the field."""


def build_removal_script(field: str) -> dict[str, Any]:
    """Return the script for an update, or for an update by query."""
    return {"source": _SCRIPT, "params": {"field": field}}


def fingerprint_query(field: str) -> dict[str, Any]:
    """Return a query for the documents with a fingerprint, or with the reason why the pipeline could not compute it."""
    return any_clause(exists_clause(f"{field}.{name}") for name in ("format", "error"))


@dataclass(slots=True)
class FieldRemoval:
    """The removal of a field from the documents of one index.

    `queries` find the documents that may have the field, in the order of their updates. `count` is the number of
    documents with the field; after `run`, from how many it was removed.
    """

    index: str
    field: str
    queries: list[dict[str, Any]]
    count: int

    def run(self, engine: Engine, progress: WrittenCallback) -> None:
        """Remove the field. `progress` is called with the number of documents that the current update has processed.

        Raises:
            StoreError: the engine cannot update a document, or other writers change the documents all the time.
        """
        self.count = 0
        for query in self.queries:
            self._remove_field(engine, query, progress)

    def _remove_field(self, engine: Engine, query: dict[str, Any], progress: WrittenCallback) -> None:
        script = build_removal_script(self.field)
        for _ in range(_MAX_ROUNDS):
            engine.refresh(self.index, allowed_statuses=(403,))
            result = update_by_query(engine, self.index, query, script=script, progress=progress)
            self.count += result.updated_count
            if result.failures:
                id, reason = next(iter(result.failures.items()))
                document = f"the document {id!r} of {self.index}"
                raise StoreError(f"cannot remove the field {self.field} from {document}: {reason}")
            if not result.conflict_count:
                return
        raise StoreError(
            f"other programs keep changing documents of {self.index}; run the same command again to resume"
        )


def plan_field_removal(engine: Engine, index: IndexDescription) -> FieldRemoval:
    """Return the removal of the fingerprint field from an index, without changing anything."""
    has_fingerprint = fingerprint_query(index.field)
    removal = FieldRemoval(index.name, index.field, [has_fingerprint], engine.count(index.name, has_fingerprint))
    if index.subfields:
        excluded = [has_fingerprint]
        if not removal.count and (has_text := find_text_query(engine, index.name, index.mappings, index.text_fields)):
            excluded.append(has_text)
        others: dict[str, Any] = {"bool": {"must_not": excluded}}
        # A `_source` filter also returns null, and keys with dots such as `simdoc.tokens`.
        hits = all_hits(engine, index.name, {"query": others, "sort": ["_doc"], "_source": [index.field]})
        removal.count += sum(1 for hit in hits if hit.get("_source"))
        removal.queries.insert(0, others)
    return removal
