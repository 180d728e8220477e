"""Several folders in one store: each file has one id, and none takes the id of another."""

from __future__ import annotations

from pathlib import Path

import pytest

from simdoc_search import Document, SimilaritySearch, open_store
from simdoc_search.corpus import read_corpus
from simdoc_search.indexing import IndexReport
from tests.support.cli import answer, run, write


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the commands run: reports with a folder below, and two folders with equal names in them."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "reports", {"a.txt": "text a", "2021/b.txt": "text b", "2021/deep/c.txt": "text c"})
    write(tmp_path / "one", {"README.txt": "the first", "x.txt": "only here"})
    write(tmp_path / "two", {"README.txt": "the second", "y.txt": "only there"})
    return tmp_path


@pytest.fixture
def search() -> SimilaritySearch:
    """A search over an empty store."""
    return SimilaritySearch(open_store(":memory:"))


def texts(search: SimilaritySearch) -> dict[str, str | None]:
    found = {each.id: each.text for each in search.store.scan(text=True)}
    assert search.info().documents == len(found)
    return found


def index(search: SimilaritySearch, *paths: str, **options: object) -> IndexReport:
    return search.index(read_corpus(paths), **options)  # type: ignore[arg-type]


REPORTS = {"a.txt": "text a", "2021/b.txt": "text b", "2021/deep/c.txt": "text c"}


# --- a folder below an indexed one ---


@pytest.mark.parametrize("path", ["reports/2021", "reports/2021/deep", "reports/2021/deep/c.txt", "reports/a.txt"])
def test_a_part_of_a_root_keeps_the_ids_of_the_root(search: SimilaritySearch, path: str) -> None:
    """A folder or file below it is brought up to date as what it is there; nothing is stored twice."""
    index(search, "reports")
    again = index(search, path)

    assert (0, 0, False) == (again.indexed, again.replaced, again.failed)
    assert REPORTS == texts(search)


def test_a_part_of_a_root_is_brought_up_to_date(search: SimilaritySearch, folder: Path) -> None:
    """What is new, changed and gone there; the rest of the root is not looked at."""
    index(search, "reports")
    write(folder / "reports", {"2021/new.txt": "new", "2021/b.txt": "changed b", "a.txt": "changed a"})
    (folder / "reports/2021/deep/c.txt").unlink()
    report = index(search, "reports/2021", prune=True)

    assert (1, 1, 1) == (report.indexed, report.replaced, report.deleted)
    assert {"a.txt": "text a", "2021/b.txt": "changed b", "2021/new.txt": "new"} == texts(search)


def test_pruning_a_part_leaves_the_rest_of_the_root(search: SimilaritySearch, folder: Path) -> None:
    """Also where a name begins with that of the part."""
    write(folder / "reports", {"2021-old.txt": "text d", "2022/d.txt": "text e"})
    index(search, "reports")
    for gone in ("2021/b.txt", "2021-old.txt", "2022/d.txt", "a.txt"):
        (folder / "reports" / gone).unlink()
    report = index(search, "reports/2021", prune=True)

    assert (1, []) == (report.deleted, report.problems)
    assert {"a.txt", "2021-old.txt", "2022/d.txt", "2021/deep/c.txt"} == set(texts(search))


@pytest.mark.parametrize("paths", [["reports", "reports/2021"], ["reports/2021", "reports"]])
@pytest.mark.parametrize("at_once", [True, False])
def test_each_file_is_stored_once_in_whatever_order_folders_come(
    search: SimilaritySearch, paths: list[str], at_once: bool
) -> None:
    """A root that comes after a part of it takes over the part's documents, with its own ids."""
    for some in [paths] if at_once else [[each] for each in paths]:
        report = index(search, *some, prune=True)

    assert [] == report.problems
    assert REPORTS == texts(search)
    assert 0 == index(search, "reports/2021").indexed


def test_what_a_root_takes_over_is_said(search: SimilaritySearch, folder: Path) -> None:
    """Ids change then; files that were named alone are taken over too."""
    index(search, "reports/2021")
    index(search, "reports/2021/deep/c.txt", prefix="alone/")
    report = index(search, "reports")

    assert (3, 3) == (report.indexed, report.deleted)
    assert [f"3 files of {folder}/reports had other ids before, which are removed"] == report.notes
    assert REPORTS == texts(search)


