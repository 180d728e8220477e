"""Each member of an archive or a mailbox is a document. It is updated when the archive changes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from simdoc_search import SimilaritySearch, open_store
from simdoc_search.corpus import read_corpus
from simdoc_search.indexing import archives
from simdoc_search.indexing.report import IndexReport
from simdoc_search.stores.base import Store
from tests.support.archives import encrypted, mail, mbox, packed_tar, packed_zip
from tests.support.cli import answer, output, run, words, write
from tests.support.formats import docx
from tests.support.stores import NewStore

REPORT, NOTE, PLAIN = "old.zip!2021/Report.txt", "old.zip!note.md", "plain.txt"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with an archive and a file."""
    files = {"2021/Report.txt": words(0, 100), "note.md": words(200, 300)}
    return write(tmp_path / "docs", {"old.zip": packed_zip(files), PLAIN: words(400, 500)})


@pytest.fixture
def store() -> Store:
    """An empty store."""
    return open_store(":memory:", create=True)


def index(store: Store, *paths: Path, archives: bool = True, **options: Any) -> IndexReport:
    """Index the folder."""
    return SimilaritySearch(store).index(read_corpus(paths), archives=archives, **options)


def ids(store: Store) -> set[str]:
    """All ids."""
    return {record.id for record in store.scan()}


def counts(report: IndexReport) -> tuple[int, int, int, int]:
    """Return the numbers of indexed, unchanged, replaced and deleted documents."""
    return report.added_count, report.unchanged_count, report.replaced_count, report.deleted_count


def rewrite(path: Path, data: bytes) -> None:
    """Change the content of a file, and set a later modification time."""
    time = path.stat().st_mtime_ns + 10**9
    path.write_bytes(data)
    os.utime(path, ns=(time, time))


@pytest.mark.usefixtures("read_in_this_process")
def test_members_are_documents_and_an_unchanged_archive_is_not_read(new_store: NewStore, folder: Path) -> None:
    store = new_store()
    first = index(store, folder)

    assert (3, 0, 0, 0) == counts(first)
    assert {REPORT, NOTE, PLAIN} == ids(store)
    assert ["old.zip!2021/Report.txt"] == [hit.id for hit in SimilaritySearch(store).similar(text=words(0, 90)).hits]

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(archives, "iterate_in_subprocess", None)
        assert (0, 3, 0, 0) == counts(index(store, folder, prune=True))


@pytest.mark.usefixtures("read_in_this_process")
def test_an_archive_is_read_only_with_the_option_or_if_it_is_named(store: Store, folder: Path) -> None:
    report = index(store, folder, archives=False)

    assert (1, 0, 0, 0) == counts(report)
    assert ["an archive or a mailbox"] == [file.reason for file in report.skipped]
    assert (2, 0, 0, 0) == counts(index(store, folder / "old.zip", archives=False))
    assert (0, 3, 0, 0) == counts(index(store, folder))
    assert {REPORT, NOTE, PLAIN} == ids(store)


@pytest.mark.usefixtures("read_in_this_process")
def test_changed_members_of_an_archive_are_replaced(store: Store, folder: Path) -> None:
    index(store, folder)
    rewrite(folder / "old.zip", packed_zip({"2021/Report.txt": words(0, 101), "new.txt": words(600, 700)}))
    second = index(store, folder, archives=False)  # the store has members of the archive

    assert (1, 1, 1, 0) == counts(second)
    assert {REPORT, NOTE, PLAIN, "old.zip!new.txt"} == ids(store)
    assert ["1 indexed file is missing" in note for note in second.notes] == [True]
    assert (0, 3, 0, 1) == counts(index(store, folder, prune=True))
    assert (0, 3, 0, 0) == counts(index(store, folder, prune=True))


@pytest.mark.usefixtures("read_in_this_process")
def test_prune_removes_the_members_of_an_archive_that_no_longer_exists(store: Store, folder: Path) -> None:
    index(store, folder)
    (folder / "old.zip").unlink()

    assert (0, 1, 0, 2) == counts(index(store, folder, prune=True))
    assert {PLAIN} == ids(store)


@pytest.mark.slow
def test_prune_keeps_the_members_of_a_damaged_archive(store: Store, folder: Path) -> None:
    index(store, folder)
    data = (folder / "old.zip").read_bytes()
    rewrite(folder / "old.zip", data[:-30])
    report = index(store, folder, prune=True)

    assert (0, 1, 0, 0) == counts(report)
    assert {REPORT, NOTE, PLAIN} == ids(store)
    assert ["damaged: File is not a zip file"] == [file.reason for file in report.skipped]

    rewrite(folder / "old.zip", data)
    assert (0, 3, 0, 0) == counts(index(store, folder, prune=True))


