"""A folder becomes documents: what is read, under which id, and what is skipped with which reason."""

from __future__ import annotations

import os
import pickle
import socket
import sys
from pathlib import Path

import pytest

from simdoc_search.corpus import DEFAULT_MAX_BYTES, Document, FileSource, Skipped, find_files, read_corpus, read_text
from simdoc_search.corpus.file_reader import load
from simdoc_search.errors import CorpusError
from tests.support import cli
from tests.support.folders import ids, posix_only, skipped, write


def test_ids_are_paths_below_the_folder(tmp_path: Path) -> None:
    """An id is the path below the named folder with `/`; files of a folder come before its folders, sorted."""
    write(tmp_path, "b.txt", "a/z.txt", "a/b/c.txt", "a.txt", "Z", "c/x.md")

    assert ["Z", "a.txt", "b.txt", "a/z.txt", "a/b/c.txt", "c/x.md"] == ids(tmp_path)


@pytest.mark.parametrize("name", ["doc_1_20", "with space.txt", "é.txt", "漢字.txt", "x" * 255])
def test_names_hold_anything(tmp_path: Path, name: str) -> None:
    """Underscores, spaces and any letters stay in the id."""
    assert [name] == ids(write(tmp_path, name))


@posix_only
def test_quotes_are_kept(tmp_path: Path) -> None:
    """Quotes and backslashes in a name stay in the id."""
    assert ['a"b\\c'] == ids(write(tmp_path, 'a"b\\c'))


def test_a_named_file_has_its_name_as_id(tmp_path: Path) -> None:
    """A file that is named itself is read whatever its name begins with."""
    write(tmp_path, "sub/.notes")

    assert [".notes"] == ids(tmp_path / "sub" / ".notes")


