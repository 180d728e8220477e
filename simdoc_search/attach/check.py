"""Lists the problems of an index and its fingerprints, with their solutions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from simdoc_search.attach.indices import ApplicationIndex
from simdoc_search.attach.inspection import IndexInspection, Inspection, inspect_indices
from simdoc_search.errors import FormatMismatchError, StoreError
from simdoc_search.query.dsl import MAX_CLAUSES
from simdoc_search.sketch.crafted_text import crafted_text_ids
from simdoc_search.sketch.key import key_from
from simdoc_search.sketch.kinds import KINDS, kinds_of
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.mapping_check import find_faults
from simdoc_search.stores.remote.mappings import mapping_at
from simdoc_search.stores.remote.queries import in_random_order
from simdoc_search.stores.remote.schema import settings_of
from simdoc_search.stores.remote.shared_settings import common_settings, queryable, require_kind
from simdoc_search.stores.remote.texts import backfill_command

SAMPLE = 500
"""Number of documents in a random sample."""

_EXAMPLES = 5

_Mappings = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem, or a note.

    Attributes:
        index: the concrete index, or the checked name if the finding concerns all indices.
        wrong: whether it makes queries fail or miss documents.
        problem: the problem and its solution, in one sentence.
    """

    index: str
    wrong: bool
    problem: str


def check_index(engine: Engine, index: str, field: str | None = None) -> list[Finding]:
    """Check an index, or all indices behind an alias. `field` is None for the only fingerprint field.

    Raises:
        StoreNotFoundError: no index has this name.
    """
    inspection = inspect_indices(engine, index, field=field, sample=SAMPLE)
    location = f"{engine.name}/{index}"
    mappings = {described.name: described.mappings for described in inspection.described}
    counted = {inspected.index.name: inspected for inspected in inspection.indices}
    findings = [Finding(skipped.index, True, skipped.reason) for skipped in inspection.skipped]
    for described in inspection.described:
        notes: list[tuple[bool, str]] = []
        if not described.is_closed:
            notes += _mapping_faults(described, mappings, location)
            notes += _notes(described)
        if described.name in counted:
            notes += _document_faults(counted[described.name])
            notes += _crafted_texts(engine, described)
        findings += [Finding(described.name, wrong, problem) for wrong, problem in notes]
    for_all = [*_differences(inspection.described, mappings, location), *_sample_faults(inspection)]
    limit = engine.max_clauses()
    if limit < MAX_CLAUSES:
        how = f"raise indices.query.bool.max_clause_count to {MAX_CLAUSES}"
        for_all.append(f"the engine allows only {limit} clauses per query; {how}")
    return [*findings, *(Finding(index, True, problem) for problem in for_all)]


def _mapping_faults(index: ApplicationIndex, mappings: _Mappings, location: str) -> Iterator[tuple[bool, str]]:
    """Yield the faults of the mapping and the settings of an index: whether each is wrong, and the problem."""
    faults = list(find_faults(index.mappings, index.index_settings, index.field))
    can_fill = not any(fault.blocks_writes for fault in faults)
    for fault in faults:
        how = ""
        if can_fill and fault.blocks_queries and "tokens" not in index.fields:
            command = backfill_command(mappings.values(), index.field, location)
            how = f"; {command}, or apply the mapping of simdoc-search template show"
        yield fault.needs_action, fault.problem + how


def _notes(index: ApplicationIndex) -> Iterator[tuple[bool, str]]:
    """Yield what the owner of an index should know about the fingerprint field."""
    field = index.field
    if "tokens" not in index.fields or index.is_own:
        return
    if not index.index_settings.get("query", {}).get("default_field"):
        yield (
            False,
            f"searches that name no field also search {field}, so a number may match a count, and 20* a token; set "
            "index.query.default_field to your own fields",
        )
    yield (
        False,
        f"responses with _source contain {field}, about 1 to 3 kB per hit; leave it out with "
        f'"_source": {{"excludes": ["{field}"]}} in requests',
    )


