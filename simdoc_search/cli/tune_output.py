"""Output of `simdoc-search tune`, for people and as JSON: measurements and a recommendation, or learned limits."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from simdoc_search.analysis.settings import Analysis
from simdoc_search.display import counted, percent, printable
from simdoc_search.tuning.recommendation import MIN_NEAR_PAIRS, NEAR_DISTANCE

if TYPE_CHECKING:
    from simdoc_search.sketch.limits import Limits
    from simdoc_search.tuning import ConfusionCounts, LabelledPair, LearnedLimits, Measurement, Tuning

_COLUMNS = ("sketch", "shingles", "recall", "precision", "error", "bytes/doc", "docs/s", "ms/query")
_MAX_MISCLASSIFIED = 10


def lines(result: Tuning, total: int, paths: Sequence[str]) -> Iterator[str]:
    """Yield the output for a terminal."""
    wanted = f"{100 * float(result.overlap):g} %"
    yield (
        f"{result.documents:,} of {counted(total, 'document')}; {counted(result.pairs, 'pair')} with an overlap of "
        f"{wanted} or more, {result.near:,} with about {wanted} (within {100 * NEAR_DISTANCE:g} percentage points)"
    )
    if result.near < MIN_NEAR_PAIRS:
        yield "note: there are too few pairs of about this overlap to measure recall well; increase --sample"
    for analysis, threshold in result.learned.items():
        outcome = threshold.outcome
        yield f"your pairs with {format_shingles(analysis)}: " + (
            f"a minimum overlap of {percent(threshold.threshold)} selects {outcome.found} of {outcome.yes} yes pairs "
            f"and {outcome.taken} of {outcome.no} no pairs"
            if outcome.is_useful
            else "no minimum overlap separates yes from no; to see the differences, use simdoc-search compare"
        )
        yield from _misclassified_lines(threshold.misclassified)
    rows = [_COLUMNS, *map(_format_row, result.rows)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_COLUMNS))]
    yield ""
    for row in rows:
        cells = (f"{cell:{'<' if column < 2 else '>'}{widths[column]}}" for column, cell in enumerate(row))
        yield "  ".join(cells).rstrip()
    yield ""
    yield verdict(result)
    if command := index_command(result, paths):
        yield f"  {command}"


def as_json(result: Tuning, total: int, paths: Sequence[str]) -> dict[str, Any]:
    """Return the output as JSON."""
    return {
        "documents": result.documents, "of": total, "overlap": float(result.overlap),
        "probability": float(result.probability), "pairs": result.pairs, "near": result.near,
        "few": result.near < MIN_NEAR_PAIRS,
        "learned": [
            {"shingles": format_shingles(analysis), "overlap": threshold.threshold,
             "useful": threshold.outcome.is_useful, **_outcome_as_json(threshold.outcome),
             "unseen": _outcome_as_json(threshold.cross_validated), "wrong": _wrong_as_json(threshold.misclassified)}
            for analysis, threshold in result.learned.items()
        ],
        "rows": [_row_as_json(row) for row in result.rows],
        "recommended": result.recommended and _row_as_json(result.recommended),
        "said": verdict(result), "command": index_command(result, paths) or None,
    }  # fmt: skip


def verdict(result: Tuning) -> str:
    """Return the recommendation in one sentence."""
    wanted = (
        f"an overlap of {100 * float(result.overlap):g} % and a probability of {100 * float(result.probability):g} %"
    )
    row = result.recommended
    if row is not None:
        return (
            f"For {wanted}, use {row.name} with {format_shingles(row.settings.analysis)}. It finds "
            f"{percent(row.recall, 1)}, needs {row.bytes:,.0f} bytes per document, and its estimates are off by "
            f"{100 * row.error:.1f} percentage points."
        )
    if not any(row.wanted for row in result.rows):
        return f"No recommendation for {wanted}: no two of the documents overlap that much."
    best = max(result.rows, key=lambda row: row.recall)
    return f"No recommendation for {wanted}: the best, {best.name}, only finds {percent(best.recall, 1)}."


def index_command(result: Tuning, paths: Sequence[str]) -> str:
    """Return the command that creates a store with the recommended settings; empty without a recommendation."""
    if result.recommended is None:
        return ""
    analysis, default = result.recommended.settings.analysis, Analysis()
    name = re.sub(r"[^a-z0-9]+", "-", f"{result.recommended.name}-{format_shingles(analysis)}".lower())
    options = {
        "--shingle-size": str(analysis.shingle_size) if analysis.shingle_size != default.shingle_size else "",
        "--unit": analysis.unit if analysis.unit != default.unit else "",
        "--profile": analysis.profile if analysis.profile != default.profile else "",
        "--stop-words": (analysis.stop_words.language or "FILE") if analysis.stop_words else "",
        "--stem": analysis.stem,
    }
    parts = ["simdoc-search", "index", *paths, "--store", f"./{name}.simdoc", "--sketch", result.recommended.name]
    parts += [part for option, value in options.items() if value for part in (option, value)]
    return shlex.join([*parts, *(["--frequencies"] if analysis.frequencies else [])])


def limits_lines(learned: LearnedLimits, store: str) -> Iterator[str]:
    """Yield the output of `--for versions` and `--for related` for a terminal."""
    best = learned.best
    pairs = counted(best.outcome.yes + best.outcome.no, "pair")
    yield f"{pairs}: {best.outcome.yes:,} yes, {best.outcome.no:,} no"
    yield ""
    yield f"{'':<34}{'precision':>10}{'recall':>9}"
    for name, outcome in (
        (f"now: {_format_limits(learned, learned.before)}", learned.outcome_before),
        (f"best: {_format_limits(learned, learned.limits)}", best.outcome),
        ("on pairs not used for learning", best.cross_validated),
    ):
        precision = "-" if outcome.precision is None else percent(outcome.precision, 1)
        yield f"{name:<35}{precision:>9}{percent(outcome.recall, 1):>9}"
    yield ""
    yield from _misclassified_lines(best.misclassified)
    command = _defaults_command(learned, store)
    yield f"Store these limits with: {command}" if command else "No limits are better than the current ones."


def limits_as_json(learned: LearnedLimits, store: str) -> dict[str, Any]:
    """Return the output of `--for versions` and `--for related` as JSON."""
    return {
        "for": learned.about,
        "before": {"limits": asdict(learned.before), **_outcome_as_json(learned.outcome_before)},
        "best": {"limits": asdict(learned.limits), **_outcome_as_json(learned.best.outcome)},
        "unseen": _outcome_as_json(learned.best.cross_validated),
        "wrong": _wrong_as_json(learned.best.misclassified),
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
        percent(row.recall, 1) if row.wanted else "-",
        percent(row.precision, 1) if row.found else "-",
        f"{row.error:.4f}" if row.compared else "-",
        f"{row.bytes:,.0f}",
        f"{row.speed:,.0f}",
        f"{row.query_ms:.2f}",
    )


def _row_as_json(row: Measurement) -> dict[str, Any]:
    return {
        "sketch": row.name, "shingles": format_shingles(row.settings.analysis), "recall": row.recall,
        "wanted": row.wanted, "precision": row.precision, "found": row.found, "asked": row.queries,
        "error": row.error, "compared": row.compared, "bytes": row.bytes, "documents_per_second": row.speed,
        "query_ms": row.query_ms,
    }  # fmt: skip


def _format_limits(learned: LearnedLimits, limits: Limits) -> str:
    if learned.about == "related":
        return f"score {limits.min_score:g}"
    return f"{limits.bits} bits, {100 * limits.enough:g} % of sentences"


def _defaults_command(learned: LearnedLimits, store: str) -> str:
    """Return the command that stores the learned limits; empty if they are the current ones."""
    limits = learned.limits
    if limits == learned.before:
        return ""
    options = ["--bits", str(limits.bits), "--enough", f"{100 * limits.enough:.6g}"]
    if learned.about == "related":
        options = ["--min-score", f"{limits.min_score:.6g}"]
    return shlex.join(["simdoc-search", "defaults", *options, "--store", store])


def _misclassified_lines(misclassified: Sequence[LabelledPair]) -> Iterator[str]:
    for pair in misclassified[:_MAX_MISCLASSIFIED]:
        label = "yes" if pair.label else "no"
        other = "no" if pair.label else "yes"
        yield printable(f"line {pair.line}: {pair.a!r} and {pair.b!r} are labelled {label}, but classified as {other}")
    if len(misclassified) > _MAX_MISCLASSIFIED:
        more = counted(len(misclassified) - _MAX_MISCLASSIFIED, "more pair is", "more pairs are")
        yield f"{more} misclassified; --json lists all of them"


def _wrong_as_json(misclassified: Sequence[LabelledPair]) -> list[dict[str, Any]]:
    return [{"a": pair.a, "b": pair.b, "yes": pair.label, "line": pair.line} for pair in misclassified]


def _outcome_as_json(outcome: ConfusionCounts) -> dict[str, Any]:
    return {"precision": outcome.precision, "recall": outcome.recall, **asdict(outcome)}
