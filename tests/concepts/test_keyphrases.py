"""Keyphrases by YAKE: those of a text, where it has them."""

from __future__ import annotations

import pytest

from simdoc_search.concepts import extractor_named
from simdoc_search.concepts.keyphrases import AT_ONCE, MOST_PARTS, Keyphrases
from tests.versions.paper import DOCUMENTS

YAKE = extractor_named("yake")


def test_the_keyphrases_of_the_papers_documents() -> None:
    """Beside names; each paragraph has its own, and a word of a name is none."""
    first, second, third = Keyphrases().find(DOCUMENTS[2])

    assert {"Jason Dufner", "major golf", "title", "PGA Championship"} <= first.keys()
    assert {"winning score", "Oak Hill Country Club"} <= second.keys()
    assert {"Keegan Bradley", "title"} <= third.keys()
    assert not {"jason", "dufner", "golf title", "the"} & {*first, *second, *third}
    assert {"diabetes", "develop diabetes"} & {each for part in Keyphrases().find(DOCUMENTS[4]) for each in part}


def test_small_words_of_other_languages_are_none() -> None:
    """The language is told from them."""
    german = "Der Hund läuft über die Straße und die Katze schläft unter dem alten Tisch in der Küche."
    found = {word for part in Keyphrases().find(german) for name in part for word in name.lower().split()}

    assert {"hund", "katze", "tisch", "läuft"} <= found
    assert not {"und", "die", "dem", "unter", "über"} & found


@pytest.mark.parametrize("text", ["", "...", "\x00", "12 34", "a", "x" * 10_000, "🎉🎉", "世界你好。" * 50, "'" * 999])
def test_a_text_without_keyphrases_has_none(text: str) -> None:
    """It does not fail."""
    (codes,) = YAKE.codes([text])

    assert codes is not None
    assert [0] == codes.tolist()


def test_scripts_without_capital_letters_have_keyphrases() -> None:
    """Where words stand between spaces."""
    (paragraph,) = Keyphrases().find("مرحبا بالعالم الجميل. " * 3)

    assert {3} == set(paragraph.values())
    assert "مرحبا" in " ".join(paragraph).split()


@pytest.mark.slow
@pytest.mark.parametrize("text", ["x" * 1_000_000, "Aa " * 330_000])
def test_a_text_of_a_megabyte_is_read(text: str) -> None:
    """Without a break, or with nothing but breaks; also if there are more parts than are looked at."""
    assert len(text) > AT_ONCE * MOST_PARTS
    (codes,) = YAKE.codes([text])

    assert codes is not None
    assert len(codes) < len(text)
