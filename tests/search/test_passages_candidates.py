"""What `passages` and containment look at: at least what any other command finds, in every store."""

from __future__ import annotations

import random

import pytest

from simdoc_search import Document, Settings, SimilaritySearch
from simdoc_search.analysis.settings import Analysis
from simdoc_search.passages.word_spans import no_words
from simdoc_search.search.passages_candidates import phrases_of
from simdoc_search.search.stored_texts import AnalysedText
from tests.support.stores import NewStore


def prose(count: int, seed: int) -> list[str]:
    """Words of which no run repeats."""
    return [f"w{number}" for number in random.Random(seed).sample(range(100_000), count)]


def edited(words: list[str], every: int, seed: int) -> list[str]:
    """The same words, each of so many replaced."""
    return [f"x{seed}y{at}" if at % every == every - 1 else each for at, each in enumerate(words)]


def read(words: list[str]) -> AnalysedText:
    """A text."""
    return AnalysedText.of(" ".join(words), Analysis())


# --- phrases ---


@pytest.mark.parametrize(
    ("count", "run"), [(6, 6), (7, 6), (100, 6), (1_000, 6), (1_001, 12), (1_013, 12), (3_000, 12)]
)
def test_each_run_of_the_guaranteed_length_has_a_phrase(count: int, run: int) -> None:
    """Wherever it begins."""
    words = prose(count, count)
    phrases = {each.words for each in phrases_of(read(words), no_words(len(words)))}

    assert {6} == {len(each) for each in phrases}
    for first in range(count - run + 1):
        its = {tuple(words[at : at + 6]) for at in range(first, first + run - 5)}
        assert its & phrases


def test_a_short_text_is_one_phrase_and_no_phrase_is_asked_twice() -> None:
    """As it stands in the text."""
    (only,) = phrases_of(AnalysedText.of("– To be, or NOT…", Analysis()), no_words(4))

    assert (("to", "be", "or", "not"), "To be, or NOT") == (only.words, only.text)
    assert 1 == len(phrases_of(read(["x"] * 50), no_words(50)))
    assert [] == phrases_of(read([]), no_words())


# --- candidates ---


@pytest.mark.parametrize("settings", [Settings(), Settings(words=False)])
def test_passages_and_containment_find_what_similar_finds(new_store: NewStore, settings: Settings) -> None:
    """Texts of 80 to 400 words that share a run of 12 to 20, with and without an index of words."""
    chosen = random.Random(1)
    texts = {}
    for pair in range(12):
        run = prose(chosen.randint(12, 20), 1_000 + pair)
        for side in (0, 1):
            words = prose(chosen.randint(80, 400), 2 * pair + side)
            at = chosen.randrange(len(words))
            texts[f"{pair}-{side}"] = " ".join([*words[:at], *run, *words[at:]])
    with new_store(settings) as store:
        search = SimilaritySearch(store)
        search.index(Document(id, text) for id, text in texts.items())
        partners = 0
        for pair in range(12):
            asked, partner = f"{pair}-0", f"{pair}-1"
            similar = {hit.id for hit in search.similar(asked, overlap=0).hits}
            passages = search.passages(asked, min_words=12)
            contained = search.similar(asked, overlap=0, measure="containment")

            assert similar <= {hit.id for hit in contained.hits}
            assert similar & {partner} <= {hit.id for hit in passages.hits}
            partners += partner in {hit.id for hit in passages.hits}
            if store.finds_phrases:
                assert (12, 0) == (passages.run, passages.too_common)
                assert partner in {hit.id for hit in contained.hits}

    assert partners == 12 or not settings.words


@pytest.mark.parametrize(("length", "least"), [(40, 7), (80, 9), (150, 10)])
def test_edited_passages_are_found(new_store: NewStore, length: int, least: int) -> None:
    """With every 8th word replaced, of short and of long texts; in 7, 9, 10 of 10 cases."""
    with new_store() as store:
        search = SimilaritySearch(store)
        sources = {f"{n}": prose(600, n) for n in range(10)}
        search.index(Document(id, " ".join(words)) for id, words in sources.items())
        for around in (30, 1_500):
            found = 0
            for seed, (id, words) in enumerate(sources.items()):
                own = prose(around, 100 + seed)
                text = " ".join([*own[: around // 2], *edited(words[99 : 99 + length], 8, seed), *own[around // 2 :]])
                found += id in {hit.id for hit in search.passages(text=text).hits}

            assert found >= least


def test_every_run_of_a_long_text_that_is_promised_is_found(new_store: NewStore) -> None:
    """12 words of any document, in a text of over 1,000 words; 6 in a shorter one."""
    with new_store() as store:
        search = SimilaritySearch(store)
        texts = {f"{n}": prose(300, n) for n in range(5)}
        search.index(Document(id, " ".join(words)) for id, words in texts.items())
        for around, run in ((500, 6), (1_200, 12)):
            for shift, (id, words) in enumerate(texts.items()):
                own = prose(around, 50 + shift)
                text = " ".join([*own[: 300 + shift], *words[7 * shift : 7 * shift + run], *own[300 + shift :]])
                result = search.passages(text=text, min_words=run)

                assert (run, [id]) == (result.run, [hit.id for hit in result.hits])
