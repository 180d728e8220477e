"""Representations of a text: words without stop words, stems, frequencies, runs of words or characters."""

from __future__ import annotations

import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from simdoc_search import Document, SimilaritySearch, compare, fingerprint, open_store
from simdoc_search.analysis.settings import Analysis
from simdoc_search.analysis.shingles import shingles
from simdoc_search.analysis.stop_words import StopWords
from simdoc_search.errors import FormatMismatchError, MissingExtraError, StoreError
from simdoc_search.passages import jaccard, measures, shingle_set
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.sketches import SKETCHES
from simdoc_search.stores.remote.schema import parse_meta, to_meta
from tests.support.stores import NewStore

ENGLISH = StopWords.from_language("en")
AUTO = StopWords.from_language("auto")
SOME = StopWords(["the", "And", "über"])
WORDS = Analysis(shingle_size=1)
REPRESENTATIONS = {
    "set of words": (WORDS, "2 3 4", "1 5 4 2 5"),
    "minus stop words": (replace(WORDS, stop_words=SOME), "the 2 3 and 4", "ÜBER 1 5 The 4 2"),
    "stems": (replace(WORDS, stem="en"), "walking horses and", "barks cats horse walked"),
    "frequencies": (replace(WORDS, frequencies=True), "a a b", "a b c d"),
    "characters": (Analysis(shingle_size=2, unit="character"), "abcd", "debcd"),
    "runs of words": (Analysis(shingle_size=2), "a b c d", "d e b c d"),
}


@pytest.mark.parametrize(("analysis", "a", "b"), REPRESENTATIONS.values(), ids=REPRESENTATIONS)
def test_the_textbook_example_in_each_representation(analysis: Analysis, a: str, b: str) -> None:
    """{2, 3, 4} and {1, 5, 4, 2} overlap by 0.4, by exact measures and by estimates."""
    others = (b, a, "x y")

    assert [0.4, 1.0, 0.0] == [measures(a, other, analysis).jaccard for other in others]
    assert [0.4, 1.0, 0.0] == [jaccard(shingle_set(a, analysis), shingle_set(other, analysis)) for other in others]
    assert [0.4, 1.0, 0.0] == [fingerprint(a, analysis).overlap(fingerprint(other, analysis)) for other in others]
    assert 0.4 == compare(a, b, settings=Settings(analysis)).jaccard


def test_frequencies_give_the_jaccard_similarity_of_multisets() -> None:
    """The similarity is the sum of the smaller frequencies divided by the sum of the larger ones."""
    a, b, analysis = "a a a b c c", "a a b b c d", replace(WORDS, frequencies=True)

    assert (4 / 8, 4 / 6, 4 / 6) == measures(a, b, analysis).multiset
    assert 4 / 8 == jaccard(shingle_set(a, analysis), shingle_set(b, analysis)) == measures(a, b, analysis).jaccard
    assert 6 == fingerprint(a, analysis).shingle_count
    for kind in SKETCHES.values():
        once, twice = (fingerprint(text, analysis, kind()) for text in ("x", "x x"))
        assert once.token_ids().tolist() != twice.token_ids().tolist(), kind


def test_stop_words_are_removed_before_stemming() -> None:
    """Stop words are normalised like words. A text of stop words has no shingles."""
    analysis = Analysis(shingle_size=2, stop_words=SOME, stem="en")

    assert ["fox jump", "jump über", "über fox"] == shingles("The foxes and jumping, ÜBERS the fox", analysis)
    assert [["fox"], [], []] == [shingles(text, analysis) for text in ("the fox", "the and THE", "")]
    assert ["schon haus"] == shingles("schöne Häuser", Analysis(shingle_size=2, stem="de"))


def test_texts_in_one_batch_are_filtered_separately() -> None:
    """Some texts have no words. Some words have characters beyond 16 bits."""
    search = SimilaritySearch(open_store(":memory:", Settings(Analysis(shingle_size=1, stop_words=SOME))))
    texts = {"a": "the cat 𝒳y sat", "b": "the and", "c": "", "d": "and a cat 𝒳y"}
    report = search.index(Document(id, text) for id, text in texts.items())

    assert ["b", "c"] == [skipped.path for skipped in report.skipped]
    assert [("d", 0.5, "exact")] == [(hit.id, hit.overlap, hit.kind) for hit in search.similar("a").hits]


@pytest.mark.parametrize(
    "analysis",
    [
        Analysis("lowercase", 100, "character", stop_words=ENGLISH, stem="en", frequencies=True),
        Analysis(stop_words=AUTO, stem="auto", frequencies=True),
        replace(WORDS, stop_words=SOME),
        replace(WORDS, stem="de"),
        WORDS,
    ],
)
def test_settings_are_stored_in_a_folder_and_in_a_mapping(analysis: Analysis) -> None:
    settings = Settings(analysis)

    assert settings == Settings.from_dict(settings.to_dict()) == parse_meta(to_meta(settings))


