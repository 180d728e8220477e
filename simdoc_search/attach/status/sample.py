"""How many fingerprints are of another text than the document has now, by documents drawn at random."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import nlargest
from typing import Any

from simdoc_search.attach.actions import fingerprint_fields
from simdoc_search.attach.backfill.seq_nos import Span
from simdoc_search.errors import DocumentError, StoreError
from simdoc_search.sketch.estimate import wilson_interval
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.fingerprint_value import fault_of, fingerprint_in
from simdoc_search.stores.remote.point_in_time import total_hits
from simdoc_search.stores.remote.queries import complete_query, in_random_order
from simdoc_search.stores.remote.texts import text_of
from simdoc_search.stores.remote.updates import documents_at

MOST_SAMPLED = 10_000
"""As many hits as engines give at once."""

_AT_ONCE = 50
_EXAMPLES = 5


@dataclass(frozen=True, slots=True)
class Sampled:
    """An index of which documents are drawn.

    Attributes:
        index: its name.
        settings: how its fingerprints are made.
        text_fields: where its texts are.
        chosen: what the alias lets through by which it was named.
        documents: how many have a fingerprint of these settings.
        compared: of each shard, up to which write documents were compared with their texts; empty: none was.
    """

    index: str
    settings: Settings
    text_fields: Sequence[str]
    chosen: Sequence[dict[str, Any]]
    documents: int
    compared: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Staleness:
    """What a sample says.

    Attributes:
        documents: how many have a fingerprint of the settings that the mapping says.
        sampled: how many of them were drawn, and compared with their texts.
        stale: how many of these have a fingerprint that is not of their text, or malformed.
        examples: the ids of some of them.
        compared: how many documents `backfill --stale` compared with their texts, and nobody wrote to since. None of
            these is stale, so none is drawn.
    """

    documents: int
    sampled: int
    stale: int
    examples: tuple[str, ...] = ()
    compared: int = 0

    @property
    def unsure(self) -> int:
        """How many documents the sample is of."""
        return self.documents - self.compared

    @property
    def is_exact(self) -> bool:
        """Whether all were looked at that may be stale."""
        return self.sampled >= self.unsure

    @property
    def share(self) -> float:
        """The share that is estimated for all, 0..1."""
        return self.stale / self.sampled * self.unsure / self.documents if self.sampled else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """Where the share of all is with a confidence of 95 %, as `wilson_interval` has it.

        The sample is without replacement, so it is narrower the more of all were drawn, down to nothing.
        """
        if self.is_exact:
            return self.share, self.share
        found, part = self.stale / self.sampled if self.sampled else 0.0, self.unsure / self.documents
        low, high = wilson_interval(found, self.sampled * (self.unsure - 1) / (self.unsure - self.sampled))
        return low * part, high * part


def sample_staleness(engine: Engine, name: str, indices: Sequence[Sampled], size: int, *, field: str) -> Staleness:
    """Draw documents with a fingerprint, make it again from their texts, and compare.

    Args:
        engine: where they are.
        name: of the index or alias.
        indices: those behind it.
        size: how many documents to draw, at most MOST_SAMPLED.
        field: the name of our field.

    Raises:
        StoreError: the engine does not answer; or no document has a text where it is looked for.
        MissingExtraError: what makes the fingerprints is not installed.
    """
    documents = sum(each.documents for each in indices)
    drawn, unsure = _drawn(engine, name, indices, size, field) if documents else ({}, 0)
    sampled, has_text, stale = 0, False, list[str]()
    for each in indices:
        places = drawn.get(each.index, [])
        for start in range(0, len(places), _AT_ONCE):
            read = list(_read(engine, each, places[start : start + _AT_ONCE], field))
            sampled += len(read)
            has_text = has_text or any(text is not None for _, _, text in read)
            stale += _stale(each.settings, read, field)
    if sampled and not has_text:
        fields = ", ".join(sorted({name for each in indices for name in each.text_fields}))
        raise StoreError(
            f"none of the {sampled:,} documents looked at has a field {fields}; name the field of the text"
        )
    return Staleness(documents, sampled, len(stale), tuple(sorted(stale)[:_EXAMPLES]), max(0, documents - unsure))


def _drawn(
    engine: Engine, name: str, indices: Sequence[Sampled], size: int, field: str
) -> tuple[dict[str, list[dict[str, Any]]], int]:
    """Places of documents by index, as `_mget` takes them, and how many they were drawn from."""
    hits, total = list[dict[str, Any]](), 0
    for asked, query, shard in _searches(name, indices, field):
        body = {"query": in_random_order(query), "size": size, "_source": False, "track_total_hits": True}
        answer = engine.search(asked, body, **shard)
        hits += answer["hits"]["hits"]
        total += total_hits(answer)
    found: dict[str, list[dict[str, Any]]] = {}
    for hit in nlargest(size, hits, key=lambda hit: float(hit["_score"])):  # the number that each has drawn
        routing = {"routing": hit["_routing"]} if "_routing" in hit else {}
        found.setdefault(hit["_index"], []).append({"_id": hit["_id"], **routing})
    return found, total


def _searches(
    name: str, indices: Sequence[Sampled], field: str
) -> Iterator[tuple[str, dict[str, Any], dict[str, str]]]:
    """Where to look for documents that may be stale, for which, and in which shard, as each shard counts its writes."""
    together = []
    for each in indices:
        filters = [{"term": {"_index": each.index}}, complete_query(each.settings, field), *each.chosen]
        since = [Span(each.compared).of_shard(number) for number in range(len(each.compared))]
        if len(since) > 1:
            for number, query in enumerate(since):
                yield each.index, {"bool": {"filter": [*filters, query]}}, {"preference": f"_shards:{number}"}
        else:
            together.append({"bool": {"filter": [*filters, *since]}})
    if together:
        yield name, {"bool": {"should": together, "minimum_should_match": 1}}, {}


_Read = tuple[str, Mapping[str, Any], str | None]


def _read(engine: Engine, index: Sampled, places: list[dict[str, Any]], field: str) -> Iterator[_Read]:
    """Id, document and text of those that are still there; None: it has no text."""
    docs = [{**each, "_index": index.index, "_source": [*index.text_fields, field]} for each in places]
    for each in documents_at(engine, docs):
        source = each.get("_source")
        if each.get("found") and isinstance(source, Mapping):
            try:
                yield str(each["_id"]), source, text_of(source, index.text_fields)
            except DocumentError:
                continue  # whose text is none; backfill refuses it


def _stale(settings: Settings, read: Sequence[_Read], field: str) -> Iterator[str]:
    """The ids of the documents whose fingerprint is not that of their text."""
    bare = replace(settings, sentences=None, concepts=None)  # which follow from the same text, and cost much
    made = fingerprint_fields([text or "" for _, _, text in read], bare)
    for (id, source, text), values in zip(read, made, strict=True):
        ours = fingerprint_in(source, field)
        if text is None:
            if ours is not None:
                yield id
            continue
        names = ["tokens", *(["passages", "text_hash"] if values["tokens"] else [])]
        is_object = isinstance(ours, Mapping)
        differs = not is_object or any(_set(ours.get(name)) != _set(values.get(name)) for name in names)
        if differs or (values["tokens"] and fault_of(source, field, settings)):
            yield id


def _set(tokens: Any) -> set[str]:
    return set(tokens.split()) if isinstance(tokens, str) else set()
