"""Draws a random sample of documents, and compares their fingerprints with their texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import nlargest
from typing import Any

from simdoc_search.attach.actions import fingerprint_fields
from simdoc_search.attach.backfill.checkpoints import WriteRange
from simdoc_search.attach.indices import ApplicationIndex
from simdoc_search.errors import DocumentError
from simdoc_search.sketch.estimate import wilson_interval
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.fingerprint_value import fault_of, fingerprint_in
from simdoc_search.stores.remote.point_in_time import total_hits
from simdoc_search.stores.remote.queries import complete_query, in_random_order
from simdoc_search.stores.remote.texts import text_of
from simdoc_search.stores.remote.updates import read_current

_BATCH = 50
_EXAMPLES = 5


@dataclass(frozen=True, slots=True)
class SampleSource:
    """An index from which documents are drawn.

    Attributes:
        index: the index.
        settings: the settings of its fingerprints.
        text_fields: the fields of its texts; empty if they are not known.
        documents: documents with a complete fingerprint.
        checkpoints: for each shard, the number of the last write that was compared; empty if none were.
    """

    index: ApplicationIndex
    settings: Settings
    text_fields: Sequence[str]
    documents: int
    checkpoints: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Sample:
    """The result of a sample.

    Attributes:
        documents: documents with a complete fingerprint.
        sampled: documents that were drawn.
        stale: drawn documents whose fingerprint does not match their text, or is malformed.
        examples: ids of some stale documents.
        compared: documents that were not written since `backfill --stale` compared them. They are not drawn.
        malformed: the fault of each malformed fingerprint in the sample, by document id.
        not_compared: why the fingerprints were not compared with the texts; empty if they were.
    """

    documents: int
    sampled: int
    stale: int
    examples: tuple[str, ...] = ()
    compared: int = 0
    malformed: Mapping[str, str] = field(default_factory=dict, compare=False)
    not_compared: str = ""

    @property
    def unchecked(self) -> int:
        """The number of documents that may be stale."""
        return self.documents - self.compared

    @property
    def is_exact(self) -> bool:
        """Whether all documents that may be stale were drawn."""
        return self.sampled >= self.unchecked

    @property
    def share(self) -> float:
        """The estimated share of stale documents among all, 0..1."""
        return self.stale / self.sampled * self.unchecked / self.documents if self.sampled else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """The interval of the share with 95 % confidence, see `wilson_interval`.

        It allows for drawing without replacement: the larger the share of drawn documents, the narrower the interval.
        """
        if self.is_exact:
            return self.share, self.share
        share, part = self.stale / self.sampled if self.sampled else 0.0, self.unchecked / self.documents
        low, high = wilson_interval(share, self.sampled * (self.unchecked - 1) / (self.unchecked - self.sampled))
        return low * part, high * part


def sample_documents(engine: Engine, name: str, sources: Sequence[SampleSource], size: int) -> Sample:
    """Draw up to `size` documents with a complete fingerprint, and compare the fingerprints with the texts.

    `name` must select all of these indices. In an index whose text fields are not known, nothing is compared.

    Raises:
        MissingExtraError: a package that makes the fingerprints is not installed.
    """
    documents = sum(source.documents for source in sources)
    drawn, unchecked = _draw(engine, name, sources, size) if documents else ({}, 0)
    sampled, has_text, stale, malformed = 0, False, list[str](), dict[str, str]()
    for source in sources:
        places = drawn.get(source.index.name, [])
        for start in range(0, len(places), _BATCH):
            batch = list(_read(engine, source, places[start : start + _BATCH]))
            sampled += len(batch)
            has_text = has_text or any(text is not None for _, _, text in batch)
            faults = {id: fault_of(document, source.index.field, source.settings) for id, document, _ in batch}
            malformed |= {id: fault for id, fault in faults.items() if fault}
            stale += _find_stale(source, batch, malformed) if source.text_fields else []
    not_compared = ""
    if sampled and not has_text and all(source.text_fields for source in sources):
        names = ", ".join(sorted({name for source in sources for name in source.text_fields}))
        not_compared, stale = f"none of {sampled:,} documents has a field {names}; name another text field", []
    examples = tuple(sorted(stale)[:_EXAMPLES])
    return Sample(documents, sampled, len(stale), examples, max(0, documents - unchecked), malformed, not_compared)


def _draw(
    engine: Engine, name: str, sources: Sequence[SampleSource], size: int
) -> tuple[dict[str, list[dict[str, Any]]], int]:
    """The drawn documents of each index, in the form for `_mget`, and the number of documents to draw from."""
    hits, total = list[dict[str, Any]](), 0
    for index, query, parameters in _searches(name, sources):
        body = {"query": in_random_order(query), "size": size, "_source": False, "track_total_hits": True}
        answer = engine.search(index, body, **parameters)
        hits += answer["hits"]["hits"]
        total += total_hits(answer)
    places: dict[str, list[dict[str, Any]]] = {}
    for hit in nlargest(size, hits, key=lambda hit: float(hit["_score"])):  # the random number of the document
        routing = {"routing": hit["_routing"]} if "_routing" in hit else {}
        places.setdefault(hit["_index"], []).append({"_id": hit["_id"], **routing})
    return places, total


def _searches(name: str, sources: Sequence[SampleSource]) -> Iterator[tuple[str, dict[str, Any], dict[str, str]]]:
    """Yield searches as index, query and parameters. With several checkpoints, each shard needs its own search."""
    together = []
    for source in sources:
        index, checkpoints = source.index, source.checkpoints
        filters = [
            {"term": {"_index": index.name}},
            complete_query(source.settings, index.field),
            *index.filters,
        ]
        unread = [WriteRange(checkpoints).in_shard(number) for number in range(len(checkpoints))]
        if len(unread) > 1:
            for number, query in enumerate(unread):
                yield index.name, {"bool": {"filter": [*filters, query]}}, {"preference": f"_shards:{number}"}
        else:
            together.append({"bool": {"filter": [*filters, *unread]}})
    if together:
        yield name, {"bool": {"should": together, "minimum_should_match": 1}}, {}


_Document = tuple[str, Mapping[str, Any], str | None]
"""Id, source and text; None for the text if there is none."""


def _read(engine: Engine, source: SampleSource, places: list[dict[str, Any]]) -> Iterator[_Document]:
    """Read the documents that still exist."""
    index = source.index
    wanted = [{**place, "_index": index.name, "_source": [*source.text_fields, index.field]} for place in places]
    for document in read_current(engine, wanted):
        values = document.get("_source")
        if document.get("found") and isinstance(values, Mapping):
            try:
                text = text_of(values, source.text_fields) if source.text_fields else None
            except DocumentError:
                continue  # backfill refuses such a document
            yield str(document["_id"]), values, text


def _find_stale(source: SampleSource, batch: Sequence[_Document], malformed: Mapping[str, str]) -> list[str]:
    """The ids of the documents whose fingerprint does not match their text."""
    field = source.index.field
    # Sentences and concepts are slow to make, and the tokens show a changed text as well.
    settings = replace(source.settings, sentences=None, concepts=None)
    expected = fingerprint_fields([text or "" for _, _, text in batch], settings)
    stale = []
    for (id, document, text), values in zip(batch, expected, strict=True):
        stored = fingerprint_in(document, field)
        if text is None:
            is_stale = stored is not None
        elif isinstance(stored, Mapping) and id not in malformed:
            names = ["tokens", *(["passages", "text_hash"] if values["tokens"] else [])]
            is_stale = any(_token_set(stored.get(name)) != _token_set(values.get(name)) for name in names)
        else:
            is_stale = True
        stale += [id] if is_stale else []
    return stale


def _token_set(tokens: Any) -> set[str]:
    return set(tokens.split()) if isinstance(tokens, str) else set()
