"""What is wrong with the documents of indices: without a fingerprint, stale, malformed; or with the pipeline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from simdoc_search.attach.status.index_survey import IndexStatus, Status, survey
from simdoc_search.errors import FormatMismatchError, StoreError
from simdoc_search.sketch.kinds import kinds_of
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.fingerprint_value import fault_of
from simdoc_search.stores.remote.mappings import fields_of
from simdoc_search.stores.remote.queries import complete_query, in_random_order
from simdoc_search.stores.remote.schema import settings_of

LOOKED_AT = 1_000
"""Fingerprints whose form is looked at, drawn at random."""

_NAMED = 5

Said = Iterator[tuple[bool, str]]
"""Whether something is wrong, and what: a sentence."""


class DocumentFindings:
    """What is said of the documents behind a name.

    Args:
        engine: where they are.
        name: of the index or alias.
        field: the object field of the fingerprints.
        found: the indices behind the name, as the engine describes them.
    """

    def __init__(self, engine: Engine, name: str, field: str, found: Mapping[str, Any]) -> None:
        self._engine = engine
        self._field = field
        self._found = found
        self._status: Status | None = None
        self._unknown = ""
        try:
            self._status = survey(engine, name, field=field)
        except StoreError as error:
            self._unknown = str(error)

    def of_index(self, index: str) -> Said:
        """What is said of one of the indices."""
        mappings = self._found[index]["mappings"]
        ours = fields_of(mappings, self._field)
        if "format" not in ours:
            return
        try:
            settings = settings_of(ours.get("tokens", {}).get("meta", {}))
        except FormatMismatchError:
            return  # that is said already
        status = next((each for each in self._status.indices if each.index == index), None) if self._status else None
        if status is None:
            yield False, f"its documents could not be counted ({self._unknown})"
            return
        try:
            yield from self._counts(status, settings)
            yield from self._malformed(index, settings)
        except StoreError as error:
            yield False, f"its documents could not be counted ({error})"

    def of_all(self) -> Said:
        """What is said of all together: how many fingerprints are of another text than the document has now."""
        stale = self._status.staleness if self._status else None
        if stale is not None and stale.stale:
            named = ", ".join(map(repr, stale.examples))
            of_all = "" if stale.is_exact else f", so about {stale.share * stale.documents:,.0f} of all"
            yield (
                True,
                f"{stale.stale:,} of {stale.sampled:,} fingerprints looked at are of another text than the document has"
                f"{of_all}, such as {named}; run simdoc-search backfill --stale",
            )

    def _counts(self, status: IndexStatus, settings: Settings) -> Said:
        """Documents without a fingerprint, or with one of other settings."""
        counts, field = status.counts, self._field
        if status.ingest.is_wrong:
            yield True, f"its pipeline does not fit: {status.ingest}"
        if counts.errors:
            reasons = f"{field}.error says why; mend them, or their texts, and write them again"
            yield True, f"the pipeline made no fingerprint of {counts.errors:,} documents: {reasons}"
        if counts.missing:
            have_text = counts.without_text is not None
            said = f"{counts.missing:,} of {counts.documents:,} documents have no fingerprint"
            yield have_text, f"{said}, and a text; run simdoc-search backfill" if have_text else said
        if counts.text_gone:
            yield (
                True,
                f"fingerprints of texts that are gone: {counts.text_gone:,}; simdoc-search backfill removes them",
            )
        for kind in kinds_of(settings):
            if some := counts.lacking[kind.name]:
                yield True, f"fingerprints without {kind.name}: {some:,}; simdoc-search backfill gives them"
        if others := counts.of_other_settings:
            yield True, f"fingerprints with other settings than the mapping: {others:,}; make them again"

    def _malformed(self, index: str, settings: Settings) -> Said:
        """Fingerprints that no query can use, some of them by name."""
        query, field = complete_query(settings, self._field), self._field
        body = {"query": in_random_order(query), "size": LOOKED_AT, "_source": [field]}
        hits = self._engine.search(index, body)["hits"]["hits"]
        faults = {hit["_id"]: fault_of(hit.get("_source", {}), field, settings) for hit in hits}
        faults = {id: fault for id, fault in sorted(faults.items()) if fault}
        if faults:
            some = ", ".join(f"{id!r} {fault}" for id, fault in [*faults.items()][:_NAMED])
            yield (
                True,
                f"{len(faults):,} of {len(hits):,} fingerprints looked at are malformed, such as {some}; "
                "mend them with simdoc-search backfill --stale",
            )
