"""What `--prune` removes, and what it leaves as it may only be out of reach: say on a disk that is not mounted."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from simdoc_search import SimilaritySearch, open_store
from simdoc_search.corpus import FileSource, Skipped, read_corpus
from simdoc_search.stores.local import schema
from tests.support.cli import answer, run, words, write
from tests.support.formats import docx


@pytest.fixture(autouse=True)
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of 30 documents, 12 of them below `disk`, in the folder in which the commands run."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "corpus", {f"{n:02}.txt": words(n, n + 20) for n in range(18)})
    write(tmp_path / "corpus", {f"disk/{n:02}.txt": words(n, n + 20) for n in range(18, 30)})
    return tmp_path / "corpus"


@pytest.fixture
def search(corpus: Path) -> SimilaritySearch:
    """A search over the corpus, in memory."""
    made = SimilaritySearch(open_store(":memory:"))
    made.index(read_corpus([corpus]))
    return made


def documents() -> int:
    return int(answer("info")["documents"])


# --- what may be out of reach ---


def test_an_empty_mount_point_costs_no_document(corpus: Path) -> None:
    """With nothing in it, or only what is hidden, the folder says nothing of the files of a disk."""
    run("index", "corpus")
    shutil.rmtree(corpus)
    corpus.mkdir()
    bare = run("index", "corpus", "--prune")
    write(corpus, {".mounted-by": "x"})
    hidden = run("index", "corpus", "--prune")

    assert (1, 1, 30) == (bare.exit_code, hidden.exit_code, documents())
    assert "Error: corpus has no files; name a folder with documents\n" == bare.stderr
    assert re.search(
        r"^Error: 30 documents of /.*/corpus stayed although their files are gone, as no file is left there; "
        r"if that is right: --prune-all$",
        hidden.stderr,
        re.MULTILINE,
    )


def test_a_folder_that_was_renamed_costs_nothing(corpus: Path) -> None:
    """The path that was named is no more: nothing is done at all."""
    run("index", "corpus")
    corpus.rename(corpus.with_name("renamed"))
    result = run("index", "corpus", "--prune")

    assert (1, 30) == (result.exit_code, documents())
    assert "corpus does not exist" in result.stderr


def test_more_than_half_stays_until_it_is_said_that_all_may_go(corpus: Path) -> None:
    """The sentence says how many and how; the rest of the run is done."""
    run("index", "corpus")
    for number in range(2, 18):
        (corpus / f"{number:02}.txt").unlink()
    write(corpus, {"new.txt": words(500, 600)})
    report = run("index", "corpus", "--prune")

    assert (1, 31) == (report.exit_code, documents())
    assert "1 indexed, 14 unchanged" in report.stdout
    assert "16 documents of" in report.stderr
    assert "as they are more than half of its 30" in report.stderr
    assert {"deleted": 16, "problems": []}.items() <= answer("index", "corpus", "--prune-all").items()
    assert 15 == documents()


def test_new_documents_do_not_outvote_those_that_are_gone(corpus: Path) -> None:
    """Half is half of what was there before the run."""
    run("index", "corpus")
    shutil.rmtree(corpus)
    write(corpus, {f"new/{n}.txt": words(n, n + 20) for n in range(100)})
    result = run("index", "corpus", "--prune")

    assert (1, 130) == (result.exit_code, documents())
    assert "as they are more than half of its 30" in result.stderr


@pytest.mark.parametrize(("gone", "deleted"), [(10, 10), (11, 0)])
def test_a_few_need_no_question(corpus: Path, gone: int, deleted: int) -> None:
    """Up to 10 documents go, also if they are more than half."""
    shutil.rmtree(corpus / "disk")
    for number in range(12, 18):
        (corpus / f"{number:02}.txt").unlink()
    run("index", "corpus")
    for number in range(gone):
        (corpus / f"{number:02}.txt").unlink()
    result = run("index", "corpus", "--prune")

    assert (int(not deleted), 12 - deleted) == (result.exit_code, documents())


def test_half_goes(corpus: Path) -> None:
    """Only more than half is in doubt."""
    run("index", "corpus")
    for number in range(15):
        (corpus / f"{number:02}.txt").unlink()

    assert 15 == answer("index", "corpus", "--prune")["deleted"]


def test_what_vanished_from_an_emptied_folder_goes_with_prune_all(corpus: Path) -> None:
    """`--prune-all` says yes for a folder without files too; an empty one stays an error, as it may be a mistake."""
    run("index", "corpus")
    shutil.rmtree(corpus)
    write(corpus, {".hidden": "x"})

    assert 30 == answer("index", "corpus", "--prune-all")["deleted"]


class Vanishing(Iterator[FileSource | Skipped]):
    """The files of a folder, which something befalls when they are all read."""

    def __init__(self, corpus: Path) -> None:
        self.corpus = corpus
        self.rest = read_corpus([corpus])

    def __next__(self) -> FileSource | Skipped:
        try:
            return next(self.rest)  # type: ignore[return-value]
        except StopIteration:
            if self.corpus.exists():
                shutil.rmtree(self.corpus)
            raise


@pytest.mark.parametrize("all_may_go", [True, False])
def test_a_root_that_vanishes_meanwhile_costs_nothing(corpus: Path, search: SimilaritySearch, all_may_go: bool) -> None:
    """Not even if all may go: nothing can be said of its files."""
    (corpus / "00.txt").unlink()
    report = search.index(Vanishing(corpus), prune=True, prune_all=all_may_go)

    assert (0, True) == (report.deleted, report.failed)
    assert [f"no document of {corpus} was removed, as it cannot be read any more (no such file or directory)"] == (
        report.problems
    )
    assert 30 == search.info().documents


def closed_to(corpus: Path, search: SimilaritySearch, error: str) -> None:
    """Below `disk` all is gone and it cannot be looked into, as after an outage of a network's disk."""
    shutil.rmtree(corpus / "disk")
    (corpus / "00.txt").unlink()
    sources = [*read_corpus([corpus]), Skipped(f"{corpus}/disk/", error, str(corpus))]
    report = search.index(sources, prune=True, prune_all=True)

    assert (1, True) == (report.deleted, report.failed)
    assert [f"12 of the documents below {corpus}/disk were not looked for, as it cannot be read ({error})"] == (
        report.problems
    )
    assert 29 == search.info().documents


