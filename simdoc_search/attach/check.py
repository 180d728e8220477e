"""Lists the problems of an index and its fingerprints, with advice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from simdoc_search.attach.indices import IndexDescription
from simdoc_search.attach.inspection import IndexInspection, Inspection, inspect_indices
from simdoc_search.attach.inspection.staleness import describe_staleness
from simdoc_search.display import format_count
from simdoc_search.errors import StoreError
from simdoc_search.query.dsl import MAX_CLAUSES
from simdoc_search.sketch.token_kinds import TOKEN_KINDS, token_kinds
from simdoc_search.stores.remote.advice import backfill_advice
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.mapping_check import find_faults
from simdoc_search.stores.remote.pipelines import NO_PIPELINE, find_missing_pipeline
from simdoc_search.stores.remote.schema import parse_meta
from simdoc_search.stores.remote.shared_settings import common_settings, require_kind, select_queryable_mappings

SAMPLE_SIZE = 500
"""Maximum number of documents in a random sample."""

_MAX_EXAMPLES = 5

_Mappings = Mapping[str, Mapping[str, Any]]

_AdviseBackfill = Callable[..., str]
"""Takes options of `backfill`, and returns the advice to run it."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem, or a note."""

    index: str  # name of the concrete index, or of the alias if the finding concerns all of its indices
    is_problem: bool  # whether queries fail or miss documents because of the problem
    message: str  # one sentence about the problem, and what to do


def check_index(engine: Engine, index: str, field: str | None = None) -> list[Finding]:
    """Check an index, or all indices of an alias.

    If `field` is None, the indices must have only one fingerprint field.

    Raises:
        StoreNotFoundError: no index has this name.
    """
    inspection = inspect_indices(engine, index, field=field, sample_size=SAMPLE_SIZE)
    location = f"{engine.name}/{index}"
    mappings = {description.name: description.mappings for description in inspection.all_indices}
    field = inspection.all_indices[0].field
    pipeline = find_missing_pipeline(engine, inspection.index_settings, field)
    advise_backfill = partial(backfill_advice, mappings.values(), field, location, pipeline=pipeline)
    inspected_by_name = {inspected.index.name: inspected for inspected in inspection.index_inspections}
    findings = [Finding(skipped.index, True, skipped.reason) for skipped in inspection.skipped_indices]
    lacks_all = _lacks_all_fingerprints(inspection)
    offers_pipeline = not any(each.subfields or each.final_pipeline != NO_PIPELINE for each in inspection.all_indices)
    for description in inspection.all_indices:
        notes: list[tuple[bool, str]] = []
        if not description.is_closed:
            notes += _find_mapping_faults(description, partial(advise_backfill, offers_pipeline=offers_pipeline))
        if description.name in inspected_by_name:
            notes += _find_default_field_notes(inspected_by_name[description.name])
            notes += _find_document_faults(
                inspected_by_name[description.name], advise_backfill, includes_missing=not lacks_all
            )
        findings += [Finding(description.name, is_problem, message) for is_problem, message in notes]
    common_problems = [
        *_find_differences(inspection.all_indices, mappings, location),
        *_find_sample_faults(inspection, advise_backfill),
    ]
    if lacks_all:
        problem = "no document has a fingerprint; fingerprints were not added yet, or `template remove` removed them"
        common_problems.append(f"{problem}; to add them, {advise_backfill('--stale')}")
    limit = engine.max_clauses()
    if limit < MAX_CLAUSES:
        advice = f"set indices.query.bool.max_clause_count to {MAX_CLAUSES}"
        common_problems.append(f"the engine allows only {limit} clauses per query, too few for some queries; {advice}")
    return [*findings, *(Finding(index, True, message) for message in common_problems)]


def _find_mapping_faults(index: IndexDescription, advise_backfill: _AdviseBackfill) -> Iterator[tuple[bool, str]]:
    """Yield (is_problem, message) for each problem with the mapping and settings of an index."""
    faults = list(find_faults(index.mappings, index.index_settings, index.field))
    can_fill = not any(fault.blocks_writes for fault in faults)
    for fault in faults:
        advice = ""
        if can_fill and fault.blocks_queries and "tokens" not in index.subfields:
            advice = f"; to add fingerprints, {advise_backfill()}"
        yield fault.needs_action, fault.problem + advice


def _find_default_field_notes(inspected: IndexInspection) -> Iterator[tuple[bool, str]]:
    """Yield (False, message) if searches of all fields also search the fingerprints."""
    index = inspected.index
    has_own_fields = bool(index.index_settings.get("query", {}).get("default_field"))
    if inspected.counts.fingerprinted_count and not (index.is_simdoc_index or has_own_fields):
        yield (
            False,
            f"a query that does not name a field also searches {index.field}, where a number or a prefix such as "
            "`20*` may match; set index.query.default_field to your own fields",
        )


