"""All sources of one text: how much of it they cover together, how many there are, and in which order they come."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from simdoc_search import Document, SimilaritySearch
from simdoc_search.search.passages import MAX_WORDS
from tests.support.stores import NewStore

DOCUMENTS, SOURCES = 400, 30


class Thesis(NamedTuple):
    """A text that is copied from many documents.

    Attributes:
        search: the documents.
        text: the text.
        copied: how many of its words are copied.
        sources: how many words it has from each document.
    """

    search: SimilaritySearch
    text: str
    copied: int
    sources: dict[str, int]


class Words:
    """Words that occur once."""

    def __init__(self) -> None:
        self._count = 0

    def next(self, count: int) -> list[str]:
        """The next ones."""
        self._count += count
        return [f"w{number:x}" for number in range(self._count - count, self._count)]


@pytest.fixture
def thesis(new_store: NewStore) -> Iterator[Thesis]:
    """A text with passages of 30 documents among 400."""
    chance, new = random.Random(5), Words()
    documents = {f"d{number}": new.next(chance.randrange(100, 600)) for number in range(DOCUMENTS)}
    text: list[str] = []
    sources = {}
    for id in chance.sample(sorted(documents), SOURCES):
        size = chance.randrange(40, 95)
        begin = chance.randrange(len(documents[id]) - size)
        text += [*new.next(chance.randrange(50, 400)), *documents[id][begin : begin + size]]
        sources[id] = size
    with new_store() as store:
        search = SimilaritySearch(store)
        search.index(Document(id, " ".join(words)) for id, words in documents.items())
        yield Thesis(search, " ".join([*text, *new.next(80)]), sum(sources.values()), sources)


def test_thirty_sources_of_one_text_are_all_found(thesis: Thesis) -> None:
    """The coverage is within 1 % of the truth, `total` is right, and a page of 100 lists all of them."""
    first = thesis.search.passages(text=thesis.text)
    every = thesis.search.passages(text=thesis.text, size=100)

    assert abs(first.covered.words - thesis.copied) <= 0.01 * thesis.copied
    assert first.covered.words / len(thesis.text.split()) == first.covered.share
    assert [SOURCES, 10] == [first.total, len(first.hits)]
    assert [first.covered, first.total] == [every.covered, every.total]
    assert thesis.sources == {hit.id: hit.words for hit in every.hits}
    assert sorted(thesis.sources.values(), reverse=True) == [hit.adds for hit in every.hits]
    assert "Showing 10 of 30 matches" == first.showing
    assert "30 matches" == every.showing


def test_pages_are_parts_of_one_answer(thesis: Thesis) -> None:
    """Neither the order nor the coverage depends on `size` and `offset`."""
    whole = thesis.search.passages(text=thesis.text, size=100)
    pages = [thesis.search.passages(text=thesis.text, size=12, offset=at) for at in range(0, SOURCES, 12)]

    assert whole.hits == [hit for page in pages for hit in page.hits]
    assert {(whole.covered, whole.total, tuple(whole.spans))} == {
        (page.covered, page.total, tuple(page.spans)) for page in pages
    }


def test_a_limit_of_words_is_said_and_lifted(thesis: Thesis, monkeypatch: pytest.MonkeyPatch) -> None:
    """Candidates that were not compared are counted; `compare_all` compares them."""
    monkeypatch.setattr("simdoc_search.search.passages.MAX_WORDS", 10 * len(thesis.text.split()))
    some = thesis.search.passages(text=thesis.text)
    every = thesis.search.passages(text=thesis.text, compare_all=True)

    assert 0 < some.total < SOURCES == every.total
    assert some.headline("draft.txt").startswith("At least ")
    left = some.candidates - some.compared
    assert f" {left} of {some.candidates} candidates were not compared." in some.headline()
    assert not every.is_partial
    assert MAX_WORDS > 0


def test_each_hit_adds_what_those_before_it_do_not_cover(new_store: NewStore) -> None:
    """A document with most words is first; one with other words comes before a larger part of the same words."""
    new = Words()
    mine = new.next(300)
    texts = {
        "most": [*mine[:150], *new.next(50)],
        "same": [*mine[10:140], *new.next(50)],
        "other": [*mine[140:200], *new.next(50)],
    }
    with new_store() as store:
        search = SimilaritySearch(store)
        search.index(Document(id, " ".join(words)) for id, words in texts.items())
        result = search.passages(text=" ".join(mine))

    assert [("most", 150, 150), ("other", 60, 50), ("same", 130, 0)] == [
        (hit.id, hit.words, hit.adds) for hit in result.hits
    ]
    assert (200, 200 / 300) == result.covered
    assert "67 % of the text (200 of 300 words) appears in 3 indexed documents." == result.headline()


@pytest.mark.parametrize("times", [1, 2, 5])
def test_no_more_words_are_in_common_than_either_text_has(new_store: NewStore, times: int) -> None:
    """A text repeats a document: the words in common are those of the document."""
    new = Words()
    template = new.next(60)
    mine = [word for _ in range(times) for word in [*new.next(30), *template]]
    with new_store() as store:
        search = SimilaritySearch(store)
        search.index([Document("once", " ".join(template)), Document("often", " ".join([*template, *template]))])
        result = search.passages(text=" ".join(mine))

    words = {"once": 60, "often": 120}
    assert words.keys() == {hit.id for hit in result.hits}
    assert all(hit.words <= min(words[hit.id], len(mine)) for hit in result.hits)
    assert 60 <= result.covered.words <= times * 60


# --- what is ignored ---


def test_words_of_a_template_are_ignored(new_store: NewStore) -> None:
    """Also where they are slightly edited; a document that has only these is not a match."""
    new = Words()
    template, essay, own = new.next(80), new.next(60), new.next(100)
    edited = [f"{word}x" if number % 10 == 9 else word for number, word in enumerate(template)]
    with new_store() as store:
        search = SimilaritySearch(store)
        search.index(
            [Document("sheet", " ".join(template)), Document("essay", " ".join([*template, *new.next(9), *essay]))]
        )
        text = " ".join([*edited, *own, *essay])
        before = search.passages(text=text)
        after = search.passages(text=text, ignore=[" ".join(template)])
        nothing = search.passages(text=" ".join(template), ignore=[" ".join(template)])

    assert {"sheet", "essay"} == {hit.id for hit in before.hits}
    assert (72 + 60, 0) == (before.covered.words, before.ignored)
    assert [("essay", 60)] == [(hit.id, hit.words) for hit in after.hits]
    assert (60, 72, 240 - 72) == (after.covered.words, after.ignored, after.words)
    assert "36 % of the text (60 of 168 words) appears in 1 indexed document. 72 words are ignored." == after.headline()
    assert (0, 0, 80) == (nothing.total, nothing.words, nothing.ignored)
    assert "No indexed document shares a passage with the text (0 words). 80 words are ignored." == nothing.headline()


@pytest.mark.parametrize(
    "quoted",
    ["“{}”", "„{}“", "«{}»", '"{}"', "\n> {}\n", "\n  > {}\n"],
    ids=["curly", "low", "angle", "straight", "block", "indented"],
)
def test_quotations_are_ignored(new_store: NewStore, quoted: str) -> None:
    """In quotation marks and in block quotes; what stands outside of them counts."""
    new = Words()
    quotation, copied = " ".join(new.next(40)), " ".join(new.next(50))
    text = f"{' '.join(new.next(20))} {quoted.format(quotation)} it's {' '.join(new.next(20))} {copied}"
    with new_store() as store:
        search = SimilaritySearch(store)
        search.index([Document("source", f"{copied} {' '.join(new.next(30))} {quotation}")])
        result = search.passages(text=text, ignore_quotes=True)

    assert (50, 40) == (result.covered.words, result.ignored)
    assert [50] == [hit.words for hit in result.hits]
