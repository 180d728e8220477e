"""Tests of the candidates of `passages` and of containment, in every store."""

from __future__ import annotations

import random

import pytest

from simdoc_search import Document, Settings, SimilaritySearch
from simdoc_search.analysis.settings import Analysis
from simdoc_search.passages.align import EDITED, AlignmentSettings
from simdoc_search.passages.word_spans import empty_mask
from simdoc_search.search.passage_candidates import choose_phrases
from simdoc_search.search.stored_texts import AnalysedText
from tests.support.stores import NewStore
from tests.support.texts import distinct_words


def replace_words(words: list[str], every: int, seed: int) -> list[str]:
    """Replace one word in every `every` words."""
    return [f"x{seed}y{number}" if number % every == every - 1 else word for number, word in enumerate(words)]


def analysed(words: list[str]) -> AnalysedText:
    return AnalysedText.from_text(" ".join(words), Analysis())


@pytest.mark.parametrize(
    ("count", "min_run", "run", "length"),
    [
        (6, None, 6, 6),
        (7, None, 6, 6),
        (1_000, None, 6, 6),
        (1_001, None, 12, 6),
        (1_013, None, 12, 6),
        (1_013, 6, 6, 6),
        (1_013, 9, 9, 6),
        (1_013, 30, 12, 6),
        (1_013, 3, 3, 3),
        (50, 1, 1, 1),
    ],
)
def test_every_run_of_the_guaranteed_length_has_a_phrase(
    count: int, min_run: int | None, run: int, length: int
) -> None:
    words = distinct_words(count, count)
    alignment = AlignmentSettings(min_run)
    phrases = {phrase.words for phrase in choose_phrases(analysed(words), empty_mask(len(words)), alignment)}

    assert {length} == {len(phrase) for phrase in phrases}
    for first in range(count - run + 1):
        assert phrases & {tuple(words[start : start + length]) for start in range(first, first + run - length + 1)}


def test_a_short_text_is_one_phrase_and_equal_phrases_are_queried_once() -> None:
    (phrase,) = choose_phrases(AnalysedText.from_text("– To be, or NOT…", Analysis()), empty_mask(4), EDITED)

    assert (("to", "be", "or", "not"), "To be, or NOT") == (phrase.words, phrase.text)
    assert 1 == len(choose_phrases(analysed(["x"] * 50), empty_mask(50), EDITED))
    assert [] == choose_phrases(analysed([]), empty_mask(), EDITED)


@pytest.mark.parametrize("settings", [Settings(), Settings(indexes_word_pairs=False)])
def test_passages_and_containment_find_what_similar_finds(new_store: NewStore, settings: Settings) -> None:
    """The texts have 80 to 400 words, and each pair shares a run of 12 to 20 words."""
    rng = random.Random(1)
    texts = {}
    for pair in range(4):
        run = distinct_words(rng.randint(12, 20), 1_000 + pair)
        for side in (0, 1):
            words = distinct_words(rng.randint(80, 400), 2 * pair + side)
            start = rng.randrange(len(words))
            texts[f"{pair}-{side}"] = " ".join([*words[:start], *run, *words[start:]])
    with new_store(settings) as store:
        search = SimilaritySearch(store)
        search.index(Document(id, text) for id, text in texts.items())
        for pair in range(4):
            query, partner = f"{pair}-0", f"{pair}-1"
            similar = {hit.id for hit in search.similar(query, overlap=0)}
            contained = {hit.id for hit in search.similar(query, overlap=0, measure="containment")}
            result = search.passages(query, min_words=12)
            passages = {hit.id for hit in result}

            assert similar <= contained
            assert similar & {partner} <= passages
            assert partner in passages or not settings.indexes_word_pairs
            if store.can_find_phrases:
                assert (12, 0) == (result.guaranteed_run_length, result.too_common_run_count)
                assert partner in contained


@pytest.mark.slow
@pytest.mark.parametrize(("length", "min_hits"), [(40, 7), pytest.param(150, 10, marks=pytest.mark.slow)])
def test_passages_with_every_eighth_word_replaced_are_found(new_store: NewStore, length: int, min_hits: int) -> None:
    with new_store() as store:
        search = SimilaritySearch(store)
        sources = {f"{n}": distinct_words(600, n) for n in range(10)}
        search.index(Document(id, " ".join(words)) for id, words in sources.items())
        for around in (30, 1_500):
            hits = 0
            for seed, (id, words) in enumerate(sources.items()):
                own = distinct_words(around, 100 + seed)
                passage = replace_words(words[99 : 99 + length], 8, seed)
                text = " ".join([*own[: around // 2], *passage, *own[around // 2 :]])
                hits += id in {hit.id for hit in search.passages(text=text)}

            assert hits >= min_hits


@pytest.mark.parametrize(
    ("settings", "around", "run"),
    [
        (Settings(), 500, 6),
        (Settings(), 1_200, 12),
        (Settings(), 1_200, 6),
        (Settings(), 500, 3),
        (Settings(indexes_word_pairs=False), 500, 36),
    ],
    ids=["short text", "long text", "short runs of a long text", "very short runs", "words not indexed"],
)
def test_every_run_of_the_promised_length_is_found(
    new_store: NewStore, settings: Settings, around: int, run: int
) -> None:
    with new_store(settings) as store:
        search = SimilaritySearch(store)
        texts = {f"{n}": distinct_words(300, n) for n in range(3)}
        search.index(Document(id, " ".join(words)) for id, words in texts.items())
        for shift, (id, words) in enumerate(texts.items()):
            own = distinct_words(around, 50 + shift)
            text = " ".join([*own[: 300 + shift], *words[7 * shift : 7 * shift + run], *own[300 + shift :]])
            result = search.passages(text=text, min_words=run)

            assert [id] == [hit.id for hit in result]
            if store.can_find_phrases:
                assert run == result.guaranteed_run_length
