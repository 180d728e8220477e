"""Learns the overlap of duplicates from labelled pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from simdoc_search.analysis.settings import Analysis
from simdoc_search.passages.exact_overlap import jaccard, shingle_set
from simdoc_search.tuning.labelled_pairs import LabelledPair, LearnedThreshold, check_ids, learn_threshold


def learn_overlaps(
    texts: Mapping[str, str], pairs: Sequence[LabelledPair], analyses: Sequence[Analysis]
) -> list[LearnedThreshold[Analysis]]:
    """For each analysis, learn the minimum overlap that best separates the pairs. The best analysis comes first.

    Args:
        texts: maps the ids of the documents to their texts.
        pairs: the labelled pairs.
        analyses: the ways to split a text into shingles. If several are equally good, their order is kept.

    Raises:
        CorpusError: a labelled document is missing.
    """
    check_ids(pairs, texts)
    return sorted(
        (_learn_overlap(texts, pairs, analysis) for analysis in analyses),
        key=lambda learned: (learned.counts.balanced_error, learned.cross_validated_counts.balanced_error),
    )


def _learn_overlap(
    texts: Mapping[str, str], pairs: Sequence[LabelledPair], analysis: Analysis
) -> LearnedThreshold[Analysis]:
    sets = {id: shingle_set(texts[id], analysis) for pair in pairs for id in (pair.first_id, pair.second_id)}
    return learn_threshold({analysis: [jaccard(sets[pair.first_id], sets[pair.second_id]) for pair in pairs]}, pairs)
