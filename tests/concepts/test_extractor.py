"""Extractors turn a text into the stored form of its concepts."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from simdoc_search.concepts import Extractor, Synonyms, extractor_from_option, extractor_from_settings, hash_words
from simdoc_search.errors import FormatMismatchError, MissingExtraError
from simdoc_search.sketch.concepts import ConceptSettings
from tests.support.capitals_extractor import CAPITALS

NAMES = extractor_from_option("names")


def token_ids(*words: str) -> list[int]:
    """The numbers of words. An empty word ends a paragraph."""
    numbers = hash_words(words).tolist()
    return [number if word else 0 for word, number in zip(words, numbers, strict=True)]


def token_ids_of_text(extractor: Extractor, text: str) -> list[int]:
    (result,) = extractor.token_ids([text])
    assert result is not None
    assert np.uint32 == result.dtype
    return result.tolist()  # type: ignore[no-any-return]


def test_the_words_of_concepts_are_stored_per_paragraph() -> None:
    """Words are normalised, repeated as often as they occur, and stored without common words. Paragraphs end with 0."""
    parts = ("by the Bank of Oak Hill, Oak Hill " + "in words " * 10, "nothing here " * 10, "but ADA " * 12)

    expected = token_ids("bank", "bank", "oak", "oak", "hill", "hill", "", *["ada"] * 12, "")
    assert expected == token_ids_of_text(NAMES, "\n\n".join(parts))


@pytest.mark.parametrize("extractor", ["keywords", "names"])
@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_concepts_do_not_depend_on_the_line_endings(extractor: str, end: str) -> None:
    text = "The Bank of\nOak Hill lent money to Ada\nLovelace of London.\n\n" * 8
    result = token_ids_of_text(extractor_from_option(extractor), text)

    assert 8 < len(result)
    assert result == token_ids_of_text(extractor_from_option(extractor), text.replace("\n", end))


def test_numbers_of_words_are_a_stored_format() -> None:
    """A number has 30 bits, is never 0, and does not depend on letter case."""
    assert [749106423, 661336405] == hash_words(["Oak  HILL", "c"]).tolist()
    assert [1, 1] == hash_words(["", "..."]).tolist()
    assert 0 < hash_words([f"w{n}" for n in range(1000)]).max() < 2**30


def test_if_a_finder_fails_on_a_text_only_this_text_has_no_concepts() -> None:
    """A missing package is an error, because every text would fail."""

    class Missing:
        name = "missing"

        def find(self, text: str) -> list[Counter[str]]:
            raise MissingExtraError(text, "x")

    result = CAPITALS.token_ids(["a Danube", "fail", ""])

    assert [token_ids("danube", ""), None, [0]] == [None if numbers is None else numbers.tolist() for numbers in result]
    with pytest.raises(MissingExtraError):
        Extractor(Missing()).token_ids(["a"])


def test_synonyms_are_replaced_and_belong_to_the_settings() -> None:
    synonyms = Synonyms({("united", "kingdom"): ("uk",), ("tiger",): ("cat",)})
    extractor = extractor_from_option("names", synonyms)

    assert token_ids("uk", "cat", "woods", "") == token_ids_of_text(extractor, "the United Kingdom and Tiger Woods")
    assert ConceptSettings("names", synonyms.checksum) == extractor.settings
    assert extractor.settings == extractor_from_settings(extractor.settings, synonyms).settings
    for settings, given in (
        (extractor.settings, None),
        (extractor.settings, Synonyms({})),
        (NAMES.settings, synonyms),
    ):
        with pytest.raises(FormatMismatchError, match=r"synonym.*; (give|omit)"):
            extractor_from_settings(settings, given)


def test_adjacent_ideographs_are_paired_after_synonyms_are_replaced() -> None:
    """A single ideograph has no pair. Other words are kept."""
    synonyms = Synonyms({("电", "脑"): ("计", "算", "机")})

    assert [["计算", "算机"], ["大"], ["linux", "大学", "学生", "ada"]] == extractor_from_option(
        "names", synonyms
    ).words(["电脑", "大", "Linux大学生Ada"])


def test_built_in_extractors_are_found_by_name() -> None:
    for name in ("keywords", "names"):
        assert ConceptSettings(name) == extractor_from_settings(extractor_from_option(name).settings).settings
    with pytest.raises(FormatMismatchError, match="no built-in extractor 'other'; choose keywords, names or spacy:"):
        extractor_from_option("other")


def test_a_missing_package_is_reported_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simdoc_search.concepts.extractor.find_spec", lambda _: None)
    monkeypatch.setattr("simdoc_search.concepts.spacy.find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"simdoc-search\[language\]"):
        extractor_from_option("keywords")
    with pytest.raises(MissingExtraError, match=r"simdoc-search\[spacy\]"):
        extractor_from_option("spacy:en_core_web_sm")
