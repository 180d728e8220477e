"""Output of `simdoc-search status`."""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from simdoc_search.attach.inspection.staleness import MAX_LISTED_IDS, describe_staleness, list_ids
from simdoc_search.attach.steps import join_path
from simdoc_search.cli.threshold_options import threshold_lines
from simdoc_search.display import format_bytes, format_count, format_percent, printable, quote_command
from simdoc_search.sketch.thresholds import SimilarityThresholds
from simdoc_search.stores.remote.advice import backfill_advice
from simdoc_search.stores.remote.mapping_check import find_faults

if TYPE_CHECKING:
    from simdoc_search.attach.indices import IndexDescription
    from simdoc_search.attach.inspection import Inspection
    from simdoc_search.attach.inspection.counts import Counts


def inspection_as_json(inspection: Inspection) -> dict[str, Any]:
    """Return the inspection as JSON."""
    indices = [
        {
            "index": inspected.index.name,
            "counts": {
                **asdict(inspected.counts),
                "other_settings_count": inspected.counts.other_settings_count,
            },
            "bytes": inspected.primary_bytes,
            "pipeline": asdict(inspected.pipeline),
        }
        for inspected in inspection.index_inspections
    ]
    sample = inspection.sample
    values = asdict(sample)
    del values["not_compared_reason"]
    at_least, at_most = sample.stale_share_interval
    staleness = {**values, "share": sample.stale_share, "at_least": at_least, "at_most": at_most}
    return {
        "document_count": inspection.document_count,
        "missing_count": inspection.missing_count,
        "without_text_count": inspection.without_text_count,
        "staleness": None if sample.not_compared_reason else staleness,
        "not_sampled": sample.not_compared_reason or None,
        "indices": indices,
        "skipped": [asdict(skipped) for skipped in inspection.skipped_indices],
        "thresholds": asdict(inspection.thresholds),
    }


def exceeded_threshold_lines(
    inspection: Inspection, max_stale: float | None, max_missing: float | None, max_sample_size: int
) -> Iterator[str]:
    """Yield a sentence for each threshold that is exceeded. `max_sample_size` is the greatest value of `--sample`."""
    sample = inspection.sample
    if max_stale is not None and sample.stale_share > max_stale:
        about = "" if sample.is_exact else "about "
        stale, limit = format_percent(sample.stale_share), format_percent(max_stale)
        hint = _advise_exact_share(inspection, max_sample_size)
        yield f"{about}{stale} of the fingerprints are stale, more than {limit}{hint}"
    if max_missing is not None and inspection.missing_share > max_missing:
        missing, limit = format_percent(inspection.missing_share), format_percent(max_missing)
        yield f"{missing} of the documents have no fingerprint, more than {limit}"


def describe_uncertainty(inspection: Inspection, max_stale: float | None, max_sample_size: int) -> str:
    """Return a note if an estimate is within the threshold, but its confidence interval is not; else return ""."""
    sample, (_, high) = inspection.sample, inspection.sample.stale_share_interval
    if max_stale is None or not sample.stale_share <= max_stale < high:
        return ""
    limit, hint = format_percent(max_stale), _advise_exact_share(inspection, max_sample_size)
    return f"note: the share of stale fingerprints may still be more than {limit}, because it is an estimate{hint}"


def _advise_exact_share(inspection: Inspection, max_sample_size: int) -> str:
    sample = inspection.sample
    can_compare_all = not sample.is_exact and sample.unchecked_count <= max_sample_size
    return f"; for the exact share, add --sample {sample.unchecked_count}" if can_compare_all else ""


