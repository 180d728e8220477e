"""Output of `simdoc-search tune`: a table and a recommendation, or learned limits, as lines or as JSON."""

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
_MAX_WRONG = 10


def lines(found: Tuning, total: int, paths: Sequence[str]) -> Iterator[str]:
    """Yield the output for a terminal."""
    wanted = f"{100 * float(found.overlap):g} %"
    yield (
        f"{counted(found.documents, 'document')} of {total:,}; {counted(found.pairs, 'pair')} of them overlap by "
        f"{wanted} or more, {found.near:,} by about that ({100 * NEAR_DISTANCE:g} points more or less)"
    )
    if found.near < MIN_NEAR_PAIRS:
        yield "note: these are few pairs, so the recall says little; take a larger --sample"
    for analysis, threshold in found.learned.items():
        outcome = threshold.outcome
        yield f"your pairs by {shingles_of(analysis)}: " + (
            f"from {percent(threshold.threshold)} on, {outcome.found} of {outcome.yes} yes and {outcome.taken} of "
            f"{outcome.no} no are duplicates"
            if outcome.is_useful
            else "overlap does not separate yes from no, so none is learned; simdoc-search compare shows what differs"
        )
        yield from _wrong_lines(threshold.misclassified)
    rows = [_COLUMNS, *map(_cells, found.rows)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_COLUMNS))]
    yield ""
    for row in rows:
        yield "  ".join(f"{cell:{'<' if at < 2 else '>'}{widths[at]}}" for at, cell in enumerate(row)).rstrip()
    yield ""
    yield verdict(found)
    if command := index_command(found, paths):
        yield f"  {command}"


def as_json(found: Tuning, total: int, paths: Sequence[str]) -> dict[str, Any]:
    """Return the output as JSON."""
    return {
        "documents": found.documents, "of": total, "overlap": float(found.overlap),
        "probability": float(found.probability), "pairs": found.pairs, "near": found.near,
        "few": found.near < MIN_NEAR_PAIRS,
        "learned": [
            {"shingles": shingles_of(analysis), "overlap": threshold.threshold, "useful": threshold.outcome.is_useful,
             **_outcome_as_json(threshold.outcome), "unseen": _outcome_as_json(threshold.cross_validated),
             "wrong": _wrong_as_json(threshold.misclassified)}
            for analysis, threshold in found.learned.items()
        ],
        "rows": [_row_as_json(row) for row in found.rows],
        "recommended": found.recommended and _row_as_json(found.recommended),
        "said": verdict(found), "command": index_command(found, paths) or None,
    }  # fmt: skip


def verdict(found: Tuning) -> str:
    """Return the recommendation in one sentence."""
    wanted = f"an overlap of {100 * float(found.overlap):g} % and a probability of {100 * float(found.probability):g} %"
    row = found.recommended
    if row is not None:
        return (
            f"For {wanted}, take {row.name} with {shingles_of(row.settings.analysis)}: it finds "
            f"{percent(row.recall, 1)}, and its estimates, in {row.bytes:,.0f} bytes per document, are off by "
            f"{100 * row.error:.1f} points."
        )
    if not any(row.wanted for row in found.rows):
        return f"Nothing is recommended for {wanted}: no two of these documents overlap that much."
    best = max(found.rows, key=lambda row: row.recall)
    return f"Nothing is recommended for {wanted}: the best, {best.name}, finds {percent(best.recall, 1)}."


