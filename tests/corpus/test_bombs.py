"""A file that exhausts the memory or time of its reader, or crashes it, is skipped with the reason."""

from __future__ import annotations

import gzip
import io
import os
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from simdoc_search.corpus import (
    Document,
    FileSource,
    SkippedFile,
    Source,
    find_files,
    read_corpus,
    read_file,
    read_jsonl,
)
from simdoc_search.corpus.file_reader import read_in_process, read_text_stream
from simdoc_search.errors import CorpusError, DocumentError
from simdoc_search.workers import ItemLimits
from tests.support import bombs, cli, formats

TOO_MUCH = "needed more memory than 300 MB to read"
CRASHED = "ended unexpectedly (exit code -11)"
BOMBS: dict[str, tuple[Callable[[], bytes], str]] = {
    "deep.pptx": (bombs.deep_pptx, CRASHED),
    "packed.epub": (bombs.epub_bomb, TOO_MUCH),
    "packed.xlsx": (bombs.xlsx_bomb, TOO_MUCH),
    "self.pdf": (bombs.pdf_that_draws_itself, TOO_MUCH),
}

LIMITS = ItemLimits(60.0, 300_000_000)


@pytest.mark.slow
def test_only_the_bomb_is_skipped(tmp_path: Path) -> None:
    whole: dict[str, str | bytes] = {"a.txt": cli.words(0, 20), "n.docx": formats.docx(), "z.pdf": formats.pdf()}
    corpus = cli.write(tmp_path / "corpus", {**whole, **{name: make() for name, (make, _) in BOMBS.items()}})
    store = ("--store", tmp_path / "store")
    report = cli.answer("index", corpus, *store, "--workers", 1, "--worker-memory", 300)

    assert 3 == report["added_count"]
    assert {name: reason for name, (_, reason) in BOMBS.items()} == {
        Path(file["path"]).name: file["reason"] for file in report["skipped"]
    }


def test_reading_a_bomb_by_its_path_raises_an_error_of_one_sentence(tmp_path: Path) -> None:
    make, reason = BOMBS["deep.pptx"]
    path = cli.write(tmp_path, {"deep.pptx": make()}) / "deep.pptx"

    with pytest.raises(CorpusError) as raised:
        read_file(path, limits=LIMITS)
    assert f"{path} cannot be read: {reason}" == str(raised.value)


@pytest.mark.slow
def test_a_nested_page_gets_a_share_of_the_time(tmp_path: Path) -> None:
    path = cli.write(tmp_path, {"deep.html": "<div>" * 1_000_000}) / "deep.html"
    seconds = 6.0 * (1 / 12 + 5_000_000 / 50_000_000)

    with pytest.raises(CorpusError) as raised:
        read_file(path, limits=ItemLimits(6.0, 3_000_000_000))
    assert f"{path} cannot be read: took longer than {seconds:.3g} s to read" == str(raised.value)


def test_an_extracted_text_over_the_limit_is_skipped(tmp_path: Path) -> None:
    path = cli.write(tmp_path, {"a.docx": formats.docx(100 * formats.PARAGRAPHS)}) / "a.docx"
    (whole,), (short,) = find_files([path], max_bytes=100_000), find_files([path], max_bytes=50_000)
    assert isinstance(whole, FileSource)
    assert isinstance(short, FileSource)
    document = read_in_process(whole)

    assert isinstance(document, Document)
    assert SkippedFile(str(path), f"{len(document.text):,} characters are over the limit of 50,000") == read_in_process(
        short
    )


def parts(sources: list[Source]) -> list[tuple[str, str]]:
    """Return ids and texts of documents, and paths and reasons of skipped files."""
    assert not any(isinstance(source, FileSource) for source in sources)
    return [
        (source.id, source.text) if isinstance(source, Document) else (source.path, source.reason)
        for source in sources
        if not isinstance(source, FileSource)
    ]


@pytest.mark.slow
def test_only_the_table_that_unpacks_to_too_much_is_skipped(tmp_path: Path) -> None:
    folder = cli.write(tmp_path, {"a.parquet": bombs.parquet_bomb(), "b.jsonl": '{"id": "b", "text": "t"}'})
    read = parts(list(read_corpus([folder / "a.parquet", folder / "b.jsonl"], limits=LIMITS)))

    assert [(str(folder / "a.parquet"), TOO_MUCH), ("b", "t")] == read


@pytest.mark.parametrize("size", [100_000, 100_001, 8_000_000_000])
def test_a_file_that_grows_over_the_limit_is_not_read(size: int, tmp_path: Path) -> None:
    path = cli.write(tmp_path, {"a.txt": "a word"}) / "a.txt"
    (source,) = find_files([path], max_bytes=100_000)
    assert isinstance(source, FileSource)
    path.write_text("word " * 20_000, "utf-8")
    os.truncate(path, size)
    tracemalloc.start()
    read, (_, peak) = read_in_process(source), tracemalloc.get_traced_memory()
    tracemalloc.stop()

    if size == 100_000:
        assert Document("a.txt", "word " * 20_000) == read
    else:
        assert SkippedFile(str(path), "grew over the limit of 100,000 bytes before it was read") == read
    assert peak < 10_000_000


def test_a_line_that_unpacks_to_too_much_is_never_in_memory(tmp_path: Path) -> None:
    lines = [b'{"id": "a", "text": "one"}\n', b'{"id": "b", "text": "two"}']
    packed = gzip.compress(lines[0]) + bombs.gzip_line(20_000_000) + gzip.compress(lines[1])
    path = cli.write(tmp_path, {"a.jsonl.gz": packed}) / "a.jsonl.gz"
    tracemalloc.start()
    read = parts(list(read_corpus([path], max_bytes=1_000_000)))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert [("a", "one"), (f"{path}:2", "the line is over the limit of 1,000,000 bytes"), ("b", "two")] == read
    assert peak < 10_000_000


@pytest.mark.parametrize("end", ["", "\n"])
def test_the_line_end_does_not_count_towards_the_limit(end: str) -> None:
    line = '{"id": "a", "text": "one"}'

    def read(max_bytes: int) -> list[str]:
        documents = read_jsonl(io.BytesIO((line + end).encode()), max_bytes=max_bytes)
        return [document.text if isinstance(document, Document) else document.reason for document in documents]

    assert ["one"] == read(len(line))
    assert ["the line is over the limit of 25 bytes"] == read(len(line) - 1)


def test_a_text_on_standard_input_over_the_limit_is_refused() -> None:
    assert "four" == read_text_stream(io.BytesIO(b"four"), "id", max_bytes=4).text
    with pytest.raises(DocumentError, match="'id' is over the limit of 4 bytes"):
        read_text_stream(io.BytesIO(b"fives"), "id", max_bytes=4)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such files")
def test_kernel_files_are_read_or_skipped_with_a_reason() -> None:
    """No file blocks the test. Some of them never end, and some block their readers: /proc/kmsg, /dev/zero."""
    reasons: dict[str, str] = {}
    for folder in ("/proc", "/proc/self", "/dev"):
        for path in (entry.path for entry in os.scandir(folder) if not entry.is_dir()):
            (source,) = find_files([path], max_bytes=1_000_000)
            result = read_in_process(source) if isinstance(source, FileSource) else source
            reasons[path] = result.reason if isinstance(result, SkippedFile) else "read"

    assert "a pipe, socket or device, not a regular file" == reasons["/dev/zero"]
    assert "read" == reasons["/proc/cpuinfo"]
    assert "read" != reasons["/proc/kmsg"]
    assert [] == [path for path, reason in reasons.items() if not reason or "\n" in reason]
