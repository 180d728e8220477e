"""The languages of texts are identified."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given, settings

from simdoc_search import languages
from simdoc_search.errors import MissingExtraError
from simdoc_search.languages import MIXED, UNKNOWN, declared_language, language_of
from tests.support.strategies import texts
from tests.support.translations import PROSE

CODE = """
    for (int i = 0; i < n_max; ++i) { a[i] = b[i] * 0x1F; }   // https://example.org/an/address/in/english.html
    def f(x, y=3): return g_2(x)[y] + h_3(y)[x] @ self.weights_1 | mask_2 & 0xFF
"""


@pytest.mark.parametrize("code", PROSE)
def test_two_sentences_are_enough(code: str) -> None:
    """Any script works. Letter case and white space make no difference."""
    variants = (PROSE[code], PROSE[code].upper(), f"\n\n{PROSE[code]}\t! " * 3)

    assert [code] * 3 == [language_of(text) for text in variants]


def test_a_fifth_in_a_second_language_makes_a_text_mixed() -> None:
    """The second language may be anywhere in a long text. With less of it, the text has one language."""
    english, german = PROSE["en"] * 40, PROSE["de"] * 40

    assert "en" == language_of(english * 20)
    for place in (0, len(english) // 2, len(english)):
        assert MIXED == language_of(english[:place] + german + english[place:])
    assert "en" == language_of(english * 20 + german)
    assert "de" == language_of(german * 20 + english)


def test_urls_code_and_numbers_are_ignored() -> None:
    assert "de" == language_of(f"{PROSE['de']}\n{CODE}\n{PROSE['de']}\n{CODE}")
    assert UNKNOWN == language_of("https://example.org/the/way/to/the/house.html " * 20)
    assert UNKNOWN == language_of("12 000 3.14 " * 100)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hello",
        "Guten Morgen, liebe Leute!",
        "\0\ud800" * 90,
        "x" * 5000,
        "?!…" * 90,
        "ᏂᎦᏓ ᎠᏂᏴᏫ ᎨᏥᏳᎪᏅ ᎠᎴ ᎤᏂᎶᏒᏍᏗ " * 50,
        "ⴰⵔ ⴷ ⵜⵜⵍⴰⵍⴰⵏ ⵎⴷⴷⵏ " * 50,
    ],
)
def test_short_texts_and_unknown_scripts_are_unknown(text: str) -> None:
    assert UNKNOWN == language_of(text)


@given(texts())
@settings(max_examples=10)
def test_any_text_gets_a_result(text: str) -> None:
    language = language_of(text * 3)

    assert language in {MIXED, UNKNOWN} or (language.isalpha() and len(language) in {2, 3})


def test_metadata_may_state_no_language_one_or_several() -> None:
    metadata = [{}, {"language": "de-AT"}, {"language": ["de"]}, {"language": ["de", "de"]}, {"language": ["de", "en"]}]

    assert ["", "de-AT", "de", "de", MIXED] == [declared_language(fields) for fields in metadata]  # type: ignore[arg-type]


def test_a_missing_package_is_reported_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "py3langid.langid", None)
    languages._load_model.cache_clear()

    with pytest.raises(
        MissingExtraError, match=r"language identification needs .* pip install 'simdoc-search\[language\]'"
    ):
        language_of(PROSE["en"])
