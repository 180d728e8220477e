"""`index --sketch`, `--stop-words`, `--stem` and `--frequencies`."""

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


@pytest.mark.parametrize("sketch", ["universal:64", "xor"])
def test_documents_are_found_with_another_sketch(corpus: Path, sketch: str) -> None:
    """`info` shows the sketch, later runs keep it, and another one is refused."""
    name = sketch.partition(":")[0]
    output("index", "corpus", "--sketch", sketch)

    assert answer("info")["settings"]["sketches"][0].startswith(f"{name}:1 ")
    assert f"\nsketch     {name}:" in output("info")
    output("index", "corpus")
    assert ["b.txt"] == [hit["id"] for hit in answer("similar", "a_50_80")["hits"]]
    assert "band" in output("explain", "a_50_80")
    assert f"created with sketches ['{name}:1 " in sentence(run("index", "corpus", "--sketch", "minhash:256"))


def test_unknown_sketches_are_refused_before_a_store_is_created(corpus: Path) -> None:
    for wrong, problem in (
        ("shapes", "is not a sketch; give one of minhash, universal, xor"),
        ("xor:many", "is not a sketch; give one of minhash, universal, xor"),
        ("xor:5000", "count must be a whole number from 1 to 4,096"),
        ("minhash:500", "a power of two"),
    ):
        assert problem in usage_error(run("index", "corpus", "--sketch", wrong))
    assert not (corpus / ".simdoc").exists()


def test_stop_words_stems_and_frequencies_belong_to_the_store(corpus: Path) -> None:
    """Queries use them too, and other values are refused."""
    (corpus / "stop.txt").write_text("more and", "utf-8")
    output("index", "corpus", "--stop-words", "stop.txt", "--shingle-size", 1, "--stem", "en", "--frequencies")
    analysis = answer("info")["settings"]["analysis"]
    text = TEXT.replace("word7", "and word7")
    (hit,) = answer("similar", "--text", text, "--size", 1, SIMDOC_STOP_WORDS="stop.txt")["hits"]

    assert ("en", True, "-/") == (analysis["stem"], analysis["frequencies"], analysis["stop_words"][:2])
    assert "stem en" in output("info")
    assert 1.0 == hit["overlap"]
    assert "set SIMDOC_STOP_WORDS to the path of this file" in sentence(run("similar", "--text", TEXT))
    assert "was created with" in sentence(run("index", "corpus", "--stop-words", "en"))
    assert "no stop words for the language 'xx'" in sentence(run("index", "corpus", "--stop-words", "xx"))
    message = usage_error(run("index", "corpus", "--stem", "xx"))
    assert "no stemmer for the language 'xx'; give one of auto, ar, " in message


def test_auto_uses_the_language_of_each_text(corpus: Path) -> None:
    """This includes query texts. The settings cannot be changed to one language."""
    english = "The cats were sitting on the old roofs of many houses in the village"
    for name, text in {"de": "Die Katzen saßen auf den Dächern der alten Häuser", "en": english}.items():
        (corpus / "corpus" / f"{name}.txt").write_text(f"{text}. {text} {name}.", "utf-8")
    output("index", "corpus", "--stop-words", "auto", "--stem", "auto", "--shingle-size", 1)
    result = answer("similar", "--text", "Katze Dach alt Haus sitzen die auf den der alten Häuser", "--size", 1)["hits"]

    assert ["de.txt"] == [hit["id"] for hit in result]
    assert "stem auto" in output("info")
    assert ["en.txt"] == [hit["id"] for hit in answer("similar", "--text", english, "--overlap", 60)["hits"]]
    assert "was created with" in sentence(run("index", "corpus", "--stem", "en"))