def describe_next_step(inspection: Inspection, location: str, pipeline: str) -> str:
    """Return how to add, update or compare fingerprints; empty if all are known to be up to date.

    For `pipeline`, see `backfill_advice`.
    """
    indices, counts = inspection.all_indices, [inspected.counts for inspected in inspection.index_inspections]
    sample, text_fields = inspection.sample, inspection.text_fields
    is_stale = sample.stale_count or any(count.other_settings_count for count in counts)
    is_incomplete = any(count.missing_count or count.incomplete_count or count.text_gone_count for count in counts)
    needs_update = is_stale or is_incomplete
    is_known = sample.is_exact or sample.not_compared_reason or any(index.is_simdoc_index for index in indices)
    if not needs_update and is_known:
        return ""
    if all(_rejects_fingerprints(inspected.index) for inspected in inspection.index_inspections):
        problem = f"fingerprints cannot be added; to see why, run `{quote_command('check', location)}`"
        return problem if needs_update else ""
    mappings, field = [index.mappings for index in indices], indices[0].field
    if not needs_update:
        advice = backfill_advice(mappings, field, location, "--stale", text_fields=text_fields)
        return f"to compare all {sample.unchecked_count:,} documents instead of a sample, {advice}"
    is_first = not any(count.fingerprinted_count for count in counts)  # or `template remove` has removed all
    # A first run reads all texts in any case. With --stale, it notes what it has read, so a later run reads less.
    options = ["--stale"] * bool(is_stale or is_first)
    advice = backfill_advice(mappings, field, location, *options, text_fields=text_fields, pipeline=pipeline)
    return f"to {'add fingerprints' if is_first else 'bring all fingerprints up to date'}, {advice}"


def _rejects_fingerprints(index: IndexDescription) -> bool:
    return any(fault.blocks_writes for fault in find_faults(index.mappings, index.index_settings, index.field))


def metric_lines(inspection: Inspection, name: str) -> Iterator[str]:
    """Yield the inspection in the text format of Prometheus. Every metric has `name` as the value of the label `name`.

    https://prometheus.io/docs/instrumenting/exposition_formats/
    """
    metrics: dict[str, tuple[str, Callable[[Counts], int | None]]] = {
        "simdoc_documents": ("All documents.", lambda counts: counts.document_count),
        "simdoc_fingerprinted_documents": ("Documents with a fingerprint.", lambda counts: counts.fingerprinted_count),
        "simdoc_missing_documents": (
            "Documents that have a text but no fingerprint.",
            lambda counts: counts.missing_count,
        ),
        "simdoc_failed_documents": (
            "Documents that the pipeline could not fingerprint.",
            lambda counts: counts.failed_count,
        ),
    }
    for metric, (meaning, count_of) in metrics.items():
        values = [(inspected.index.name, count_of(inspected.counts)) for inspected in inspection.index_inspections]
        samples = [({"name": name, "index": index}, value) for index, value in values if value is not None]
        yield from _metric_lines(metric, meaning, samples)
    if not inspection.sample.not_compared_reason:
        low, high = inspection.sample.stale_share_interval
        shares = {"": inspection.sample.stale_share, "_lower": low, "_upper": high}
        for suffix, share in shares.items():
            bound = f", {suffix[1:]} bound of the 95 % confidence interval" if suffix else ""
            meaning = f"Share of stale fingerprints{bound}."
            yield from _metric_lines(f"simdoc_stale_ratio{suffix}", meaning, [({"name": name}, share)])
    yield from _metric_lines(
        "simdoc_skipped_indices", "Indices that were not counted.", [({"name": name}, len(inspection.skipped_indices))]
    )


def _metric_lines(metric: str, meaning: str, samples: Sequence[tuple[dict[str, str], float]]) -> Iterator[str]:
    if samples:
        yield f"# HELP {metric} {meaning}"
        yield f"# TYPE {metric} gauge"
    for labels, value in samples:
        # JSON escapes quotes, backslashes and line feeds as Prometheus does.
        label_text = ",".join(
            f"{name}={json.dumps(printable(text), ensure_ascii=False)}" for name, text in labels.items()
        )
        yield f"{metric}{{{label_text}}} {value:.12g}"


