"""Settings measured on a sample: what is found, how wrong, what is recommended."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import combinations

import pytest

from simdoc_search.analysis import Analysis
from simdoc_search.errors import CorpusError
from simdoc_search.passages.exact import jaccard, shingle_set
from simdoc_search.sketch.minhash import MinHash
from simdoc_search.sketch.schemes import Xor
from simdoc_search.sketch.settings import Settings
from simdoc_search.tuning import LabelledPair, drawn, fitting, measured, planted, sample, truth_of
from simdoc_search.tuning.tune import tune

HALF, OFTEN = Fraction(1, 2), Fraction(95, 100)


def corpus(seed: int, count: int = 40, words: int = 300) -> dict[str, str]:
    """Documents of random words, and an edited copy of each that overlaps it by about one half."""
    chance = random.Random(seed)
    texts = {f"d{n}": " ".join(f"w{chance.randrange(5000)}" for _ in range(words)) for n in range(count)}
    return texts | {each.id: each.text for each in planted(texts, 0.55, count, seed)}


def buckets(*counts: int) -> list[Settings]:
    """Settings of so many buckets."""
    return [Settings(minhash=MinHash(bucket_count=each)) for each in counts]


def test_exact_overlaps_are_those_of_all_pairs() -> None:
    """As comparing each text with each gives them, but for those that share nothing."""
    texts = {
        **corpus(1, 8, 60),
        "empty": "",
        "same": "one two three four five six",
        "also": "One, two three four FIVE six",
    }
    sets = {id: shingle_set(text) for id, text in texts.items()}
    expected = {(a, b): jaccard(sets[a], sets[b]) for a, b in combinations(texts, 2) if sets[a] & sets[b]}
    truth = truth_of(texts)
    found = zip(truth.first.tolist(), truth.second.tolist(), truth.jaccard.tolist(), strict=True)

    assert expected == {(truth.ids[a], truth.ids[b]): value for a, b, value in found}
    assert {"also"} == truth.partners(1.0)["same"]
    assert 0 == len(truth_of({}).first)


@pytest.mark.parametrize("unit", ["word", "character"])
def test_planted_copies_overlap_about_as_wanted(unit: str) -> None:
    """They are called planted, and lie on both sides of the overlap; the same seed makes the same ones."""
    analysis = Analysis(unit="word") if unit == "word" else Analysis(unit="character", shingle_size=9)
    texts = {id: text for id, text in corpus(2).items() if id.startswith("d")}
    made = planted(texts, 0.5, 30, 3, analysis)
    found = [jaccard(shingle_set(texts[each.of], analysis), shingle_set(each.text, analysis)) for each in made]

    assert made == planted(texts, 0.5, 30, 3, analysis)
    assert all(each.id == f"planted: {each.of}" for each in made)
    assert 30 == len({each.of for each in made})
    assert 0.4 < sum(found) / 30 < 0.6
    assert min(found) < 0.5 < max(found)


def test_a_sample_is_drawn_by_chance_but_the_same_each_time() -> None:
    """Each item as often as any other; what is wanted is always there."""
    often = [0] * 10
    for seed in range(600):
        kept, total = drawn(map(str, range(10)), 3, seed, {"7"})
        assert (4, 10, "7") == (len(kept), total, kept[0])
        for each in kept:
            often[int(each)] += 1

    assert drawn("abcdefgh", 3, 5) == drawn("abcdefgh", 3, 5)
    assert ["a", "b"] == sorted(drawn("ab", 3, 5)[0])
    assert 600 == often.pop(7)
    assert all(140 < each < 260 for each in often), often


@pytest.mark.slow
def test_the_error_falls_with_the_root_of_the_size() -> None:
    """Sixteen times as many functions have a quarter of the error."""
    texts = corpus(4, 40, 1500)
    truth = truth_of(texts)

    def error(sketch: Xor | MinHash) -> float:
        return measured(texts, truth, Settings(minhash=sketch), overlap=HALF, probability=OFTEN).error

    assert 2.5 < error(Xor(32)) / error(Xor(512)) < 6
    assert error(MinHash(bucket_count=32)) > 2.5 * error(MinHash(bucket_count=512))


def test_long_texts_make_a_sample_smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two there are in any case, and those that are wanted."""
    monkeypatch.setattr(sample, "MOST_CHARACTERS", 10)
    texts = [("a", "x" * 8), ("b", "x" * 8), ("c", "x"), ("d", "x")]

    assert ["a", "b"] == [*fitting(texts)]
    assert ["a", "b", "c"] == [*fitting(texts, {"a", "b", "c"})]
    assert ["c", "d", "a"] == [*fitting([*texts[2:], *texts[:2]])]


@pytest.mark.slow
def test_what_is_recommended_finds_as_much_in_other_documents() -> None:
    """Its recall reaches the probability on documents that it was not chosen by."""
    found = tune(corpus(5, 100), buckets(16, 64, 256, 512), overlap=HALF, probability=OFTEN)
    assert found.recommended
    fresh = corpus(6, 150)
    again = measured(fresh, truth_of(fresh), found.recommended.settings, overlap=HALF, probability=OFTEN)

    assert again.wanted > 60
    assert again.recall >= OFTEN
    assert 2 * again.error < 0.06


def test_the_smallest_is_recommended_that_finds_enough_and_estimates_closely() -> None:
    """Others with fewer bytes are less close, those with more are not taken; what finds too little never is."""
    found = tune(corpus(7, 20), buckets(64, 512, 1024), overlap=HALF)
    few, enough, many = found.rows

    assert enough is found.recommended
    assert few.error > 0.025 >= enough.error
    assert few.bytes < enough.bytes < many.bytes
    assert min(each.recall for each in found.rows) >= OFTEN
    none = tune(corpus(7, 4), buckets(64), overlap=Fraction(99, 100))
    assert (None, 0, 0) == (none.recommended, none.pairs, none.rows[0].wanted)


def test_pairs_choose_the_sets_that_tell_them_apart() -> None:
    """Of single words the copies with other words in order are the same; of shingles they are not."""
    texts = {id: text for id, text in corpus(8, 6).items() if id.startswith("d")}
    shuffled = {f"s{id}": " ".join(sorted(text.split())) for id, text in texts.items()}
    edited = {each.id: each.text for each in planted(texts, 0.6, 6, 1)}
    judged = [LabelledPair(id, f"s{id}", same=False) for id in texts] + [
        LabelledPair(id, f"planted: {id}", same=True) for id in texts
    ]
    kinds = [Analysis(shingle_size=1), Analysis()]
    found = tune(texts | shuffled | edited, [Settings(analysis=each) for each in kinds], judged=judged)

    assert [False, True] == [found.learned[each].separable for each in kinds]
    assert [Analysis()] == [each.settings.analysis for each in found.rows]
    assert 0 < found.overlap < Fraction(7, 10)


@pytest.mark.parametrize("texts", [{}, {"a": "one text alone"}, {"a": "one text", "b": " . "}])
def test_overlaps_are_of_two(texts: dict[str, str]) -> None:
    """Nothing, one document, or one with words: a sentence, no table."""
    with pytest.raises(CorpusError, match="fewer than two documents with words"):
        tune(texts, buckets(64))
