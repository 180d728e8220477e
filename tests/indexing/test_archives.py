"""Archives and mailboxes in an index: each member is a document, and follows its archive."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from simdoc_search import SimilaritySearch, open_store
from simdoc_search.corpus import read_corpus
from simdoc_search.indexing import IndexReport, archives
from simdoc_search.stores.base import Store
from tests.support.archives import encrypted, mail, mbox, packed_tar, packed_zip
from tests.support.cli import answer, output, run, words, write
from tests.support.formats import docx
from tests.support.stores import NewStore

REPORT, NOTE, PLAIN = "old.zip!2021/Report.txt", "old.zip!note.md", "plain.txt"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with an archive, and a file beside it."""
    files = {"2021/Report.txt": words(0, 100), "note.md": words(200, 300)}
    return write(tmp_path / "docs", {"old.zip": packed_zip(files), PLAIN: words(400, 500)})


@pytest.fixture
def store() -> Store:
    """An empty store."""
    return open_store(":memory:", create=True)


def index(store: Store, *paths: Path, archives: bool = True, **options: Any) -> IndexReport:
    """A run."""
    return SimilaritySearch(store).index(read_corpus(paths), archives=archives, **options)


def ids(store: Store) -> set[str]:
    """All ids."""
    return {each.id for each in store.scan()}


def counts(report: IndexReport) -> tuple[int, int, int, int]:
    """Indexed, unchanged, replaced, deleted."""
    return report.indexed, report.unchanged, report.replaced, report.deleted


def rewrite(path: Path, data: bytes) -> None:
    """Another content, and a later time."""
    time = path.stat().st_mtime_ns + 10**9
    path.write_bytes(data)
    os.utime(path, ns=(time, time))


def test_members_are_documents(new_store: NewStore, folder: Path) -> None:
    """In every store, found and compared as others are; an archive that is as it was is not read again."""
    store = new_store()
    first = index(store, folder)

    assert (3, 0, 0, 0) == counts(first)
    assert {REPORT, NOTE, PLAIN} == ids(store)
    assert ["old.zip!2021/Report.txt"] == [hit.id for hit in SimilaritySearch(store).similar_to_text(words(0, 90)).hits]

    (folder / "old.zip").chmod(0)  # as another user could not read it: it is not opened
    monkey = pytest.MonkeyPatch()
    monkey.setattr(archives, "apart", None)
    assert (0, 3, 0, 0) == counts(index(store, folder, prune=True))
    monkey.undo()


def test_without_the_option_an_archive_stays_closed(store: Store, folder: Path) -> None:
    """It is listed, and does not matter for --fail-on-skip; named by itself, it is opened."""
    report = index(store, folder, archives=False)

    assert (1, 0, 0, 0) == counts(report)
    assert ["an archive or a mailbox; --archives looks into it"] == [each.reason for each in report.skipped]
    assert (2, 0, 0, 0) == counts(index(store, folder / "old.zip", archives=False))
    assert (0, 3, 0, 0) == counts(index(store, folder))
    assert {REPORT, NOTE, PLAIN} == ids(store)


def test_a_changed_archive_is_replaced(store: Store, folder: Path) -> None:
    """Members are known by their bytes; what vanished goes with prune, and is not taken for unchanged before."""
    index(store, folder)
    rewrite(folder / "old.zip", packed_zip({"2021/Report.txt": words(0, 101), "new.txt": words(600, 700)}))
    second = index(store, folder, archives=False)  # what was opened is opened again

    assert (1, 1, 1, 0) == counts(second)
    assert {REPORT, NOTE, PLAIN, "old.zip!new.txt"} == ids(store)
    assert ["1 file was not found in " in note for note in second.notes] == [True]
    assert (0, 3, 0, 1) == counts(index(store, folder, prune=True))
    assert (0, 3, 0, 0) == counts(index(store, folder, prune=True))


def test_members_of_an_archive_that_is_gone_go_with_prune(store: Store, folder: Path) -> None:
    """As documents of files do."""
    index(store, folder)
    (folder / "old.zip").unlink()

    assert (0, 1, 0, 2) == counts(index(store, folder, prune=True))
    assert {PLAIN} == ids(store)


