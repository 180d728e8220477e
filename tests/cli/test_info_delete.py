"""`simdoc-search info` and `delete`, and features of all commands: the store and the exit status."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.cli import answer, output, process, run, sentence, write

pytestmark = pytest.mark.usefixtures("in_indexed_corpus")


# --- info ---


def test_info_shows_documents_bytes_and_settings(tmp_path: Path) -> None:
    shown = dict(re.split(r" {2,}", line, maxsplit=1) for line in output("info").splitlines() if "  " in line)
    size = sum(file.stat().st_size for file in (tmp_path / ".simdoc").rglob("*") if file.is_file())

    assert "5" == shown["documents"]
    assert f"{size:,}" == shown["bytes"].split()[0]
    assert "runs of 5 words, ignoring case" == shown["compared"]
    assert "minhash:512" == shown["sketch"]


def test_info_as_json_has_its_keys() -> None:
    result = answer("info")

    assert 5 == result["document_count"]
    assert 1000 < result["bytes"]
    assert {"profile": "nfkc_cf", "shingle_size": 5, "unit": "word", "short_texts": True} == (
        result["settings"]["analysis"]
    )
    assert 512 == result["settings"]["minhash"]["bucket_count"]
    assert 1 == result["settings"]["version"]


# --- delete ---


def test_delete_removes_documents_and_leaves_their_files(tmp_path: Path) -> None:
    assert "1 document deleted\n" == output("delete", "reports/copy.txt")
    assert ["reports/half.txt", "notes/old.txt"] == [hit["id"] for hit in answer("similar", "doc123")["hits"]]
    assert (tmp_path / "corpus/reports/copy.txt").exists()
    assert 4 == answer("info")["document_count"]


def test_delete_takes_the_paths_of_indexed_files(tmp_path: Path) -> None:
    """A file that is not indexed is an error, even if a document has the same file name."""
    write(tmp_path, {"more/copy.txt": "other words"})

    assert "more/copy.txt' is not in the index" in sentence(run("delete", "corpus/other.txt", "more/copy.txt"))
    assert 5 == answer("info")["document_count"]
    assert "2 documents deleted\n" == output("delete", "corpus/reports/copy.txt", tmp_path / "corpus/other.txt")
    assert 3 == answer("info")["document_count"]


def test_delete_removes_all_ids_or_none_if_one_is_unknown() -> None:
    assert "did you mean 'reports/copy.txt'" in sentence(run("delete", "doc123.txt", "reports/cpy.txt"))
    assert 5 == answer("info")["document_count"]
    assert {"deleted_count": 2, "refused": []} == answer("delete", "doc123.txt", "other.txt", "doc123.txt")
    assert 3 == answer("info")["document_count"]


# --- the store ---


def test_store_option_precedes_the_environment_and_the_default(tmp_path: Path) -> None:
    output("index", "-", "--store", "given", SIMDOC_STORE="set", stdin="")
    output("index", "corpus/other.txt", SIMDOC_STORE="set")

    assert {"corpus", "given", "set", ".simdoc"} == {path.name for path in tmp_path.iterdir()}
    assert 0 == answer("info", "--store", "given", SIMDOC_STORE="set")["document_count"]
    assert 1 == answer("info", SIMDOC_STORE="set")["document_count"]
    assert 5 == answer("info")["document_count"]


def test_without_a_store_the_command_that_creates_one_is_shown(tmp_path: Path) -> None:
    message = "no index at nowhere; create an index with: simdoc-search index FOLDER --store nowhere"

    assert message == sentence(run("info", "--store", "nowhere")) == sentence(run("delete", "a", "--store", "nowhere"))
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.slow
def test_a_second_writer_is_refused_while_readers_are_answered(tmp_path: Path) -> None:
    code = """
from simdoc_search import open_store
with open_store(".simdoc").writer():
    print("locked", flush=True)
    input()
"""
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdin is not None
        assert other.stdout is not None
        assert "locked" == other.stdout.readline().strip()
        for command in (["index", "corpus"], ["delete", "other.txt"]):
            message = sentence(run(*command))

            assert "another writer is writing to the index .simdoc; try again when it has finished" == message
        assert 5 == answer("info")["document_count"]
        other.communicate("\n", timeout=60)

    assert "1 document deleted\n" == output("delete", "other.txt")


# --- the process ---


@pytest.mark.slow
def test_the_process_ends_with_the_exit_status(tmp_path: Path) -> None:
    done = [process(*arguments, cwd=tmp_path) for arguments in (["info"], ["similar", "nobody"], ["similar"])]

    assert [0, 1, 2] == [ended.returncode for ended in done]
    assert [True, False, False] == [bool(ended.stdout) for ended in done]
    assert [False, True, True] == [bool(ended.stderr) for ended in done]
    assert done[1].stderr.startswith("Error: no document 'nobody'")
