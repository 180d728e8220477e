"""All settings on one sample, and which of them is recommended."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from simdoc_search.analysis.settings import Analysis
from simdoc_search.errors import CorpusError
from simdoc_search.passages.exact import jaccard, shingle_set
from simdoc_search.query.planner import Planner
from simdoc_search.sketch.settings import Settings
from simdoc_search.tuning.measurement import Measurement, measured
from simdoc_search.tuning.pairs import LabelledPair, Learned, learned
from simdoc_search.tuning.sample import planted
from simdoc_search.tuning.truth import truth_of

FEW = 30
"""Fewer pairs near the wanted overlap say little."""

NEAR = 0.1
"""How far from it is near."""

_PLANTED = 100
CLOSE = 0.05
"""How far an estimate may be off in 95 of 100 cases; two standard errors."""


@dataclass(frozen=True, slots=True)
class Tuning:
    """What came of it.

    Attributes:
        documents: how many documents were looked at, without copies.
        planted: how many edited copies were added.
        overlap: the Jaccard similarity that was asked for, or that the pairs teach.
        probability: with which a document of just that overlap is to be found.
        pairs: how many pairs of the sample overlap so or more, by the analysis of the first settings.
        near: how many overlap about so.
        rows: one for each of the settings.
        recommended: the one to take; None: none finds enough.
        learned: of each analysis what the judged pairs teach; empty: there are none.
    """

    documents: int
    planted: int
    overlap: Fraction
    probability: Fraction
    pairs: int
    near: int
    rows: tuple[Measurement, ...]
    recommended: Measurement | None
    learned: Mapping[Analysis, Learned]


def tune(
    texts: Mapping[str, str],
    settings: Sequence[Settings],
    *,
    overlap: Fraction | None = None,
    probability: Fraction = Fraction(95, 100),
    planner: Planner = "enough",
    judged: Sequence[LabelledPair] = (),
    plant: bool = False,
    seed: int = 1,
    progress: Callable[[str, float], None] = lambda _stage, _share: None,
) -> Tuning:
    """Measure settings on some documents, against exact values.

    Recommended are, of the settings that find enough and whose estimates are within 5 points in 95 of 100 cases, those
    with the fewest bytes. With judged pairs, only the analysis that separates them best is looked at, and its
    overlap is asked for unless one is given.

    Args:
        texts: the documents, by id.
        settings: what to measure; each analysis has exact values of its own.
        overlap: the Jaccard similarity that is wanted, over 0, up to 1; None: what pairs teach if they do, else 1/2.
        probability: with which a document of just that overlap is to be found, over 0, up to 1.
        planner: as in `plan`.
        judged: pairs that a person called duplicates or not; their documents are among the texts.
        plant: add copies with edits that overlap about so.
        seed: of what is chosen by chance.
        progress: called with what is done, and the share of it that is, 0..1.

    Raises:
        CorpusError: there are fewer than two documents with words; or a judged one is not among them.
        MissingExtraError: the local store, or what makes a sketch, is not installed.
    """
    analyses = list(dict.fromkeys(each.analysis for each in settings))
    _check(texts, judged)
    lessons = {each: _lesson(texts, judged, each) for each in analyses} if judged else {}
    if lessons:
        best = min(lessons, key=lambda each: (lessons[each].wrong, -lessons[each].unseen, analyses.index(each)))
        analyses, settings = [best], [each for each in settings if each.analysis == best]
    lesson = lessons.get(analyses[0])
    wanted = overlap or (_rounded(lesson) if lesson and lesson.teaches else Fraction(1, 2))
    copies = planted(texts, float(wanted), _PLANTED, seed, analyses[0]) if plant else []
    everything = {**texts, **{each.id: each.text for each in copies}}
    rows: list[Measurement] = []
    counts: list[tuple[int, int]] = []
    for analysis in analyses:
        truth = truth_of(everything, analysis)
        near = truth.between(float(wanted) - NEAR, float(wanted) + NEAR)
        counts.append((len(truth.between(float(wanted), 1)), len(near)))
        for each in (each for each in settings if each.analysis == analysis):
            asked = {"overlap": wanted, "probability": probability}
            rows.append(measured(everything, truth, each, **asked, planner=planner, seed=seed))
            progress("measuring", len(rows) / len(settings))
    chosen = recommended([each for each in rows if each.settings.analysis == analyses[0]], float(probability))
    return Tuning(len(texts), len(copies), wanted, probability, *counts[0], tuple(rows), chosen, lessons)


def recommended(rows: Sequence[Measurement], probability: float) -> Measurement | None:
    """Of those that find enough and estimate closely, the one with the fewest bytes; if none is close, the closest."""
    enough = [each for each in rows if each.wanted and each.recall >= probability]
    close = [each for each in enough if 2 * each.error <= CLOSE]
    if close:
        return min(close, key=lambda each: (each.bytes, each.query_ms))
    return min(enough, key=lambda each: each.error, default=None)


def _check(texts: Mapping[str, str], judged: Sequence[LabelledPair]) -> None:
    if sum(any(map(str.isalnum, each)) for each in texts.values()) < 2:
        raise CorpusError("there are fewer than two documents with words; overlaps are of two, name more documents")
    for each in judged:
        for id in (each.a, each.b):
            if id not in texts:
                where = f"line {each.line} of the pairs" if each.line else "a pair"
                raise CorpusError(f"{where} names {id!r:.80}, which is no document here")


def _lesson(texts: Mapping[str, str], judged: Sequence[LabelledPair], analysis: Analysis) -> Learned:
    sets = {id: shingle_set(texts[id], analysis) for each in judged for id in (each.a, each.b)}
    return learned(judged, [jaccard(sets[each.a], sets[each.b]) for each in judged])


def _rounded(lesson: Learned) -> Fraction:
    """The overlap with as few digits as separate as well: whole percents mostly, from 1 to 99."""
    low, high = lesson.gap if lesson.separable else (0.0, 1.0)
    for digits in (2, 3, 4):
        found = Fraction(round(lesson.overlap, digits)).limit_denominator(10**digits)
        if low < found <= high:
            return min(Fraction(99, 100), max(Fraction(1, 100), found))
    return Fraction(lesson.overlap).limit_denominator(10**9)