# --- two folders with equal names ---


@pytest.mark.parametrize("at_once", [True, False])
def test_an_id_of_another_root_is_not_taken(search: SimilaritySearch, folder: Path, at_once: bool) -> None:
    """The first stays as it is; the sentence has what to type, and the rest is stored."""
    for some in [["one", "two"]] if at_once else [["one"], ["two"]]:
        report = index(search, *some)

    assert (True, 0, 0) == (report.failed, report.replaced, report.duplicates)
    assert [
        f"1 file of {folder}/two has an id of {folder}/one and was left out; "
        "give this folder ids of its own with --prefix two/"
    ] == report.problems
    assert [("two/README.txt", f"a file of {folder}/one has this id")] == [(e.path, e.reason) for e in report.skipped]
    assert {"README.txt": "the first", "x.txt": "only here", "y.txt": "only there"} == texts(search)


def test_following_the_sentence_gives_each_file_an_id(search: SimilaritySearch) -> None:
    """What had been stored without the prefix has it then; the prefix need not be given again."""
    index(search, "one", "two")
    report = index(search, "two", prefix="two/")
    expected = {"README.txt": "the first", "x.txt": "only here"}
    expected |= {"two/README.txt": "the second", "two/y.txt": "only there"}

    assert ([], 2, 1) == (report.problems, report.indexed, report.deleted)
    assert expected == texts(search)
    for _ in range(2):
        again = index(search, "one", "two", prune=True)
        assert (0, 0, 4, [], []) == (again.indexed, again.deleted, again.unchanged, again.problems, again.notes)
    assert expected == texts(search)


def test_pruning_knows_prefixes(search: SimilaritySearch, folder: Path) -> None:
    """A file that is gone is found by its path, not by its id."""
    index(search, "two", prefix="t/")
    (folder / "two/y.txt").unlink()
    assert 1 == index(search, "two", prune=True).deleted
    assert {"t/README.txt": "the second"} == texts(search)


def test_a_part_of_a_root_with_a_prefix_has_it_too(search: SimilaritySearch) -> None:
    """The ids are those that the root gives."""
    index(search, "reports", prefix="r/")
    assert 0 == index(search, "reports/2021").indexed
    assert {f"r/{id}": text for id, text in REPORTS.items()} == texts(search)


def test_a_moved_folder_keeps_its_ids_and_that_is_said(search: SimilaritySearch, folder: Path) -> None:
    """The files of the old root are gone, so nothing is overwritten that is there."""
    index(search, "one")
    (folder / "one").rename(folder / "moved")
    write(folder / "moved", {"README.txt": "edited"})
    report = index(search, "moved")

    assert (1, 1, False) == (report.unchanged, report.replaced, report.failed)
    assert [f"2 files of {folder}/one, which are gone, now count as those of {folder}/moved"] == report.notes
    assert [] == index(search, "moved", prune=True).notes


def test_a_folder_under_another_name_is_the_same_folder(search: SimilaritySearch, folder: Path) -> None:
    """Over a link, files have the ids that they have already."""
    index(search, "one")
    (folder / "link").symlink_to(folder / "one")
    report = index(search, "link")

    assert (2, False) == (report.unchanged, report.failed)


def test_a_folder_that_is_named_twice_is_read_once(search: SimilaritySearch) -> None:
    """The second time its files are known."""
    report = index(search, "one", "one")

    assert (2, 2, [], []) == (report.indexed, report.duplicates, report.skipped, report.problems)


def test_a_document_of_an_application_has_the_id_that_it_was_given(search: SimilaritySearch) -> None:
    """Ids of documents that are no files are the caller's business: the last one counts, as ever."""
    index(search, "one")
    report = search.index([Document("README.txt", "given")])

    assert (1, False) == (report.replaced, report.failed)


def test_the_command_says_the_option(folder: Path) -> None:
    """`--prefix` in the sentence, exit code 1, and the option works."""
    refused = run("index", "one", "two")
    assert 1 == refused.exit_code
    assert "with --prefix two/" in refused.stderr
    assert 0 == run("index", "two", "--prefix", "two/").exit_code
    assert 4 == answer("info")["documents"]
