"""`index --sketch`: another sketch by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cli import answer, output, run, sentence, usage_error

TEXT = " ".join(f"word{number}" for number in range(80))


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two documents that share most of their words, and one with other words."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "corpus").mkdir()
    for name, text in (("a", TEXT), ("b", f"{TEXT} and more"), ("c", "of something else there are some few words")):
        (tmp_path / "corpus" / f"{name}.txt").write_text(text, "utf-8")
    return tmp_path


@pytest.mark.parametrize("sketch", ["scaled:1", "universal:64", "xor", "bottom_k"])
def test_documents_are_found_by_another_sketch(corpus: Path, sketch: str) -> None:
    """`info` names it; what is not asked for stays as the store has it; another one is refused."""
    name = sketch.partition(":")[0]
    output("index", "corpus", "--sketch", sketch)
    info = answer("info")["settings"]

    assert name in info
    assert info["sketches"][0].startswith(f"{name}:1 ")
    assert f"\nsketch     {name}:" in output("info")
    output("index", "corpus")
    assert ["b.txt"] == [hit["id"] for hit in answer("similar", "a_50_80")["hits"]]
    assert "band" in output("explain", "a_50_80")
    refused = sentence(run("index", "corpus", "--sketch", "minhash:256"))
    assert f"made with sketches ['{name}:1 " in refused


def test_a_sketch_that_is_none_is_refused(corpus: Path) -> None:
    """Its name or its size, before a store is made."""
    for wrong, why in (
        ("shapes", "no sketch; give one of minhash, scaled, "),
        ("xor:many", "no sketch; give one of minhash, scaled, "),
        ("xor:5000", "count must be a whole number from 1 to 4,096"),
        ("minhash:500", "a power of two"),
    ):
        assert why in usage_error(run("index", "corpus", "--sketch", wrong))
    assert not (corpus / ".simdoc").exists()


def test_words_are_compared_as_the_options_say(corpus: Path) -> None:
    """Stop words, stems, frequencies: kept with the store, asked with, refused when mixed."""
    (corpus / "stop.txt").write_text("more and", "utf-8")
    output("index", "corpus", "--stop-words", "stop.txt", "--shingle-size", 1, "--stem", "en", "--frequencies")
    info = answer("info")["settings"]["analysis"]
    text = TEXT.replace("word7", "and word7")
    (hit,) = answer("similar", "--text", text, "--size", 1, SIMDOC_STOP_WORDS="stop.txt")["hits"]

    assert ("en", True, "-/") == (info["stem"], info["frequencies"], info["stop_words"][:2])
    assert ("stem en" in output("info"), 1.0) == (True, hit["overlap"])
    assert "set SIMDOC_STOP_WORDS to the file" in sentence(run("similar", "--text", TEXT))
    assert "was made with" in sentence(run("index", "corpus", "--stop-words", "en"))
    assert "no stop words of 'xx'" in sentence(run("index", "corpus", "--stop-words", "xx"))
    assert "'xx' is none of auto, ar, " in usage_error(run("index", "corpus", "--stem", "xx"))


def test_the_language_of_each_text_chooses_its_stop_words_and_stems(corpus: Path) -> None:
    """With auto: also those of a text that is asked with; a store of one language is another one."""
    english = "The cats were sitting on the old roofs of many houses in the village"
    for name, text in {"de": "Die Katzen saßen auf den Dächern der alten Häuser", "en": english}.items():
        (corpus / "corpus" / f"{name}.txt").write_text(f"{text}. {text} {name}.", "utf-8")
    output("index", "corpus", "--stop-words", "auto", "--stem", "auto", "--shingle-size", 1)
    found = answer("similar", "--text", "Katze Dach alt Haus sitzen die auf den der alten Häuser", "--size", 1)["hits"]

    assert ["de.txt"] == [hit["id"] for hit in found]
    assert "stem auto" in output("info")
    assert ["en.txt"] == [hit["id"] for hit in answer("similar", "--text", english, "--overlap", 60)["hits"]]
    assert "was made with" in sentence(run("index", "corpus", "--stop-words", "en"))
    assert "was made with" in sentence(run("index", "corpus", "--stem", "en"))
