"""Which part of a text is its bibliography."""

from __future__ import annotations

import time

import pytest

from simdoc_search.passages.bibliography import describe_bibliography, find_bibliography

PROSE = "\n\n".join(
    f"Paragraph {number} says something about harbours and the year 17{number:02}." for number in range(40)
)
ENTRIES = "\n".join(
    f"Author{number}, A. ({1990 + number}). A Book on Harbours.\nWesterhaven: University Press." for number in range(6)
)


def bibliography(text: str) -> str | None:
    span = find_bibliography(text)
    return text[slice(*span)] if span else None


@pytest.mark.parametrize(
    "heading",
    [
        "Bibliography",
        "REFERENCES",
        "7 References",
        "## Works Cited",
        "**References**",
        "VII. Literaturverzeichnis:",
        "Références",
        "Literatur",
    ],
)
def test_the_references_after_a_heading_are_found(heading: str) -> None:
    assert f"{heading}\n{ENTRIES}" == bibliography(f"{PROSE}\n\n{heading}\n{ENTRIES}")


@pytest.mark.parametrize(
    "after",
    [
        "Declaration\nI wrote this thesis in 2024.",
        "A Appendix\nIn 1990 and 1991.",
        "[^1]: Becker, 1990.",
        "Index\nharbour 12",
        "Licence\nThis work of 2024 may be copied.",
        "9 Supplementary material\nThe accounts of 1990.",
    ],
)
def test_a_later_part_of_the_book_does_not_belong_to_it(after: str) -> None:
    assert f"References\n{ENTRIES}" == bibliography(f"{PROSE}\n\nReferences\n{ENTRIES}\n\n{after}")


STYLES = {
    "APA": """
Becker, A., & Smith, J. (2019). The influence of harbours on the growth of towns. Journal of Ports, 12(3), 44–59.
Chen, Y. (2004). Social media use and well-being among adolescents: What we know and what we do not
know about causal effects. In P. Rossi (Ed.), Reading in multilingual classrooms (pp. 60–82). Springer.
World Health Organization. (n.d.). Harbours of the northern sea. https://www.who.int/harbours""",
    "MLA": """
Becker, Anna, and John Smith. A Book on Harbours. University Press, 1998.
“The Growth of Towns.” Office for Ports, www.ports.gov.uk/towns. Accessed 3 May 2020.
The Harbour. Directed by Jane Doe, performances by Peter Hughes, Paramount, 1987.""",
    "Vancouver": """
1. Becker A, Smith J. The influence of harbours on the growth of towns in the north. J Ports. 2019;12(3):44-59.
2. Chen Y. Harbours of the northern sea. 2nd ed. London: Sage; 2004.""",
    "German": """
Primärliteratur
Becker, Anna: Zur Bedeutung der Häfen in der frühen Neuzeit und ihrer Wirkung auf die Städte. In: Schmidt, Karl
(Hrsg.): Handbuch der Stadtgeschichte. Berlin: De Gruyter 2012, S. 33-57.
Filme
Der Hafen. Regie: Hans Petersen. BRD 1979.""",
    "French": """
BECKER Anne, « L’influence des ports sur la croissance des villes à l’époque moderne », Annales, n° 3, 1998, p. 4-59.

Dupont, Jean, Histoire des villes portuaires du Nord, Paris, Gallimard, 1998.""",
}
INTERVIEW = """
Interview with a harbour master
I: How long have you worked here, and what did you do before that?
B: Since 2004, and before that I was at sea for many years, like my father."""
REFLECTION = """
Reflection on my sources
It was not easy to find good books on the harbours of the region (Smith, 2019). Most of them describe the trade
with other countries (Becker, 1998), and only a few say how the people lived who loaded the ships in 1921. I would
read the letters of the sailors first if I could begin again (Chen, 2004)."""


@pytest.mark.parametrize("after", ["", REFLECTION, INTERVIEW])
@pytest.mark.parametrize("entries", STYLES.values(), ids=STYLES)
def test_the_entries_of_any_style_belong_to_it_and_the_prose_after_them_does_not(entries: str, after: str) -> None:
    assert f"References{entries}" == bibliography(f"{PROSE}\n\nReferences{entries}{after}")


@pytest.mark.parametrize(
    "prose",
    [
        "This part has an unknown heading, and says something. " * 20 + "It ends in 2024.",
        "Illustrations\nFigure 1: The harbour in 1920 ............ 12",
        "Приложение. Это другой текст о гавани. " * 20,
        "An annotation says what the book is about and how it helped, such as for the second chapter. " * 2
        + f"\n\n{ENTRIES}",
    ],
    ids=["prose", "figures", "Cyrillic", "annotation"],
)
def test_it_ends_before_prose_with_an_unknown_heading(prose: str) -> None:
    assert f"References\n{ENTRIES}" == bibliography(f"{PROSE}\n\nReferences\n{ENTRIES}\n\n{prose}")


@pytest.mark.parametrize(
    "text",
    [
        f"Contents\nBibliography\n{PROSE}",
        f"{PROSE}\n\nReferences\nNothing with a number follows this heading.",
        f"{PROSE}\n\nReferences to other books\n{ENTRIES}",
        PROSE,
        "",
    ],
)
def test_other_text_is_not_a_bibliography(text: str) -> None:
    assert bibliography(text) is None


@pytest.mark.parametrize("repeated", ["\f", " ", "# ", "1.", "References\n", "References 2024 ", "References\f"])
def test_a_hostile_text_takes_no_long_time(repeated: str) -> None:
    start = time.process_time()
    find_bibliography(repeated * (1_000_000 // len(repeated)))

    assert time.process_time() - start < 5


def test_it_is_found_on_the_pages_of_a_pdf() -> None:
    pages = [PROSE, f"References\n{ENTRIES}".replace("\n", "\r\n"), "Declaration\r\nI wrote this in 2024."]
    text = "\f".join(pages)

    assert pages[1].split() == (bibliography(text) or "").split()
    assert "The bibliography is ignored: page 2, line 1 to page 2, line 13." == describe_bibliography(
        text, find_bibliography(text)
    )
    assert "No bibliography was found, so none is ignored." == describe_bibliography(PROSE, None)
