"""Words that are hyphenated at the end of a line become whole words."""

from __future__ import annotations

from pathlib import Path

import pytest

from simdoc_search.corpus import read_file
from simdoc_search.corpus.hyphenation import join_hyphenated_words, mark_hyphens
from tests.support import formats


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ("an ana\x02lyst, then\r\nmore", "an analyst,\nthen\r\nmore"),
        ("ana\x02lyst\r\nnext", "analyst\r\nnext"),
        ("the Donau\x02dampf\x02schiff sank", "the Donaudampfschiff\nsank"),
        ("FED\x02ERAL", "FEDERAL\n"),
        ("a Open\x02Source-Lizenz b", "a Open-Source-Lizenz\nb"),
        ("a N\x02methyl b", "a N-methyl\nb"),
        ("pages 147\x02148", "pages 147-148\n"),
        ("Vor\x02und Nachteile", "Vor-und\nNachteile"),
        ("a well\x02known and Well-Known fact", "a well-known\nand Well-Known fact"),
        ("a dash \x02 alone", "a dash -\n alone"),
        ("one\x02\ftwo", "one-\n\ftwo"),
    ],
)
def test_hyphens_that_may_belong_to_the_word_are_kept(text: str, joined: str) -> None:
    assert joined == join_hyphenated_words(text)


def test_only_a_hyphen_between_letters_at_the_end_of_a_line_is_marked() -> None:
    text = "ana-\nlyst ana-\r\nlyst well-known 4-\nmethyl a -\nb"

    assert "ana\x02lyst ana\x02lyst well-known 4-\nmethyl a -\nb" == mark_hyphens(text)


@pytest.mark.usefixtures("read_in_this_process")
def test_a_word_of_a_pdf_and_of_a_word_document_is_joined(tmp_path: Path) -> None:
    filler = "lorem " * 12  # the line of the PDF ends after the hyphen
    (tmp_path / "a.pdf").write_bytes(formats.pdf((f"{filler}hyphen-ated words here",)))
    (tmp_path / "a.docx").write_bytes(formats.docx(("a hyphen-</w:t><w:br/><w:t>ated word",)))

    assert f"{filler}hyphenated\nwords here" == read_file(tmp_path / "a.pdf").text
    assert "a hyphenated\nword" == read_file(tmp_path / "a.docx").text
