"""What a text is compared by: words, those that are no stop words, stems, frequencies, runs of characters or words."""

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
from simdoc_search.sketch.schemes import SCHEMES
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.schema import settings_of, to_meta
from tests.support.stores import NewStore

ENGLISH = StopWords.of_language("en")
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
def test_the_example_of_the_seeds(analysis: Analysis, a: str, b: str) -> None:
    """{2, 3, 4} against {1, 5, 4, 2} is 0.4 in each, itself 1, disjoint 0: exactly, and by what so few buckets say."""
    assert [0.4, 1.0, 0.0] == [measures(a, each, analysis).jaccard for each in (b, a, "x y")]
    assert [0.4, 1.0, 0.0] == [jaccard(shingle_set(a, analysis), shingle_set(each, analysis)) for each in (b, a, "x y")]
    assert [0.4, 1.0, 0.0] == [fingerprint(a, analysis).overlap(fingerprint(each, analysis)) for each in (b, a, "x y")]
    assert 0.4 == compare(a, b, settings=Settings(analysis)).jaccard


def test_a_multiset_counts_each_occurrence() -> None:
    """The sum of the smaller frequencies by that of the greater; in all sketches, and containment too."""
    a, b, analysis = "a a a b c c", "a a b b c d", replace(WORDS, frequencies=True)

    assert (4 / 8, 4 / 6, 4 / 6) == measures(a, b, analysis).multiset
    assert 4 / 8 == jaccard(shingle_set(a, analysis), shingle_set(b, analysis)) == measures(a, b, analysis).jaccard
    assert 6 == fingerprint(a, analysis).shingles
    for kind in SCHEMES.values():
        once, twice = (fingerprint(text, analysis, kind()) for text in ("x", "x x"))
        assert once.codes().tolist() != twice.codes().tolist() or not len(once.codes()), kind


def test_words_are_left_out_and_cut_to_stems() -> None:
    """In this order: a stop word is one as it stands in the text; a shingle joins what is left."""
    analysis = Analysis(shingle_size=2, stop_words=SOME, stem="en")

    assert ["fox jump", "jump über", "über fox"] == shingles("The foxes and jumping, ÜBERS the fox", replace(analysis))
    assert [["fox"], [], []] == [shingles(text, analysis) for text in ("the fox", "the and THE", "")]
    assert ["schon haus"] == shingles("schöne Häuser", Analysis(shingle_size=2, stem="de"))


def test_texts_in_one_batch_keep_their_words_apart() -> None:
    """Also those without any, and characters beyond 16 bits."""
    analysis = Analysis(shingle_size=1, stop_words=SOME)
    search = SimilaritySearch(open_store(":memory:", Settings(analysis)))
    texts = {"a": "the cat 𝒳y sat", "b": "the and", "c": "", "d": "and a cat 𝒳y"}
    report = search.index(Document(id, text) for id, text in texts.items())

    assert ["b", "c"] == [each.path for each in report.skipped]
    assert [("d", 0.5, "exact")] == [(hit.id, hit.overlap, hit.kind) for hit in search.similar("a").hits]


def test_what_is_stored_names_it() -> None:
    """Locally and in the 50 characters of a field's meta, with all that there can be; only what is not the default."""
    whole = Analysis("lowercase", 100, "character", stop_words=ENGLISH, stem="en", frequencies=True)
    for analysis in (whole, replace(WORDS, stop_words=SOME), replace(WORDS, stem="de"), WORDS):
        settings = Settings(analysis)
        assert settings == Settings.from_dict(settings.to_dict()) == settings_of(to_meta(settings))
        assert settings.to_dict()["version"] == (2 if analysis.is_plain else 3)
    assert f"lowercase character 100 short -{ENGLISH} ~en *" == to_meta(Settings(whole))["simdoc_analysis"]
    assert "nfkc_cf word 1 short_texts" == to_meta(Settings(WORDS))["simdoc_analysis"]
    with pytest.raises(FormatMismatchError, match="'/xyz' names no stop words"):
        Settings.from_dict({"version": 3, "analysis": {"stop_words": "/xyz"}})


