"""A search that queries an engine finds the same duplicates as a search in memory, and can be resumed."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from simdoc_search import Document, SimilaritySearch, open_store
from simdoc_search.duplicates import Duplicates, duplicates_in, engine_pairs
from simdoc_search.duplicates import sources as sources_module
from simdoc_search.errors import QuerySyntaxError, StoreError
from simdoc_search.passages.exact import MeasureName
from tests.support.freezable_store import FreezableStore
from tests.support.texts import documents, overlapping, text


def store_with(documents_to_index: Iterable[Document]) -> FreezableStore:
    store = open_store(":memory:", create=True)
    SimilaritySearch(store).index(documents_to_index)
    return FreezableStore(store)


def via_engine(store: FreezableStore, **options: Any) -> Duplicates:
    return duplicates_in(store, compare_in="engine", **options)


def pairs(found: Duplicates) -> set[tuple[str, str]]:
    return {(pair.a.id, pair.b.id) for pair in found.pairs()}


def groups(found: Duplicates) -> dict[str, set[str]]:
    return {group.kept.id: {duplicate.id for duplicate in group.duplicates} for group in found.groups()}


def overlapping_pairs(seed: str, count: int, least: float, words: int) -> list[Document]:
    """Return pairs of documents whose overlaps are between `least` and 97 %."""
    rng = random.Random(seed)
    both = (overlapping(rng, words, rng.uniform(least, 0.97)) for _ in range(count))
    return [
        Document(f"{number}{side}", each)
        for number, texts in enumerate(both)
        for side, each in zip("ab", texts, strict=True)
    ]


@pytest.fixture
def three_documents() -> FreezableStore:
    """A store of three documents: the first two are near-duplicates, and the third is different."""
    base = text(random.Random(1), 200)
    return store_with([Document("a", base), Document("b", base + " more"), *documents("other", 1)])


@pytest.fixture
def many() -> FreezableStore:
    """A store with 40 pairs of near-duplicates and 40 other documents."""
    return store_with([*overlapping_pairs("many", 40, 0.85, 60), *documents("others", 40)])


@pytest.fixture
def small_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compare only 4 matches of each query."""
    for module in (engine_pairs, sources_module):
        monkeypatch.setattr(module, "MAX_MATCHES", 4)


@pytest.mark.parametrize(
    ("measure", "overlap", "words"),
    [
        ("jaccard", 0.8, 30),
        pytest.param("jaccard", 0.8, 100, marks=pytest.mark.slow),
        pytest.param("jaccard", 0.5, 600, marks=pytest.mark.slow),
        pytest.param("containment", 0.9, 300, marks=pytest.mark.slow),
    ],
)
def test_pairs_are_those_found_in_memory(measure: MeasureName, overlap: float, words: int) -> None:
    """At most one of 70 pairs is missed, and no other pair is found."""
    store = store_with(overlapping_pairs(f"{measure}{overlap}", 70, overlap, words))
    options: dict[str, Any] = {"overlap": overlap, "measure": measure}
    in_memory, found = pairs(duplicates_in(store, **options)), pairs(via_engine(store, **options))

    assert 50 < len(in_memory)
    assert found <= in_memory
    assert len(in_memory) - 1 <= len(found)


def test_only_one_of_several_documents_with_equal_words_is_queried() -> None:
    base = text(random.Random(1), 100)
    copies = [Document(f"{number:03}", base.upper() if number % 2 else base) for number in range(100)]
    store = store_with([*copies, Document("near", base + " more")])

    assert {"000": {"near", *(copy.id for copy in copies[1:])}} == groups(via_engine(store))
    assert [(97, 121), (96, 120)] == sorted(
        (each.shingle_range for each in store.plans if each.shingle_range), reverse=True
    )
    assert 2 == len(store.plans)


def test_documents_without_hashes_and_sizes_are_compared_too(many: FreezableStore) -> None:
    """Another program may have indexed documents without hashes and numbers of shingles."""
    many.changed = lambda record: replace(record, words_hash="", text_hash="", shingles=0)
    in_memory = pairs(duplicates_in(many, verify=False))

    assert 30 < len(in_memory)
    assert in_memory == pairs(via_engine(many, verify=False))
    assert many.plans[-1].shingle_range is None


@pytest.mark.usefixtures("small_limit")
@pytest.mark.parametrize(("keep", "kept"), [("longest", "39"), ("first", "00")])
def test_partly_compared_documents_are_one_group(keep: str, kept: str) -> None:
    """Each of 40 similar documents has more matches than a query reads."""
    base = text(random.Random(2), 300).split()
    similar = [Document(f"{number:02}", " ".join([*base[: 260 + number], "and", str(number)])) for number in range(40)]
    found = via_engine(store_with([*similar, *documents("other", 20)]), keep=keep)

    assert ([kept], 39) == (list(groups(found)), found.duplicate_count)
    assert found.large_sets is not None
    assert (4, 0) == (found.large_sets.max_set_size, found.large_sets.skipped_comparisons)
    assert 30 < found.large_sets.documents <= 40


