"""Links inside a folder are followed. Links out of it are followed only on request."""

from __future__ import annotations

from pathlib import Path

import pytest

from simdoc_search.corpus import Document, FileSource, SkippedFile, find_files, read_corpus
from simdoc_search.corpus.file_reader import read_in_process
from simdoc_search.corpus.links import leads_out
from tests.support import cli
from tests.support.folders import ids, posix_only, skipped, write


def linked(folder: Path) -> Path:
    """A folder with links of all kinds, inside it and out of it."""
    corpus = write(folder / "corpus", "real/a.txt", "z.txt")
    write(folder, "outside/b.txt")
    (corpus / "again").symlink_to("real")
    (corpus / "broken").symlink_to("nowhere")
    (corpus / "file.txt").symlink_to("../outside/b.txt")
    (corpus / "linked").symlink_to("../outside")
    (corpus / "null").symlink_to("/dev/null")
    (corpus / "same.txt").symlink_to("real/a.txt")
    (corpus / "second").symlink_to(folder / "outside")
    (corpus / "self").symlink_to("self")
    (corpus / "real" / "absolute.txt").symlink_to(corpus / "z.txt")
    (corpus / "real" / "around.txt").symlink_to("../linked/b.txt")
    (corpus / "real" / "twice.txt").symlink_to("../file.txt")
    (corpus / "real" / "up").symlink_to("..")
    (corpus / "real" / "upper").symlink_to(folder)
    return corpus


LOOP = "a link to a folder that was already read"
OUT = "a link out of the folder"


@posix_only
def test_links_inside_the_folder_are_followed_once(tmp_path: Path) -> None:
    corpus = linked(tmp_path)

    assert ["same.txt", "z.txt", "real/a.txt", "real/absolute.txt"] == ids(corpus)
    assert {
        "again/": LOOP,
        "broken": "broken link",
        "file.txt": OUT,
        "linked/": OUT,
        "null": OUT,
        "second/": OUT,
        "self": "too many levels of symbolic links",
        "real/around.txt": OUT,
        "real/twice.txt": OUT,
        "real/up/": LOOP,
        "real/upper/": OUT,
    } == skipped(corpus)


@posix_only
def test_links_out_of_the_folder_are_followed_on_request(tmp_path: Path) -> None:
    corpus = linked(tmp_path)
    found = list(read_corpus([corpus], follow_links=True))
    read = [read_in_process(source) if isinstance(source, FileSource) else source for source in found]

    assert {
        "file.txt": "the text of outside/b.txt",
        "same.txt": "the text of real/a.txt",
        "z.txt": "the text of z.txt",
        "linked/b.txt": "the text of outside/b.txt",
        "real/a.txt": "the text of real/a.txt",
        "real/absolute.txt": "the text of z.txt",
        "real/around.txt": "the text of outside/b.txt",
        "real/twice.txt": "the text of outside/b.txt",
    } == {document.id: document.text for document in read if isinstance(document, Document)}
    assert {
        "again/": LOOP,
        "broken": "broken link",
        "null": "a pipe, socket or device, not a regular file",
        "second/": LOOP,
        "self": "too many levels of symbolic links",
        "real/up/": LOOP,
        "real/upper/": LOOP,
    } == {skipped.path[len(str(corpus)) + 1 :]: skipped.reason for skipped in read if isinstance(skipped, SkippedFile)}


@posix_only
def test_the_command_follows_links_out_only_with_its_option(tmp_path: Path) -> None:
    corpus = write(tmp_path / "corpus", "a.txt")
    (write(tmp_path, "secret") / "secret").write_text(cli.words(0, 20), "utf-8")
    (corpus / "b.txt").symlink_to("../secret")
    kept = cli.answer("index", corpus, "--store", tmp_path / "store")
    followed = cli.answer("index", corpus, "--store", tmp_path / "store", "--follow-links")

    assert (1, [{"path": str(corpus / "b.txt"), "reason": OUT}]) == (kept["added_count"], kept["skipped"])
    assert (1, []) == (followed["added_count"], followed["skipped"])


@posix_only
@pytest.mark.parametrize("name", ["a.txt", "sub/a.txt", "sub/a.pdf"])
def test_a_link_put_in_place_after_the_listing_is_not_followed(tmp_path: Path, name: str) -> None:
    corpus = write(tmp_path / "corpus", name)
    write(tmp_path, "outside/a.txt", "outside/a.pdf")
    (source,) = find_files([corpus])
    (free,) = find_files([corpus], follow_links=True)
    assert isinstance(source, FileSource)
    assert isinstance(free, FileSource)
    moved = corpus / name.partition("/")[0]
    moved.rename(tmp_path / "moved")
    moved.symlink_to("../outside" if "/" in name else "../outside/a.txt")

    assert SkippedFile(str(corpus / name), OUT) == read_in_process(source)
    assert SkippedFile(str(corpus / name), OUT) != read_in_process(free)


@posix_only
def test_a_link_that_exists_only_while_the_file_is_opened_is_noticed(tmp_path: Path) -> None:
    corpus = write(tmp_path / "corpus", "a.txt")
    info = corpus.stat()
    with (write(tmp_path, "outside") / "outside").open("rb") as opened, (corpus / "a.txt").open("rb") as right:
        assert leads_out(corpus / "a.txt", (info.st_dev, info.st_ino), opened.fileno())
        assert not leads_out(corpus / "a.txt", (info.st_dev, info.st_ino), right.fileno())