def test_stop_words_of_a_file_are_given_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An index has their check value; who asks with a text names the file, and the wrong one is refused."""
    file, other, folder = tmp_path / "words.txt", tmp_path / "other.txt", tmp_path / "store"
    file.write_text("the\nand und", "utf-8")
    other.write_text("the", "utf-8")
    made = StopWords.of_file(file)
    SimilaritySearch(open_store(folder, Settings(Analysis(stop_words=made)), create=True)).index(
        [Document("a", "the one and the other of two")]
    )

    with pytest.raises(
        FormatMismatchError, match=f"need the stop words of their index \\({made.check}\\); set SIMDOC_"
    ):
        SimilaritySearch(open_store(folder)).similar_to_text("one other of two")
    monkeypatch.setenv("SIMDOC_STOP_WORDS", str(other))
    with pytest.raises(FormatMismatchError, match="are others than those of the index; name the file of the index"):
        SimilaritySearch(open_store(folder)).index([Document("b", "the one")])
    monkeypatch.setenv("SIMDOC_STOP_WORDS", str(file))
    assert ["a"] == [hit.id for hit in SimilaritySearch(open_store(folder)).similar_to_text("ONE other of two").hits]
    with pytest.raises(FormatMismatchError):
        open_store(folder, Settings(Analysis(stop_words=ENGLISH)))
    with pytest.raises(StoreError, match=r"stop words .*nothing.txt cannot be read"):
        StopWords.of_file(tmp_path / "nothing.txt")


def test_a_language_without_a_list_and_a_missing_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is a sentence."""
    with pytest.raises(StoreError, match="no stop words of 'xx'; give a file, auto, or one of ar, "):
        StopWords.of_language("xx")
    monkeypatch.setitem(sys.modules, "stop_words", None)
    with pytest.raises(MissingExtraError, match=r"simdoc-search\[language\]"):
        StopWords.of_language("en")
    assert ENGLISH == StopWords.of_stored(str(ENGLISH))
    with pytest.raises(ValueError, match=r"stem must be auto or one of ar, .* not 'xx'"):
        Analysis(stem="xx")


TEXTS = {
    "en": "The children were walking through the old houses of the village when it began to rain heavily upon them",
    "de": "Die Kinder gingen durch die alten Häuser des Dorfes, als es über ihnen heftig zu regnen begann",
    "no": "Barna gikk gjennom de gamle husene i landsbyen da det begynte å regne kraftig over dem alle sammen",
}


def test_each_text_is_compared_by_the_rules_of_its_own_language() -> None:
    """As if it were alone in an index of that language; in one batch, with one that is too short to tell."""
    auto = Analysis(shingle_size=1, stop_words=StopWords.of_language("auto"), stem="auto")
    search = SimilaritySearch(open_store(":memory:", Settings(auto)))
    texts = [*TEXTS.values(), "the houses", "the houses walking", "The " + TEXTS["en"]]
    search.index(Document(str(number), text) for number, text in enumerate(texts))

    for (language, text), code in zip(TEXTS.items(), ("en", "de", "nb"), strict=True):
        alone = replace(auto, stop_words=StopWords.of_language(code), stem=code)
        assert shingles(text, alone) == shingles(text, auto) != shingles(text, WORDS), language
    assert ["the", "houses"] == shingles("the houses", auto)
    assert [("5", 1.0)] == [(hit.id, hit.overlap) for hit in search.similar("0", size=1).hits]
    assert fingerprint(texts[1], auto).codes().tolist() == search.store.get("1").codes.tolist()  # type: ignore[union-attr]


def test_what_is_stored_says_that_languages_decide() -> None:
    """With the check value of all lists, so that a package with other ones is noticed; and others are refused."""
    auto = StopWords.of_language("auto")
    settings = Settings(Analysis(stop_words=auto, stem="auto", frequencies=True))

    assert settings == Settings.from_dict(settings.to_dict()) == settings_of(to_meta(settings))
    assert StopWords.of_stored(str(auto)).of("en") == ENGLISH.words
    assert StopWords.of_stored(str(auto)).of("unknown") == frozenset()
    with pytest.raises(FormatMismatchError, match="of the package stop-words for all languages are others"):
        StopWords.of_stored("auto/000000").of("en")


def test_all_of_it_in_every_store(new_store: NewStore) -> None:
    """Similar, exact and estimated; shared passages with their places; duplicates: asked is what was indexed."""
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
        assert 1 == search.duplicates(overlap=0.5).duplicate_count
        assert exact.overlap == next(search.duplicates(overlap=0.5).pairs()).overlap
