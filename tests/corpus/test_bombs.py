"""A file that wants all memory, all time or the life of its reader costs only itself, and is named with the reason."""

from __future__ import annotations

import gzip
import io
import os
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from simdoc_search.corpus import Document, FileSource, Skipped, find_files, read_corpus, read_jsonl, read_text
from simdoc_search.corpus.file_reader import load, read_text_stream
from simdoc_search.errors import CorpusError, DocumentError
from simdoc_search.workers import Limits
from tests.support import bombs, cli, formats
from tests.support.often import first

TOO_MUCH = "needed more memory than 300 MB to read"
CRASHED = "ended unexpectedly (exit code -11)"
BOMBS: dict[str, tuple[Callable[[], bytes], str]] = {
    "deep.odt": (bombs.deep_odt, CRASHED),
    "packed.epub": (bombs.epub_bomb, TOO_MUCH),
    "packed.xlsx": (bombs.xlsx_bomb, TOO_MUCH),
    "self.pdf": (bombs.pdf_that_draws_itself, TOO_MUCH),
}

LIMITS = Limits(60.0, 300_000_000)


@pytest.mark.slow
def test_a_bomb_costs_only_itself(tmp_path: Path) -> None:
    """Each is listed with what it did, and its neighbours are indexed, also by a single worker."""
    whole: dict[str, str | bytes] = {"a.txt": cli.words(0, 20), "n.docx": formats.docx(), "z.pdf": formats.pdf()}
    corpus = cli.write(tmp_path / "corpus", {**whole, **{name: make() for name, (make, _) in BOMBS.items()}})
    store = ("--store", tmp_path / "store")
    report = cli.answer("index", corpus, *store, "--workers", 1, "--worker-memory", 300)

    assert 3 == report["indexed"]
    assert {name: reason for name, (_, reason) in BOMBS.items()} == {
        Path(each["path"]).name: each["reason"] for each in report["skipped"]
    }


@pytest.mark.parametrize("name", first(1, BOMBS))
def test_a_bomb_that_is_asked_for_gives_a_sentence(name: str, tmp_path: Path) -> None:
    """The text of a named file is read in a process of its own too."""
    make, reason = BOMBS[name]
    path = cli.write(tmp_path, {name: make()}) / name

    with pytest.raises(CorpusError) as raised:
        read_text(path, limits=LIMITS)
    assert f"{path} cannot be read: {reason}" == str(raised.value)


