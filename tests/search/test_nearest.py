"""Is a text there already? In any store; and new documents that are, are left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from simdoc_search import Document, IndexReport, SimilaritySearch, open_store, read_corpus
from simdoc_search.documents import Place, Rejected
from simdoc_search.errors import NoFingerprintError, QuerySyntaxError, UnknownFieldError
from simdoc_search.indexing.skip_reasons import group_by_reason, matters
from simdoc_search.search import rejection
from simdoc_search.stores.base import Store
from tests.support.cli import answer, run, words, write

TEXT = words(0, 100)
NEAR = words(0, 98)  # 94 of 96 shingles
HALF = words(0, 60)  # 56 of 96


def rejected(report: IndexReport) -> list[tuple[str, str, float]]:
    """What was left out, for which, and how much both share."""
    skipped = [each for each in report.skipped if isinstance(each, Rejected)]
    return [(each.id, each.duplicate_of, round(each.overlap, 3)) for each in skipped]


def ids(search: SimilaritySearch) -> list[str]:
    """What is stored."""
    return sorted(each.id for each in search.store.scan())


def test_any_store_names_the_nearest_and_rejects_new_duplicates(store: Store) -> None:
    """Identical before the same words before near; then a run that leaves out what is there, or came before."""
    search = SimilaritySearch(store)
    search.index(
        Document(id, text, {"team": team})
        for id, text, team in [("near", NEAR, "a"), ("loud", TEXT.upper() + "!", "b"), ("same", TEXT, "c")]
    )
    found = [
        search.nearest_duplicate(TEXT),
        search.nearest_duplicate(TEXT, filters={"team": ["a", "b"]}),
        search.nearest_duplicate(TEXT, 0.9, filters={"team": "a"}),
    ]

    assert [("same", "same text", 1.0), ("loud", "same words", 1.0), ("near", "near", 94 / 96)] == [
        each and (each.id, each.kind, each.overlap) for each in found
    ]
    assert all(each and each.exact for each in found)
    assert search.nearest_duplicate(TEXT, 0.99, filters={"team": "a"}) is None
    assert search.nearest_duplicate(HALF) is None
    with pytest.raises(UnknownFieldError):
        search.nearest_duplicate(words(300, 400), filters={"group": "a"})

    report = search.index(
        [Document("again", TEXT), Document("half", HALF), Document("new", words(200, 300)),
         Document("later", words(200, 299)), Document("near", NEAR + " more")],
        reject_duplicates=0.8,
    )  # fmt: skip

    assert [("again", "same", 1.0), ("later", "new", round(95 / 96, 3))] == rejected(report)
    assert (2, 1) == (report.indexed, report.replaced)
    assert ["half", "loud", "near", "new", "same"] == ids(search)


@pytest.fixture
def search() -> SimilaritySearch:
    """Over an empty store in memory."""
    return SimilaritySearch(open_store(":memory:"))


def test_an_own_older_version_is_excluded(search: SimilaritySearch) -> None:
    """Who saves a document again is not warned of itself."""
    search.index([Document("a", TEXT)])

    assert search.nearest_duplicate(NEAR) is not None
    assert search.nearest_duplicate(NEAR, exclude=Place("a")) is None


@pytest.mark.parametrize("overlap", [0, 80, -1, "many"])
def test_a_wrong_overlap_is_refused(search: SimilaritySearch, overlap: Any) -> None:
    """By both, and nothing is written."""
    with pytest.raises(QuerySyntaxError, match="overlap"):
        search.nearest_duplicate(TEXT, overlap)
    with pytest.raises(QuerySyntaxError, match="overlap"):
        search.index([Document("a", TEXT)], reject_duplicates=overlap)
    assert [] == ids(search)


def test_a_text_without_words_is_an_error(search: SimilaritySearch) -> None:
    """Nothing can be compared with it."""
    with pytest.raises(NoFingerprintError):
        search.nearest_duplicate("...")


def test_without_texts_fingerprints_decide() -> None:
    """Overlaps are estimated, and said to be; hashes still tell what is identical."""
    search = SimilaritySearch(open_store(":memory:", store_texts=False))
    search.index([Document("a", TEXT)])
    found, same = search.nearest_duplicate(NEAR), search.nearest_duplicate(TEXT)
    report = search.index([Document("b", NEAR), Document("c", words(300, 400)), Document("d", words(300, 399))],
                          reject_duplicates=0.8)  # fmt: skip

    assert found
    assert ("a", "near", False) == (found.id, found.kind, found.exact)
    assert same
    assert ("a", "same text") == (same.id, same.kind)
    assert ["b", "d"] == [each[0] for each in rejected(report)]
    assert all(isinstance(each, Rejected) and not each.exact and "~" in each.reason for each in report.skipped)


def test_a_second_run_changes_nothing(search: SimilaritySearch) -> None:
    """What is unchanged is not rejected by itself, and what was rejected is so again."""
    documents = [Document("a", TEXT), Document("b", NEAR), Document("c", words(200, 300))]
    first = search.index(documents, reject_duplicates=0.8)
    second = search.index(documents, reject_duplicates=0.8)

    assert [("b", "a", round(94 / 96, 3))] == rejected(first) == rejected(second)
    assert (2, 0, 2) == (first.indexed, second.indexed, second.unchanged)


def test_what_was_replaced_or_removed_in_this_run_counts_no_more(search: SimilaritySearch) -> None:
    """A document is compared with the others as they are now, though the store still shows them as they were."""
    search.index([Document("a", TEXT)])
    report = search.index(
        [Document("a", words(500, 600)), Document("b", NEAR), Document("c", words(500, 599))], reject_duplicates=0.8
    )

    assert [("c", "a")] == [each[:2] for each in rejected(report)]
    assert ["a", "b"] == ids(search)


def test_of_one_id_the_last_document_counts(search: SimilaritySearch) -> None:
    """It is no duplicate of the one that it replaces."""
    report = search.index([Document("a", TEXT), Document("a", NEAR), Document("b", TEXT)], reject_duplicates=0.99)

    assert [] == rejected(report)
    assert ["a", "b"] == ids(search)
    assert NEAR == next(each.text for each in search.store.scan(text=True) if each.id == "a")


def test_a_renamed_file_is_no_duplicate_of_itself(search: SimilaritySearch, tmp_path: Path) -> None:
    """The old name is gone; --prune removes its document, and the text stays findable."""
    folder = write(tmp_path / "docs", {"old.txt": TEXT, "other.txt": words(200, 300)})
    search.index(read_corpus([str(folder)]), reject_duplicates=0.8)
    (folder / "old.txt").rename(folder / "new.txt")
    report = search.index(read_corpus([str(folder)]), reject_duplicates=0.8, prune=True)

    assert [] == rejected(report)
    assert ["new.txt", "other.txt"] == ids(search)


@pytest.mark.parametrize("share", [0.3, 0.8, 1.0])
@pytest.mark.slow
def test_no_duplicate_hides_between_store_and_memory(share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whenever the store commits, and however long the texts, of each family one stays."""
    monkeypatch.setattr(rejection, "_MAX_DOCUMENTS", 50)
    search = SimilaritySearch(open_store(":memory:"))
    sizes = [4, 8, 40, 400]
    documents = [
        Document(f"{family:03}/{copy}", words(family * 500, family * 500 + sizes[family % 4]) + "." * copy)
        for copy in range(3) for family in range(60)
    ]  # fmt: skip
    report = search.index(documents, reject_duplicates=share)

    assert [f"{family:03}/0" for family in range(60)] == ids(search)
    assert {(f"{family:03}/{copy}", f"{family:03}/0", 1.0) for family in range(60) for copy in (1, 2)} == set(
        rejected(report)
    )