def test_the_stored_form_of_representations() -> None:
    """The form in a mapping has at most 50 characters. Stop words are stored as the checksum of their list."""
    whole = Analysis("lowercase", 100, "character", stop_words=ENGLISH, stem="en", frequencies=True)

    assert f"lowercase character 100 short -{ENGLISH} ~en *" == to_meta(Settings(whole))["simdoc_analysis"]
    assert "nfkc_cf word 1 short_texts" == to_meta(Settings(WORDS))["simdoc_analysis"]
    assert ENGLISH == StopWords.from_stored(str(ENGLISH))
    assert ENGLISH.words == StopWords.from_stored(str(AUTO)).words_for("en")
    assert frozenset() == StopWords.from_stored(str(AUTO)).words_for("unknown")
    with pytest.raises(FormatMismatchError, match="stored stop words must look like 'de/1a2b3c', not '/xyz'"):
        Settings.from_dict({"version": 1, "analysis": {"stop_words": "/xyz"}, "sketches": ["bucketed:1"]})
    with pytest.raises(
        FormatMismatchError, match="of the Python package `stop-words` for all languages differ from those of"
    ):
        StopWords.from_stored("auto/000000").words_for("en")


def test_stop_words_of_a_file_are_named_by_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The index stores only the checksum of the words. A missing or wrong file is refused."""
    file, other, folder = tmp_path / "words.txt", tmp_path / "other.txt", tmp_path / "store"
    file.write_text("the\nand und", "utf-8")
    other.write_text("the", "utf-8")
    stop_words = StopWords.from_file(file)
    SimilaritySearch(open_store(folder, Settings(Analysis(stop_words=stop_words)), create=True)).index(
        [Document("a", "the one and the other of two")]
    )

    missing = f"with a stop word file \\(checksum {stop_words.checksum}\\); set SIMDOC_"
    with pytest.raises(FormatMismatchError, match=missing):
        SimilaritySearch(open_store(folder)).similar(text="one other of two")
    monkeypatch.setenv("SIMDOC_STOP_WORDS", str(other))
    with pytest.raises(FormatMismatchError, match="differ from those of the index; set SIMDOC_STOP_WORDS"):
        SimilaritySearch(open_store(folder)).index([Document("b", "the one")])
    monkeypatch.setenv("SIMDOC_STOP_WORDS", str(file))
    assert ["a"] == [hit.id for hit in SimilaritySearch(open_store(folder)).similar(text="ONE other of two").hits]
    with pytest.raises(FormatMismatchError):
        open_store(folder, Settings(Analysis(stop_words=ENGLISH)))
    with pytest.raises(StoreError, match=r"cannot read the stop word file .*nothing.txt"):
        StopWords.from_file(tmp_path / "nothing.txt")


def test_an_unknown_language_and_a_missing_package_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(StoreError, match="no stop words for the language 'xx'; give a file, 'auto' or one of ar, "):
        StopWords.from_language("xx")
    monkeypatch.setitem(sys.modules, "stop_words", None)
    with pytest.raises(MissingExtraError, match=r"simdoc-search\[language\]"):
        StopWords.from_language("en")


TEXTS = {
    "en": "The children were walking through the old houses of the village when it began to rain heavily upon them",
    "de": "Die Kinder gingen durch die alten Häuser des Dorfes, als es über ihnen heftig zu regnen begann",
    "nb": "Barna gikk gjennom de gamle husene i landsbyen da det begynte å regne kraftig over dem alle sammen",
}


def test_auto_applies_the_rules_of_each_texts_language() -> None:
    """The texts are in one batch. A text that is too short to identify its language keeps its words."""
    auto = Analysis(shingle_size=1, stop_words=AUTO, stem="auto")
    search = SimilaritySearch(open_store(":memory:", Settings(auto)))
    texts = [*TEXTS.values(), "the houses", "the houses walking", "The " + TEXTS["en"]]
    search.index(Document(str(number), text) for number, text in enumerate(texts))

    for language, text in TEXTS.items():
        alone = replace(auto, stop_words=StopWords.from_language(language), stem=language)
        assert shingles(text, alone) == shingles(text, auto) != shingles(text, WORDS), language
    assert ["the", "houses"] == shingles("the houses", auto)
    assert [("5", 1.0)] == [(hit.id, hit.overlap) for hit in search.similar("0", size=1).hits]
    assert fingerprint(texts[1], auto).token_ids().tolist() == search.store.get("1").token_ids.tolist()  # type: ignore[union-attr]


def test_every_store_queries_with_the_representation_of_the_index(new_store: NewStore) -> None:
    """The test checks exact and estimated overlaps, shared passages with their positions, and duplicates."""
    rng = np.random.default_rng(5)
    quote = " and the ".join(f"walking{number} horses" for number in rng.integers(0, 10**6, 60))
    texts = {"a": f"Some words before. {quote}", "b": f"{quote.upper()} something else", "c": "nothing of that"}
    analysis = Analysis(shingle_size=3, stop_words=ENGLISH, stem="en", frequencies=True)
    with new_store(Settings(analysis)) as store:
        search = SimilaritySearch(store)
        search.index(Document(id, text) for id, text in texts.items())
        (exact,) = search.similar("a", overlap=Fraction(1, 2)).hits
        (hit,) = search.passages("a").hits

        assert measures(texts["a"], texts["b"], analysis).jaccard == exact.overlap
        assert exact.overlap == pytest.approx(search.similar("a").hits[0].overlap, abs=0.1)
        assert quote == texts["a"][slice(*hit.passages[0].a)]
        assert quote.upper() == texts["b"][slice(*hit.passages[0].b)]
        assert exact.overlap == next(search.duplicates(overlap=0.5).pairs()).overlap
