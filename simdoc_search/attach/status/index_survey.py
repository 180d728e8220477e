"""How the documents behind the name of an index are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as attribute
from typing import Any

from simdoc_search.attach.backfill.indices import indices_behind
from simdoc_search.attach.backfill.seq_nos import noted, shards_of
from simdoc_search.attach.backfill.targets import UNTOLD, chosen_by
from simdoc_search.attach.backfill.task import SkippedIndex
from simdoc_search.attach.status.counts import Counts, count_documents
from simdoc_search.attach.status.ingest import Ingest, Pipelines
from simdoc_search.attach.status.sample import Sampled, Staleness, sample_staleness
from simdoc_search.errors import (
    FormatMismatchError,
    SimdocError,
    StoreError,
    StoreNotFoundError,
    StoreUnavailableError,
)
from simdoc_search.sketch.key import key_from
from simdoc_search.sketch.limits import Limits
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.errors import RequestError
from simdoc_search.stores.remote.mapping_check import find_faults
from simdoc_search.stores.remote.mappings import fields_of
from simdoc_search.stores.remote.schema import only_fingerprint_field, recorded_limits, settings_of
from simdoc_search.stores.remote.texts import check_text_fields, recorded_text_fields, text_query

SAMPLE = 200
"""Documents whose fingerprints are made again."""


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """A concrete index.

    Attributes:
        index: its name.
        counts: of its documents; those that the alias lets through by which it was named.
        bytes: of its primary shards on disk; None: we may not know.
        field_bytes: what our field takes of them; None: it was not asked for, or the engine does not tell.
        ingest: how it gets fingerprints from its engine.
    """

    index: str
    counts: Counts
    bytes: int | None
    field_bytes: int | None
    ingest: Ingest


@dataclass(frozen=True, slots=True)
class Status:
    """All behind a name.

    Attributes:
        indices: sorted by name.
        staleness: what a sample says; None: none was drawn.
        not_sampled: why; empty: one was.
        skipped: indices that could not be counted, and why.
        limits: what `versions` and `related` take where a question does not say it.
    """

    indices: Sequence[IndexStatus]
    staleness: Staleness | None
    not_sampled: str = ""
    skipped: Sequence[SkippedIndex] = ()
    limits: Limits = attribute(default_factory=Limits)

    @property
    def documents(self) -> int:
        """All."""
        return sum(each.counts.documents for each in self.indices)

    @property
    def missing(self) -> int:
        """Those without a fingerprint that have a text, as far as queries tell it."""
        return sum(each.counts.missing for each in self.indices)

    @property
    def without_text(self) -> int:
        """Those that have no text, and no fingerprint, as far as queries tell it."""
        return sum(each.counts.without_text or 0 for each in self.indices)

    @property
    def missing_share(self) -> float:
        """The same as a share of all, 0..1."""
        return self.missing / self.documents if self.documents else 0.0


def survey(
    engine: Engine,
    name: str,
    *,
    field: str | None = None,
    text_fields: Sequence[str] = (),
    sample: int = SAMPLE,
    disk_usage: bool = False,
) -> Status:
    """Look at the documents of an index, or of all behind an alias, a pattern or a data stream.

    They are counted by one search each. Of those written since `backfill --stale` compared their texts, or of all, a
    sample is drawn: what it costs hardly grows with the index. Nothing is written.

    Args:
        engine: where they are.
        name: of the index.
        field: the object field of the fingerprints; None: the one that queries ask.
        text_fields: where the text is; empty: as noted in the mapping of the index, or of the others behind the name.
        sample: how many fingerprints to make again from the text, 0..10,000.
        disk_usage: ask the engine also what our field takes on disk, for which it reads the whole index; Elasticsearch.

    Raises:
        StoreNotFoundError: there is no such index.
        LocationError: there is no such text field.
        StoreUnavailableError: the engine does not answer.
        RequestError: it refuses to tell.
    """
    engine = engine.without_closed_indices()  # which are among those that are skipped
    found, skipped = indices_behind(engine, name)
    if not found and not skipped:
        raise StoreNotFoundError(f"{engine.name} has no index {name}; make it first")
    field = field or only_fingerprint_field(
        {index: each["mappings"] for index, each in found.items()}, f"{engine.name}/{name}"
    )
    of_one = [_Index(each, found[each], name, field) for each in sorted(found)]
    closed = [each for each in of_one if each.is_closed]
    skipped += [SkippedIndex(each.name, "it is closed; open it first") for each in closed]
    of_one = [each for each in of_one if not each.is_closed]
    known = text_fields or recorded_text_fields((each.mappings for each in of_one), field)
    sizes, pipelines = _sizes(engine, name) if of_one else {}, Pipelines(engine, field)
    indices = [
        IndexStatus(
            each.name,
            each.counted(engine, known, field),
            sizes.get(each.name),
            _field_bytes(engine, each.name, field) if disk_usage else None,
            pipelines.of_index(each.index_settings, each.settings, recorded_text_fields([each.mappings], field)),
        )
        for each in of_one
    ]
    if theirs := {each.name: each.mappings for each in of_one if not each.is_own}:
        check_text_fields(text_fields, theirs, field, own=False)
    limits = recorded_limits((each.mappings for each in of_one), field)
    if not sample:
        return Status(indices, None, "no sample was asked for", skipped, limits)
    try:
        both = zip(of_one, indices, strict=True)
        sampled = [each.sampled(of_it.counts, known, field) for each, of_it in both if of_it.counts.current]
        return Status(indices, sample_staleness(engine, name, sampled, sample, field=field), "", skipped, limits)
    except (RequestError, StoreUnavailableError):
        raise
    except SimdocError as error:
        return Status(indices, None, str(error), skipped, limits)


class _Index:
    """A concrete index as the engine describes it."""

    def __init__(self, index: str, found: Mapping[str, Any], name: str, field: str) -> None:
        self.name = index
        self.mappings: Mapping[str, Any] = found["mappings"]
        self.index_settings: Mapping[str, Any] = found["settings"]["index"]
        self.ours = fields_of(self.mappings, field)
        self.chosen = chosen_by(index, found, name.split(","))
        self.number_of_shards = int(self.index_settings.get("number_of_shards", 1))
        self.settings: Settings | None = None
        self.compared: tuple[int, ...] = ()
        self.fault = next((each.problem for each in find_faults(self.mappings, {}, field) if each.blocks_queries), "")
        if "tokens" in self.ours:
            try:
                self.settings = settings_of(self.ours["tokens"].get("meta", {}))
            except FormatMismatchError as error:
                self.fault = self.fault or str(error)

    @property
    def is_closed(self) -> bool:
        """Whether it is, so that nothing can be asked of it."""
        return self.index_settings.get("verified_before_close") == "true"

    @property
    def is_own(self) -> bool:
        """Whether `simdoc-search index` made it."""
        return "facts" in self.ours

    def counted(self, engine: Engine, text_fields: Sequence[str], field: str) -> Counts:
        """How many of its documents have what."""
        texts = [] if self.is_own else [*text_fields] or recorded_text_fields([self.mappings], field)
        has_text = text_query(engine, self.name, self.mappings, texts, self.chosen)
        if self.settings is not None and (shards := shards_of(engine, self.name, self.number_of_shards)):
            numbers = noted(self.ours, "compared", shards, texts, self.settings)
            self.compared = numbers if max(numbers) >= 0 else ()
        return count_documents(
            engine,
            self.name,
            self.ours,
            self.settings,
            field=field,
            chosen=self.chosen,
            has_text=has_text,
        )

    def sampled(self, counts: Counts, text_fields: Sequence[str], field: str) -> Sampled:
        """What is needed to draw documents.

        Raises:
            StoreError: they cannot be read, or where their texts are is not known.
            FormatMismatchError: the fingerprints have another key.
        """
        if self.fault or self.settings is None:
            raise StoreError(f"the documents of {self.name} cannot be compared: {self.fault}")
        texts = [*text_fields] or recorded_text_fields([self.mappings], field)
        if self.is_own:
            texts = ["body"] if "body" in self.mappings.get("properties", {}) else []
        if not texts:
            how = "it keeps no texts" if self.is_own else "name the field of the text with --text-field"
            raise StoreError(f"where the texts of {self.name} are is not known; {how}")
        settings = self.settings.unlocked(key_from(), f"the index {self.name}")
        return Sampled(self.name, settings, texts, self.chosen, counts.current, self.compared)


def _sizes(engine: Engine, name: str) -> dict[str, int]:
    """Bytes of the primary shards of each index; none where we may not know."""
    found = engine.call("GET", [name, "_stats", "store"], allow=UNTOLD) or {}
    sizes = {index: each.get("primaries", {}).get("store", {}) for index, each in found.get("indices", {}).items()}
    return {index: int(each["size_in_bytes"]) for index, each in sizes.items() if "size_in_bytes" in each}


def _field_bytes(engine: Engine, index: str, field: str) -> int | None:
    """What our field takes in inverted indices and doc values: what stands in `_source` is not told apart."""
    found = engine.call("POST", [index, "_disk_usage"], run_expensive_tasks=True, allow=UNTOLD) or {}
    fields = found.get(index, {}).get("fields", {})
    sizes = [int(each["total_in_bytes"]) for name, each in fields.items() if name.partition(".")[0] == field]
    return sum(sizes) if fields else None
