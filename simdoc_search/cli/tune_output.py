"""Output of `simdoc-search tune`, for people and as JSON: measurements and a recommendation, or learned thresholds."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from simdoc_search.analysis.settings import Analysis
from simdoc_search.display import format_count, format_percent, printable
from simdoc_search.tuning.recommendation import MAX_NEAR_DIFFERENCE, MIN_NEAR_PAIRS

if TYPE_CHECKING:
    from simdoc_search.sketch.thresholds import SimilarityThresholds
    from simdoc_search.tuning import (
        ConfusionCounts,
        LabelledPair,
        LearnedSimilarityThresholds,
        Measurement,
        TuningResult,
    )

_COLUMNS = ("sketch", "shingles", "recall", "precision", "error", "bytes/doc", "docs/s", "ms/query")
_MAX_MISCLASSIFIED_PAIRS = 10


def tuning_lines(result: TuningResult, total_count: int, paths: Sequence[str]) -> Iterator[str]:
    """Yield the measurements and the recommendation for a terminal."""
    overlap = f"{100 * float(result.overlap):g} %"
    documents = f"{result.document_count:,} of {format_count(total_count, 'document')}"
    pairs = f"{format_count(result.pair_count, 'pair')} with an overlap of {overlap} or more"
    distance = f"within {100 * MAX_NEAR_DIFFERENCE:g} percentage points"
    yield f"{documents}; {pairs}, {result.near_pair_count:,} with about {overlap} ({distance})"
    if result.near_pair_count < MIN_NEAR_PAIRS:
        yield f"note: too few pairs have an overlap of about {overlap}, so the recall is uncertain; increase --sample"
    for analysis, threshold in result.learned_thresholds.items():
        counts = threshold.counts
        yield f"your pairs with {format_shingles(analysis)}: " + (
            f"a minimum overlap of {format_percent(threshold.threshold)} selects {counts.true_positives} of "
            f"{counts.positives} pairs labelled yes, and {counts.false_positives} of {counts.negatives} labelled no"
            if counts.is_useful
            else "no minimum overlap separates the pairs labelled yes from those labelled no; to examine a pair, use "
            "`simdoc-search compare`"
        )
        yield from _misclassified_lines(threshold.misclassified_pairs)
    rows = [_COLUMNS, *map(_format_row, result.measurements)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_COLUMNS))]
    yield ""
    for row in rows:
        cells = (f"{cell:{'<' if column < 2 else '>'}{widths[column]}}" for column, cell in enumerate(row))
        yield "  ".join(cells).rstrip()
    yield ""
    yield format_recommendation(result)
    if command := format_index_command(result, paths):
        yield f"  {command}"


def tuning_as_json(result: TuningResult, total_count: int, paths: Sequence[str]) -> dict[str, Any]:
    """Return the measurements and the recommendation as JSON."""
    return {
        "document_count": result.document_count, "total_document_count": total_count, "overlap": float(result.overlap),
        "probability": float(result.probability), "pair_count": result.pair_count,
        "near_pair_count": result.near_pair_count, "is_recall_uncertain": result.near_pair_count < MIN_NEAR_PAIRS,
        "learned": [
            {"shingles": format_shingles(analysis), "overlap": threshold.threshold,
             "useful": threshold.counts.is_useful, **_counts_as_json(threshold.counts),
             "cross_validated": _counts_as_json(threshold.cross_validated_counts),
             "misclassified": _pairs_as_json(threshold.misclassified_pairs)}
            for analysis, threshold in result.learned_thresholds.items()
        ],
        "rows": [_row_as_json(row) for row in result.measurements],
        "recommended": result.recommendation and _row_as_json(result.recommendation),
        "verdict": format_recommendation(result), "command": format_index_command(result, paths) or None,
    }  # fmt: skip


def format_recommendation(result: TuningResult) -> str:
    """Return the recommendation in one sentence."""
    target = (
        f"an overlap of {100 * float(result.overlap):g} % and a probability of {100 * float(result.probability):g} %"
    )
    row = result.recommendation
    if row is not None:
        return (
            f"For {target}, use {row.name} with {format_shingles(row.settings.analysis)}. It finds "
            f"{format_percent(row.recall, 1)} of the pairs, needs {row.bytes_per_document:,.0f} bytes per document, "
            f"and its estimates are off by {100 * row.error:.1f} percentage points on average."
        )
    if not any(row.expected_hit_count for row in result.measurements):
        return f"No recommendation for {target}: no two documents reach this overlap."
    best = max(result.measurements, key=lambda row: row.recall)
    recall = format_percent(best.recall, 1)
    return f"No recommendation for {target}: even the best sketch, {best.name}, finds only {recall} of the pairs."


def format_index_command(result: TuningResult, paths: Sequence[str]) -> str:
    """Return the command that creates a store with the recommended settings; empty without a recommendation."""
    if result.recommendation is None:
        return ""
    analysis, default = result.recommendation.settings.analysis, Analysis()
    name = re.sub(r"[^a-z0-9]+", "-", f"{result.recommendation.name}-{format_shingles(analysis)}".lower())
    options = {
        "--shingle-size": str(analysis.shingle_size) if analysis.shingle_size != default.shingle_size else "",
        "--unit": analysis.unit if analysis.unit != default.unit else "",
        "--profile": analysis.profile if analysis.profile != default.profile else "",
        "--stop-words": (analysis.stop_words.language or "FILE") if analysis.stop_words else "",
        "--stem": analysis.stem,
    }
    command = ["simdoc-search", "index", *paths, "--store", f"./{name}.simdoc", "--sketch", result.recommendation.name]
    command += [argument for option, value in options.items() if value for argument in (option, value)]
    return shlex.join([*command, *(["--frequencies"] if analysis.frequencies else [])])


def thresholds_lines(learned: LearnedSimilarityThresholds, store: str) -> Iterator[str]:
    """Yield the output of `--for versions` and `--for related` for a terminal."""
    best = learned.learned_threshold
    pairs = format_count(best.counts.positives + best.counts.negatives, "pair")
    yield f"{pairs}: {best.counts.positives:,} yes, {best.counts.negatives:,} no"
    yield ""
    yield f"{'':<36}{'precision':>10}{'recall':>9}"
    for name, counts in (
        (f"now: {_format_thresholds(learned, learned.current_thresholds)}", learned.current_counts),
        (f"best: {_format_thresholds(learned, learned.best_thresholds)}", best.counts),
        ("on pairs not used for learning", best.cross_validated_counts),
    ):
        precision = "-" if counts.precision is None else format_percent(counts.precision, 1)
        yield f"{name:<37}{precision:>9}{format_percent(counts.recall, 1):>9}"
    yield ""
    yield from _misclassified_lines(best.misclassified_pairs)
    command = _defaults_command(learned, store)
    yield f"Store these thresholds with: {command}" if command else "No thresholds are better than the current ones."


def thresholds_as_json(learned: LearnedSimilarityThresholds, store: str) -> dict[str, Any]:
    """Return the output of `--for versions` and `--for related` as JSON."""
    return {
        "for": learned.purpose,
        "current": {"thresholds": asdict(learned.current_thresholds), **_counts_as_json(learned.current_counts)},
        "best": {"thresholds": asdict(learned.best_thresholds), **_counts_as_json(learned.learned_threshold.counts)},
        "cross_validated": _counts_as_json(learned.learned_threshold.cross_validated_counts),
        "misclassified": _pairs_as_json(learned.learned_threshold.misclassified_pairs),
        "command": _defaults_command(learned, store) or None,
    }


def format_shingles(analysis: Analysis) -> str:
    """Return an analysis in the syntax of `--shingles`."""
    parts = [f"{analysis.unit}s:{analysis.shingle_size}"]
    parts += [f"stop:{analysis.stop_words.language or 'FILE'}"] if analysis.stop_words else []
    parts += [f"stem:{analysis.stem}"] if analysis.stem else []
    return "+".join([*parts, *(["frequencies"] if analysis.frequencies else [])])


def _format_row(row: Measurement) -> tuple[str, ...]:
    return (
        row.name,
        format_shingles(row.settings.analysis),
        format_percent(row.recall, 1) if row.expected_hit_count else "-",
        format_percent(row.precision, 1) if row.hit_count else "-",
        f"{row.error:.4f}" if row.measured_pair_count else "-",
        f"{row.bytes_per_document:,.0f}",
        f"{row.documents_per_second:,.0f}",
        f"{row.query_ms:.2f}",
    )


def _row_as_json(row: Measurement) -> dict[str, Any]:
    return {
        "sketch": row.name,
        "shingles": format_shingles(row.settings.analysis),
        "recall": row.recall,
        "expected_hit_count": row.expected_hit_count,
        "precision": row.precision,
        "hit_count": row.hit_count,
        "query_count": row.query_count,
        "error": row.error,
        "measured_pair_count": row.measured_pair_count,
        "bytes_per_document": row.bytes_per_document,
        "documents_per_second": row.documents_per_second,
        "query_ms": row.query_ms,
    }


def _format_thresholds(learned: LearnedSimilarityThresholds, thresholds: SimilarityThresholds) -> str:
    if learned.purpose == "related":
        return f"score {thresholds.min_score:g}"
    return f"distance {thresholds.max_distance}, {100 * thresholds.min_share:g} % of sentences"


def _defaults_command(learned: LearnedSimilarityThresholds, store: str) -> str:
    """Return the command that stores the learned thresholds; empty if they are the current ones."""
    thresholds = learned.best_thresholds
    if thresholds == learned.current_thresholds:
        return ""
    options = ["--max-distance", str(thresholds.max_distance), "--min-share", f"{100 * thresholds.min_share:.6g}"]
    if learned.purpose == "related":
        options = ["--min-score", f"{thresholds.min_score:.6g}"]
    return shlex.join(["simdoc-search", "defaults", *options, "--store", store])


def _misclassified_lines(pairs: Sequence[LabelledPair]) -> Iterator[str]:
    for pair in pairs[:_MAX_MISCLASSIFIED_PAIRS]:
        label = "yes" if pair.is_yes else "no"
        wrong_label = "no" if pair.is_yes else "yes"
        yield printable(
            f"line {pair.line_number}: {pair.first_id!r} and {pair.second_id!r} are labelled {label}, but classified "
            f"as {wrong_label}"
        )
    if len(pairs) > _MAX_MISCLASSIFIED_PAIRS:
        more_pairs_are = format_count(len(pairs) - _MAX_MISCLASSIFIED_PAIRS, "more pair is", "more pairs are")
        yield f"{more_pairs_are} misclassified; --json lists all of them"


def _pairs_as_json(pairs: Sequence[LabelledPair]) -> list[dict[str, Any]]:
    return [{"a": pair.first_id, "b": pair.second_id, "yes": pair.is_yes, "line": pair.line_number} for pair in pairs]


def _counts_as_json(counts: ConfusionCounts) -> dict[str, Any]:
    return {
        "precision": counts.precision,
        "recall": counts.recall,
        "selected_yes_count": counts.true_positives,
        "yes_count": counts.positives,
        "selected_no_count": counts.false_positives,
        "no_count": counts.negatives,
    }