@pytest.mark.parametrize(
    "error", ["permission denied", "stale file handle", "transport endpoint is not connected", "broken link"]
)
def test_what_is_below_a_folder_that_could_not_be_read_stays(
    corpus: Path, search: SimilaritySearch, error: str
) -> None:
    """Whatever the reason; the rest is pruned, and the sentence names the folder."""
    closed_to(corpus, search, error)


@contextmanager
def without_rights() -> Iterator[None]:
    """Not as root, who may enter any folder."""
    user = os.geteuid()
    os.seteuid(user or 65534)
    try:
        yield
    finally:
        os.seteuid(user)


@pytest.mark.skipif(os.name == "nt", reason="Windows closes folders otherwise")
def test_a_folder_that_is_closed_keeps_its_documents(corpus: Path) -> None:
    """A user who may not enter it prunes nothing below it."""
    search = SimilaritySearch(open_store(":memory:"))
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o755)
        copy = shutil.copytree(corpus, Path(place) / "corpus")
        search.index(read_corpus([copy]))
        (copy / "00.txt").unlink()
        (copy / "disk").chmod(0)
        with without_rights():
            report = search.index(read_corpus([copy]), prune=True)
        (copy / "disk").chmod(0o700)

    assert (1, 17, 29) == (report.deleted, report.unchanged, search.info().documents)
    assert [f"12 of the documents below {copy}/disk were not looked for, as it cannot be read (permission denied)"] == (
        report.problems
    )