# --- checkpoints ---


def test_an_interrupted_run_is_resumed(many: FreezableStore, tmp_path: Path) -> None:
    whole = pairs(via_engine(many))
    queries, many.plans = len(many.plans), []

    def stop() -> None:
        if len(many.plans) >= 64:
            raise KeyboardInterrupt

    many.before_search = stop
    with pytest.raises(KeyboardInterrupt):
        via_engine(many, checkpoint=tmp_path / "done")

    assert 64 == len(many.plans)
    many.before_search = lambda: None
    for _ in range(2):
        assert whole == pairs(via_engine(many, checkpoint=tmp_path / "done"))
        assert queries == len(many.plans)


def test_only_new_and_changed_documents_are_queried_again(many: FreezableStore, tmp_path: Path) -> None:
    """New documents with fewer shingles than documents that were queried before are found too."""
    via_engine(many, checkpoint=tmp_path / "done")
    many.plans = []
    words = text(random.Random(5), 200).split()
    changed = [
        Document("0a", " ".join(words)),
        Document("1a", " ".join(words[:190])),
        Document("2a", many.get("3a", text=True).text.rsplit(" ", 2)[0]),
        Document("4a", many.get("5a", text=True).text),
    ]
    search = SimilaritySearch(many)
    search.index(changed)
    search.delete(["6a"])
    in_memory = pairs(duplicates_in(many))

    assert {("0a", "1a"), ("3a", "2a")} <= in_memory
    assert in_memory == pairs(via_engine(many, checkpoint=tmp_path / "done"))
    assert 3 == len(many.plans)


@pytest.mark.usefixtures("small_limit")
def test_partly_compared_documents_are_stored_in_the_checkpoint(tmp_path: Path) -> None:
    base = text(random.Random(2), 300)
    store = store_with(Document(f"{number:02}", f"{base} {number}") for number in range(20))
    options = {"checkpoint": tmp_path / "done", "keep": "first"}
    once = groups(via_engine(store, **options))
    queries = len(store.plans)

    assert {"00"} == set(once)
    assert once == groups(via_engine(store, **options))
    assert queries == len(store.plans)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"overlap": 0.9},
            r"written for overlap 80\.0 %, not 90\.0 %; use the same options again, or choose another file",
        ),
        ({"measure": "containment"}, "written for measure jaccard, not containment"),
        ({"filters": {"path": "a/"}}, r"written for filters none, not .*path.*a/"),
        ({}, "written for the index this store, not another store"),
    ],
)
def test_a_checkpoint_of_a_search_with_other_options_is_refused(
    three_documents: FreezableStore, tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    via_engine(three_documents, checkpoint=tmp_path / "done")
    three_documents.identity = "this store" if options else "another store"
    with pytest.raises(StoreError, match=message):
        via_engine(three_documents, checkpoint=tmp_path / "done", **options)


def test_files_that_are_not_usable_checkpoints_are_left_unchanged(
    three_documents: FreezableStore, tmp_path: Path
) -> None:
    """The files are a text, another application's database, and a checkpoint that another process uses."""
    (tmp_path / "letter").write_text("Dear Ann, " * 100)
    with sqlite3.connect(tmp_path / "theirs") as theirs:
        theirs.execute("CREATE TABLE documents (name)")
    theirs.close()
    for name in ("letter", "theirs"):
        before = (tmp_path / name).read_bytes()
        with pytest.raises(StoreError, match=rf"{name} cannot be used \(file is not a "):
            via_engine(three_documents, checkpoint=tmp_path / name)
        assert before == (tmp_path / name).read_bytes()
    with sqlite3.connect(tmp_path / "used", isolation_level=None) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreError, match="used is in use by another run; choose another file"):
            via_engine(three_documents, checkpoint=tmp_path / "used")
    other.close()
    with pytest.raises(StoreError, match="cannot be used"):
        via_engine(three_documents, checkpoint=tmp_path / "no folder" / "file")


def test_options_that_cannot_be_combined_are_refused(three_documents: FreezableStore, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="requires a store in an engine; omit compare_in"):
        duplicates_in(open_store(":memory:", create=True), compare_in="engine")
    with pytest.raises(QuerySyntaxError, match="compare_in must be one of memory, engine, not 'cluster'"):
        duplicates_in(three_documents, compare_in="cluster")  # type: ignore[arg-type]
    with pytest.raises(QuerySyntaxError, match="a checkpoint requires compare_in='engine'; set compare_in"):
        duplicates_in(three_documents, checkpoint=tmp_path / "done")