@pytest.mark.parametrize("size", [1_500_000, 8_000_000])
def test_a_nested_page_takes_a_share_of_the_time(size: int, tmp_path: Path) -> None:
    """An honest page of its size needs far less, and this one would take all the time there is."""
    path = cli.write(tmp_path, {"deep.html": "<div>" * (size // 5)}) / "deep.html"
    seconds = 12.0 * (1 / 12 + size / 50_000_000)

    with pytest.raises(CorpusError) as raised:
        read_text(path, limits=Limits(12.0, 3_000_000_000))
    assert f"{path} cannot be read: took longer than {seconds:.3g} s to read" == str(raised.value)


def test_a_query_by_a_file_that_crashes_its_reader_fails_with_a_sentence(tmp_path: Path) -> None:
    """`similar --file` goes that way."""
    folder = cli.write(tmp_path, {"a.txt": cli.words(0, 20), "deep.odt": bombs.deep_odt()})
    cli.output("index", folder / "a.txt", "--store", tmp_path / "store")
    asked = cli.run("similar", "--file", folder / "deep.odt", "--overlap", 20, "--store", tmp_path / "store")

    assert f"{folder / 'deep.odt'} cannot be read: {CRASHED}" == cli.sentence(asked)


def test_a_text_longer_than_files_may_be_is_skipped(tmp_path: Path) -> None:
    """What a small archive unpacks to counts, also where it is no bomb for its reader."""
    path = cli.write(tmp_path, {"a.docx": formats.docx(100 * formats.PARAGRAPHS)}) / "a.docx"
    (whole,), (short,) = find_files([path], max_bytes=100_000), find_files([path], max_bytes=50_000)
    assert isinstance(whole, FileSource)
    assert isinstance(short, FileSource)
    found = load(whole)

    assert isinstance(found, Document)
    assert Skipped(str(path), f"{len(found.text):,} characters are over the limit of 50,000") == load(short)


def parts(found: list[Document | FileSource | Skipped]) -> list[tuple[str, str]]:
    """Ids and texts, or places and reasons."""
    assert not any(isinstance(each, FileSource) for each in found)
    return [
        (each.id, each.text) if isinstance(each, Document) else (each.path, each.reason)
        for each in found
        if not isinstance(each, FileSource)
    ]


@pytest.mark.slow
def test_a_table_that_unpacks_to_too_much_costs_only_itself(tmp_path: Path) -> None:
    """A Parquet file is read in a process of its own; the paths after it are read."""
    folder = cli.write(tmp_path, {"a.parquet": bombs.parquet_bomb(), "b.jsonl": '{"id": "b", "text": "t"}'})
    found = parts(list(read_corpus([folder / "a.parquet", folder / "b.jsonl"], limits=LIMITS)))

    assert [(str(folder / "a.parquet"), TOO_MUCH), ("b", "t")] == found


# --- what grows ---


@pytest.fixture
def source(tmp_path: Path) -> FileSource:
    """A file that was found to have 6 bytes, and may have 100,000."""
    path = cli.write(tmp_path, {"a.txt": "a word"}) / "a.txt"
    (found,) = find_files([path], max_bytes=100_000)
    assert isinstance(found, FileSource)
    return found


def test_a_file_that_grew_within_the_limit_is_read_whole(source: FileSource) -> None:
    """The text is what it has when it is read."""
    source.path.write_text("word " * 20_000, "utf-8")

    assert Document("a.txt", "word " * 20_000) == load(source)


@pytest.mark.parametrize("size", [100_001, 8_000_000_000])
def test_a_file_that_grew_over_the_limit_is_not_read(size: int, source: FileSource) -> None:
    """It is skipped with the reason, and nothing much beyond the limit was held."""
    source.path.write_text("word " * 20_000, "utf-8")
    os.truncate(source.path, size)
    tracemalloc.start()
    found, (_, peak) = load(source), tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert Skipped(str(source.path), "grew over the limit of 100,000 bytes before it was read") == found
    assert peak < 10_000_000


# --- lines and streams without an end ---


def test_a_line_that_unpacks_to_too_much_is_named_and_passed_over(tmp_path: Path) -> None:
    """The next line is read, and the long one is never held."""
    lines = [b'{"id": "a", "text": "one"}\n', b'{"id": "b", "text": "two"}']
    packed = gzip.compress(lines[0]) + bombs.gzip_line(20_000_000) + gzip.compress(lines[1])
    path = cli.write(tmp_path, {"a.jsonl.gz": packed}) / "a.jsonl.gz"
    tracemalloc.start()
    found = parts(list(read_corpus([path], max_bytes=1_000_000)))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert [("a", "one"), (f"{path}:2", "the line is over the limit of 1,000,000 bytes"), ("b", "two")] == found
    assert peak < 10_000_000


@pytest.mark.parametrize("end", ["", "\n"])
def test_a_line_of_just_the_limit_is_read(end: str) -> None:
    """Its end does not count; one byte more is too many."""
    line = '{"id": "a", "text": "one"}'

    def read(max_bytes: int) -> list[str]:
        found = read_jsonl(io.BytesIO((line + end).encode()), max_bytes=max_bytes)
        return [each.text if isinstance(each, Document) else each.reason for each in found]

    assert ["one"] == read(len(line))
    assert ["the line is over the limit of 25 bytes"] == read(len(line) - 1)


def test_a_text_on_standard_input_has_a_limit() -> None:
    """It is refused, not cut."""
    assert "four" == read_text_stream(io.BytesIO(b"four"), "id", max_bytes=4).text
    with pytest.raises(DocumentError, match="'id' is over the limit of 4 bytes"):
        read_text_stream(io.BytesIO(b"fives"), "id", max_bytes=4)


# --- what is no file ---


def files_of_the_kernel() -> Iterator[str]:
    """What lies in some folders of /proc and /dev: endless, waiting, for writing only."""
    for folder in ("/proc", "/proc/self", "/dev"):
        yield from (entry.path for entry in os.scandir(folder) if not entry.is_dir())


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such files")
def test_files_of_the_kernel_are_read_or_refused_with_a_reason() -> None:
    """None hangs, none is endless, and none is a surprise: /proc/kmsg, /proc/self/mem, /dev/zero and all the others."""
    reasons: dict[str, str] = {}
    for path in files_of_the_kernel():
        (found,) = find_files([path], max_bytes=1_000_000)
        result = load(found) if isinstance(found, FileSource) else found
        reasons[path] = result.reason if isinstance(result, Skipped) else "read"

    assert "not a file but a pipe, socket or device" == reasons["/dev/zero"]
    assert "read" == reasons["/proc/cpuinfo"]
    assert "read" != reasons["/proc/kmsg"]
    assert [] == [path for path, reason in reasons.items() if not reason or "\n" in reason]
