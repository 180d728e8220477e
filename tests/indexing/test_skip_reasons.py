"""Skipped files are grouped by reason, in order of importance, with an option that helps."""

from __future__ import annotations

import logging
import re
from pathlib import Path

import pytest

from simdoc_search import SimilaritySearch, open_store
from simdoc_search.corpus import read_corpus
from simdoc_search.corpus.formats import MEDIA_TYPES
from simdoc_search.documents import SkippedFile
from simdoc_search.indexing.skip_reasons import classify_reason, group_by_reason
from tests.support.cli import answer, output, run, write
from tests.support.formats import docx, odt


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a file for each common reason."""
    monkeypatch.chdir(tmp_path)
    write(
        tmp_path / "corpus",
        {
            "fine.txt": "some words that are fine",
            ".hidden": "x",
            "photo.raw": b"\x89\0\xff\x01\0\x02\xfe" * 99,
            "damaged.docx": docx()[:300],
            "locked.odt": odt(encrypted=True),
            "large.txt": "large " * 20_000,
            "dots.txt": "... !",
            "old.djvu": "x",
        },
    )
    (tmp_path / "corpus" / "broken").symlink_to("nowhere")
    return tmp_path


@pytest.mark.usefixtures("read_in_this_process")
def test_important_reasons_come_first_with_the_option_that_helps() -> None:
    pytest.importorskip("kreuzberg")
    lines = [line.strip() for line in run("index", "corpus", "--max-size", "0.1").stderr.splitlines()]

    assert lines[0].startswith("1 damaged: corpus/damaged.docx (")
    assert "1 encrypted: corpus/locked.odt" == lines[1]
    assert "1 over the size limit: corpus/large.txt (120,000 bytes); allow larger files with --max-size MB" == lines[2]
    assert {"1 broken link: corpus/broken", "1 no words: corpus/dots.txt"} == set(lines[3:5])
    assert "1 format .djvu is not supported: corpus/old.djvu" == lines[5]
    assert ["1 binary: corpus/photo.raw", "1 hidden: corpus/.hidden"] == lines[6:]


def test_unknown_reasons_are_important() -> None:
    reasons = ["hidden"] * 9 + ["a new reason"] + ["permission denied"] * 2 + ["binary"]
    groups = group_by_reason(SkippedFile(f"file{number}", reason) for number, reason in enumerate(reasons))

    assert ["permission denied", "a new reason", "binary", "hidden"] == [group.label for group in groups]
    assert [2, 1, 1, 9] == [len(group.files) for group in groups]


def test_ids_that_are_too_long_are_one_group(folder: Path) -> None:
    deep = folder / "deep" / "/".join(["x" * 200] * 3)
    write(deep, {"a.txt": "words", "bc.txt": "words"})
    (line,) = run("index", "deep").stderr.splitlines()

    assert re.fullmatch(
        r"  2 with an id that is too long: .*/a\.txt \(608 bytes\), .*\(609 bytes\); name a subfolder, .*", line
    )
    assert "2 indexed" in output("index", deep.parent)


def test_a_reason_that_says_what_a_file_is_has_a_plural(folder: Path) -> None:
    write(
        folder / "more",
        {"a.zip": "", "b.zip": "", "c.png": b"\x89PNG\r\n\x1a\n\0", ".d": "", ".e": "", "f.txt": "words"},
    )
    (folder / "more" / "link").symlink_to(folder)

    assert [
        "  2 archives or mailboxes: more/a.zip, more/b.zip; read such files with --archives",
        "  1 image: more/c.png",
        "  1 link out of the folder: more/link/; follow such links with --follow-links",
        "  2 hidden: more/.d, more/.e",
    ] == run("index", "more").stderr.splitlines()


@pytest.mark.parametrize(
    ("reason", "is_outdated"),
    [
        ("binary", True),
        ("encrypted", True),
        ("damaged: no trailer\nfound", True),
        ("1,799 bytes are over the limit of 1,750", True),
        ("3,000,000 characters are over the limit of 1,000,000", True),
        ("grew over the limit of 1,000 bytes before it was read", True),
        ("needed more memory than 1,000 MB to read", False),
        ("no text (scanned?)", True),
        ("permission denied", False),
        ("input/output error", False),
        ("took longer than 120 s to read", False),
        ("ended unexpectedly (exit code -11)", False),
        ("the format .pdf needs optional packages; install them with: pip install 'simdoc-search[documents]'", False),
        ("the members unpack to more than 2,000 bytes in total", False),
        ("the path leads to a pipe, not to a regular file", True),
        ("reading the file would block until another process writes data", True),
        ("hidden", False),
    ],
)
def test_a_stored_text_is_outdated_only_if_another_run_cannot_read_the_file(reason: str, is_outdated: bool) -> None:
    assert is_outdated == classify_reason(reason)[0].is_text_outdated


def test_an_archive_over_a_limit_is_not_read_to_the_end() -> None:
    reasons = "the members unpack to more than 2,000 bytes in total", "there are more than 1,000,000 members"

    assert ["not read to the end"] * 2 == [classify_reason(reason)[0].label for reason in reasons]


# --- --fail-on-skip ---


def test_hidden_and_binary_files_links_and_stores_are_not_failures(folder: Path) -> None:
    plain = write(folder / "plain", {"a.txt": "words", ".hidden": "x", "photo.raw": b"\0\1\2\xff" * 99})
    (plain / "loop").symlink_to(plain)
    run("index", plain / "a.txt", "--store", plain / "store")
    result = run("index", plain, "--fail-on-skip")

    assert (0, 4) == (result.exit_code, len(answer("index", plain)["skipped"]))


@pytest.mark.parametrize("name", ["large.txt", "dots.txt", "broken"])
def test_a_missing_document_is_a_failure_with_fail_on_skip(folder: Path, name: str) -> None:
    for file in (folder / "corpus").iterdir():
        if file.name not in (name, "fine.txt"):
            file.unlink()
    strict = run("index", "corpus", "--max-size", "0.1", "--fail-on-skip")

    assert 0 == run("index", "corpus", "--max-size", "0.1").exit_code
    assert (1, "1 indexed") == (strict.exit_code, strict.stdout.partition(",")[0])
    assert "Error: 1 document was skipped, and --fail-on-skip is set" == strict.stderr.splitlines()[-1]


# --- help and logging ---


def test_help_names_all_formats() -> None:
    shown = {word.strip(";,:().") for word in output("index", "--help-all").split()}

    assert {extension[1:] for extension in (*MEDIA_TYPES, ".jsonl", ".ndjson", ".csv", ".tsv", ".parquet")} <= shown


@pytest.mark.usefixtures("read_in_this_process")
def test_a_run_logs_what_it_does(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    search = SimilaritySearch(open_store(":memory:"))
    with caplog.at_level(logging.DEBUG, "simdoc_search"):
        search.index(read_corpus(["corpus"], max_bytes=1000))
    messages = {(record.levelname, record.getMessage()) for record in caplog.records}

    assert all(record.name.startswith("simdoc_search.") for record in caplog.records)
    assert ("DEBUG", "stored fine.txt") in messages
    assert ("DEBUG", "skipped corpus/dots.txt: no words") in messages
    assert any(level == "INFO" and f"{folder}/corpus" in text for level, text in messages)
    assert any(level == "INFO" and text.startswith("1 indexed, 0 unchanged") for level, text in messages)
