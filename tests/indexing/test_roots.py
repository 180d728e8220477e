"""Several folders are indexed into one store. Each file has its own id."""

from __future__ import annotations

from pathlib import Path

import pytest

from simdoc_search import SimilaritySearch
from simdoc_search.corpus import read_corpus
from simdoc_search.indexing.report import IndexReport
from tests.support.cli import write


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder: reports with a folder below, and two folders that contain files with the same names."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "reports", {"a.txt": "text a", "2021/b.txt": "text b", "2021/deep/c.txt": "text c"})
    write(tmp_path / "one", {"README.txt": "the first", "x.txt": "only here"})
    write(tmp_path / "two", {"README.txt": "the second", "y.txt": "only there"})
    return tmp_path


def texts(search: SimilaritySearch) -> dict[str, str | None]:
    found = {record.id: record.text for record in search.store.scan(load={"text"})}
    assert search.info().document_count == len(found)
    return found


def index(search: SimilaritySearch, *paths: str, **options: object) -> IndexReport:
    return search.index(read_corpus(paths), **options)  # type: ignore[arg-type]


REPORTS = {"a.txt": "text a", "2021/b.txt": "text b", "2021/deep/c.txt": "text c"}


# --- a folder below an indexed one ---


@pytest.mark.parametrize("path", ["reports/2021", "reports/2021/deep/c.txt"])
def test_a_part_of_a_root_keeps_the_ids_of_the_root(search: SimilaritySearch, path: str) -> None:
    index(search, "reports", prefix="r/")
    again = index(search, path)

    assert (0, 0, False) == (again.added_count, again.replaced_count, again.has_failed)
    assert {f"r/{id}": text for id, text in REPORTS.items()} == texts(search)


def test_a_part_of_a_root_is_brought_up_to_date(search: SimilaritySearch, folder: Path) -> None:
    index(search, "reports")
    write(folder / "reports", {"2021/new.txt": "new", "2021/b.txt": "changed b", "a.txt": "changed a"})
    (folder / "reports/2021/deep/c.txt").unlink()
    report = index(search, "reports/2021", prune=True)

    assert (1, 1, 1) == (report.added_count, report.replaced_count, report.deleted_count)
    assert {"a.txt": "text a", "2021/b.txt": "changed b", "2021/new.txt": "new"} == texts(search)


def test_pruning_a_part_leaves_the_rest_of_the_root(search: SimilaritySearch, folder: Path) -> None:
    write(folder / "reports", {"2021-old.txt": "text d", "2022/d.txt": "text e"})
    index(search, "reports")
    for gone in ("2021/b.txt", "2021-old.txt", "2022/d.txt", "a.txt"):
        (folder / "reports" / gone).unlink()
    report = index(search, "reports/2021", prune=True)

    assert (1, []) == (report.deleted_count, report.problems)
    assert {"a.txt", "2021-old.txt", "2022/d.txt", "2021/deep/c.txt"} == set(texts(search))


@pytest.mark.parametrize("paths", [["reports", "reports/2021"], ["reports/2021", "reports"]])
@pytest.mark.parametrize("at_once", [True, False])
def test_each_file_is_stored_once_in_any_order_of_folders(
    search: SimilaritySearch, paths: list[str], at_once: bool
) -> None:
    for batch in [paths] if at_once else [[path] for path in paths]:
        report = index(search, *batch, prune=True)

    assert [] == report.problems
    assert REPORTS == texts(search)
    assert 0 == index(search, "reports/2021").added_count


def test_new_ids_of_a_larger_folder_are_mentioned(search: SimilaritySearch, folder: Path) -> None:
    index(search, "reports/2021")
    index(search, "reports/2021/deep/c.txt", prefix="alone/")
    report = index(search, "reports")

    assert (3, 3) == (report.added_count, report.deleted_count)
    assert [f"3 files of {folder}/reports got new ids; documents with old ids were removed"] == report.notes
    assert REPORTS == texts(search)


# --- two folders with equal names ---


@pytest.mark.parametrize("at_once", [True, False])
def test_an_id_of_another_root_is_not_reused(search: SimilaritySearch, folder: Path, at_once: bool) -> None:
    for some in [["one", "two"]] if at_once else [["one"], ["two"]]:
        report = index(search, *some)

    assert (True, 0, 0) == (report.has_failed, report.replaced_count, report.repeated_id_count)
    assert [
        f"skipped 1 file of {folder}/two, because {folder}/one has a file with the same id. "
        f"To change the ids in {folder}/two, run: simdoc-search index {folder}/two --prefix two/"
    ] == report.problems
    assert [("two/README.txt", f"a file in {folder}/one already has this id")] == [
        (file.path, file.reason) for file in report.skipped
    ]
    assert {"README.txt": "the first", "x.txt": "only here", "y.txt": "only there"} == texts(search)


def test_with_a_prefix_each_file_has_an_id(search: SimilaritySearch) -> None:
    index(search, "one", "two")
    report = index(search, "two", prefix="two/")
    expected = {"README.txt": "the first", "x.txt": "only here"}
    expected |= {"two/README.txt": "the second", "two/y.txt": "only there"}

    assert ([], 2, 1) == (report.problems, report.added_count, report.deleted_count)
    assert expected == texts(search)
    for _ in range(2):
        again = index(search, "one", "two", prune=True)
        assert (0, 0, 4, [], []) == (
            again.added_count,
            again.deleted_count,
            again.unchanged_count,
            again.problems,
            again.notes,
        )
    assert expected == texts(search)


def test_a_moved_folder_keeps_its_ids(search: SimilaritySearch, folder: Path) -> None:
    index(search, "one")
    (folder / "one").rename(folder / "moved")
    write(folder / "moved", {"README.txt": "edited"})
    report = index(search, "moved")

    assert (1, 1, False) == (report.unchanged_count, report.replaced_count, report.has_failed)
    (folder / "moved" / "x.txt").unlink()
    assert 1 == index(search, "moved", prune=True).deleted_count


def test_a_folder_under_another_name_is_the_same_folder(search: SimilaritySearch, folder: Path) -> None:
    index(search, "one")
    (folder / "link").symlink_to(folder / "one")
    report = index(search, "link")

    assert (2, False) == (report.unchanged_count, report.has_failed)
