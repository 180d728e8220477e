"""From a text to the stored form of its concepts: by the shipped extractors, by one's own."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from simdoc_search.concepts import (
    Extractor,
    Synonyms,
    codes_of_names,
    extractor_named,
    extractor_of,
)
from simdoc_search.errors import FormatMismatchError, MissingExtraError
from simdoc_search.sketch.concepts import Concepts
from tests.support.capitals import CAPITALS

NAMES = extractor_named("names")


def codes(*words: str) -> list[int]:
    """The numbers of words; an empty one ends a paragraph."""
    found = codes_of_names(words)
    return [number if word else 0 for word, number in zip(words, found.tolist(), strict=True)]


def test_the_words_of_concepts_are_stored() -> None:
    """Paragraph by paragraph, each as often as it is there, normalised, without small ones; an end after each."""
    text = (
        "by the Bank of Oak Hill, Oak Hill "
        + "in words " * 10
        + "\n\n"
        + "nothing here " * 10
        + "\n\n"
        + "but ADA " * 12
    )
    (found,) = NAMES.codes([text])

    assert found is not None
    assert np.uint32 == found.dtype
    expected = codes("bank", "bank", "oak", "oak", "hill", "hill", "", *["ada"] * 12, "")
    assert expected == found.tolist()


@pytest.mark.parametrize("extractor", ["names", "yake"])
@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_what_ends_the_lines_changes_no_concept(extractor: str, end: str) -> None:
    """A copy that was saved on Windows is about the same."""
    text = "The Bank of\nOak Hill lent money to Ada\nLovelace of London.\n\n" * 8
    plain, saved = extractor_named(extractor).codes([text, text.replace("\n", end)])

    assert plain is not None
    assert saved is not None
    assert len(plain) > 8
    assert plain.tolist() == saved.tolist()


def test_numbers_are_those_of_normalised_words() -> None:
    """30 bits, never 0, the same for every letter case; this is a stored format."""
    assert [749106423, 661336405] == codes_of_names(["Oak  HILL", "c"]).tolist()
    assert [1, 1] == codes_of_names(["", "..."]).tolist()
    assert 0 < codes_of_names([f"w{n}" for n in range(1000)]).max() < 2**30


def test_one_text_that_fails_costs_itself() -> None:
    """None is its form; what is not installed is said, as it would fail on all."""

    class Missing:
        name = "missing"

        def find(self, text: str) -> list[Counter[str]]:
            raise MissingExtraError(text, "x")

    first, second, third = CAPITALS.codes(["a Danube", "fail", ""])

    assert codes("danube", "") == (first.tolist() if first is not None else None)
    assert (None, [0]) == (second, third.tolist() if third is not None else None)
    with pytest.raises(MissingExtraError):
        Extractor(Missing()).codes(["a"])


def test_synonyms_are_one_concept() -> None:
    """In names too; the settings have their check value, and a store of others refuses them."""
    synonyms = Synonyms({("united", "kingdom"): ("uk",), ("tiger",): ("cat",)})
    made = extractor_named("names", synonyms)
    (found,) = made.codes(["the United Kingdom and Tiger Woods"])

    assert codes("uk", "cat", "woods", "") == (found.tolist() if found is not None else None)
    assert Concepts("names", synonyms.check) == made.settings
    assert made.settings == extractor_of(made.settings, synonyms).settings
    for settings, given in ((made.settings, None), (made.settings, Synonyms({})), (NAMES.settings, synonyms)):
        with pytest.raises(FormatMismatchError, match=r"synonyms.*; give"):
            extractor_of(settings, given)


def test_the_shipped_ones_have_names() -> None:
    """By which a store has them again; another name is refused with all that there are."""
    for name in ("yake", "names"):
        assert Concepts(name) == extractor_of(extractor_named(name).settings).settings
    with pytest.raises(FormatMismatchError, match="'other': there are yake, names and spacy:MODEL"):
        extractor_named("other")


def test_what_is_not_installed_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the line that installs it."""
    monkeypatch.setattr("simdoc_search.concepts.builtin.find_spec", lambda _: None)
    monkeypatch.setattr("simdoc_search.concepts.spacy.find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"simdoc-search\[relations\]"):
        extractor_named("yake")
    with pytest.raises(MissingExtraError, match=r"simdoc-search\[spacy\]"):
        extractor_named("spacy:en_core_web_sm")
