"""Word documents."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from simdoc_search import read_file
from simdoc_search.errors import CorpusError
from tests.support import formats

pytestmark = pytest.mark.usefixtures("read_in_this_process")

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_PAGE = (
    '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> PAGE </w:instrText></w:r>'
    '<w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>7</w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>'
)


def paragraph(content: str) -> str:
    return f"<w:p>{content}</w:p>"


def text(words: str) -> str:
    return f'<w:r><w:t xml:space="preserve">{words}</w:t></w:r>'


def read(folder: Path, *, body: str = paragraph(text("The body.")), **parts: str) -> str:
    """Return the text of a document. All names of its elements are in the namespace of Word."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(formats.docx())) as old, zipfile.ZipFile(file, "w") as new:
        for name in old.namelist():
            if name != "word/document.xml":
                new.writestr(name, old.read(name))
        for name, xml in {"document": f"<w:body>{body}</w:body>", **parts}.items():
            new.writestr(f"word/{name}.xml", f'<w:part xmlns:w="{WORD}" xmlns:x="urn:x">{xml}</w:part>')
    path = folder / "a.docx"
    path.write_bytes(file.getvalue())
    return read_file(path).text


def lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


@pytest.mark.parametrize(
    ("xml", "expected"),
    [
        (text("R&amp;D &lt; 5 &#8364; &apos;a&apos; <![CDATA[&]]>"), "R&D < 5 € 'a' &"),
        (text("5") + "<w:r><w:tab/></w:r>" + text("00"), "5\t00"),
        ("<w:pPr><w:tabs><w:tab w:pos='5'/></w:tabs></w:pPr>" + text("a"), "a"),
        (text("a") + "<w:r><w:br/></w:r>" + text("b") + "<w:r><w:cr/></w:r>" + text("c"), "a\nb\nc"),
        (text("4") + "<w:r><w:noBreakHyphen/></w:r>" + text("methyl"), "4-methyl"),
        (text("a") + "<w:r><w:softHyphen/></w:r>" + text("b"), "ab"),
        (text("1") + '<w:r><w:sym w:font="Symbol" w:char="F0B1"/></w:r>' + text("2"), "1\uf0b12"),
        (text("1") + '<w:r><w:sym w:char="D800"/><w:sym w:char="x"/><w:sym w:char="0000"/></w:r>', "1"),
        (f"<w:ins>{text('new')}</w:ins><w:del><w:r><w:delText>old</w:delText></w:r></w:del>", "new"),
        (f"<w:moveFrom>{text('here')}</w:moveFrom><w:moveTo>{text('there')}</w:moveTo>", "there"),
        (f"<w:hyperlink>{text('a')}</w:hyperlink><w:sdt><w:sdtContent>{text('b')}</w:sdtContent></w:sdt>", "ab"),
        (f"<w:r><w:ruby><w:rt>{text('kan')}</w:rt><w:rubyBase>{text('漢')}</w:rubyBase></w:ruby></w:r>", "漢"),
        ("<x:f><x:num><x:t>1</x:t></x:num><x:den><x:t>2</x:t></x:den></x:f>", "1/2"),
    ],
)
def test_each_character_of_a_paragraph_is_read(tmp_path: Path, xml: str, expected: str) -> None:
    assert expected == read(tmp_path, body=paragraph(xml))


def test_a_text_box_follows_its_paragraph_and_is_read_once(tmp_path: Path) -> None:
    box = f"<w:txbxContent>{paragraph(text('Box.'))}</w:txbxContent>"
    drawn = f"<x:AlternateContent><x:Choice>{box}</x:Choice><x:Fallback>{box}</x:Fallback></x:AlternateContent>"

    assert ["Before and after.", "Box."] == lines(
        read(tmp_path, body=paragraph(text("Before") + f"<w:r>{drawn}</w:r>" + text(" and after.")))
    )


def test_an_old_drawing_is_read_if_its_alternative_has_no_text(tmp_path: Path) -> None:
    drawn = f"<x:AlternateContent><x:Choice/><x:Fallback>{paragraph(text('Box.'))}</x:Fallback></x:AlternateContent>"

    assert ["Box."] == lines(read(tmp_path, body=paragraph(drawn)))