def inspection_lines(inspection: Inspection, engine_url: str, name: str) -> Iterator[str]:
    """Yield the inspection of the indices behind a name as lines for people."""
    counts = [inspected.counts for inspected in inspection.index_inspections]
    sizes = [
        inspected.primary_bytes for inspected in inspection.index_inspections if inspected.primary_bytes is not None
    ]
    size = f", {format_bytes(sum(sizes))}" if len(sizes) == len(counts) else ""
    yield f"documents      {inspection.document_count:,} in {format_count(len(counts), 'index', 'indices')}{size}"
    wordless = sum(count.wordless_count for count in counts)
    without_words = f" ({wordless:,} with a text that has no words)" if wordless else ""
    yield f"fingerprinted  {sum(count.fingerprinted_count for count in counts):,}{without_words}"
    if inspection.without_text_count:
        yield f"without text   {inspection.without_text_count:,} (no fingerprint needed)"
    if inspection.missing_count:
        unknown = (
            ", including documents without a text" if any(count.without_text_count is None for count in counts) else ""
        )
        share = format_percent(inspection.missing_share)
        examples = list_ids((id for count in counts for id in count.missing_ids), inspection.missing_count)
        yield f"missing        {inspection.missing_count:,} ({share}){unknown}{examples}"
        if inspection.missing_count > MAX_LISTED_IDS:
            url = engine_url + _missing_documents_path(inspection, name)
            yield f"               list them with: curl {shlex.quote(url)}"
    if gone := sum(count.text_gone_count or 0 for count in counts):
        yield f"text removed   {format_count(gone, 'document')} with a fingerprint but no text"
    if other := sum(count.other_settings_count for count in counts):
        fingerprints = format_count(other, "fingerprint")
        yield f"other settings {fingerprints}, made with settings other than those in the mapping"
    if incomplete := sum(count.incomplete_count for count in counts):
        documents = format_count(incomplete, "document")
        yield f"incomplete     {documents} without the data for `passages`, `versions` or `related`"
    yield f"stale          {describe_staleness(inspection)}"
    yield from _error_lines(inspection)
    yield from _pipeline_lines(inspection)
    if inspection.thresholds != SimilarityThresholds():
        yield from (f"{line[:10]:<15}{line[11:]}" for line in threshold_lines(inspection.thresholds))
    yield from (f"skipped        {skipped.index}: {skipped.reason}" for skipped in inspection.skipped_indices)


def _missing_documents_path(inspection: Inspection, name: str) -> str:
    """Return the path of a request for the documents with a text but no fingerprint."""
    has_text = " OR ".join(f"_exists_:{_escape_field(field)}" for field in inspection.text_fields)
    field = _escape_field(inspection.all_indices[0].field)
    query = f"{f'({has_text}) AND ' if has_text else ''}NOT _exists_:{field}.format"
    return f"{join_path([name, '_search'])}?q={quote(query, safe=':()')}&size=10000&_source=false"


def _escape_field(path: str) -> str:
    """Escape the name of a field for a query string."""
    return re.sub(r"([^\w.])", r"\\\1", path)


def _error_lines(inspection: Inspection) -> Iterator[str]:
    counts = [inspected.counts for inspected in inspection.index_inspections if inspected.counts.failed_count]
    if counts:
        errors = sum(count.failed_count or 0 for count in counts)
        examples = list_ids((id for count in counts for id in count.failed_ids), errors)
        documents = format_count(errors, "document")
        yield f"errors         {documents} that the engine's pipeline could not fingerprint{examples}"
        reasons: Counter[str] = sum((Counter(count.failure_reasons) for count in counts), Counter())
        yield from (f"               {count:,}: {reason}" for reason, count in reasons.most_common(5))


def _pipeline_lines(inspection: Inspection) -> Iterator[str]:
    names: dict[str, list[str]] = {}
    for inspected in inspection.index_inspections:
        names.setdefault(str(inspected.pipeline), []).append(inspected.index.name)
    for sentence, indices in names.items():
        prefix = "" if len(indices) == len(inspection.index_inspections) else f"{', '.join(indices)}: "
        yield f"pipeline       {prefix}{sentence}"
