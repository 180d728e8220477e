"""The files of a folder become documents with ids. Other files are skipped with a reason."""

from __future__ import annotations

import os
import pickle
import socket
import sys
from pathlib import Path

import pytest

from simdoc_search.corpus import (
    DEFAULT_MAX_BYTES,
    Document,
    FileSource,
    SkippedFile,
    find_files,
    read_corpus,
    read_file,
)
from simdoc_search.corpus.file_reader import read_in_process
from simdoc_search.errors import CorpusError
from tests.support import cli
from tests.support.folders import ids, posix_only, skipped, write


def test_an_id_is_the_path_below_the_folder(tmp_path: Path) -> None:
    """Files come before folders, and both are sorted by name. Given paths keep their order."""
    write(tmp_path, "b.txt", "a/z.txt", "a/b/c.txt", "a.txt", "Z", "c/x.md")

    assert ["Z", "a.txt", "b.txt", "a/z.txt", "a/b/c.txt", "c/x.md"] == ids(tmp_path)
    assert ["x.md", "c.txt", "c.txt"] == ids(tmp_path / "c", tmp_path / "a" / "b", tmp_path / "a" / "b" / "c.txt")


@pytest.mark.parametrize(
    "name", ["doc_1_20", "with space.txt", "漢字.txt", "x" * 255, pytest.param('a"b\\c', marks=posix_only)]
)
def test_a_name_can_have_any_characters(tmp_path: Path, name: str) -> None:
    assert [name] == ids(write(tmp_path, name))


def test_a_source_has_root_size_and_modification_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "sub/a.txt")
    os.utime(tmp_path / "sub/a.txt", ns=(5, 1_700_000_000_123_456_789))
    monkeypatch.chdir(tmp_path)
    (source,) = find_files(["sub"])

    place, time = tmp_path / "sub", 1_700_000_000_123_456_789
    within = (place.stat().st_dev, place.stat().st_ino)

    assert FileSource("a.txt", "sub/a.txt", str(place), 21, time, DEFAULT_MAX_BYTES, boundary=within) == source
    assert Document("a.txt", "the text of sub/a.txt") == read_in_process(pickle.loads(pickle.dumps(source)))


def test_hidden_files_and_folders_are_skipped(tmp_path: Path) -> None:
    folder = write(tmp_path / ".corpus", "a.txt", ".hidden.txt", ".git/config", ".git/HEAD", "sub/.x")

    assert ["a.txt"] == ids(folder)
    assert {".hidden.txt": "hidden", ".git/": "hidden", "sub/.x": "hidden"} == skipped(folder)


def test_large_files_are_skipped(tmp_path: Path) -> None:
    (tmp_path / "large.txt").write_bytes(b"x" * 10_001)
    (tmp_path / "fits.txt").write_bytes(b"x" * 10_000)

    assert {"large.txt": "10,001 bytes are over the limit of 10,000"} == skipped(tmp_path, max_bytes=10_000)


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("picture.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "an image"),
        ("late.txt", b"words " * 50_000 + b"\0" * 500, "binary"),
        ("page.HTM", b"<p>text\0</p>\0", "binary"),
        ("book.mobi", b"BOOKMOBI", "format .mobi is not supported"),
        ("rows.parquet", b"PAR1", "a table; give the path of this file to index its rows"),
    ],
)
def test_a_file_without_text_is_skipped(tmp_path: Path, name: str, data: bytes, reason: str) -> None:
    (tmp_path / name).write_bytes(data)

    assert {name: reason} == skipped(tmp_path)


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a", "a.unheard-of"])
def test_a_file_that_can_be_decoded_is_text(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"# Head\n\nSome <b>words</b>.\n")

    assert "# Head\n\nSome <b>words</b>.\n" == read_file(tmp_path / name).text


@posix_only
def test_a_pipe_in_place_of_a_file_is_not_waited_for(tmp_path: Path) -> None:
    (source,) = find_files([write(tmp_path, "a.txt")])
    (tmp_path / "a.txt").unlink()
    os.mkfifo(tmp_path / "a.txt")

    assert isinstance(source, FileSource)
    assert SkippedFile(str(tmp_path / "a.txt"), "the path leads to a pipe, not to a regular file") == read_in_process(
        source
    )


@posix_only
def test_pipes_sockets_and_devices_are_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    Path("named").symlink_to("pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        reason = "a pipe, socket or device, not a regular file"

        assert {"named": reason, "pipe": reason, "socket": reason} == skipped(tmp_path)


@pytest.mark.parametrize("named", ["docs", "./docs/", "docs/../docs", "{here}/docs", "docs//"])
def test_root_and_id_do_not_depend_on_how_the_path_is_written(
    named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "docs/sub/a.txt")
    monkeypatch.chdir(tmp_path)
    (found,) = find_files([named.format(here=tmp_path)])

    assert isinstance(found, FileSource)
    assert (str(tmp_path / "docs"), "sub/a.txt") == (found.root, found.id)


@posix_only
@pytest.mark.parametrize("name", ["a.txt", "a.jsonl.gz", "a.parquet", "-x"])
def test_a_named_pipe_or_device_is_refused_with_one_sentence(tmp_path: Path, name: str) -> None:
    (tmp_path / "devices").mkdir()
    (tmp_path / "devices" / name).symlink_to("/dev/zero")
    os.mkfifo(tmp_path / name)

    for path in (tmp_path / name, tmp_path / "devices" / name):
        result = cli.run("index", path, "--store", tmp_path / "store")

        assert (
            f"{path} is a pipe, socket or device; save its content to a file, or pass it on standard input (-)"
        ) == cli.sentence(result)
    assert not (tmp_path / "store").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_names_that_are_not_utf8_are_skipped(tmp_path: Path) -> None:
    write(tmp_path, "good.txt")
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.txt")).touch()
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/d\xff")).mkdir()
    reason = "the name is not valid UTF-8"

    assert ["good.txt"] == ids(tmp_path)
    assert {r"caf\xe9.txt": reason, r"d\xff/": reason} == skipped(tmp_path)
    with pytest.raises(CorpusError, match=r"the name of .*d\\xff is not valid UTF-8; rename the file or folder"):
        find_files([os.fsdecode(os.fsencode(tmp_path) + b"/d\xff")])


def test_ids_over_512_bytes_are_skipped(tmp_path: Path) -> None:
    name = "漢" * 80
    write(tmp_path, f"{name}/{name}/x")
    (reason,) = skipped(write(tmp_path, f"{name}/{name}/{'y' * 40}")).values()

    assert [f"{name}/{name}/x"] == ids(tmp_path)
    assert reason.endswith("… is 522 bytes long; the limit is 512")


@pytest.mark.slow
@posix_only
def test_folders_of_any_depth_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for _ in range(1010):
        Path("d").mkdir()
        os.chdir("d")
    Path("deep.txt").touch()
    try:
        (found,) = find_files([tmp_path])
    finally:  # pytest removes folders by recursion
        Path("deep.txt").unlink()
        for _ in range(1010):
            os.chdir("..")
            Path("d").rmdir()

    assert isinstance(found, SkippedFile)
    assert found.reason.endswith("is 2028 bytes long; the limit is 512")


@pytest.mark.parametrize("inside", [(), ("sub/",), ("sub/sub/", "x/")])
def test_a_folder_without_files_is_an_error(tmp_path: Path, inside: tuple[str, ...]) -> None:
    for name in inside:
        (tmp_path / name).mkdir(parents=True)

    with pytest.raises(CorpusError, match="has no files; give a folder that contains documents"):
        list(read_corpus([tmp_path]))
