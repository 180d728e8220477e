"""Documents of Word 97 to 2003."""

from __future__ import annotations

from pathlib import Path

import pytest

from simdoc_search.corpus.file_reader import read_file
from simdoc_search.errors import CorpusError
from tests.support.word_97 import word_97_document

pytest.importorskip("olefile")

pytestmark = pytest.mark.usefixtures("read_in_this_process")


def read(folder: Path, data: bytes) -> str:
    path = folder / "a.doc"
    path.write_bytes(data)
    return read_file(path).text


@pytest.mark.parametrize(
    "text", ["The harbour was quiet.", "开源的法律保护，关于开源。", "これは日本語の文章です。", "Слово 😇 дело"]
)
def test_the_characters_of_any_script_are_read(tmp_path: Path, text: str) -> None:
    assert text == read(tmp_path, word_97_document(text))


def test_text_of_one_byte_per_character_is_in_windows_1252(tmp_path: Path) -> None:
    assert "Straße „quoted“ – end" == read(tmp_path, word_97_document("Straße „quoted“ – end", one_byte=True))


def test_marks_become_white_space_or_hyphens(tmp_path: Path) -> None:
    text = "a\rb\x0bc\x0cd\x07e\tf\x1emethyl so\x1fft \x01\x08picture"

    assert "a\n\nb\nc\nd\te\tf-methyl soft picture" == read(tmp_path, word_97_document(text))


def test_the_result_of_a_field_is_text_and_its_code_is_not(tmp_path: Path) -> None:
    text = 'see \x13 HYPERLINK "\x13 PAGE \x147\x15" \x14the page\x15 and \x13 XE entry \x15more'

    assert "see the page and more" == read(tmp_path, word_97_document(text))


def test_notes_and_text_boxes_follow_the_body_and_headers_and_comments_are_not_read(tmp_path: Path) -> None:
    parts = ("body 😇\r", "footnote\r", "header\r", "macro\r", "comment\r", "endnote\r", "box\r", "box in a header\r")

    text = read(tmp_path, word_97_document(*parts))

    assert ["body 😇", "footnote", "endnote", "box"] == [line for line in text.split("\n") if line]


def test_a_note_follows_the_paragraph_that_refers_to_it(tmp_path: Path) -> None:
    body = "One\x02 and\x02 two.\rCell\x02\x07Three.\r"
    places = tuple(place for place, character in enumerate(body) if character == "\x02")
    data = word_97_document(body, "\x02 first\r\x02 second\r\x02 third\r", references=places)

    assert ["One and two.", " first", " second", "Cell\t third", "Three."] == [
        line for line in read(tmp_path, data).split("\n") if line
    ]


def test_an_encrypted_document_is_recognised(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="cannot be read: encrypted"):
        read(tmp_path, word_97_document("words", encrypted=True))


@pytest.mark.parametrize("share", [0.3, 0.6])
def test_a_truncated_document_is_damaged(tmp_path: Path, share: float) -> None:
    data = word_97_document("words " * 5000)

    with pytest.raises(CorpusError, match="cannot be read: damaged: "):
        read(tmp_path, data[: int(len(data) * share)])
