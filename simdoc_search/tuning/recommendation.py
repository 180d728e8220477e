"""Measures several settings on one sample, and recommends one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from simdoc_search.analysis.settings import Analysis
from simdoc_search.errors import CorpusError
from simdoc_search.passages.exact_overlap import jaccard, shingle_set
from simdoc_search.sketch.settings import Settings
from simdoc_search.tuning.labelled_pairs import LabelledPair, LearnedThreshold, check_ids, learn_threshold
from simdoc_search.tuning.measurement import Measurement, measure
from simdoc_search.tuning.sample import compute_exact_overlaps

MIN_NEAR_PAIRS = 30
"""Minimum number of pairs near the required overlap. With fewer pairs, the measured recall is not reliable."""

MAX_NEAR_DIFFERENCE = 0.1
"""Maximum difference from the required overlap, for pairs that are near it."""

MAX_95_PERCENT_ERROR = 0.05
"""Maximum error that 95 % of the estimates may have. Twice the root mean square error must not exceed it."""


@dataclass(frozen=True, slots=True)
class TuningResult:
    """The measurements on a sample, and the recommendation."""

    document_count: int  # number of documents in the sample
    overlap: Fraction  # the required Jaccard similarity, as given or as learned from labelled pairs
    probability: Fraction  # the required probability of finding a document with exactly this overlap
    # number of pairs in the sample with at least the required overlap, with the analysis of the first of `measurements`
    pair_count: int
    near_pair_count: int  # number of pairs whose overlap differs from the required one by at most MAX_NEAR_DIFFERENCE
    measurements: tuple[Measurement, ...]  # one measurement per setting
    recommendation: Measurement | None  # the recommended measurement; None if no setting reaches the probability
    learned_thresholds: Mapping[Analysis, LearnedThreshold[Analysis]]  # empty without labelled pairs


def tune(
    texts: Mapping[str, str],
    settings: Sequence[Settings],
    *,
    overlap: Fraction | None = None,
    probability: Fraction = Fraction(95, 100),
    pairs: Sequence[LabelledPair] = (),
    progress: Callable[[str, float], None] = lambda _stage, _share: None,
) -> TuningResult:
    """Measure settings on documents, against exact overlaps.

    The recommended setting reaches the required probability, and 95 % of its estimates are within 5 percentage points
    of the exact overlap. Of all such settings, it takes the fewest bytes. With labelled pairs, only settings with the
    analysis that best separates the pairs are measured.

    Args:
        texts: maps the ids of the documents to their texts.
        settings: the settings to measure.
        overlap: the required Jaccard similarity, greater than 0 and at most 1. If it is None, it is learned from the
            pairs. Without pairs, or if no threshold separates them well, 1/2 is used.
        probability: the required probability of finding a document with exactly this overlap, greater than 0 and at
            most 1.
        pairs: pairs of documents that are labelled as duplicates or not.
        progress: called with the current stage and the share of the stage that is done, 0..1.

    Raises:
        CorpusError: fewer than two documents have words, or a labelled document is missing.
        MissingExtraError: the local store, or the package of a sketch, is not installed.
    """
    if sum(any(map(str.isalnum, text)) for text in texts.values()) < 2:
        raise CorpusError("there are fewer than two documents with words; give more documents")
    check_ids(pairs, texts)
    analyses = list(dict.fromkeys(setting.analysis for setting in settings))
    learned_thresholds = {analysis: _learn_overlap(texts, pairs, analysis) for analysis in analyses} if pairs else {}
    if learned_thresholds:
        best = min(
            learned_thresholds,
            key=lambda analysis: (
                learned_thresholds[analysis].counts.balanced_error,
                learned_thresholds[analysis].cross_validated_counts.balanced_error,
            ),
        )
        analyses, settings = [best], [setting for setting in settings if setting.analysis == best]
    threshold = learned_thresholds.get(analyses[0])
    is_learned = overlap is None and threshold is not None and threshold.counts.is_useful
    required_overlap = overlap or (Fraction(str(threshold.threshold)) if threshold and is_learned else Fraction(1, 2))
    required_overlap = (
        min(max(required_overlap, Fraction(1, 100)), Fraction(99, 100)) if is_learned else required_overlap
    )
    exact = {analysis: compute_exact_overlaps(texts, analysis) for analysis in analyses}
    measurements = []
    for setting in settings:
        measurements.append(measure(texts, exact[setting.analysis], setting, required_overlap, probability))
        progress("measuring", len(measurements) / len(settings))
    min_overlap, first_overlaps = float(required_overlap), exact[analyses[0]]
    recommended = recommend([row for row in measurements if row.settings.analysis == analyses[0]], float(probability))
    near_pair_count = first_overlaps.count_pairs(min_overlap - MAX_NEAR_DIFFERENCE, min_overlap + MAX_NEAR_DIFFERENCE)
    return TuningResult(
        len(texts),
        required_overlap,
        probability,
        first_overlaps.count_pairs(min_overlap),
        near_pair_count,
        tuple(measurements),
        recommended,
        learned_thresholds,
    )


def recommend(measurements: Sequence[Measurement], probability: float) -> Measurement | None:
    """Return the measurement with the fewest bytes that reaches the probability and has a small enough error.

    If no error is small enough, return the measurement with the smallest error that reaches the probability. If no
    measurement reaches the probability, return None.
    """
    with_recall = [row for row in measurements if row.expected_hit_count and row.recall >= probability]
    with_small_error = [row for row in with_recall if 2 * row.error <= MAX_95_PERCENT_ERROR]
    if with_small_error:
        return min(with_small_error, key=lambda row: (row.bytes_per_document, row.query_ms))
    return min(with_recall, key=lambda row: row.error, default=None)


def _learn_overlap(
    texts: Mapping[str, str], pairs: Sequence[LabelledPair], analysis: Analysis
) -> LearnedThreshold[Analysis]:
    sets = {id: shingle_set(texts[id], analysis) for pair in pairs for id in (pair.first_id, pair.second_id)}
    return learn_threshold({analysis: [jaccard(sets[pair.first_id], sets[pair.second_id]) for pair in pairs]}, pairs)
