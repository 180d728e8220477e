"""Measures settings on one sample, and recommends one of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from simdoc_search.analysis.settings import Analysis
from simdoc_search.errors import CorpusError
from simdoc_search.passages.exact import jaccard, shingle_set
from simdoc_search.sketch.settings import Settings
from simdoc_search.tuning.labelled_pairs import LabelledPair, Lesson, check_ids, learn
from simdoc_search.tuning.measurement import Measurement, measure
from simdoc_search.tuning.sample import exact_overlaps

MIN_NEAR_PAIRS = 30
"""With fewer pairs near the wanted overlap, the recall says little."""

NEAR = 0.1
"""Distance from the wanted overlap of pairs that are near it."""

CLOSE = 0.05
"""Maximum error of an estimate in 95 of 100 cases; two standard errors."""


@dataclass(frozen=True, slots=True)
class Tuning:
    """The measurements of a sample, and the recommendation."""

    documents: int
    overlap: Fraction  # the wanted Jaccard similarity, as given or as learned from the pairs
    probability: Fraction
    pairs: int  # number of pairs of the sample with at least this overlap, by the first analysis
    near: int  # number of pairs with about this overlap
    rows: tuple[Measurement, ...]
    recommended: Measurement | None  # None: no row finds enough
    lessons: Mapping[Analysis, Lesson[Analysis]]  # what the labelled pairs teach, by analysis; empty without pairs


def tune(
    texts: Mapping[str, str],
    settings: Sequence[Settings],
    *,
    overlap: Fraction | None = None,
    probability: Fraction = Fraction(95, 100),
    pairs: Sequence[LabelledPair] = (),
    progress: Callable[[str, float], None] = lambda _stage, _share: None,
) -> Tuning:
    """Measure settings on some documents, against exact overlaps.

    The recommended setting finds enough, its estimates are within 5 points in 95 of 100 cases, and it takes the fewest
    bytes. With labelled pairs, only the analysis that separates them best is measured.

    Args:
        texts: the documents, by id.
        settings: the settings to measure.
        overlap: the wanted Jaccard similarity, over 0, up to 1; None: the one that the pairs teach, or 1/2.
        probability: with which a document of exactly that overlap must be found, over 0, up to 1.
        pairs: labelled as duplicates or not.
        progress: called with the stage and the share of it that is done, 0..1.

    Raises:
        CorpusError: there are fewer than two documents with words, or a labelled one is missing.
        MissingExtraError: the local store, or the package of a sketch, is not installed.
    """
    if sum(any(map(str.isalnum, text)) for text in texts.values()) < 2:
        raise CorpusError("there are fewer than two documents with words; name more documents")
    check_ids(pairs, texts)
    analyses = list(dict.fromkeys(each.analysis for each in settings))
    lessons = {analysis: _overlap_lesson(texts, pairs, analysis) for analysis in analyses} if pairs else {}
    if lessons:
        best = min(lessons, key=lambda analysis: (lessons[analysis].outcome.cost, lessons[analysis].unseen.cost))
        analyses, settings = [best], [each for each in settings if each.analysis == best]
    lesson = lessons.get(analyses[0])
    is_learned = overlap is None and lesson is not None and lesson.outcome.is_useful
    wanted = overlap or (Fraction(str(lesson.threshold)) if lesson and is_learned else Fraction(1, 2))
    wanted = min(max(wanted, Fraction(1, 100)), Fraction(99, 100)) if is_learned else wanted
    exact = {analysis: exact_overlaps(texts, analysis) for analysis in analyses}
    rows = []
    for each in settings:
        rows.append(measure(texts, exact[each.analysis], each, wanted, probability))
        progress("measuring", len(rows) / len(settings))
    share, first = float(wanted), exact[analyses[0]]
    recommended = recommend([row for row in rows if row.settings.analysis == analyses[0]], float(probability))
    near = first.count(share - NEAR, share + NEAR)
    return Tuning(len(texts), wanted, probability, first.count(share), near, tuple(rows), recommended, lessons)


def recommend(rows: Sequence[Measurement], probability: float) -> Measurement | None:
    """Return the row with the fewest bytes that finds enough and estimates closely; if none is close, the closest."""
    enough = [row for row in rows if row.wanted and row.recall >= probability]
    close = [row for row in enough if 2 * row.error <= CLOSE]
    if close:
        return min(close, key=lambda row: (row.bytes, row.query_ms))
    return min(enough, key=lambda row: row.error, default=None)


def _overlap_lesson(texts: Mapping[str, str], pairs: Sequence[LabelledPair], analysis: Analysis) -> Lesson[Analysis]:
    sets = {id: shingle_set(texts[id], analysis) for pair in pairs for id in (pair.a, pair.b)}
    return learn({analysis: [jaccard(sets[pair.a], sets[pair.b]) for pair in pairs]}, pairs)
