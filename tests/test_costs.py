"""The work for a fixed corpus: counts that, unlike times, are equal on every machine.

If a change raises a count, it makes that operation more expensive. If it lowers one, write the new count here.
"""

from __future__ import annotations

import gc
import logging
import random
import tracemalloc
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from simdoc_search import Document, SimilaritySearch, open_store
from simdoc_search.analysis.native import kernel
from simdoc_search.duplicates import duplicates_among, finder, pairs
from simdoc_search.duplicates.pairs import JoinedPairs, join
from simdoc_search.passages.exact_overlap import MeasureName
from simdoc_search.search import similar_containment, similar_ranking
from simdoc_search.search.similar_ranking import sort_key
from simdoc_search.search.similar_result import Hit
from tests.support.stores import NewStore

FAMILIES, COPIES, WORDS = 40, 5, 200
QUERIES = [f"{family}-0" for family in range(8)]
pytestmark = pytest.mark.slow

BOILERPLATE = "This document and its attachments are confidential and must not be given to any other person"


@cache
def corpus() -> list[Document]:
    """40 families of an original and 5 edited copies. All end with the same sentence."""
    chance = random.Random(7)
    words = [f"{first}{second}{third}" for first in "bdfgklmn" for second in "aeiou" for third in "lnrst"]
    documents = []
    for family in range(FAMILIES):
        original = [chance.choice(words) for _ in range(WORDS)]
        for copy in range(COPIES + 1):
            edited = [word if chance.random() >= copy * 0.02 else chance.choice(words) for word in original]
            sentences = [" ".join(edited[begin : begin + 12]).capitalize() for begin in range(0, WORDS, 12)]
            documents.append(Document(f"{family}-{copy}", ". ".join([*sentences, BOILERPLATE])))
    return documents


def empty_search(folder: Path) -> SimilaritySearch:
    return SimilaritySearch(open_store(folder, create=True))


@pytest.fixture(scope="module")
def search(tmp_path_factory: pytest.TempPathFactory) -> SimilaritySearch:
    search = empty_search(tmp_path_factory.mktemp("costs") / "store")
    search.index(corpus())
    return search


COMPARED: dict[str, tuple[int, Callable[[SimilaritySearch, str], Any]]] = {
    "similar": (400, lambda search, id: search.similar(id)),
    "similar, 20 %": (40, lambda search, id: search.similar(id, overlap=0.2)),
    "similar, 80 % with 80 %": (14, lambda search, id: search.similar(id, overlap=0.8, probability=0.8)),
    "similar, containment": (1_912, lambda search, id: search.similar(id, overlap=0.5, measure="containment")),
    "passages": (1_912, lambda search, id: search.passages(id)),
}
"""How many candidates all queries compare, and the query."""


@pytest.mark.parametrize("operation", COMPARED)
def test_compared_candidates(operation: str, search: SimilaritySearch) -> None:
    expected, query = COMPARED[operation]

    assert expected == sum(query(search, id).compared_count for id in QUERIES)