def test_nothing_goes_of_an_archive_that_cannot_be_read(store: Store, folder: Path) -> None:
    """Damaged, or cut while it is copied."""
    index(store, folder)
    data = (folder / "old.zip").read_bytes()
    rewrite(folder / "old.zip", data[:-30])
    report = index(store, folder, prune=True)

    assert (0, 1, 0, 0) == counts(report)
    assert {REPORT, NOTE, PLAIN} == ids(store)
    assert ["damaged: File is not a zip file"] == [each.reason for each in report.skipped]

    rewrite(folder / "old.zip", data)
    assert (0, 3, 0, 0) == counts(index(store, folder, prune=True))


def test_a_member_whose_text_is_gone_is_removed(store: Store, folder: Path) -> None:
    """Binary now, or encrypted."""
    index(store, folder)
    files: dict[str, str | bytes] = {"2021/Report.txt": words(0, 100), "note.md": bytes(50)}
    rewrite(folder / "old.zip", encrypted(packed_zip(files), "2021/Report.txt"))
    report = index(store, folder)

    assert (0, 1, 0, 2) == counts(report)
    assert {"binary", "encrypted"} == {each.reason for each in report.skipped}
    assert {PLAIN} == ids(store)


@pytest.mark.slow
def test_an_interrupted_run_is_completed(store: Store, tmp_path: Path) -> None:
    """What was stored of an archive before is no sign that all of it was."""
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
def test_a_mail_that_is_added_costs_itself(store: Store, tmp_path: Path) -> None:
    """The others of its mailbox are known by their bytes. Subjects and dates are metadata."""
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
def test_a_folder_around_takes_over_what_was_named_by_itself(store: Store, folder: Path) -> None:
    """With ids of that folder; also of an archive in a folder below."""
    write(folder, {"below/mail.mbox": mail("hello", words(700, 800))})
    index(store, folder / "below" / "mail.mbox", archives=False)
    assert {"mail.mbox!hello.eml"} == ids(store)

    report = index(store, folder, prune=True)
    assert {REPORT, NOTE, PLAIN, "below/mail.mbox!hello.eml"} == ids(store)
    assert (0, 4, 0, 0) == counts(index(store, folder, prune=True))
    assert [] == report.problems
    assert (0, 1, 0, 0) == counts(index(store, folder / "below" / "mail.mbox", archives=False))


def test_an_archive_named_by_itself_is_pruned_by_itself(store: Store, folder: Path) -> None:
    """When it was read to its end."""
    index(store, folder / "old.zip")
    rewrite(folder / "old.zip", packed_zip({"note.md": words(200, 300)}))

    assert (0, 1, 0, 1) == counts(index(store, folder / "old.zip", prune=True))


def test_other_formats_in_archives_are_read_by_workers(store: Store, tmp_path: Path) -> None:
    """A Word document, and messages of a Maildir, which is a folder already."""
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


def test_a_large_archive_is_not_too_large(store: Store, folder: Path) -> None:
    """The limit is for its members."""
    write(folder, {"old.zip": packed_zip({f"{number}.txt": words(number, number + 90) for number in range(20)})})
    sources = read_corpus([folder], max_bytes=2000)

    assert (folder / "old.zip").stat().st_size > 2000
    assert 21 == SimilaritySearch(store).index(sources, archives=True).indexed


def test_the_command_line_lists_and_shows_members(folder: Path, tmp_path: Path) -> None:
    """By their ids, and by the names that they have in their archives."""
    place = ("--store", tmp_path / "store")
    output("index", folder, "--archives", *place)

    assert [REPORT, NOTE] == [row for row in output("list", "old.zip!", *place).split() if "!" in row]
    assert REPORT == answer("show", "Report", *place)["id"]
    assert NOTE == answer("show", "note", *place)["id"]
    assert 0 == run("duplicates", folder, "--plan", tmp_path / "plan.tsv", *place).exit_code
