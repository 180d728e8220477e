"""What is said of skipped files: what matters first, one line a reason, with the option that helps."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from simdoc_search import SimilaritySearch, open_store
from simdoc_search.corpus import read_corpus
from simdoc_search.documents import Skipped
from simdoc_search.indexing.skip_reasons import group_by_reason, kind_of, matters
from tests.support.cli import answer, output, run, write
from tests.support.formats import docx, odt
from tests.support.often import first


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the commands run, with one file for each thing that can be the matter."""
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


def test_what_matters_comes_first_with_the_option_that_helps() -> None:
    """Damaged, encrypted and too large files before those that were never meant to be read."""
    pytest.importorskip("kreuzberg")
    lines = [line.strip() for line in run("index", "corpus", "--max-size", "0.1").stderr.splitlines()]

    assert lines[0].startswith("1 damaged: corpus/damaged.docx (")
    assert "1 encrypted: corpus/locked.odt" == lines[1]
    assert "1 over the size limit: corpus/large.txt (120,000 bytes); --max-size MB takes larger ones" == lines[2]
    assert {"1 broken link: corpus/broken", "1 no words: corpus/dots.txt"} == set(lines[3:5])
    assert "1 format .djvu is not supported: corpus/old.djvu" == lines[5]
    assert ["1 binary: corpus/photo.raw", "1 hidden: corpus/.hidden"] == lines[6:]


def test_reasons_that_nobody_knows_come_with_those_that_matter() -> None:
    """A reason is its own line; its files are counted, most first."""
    reasons = ["hidden"] * 9 + ["a new reason"] + ["permission denied"] * 2 + ["binary"]
    groups = group_by_reason(Skipped(f"file{number}", reason) for number, reason in enumerate(reasons))

    assert ["permission denied", "a new reason", "binary", "hidden"] == [each.label for each in groups]
    assert [2, 1, 1, 9] == [len(each.examples) for each in groups]


@pytest.mark.parametrize(
    ("reason", "gone"),
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
        ("the format .pdf needs an optional part: pip install 'simdoc-search[documents]'", False),
        ("hidden", False),
    ],
)
def test_a_text_is_gone_only_if_that_is_sure(reason: str, gone: bool) -> None:
    """What may be read another time, or by another installation, is not gone."""
    assert gone == kind_of(reason)[0].text_gone


# --- --fail-on-skip ---


def test_what_was_never_meant_to_be_read_is_no_failure(folder: Path) -> None:
    """Hidden and binary files, links, stores: with --fail-on-skip too the exit code is 0."""
    plain = write(folder / "plain", {"a.txt": "words", ".hidden": "x", "photo.raw": b"\0\1\2\xff" * 99})
    (plain / "loop").symlink_to(plain)
    run("index", plain / "a.txt", "--store", plain / "store")
    result = run("index", plain, "--fail-on-skip")

    assert (0, 4) == (result.exit_code, len(answer("index", plain)["skipped"]))


@pytest.mark.parametrize(
    "name", first(4, ["large.txt", "dots.txt", "old.djvu", "broken", "damaged.docx", "locked.odt"])
)
def test_a_document_that_is_missing_is_a_failure_if_that_is_asked_for(folder: Path, name: str) -> None:
    """One sentence at the end; without the option the run succeeds."""
    for each in (folder / "corpus").iterdir():
        if each.name not in (name, "fine.txt"):
            each.unlink()
    asked = run("index", "corpus", "--max-size", "0.1", "--fail-on-skip")

    assert 0 == run("index", "corpus", "--max-size", "0.1").exit_code
    assert (1, "1 indexed") == (asked.exit_code, asked.stdout.partition(",")[0])
    assert "Error: 1 document was skipped, and --fail-on-skip is set" == asked.stderr.splitlines()[-1]


def test_a_bad_line_of_jsonl_is_a_failure_if_that_is_asked_for(folder: Path) -> None:
    """A document is missing there too."""
    write(folder, {"docs.jsonl": '{"id": "a", "text": "words"}\nno JSON\n'})

    assert 1 == run("index", "docs.jsonl", "--fail-on-skip").exit_code
    assert not matters(Skipped("x", "hidden"))


# --- help and logging ---


def test_help_names_all_formats() -> None:
    """Each ending that is read by another's code, and each table."""
    shown = output("index", "--help").split()
    endings = {each.strip(";,:()") for each in shown}

    assert {*FORMATS, *TABLE_ENDINGS, *(each for each in JSONL if each.count(".") == 1)} <= {
        each.rstrip(".") for each in endings
    }


def test_a_run_logs_what_it_does(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    """By the logger `simdoc_search`: the run for INFO, each file that changes or is skipped for DEBUG."""
    search = SimilaritySearch(open_store(":memory:"))
    with caplog.at_level(logging.DEBUG, "simdoc_search"):
        search.index(read_corpus(["corpus"], max_bytes=1000))
    said = {(each.levelname, each.getMessage()) for each in caplog.records}

    assert all(each.name.startswith("simdoc_search.") for each in caplog.records)
    assert ("DEBUG", "stored fine.txt") in said
    assert ("DEBUG", "skipped corpus/dots.txt: no words") in said
    assert any(level == "INFO" and f"{folder}/corpus" in text for level, text in said)
    assert any(level == "INFO" and text.startswith("1 indexed, 0 unchanged") for level, text in said)
