"""Thresholds of versions and of related documents are learned from labelled pairs."""

from __future__ import annotations

from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search import Document, Settings, SimilaritySearch, open_store
from simdoc_search.errors import CorpusError, FormatMismatchError
from simdoc_search.sketch.concepts import ConceptSettings
from simdoc_search.sketch.sentences import SentenceSettings
from simdoc_search.sketch.thresholds import MAX_DISTANCE_LIMIT, SimilarityThresholds
from simdoc_search.stores.base import Store
from simdoc_search.stores.sentences_and_concepts import compute_sentence_simhashes
from simdoc_search.stores.upgrade import set_thresholds
from simdoc_search.tuning import ConfusionCounts, LabelledPair, learn_related_thresholds, learn_version_thresholds
from simdoc_search.versions import SentenceMatches, match_sentences
from tests.support.families import prose
from tests.support.slow_cases import examples, slow_after
from tests.versions.paper import DOCUMENTS

BOTH = Settings(sentences=SentenceSettings(), concepts=ConceptSettings())
FIRST = prose(12, 1)
TEXTS = {
    **{f"paper{number}": text for number, text in enumerate(DOCUMENTS, 1)},
    "first": " ".join(FIRST),
    "third": " ".join(prose(9, 2)[:3] + FIRST[4:8] + prose(9, 2)[3:]),
    "fifth": " ".join(prose(9, 3)[:3] + FIRST[4:6] + prose(9, 3)[3:]),
    "edited": " ".join(sentence.replace(" ", " quite ", 2) for sentence in FIRST),
}
YES = [("paper1", "paper2"), ("first", "edited"), ("first", "third")]
NO = [("first", "fifth"), ("paper3", "paper4"), ("paper1", "paper5"), ("paper1", "first")]


def label_pairs(yes: list[tuple[str, str]], no: list[tuple[str, str]]) -> list[LabelledPair]:
    both = [(*pair, True) for pair in yes] + [(*pair, False) for pair in no]
    return [LabelledPair(a, b, label, line) for line, (a, b, label) in enumerate(both, 1)]


@cache
def filled_store(with_sentences: bool = True) -> Store:
    """Return a store with the texts, with or without sentences and concepts."""
    store = open_store(":memory:", BOTH if with_sentences else Settings(), create=True)
    SimilaritySearch(store).index(Document(id, text) for id, text in TEXTS.items())
    return store


@cache
def match_texts(a: str, b: str, bits: int) -> SentenceMatches:
    sentences, others = (compute_sentence_simhashes(TEXTS[id], Settings().analysis) for id in (a, b))
    return match_sentences(sentences, others, bits)


@pytest.mark.parametrize("with_sentences", slow_after(1, [True, False]))
def test_versions_with_learned_thresholds_agree_with_the_labels(with_sentences: bool) -> None:
    """A third of similar sentences is min_share for these labels."""
    store, pairs = filled_store(with_sentences), label_pairs(YES, NO)
    learned = learn_version_thresholds(store, pairs)
    search = SimilaritySearch(store)
    options: dict[str, Any] = {
        "min_share": learned.best_thresholds.min_share,
        "max_distance": learned.best_thresholds.max_distance,
    }
    versions = {id: {hit.id for hit in search.versions(id, **options).hits} for id in TEXTS}

    assert (ConfusionCounts(2, 3, 0, 4), ConfusionCounts(3, 3, 0, 4)) == (
        learned.current_counts,
        learned.learned_threshold.counts,
    )
    assert ((), 1.0, 1.0) == (
        learned.learned_threshold.misclassified_pairs,
        learned.learned_threshold.counts.precision,
        learned.learned_threshold.counts.recall,
    )
    assert 1 / 5 < learned.best_thresholds.min_share <= 1 / 3
    assert (learned.current_thresholds.min_smaller_share, learned.current_thresholds.min_score) == (
        learned.best_thresholds.min_smaller_share,
        learned.best_thresholds.min_score,
    )
    assert [pair.is_yes for pair in pairs] == [pair.second_id in versions[pair.first_id] for pair in pairs]


@pytest.mark.slow
@examples(0.4)
@given(st.permutations(sorted(combinations(sorted(TEXTS), 2))), st.integers(2, 9), st.data())
def test_no_thresholds_on_a_grid_are_better_than_the_learned_limits(
    ids: list[tuple[str, str]], count: int, data: st.DataObject
) -> None:
    """The thresholds of the index are kept if none are better."""
    cut = data.draw(st.integers(1, count - 1))
    pairs = label_pairs(ids[:cut], ids[cut:count])
    learned = learn_version_thresholds(filled_store(), pairs)

    def cost(thresholds: SimilarityThresholds) -> int:
        yes = [
            thresholds.score_matches(match_texts(pair.first_id, pair.second_id, thresholds.max_distance)) is not None
            for pair in pairs
        ]
        missed = sum(pair.is_yes and not is_yes for pair, is_yes in zip(pairs, yes, strict=True))
        taken = sum(is_yes and not pair.is_yes for pair, is_yes in zip(pairs, yes, strict=True))
        return missed * (count - cut) + taken * cut

    grid = [
        SimilarityThresholds(enough / 20, 0.1, bits)
        for bits in (0, 7, 12, MAX_DISTANCE_LIMIT)
        for enough in range(2, 21, 3)
    ]
    assert learned.learned_threshold.counts.balanced_error == cost(learned.best_thresholds) <= min(map(cost, grid))
    assert learned.current_counts.balanced_error == cost(SimilarityThresholds())
    assert (learned.best_thresholds != learned.current_thresholds) == (
        learned.learned_threshold.counts.balanced_error < learned.current_counts.balanced_error
    )


def test_a_minimum_score_is_learned(tmp_path: Path) -> None:
    learned = learn_related_thresholds(filled_store(), label_pairs([("paper1", "paper2")], [("paper3", "paper4")]))
    score = SimilaritySearch(filled_store()).related("paper3").hits[0].score

    assert (ConfusionCounts(1, 1, 1, 1), ConfusionCounts(1, 1, 0, 1)) == (
        learned.current_counts,
        learned.learned_threshold.counts,
    )
    assert score < learned.best_thresholds.min_score <= 1.0


def test_stored_thresholds_decide_which_pairs_are_versions(tmp_path: Path) -> None:
    with open_store(tmp_path / "s", BOTH, create=True) as store:
        SimilaritySearch(store).index(Document(id, text) for id, text in TEXTS.items())
        set_thresholds(store, SimilarityThresholds(min_share=1.0, max_distance=0))
    with open_store(tmp_path / "s") as store:
        learned = learn_related_thresholds(store, label_pairs([("paper3", "paper4")], [("paper1", "paper5")]))

    assert SimilarityThresholds(1.0, 0.1, 0, 0.5) == learned.current_thresholds == learned.best_thresholds


def test_missing_documents_and_concepts_are_errors() -> None:
    with pytest.raises(CorpusError, match="line 2 of the pairs file: no document has the id 'nobody'"):
        learn_version_thresholds(filled_store(), label_pairs([("first", "third")], [("first", "nobody")]))
    with open_store(":memory:", create=True) as plain, pytest.raises(FormatMismatchError, match="--with related"):
        learn_related_thresholds(plain, label_pairs([("first", "third")], [("first", "fifth")]))
