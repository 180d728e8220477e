"""What `status` prints: for people, for programs, for Prometheus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from simdoc_search.cli.limit_options import lines_of_limits
from simdoc_search.display import counted, format_bytes, printable
from simdoc_search.sketch.limits import Limits

if TYPE_CHECKING:
    from simdoc_search.attach.status import IndexStatus, Status


def as_values(found: Status) -> dict[str, Any]:
    """All of it, for JSON."""
    indices = [
        {
            **asdict(each),
            "counts": {
                **asdict(each.counts),
                "missing": each.counts.missing,
                "of_other_settings": each.counts.of_other_settings,
            },
        }
        for each in found.indices
    ]
    stale = found.staleness
    interval = dict(zip(("at_least", "at_most"), stale.interval, strict=True)) if stale else {}
    return {
        "documents": found.documents,
        "missing": found.missing,
        "without_text": found.without_text,
        "staleness": stale and {**asdict(stale), "share": stale.share, **interval},
        "not_sampled": found.not_sampled or None,
        "indices": indices,
        "skipped": [asdict(each) for each in found.skipped],
        "limits": asdict(found.limits),
    }


def passed(found: Status, max_stale: float | None, max_missing: float | None) -> Iterator[str]:
    """The limits that are passed, in a sentence each."""
    stale = found.staleness
    if max_stale is not None and stale is not None and stale.share > max_stale:
        about = "" if stale.is_exact else "about "
        yield f"{about}{_share(stale.share)} are stale, over {max_stale:.1%}; run simdoc-search backfill --stale"
    if max_missing is not None and found.missing_share > max_missing:
        share = f"{_share(found.missing_share)} have no fingerprint, over {max_missing:.1%}"
        yield f"{share}; run simdoc-search backfill"


def _share(share: float) -> str:
    """A share that is not shown as 0 where it is more."""
    return "under 0.1%" if 0 < share < 0.0005 else f"{share:.1%}"


def lines_of(found: Status) -> Iterator[str]:
    """All of it, for people."""
    counts = [each.counts for each in found.indices]
    sizes = [each.bytes for each in found.indices]
    wordless, other = sum(each.wordless for each in counts), sum(each.of_other_settings for each in counts)
    size = "" if None in sizes else f", {format_bytes(sum(each or 0 for each in sizes))}"
    ours = [each.field_bytes for each in found.indices if each.field_bytes is not None]
    if ours:
        size += f", of which our field takes {format_bytes(sum(ours))} beside _source"
    yield f"documents      {found.documents:,} in {counted(len(counts), 'index', 'indices')}{size}"
    fingerprinted = sum(each.fingerprinted for each in counts)
    yield f"fingerprinted  {fingerprinted:,}" + (f", {wordless:,} of them texts without words" if wordless else "")
    if found.without_text:
        yield f"without text   {found.without_text:,} have no text, so they need no fingerprint"
    if found.missing:
        untold = ", those without a text among them" if any(each.without_text is None for each in counts) else ""
        yield f"missing        {found.missing:,} ({_share(found.missing_share)}){untold}"
    if gone := sum(each.text_gone or 0 for each in counts):
        yield f"text gone      {gone:,} have a fingerprint, but no text any more; simdoc-search backfill removes it"
    if other:
        yield f"other format   {other:,} have fingerprints of other settings than the mapping"
    if incomplete := sum(each.incomplete for each in counts):
        yield f"incomplete     {incomplete:,} lack what one of the commands needs; simdoc-search backfill gives it"
    yield f"stale          {_stale(found)}"
    yield from _errors(found)
    for ingest, names in _grouped(found.indices).items():
        where = "" if len(names) == len(found.indices) else f"{', '.join(names)}: "
        yield f"pipeline       {where}{ingest}"
    if found.limits != Limits():
        yield from (f"{each[:10]:<15}{each[11:]}" for each in lines_of_limits(found.limits))
    yield from (f"skipped        {each.index}: {each.reason}" for each in found.skipped)


def _stale(found: Status) -> str:
    stale = found.staleness
    if stale is None:
        return f"not known: {found.not_sampled}"
    if not stale.documents:
        return "none, as no document has a fingerprint of these settings"
    if not stale.unsure:
        return f"none, as nobody wrote to these {stale.documents:,} since backfill compared their texts"
    low, high = stale.interval
    number = f"{stale.stale:,} of {stale.sampled:,} drawn at random"
    named = f", such as {', '.join(map(repr, stale.examples))}" if stale.examples else ""
    if stale.compared:
        number += f" from the {stale.unsure:,} written since backfill compared texts"
    if stale.is_exact:
        looked = "all looked at" if not stale.compared else f"all {stale.unsure:,} written since looked at"
        return f"{stale.stale:,} of {stale.documents:,}, {looked}{named}"
    about = f"about {stale.share * stale.documents:,.0f} of {stale.documents:,}"
    return f"{about} ({_share(stale.share)}; with 95 % confidence {low:.1%} to {high:.1%}): {number}{named}"


def _errors(found: Status) -> Iterator[str]:
    known = [each.counts for each in found.indices if each.counts.errors is not None]
    if known and (errors := sum(each.errors or 0 for each in known)):
        yield f"errors         {errors:,} for which the engine's pipeline could make no fingerprint"
        reasons: Counter[str] = sum((Counter(each.reasons) for each in known), Counter())
        yield from (f"               {count:,}: {reason}" for reason, count in reasons.most_common(5))


def _grouped(indices: Iterable[IndexStatus]) -> dict[str, list[str]]:
    """What is said of pipelines: of which indices."""
    said: dict[str, list[str]] = {}
    for each in indices:
        said.setdefault(str(each.ingest), []).append(each.index)
    return said


# --- Prometheus: https://prometheus.io/docs/instrumenting/exposition_formats/ ---

_Labels = dict[str, str]
_Samples = list[tuple[_Labels, float]]


def metrics_of(found: Status, name: str) -> Iterator[str]:
    """All of it as metrics of what was asked for by a name; what is not known has no sample."""
    for metric, (text, samples) in _metrics(found).items():
        if samples:
            yield f"# HELP {metric} {text}"
            yield f"# TYPE {metric} gauge"
            yield from (f"{metric}{_labels({'name': name, **labels})} {value:.12g}" for labels, value in samples)


def _metrics(found: Status) -> dict[str, tuple[str, _Samples]]:
    def of_each(number: Any) -> _Samples:
        values = (({"index": each.index}, number(each)) for each in found.indices)
        return [(labels, value) for labels, value in values if value is not None]

    reasons = [
        ({"index": each.index, "reason": reason}, float(count))
        for each in found.indices
        for reason, count in each.counts.reasons.items()
    ]
    pipelines = [
        ({"index": each.index, "pipeline": each.ingest.pipeline, "state": each.ingest.state}, 1.0)
        for each in found.indices
    ]
    stale = found.staleness
    low, high = stale.interval if stale else (0.0, 0.0)
    return {
        "simdoc_documents": ("All documents.", of_each(lambda each: each.counts.documents)),
        "simdoc_fingerprinted_documents": (
            "Documents with a fingerprint, or the mark of a text without words.",
            of_each(lambda each: each.counts.fingerprinted),
        ),
        "simdoc_missing_documents": (
            "Documents without a fingerprint that have a text.",
            of_each(lambda each: each.counts.missing),
        ),
        "simdoc_without_text_documents": (
            "Documents without a text, which need no fingerprint.",
            of_each(lambda each: each.counts.without_text),
        ),
        "simdoc_text_gone_documents": (
            "Documents with a fingerprint whose text is gone.",
            of_each(lambda each: each.counts.text_gone),
        ),
        "simdoc_wordless_documents": ("Texts without words.", of_each(lambda each: each.counts.wordless)),
        "simdoc_other_format_documents": (
            "Documents with a fingerprint of other settings than the mapping.",
            of_each(lambda each: each.counts.of_other_settings),
        ),
        "simdoc_incomplete_documents": (
            "Documents that lack what finds passages, versions or related documents.",
            of_each(lambda each: each.counts.incomplete),
        ),
        "simdoc_failed_documents": (
            "Documents for which the pipeline of the engine could make no fingerprint.",
            of_each(lambda each: each.counts.errors),
        ),
        "simdoc_failed_documents_by_reason": ("The same by the most frequent reasons.", reasons),
        "simdoc_index_size_bytes": ("Primary shards on disk.", of_each(lambda each: each.bytes)),
        "simdoc_field_size_bytes": ("What the field takes of them.", of_each(lambda each: each.field_bytes)),
        "simdoc_pipeline_info": ("The pipeline that fills the field.", pipelines),
        "simdoc_sampled_documents": (
            "Documents whose fingerprint was made again.",
            [({}, float(stale.sampled))] if stale else [],
        ),
        "simdoc_compared_documents": (
            "Documents that backfill --stale compared with their texts, and nobody wrote to since.",
            [({}, float(stale.compared))] if stale else [],
        ),
        "simdoc_stale_ratio": (
            "Share of fingerprints that are not of their text, estimated from the sample.",
            [({}, stale.share)] if stale and (stale.sampled or stale.compared) else [],
        ),
        "simdoc_stale_ratio_lower": (
            "The least share with a confidence of 95 %.",
            [({}, low)] if stale and (stale.sampled or stale.compared) else [],
        ),
        "simdoc_stale_ratio_upper": (
            "The greatest share with a confidence of 95 %.",
            [({}, high)] if stale and (stale.sampled or stale.compared) else [],
        ),
        "simdoc_skipped_indices": ("Indices that could not be counted.", [({}, float(len(found.skipped)))]),
    }


def _labels(labels: _Labels) -> str:
    return "{" + ",".join(f'{name}="{_escaped(printable(value))}"' for name, value in labels.items()) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
