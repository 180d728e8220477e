"""Tests of `passages`: the share of the text that all hits cover, the order of the hits, and ignored words."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from simdoc_search import Document, PassageResult, SimilaritySearch
from tests.support.stores import NewStore

DOCUMENTS, SOURCES = 80, 20


class Words:
    """A source of words that never repeat."""

    def __init__(self) -> None:
        self._words = (f"w{number:x}" for number in itertools.count())

    def next(self, count: int) -> list[str]:
        return list(itertools.islice(self._words, count))


class Thesis(NamedTuple):
    """A text that is copied from many documents."""

    search: SimilaritySearch  # a search over the documents
    text: str  # the text
    sources: dict[str, int]  # number of words that the text copies from each document


@pytest.fixture(scope="module")
def thesis(shared_store: NewStore) -> Thesis:
    rng, new = random.Random(5), Words()
    documents = {f"d{number}": new.next(rng.randrange(100, 400)) for number in range(DOCUMENTS)}
    text: list[str] = []
    sources = {}
    for id in rng.sample(sorted(documents), SOURCES):
        size = rng.randrange(40, 95)
        begin = rng.randrange(len(documents[id]) - size)
        text += [*new.next(rng.randrange(50, 200)), *documents[id][begin : begin + size]]
        sources[id] = size
    search = SimilaritySearch(shared_store())
    search.index(Document(id, " ".join(words)) for id, words in documents.items())
    return Thesis(search, " ".join([*text, *new.next(80)]), sources)


@pytest.fixture(scope="module")
def whole(thesis: Thesis) -> PassageResult:
    """All hits of the text."""
    return thesis.search.passages(text=thesis.text, size=100)


def test_all_sources_of_a_text_are_found(thesis: Thesis, whole: PassageResult) -> None:
    copied = sum(thesis.sources.values())
    first = thesis.search.passages(text=thesis.text)

    assert abs(first.coverage.word_count - copied) <= 0.01 * copied
    assert first.coverage.word_count / len(thesis.text.split()) == first.coverage.share
    assert (SOURCES, 10) == (first.total, len(first))
    assert (first.coverage, first.total) == (whole.coverage, whole.total)
    assert thesis.sources == {hit.id: hit.word_count for hit in whole}
    assert sorted(thesis.sources.values(), reverse=True) == [hit.added_word_count for hit in whole]
    assert ("Showing 10 of 20 matches", "20 matches") == (first.page_description, whole.page_description)


def test_order_and_coverage_do_not_depend_on_the_page(thesis: Thesis, whole: PassageResult) -> None:
    pages = [thesis.search.passages(text=thesis.text, size=12, offset=offset) for offset in (0, 12)]

    assert whole.hits == [hit for page in pages for hit in page]
    for page in pages:
        assert (whole.coverage, whole.total, whole.spans) == (page.coverage, page.total, page.spans)


def test_candidates_beyond_the_limit_of_words_are_reported(thesis: Thesis, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simdoc_search.search.passages.MAX_TOTAL_COMPARED_WORDS", 10 * len(thesis.text.split()))
    partial = thesis.search.passages(text=thesis.text)
    whole = thesis.search.passages(text=thesis.text, compare_all=True)

    assert 0 < partial.total < SOURCES == whole.total
    assert partial.headline("draft.txt").startswith("At least ")
    missing = partial.candidate_count - partial.compared_count
    assert f" {missing} of {partial.candidate_count} candidates were not compared." in partial.headline()
    assert not whole.is_partial


@pytest.fixture
def search(new_store: NewStore) -> Iterator[SimilaritySearch]:
    """A search over an empty store of each kind."""
    with new_store() as store:
        yield SimilaritySearch(store)


def index(search: SimilaritySearch, **texts: list[str]) -> None:
    search.index(Document(id, " ".join(words)) for id, words in texts.items())


def test_a_hit_adds_words_that_better_hits_do_not_cover(search: SimilaritySearch) -> None:
    new = Words()
    mine = new.next(300)
    index(
        search,
        most=[*mine[:150], *new.next(50)],
        same=[*mine[10:140], *new.next(50)],
        other=[*mine[140:200], *new.next(50)],
    )
    result = search.passages(text=" ".join(mine))

    expected = [("most", 150, 150), ("other", 60, 50), ("same", 130, 0)]
    assert expected == [(hit.id, hit.word_count, hit.added_word_count) for hit in result]
    assert (200, 200 / 300, 0) == result.coverage
    assert "67 % of the text (200 of 300 words) appears in 3 indexed documents." == result.headline()


@pytest.mark.parametrize("times", [1, 5])
def test_the_words_of_a_hit_are_words_of_the_text(search: SimilaritySearch, times: int) -> None:
    """The text contains a document once or several times. Each word of the text is counted."""
    new = Words()
    template = new.next(60)
    mine = [word for _ in range(times) for word in [*new.next(30), *template]]
    index(search, once=template, often=template * 2)
    result = search.passages(text=" ".join(mine))

    first, second = result
    assert {"once", "often"} == {first.id, second.id}
    assert times * 60 == first.word_count == first.added_word_count == result.coverage.word_count
    assert first.share == result.coverage.share == times * 60 / len(mine)
    assert (times * 60, 0) == (second.word_count, second.added_word_count)


def test_words_of_a_template_are_ignored(search: SimilaritySearch) -> None:
    """They are also ignored where they are slightly edited. A document with only these words is not a hit."""
    new = Words()
    template, essay, own = new.next(80), new.next(60), new.next(100)
    edited = [f"{word}x" if number % 10 == 9 else word for number, word in enumerate(template)]
    index(search, sheet=template, essay=[*template, *new.next(9), *essay])
    text, ignored = " ".join([*edited, *own, *essay]), " ".join(template)
    before, after = search.passages(text=text), search.passages(text=text, ignore=[ignored])
    nothing = search.passages(text=ignored, ignore=[ignored])

    assert {"sheet", "essay"} == {hit.id for hit in before}
    assert (72 + 60, 0) == (before.coverage.word_count, before.ignored_word_count)
    assert [("essay", 60)] == [(hit.id, hit.word_count) for hit in after]
    assert (60, 72, 240 - 72) == (after.coverage.word_count, after.ignored_word_count, after.word_count)
    assert "36 % of the text (60 of 168 words) appears in 1 indexed document. 72 words are ignored." == after.headline()
    assert (0, 0, 80) == (nothing.total, nothing.word_count, nothing.ignored_word_count)
    assert "No indexed document shares a passage with the text (0 words). 80 words are ignored." == nothing.headline()


@pytest.mark.parametrize("after", range(7))
def test_a_passage_around_a_quotation_is_found_if_quotations_are_ignored(search: SimilaritySearch, after: int) -> None:
    """The words on each side of the quotation are fewer than a run that is always found."""
    new = Words()
    passage = [*new.next(9), "“", *new.next(36), "”", *new.next(4)]
    index(search, source=[*new.next(400), *passage, *new.next(400)])
    result = search.passages(text=" ".join([*new.next(500), *passage, *new.next(510 + after)]), ignore_quotes=True)

    assert (13, 36) == (result.coverage.word_count, result.ignored_word_count)


@pytest.mark.parametrize("quoted", ["“{}”", "„{}“", "«{}»", '"{}"', "\n> {}\n", "\n  > {}\n"])
def test_quotations_are_ignored(search: SimilaritySearch, quoted: str) -> None:
    new = Words()
    quotation, copied = new.next(40), new.next(50)
    own = " ".join(new.next(20))
    text = f"{own} {quoted.format(' '.join(quotation))} it's {' '.join(new.next(20))} {' '.join(copied)}"
    index(search, source=[*copied, *new.next(30), *quotation])
    result = search.passages(text=text, ignore_quotes=True)

    counted = search.passages(text=text)

    assert (50, 40) == (result.coverage.word_count, result.ignored_word_count)
    assert [50] == [hit.word_count for hit in result]
    assert (90, 40, 0) == (*counted.coverage[::2], result.coverage.quoted_word_count)
    assert (["40 of the 90 words are quoted."], []) == (counted.notes, result.notes)