@pytest.mark.slow
def test_a_member_without_text_loses_its_document(store: Store, folder: Path) -> None:
    index(store, folder)
    files: dict[str, str | bytes] = {"2021/Report.txt": words(0, 100), "note.md": bytes(50)}
    rewrite(folder / "old.zip", encrypted(packed_zip(files), "2021/Report.txt"))
    report = index(store, folder)

    assert (0, 1, 0, 2) == counts(report)
    assert {"binary", "encrypted"} == {file.reason for file in report.skipped}
    assert {PLAIN} == ids(store)


@pytest.mark.slow
def test_an_interrupted_run_is_completed(store: Store, tmp_path: Path) -> None:
    files = {f"{number}.txt": words(number, number + 50) for number in range(300)}
    folder = write(tmp_path / "docs", {"all.tgz": packed_tar(files)})
    count = 0

    def interrupt(done: int) -> None:
        nonlocal count
        count += done
        if count > 100:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        index(store, folder, progress=interrupt)

    stored = len(ids(store))
    assert 0 < stored < 300
    assert (300 - stored, stored, 0, 0) == counts(index(store, folder))
    assert (0, 300, 0, 0) == counts(index(store, folder))


@pytest.mark.slow
def test_only_the_new_message_of_a_mailbox_is_read(store: Store, tmp_path: Path) -> None:
    mails = [mail(f"Re: thing {number}", words(number, number + 50)) for number in range(5)]
    folder = write(tmp_path / "docs", {"mail.mbox": mbox(*mails[:4])})
    index(store, folder)
    rewrite(folder / "mail.mbox", mbox(*mails))

    assert (1, 4, 0, 0) == counts(index(store, folder))
    assert (0, 5, 0, 0) == counts(index(store, folder, prune=True))
    record = store.get("mail.mbox!Re: thing 3.eml")
    assert record is not None
    assert {"title": "Re: thing 3", "created_at": "Mon, 2 Mar 2020 10:00:00 +0000"} == dict(record.metadata)
    assert "Re: thing 3" == SimilaritySearch(store).resolve("Re: thing 3", overlap=0).id.removeprefix("mail.mbox!")[:-4]


@pytest.mark.slow
def test_a_folder_takes_over_an_archive_that_was_named(store: Store, folder: Path) -> None:
    write(folder, {"below/mail.mbox": mail("hello", words(700, 800))})
    index(store, folder / "below" / "mail.mbox", archives=False)
    assert {"mail.mbox!hello.eml"} == ids(store)

    report = index(store, folder, prune=True)
    assert {REPORT, NOTE, PLAIN, "below/mail.mbox!hello.eml"} == ids(store)
    assert (0, 4, 0, 0) == counts(index(store, folder, prune=True))
    assert [] == report.problems
    assert (0, 1, 0, 0) == counts(index(store, folder / "below" / "mail.mbox", archives=False))


def test_members_of_risky_formats_are_read_by_workers(store: Store, tmp_path: Path) -> None:
    pytest.importorskip("kreuzberg")
    message = mail("hello", words(0, 60)).partition(b"\n")[2]
    files: dict[str, str | bytes] = {
        "a.tgz": packed_tar({"x/letter.docx": docx()}),
        "Maildir/cur/1583143200.1.host:2,S": message,
    }
    index(store, write(tmp_path / "docs", files), workers=2)

    assert {"a.tgz!x/letter.docx", "Maildir/cur/1583143200.1.host:2,S"} == ids(store)
    maildir = store.get("Maildir/cur/1583143200.1.host:2,S")
    assert maildir is not None
    assert "hello" == maildir.metadata["title"]


@pytest.mark.usefixtures("read_in_this_process")
def test_the_size_limit_is_for_members(store: Store, folder: Path) -> None:
    write(folder, {"old.zip": packed_zip({f"{number}.txt": words(number, number + 90) for number in range(20)})})
    sources = read_corpus([folder], max_bytes=2000)

    assert (folder / "old.zip").stat().st_size > 2000
    assert 21 == SimilaritySearch(store).index(sources, archives=True).added_count


@pytest.mark.usefixtures("read_in_this_process")
def test_the_command_line_lists_and_shows_members(folder: Path, tmp_path: Path) -> None:
    place = ("--store", tmp_path / "store")
    output("index", folder, "--archives", *place)

    assert [REPORT, NOTE] == [row for row in output("list", "old.zip!", *place).split() if "!" in row]
    assert REPORT == answer("show", "Report", *place)["id"]
    assert NOTE == answer("show", "note", *place)["id"]
    assert 0 == run("duplicates", folder, "--plan", tmp_path / "plan.tsv", *place).exit_code
