"""The families of a store do not depend on the number of worker processes that split its texts into sentences."""

from __future__ import annotations

import random

import pytest

from simdoc_search import Document, SimilaritySearch, open_store
from simdoc_search.errors import QuerySyntaxError
from tests.support.texts import text

pytest.importorskip("sentencex")


@pytest.fixture
def search() -> SimilaritySearch:
    """A search over 10 texts with two versions each."""
    rng, store = random.Random(11), open_store(":memory:", create=True)
    first = [text(rng, 300) for _ in range(10)]
    texts = [*first, *(f"{each} One more sentence at the end of the text." for each in first)]
    made = SimilaritySearch(store)
    made.index(Document(f"{number:02}", each) for number, each in enumerate(texts))
    return made


@pytest.mark.slow
def test_families_do_not_depend_on_the_number_of_workers(
    search: SimilaritySearch, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_one_process = search.version_families()
    monkeypatch.setattr("simdoc_search.groups.comparable_documents._MAX_CHUNKS_WITHOUT_WORKERS", 1)
    monkeypatch.setattr("simdoc_search.groups.comparable_documents._CHUNK_CHARACTERS", 3000)
    in_two = search.version_families(workers=2)

    assert 10 == in_one_process.family_count
    assert list(in_one_process.edges()) == list(in_two.edges())
    assert list(in_one_process.families()) == list(in_two.families())


def test_workers_must_be_positive(search: SimilaritySearch) -> None:
    with pytest.raises(QuerySyntaxError, match="workers must be an integer of at least 1, not 0"):
        search.version_families(workers=0)
