"""Settings are measured on a sample, and one of them is recommended."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import combinations

import pytest

from simdoc_search.analysis import Analysis
from simdoc_search.errors import CorpusError
from simdoc_search.passages.exact_overlap import jaccard, shingle_set
from simdoc_search.sketch.minhash import MinHash
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.sketches import XorSketch
from simdoc_search.tuning import LabelledPair, draw_sample, limit_texts, measure, sample, tune
from simdoc_search.tuning.sample import compute_exact_overlaps
from tests.support.edited_copies import edited_copies

HALF, OFTEN = Fraction(1, 2), Fraction(95, 100)


def corpus(seed: int, count: int = 40, words: int = 300) -> dict[str, str]:
    """Return documents of random words, and an edited copy of each that overlaps it by about one half."""
    rng = random.Random(seed)
    texts = {f"d{n}": " ".join(f"w{rng.randrange(5000)}" for _ in range(words)) for n in range(count)}
    return texts | edited_copies(texts, 0.55, seed)


def buckets(*counts: int) -> list[Settings]:
    return [Settings(sketch=MinHash(bucket_count=count)) for count in counts]


def test_exact_overlaps_are_those_of_comparing_all_pairs() -> None:
    """Pairs that share nothing are left out."""
    same = {"same": "one two three four five six", "also": "One, two three four FIVE six", "empty": ""}
    texts = corpus(1, 8, 60) | same
    sets = {id: shingle_set(text) for id, text in texts.items()}
    expected = {(a, b): jaccard(sets[a], sets[b]) for a, b in combinations(texts, 2) if sets[a] & sets[b]}
    found = compute_exact_overlaps(texts)
    pairs = zip(found.first_documents.tolist(), found.second_documents.tolist(), found.jaccard.tolist(), strict=True)

    assert expected == {(found.ids[a], found.ids[b]): overlap for a, b, overlap in pairs}
    assert {"also"} == found.find_overlapping_ids(1.0)["same"]
    assert 0 == len(compute_exact_overlaps({}).first_documents)


def test_a_sample_is_random_and_the_same_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each item is equally likely. Required items are always drawn."""
    counts = [0] * 10
    for seed in range(600):
        monkeypatch.setattr(sample, "_SEED", seed)
        drawn, total = draw_sample(map(str, range(10)), 3, {"7"})
        assert (4, 10, "7") == (len(drawn), total, drawn[0])
        for item in drawn:
            counts[int(item)] += 1

    assert draw_sample("abcdefgh", 3) == draw_sample("abcdefgh", 3)
    assert ["a", "b"] == sorted(draw_sample("ab", 3)[0])
    assert 600 == counts.pop(7)
    assert all(140 < count < 260 for count in counts), counts


def test_long_texts_make_a_sample_smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample, "MAX_TOTAL_CHARACTERS", 10)
    texts = [("a", "x" * 8), ("b", "x" * 8), ("c", "x"), ("d", "x")]

    assert ["a", "b"] == [*limit_texts(texts)]
    assert ["a", "b", "c"] == [*limit_texts(texts, {"a", "b", "c"})]
    assert ["c", "d", "a"] == [*limit_texts([*texts[2:], *texts[:2]])]


@pytest.mark.slow
def test_the_error_is_inversely_proportional_to_the_square_root_of_the_sketch_size() -> None:
    texts = corpus(4, 40, 1500)
    exact = compute_exact_overlaps(texts)

    def error(sketch: XorSketch | MinHash) -> float:
        return measure(texts, exact, Settings(sketch=sketch), HALF, OFTEN).error

    assert 2.5 < error(XorSketch(32)) / error(XorSketch(512)) < 6
    assert error(MinHash(bucket_count=32)) > 2.5 * error(MinHash(bucket_count=512))


@pytest.mark.slow
def test_the_recommended_setting_also_finds_enough_in_other_documents() -> None:
    found = tune(corpus(5, 100), buckets(16, 64, 256, 512), overlap=HALF, probability=OFTEN)
    assert found.recommendation
    others = corpus(6, 150)
    again = measure(others, compute_exact_overlaps(others), found.recommendation.settings, HALF, OFTEN)

    assert again.expected_hit_count > 60
    assert again.recall >= OFTEN
    assert 2 * again.error < 0.06


def test_the_smallest_setting_with_enough_recall_and_small_error_is_recommended() -> None:
    found = tune(corpus(7, 20), buckets(64, 512, 1024), overlap=HALF)
    few, enough, many = found.measurements

    assert enough is found.recommendation
    assert few.error > 0.025 >= enough.error
    assert few.bytes_per_document < enough.bytes_per_document < many.bytes_per_document
    assert enough.recall >= OFTEN
    none = tune(corpus(7, 4), buckets(64), overlap=Fraction(99, 100))
    assert (None, 0, 0) == (none.recommendation, none.pair_count, none.measurements[0].expected_hit_count)


def test_labelled_pairs_select_the_shingles_that_separate_them() -> None:
    """With shingles of one word, texts with the same words in another order are equal."""
    texts = {id: text for id, text in corpus(8, 6).items() if id.startswith("d")}
    shuffled = {f"s{id}": " ".join(sorted(text.split())) for id, text in texts.items()}
    pairs = [LabelledPair(id, f"s{id}", is_yes=False) for id in texts]
    pairs += [LabelledPair(id, f"copy of {id}", is_yes=True) for id in texts]
    analyses = [Analysis(shingle_size=1), Analysis()]
    everything = texts | shuffled | edited_copies(texts, 0.6, 1)
    found = tune(everything, [Settings(analysis=each) for each in analyses], pairs=pairs)

    assert [False, True] == [found.learned_thresholds[each].counts.balanced_error == 0 for each in analyses]
    assert [Analysis()] == [row.settings.analysis for row in found.measurements]
    assert 0 < found.overlap < Fraction(7, 10)


@pytest.mark.parametrize("texts", [{}, {"a": "one text alone"}, {"a": "one text", "b": " . "}])
def test_fewer_than_two_documents_with_words_are_refused(texts: dict[str, str]) -> None:
    with pytest.raises(CorpusError, match="fewer than two documents with words"):
        tune(texts, buckets(64))