def test_the_cells_of_a_table_are_separated_by_tabs(tmp_path: Path) -> None:
    def row(*cells: str) -> str:
        return "<w:tr>" + "".join(f"<w:tc>{cell}</w:tc>" for cell in cells) + "</w:tr>"

    inner = f"<w:tbl>{row(paragraph(text('x')), paragraph(text('y')))}</w:tbl>"
    table = row(paragraph(text("5")), paragraph(text("00"))) + row(inner, paragraph(text("a")) + paragraph(text("b")))

    assert "5\t00\nx\ty\ta b\n\nAfter." == read(tmp_path, body=f"<w:tbl>{table}</w:tbl>" + paragraph(text("After.")))


def test_a_note_follows_the_paragraph_that_refers_to_it(tmp_path: Path) -> None:
    footnotes = [
        f'<w:footnote w:type="separator" w:id="0">{paragraph(text("-"))}</w:footnote>',
        f'<w:footnote w:id="2">{paragraph("<w:r><w:footnoteRef/></w:r>" + text("See above."))}</w:footnote>',
        f'<w:footnote w:id="3">{paragraph(text("Nobody refers to it."))}</w:footnote>',
    ]
    endnotes = f'<w:endnote w:id="2">{paragraph(text("See below."))}</w:endnote>'
    body = [
        paragraph(text("Words") + '<w:r><w:footnoteReference w:id="2"/></w:r>' + text(", and more.")),
        paragraph(text("The end.") + '<w:r><w:endnoteReference w:id="2"/></w:r>'),
        paragraph(text("References")),
    ]

    parts = {"footnotes": "".join(footnotes), "endnotes": endnotes, "footer1": paragraph(text("Footer"))}
    assert [
        *("Words, and more.", "See above.", "The end.", "See below.", "References", "Nobody refers to it.", "Footer"),
    ] == lines(read(tmp_path, body="".join(body), **parts))


def test_the_main_part_may_have_another_name(tmp_path: Path) -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(formats.docx())) as old, zipfile.ZipFile(file, "w") as new:
        for name in old.namelist():
            new.writestr(
                name.replace("document", "document2"), old.read(name).replace(b"word/document", b"word/document2")
            )
    (tmp_path / "a.docx").write_bytes(file.getvalue())

    assert list(formats.PARAGRAPHS) == lines(read_file(tmp_path / "a.docx").text)


def test_headers_are_before_the_text_and_footers_after_it(tmp_path: Path) -> None:
    header, footer = (
        paragraph(text("Draft ") + text("2 &amp; 3")),
        paragraph(text("Westerhaven") + "<w:r><w:tab/></w:r>" + text("Ltd")),
    )

    assert ["Draft 2 & 3", "The body.", "Westerhaven Ltd"] == lines(read(tmp_path, header1=header, footer2=footer))


def test_equal_headers_are_read_once(tmp_path: Path) -> None:
    header = paragraph(text("Draft 2"))

    assert ["Draft 2", "First page", "The body."] == lines(
        read(tmp_path, header1=header, header2=header, header3=paragraph(text("First page")))
    )


def test_page_numbers_are_left_out(tmp_path: Path) -> None:
    simple = f'<w:fldSimple w:instr="DATE">{text("1 May 2024")}</w:fldSimple>'
    version = f'<w:fldSimple w:instr="DOCPROPERTY Version">{text("Version 2")}</w:fldSimple>'
    footer = paragraph(_PAGE) + paragraph(text("1")) + paragraph(version + simple + text(", page ") + _PAGE)

    assert ["The body.", "Version 2, page"] == lines(read(tmp_path, footer1=footer))


@pytest.mark.parametrize("name", ["document", "header1", "footnotes"])
def test_a_document_with_a_damaged_part_is_damaged(tmp_path: Path, name: str) -> None:
    """Its text would otherwise be incomplete, and nobody would know."""
    with pytest.raises(CorpusError, match=r"cannot be read: damaged: [^\n]+"):
        read(tmp_path, **{name: "<w:p><w:t>no end"})


def test_a_document_in_an_unknown_encoding_is_damaged(tmp_path: Path) -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("word/document.xml", '<?xml version="1.0" encoding="UTF-B"?><a/>')
    (tmp_path / "a.docx").write_bytes(file.getvalue())

    with pytest.raises(CorpusError, match="cannot be read: damaged: unknown encoding: UTF-B"):
        read_file(tmp_path / "a.docx")