def test_the_command_lists_what_it_rejects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reason of its own with id and overlap, for people and machines; --fail-on-skip counts it."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "docs", {"a.txt": TEXT, "b.txt": NEAR, "c.txt": TEXT})
    said = run("index", "docs", "--reject-duplicates", "80", "--workers", "1")
    (near, same) = answer("index", "docs", "--reject-duplicates", "80", "--workers", "1")["skipped"]

    assert 0 == said.exit_code
    assert "1 indexed, 0 unchanged, 2 skipped" in said.stdout
    assert "2 a duplicate of another document: " in said.stderr
    assert "b.txt (overlaps a.txt by 97.9 %)" in said.stderr
    assert "c.txt (the same text as a.txt)" in said.stderr
    assert ("b.txt", "a.txt", 94 / 96, True) == (near["id"], near["duplicate_of"], near["overlap"], near["exact"])
    assert ("c.txt", "a.txt", 1.0) == (same["id"], same["duplicate_of"], same["overlap"])
    assert 1 == run("index", "docs", "--reject-duplicates", "80", "--fail-on-skip").exit_code
    assert 2 == run("index", "docs", "--reject-duplicates", "180").exit_code


def test_a_rejection_is_a_reason_that_matters() -> None:
    """Of one kind, whatever the document is called."""
    skipped = [Rejected("b", "overlaps hidden\nby binary by ~81 %"), Rejected("c", "the same text as damaged: x")]

    assert ["a duplicate of another document"] == [group.label for group in group_by_reason(skipped)]
    assert all(map(matters, skipped))