def _document_faults(inspected: IndexInspection) -> Iterator[tuple[bool, str]]:
    """Yield the faults of the documents of an index, and of its pipeline."""
    index, counts = inspected.index, inspected.counts
    if "format" not in index.fields or index.settings is None:
        return
    if inspected.ingest.is_wrong:
        yield True, f"its pipeline is wrong: {inspected.ingest}"
    if counts.errors:
        how = f"read the reason in {index.field}.error, correct these documents, and write them again"
        yield True, f"the pipeline could not fingerprint {counts.errors:,} documents; {how}"
    if counts.missing:
        which = f"{counts.missing:,} of {counts.documents:,} documents have"
        if counts.without_text is not None:
            yield True, f"{which} a text but no fingerprint; run simdoc-search backfill"
        else:
            yield False, f"{which} no fingerprint"
    if counts.text_gone:
        yield True, f"{counts.text_gone:,} fingerprints belong to removed texts; run simdoc-search backfill"
    for kind in kinds_of(index.settings):
        if lacking := counts.lacking[kind.name]:
            yield True, f"{lacking:,} fingerprints have no {kind.name}; run simdoc-search backfill"
    if others := counts.of_other_settings:
        yield True, f"{others:,} fingerprints have other settings than the mapping; run simdoc-search backfill --stale"


def _sample_faults(inspection: Inspection) -> Iterator[str]:
    """Yield the malformed and the stale fingerprints in the sample."""
    sample = inspection.sample
    if malformed := sorted(sample.malformed.items()):
        examples = ", ".join(f"{id!r} {fault}" for id, fault in malformed[:_EXAMPLES])
        how = "replace them with simdoc-search backfill --stale"
        yield f"{len(malformed):,} of {sample.sampled:,} sampled fingerprints are malformed: {examples}; {how}"
    stale = sample.stale - len(malformed)
    if stale > 0:
        examples = ", ".join(repr(id) for id in sample.examples if id not in sample.malformed)
        of_all = "" if sample.is_exact else f", about {sample.share * sample.documents:,.0f} in all"
        yield (
            f"{stale:,} of {sample.sampled:,} sampled fingerprints do not match the current text{of_all}: {examples}; "
            "run simdoc-search backfill --stale"
        )


def _crafted_texts(engine: Engine, index: ApplicationIndex) -> Iterator[tuple[bool, str]]:
    """Yield the texts whose words were chosen to match any text, in a sample of an index that `index` created."""
    if not index.is_own or index.settings is None or mapping_at(index.mappings, "body") is None:
        return
    with suppress(FormatMismatchError):  # the hash key is unknown, or the sketch does not allow this check
        settings = index.settings.unlocked(key_from(), f"the index {index.name}")
        body = {"size": SAMPLE, "query": in_random_order({"match_all": {}}), "_source": ["body"]}
        hits = engine.search(index.name, body)["hits"]["hits"]
        texts = [(hit["_id"], (hit.get("_source") or {}).get("body") or "") for hit in hits]
        if ids := list(crafted_text_ids(texts, settings)):
            examples = ", ".join(map(repr, ids[:_EXAMPLES])) + ("" if len(ids) <= _EXAMPLES else ", ...")
            yield True, f"the words of {len(ids)} of {len(hits)} texts were chosen to match any text: {examples}"


def _differences(indices: Sequence[ApplicationIndex], mappings: _Mappings, location: str) -> Iterator[str]:
    """Yield the differences between indices that prevent queries over all of them."""
    if not indices:
        return
    field = indices[0].field
    common = queryable(mappings, field)
    if len(common) < 2:
        return
    try:
        common_settings(common, field, location)
    except StoreError as error:
        yield str(error)
        return
    for kind in KINDS.values():
        if len({getattr(settings_of(_tokens_meta(index)), kind.name) for index in indices if index.name in common}) > 1:
            try:
                require_kind(common, field, location, kind)
            except StoreError as error:
                yield str(error)
    examples = {tuple(index.text_fields): index.name for index in reversed(indices) if index.text_fields}
    if len(examples) > 1:
        fields = ", ".join(f"{name} from {' and '.join(texts)}" for texts, name in sorted(examples.items()))
        options = "".join(f" --text-field {name}" for name in min(examples))
        yield (
            f"the fingerprints come from different text fields ({fields}); choose one and run, for example, "
            f"simdoc-search backfill {location}{options} --stale --force"
        )


def _tokens_meta(index: ApplicationIndex) -> Mapping[str, str]:
    meta: Mapping[str, str] = index.fields["tokens"].get("meta", {})
    return meta
