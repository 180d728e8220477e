"""`simdoc-search tune`: folders and stores, pairs, bad input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.cli import answer, output, run, sentence, usage_error, write
from tests.support.prose import PROSE

FAST = ("--sketch", "minhash:64,xor:64", "--overlap", "50")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the commands run, with a corpus in it: invoices that differ in a number, and copies."""
    monkeypatch.chdir(tmp_path)
    english = PROSE["en"]
    files: dict[str, str | bytes] = {f"{code}.txt": PROSE[code] for code in ("de", "fr", "ru")}
    files |= {f"bill{n}.txt": f"{english} Invoice {n}" for n in range(3)} | {
        "copy.txt": f"{PROSE['de']} Und noch eine Zeile."
    }
    write(tmp_path / "corpus", files)
    return tmp_path


def test_a_folder_is_tuned(folder: Path) -> None:
    """A row for each sketch, a sentence and the command that makes such a store; that command works."""
    found = answer("tune", "corpus", *FAST)
    shown = output("tune", "corpus", *FAST)
    row = found["recommended"]

    assert (7, 7, 4, True) == (found["documents"], found["of"], found["pairs"], found["few"])
    assert ["minhash:64", "xor:64"] == [each["sketch"] for each in found["rows"]]
    assert row["recall"] == 1
    assert row["sketch"] in found["said"]
    assert found["said"] in shown
    assert "7 documents of 7" in shown
    assert "note: that is few" in shown
    assert ["corpus"] == [each.name for each in folder.iterdir()]
    program, *arguments = found["command"].split()
    assert "simdoc-search" == program
    assert "7 indexed" in output(*arguments)


def test_each_representation_is_one_of_shingles() -> None:
    """Their exact values are their own, and the command that is recommended makes such a store."""
    named = "words:1+stop:en+stem:de", "words:2+frequencies"
    found = answer("tune", "corpus", "--sketch", "minhash:64", "--overlap", "50", "--shingles", ",".join(named))

    assert [*named] == [each["shingles"] for each in found["rows"]]
    assert "--shingle-size 1 --stop-words en --stem de" in found["command"]
    assert "7 indexed" in output(*found["command"].split()[1:])
    other = answer("tune", "corpus", "--sketch", "minhash:64", "--overlap", "50", "--shingles", named[1])
    assert other["command"].endswith("--shingle-size 2 --frequencies")
    assert "no stemmer for 'xx'; give one of auto, ar, ca" in usage_error(
        run("tune", "corpus", "--shingles", "words:1+stem:xx")
    )


def test_planted_copies_are_named_as_such() -> None:
    """They are counted apart, never silently."""
    found = answer("tune", "corpus", *FAST, "--planted")

    assert (7, 7, 0) == (found["documents"], found["planted"], answer("tune", "corpus", *FAST)["planted"])
    assert "copies of them with edits, planted" in output("tune", "corpus", *FAST, "--planted")


def test_a_store_is_tuned_as_it_is(folder: Path) -> None:
    """By its own shingles unless others are asked for; by its name or --store."""
    output("index", "corpus", "--shingle-size", "2")
    found = answer("tune", ".simdoc", *FAST)

    assert {"words:2"} == {each["shingles"] for each in found["rows"]}
    assert [each["recall"] for each in found["rows"]] == [each["recall"] for each in answer("tune", *FAST)["rows"]]
    assert "simdoc-search index FOLDER " in found["command"]
    assert "--shingle-size 2" in found["command"]
    other = answer("tune", *FAST, "--shingles", "words:3,characters:9")
    assert ["words:3"] * 2 + ["characters:9"] * 2 == [each["shingles"] for each in other["rows"]]
    output("index", "corpus", "--store", "no.simdoc", "--no-texts")
    assert "the store no.simdoc has no texts" in sentence(run("tune", "no.simdoc", *FAST))


def test_pairs_teach_an_overlap(folder: Path) -> None:
    """What separates them is asked for; invoices that differ in one number are not separable from copies."""
    pairs = folder / "pairs.tsv"
    pairs.write_text("de.txt\tcopy.txt\tyes\nde.txt\tfr.txt\tno\n", "utf-8")
    found = answer("tune", "corpus", "--sketch", "minhash:64", "--pairs", pairs, "--sample", "2")
    assert found["learned"][0]["separable"]
    assert 0 < found["overlap"] < 0.9
    assert 4 <= found["documents"] + 1

    pairs.write_text("de.txt\tcopy.txt\tyes\nbill1.txt\tbill2.txt\tno\n", "utf-8")
    shown = output("tune", "corpus", "--sketch", "minhash:64", "--pairs", pairs, "--shingles", "words:5")
    assert "overlap does not tell yes from no here, so none is learned: a no ('bill1.txt', 'bill2.txt')" in shown
    assert "an overlap of 50 %" in shown
    pairs.write_text("de.txt\tcopy.txt\tyes\nbill1.txt\tbill9.txt\tno\n", "utf-8")
    assert "line 2 of the pairs names 'bill9.txt'" in sentence(run("tune", "corpus", *FAST, "--pairs", pairs))
    pairs.write_text("what\n", "utf-8")
    assert "line 1 of " in sentence(run("tune", "corpus", *FAST, "--pairs", pairs))


def test_bad_input_is_a_sentence(folder: Path) -> None:
    """Nothing there, an empty folder, one document, sketches and shingles that are none."""
    (folder / "empty").mkdir()
    write(folder / "one", {"a.txt": "a text of some words"})

    assert "nowhere" in sentence(run("tune", "nowhere"))
    assert "empty" in sentence(run("tune", "empty"))
    assert "fewer than two documents" in sentence(run("tune", "one", *FAST))
    assert "is not a sketch" in usage_error(run("tune", "corpus", "--sketch", "shapes"))
    for wrong in ("letters:3", "words", "words:0", "words:x", "words:3+all", "words:1+frequencies:2"):
        assert "are no shingles" in usage_error(run("tune", "corpus", "--shingles", wrong))
    assert "0 is no overlap to tune for" in usage_error(run("tune", "corpus", "--overlap", "0"))
    assert "cannot read none.tsv" in sentence(run("tune", "corpus", "--pairs", "none.tsv"))
    (folder / "bad.tsv").write_bytes(b"\xff\xfe\xff")
    assert "is not UTF-8" in sentence(run("tune", "corpus", "--pairs", "bad.tsv"))


def test_the_same_seed_says_the_same() -> None:
    """But for the times."""
    rows = [
        json.dumps([each["error"] for each in answer("tune", "corpus", *FAST, "--sample", "4")["rows"]]) for _ in "ab"
    ]

    assert rows[0] == rows[1]
