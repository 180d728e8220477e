"""Tests of `nearest_duplicate`, and of `index` with `reject_duplicates`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from simdoc_search import Document, IndexReport, SimilaritySearch, open_store, read_corpus
from simdoc_search.documents import DocumentKey, RejectedDocument
from simdoc_search.errors import QuerySyntaxError, UnknownFieldError
from simdoc_search.indexing.skip_reasons import group_by_reason, is_unexpected
from simdoc_search.search import rejection
from simdoc_search.stores.base import Store
from tests.support.cli import answer, run, words, write

TEXT = words(0, 100)
NEAR = words(0, 98)  # 94 of 96 shingles
HALF = words(0, 60)  # 56 of 96


def rejected(report: IndexReport) -> list[tuple[str, str, float]]:
    """Return the id, the original and the overlap of each rejected document."""
    skipped = [document for document in report.skipped if isinstance(document, RejectedDocument)]
    return [(document.id, document.duplicate_of, round(document.overlap, 3)) for document in skipped]


def ids(search: SimilaritySearch) -> list[str]:
    return sorted(record.id for record in search.store.scan())


def index(search: SimilaritySearch, *documents: tuple[str, str], overlap: float = 0.8) -> IndexReport:
    return search.index([Document(*document) for document in documents], reject_duplicates=overlap)


def test_every_store_names_the_nearest_and_rejects_new_duplicates(store: Store) -> None:
    """The same text is nearer than the same words, and these are nearer than an overlap."""
    search = SimilaritySearch(store)
    search.index(
        Document(id, text, {"team": team})
        for id, text, team in [("near", NEAR, "a"), ("loud", TEXT.upper() + "!", "b"), ("same", TEXT, "c")]
    )
    nearest = [
        search.nearest_duplicate(TEXT),
        search.nearest_duplicate(TEXT, filters={"team": ["a", "b"]}),
        search.nearest_duplicate(TEXT, 0.9, filters={"team": "a"}),
    ]

    assert [("same", "same text", 1.0, True), ("loud", "same words", 1.0, True), ("near", "near", 94 / 96, True)] == [
        duplicate and (duplicate.id, duplicate.kind, duplicate.overlap, duplicate.exact) for duplicate in nearest
    ]
    assert search.nearest_duplicate(TEXT, 0.99, filters={"team": "a"}) is None
    assert search.nearest_duplicate(HALF) is None
    with pytest.raises(UnknownFieldError):
        search.nearest_duplicate(words(300, 400), filters={"group": "a"})

    later = ("later", words(200, 299))
    report = index(search, ("again", TEXT), ("half", HALF), ("new", words(200, 300)), later, ("near", NEAR + " more"))

    assert [("again", "same", 1.0), ("later", "new", round(95 / 96, 3))] == rejected(report)
    assert (2, 1) == (report.added_count, report.replaced_count)
    assert ["half", "loud", "near", "new", "same"] == ids(search)


def test_an_excluded_document_is_not_the_nearest(search: SimilaritySearch) -> None:
    search.index([Document("a", TEXT)])

    assert search.nearest_duplicate(NEAR) is not None
    assert search.nearest_duplicate(NEAR, exclude=DocumentKey("a")) is None


@pytest.mark.parametrize("overlap", [0, 80, -1, "many"])
def test_an_overlap_out_of_range_is_refused(search: SimilaritySearch, overlap: Any) -> None:
    with pytest.raises(QuerySyntaxError, match="overlap"):
        search.nearest_duplicate(TEXT, overlap)
    with pytest.raises(QuerySyntaxError, match="overlap"):
        index(search, ("a", TEXT), overlap=overlap)
    assert [] == ids(search)


def test_without_texts_the_overlap_is_estimated() -> None:
    """Identical texts are recognised by their hashes."""
    search = SimilaritySearch(open_store(":memory:", store_texts=False))
    search.index([Document("a", TEXT)])
    near, same = search.nearest_duplicate(NEAR), search.nearest_duplicate(TEXT)
    report = index(search, ("b", NEAR), ("c", words(300, 400)), ("d", words(300, 399)))

    assert near
    assert ("a", "near", False) == (near.id, near.kind, near.exact)
    assert same
    assert ("a", "same text") == (same.id, same.kind)
    assert ["b", "d"] == [id for id, *_ in rejected(report)]
    assert all(isinstance(skip, RejectedDocument) and not skip.exact and "~" in skip.reason for skip in report.skipped)


def test_a_second_run_changes_nothing(search: SimilaritySearch) -> None:
    first, second = (index(search, ("a", TEXT), ("b", NEAR), ("c", words(200, 300))) for _ in range(2))

    assert [("b", "a", round(94 / 96, 3))] == rejected(first) == rejected(second)
    assert (2, 0, 2) == (first.added_count, second.added_count, second.unchanged_count)


def test_a_replaced_document_is_compared_with_its_new_text(search: SimilaritySearch) -> None:
    search.index([Document("a", TEXT)])
    report = index(search, ("a", words(500, 600)), ("b", NEAR), ("c", words(500, 599)))

    assert [("c", "a")] == [(id, original) for id, original, _ in rejected(report)]
    assert ["a", "b"] == ids(search)


def test_of_several_documents_with_the_same_id_the_last_one_is_stored(search: SimilaritySearch) -> None:
    report = index(search, ("a", TEXT), ("a", NEAR), ("b", TEXT), overlap=0.99)

    assert [] == rejected(report)
    assert {"a": NEAR, "b": TEXT} == {record.id: record.text for record in search.store.scan(load={"text"})}


def test_a_renamed_file_is_not_a_duplicate_of_itself(search: SimilaritySearch, tmp_path: Path) -> None:
    folder = write(tmp_path / "docs", {"old.txt": TEXT, "other.txt": words(200, 300)})
    search.index(read_corpus([str(folder)]), reject_duplicates=0.8)
    (folder / "old.txt").rename(folder / "new.txt")
    report = search.index(read_corpus([str(folder)]), reject_duplicates=0.8, prune=True)

    assert [] == rejected(report)
    assert ["new.txt", "other.txt"] == ids(search)


@pytest.mark.parametrize("overlap", [0.3, 1.0])
@pytest.mark.slow
def test_duplicates_are_rejected_across_commits(
    search: SimilaritySearch, overlap: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rejection, "_MAX_UNCOMMITTED_DOCUMENTS", 50)
    texts = [words(family * 500, family * 500 + [4, 8, 40, 400][family % 4]) for family in range(60)]
    copies = [(f"{family:03}/{copy}", texts[family] + "." * copy) for copy in range(3) for family in range(60)]
    report = index(search, *copies, overlap=overlap)

    assert [f"{family:03}/0" for family in range(60)] == ids(search)
    assert {(id, f"{id[:3]}/0", 1.0) for id, _ in copies[60:]} == set(rejected(report))


def test_the_command_lists_rejected_documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "docs", {"a.txt": TEXT, "b.txt": NEAR, "c.txt": TEXT})
    command = ["index", "docs", "--workers", "1", "--reject-duplicates"]
    result = run(*command, "80")
    (near, same) = answer(*command, "80")["skipped"]

    assert 0 == result.exit_code
    assert "1 indexed, 0 unchanged, 2 skipped" in result.stdout
    assert "2 rejected as duplicates: " in result.stderr
    assert "b.txt (overlaps a.txt by 97.9 %)" in result.stderr
    assert "c.txt (the same text as a.txt)" in result.stderr
    assert ("b.txt", "a.txt", 94 / 96, True) == (near["id"], near["duplicate_of"], near["overlap"], near["exact"])
    assert ("c.txt", "a.txt", 1.0) == (same["id"], same["duplicate_of"], same["overlap"])
    assert 1 == run(*command, "80", "--fail-on-skip").exit_code
    assert 2 == run(*command, "180").exit_code


def test_rejections_are_reported_together_whatever_the_names(search: SimilaritySearch) -> None:
    skipped = [
        RejectedDocument("b", "overlaps hidden\nby binary by ~81 %"),
        RejectedDocument("c", "the same text as damaged: x"),
    ]

    assert ["rejected as duplicates"] == [group.label for group in group_by_reason(skipped)]
    assert all(map(is_unexpected, skipped))
