"""What `simdoc-search tune` prints: a table and the recommended settings, as lines or as JSON."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from simdoc_search.analysis.settings import Analysis
from simdoc_search.display import counted, percent
from simdoc_search.tuning.tune import CLOSE, FEW, NEAR

if TYPE_CHECKING:
    from simdoc_search.tuning import Learned, Measurement, Tuning

HEADS = ("sketch", "recall", "precision", "error", "bytes/doc", "docs/s", "ms/query")


def lines(found: Tuning, total: int, place: Sequence[str], left_out: Sequence[str]) -> Iterator[str]:
    """The output for a terminal."""
    yield from findings(found, total, left_out)
    for analysis, rows in _by_analysis(found.rows):
        table = [HEADS, *map(cells, rows)]
        widths = [max(len(row[column]) for row in table) for column in range(len(HEADS))]
        yield ""
        yield f"sets of {shingles_of(analysis)}"
        for row in table:
            yield "  ".join(
                f"{each:<{w}}" if not at else f"{each:>{w}}"
                for at, (each, w) in enumerate(zip(row, widths, strict=True))
            )
    yield ""
    yield verdict(found)
    if made := command(found, place):
        yield f"  {made}"


def findings(found: Tuning, total: int, left_out: Sequence[str]) -> Iterator[str]:
    """Notes on the sample and the results, one sentence each."""
    yield f"{counted(found.documents, 'document')} of {total:,}" + (
        f", and {counted(found.planted, 'copy', 'copies')} of them with edits, planted" if found.planted else ""
    )
    asked = f"{100 * float(found.overlap):g} %"
    yield (
        f"{counted(found.pairs, 'pair')} of them overlap by {asked} or more, {found.near:,} by about that "
        f"({100 * NEAR:g} points more or less)"
    )
    asked_with = max(each.asked for each in found.rows)
    stays = "a hit stays unless its estimate rules the overlap out"
    yield f"recall and precision are of {counted(asked_with, 'question')}; {stays}"
    if found.near < FEW:
        more = "" if found.planted else "; --planted adds copies with edits"
        yield f"note: that is few, and recall says little about such pairs{more}, or take a larger --sample"
    if found.planted:
        yield "note: recall, precision and error are of documents and planted copies together"
    if left_out:
        yield f"left out, as pip install 'simdoc-search[datasketch]' is needed: {', '.join(left_out)}"
    for analysis, lesson in found.learned.items():
        yield f"your pairs, sets of {shingles_of(analysis)}: {lesson_of(lesson)}"


def lesson_of(lesson: Learned) -> str:
    """How well an overlap separates a person's pairs."""
    no, yes = (percent(each, 1) for each in lesson.gap)
    missed, judged = lesson.missed, lesson.judged
    counts = f"{judged[0] - missed[0]} of {judged[0]} yes and {judged[1] - missed[1]} of {judged[1]} no"
    right = f"at {percent(lesson.overlap, 1)}, {counts} are called as you do"
    unseen = f"{percent(lesson.unseen)} where the others teach it"
    if lesson.separable:
        return f"{right}, {unseen}; every yes overlaps by {yes} or more, every no by {no} or less"
    a, b = lesson.worst.a, lesson.worst.b
    if not lesson.teaches:
        return (
            f"overlap does not tell yes from no here, so none is learned: a no ({a!r}, {b!r}) overlaps by {no}, and a "
            f"yes by only {yes}; what differs decides, see simdoc-search compare"
        )
    return (
        f"{right}, {unseen}; no overlap separates them: a no ({a!r}, {b!r}) overlaps by {no}, and a yes by only {yes}"
    )


def verdict(found: Tuning) -> str:
    """The recommendation, in one sentence."""
    asked = f"an overlap of {100 * float(found.overlap):g} % with a probability of {100 * float(found.probability):g} %"
    row = found.recommended
    if row is None:
        if not any(each.wanted for each in found.rows):
            return (
                f"Nothing is recommended for {asked}: no two of these documents overlap so; add copies with --planted."
            )
        best = max(found.rows, key=lambda each: each.recall)
        most = f"the most that is found is {percent(best.recall, 1)}, with {best.name}"
        return f"Nothing is recommended for {asked}: {most}."
    share = float(found.overlap)
    needed = math.ceil(4 * share * (1 - share) / CLOSE**2)
    return (
        f"For {asked}, take {row.name} of {shingles_of(row.settings.analysis)}: it finds {percent(row.recall, 1)}, and "
        f"its estimates, in {row.bytes:,.0f} bytes a document, are off by {100 * row.error:.1f} points "
        f"(by the formula, {needed:,} hashes keep 95 of 100 within {100 * CLOSE:g} points there)."
    )


