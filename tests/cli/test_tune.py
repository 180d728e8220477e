"""`simdoc-search tune` learns from labelled pairs of folders and stores."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.cli import answer, output, run, sentence, usage_error, write
from tests.support.families import prose
from tests.support.translations import PROSE


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to a folder with invoices that differ in a number, and with copies."""
    monkeypatch.chdir(tmp_path)
    english = PROSE["en"]
    files: dict[str, str | bytes] = {f"{code}.txt": PROSE[code] for code in ("de", "fr", "ru")}
    files |= {f"bill{n}.txt": f"{english} Invoice {n}" for n in range(3)}
    files |= {"copy.txt": f"{PROSE['de']} Und noch eine Zeile."}
    write(tmp_path / "corpus", files)
    return tmp_path


def write_pairs(*lines: str) -> str:
    """Write a file of labelled pairs, and return its name."""
    Path("pairs.tsv").write_text("".join("\t".join(line.split()) + "\n" for line in lines), "utf-8")
    return "pairs.tsv"


def test_an_overlap_is_learned_and_its_commands_find_the_duplicates() -> None:
    pairs = write_pairs("de.txt copy.txt yes", "de.txt fr.txt no")
    result, shown = answer("tune", "corpus", "--pairs", pairs), output("tune", "corpus", "--pairs", pairs)
    best = result["learned"][0]

    assert ("words:5", True, 1, 1, 0, 1) == tuple(
        best[key] for key in ("shingles", "useful", "selected_yes_count", "yes_count", "selected_no_count", "no_count")
    )
    assert 0 < best["overlap"] < 0.9
    assert "2 pairs: 1 yes, 1 no" in shown
    assert re.search(r"^words:5, overlap [\d.]+ % +100.0 % +100.0 %$", shown, re.MULTILINE)
    assert result["commands"] == [line.strip() for line in shown.split("Use the first overlap with:\n")[1].splitlines()]
    assert "copy.txt" in output(*result["commands"][-1].split()[1:])


def test_the_shingles_that_separate_the_pairs_best_come_first() -> None:
    """Two texts with the same words in another order share no run of words."""
    words = PROSE["en"].split()
    write(Path("corpus"), {"first.txt": " ".join(words), "sorted.txt": " ".join(sorted(words))})
    pairs = write_pairs("first.txt sorted.txt yes", "first.txt fr.txt no")
    result = answer("tune", "corpus", "--pairs", pairs, "--shingles", "words:5,words:1+stop:en+stem:de")
    index, duplicates = result["commands"]

    assert ["words:1+stop:en+stem:de", "words:5"] == [row["shingles"] for row in result["learned"]]
    assert index.endswith("--shingle-size 1 --stop-words en --stem de")
    assert "9 indexed" in output(*index.split()[1:])
    assert "sorted.txt" in output(*duplicates.split()[1:])


def test_the_shingles_of_an_index_are_compared_too() -> None:
    output("index", "corpus", "--shingle-size", "4", "--frequencies")
    result = answer("tune", "--pairs", write_pairs("de.txt copy.txt yes", "de.txt fr.txt no"))

    assert "words:4+frequencies" == result["learned"][0]["shingles"]
    overlap = f"{100 * result['learned'][0]['overlap']:g}"
    assert [f"simdoc-search duplicates --store ./.simdoc --overlap {overlap}"] == result["commands"]
    output("index", "corpus", "--store", "no.simdoc", "--no-texts")
    assert "no.simdoc does not store texts" in sentence(run("tune", "no.simdoc", "--pairs", "pairs.tsv"))


def test_pairs_that_no_overlap_separates_are_listed() -> None:
    """Invoices that differ in one number overlap more than copies do."""
    pairs = write_pairs("de.txt copy.txt yes", "bill1.txt bill2.txt no")
    shown = output("tune", "corpus", "--pairs", pairs, "--shingles", "words:5")

    assert "No minimum overlap separates the pairs labelled yes from those labelled no." in shown
    assert re.search(r"^line [12]: .* are labelled (yes|no), but classified as (no|yes)$", shown, re.MULTILINE)
    assert [] == answer("tune", "corpus", "--pairs", pairs, "--shingles", "words:5")["commands"]


def test_thresholds_are_learned_and_the_command_stores_them() -> None:
    """In these pairs, a third of the sentences makes a version, and a sixth does not."""
    first = prose(12, 1)
    third, fifth = prose(9, 2), prose(9, 3)
    third[3:3], fifth[3:3] = first[4:8], first[4:6]
    texts = {"first": first, "third": third, "fifth": fifth}
    write(Path("docs"), {f"{name}.txt": " ".join(sentences) for name, sentences in texts.items()})
    Path("pairs.tsv").write_text("first.txt\tthird.txt\tyes\nfirst.txt\tfifth.txt\tno\n")
    output("index", "docs", "--store", "s")
    arguments = "tune", "s", "--pairs", "pairs.tsv", "--for", "versions"
    found, shown = answer(*arguments), output(*arguments)

    assert (0.0, None, 1.0, 1.0) == tuple(
        found[key][name] for key in ("current", "best") for name in ("recall", "precision")
    )
    assert "2 pairs: 1 yes, 1 no" in shown
    assert re.search(r"^now: distance 12, 50 % of sentences +- +0.0 %$", shown, re.MULTILINE)
    command = shown.strip().splitlines()[-1].removeprefix("Store these thresholds with: ")
    assert found["command"] == command
    output(*command.split()[1:])
    assert found["best"]["thresholds"] == answer("defaults", "--store", "s")
    assert "No thresholds are better than the current ones." in output(*arguments)


def test_bad_input_is_one_sentence(folder: Path) -> None:
    (folder / "bad.tsv").write_bytes(b"\xff\xfe\xff")
    (folder / "what.tsv").write_text("what\n")
    pairs = write_pairs("de.txt copy.txt yes", "bill1.txt bill9.txt no")

    assert "Missing option '--pairs'" in usage_error(run("tune", "corpus"))
    assert "nowhere" in sentence(run("tune", "nowhere", "--pairs", pairs))
    for wrong in ("letters:3", "words", "words:0", "words:x", "words:3+all"):
        assert "cannot read the shingles" in usage_error(run("tune", "corpus", "--pairs", pairs, "--shingles", wrong))
    assert "line 2 of the pairs file: no document has the id 'bill9.txt'" in sentence(
        run("tune", "corpus", "--pairs", pairs)
    )
    assert "cannot read none.tsv" in sentence(run("tune", "corpus", "--pairs", "none.tsv"))
    assert "is not UTF-8" in sentence(run("tune", "corpus", "--pairs", "bad.tsv"))
    assert "line 1 of what.tsv" in sentence(run("tune", "corpus", "--pairs", "what.tsv"))
    assert "give STORE instead of a folder" in usage_error(run("tune", "corpus", "--pairs", pairs, "--for", "related"))