def test_a_store_of_an_older_version_is_pruned_too(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its documents are not found by their root; then all are looked through."""
    search = SimilaritySearch(open_store(":memory:"))
    with monkeypatch.context() as older:
        older.setattr(schema, "facts_of", lambda _: [])
        search.index(read_corpus([corpus]))
    assert 0 == search.store.count(str(corpus))
    (corpus / "00.txt").unlink()

    assert 1 == search.index(read_corpus([corpus]), prune=True).deleted


# --- without --prune ---


def test_what_was_not_found_again_is_mentioned(corpus: Path) -> None:
    """One line on stderr, in a run that succeeds; nothing if all is there."""
    run("index", "corpus")
    assert "" == run("index", "corpus").stderr
    for number in range(3):
        (corpus / f"{number:02}.txt").unlink()
    result = run("index", "corpus")

    assert (0, 30) == (result.exit_code, documents())
    assert f"3 files were not found in {corpus} again; --prune removes what is gone\n" == result.stderr
    assert "" == run("index", "corpus", "--prune").stderr
    assert "" == run("index", "corpus").stderr


# --- files whose text is gone ---


@pytest.mark.slow
def test_a_file_that_is_no_text_any_more_loses_its_document(corpus: Path, search: SimilaritySearch) -> None:
    """One that became binary, encrypted, damaged or too large, with or without prune; it is counted and listed."""
    write(corpus, {"a.pdf": "plain words in a PDF's place", "b.docx": "x"})
    write(corpus, {"00.txt": b"\0\1\2\3" * 9, "01.txt": "..."})
    write(corpus, {"02.txt": "long " * 999})
    report = search.index(read_corpus([corpus], max_bytes=900))

    assert (3, 27) == (report.deleted, report.unchanged)
    assert {"00.txt", "01.txt", "02.txt", "a.pdf", "b.docx"} == {Path(each.path).name for each in report.skipped}
    assert {"00.txt", "01.txt", "02.txt"}.isdisjoint(each.id for each in search.store.scan())
    assert 0 == search.index(read_corpus([corpus], max_bytes=900)).deleted


@pytest.mark.slow
def test_a_file_that_became_encrypted_loses_its_document(corpus: Path, search: SimilaritySearch) -> None:
    """A Word file that someone gave a password."""
    write(corpus, {"a.docx": docx()})
    search.index(read_corpus([corpus]))
    assert search.store.get("a.docx") is not None
    write(corpus, {"a.docx": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)})
    report = search.index(read_corpus([corpus]))

    assert (1, ["encrypted"]) == (report.deleted, [each.reason for each in report.skipped])
    assert search.store.get("a.docx") is None


@pytest.mark.parametrize("from_root", [True, False])
def test_a_named_file_that_became_too_large_loses_its_document(corpus: Path, from_root: bool) -> None:
    """Whether it was indexed by itself or as one of its folder."""
    run("index", corpus if from_root else corpus / "00.txt")
    before = documents()
    write(corpus, {"00.txt": "long " * 999})
    report = answer("index", corpus / "00.txt", "--max-size", "0.001")

    assert (1, 1, before - 1) == (report["deleted"], len(report["skipped"]), documents())


def test_a_limit_that_was_lowered_removes_nothing(corpus: Path, search: SimilaritySearch) -> None:
    """A file that is as it was is still what its document says."""
    report = search.index(read_corpus([corpus], max_bytes=20), prune=True)

    assert (0, 30, []) == (report.deleted, len(report.skipped), report.problems)
    assert 30 == search.info().documents


@pytest.mark.parametrize("reason", ["permission denied", "input/output error", "took longer than 120 s to read"])
def test_a_file_that_cannot_be_read_just_now_keeps_its_document(
    corpus: Path, search: SimilaritySearch, reason: str
) -> None:
    """With prune too: the file is there, its text may be as it was."""
    sources = [each for each in read_corpus([corpus]) if isinstance(each, FileSource) and each.id != "00.txt"]
    report = search.index([*sources, Skipped(str(corpus / "00.txt"), reason, str(corpus))], prune=True)

    assert (0, 29, 1) == (report.deleted, report.unchanged, len(report.skipped))
    assert 30 == search.info().documents


def test_a_broken_link_is_a_file_that_is_gone(corpus: Path, search: SimilaritySearch) -> None:
    """The text that it led to is no more."""
    (corpus / "00.txt").unlink()
    (corpus / "00.txt").symlink_to("nowhere")
    report = search.index(read_corpus([corpus]), prune=True)

    assert (1, []) == (report.deleted, report.problems)