def index_command(found: Tuning, paths: Sequence[str]) -> str:
    """Return the command that makes a store with the recommended settings; empty without a recommendation."""
    if found.recommended is None:
        return ""
    analysis, default = found.recommended.settings.analysis, Analysis()
    name = re.sub(r"[^a-z0-9]+", "-", f"{found.recommended.name}-{shingles_of(analysis)}".lower())
    options = {
        "--shingle-size": str(analysis.shingle_size) if analysis.shingle_size != default.shingle_size else "",
        "--unit": analysis.unit if analysis.unit != default.unit else "",
        "--profile": analysis.profile if analysis.profile != default.profile else "",
        "--stop-words": (analysis.stop_words.language or "FILE") if analysis.stop_words else "",
        "--stem": analysis.stem,
    }
    parts = ["simdoc-search", "index", *paths, "--store", f"./{name}.simdoc", "--sketch", found.recommended.name]
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
        (f"now: {_limits_text(learned, learned.before)}", learned.outcome_before),
        (f"best: {_limits_text(learned, learned.limits)}", best.outcome),
        ("on pairs that did not teach it", best.cross_validated),
    ):
        precision = "-" if outcome.precision is None else percent(outcome.precision, 1)
        yield f"{name:<35}{precision:>9}{percent(outcome.recall, 1):>9}"
    yield ""
    yield from _wrong_lines(best.misclassified)
    command = _defaults_command(learned, store)
    yield f"Store them: {command}" if command else "The current limits are as good as any; there is nothing to store."


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


def shingles_of(analysis: Analysis) -> str:
    """Return an analysis as `--shingles` takes it."""
    parts = [f"{analysis.unit}s:{analysis.shingle_size}"]
    parts += [f"stop:{analysis.stop_words.language or 'FILE'}"] if analysis.stop_words else []
    parts += [f"stem:{analysis.stem}"] if analysis.stem else []
    return "+".join([*parts, *(["frequencies"] if analysis.frequencies else [])])


def _cells(row: Measurement) -> tuple[str, ...]:
    return (
        row.name,
        shingles_of(row.settings.analysis),
        percent(row.recall, 1) if row.wanted else "-",
        percent(row.precision, 1) if row.found else "-",
        f"{row.error:.4f}" if row.compared else "-",
        f"{row.bytes:,.0f}",
        f"{row.speed:,.0f}",
        f"{row.query_ms:.2f}",
    )


def _row_as_json(row: Measurement) -> dict[str, Any]:
    return {
        "sketch": row.name, "shingles": shingles_of(row.settings.analysis), "recall": row.recall, "wanted": row.wanted,
        "precision": row.precision, "found": row.found, "asked": row.queries, "error": row.error,
        "compared": row.compared, "bytes": row.bytes, "documents_per_second": row.speed, "query_ms": row.query_ms,
    }  # fmt: skip


def _limits_text(learned: LearnedLimits, limits: Limits) -> str:
    if learned.about == "related":
        return f"score {limits.min_score:g}"
    return f"{limits.bits} bits, {100 * limits.enough:g} % of sentences"


def _defaults_command(learned: LearnedLimits, store: str) -> str:
    """Return the command that stores the limits; empty if no others are better."""
    limits = learned.limits
    if limits == learned.before:
        return ""
    options = ["--bits", str(limits.bits), "--enough", f"{100 * limits.enough:.6g}"]
    if learned.about == "related":
        options = ["--min-score", f"{limits.min_score:.6g}"]
    return shlex.join(["simdoc-search", "defaults", *options, "--store", store])


def _wrong_lines(wrong: Sequence[LabelledPair]) -> Iterator[str]:
    for pair in wrong[:_MAX_WRONG]:
        label = "yes" if pair.label else "no"
        yield printable(f"line {pair.line}: {pair.a!r} and {pair.b!r} are labelled {label}, and classified otherwise")
    if len(wrong) > _MAX_WRONG:
        yield f"{counted(len(wrong) - _MAX_WRONG, 'more pair')} classified otherwise; --json has all"


def _wrong_as_json(wrong: Sequence[LabelledPair]) -> list[dict[str, Any]]:
    return [{"a": pair.a, "b": pair.b, "yes": pair.label, "line": pair.line} for pair in wrong]


def _outcome_as_json(outcome: ConfusionCounts) -> dict[str, Any]:
    return {"precision": outcome.precision, "recall": outcome.recall, **asdict(outcome)}