def test_a_source_says_where_and_how_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root is absolute whatever way the folder was named; size and time are those of the file; it pickles."""
    write(tmp_path, "sub/a.txt")
    os.utime(tmp_path / "sub/a.txt", ns=(5, 1_700_000_000_123_456_789))
    monkeypatch.chdir(tmp_path)
    (source,) = find_files(["sub"])

    place, time = tmp_path / "sub", 1_700_000_000_123_456_789
    within = (place.stat().st_dev, place.stat().st_ino)

    assert FileSource("a.txt", Path("sub/a.txt"), str(place), 21, time, DEFAULT_MAX_BYTES, within=within) == source
    assert Document("a.txt", "the text of sub/a.txt") == load(pickle.loads(pickle.dumps(source)))


def test_several_paths_come_in_their_order(tmp_path: Path) -> None:
    """Named paths are read one after the other, each with ids of its own."""
    write(tmp_path, "b/x.txt", "a/x.txt", "a/y.txt")

    assert ["x.txt", "x.txt", "y.txt", "y.txt"] == ids(tmp_path / "b", tmp_path / "a", tmp_path / "a/y.txt")


def test_hidden_files_and_folders_are_skipped(tmp_path: Path) -> None:
    """A hidden folder is one skip, however much is in it; the named folder itself may be hidden."""
    folder = write(tmp_path / ".corpus", "a.txt", ".hidden.txt", ".git/config", ".git/HEAD", "sub/.x")

    assert ["a.txt"] == ids(folder)
    assert {".hidden.txt": "hidden", ".git/": "hidden", "sub/.x": "hidden"} == skipped(folder)


def test_large_files_are_skipped(tmp_path: Path) -> None:
    """A file over the limit is not read; the reason has its size and the limit. A file of the limit is read."""
    (tmp_path / "large.txt").write_bytes(b"x" * 10_001)
    (tmp_path / "fits.txt").write_bytes(b"x" * 10_000)

    assert {"large.txt": "10,001 bytes are over the limit of 10,000"} == skipped(tmp_path, max_bytes=10_000)


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("picture.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "an image"),
        ("late.txt", b"words " * 50_000 + b"\0" * 500, "binary"),
        ("page.html", b"<p>text\0</p>\0", "binary"),
        ("book.mobi", b"BOOKMOBI", "format .mobi is not supported"),
        ("rows.parquet", b"PAR1", "a table; name the file itself to index its rows"),
    ],
)
def test_files_that_are_no_text_are_skipped(tmp_path: Path, name: str, data: bytes, reason: str) -> None:
    """Binaries and documents of other formats are skipped, each with its reason."""
    (tmp_path / name).write_bytes(data)

    assert {name: reason} == skipped(tmp_path)


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.rst", "a.py", "a", "a.unheard-of", "A.TXT"])
def test_whatever_decodes_is_text(tmp_path: Path, name: str) -> None:
    """The ending of a text file does not matter; Markdown stays as it is."""
    (tmp_path / name).write_bytes(b"# Head\n\nSome *words*.\n")

    assert "# Head\n\nSome *words*.\n" == read_text(tmp_path / name)


@pytest.mark.parametrize("name", ["a.html", "a.htm", "a.xhtml", "A.HTML"])
def test_html_is_known_by_its_ending(tmp_path: Path, name: str) -> None:
    """HTML files are read as pages; the same markup in a text file is text."""
    (tmp_path / name).write_bytes(b"<title>T</title><p>some <b>words</b>")
    (tmp_path / "a.txt").write_bytes(b"<p>some <b>words</b>")

    assert "T\nsome words" == read_text(tmp_path / name)
    assert "<p>some <b>words</b>" == read_text(tmp_path / "a.txt")


def test_files_without_words_are_documents(tmp_path: Path) -> None:
    """An empty file is found and read: whether it can be compared is for others to say."""
    (tmp_path / "empty.txt").touch()

    assert [Document("empty.txt", "")] == [load(f) for f in find_files([tmp_path]) if isinstance(f, FileSource)]


def test_a_file_that_vanishes_is_skipped(tmp_path: Path) -> None:
    """A file that is gone when it is read gives a reason, not an error."""
    (source,) = find_files([write(tmp_path, "a.txt")])
    (tmp_path / "a.txt").unlink()

    assert isinstance(source, FileSource)
    assert Skipped(str(tmp_path / "a.txt"), "vanished before it was read") == load(source)


@posix_only
def test_a_pipe_in_place_of_a_file_is_not_waited_for(tmp_path: Path) -> None:
    """A file that became a pipe before it was read is skipped, and the reading does not hang."""
    (source,) = find_files([write(tmp_path, "a.txt")])
    (tmp_path / "a.txt").unlink()
    os.mkfifo(tmp_path / "a.txt")

    assert isinstance(source, FileSource)
    assert Skipped(str(tmp_path / "a.txt"), "not a file any more") == load(source)


@posix_only
def test_pipes_sockets_and_devices_are_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is no file is never opened."""
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    Path("named").symlink_to("pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        reason = "not a file but a pipe, socket or device"

        assert {"named": reason, "pipe": reason, "socket": reason} == skipped(tmp_path)


@pytest.mark.parametrize("named", ["docs", "./docs", "docs/", "docs/.", "docs/../docs", "{here}/docs", "docs//"])
def test_root_and_id_do_not_depend_on_how_a_folder_is_named(
    named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of a folder is always known by the folder's absolute path and its own path below it."""
    write(tmp_path, "docs/sub/a.txt")
    monkeypatch.chdir(tmp_path)
    (found,) = find_files([named.format(here=tmp_path)])

    assert isinstance(found, FileSource)
    assert (str(tmp_path / "docs"), "sub/a.txt") == (found.root, found.id)


@pytest.mark.parametrize("named", ["docs/a.txt", "./docs/a.txt", "docs/../docs/a.txt", "{here}/docs/a.txt"])
def test_root_and_id_do_not_depend_on_how_a_file_is_named(
    named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that is named itself is known by its own absolute path and its name."""
    write(tmp_path, "docs/a.txt")
    monkeypatch.chdir(tmp_path)
    (found,) = find_files([named.format(here=tmp_path)])

    assert isinstance(found, FileSource)
    assert (str(tmp_path / "docs" / "a.txt"), "a.txt") == (found.root, found.id)


@posix_only
@pytest.mark.parametrize("name", ["a.txt", "a.jsonl", "a.jsonl.gz", "a.csv", "a.parquet", "-x"])
def test_a_named_pipe_or_device_is_one_sentence(tmp_path: Path, name: str) -> None:
    """It is said at once, before anything is read; nothing is waited for."""
    (tmp_path / "devices").mkdir()
    (tmp_path / "devices" / name).symlink_to("/dev/zero")
    os.mkfifo(tmp_path / name)

    for path in (tmp_path / name, tmp_path / "devices" / name):
        result = cli.run("index", path, "--store", tmp_path / "store")

        assert (
            f"{path} is no file but a pipe, socket or device; write it to a file, or give it as standard input (-)"
        ) == cli.sentence(result)
    assert not (tmp_path / "store").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no /proc")
@pytest.mark.parametrize("name", ["a.txt", "a.jsonl", "a.csv"])
def test_a_named_file_of_the_kernel_is_not_waited_for(tmp_path: Path, name: str) -> None:
    """/proc/kmsg passes for a file and never ends: it is empty, refused or skipped."""
    (tmp_path / name).symlink_to("/proc/kmsg")
    try:
        found = [load(f) if isinstance(f, FileSource) else f for f in read_corpus([tmp_path / name])]
    except CorpusError as error:
        found = [Skipped(str(tmp_path / name), str(error))]

    assert [] == [each for each in found if isinstance(each, Document)]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_names_that_are_not_utf8_are_skipped(tmp_path: Path) -> None:
    """A file or folder whose name is not UTF-8 has no id; its bytes are shown."""
    write(tmp_path, "good.txt")
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.txt")).touch()
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/d\xff")).mkdir()
    reason = "the name is not valid UTF-8"

    assert ["good.txt"] == ids(tmp_path)
    assert {r"caf\xe9.txt": reason, r"d\xff/": reason} == skipped(tmp_path)
    with pytest.raises(CorpusError, match=r"the name of .*d\\xff is not valid UTF-8; rename it"):
        find_files([os.fsdecode(os.fsencode(tmp_path) + b"/d\xff")])


def test_ids_over_512_bytes_are_skipped(tmp_path: Path) -> None:
    """A path that is too long for an id is skipped with its length."""
    name = "漢" * 80
    write(tmp_path, f"{name}/{name}/x")
    (reason,) = skipped(write(tmp_path, f"{name}/{name}/{'y' * 40}")).values()

    assert [f"{name}/{name}/x"] == ids(tmp_path)
    assert reason.endswith("… is 522 bytes long; the limit is 512")


@posix_only
def test_folders_of_any_depth_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Depth costs no recursion: what lies too deep for an id is skipped, or for a path of the system."""
    monkeypatch.chdir(tmp_path)
    for _ in range(1010):
        Path("d").mkdir()
        os.chdir("d")
    Path("deep.txt").touch()
    try:
        (found,) = find_files([tmp_path])
    finally:  # who cleans up after the tests does it by recursion
        Path("deep.txt").unlink()
        for _ in range(1010):
            os.chdir("..")
            Path("d").rmdir()

    assert isinstance(found, Skipped)
    assert found.reason.endswith("is 2028 bytes long; the limit is 512")


def test_a_missing_path_is_an_error_at_once(tmp_path: Path) -> None:
    """A path that is not there is said before anything is read."""
    with pytest.raises(CorpusError, match=r"none does not exist; check the path"):
        read_corpus([write(tmp_path, "a.txt"), tmp_path / "none"])


@pytest.mark.parametrize("inside", [(), ("sub/",), ("sub/sub/", "x/")])
def test_a_folder_without_files_is_an_error(tmp_path: Path, inside: tuple[str, ...]) -> None:
    """A folder that holds no file at all, in no folder below, was hardly meant."""
    for name in inside:
        (tmp_path / name).mkdir(parents=True)

    with pytest.raises(CorpusError, match="has no files; name a folder with documents"):
        list(read_corpus([tmp_path]))


def test_one_file_can_be_asked_for(tmp_path: Path) -> None:
    """The text of a named file is given, or a sentence why there is none."""
    write(tmp_path, "a.txt")
    (tmp_path / "b.png").write_bytes(b"\0\1\2")

    assert "the text of a.txt" == read_text(tmp_path / "a.txt")
    with pytest.raises(CorpusError, match=r"b\.png cannot be read: binary"):
        read_text(tmp_path / "b.png")
    with pytest.raises(CorpusError, match=r"is a folder; name a file in it"):
        read_text(tmp_path)
    with pytest.raises(CorpusError, match=r"none does not exist; check the path"):
        read_text(tmp_path / "none")
