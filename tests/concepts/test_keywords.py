"""KeywordFinder finds keywords by their frequency, and names."""

from __future__ import annotations

from collections import Counter

import pytest

from simdoc_search.concepts import extractor_from_option, keywords
from simdoc_search.concepts.keywords import KeywordFinder
from tests.versions.paper import DOCUMENTS


def found(text: str) -> Counter[str]:
    """The concepts of a text with one paragraph."""
    (paragraph,) = KeywordFinder().find(text)
    return paragraph


def test_keywords_of_the_papers_documents() -> None:
    """Each paragraph has its own keywords and names. A word in a name is not also a keyword."""
    first, second, third = KeywordFinder().find(DOCUMENTS[2])

    assert {"Jason Dufner", "golf", "title", "PGA Championship"} <= first.keys()
    assert {"winning", "score", "Oak Hill Country Club"} <= second.keys()
    assert {"Keegan Bradley", "title"} <= third.keys()
    assert not {"jason", "dufner", "the"} & {*first, *second, *third}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Der Hund läuft über die Straße und die Katze schläft.", {"Hund", "läuft", "Straße", "Katze", "schläft"}),
        ("нам нужна лицензия и ещё лицензия для кода", {"нужна", "лицензия", "кода"}),
        ("मुझे हिन्दी भाषा और हिन्दी साहित्य पसंद है", {"हिन्दी", "भाषा", "साहित्य", "पसंद", "मुझे"}),
        ("选择开源许可证。", {"选择", "择开", "开源", "源许", "许可", "可证"}),
        ("オープンソースの許可証", {"オープンソース", "許可", "可証"}),
        ("오픈소스 라이선스를 선택하세요", {"오픈소스", "라이선스를", "선택하세요"}),
    ],
)
def test_the_language_decides_which_words_are_keywords(text: str, expected: set[str]) -> None:
    assert expected == found(text).keys()


@pytest.mark.parametrize("text", ["", "\x00", "12 34", "a be", "🎉🎉", "'" * 999, "the and", "中 文"])
def test_a_text_without_keywords_has_no_concepts(text: str) -> None:
    (token_ids,) = extractor_from_option("keywords").token_ids([text])

    assert token_ids is not None
    assert [0] == token_ids.tolist()


def test_each_part_of_a_long_text_has_its_most_frequent_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keywords, "PART_LENGTH", 60)
    monkeypatch.setattr(keywords, "_MAX_KEYWORDS_PER_PART", 2)
    first = "river bridge stone river bridge water river bridge sand rock "

    assert {"river": 3, "bridge": 3, "harbour": 2, "ship": 2} == found(f"{first}harbour ship mast harbour ship")
