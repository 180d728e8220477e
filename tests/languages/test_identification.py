"""In which language is a text? By its parts; mixed and unknown are answers."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given, settings

from simdoc_search.errors import MissingExtraError
from simdoc_search.languages import MIXED, UNKNOWN, identification, language_of, language_said
from tests.support.prose import PROSE
from tests.support.strategies import texts

CODE = """
    for (int i = 0; i < n_max; ++i) { a[i] = b[i] * 0x1F; }   // https://example.org/an/address/in/english.html
    def f(x, y=3): return g_2(x)[y] + h_3(y)[x] @ self.weights_1 | mask_2 & 0xFF
"""


@pytest.mark.parametrize("code", PROSE)
def test_two_sentences_are_enough(code: str) -> None:
    """In any script; letter case, and what stands between words, make no difference."""
    assert [code] * 3 == [
        language_of(each) for each in (PROSE[code], PROSE[code].upper(), f"\n\n{PROSE[code]}\t! " * 3)
    ]


def test_a_long_text_is_looked_at_from_end_to_end() -> None:
    """A second language is found wherever it stands, from a fifth on; less of it is no mixture."""
    english, german = PROSE["en"] * 40, PROSE["de"] * 40

    assert "en" == language_of(english * 20)
    for place in (0, len(english) // 2, len(english)):
        assert MIXED == language_of(english[:place] + german + english[place:])
    assert "en" == language_of(english * 20 + german)
    assert "de" == language_of(german * 20 + english)


def test_addresses_and_code_are_in_no_language() -> None:
    """They do not make a German text a mixture, and are nothing by themselves."""
    assert "de" == language_of(f"{PROSE['de']}\n{CODE}\n{PROSE['de']}\n{CODE}")
    assert UNKNOWN == language_of("https://example.org/the/way/to/the/house.html " * 20)
    assert UNKNOWN == language_of("12 000 3.14 " * 100)


@pytest.mark.parametrize(
    "text", ["", " ", "hello", "Guten Morgen, liebe Leute!", "\0\ud800" * 90, "x" * 5000, "?!…" * 90]
)
def test_too_little_is_unknown(text: str) -> None:
    """Fewer than 40 letters, or such as no language has."""
    assert UNKNOWN == language_of(text)


@pytest.mark.parametrize("text", ["ᏂᎦᏓ ᎠᏂᏴᏫ ᎨᏥᏳᎪᏅ ᎠᎴ ᎤᏂᎶᏒᏍᏗ ", "ⴰⵔ ⴷ ⵜⵜⵍⴰⵍⴰⵏ ⵎⴷⴷⵏ ", "ꆏꃅ ꁱꂷ ꉬꇬ ꀋꐚ "])
def test_a_script_that_is_not_known_is_no_language_that_is(text: str) -> None:
    """However much there is of it."""
    assert UNKNOWN == language_of(text * 50)


@given(texts())
@settings(max_examples=10)
def test_any_text_has_an_answer(text: str) -> None:
    """A code of two or three letters, or one of the two words."""
    found = language_of(text * 3)

    assert found in {MIXED, UNKNOWN} or (found.isalpha() and len(found) in {2, 3})


def test_a_document_may_say_several_languages() -> None:
    """Or one, or none."""
    said = [{}, {"language": "de-AT"}, {"language": ["de"]}, {"language": ["de", "de"]}, {"language": ["de", "en"]}]

    assert ["", "de-AT", "de", "de", MIXED] == [language_said(each) for each in said]  # type: ignore[arg-type]


def test_without_the_package_the_message_has_the_line_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing else is tried."""
    monkeypatch.setitem(sys.modules, "py3langid.langid", None)
    identification._model.cache_clear()
    with pytest.raises(MissingExtraError, match=r"identifying languages .* pip install 'simdoc-search\[language\]'"):
        language_of(PROSE["en"])
