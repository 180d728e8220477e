"""`simdoc-search tune` with folders, stores, labelled pairs and bad input."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.cli import answer, output, run, sentence, usage_error, write
from tests.support.families import prose
from tests.support.translations import PROSE

FAST = ("--sketch", "minhash:64,xor:64", "--overlap", "50")
ONE = ("--sketch", "minhash:64")


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


def test_a_folder_is_measured_and_the_recommended_command_works(folder: Path) -> None:
    result = answer("tune", "corpus", *FAST)
    text = output("tune", "corpus", *FAST)

    assert (7, 7, 4, True) == tuple(
        result[key] for key in ("document_count", "total_document_count", "pair_count", "is_recall_uncertain")
    )
    assert ["minhash:64", "xor:64"] == [row["sketch"] for row in result["rows"]]
    assert 1 == result["recommended"]["recall"]
    assert result["recommended"]["sketch"] in result["verdict"]
    assert result["verdict"] in text
    assert "7 of 7 documents; 4 pairs with an overlap of 50 % or more" in text
    assert "note: too few pairs" in text
    assert re.search(r"^minhash:64 +words:5 +100.0 % ", text, re.MULTILINE)
    assert ["corpus"] == [path.name for path in folder.iterdir()]
    assert [row["error"] for row in result["rows"]] == [row["error"] for row in answer("tune", "corpus", *FAST)["rows"]]
    assert "7 indexed" in output(*result["command"].split()[1:])


def test_without_pairs_there_is_no_recommendation(folder: Path) -> None:
    write(folder, {"apart/a.txt": PROSE["de"], "apart/b.txt": PROSE["fr"]})
    result = answer("tune", "apart", *ONE, "--overlap", "50")

    assert result["verdict"] in output("tune", "apart", *ONE, "--overlap", "50").splitlines()
    assert result["verdict"].endswith(": no two documents reach this overlap.")
    assert (None, 0) == (result["recommended"], result["pair_count"])


def test_shingles_are_measured_and_recommended_with_their_options() -> None:
    names = "words:1+stop:en+stem:de", "words:2+frequencies"
    result = answer("tune", "corpus", *ONE, "--overlap", "50", "--shingles", ",".join(names))

    assert [*names] == [row["shingles"] for row in result["rows"]]
    assert "--shingle-size 1 --stop-words en --stem de" in result["command"]
    assert "7 indexed" in output(*result["command"].split()[1:])
    other = answer("tune", "corpus", *ONE, "--overlap", "50", "--shingles", names[1])
    assert other["command"].endswith("--shingle-size 2 --frequencies")


def test_a_store_is_measured_with_its_own_shingles() -> None:
    output("index", "corpus", "--shingle-size", "2")
    result = answer("tune", ".simdoc", *ONE, "--overlap", "50")

    assert ["words:2"] == [row["shingles"] for row in result["rows"]]
    assert "simdoc-search index FOLDER " in result["command"]
    assert "--shingle-size 2" in result["command"]
    other = answer("tune", *ONE, "--overlap", "50", "--shingles", "words:3,characters:9")
    assert ["words:3", "characters:9"] == [row["shingles"] for row in other["rows"]]
    output("index", "corpus", "--store", "no.simdoc", "--no-texts")
    assert "no.simdoc does not store texts" in sentence(run("tune", "no.simdoc", *FAST))


def test_an_overlap_is_learned_from_pairs(folder: Path) -> None:
    """Invoices that differ in one number overlap more than copies do. So no overlap separates these pairs."""
    pairs = folder / "pairs.tsv"
    pairs.write_text("de.txt\tcopy.txt\tyes\nde.txt\tfr.txt\tno\n", "utf-8")
    result = answer("tune", "corpus", *ONE, "--pairs", pairs, "--sample", "2")
    assert (True, 1, 1, 0, 1) == tuple(
        result["learned"][0][key]
        for key in ("useful", "selected_yes_count", "yes_count", "selected_no_count", "no_count")
    )
    assert 0 < result["overlap"] == result["learned"][0]["overlap"] < 0.9
    assert 4 <= result["document_count"] + 1

    pairs.write_text("de.txt\tcopy.txt\tyes\nbill1.txt\tbill2.txt\tno\n", "utf-8")
    text = output("tune", "corpus", *ONE, "--pairs", pairs, "--shingles", "words:5")
    assert "your pairs with words:5: no minimum overlap separates the pairs labelled yes from those labelled no" in text
    assert re.search(r"^line [12]: .* are labelled (yes|no), but classified as (no|yes)$", text, re.MULTILINE)
    assert "an overlap of 50 %" in text
    pairs.write_text("de.txt\tcopy.txt\tyes\nbill1.txt\tbill9.txt\tno\n", "utf-8")
    assert "line 2 of the pairs file: no document has the id 'bill9.txt'" in sentence(
        run("tune", "corpus", *FAST, "--pairs", pairs)
    )


def test_thresholds_are_learned_and_the_command_stores_them() -> None:
    """In these pairs, a third of the sentences makes a version, and a sixth does not."""
    first = prose(12, 1)
    texts = {"first": first, "third": first[:4] + prose(9, 2), "fifth": first[:2] + prose(9, 3)}
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
    (folder / "empty").mkdir()
    write(folder / "one", {"a.txt": "a text of some words"})
    (folder / "bad.tsv").write_bytes(b"\xff\xfe\xff")
    (folder / "what.tsv").write_text("what\n")

    assert "nowhere" in sentence(run("tune", "nowhere"))
    assert "empty" in sentence(run("tune", "empty"))
    assert "fewer than two documents" in sentence(run("tune", "one", *FAST))
    assert "is not a sketch" in usage_error(run("tune", "corpus", "--sketch", "shapes"))
    for wrong in ("letters:3", "words", "words:0", "words:x", "words:3+all"):
        assert "cannot read the shingles" in usage_error(run("tune", "corpus", "--shingles", wrong))
    assert "the overlap must be greater than 0" in usage_error(run("tune", "corpus", "--overlap", "0"))
    assert "cannot read none.tsv" in sentence(run("tune", "corpus", "--pairs", "none.tsv"))
    assert "is not UTF-8" in sentence(run("tune", "corpus", "--pairs", "bad.tsv"))
    assert "line 1 of what.tsv" in sentence(run("tune", "corpus", "--pairs", "what.tsv"))
    assert "give STORE and --pairs" in usage_error(run("tune", "corpus", "--for", "related"))
