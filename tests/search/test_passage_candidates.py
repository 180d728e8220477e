"""Tests of the candidates of `passages` and of containment, in every store."""

from __future__ import annotations

import random

import pytest

from simdoc_search import Document, Settings, SimilaritySearch, open_store
from simdoc_search.analysis.settings import Analysis
from simdoc_search.passages.align import EDITED, AlignmentSettings
from simdoc_search.passages.typography import locate_unified_words
from simdoc_search.passages.word_spans import empty_mask
from simdoc_search.search.passage_candidates import Variant, choose_phrases
from simdoc_search.search.stored_texts import AnalysedText
from tests.support.stores import NewStore
from tests.support.texts import distinct_words
from tests.support.typography import NARROW_SPACE, as_on_a_web_page, french_text


def replace_words(words: list[str], every: int, seed: int) -> list[str]:
    """Replace one word in every `every` words."""
    return [f"x{seed}y{number}" if number % every == every - 1 else word for number, word in enumerate(words)]


def variants(text: str) -> list[Variant]:
    analysed = AnalysedText.from_text(text, Analysis())
    return [Variant.from_text(analysed, analysed.words)]


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
    phrases = {phrase.words for phrase in choose_phrases(variants(" ".join(words)), empty_mask(len(words)), alignment)}

    assert {length} == {len(phrase) for phrase in phrases}
    for first in range(count - run + 1):
        assert phrases & {tuple(words[start : start + length]) for start in range(first, first + run - length + 1)}


def test_a_short_text_is_one_phrase_and_equal_phrases_are_queried_once() -> None:
    (phrase,) = choose_phrases(variants("– To be, or NOT…"), empty_mask(4), EDITED)

    assert (("to", "be", "or", "not"), "To be, or NOT") == (phrase.words, phrase.text)
    assert 1 == len(choose_phrases(variants("x " * 50), empty_mask(50), EDITED))
    assert [] == choose_phrases(variants(""), empty_mask(), EDITED)


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


@pytest.mark.parametrize("settings", [Settings(), Settings(indexes_word_pairs=False)])
def test_a_short_copy_with_other_apostrophes_and_spaces_is_found(new_store: NewStore, settings: Settings) -> None:
    """Also if each run of six words has one. The answer is that of a copy with the same characters."""
    texts = {f"{seed}": french_text(60, seed) for seed in range(3)}
    written = {id: text if id == "0" else as_on_a_web_page(text) for id, text in texts.items()}
    with new_store(settings) as store:
        search = SimilaritySearch(store)
        search.index([*(Document(id, text) for id, text in written.items()), Document("own", french_text(60, 9))])
        for id, text in texts.items():
            for query in (text, as_on_a_web_page(text)):
                result = search.passages(text=query)

                assert [(id, 1.0)] == [(hit.id, hit.share) for hit in result.hits]


def test_each_run_of_six_words_is_found_whatever_characters_it_is_written_with() -> None:
    """The runs do not end at a narrow space, as it joins the words at its sides."""
    text = f" {french_text(90, 1)} "
    words = locate_unified_words(text)
    spans = [(int(start), int(end)) for start, end in zip(words.starts, words.ends[5:], strict=False)]
    runs = [(start, end) for start, end in spans if NARROW_SPACE not in (text[start - 1], text[end])]
    for written, query in ((text, as_on_a_web_page(text)), (as_on_a_web_page(text), text)):
        search = SimilaritySearch(open_store(":memory:"))
        search.index(Document(str(start), f"own words {written[start:end]} and others") for start, end in runs)
        hits = search.passages(text=query, size=len(runs)).hits

        assert 60 < len(runs) == sum(hit.word_count >= 6 for hit in hits)


def test_a_run_that_is_too_common_in_two_spellings_counts_once() -> None:
    search = SimilaritySearch(open_store(":memory:"))
    common = "it isn{}t the end of the world"
    search.index(Document(f"{number}", common.format("'\u2019"[number % 2])) for number in range(12_100))

    assert 1 == search.passages(text=common.format("'")[:-6], size=1).too_common_run_count
