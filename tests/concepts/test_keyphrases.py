"""KeyphraseFinder, found by YAKE."""

from __future__ import annotations

import pytest

from simdoc_search.concepts import extractor_from_option, keyphrases
from simdoc_search.concepts.keyphrases import MAX_PARTS, KeyphraseFinder
from tests.versions.paper import DOCUMENTS

YAKE = extractor_from_option("yake")


def test_keyphrases_of_the_papers_documents() -> None:
    """Each paragraph has its own keyphrases and names. A word in a name is not also in a keyphrase."""
    first, second, third = KeyphraseFinder().find(DOCUMENTS[2])

    assert {"Jason Dufner", "major golf", "title", "PGA Championship"} <= first.keys()
    assert {"winning score", "Oak Hill Country Club"} <= second.keys()
    assert {"Keegan Bradley", "title"} <= third.keys()
    assert not {"jason", "dufner", "golf title", "the"} & {*first, *second, *third}


def test_the_language_decides_the_stop_words() -> None:
    german = "Der Hund läuft über die Straße und die Katze schläft unter dem alten Tisch in der Küche."
    result = {
        word for paragraph in KeyphraseFinder().find(german) for name in paragraph for word in name.lower().split()
    }

    assert {"hund", "katze", "tisch", "läuft"} <= result
    assert not {"und", "die", "dem", "unter", "über"} & result


@pytest.mark.parametrize("text", ["", "\x00", "12 34", "a", "x" * 10_000, "🎉🎉", "世界你好。" * 50, "'" * 999])
def test_a_text_without_keyphrases_has_no_concepts(text: str) -> None:
    (token_ids,) = YAKE.token_ids([text])

    assert token_ids is not None
    assert [0] == token_ids.tolist()


def test_scripts_without_capital_letters_have_keyphrases() -> None:
    (paragraph,) = KeyphraseFinder().find("مرحبا بالعالم الجميل. " * 3)

    assert {3} == set(paragraph.values())
    assert "مرحبا" in " ".join(paragraph).split()


@pytest.mark.slow
@pytest.mark.parametrize("text", ["x" * 600_000, "Aa " * 20_000])
def test_a_text_may_have_more_parts_than_yake_reads(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One text has no breaks. The other has a break after each word."""
    monkeypatch.setattr(keyphrases, "MIN_PART_LENGTH", 4_000)
    assert len(text) > keyphrases.MIN_PART_LENGTH * MAX_PARTS
    (token_ids,) = YAKE.token_ids([text])

    assert token_ids is not None
    assert len(token_ids) < len(text)