def _lacks_all_fingerprints(inspection: Inspection) -> bool:
    """Return whether documents have a text, but no document has a fingerprint, and no pipeline would add one."""
    inspected = inspection.index_inspections
    return any(each.counts.missing_count and each.counts.without_text_count is not None for each in inspected) and all(
        not each.counts.fingerprinted_count and each.pipeline.state == "none" for each in inspected
    )


def _find_document_faults(
    inspected: IndexInspection, advise_backfill: _AdviseBackfill, *, includes_missing: bool
) -> Iterator[tuple[bool, str]]:
    """Yield (is_problem, message) for each problem with the pipeline and the documents of an index."""
    index, counts = inspected.index, inspected.counts
    if "format" not in index.subfields or index.settings is None:
        return
    if inspected.pipeline.is_faulty:
        yield True, f"new documents do not get correct fingerprints: {inspected.pipeline}"
    if counts.failed_count:
        documents = format_count(counts.failed_count, "document")
        examples = _list_ids(counts.failed_ids, counts.failed_count)
        problem = f"the pipeline could not fingerprint {documents} ({examples}) for the reasons in {index.field}.error"
        yield True, f"{problem}; {advise_backfill()}, and correct the documents that it refuses"
    if counts.missing_count and includes_missing:
        have = "has" if counts.missing_count == 1 else "have"
        subject = f"{counts.missing_count:,} of {counts.document_count:,} documents {have}"
        if counts.without_text_count is not None:
            examples = _list_ids(counts.missing_ids, counts.missing_count)
            yield True, f"{subject} a text but no fingerprint ({examples}); {advise_backfill()}"
        else:
            yield False, f"{subject} no fingerprint"
    if counts.text_gone_count:
        documents_have = format_count(counts.text_gone_count, "document has", "documents have")
        yield True, f"{documents_have} a fingerprint but no text; {advise_backfill()}"
    for kind in token_kinds(index.settings):
        if lacking := counts.lacking_by_kind[kind.name]:
            fingerprints_have = format_count(lacking, "fingerprint has", "fingerprints have")
            yield True, f"{fingerprints_have} no {kind.name}; {advise_backfill()}"
    if others := counts.other_settings_count:
        fingerprints_were = format_count(others, "fingerprint was", "fingerprints were")
        problem = f"{fingerprints_were} computed with settings other than those in the mapping"
        yield True, f"{problem}; {advise_backfill('--stale')}"


def _find_sample_faults(inspection: Inspection, advise_backfill: _AdviseBackfill) -> Iterator[str]:
    """Yield a message about the malformed fingerprints in the sample, and a message about the stale ones."""
    sample = inspection.sample
    if malformed := sorted(sample.faults_by_id.items()):
        examples = ", ".join(f"{id!r} {fault}" for id, fault in malformed[:_MAX_EXAMPLES])
        problem = f"compared fingerprints {'is' if len(malformed) == 1 else 'are'} malformed: {examples}"
        yield f"{len(malformed):,} of {sample.sampled_count:,} {problem}; {advise_backfill('--stale')}"
    if sample.stale_count > len(malformed):
        stale = f"stale fingerprints: {describe_staleness(inspection)}"
        yield f"{stale}; queries use the old texts until you {advise_backfill('--stale')}"


def _list_ids(ids: Sequence[str], count: int) -> str:
    """Return the ids. End with `...` if there are more, that is, if `count` is greater than their number."""
    return ", ".join(map(repr, ids)) + (", ..." if count > len(ids) else "")


def _find_differences(indices: Sequence[IndexDescription], mappings: _Mappings, location: str) -> Iterator[str]:
    """Yield a message about each difference that prevents one query from searching all indices."""
    if not indices:
        return
    field = indices[0].field
    common = select_queryable_mappings(mappings, field)
    if len(common) < 2:
        return
    try:
        common_settings(common, field, location)
    except StoreError as error:
        yield str(error)
        return
    common_indices = [index for index in indices if index.name in common]
    for kind in TOKEN_KINDS.values():
        kind_settings = {getattr(parse_meta(_read_tokens_meta(index)), kind.name) for index in common_indices}
        if len(kind_settings) > 1:
            try:
                require_kind(common, field, location, kind)
            except StoreError as error:
                yield str(error)
    examples = {tuple(index.text_fields): index.name for index in reversed(indices) if index.text_fields}
    if len(examples) > 1:
        fields = ", ".join(f"{name} from {' and '.join(texts)}" for texts, name in sorted(examples.items()))
        options = "".join(f" --text-field {name}" for name in min(examples))
        yield (
            f"the indices compute their fingerprints from different text fields ({fields}); use the same fields in all "
            f"of them, for example: simdoc-search backfill {location}{options} --stale --force"
        )


def _read_tokens_meta(index: IndexDescription) -> Mapping[str, str]:
    meta: Mapping[str, str] = index.subfields["tokens"].get("meta", {})
    return meta