def command(found: Tuning, place: Sequence[str]) -> str:
    """The command that makes a store with the recommended settings; empty without a recommendation."""
    if found.recommended is None:
        return ""
    analysis = found.recommended.settings.analysis
    name = re.sub(r"[^a-z0-9]+", "-", f"{found.recommended.name}-{shingles_of(analysis)}".lower())
    usual = Analysis()
    options = {
        "--shingle-size": str(analysis.shingle_size) if analysis.shingle_size != usual.shingle_size else "",
        "--unit": analysis.unit if analysis.unit != usual.unit else "",
        "--profile": analysis.profile if analysis.profile != usual.profile else "",
        "--stop-words": (analysis.stop_words.language or "FILE") if analysis.stop_words else "",
        "--stem": analysis.stem,
    }
    parts = ["simdoc-search", "index", *place, "--store", f"./{name}.simdoc", "--sketch", found.recommended.name]
    parts += [each for option, value in options.items() if value for each in (option, value)]
    parts += ["--frequencies"] if analysis.frequencies else []
    return shlex.join(parts)


def cells(row: Measurement) -> tuple[str, ...]:
    """A row of the table."""
    return (
        row.name,
        percent(row.recall, 1) if row.wanted else "-",
        percent(row.precision, 1) if row.found else "-",
        f"{row.error:.4f}" if row.compared else "-",
        f"{row.bytes:,.0f}",
        f"{row.speed:,.0f}",
        f"{row.query_ms:.2f}",
    )


def shingles_of(analysis: Analysis) -> str:
    """What sets are made of, as `--shingles` has it."""
    further = [f"stop:{analysis.stop_words.language or 'FILE'}"] if analysis.stop_words else []
    further += [f"stem:{analysis.stem}"] if analysis.stem else []
    further += ["frequencies"] if analysis.frequencies else []
    return "+".join([f"{analysis.unit}s:{analysis.shingle_size}", *further])


def as_dict(found: Tuning, total: int, seed: int, left_out: Sequence[str], place: Sequence[str]) -> dict[str, Any]:
    """The output as JSON."""
    return {
        "documents": found.documents, "of": total, "planted": found.planted, "seed": seed,
        "overlap": float(found.overlap), "probability": float(found.probability),
        "pairs": found.pairs, "near": found.near, "few": found.near < FEW, "left_out": list(left_out),
        "learned": [_lesson_as_dict(each, lesson) for each, lesson in found.learned.items()],
        "rows": [_row_as_dict(each) for each in found.rows],
        "recommended": found.recommended and _row_as_dict(found.recommended),
        "said": verdict(found), "command": command(found, place) or None,
    }  # fmt: skip


def _row_as_dict(row: Measurement) -> dict[str, Any]:
    return {
        "sketch": row.name, "shingles": shingles_of(row.settings.analysis), "recall": row.recall, "wanted": row.wanted,
        "precision": row.precision, "found": row.found, "asked": row.asked, "error": row.error,
        "compared": row.compared, "bytes": row.bytes, "documents_per_second": row.speed, "query_ms": row.query_ms,
    }  # fmt: skip


def _lesson_as_dict(analysis: Analysis, lesson: Learned) -> dict[str, Any]:
    return {
        "shingles": shingles_of(analysis), "overlap": lesson.overlap, "yes": lesson.judged[0],
        "yes_missed": lesson.missed[0], "no": lesson.judged[1], "no_taken": lesson.missed[1],
        "unseen": lesson.unseen, "separable": lesson.separable, "teaches": lesson.teaches,
        "most_of_a_no": lesson.gap[0],
        "least_of_a_yes": lesson.gap[1], "worst_no": [lesson.worst.a, lesson.worst.b],
    }  # fmt: skip


def _by_analysis(rows: Sequence[Measurement]) -> Iterator[tuple[Analysis, list[Measurement]]]:
    for analysis, its in groupby(rows, key=lambda each: each.settings.analysis):
        yield analysis, list(its)
