"""Output of `simdoc-search tune`, for people and as JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from simdoc_search.analysis.settings import Analysis
from simdoc_search.display import format_count, format_percent, printable, quote_command

if TYPE_CHECKING:
    from simdoc_search.sketch.thresholds import SimilarityThresholds
    from simdoc_search.tuning import (
        ConfusionCounts,
        LabelledPair,
        LearnedSimilarityThresholds,
        LearnedThreshold,
    )

_MAX_MISCLASSIFIED_PAIRS = 10
_NOT_USED = "on pairs not used for learning"


def overlap_lines(overlaps: Sequence[LearnedThreshold[Analysis]], commands: Sequence[str]) -> Iterator[str]:
    """Yield the output of `--for duplicates` for a terminal. `overlaps` has the best analysis first."""
    best = overlaps[0]
    rows = [
        (f"{format_shingles(row.setting)}, overlap {format_percent(row.threshold)}", row.counts) for row in overlaps
    ]
    yield from _counts_lines([*rows, (f"{format_shingles(best.setting)}, {_NOT_USED}", best.cross_validated_counts)])
    yield from _misclassified_lines(best.misclassified_pairs)
    if best.counts.is_useful:
        yield "Use the first overlap with:"
        yield from (f"  {command}" for command in commands)
    else:
        yield (
            "No minimum overlap separates the pairs labelled yes from those labelled no. To examine a pair, use "
            "`simdoc-search compare`."
        )


def overlaps_as_json(overlaps: Sequence[LearnedThreshold[Analysis]], commands: Sequence[str]) -> dict[str, Any]:
    """Return the output of `--for duplicates` as JSON. `overlaps` has the best analysis first."""
    return {
        "for": "duplicates",
        "learned": [
            {
                "shingles": format_shingles(row.setting),
                "overlap": row.threshold,
                "useful": row.counts.is_useful,
                **_counts_as_json(row.counts),
                "cross_validated": _counts_as_json(row.cross_validated_counts),
                "misclassified": _pairs_as_json(row.misclassified_pairs),
            }
            for row in overlaps
        ],
        "commands": list(commands) if overlaps[0].counts.is_useful else [],
    }


def overlap_commands(
    learned: LearnedThreshold[Analysis], store: str | None, stored_analysis: Analysis, folders: Sequence[str]
) -> list[str]:
    """Return the commands that find duplicates with a learned overlap.

    If the learned analysis is not that of the store, a new store is needed. `store` is None if the pairs are documents
    of folders.
    """
    overlap = f"{100 * max(learned.threshold, 0.01):.6g}"  # the command takes overlaps from 1 %
    if learned.setting == stored_analysis:
        return [quote_command("duplicates", *(["--store", store] if store else folders), "--overlap", overlap)]
    name = re.sub(r"[^a-z0-9]+", "-", format_shingles(learned.setting).lower())
    target = ["--store", f"./{name}.simdoc"]
    return [
        quote_command("index", *folders, *target, *_index_options(learned.setting)),
        quote_command("duplicates", *target, "--overlap", overlap),
    ]


def _index_options(analysis: Analysis) -> list[str]:
    """Return the options of `index` for an analysis."""
    default = Analysis()
    options = {
        "--shingle-size": str(analysis.shingle_size) if analysis.shingle_size != default.shingle_size else "",
        "--unit": analysis.unit if analysis.unit != default.unit else "",
        "--profile": analysis.profile if analysis.profile != default.profile else "",
        "--stop-words": (analysis.stop_words.language or "FILE") if analysis.stop_words else "",
        "--stem": analysis.stem,
    }
    arguments = [argument for option, value in options.items() if value for argument in (option, value)]
    return [*arguments, *(["--frequencies"] if analysis.frequencies else [])]


def thresholds_lines(learned: LearnedSimilarityThresholds, store: str) -> Iterator[str]:
    """Yield the output of `--for versions` and `--for related` for a terminal."""
    best = learned.learned_threshold
    yield from _counts_lines(
        [
            (f"now: {_format_thresholds(learned, learned.current_thresholds)}", learned.current_counts),
            (f"best: {_format_thresholds(learned, learned.best_thresholds)}", best.counts),
            (_NOT_USED, best.cross_validated_counts),
        ]
    )
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


def _counts_lines(rows: Sequence[tuple[str, ConfusionCounts]]) -> Iterator[str]:
    """Yield the number of pairs, and a table with the precision and the recall of each row."""
    counts = rows[0][1]
    width = max(37, *(len(name) + 1 for name, _ in rows))
    pairs = format_count(counts.positives + counts.negatives, "pair")
    yield f"{pairs}: {counts.positives:,} yes, {counts.negatives:,} no"
    yield ""
    yield f"{'':<{width - 1}}{'precision':>10}{'recall':>9}"
    for name, counts in rows:
        precision = "-" if counts.precision is None else format_percent(counts.precision, 1)
        yield f"{name:<{width}}{precision:>9}{format_percent(counts.recall, 1):>9}"
    yield ""


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
    return quote_command("defaults", *options, "--store", store)


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