@pytest.mark.parametrize("measure", ["jaccard", "containment"])
def test_hits_are_not_sorted_again_after_each_batch(
    measure: MeasureName, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Inserting a hit compares it with at most 10 of the 1,000 other hits."""
    count = 0

    def count_sort_keys(hit: Hit) -> tuple[float, int, str, str]:
        nonlocal count
        count += 1
        return sort_key(hit)

    for module in (similar_ranking, similar_containment):
        monkeypatch.setattr(module, "sort_key", count_sort_keys)
    search = empty_search(tmp_path / "store")
    search.index(Document(f"{number:04}", BOILERPLATE) for number in range(1_001))

    assert 1_000 == len(search.similar("0000", overlap=0.5, measure=measure, size=1_000).hits)
    assert 12 * 1_000 >= count


def test_documents_of_one_family_are_compared_with_each_other_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """After the first rounds, only documents that lost their group are compared again.

    Each of 1,200 documents has 1 to 4 sentences of its own. There are 16 rounds.
    """
    rounds = []

    def count_rounds(*arguments: Any, **options: Any) -> JoinedPairs:
        rounds.append(join(*arguments, **options))
        return rounds[-1]

    monkeypatch.setattr(finder, "join", count_rounds)
    monkeypatch.setattr(pairs, "RUN_LIMIT_RANGE", (200, 200))
    chance = random.Random(1)
    sentences = [" ".join(f"word{number}" for number in range(begin, begin + 12)) for begin in range(0, 240, 12)]
    documents = []
    for number in range(1_200):
        edited = list(sentences)
        for _ in range(chance.randint(1, 4)):
            edited[chance.randrange(20)] = " ".join(str(chance.randrange(10**6)) for _ in range(12))
        documents.append(Document(f"{number:04}", ". ".join(edited)))

    assert duplicates_among(documents, overlap=0.8).duplicate_count
    counts = [found.compared_count for found in rounds]

    assert 10 < len(counts)
    assert sum(counts[2:]) < counts[1] < counts[0]


def test_bytes_of_a_store(search: SimilaritySearch) -> None:
    """The segments of a store depend on its threads, so their size varies by some percent."""
    folder = Path(search.store.info().location)
    text_size = sum(len(document.text) for document in corpus())
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())

    assert 2.3 == pytest.approx(size / text_size, rel=0.05)


KILOBYTES: dict[str, tuple[int, int, int, Callable[[SimilaritySearch], Any]]] = {
    "index": (1_045, 3_220, 10, lambda search: search.index(corpus())),
    "similar": (236, 310, 140, lambda search: [search.similar(id) for id in QUERIES]),
    "passages": (440, 5_895, 45, lambda search: search.passages("0-0", preset="verbatim")),
    "duplicates": (3_435, 3_435, 45, lambda search: list(search.duplicates(overlap=0.8).groups())),
}
"""The peak of allocated memory with the native kernel, the peak without it, what is allocated after the operation, for
example by its result, and the operation."""


@pytest.fixture(params=["native", "Python"])
def has_kernel(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[bool]:
    """Switch the native kernel on or off."""
    monkeypatch.setenv("SIMDOC_NATIVE", "1" if request.param == "native" else "0")
    kernel.cache_clear()
    if request.param == "native" and kernel() is None:
        pytest.skip("the package simdoc-search-native is not installed; scripts/native builds it")
    yield kernel() is not None
    kernel.cache_clear()


@pytest.mark.parametrize("operation", KILOBYTES)
def test_allocated_memory(operation: str, has_kernel: bool, search: SimilaritySearch, tmp_path: Path) -> None:
    """Python objects and numpy arrays are counted, but not the memory of tantivy or inside the native kernel.

    The first call fills caches and is not counted. Versions of Python differ by some percent.
    """
    native_peak, python_peak, expected_kept, run = KILOBYTES[operation]
    first, second = [empty_search(tmp_path / name) if operation == "index" else search for name in "12"]
    run(first)
    gc.collect()
    tracemalloc.start()
    result = run(second)
    gc.collect()
    kept, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert result
    assert (native_peak if has_kernel else python_peak) == pytest.approx(peak / 1_000, rel=0.1)
    assert expected_kept == pytest.approx(kept / 1_000, abs=30)


REQUESTS: dict[str, tuple[int, Callable[[SimilaritySearch], Any]]] = {
    "index": (13, lambda search: search.index(corpus())),
    "similar": (4, lambda search: search.similar("0-0", overlap=0.2)),
    "passages": (24, lambda search: search.passages("0-0")),
    "duplicates": (14, lambda search: list(search.duplicates(overlap=0.8).groups())),
}
"""How many requests an engine receives, and the operation. The operations run in this order."""


def test_requests_to_an_engine(new_opensearch_store: NewStore, caplog: pytest.LogCaptureFixture) -> None:
    search = SimilaritySearch(new_opensearch_store())
    caplog.set_level(logging.DEBUG, logger="simdoc_search.stores.remote.engine")
    counts = {}
    for name, (_, operation) in REQUESTS.items():
        caplog.clear()
        operation(search)
        counts[name] = len(caplog.records)

    assert {name: expected for name, (expected, _) in REQUESTS.items()} == counts
