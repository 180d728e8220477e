"""OpenDocument texts and presentations."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from simdoc_search import read_file
from simdoc_search.corpus import Document
from simdoc_search.errors import CorpusError
from tests.support import formats

pytestmark = pytest.mark.usefixtures("read_in_this_process")

ODF = "urn:oasis:names:tc:opendocument:xmlns"
OPEN_DOCUMENT = "application/vnd.oasis.opendocument"
MEDIA_TYPE = f"{OPEN_DOCUMENT}.text"
_NAMESPACES = " ".join(
    [
        *(f'xmlns:{name}="{ODF}:{name}:1.0"' for name in ("office", "text", "table", "meta", "presentation")),
        f'xmlns:draw="{ODF}:drawing:1.0" xmlns:svg="{ODF}:svg-compatible:1.0" xmlns:x="urn:x"',
        'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:math="http://www.w3.org/1998/Math/MathML"',
    ]
)


def paragraph(content: str) -> str:
    return f"<text:p>{content}</text:p>"


def note(content: str) -> str:
    citation = "<text:note-citation>1</text:note-citation>"
    return f"<text:note>\n{citation} <text:note-body>{content}</text:note-body></text:note>"


def read_document(
    folder: Path, body: str, *, name: str = "a.odt", mimetype: str = MEDIA_TYPE, meta: str = ""
) -> Document:
    """Read a document whose only other part contains its properties."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", mimetype)
        archive.writestr("content.xml", f"<x:d {_NAMESPACES}><office:text>{body}</office:text></x:d>")
        if meta:
            archive.writestr("meta.xml", f"<x:d {_NAMESPACES}>{meta}</x:d>")
    path = folder / name
    path.write_bytes(file.getvalue())
    return read_file(path)


def read(folder: Path, body: str) -> str:
    return read_document(folder, body).text


def lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


@pytest.mark.parametrize(
    ("xml", "expected"),
    [
        ("R&amp;D &lt; 5 &#8364; <![CDATA[&]]>", "R&D < 5 € &"),
        ("<text:span>in</text:span>si<text:a>de <text:span>a</text:span></text:a> link", "inside a link"),
        ("\n  one \t two<text:span> </text:span> three\n", "one two three"),
        ("5<text:tab/>00<text:line-break/>next", "5\t00\nnext"),
        ("a <text:s/>b<text:s text:c='3'/>c", "a  b   c"),
        ("a<text:s text:c='99999999999'/>b<text:s text:c='-1'/>c", "a b c"),
        ("so\u00adft<text:soft-page-break/>ware", "software"),
        ("<text:bookmark-start/>a<text:bookmark/>b<text:bookmark-end/>", "ab"),
        ("see <text:bookmark-ref>chapter</text:bookmark-ref>, <text:date>1 May</text:date>", "see chapter, 1 May"),
        ("<x:content-control>from an extension</x:content-control>", "from an extension"),
        ("<text:ruby> <text:ruby-base>漢</text:ruby-base> <text:ruby-text>kan</text:ruby-text></text:ruby>字", "漢字"),
        ("a<office:annotation><dc:creator>C</dc:creator><text:p>comment</text:p></office:annotation>b", "ab"),
        ("a<draw:frame>\n<draw:object><math:math><math:mi>x</math:mi></math:math></draw:object>\n</draw:frame>b", "ab"),
        ("a<draw:frame> <svg:title>T</svg:title> <svg:desc>D</svg:desc> <draw:image/> </draw:frame>b", "ab"),
    ],
)
def test_each_character_of_a_paragraph_is_read(tmp_path: Path, xml: str, expected: str) -> None:
    assert expected == read(tmp_path, paragraph(xml))


def test_an_empty_line_separates_headings_paragraphs_and_items(tmp_path: Path) -> None:
    items = f"<text:list-item><text:number>1.</text:number>{paragraph('one')}</text:list-item>"
    inner = f"<text:list-item>{paragraph('two')}<text:list>{items}</text:list></text:list-item>"
    section = f"<text:section><text:list>{inner}</text:list></text:section>"

    assert "Title\n\ntwo\n\none\n\nend" == read(
        tmp_path, f"<text:h>Title</text:h> <text:p/> {section} {paragraph('end')}"
    )


def test_a_table_of_contents_is_read(tmp_path: Path) -> None:
    template = "<text:index-title-template>Template</text:index-title-template>"
    source = f"<text:table-of-content-source>{template}</text:table-of-content-source>"
    title = f"<text:index-title>{paragraph('Contents')}</text:index-title>"
    index = f"<text:index-body>{title}{paragraph('One')}</text:index-body>"

    assert ["Contents", "One"] == lines(
        read(tmp_path, f"<text:table-of-content>{source}{index}</text:table-of-content>")
    )


def test_a_note_follows_the_paragraph_that_refers_to_it(tmp_path: Path) -> None:
    words = paragraph("The <text:span>whole</text:span> note,") + paragraph("with<text:tab/>all.")

    assert "Words, and more.\n\nThe whole note,\n\nwith\tall.\n\nNext." == read(
        tmp_path, paragraph(f"Words{note(words)}, and more.") + paragraph("Next.")
    )


def test_a_note_in_a_list_in_a_note_is_read(tmp_path: Path) -> None:
    inner = (
        f"<text:list><text:list-item>{paragraph('Two' + note(paragraph('Three.')) + '.')}</text:list-item></text:list>"
    )

    assert ["One.", "Two.", "Three."] == lines(read(tmp_path, paragraph(f"One{note(inner)}.")))


@pytest.mark.parametrize(
    "shape",
    [
        "<draw:frame> <draw:text-box> {} </draw:text-box> </draw:frame>",
        "<draw:g> <draw:custom-shape> {} <draw:enhanced-geometry/></draw:custom-shape> </draw:g>",
    ],
)
def test_a_text_box_follows_its_paragraph(tmp_path: Path, shape: str) -> None:
    box = shape.format(paragraph("Box.") + paragraph("Second."))

    assert ["Before and after.", "Box.", "Second."] == lines(read(tmp_path, paragraph(f"Bef{box}ore and after.")))


def test_the_cells_of_a_table_are_separated_by_tabs(tmp_path: Path) -> None:
    def table(*rows: list[str]) -> str:
        cells = ["".join(f"<table:table-cell>{cell}</table:table-cell>\n" for cell in row) for row in rows]
        return (
            "<table:table>\n"
            + "".join(f"<table:table-row>{row}</table:table-row>\n" for row in cells)
            + "</table:table>"
        )

    inner = table([paragraph("x"), paragraph("y")])
    outer = table([paragraph("5"), paragraph("00")], [inner, paragraph("a") + paragraph("b")])
    header = f"<table:table-header-rows>{table([paragraph('H')])}</table:table-header-rows>"

    assert "5\t00\nx\ty\ta b\n\nH\n\nAfter." == read(tmp_path, outer + header + paragraph("After."))


def test_tracked_changes_are_read_as_accepted(tmp_path: Path) -> None:
    deleted = f"<text:changed-region><text:deletion>{paragraph('old')}</text:deletion></text:changed-region>"
    text = "<text:change-start/>new<text:change-end/><text:change/> words"

    assert "new words" == read(tmp_path, f"<text:tracked-changes>{deleted}</text:tracked-changes>{paragraph(text)}")


def test_a_deeply_nested_document_is_read(tmp_path: Path) -> None:
    deep = "<text:list><text:list-item>" * 20_000 + paragraph("x") + "</text:list-item></text:list>" * 20_000
    spans = "<text:span>" * 20_000 + "y" + "</text:span>" * 20_000

    assert ["x", "y"] == lines(read(tmp_path, deep + paragraph(spans)))


@pytest.mark.parametrize("name", ["a.odt", "a.docx", "a.pdf"])
@pytest.mark.parametrize("mimetype", [MEDIA_TYPE, f"{MEDIA_TYPE}-template\n"])
def test_texts_and_templates_are_recognised_whatever_their_extension(tmp_path: Path, name: str, mimetype: str) -> None:
    body = paragraph(f"Words{note(paragraph('<text:span>a</text:span> b'))}.")

    assert ["Words.", "a b"] == lines(read_document(tmp_path, body, name=name, mimetype=mimetype).text)


@pytest.mark.parametrize("template", ["", "-template"])
def test_the_notes_of_a_presentation_follow_their_slide(tmp_path: Path, template: str) -> None:
    def box(words: str) -> str:
        return f"<draw:frame><draw:text-box>{paragraph(words)}</draw:text-box></draw:frame>"

    notes = f"<presentation:notes><draw:page-thumbnail/>{box('Notes.')}</presentation:notes>"
    slides = f"<draw:page>{box('Title')}{box('<text:span>Wo</text:span>rds.')}{notes}</draw:page>"
    body = f"<presentation:footer-decl>footer</presentation:footer-decl>{slides}<draw:page>{box('End')}</draw:page>"
    mimetype = f"{OPEN_DOCUMENT}.presentation{template}"

    assert "Title\n\nWords.\n\nNotes.\n\nEnd" == read_document(tmp_path, body, name="a.odp", mimetype=mimetype).text


def test_title_and_dates_become_metadata(tmp_path: Path) -> None:
    meta = (
        "<office:meta><dc:title>R&amp;D\n report</dc:title><dc:creator>A</dc:creator><dc:subject>S</dc:subject>"
        "<meta:creation-date>2024-05-01T10:15:00.5</meta:creation-date>\n"
        "<dc:date>2024-06-02T11:16:00</dc:date></office:meta>"
    )

    assert {
        "title": "R&D report",
        "created_at": "2024-05-01T10:15:00.5",
        "modified_at": "2024-06-02T11:16:00",
    } == read_document(tmp_path, paragraph("words"), meta=meta).metadata
    assert {} == read_document(tmp_path, paragraph("words"), meta="<dc:title> </dc:title>").metadata


@pytest.mark.parametrize("xml", ["<text:p>no end", "&unknown;", "</text:p>", "\x01"])
def test_a_document_with_damaged_content_is_damaged(tmp_path: Path, xml: str) -> None:
    """Its text would otherwise be incomplete, and nobody would know."""
    with pytest.raises(CorpusError, match=r"cannot be read: damaged: [^\n]+"):
        read(tmp_path, paragraph("whole") + xml)


def test_a_document_without_content_is_damaged_and_one_without_words_has_no_text(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.odt", "w") as archive:
        archive.writestr("mimetype", MEDIA_TYPE)
    with pytest.raises(CorpusError, match=r"damaged: There is no item named 'content\.xml' in the archive"):
        read_file(tmp_path / "a.odt")
    with pytest.raises(CorpusError, match="cannot be read: no text"):
        read(tmp_path, paragraph(" <text:tab/> "))


def test_a_document_in_an_unknown_compression_is_damaged(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.odt", "w") as archive:
        archive.writestr("mimetype", MEDIA_TYPE)
        archive.writestr("content.xml", "<x/>")
        archive.infolist()[-1].compress_type = 99
    with pytest.raises(CorpusError, match="damaged: That compression method is not supported"):
        read_file(tmp_path / "a.odt")


def test_an_encrypted_document_is_recognised_before_its_content_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.odt").write_bytes(formats.odt(encrypted=True))

    with pytest.raises(CorpusError, match="cannot be read: encrypted"):
        read_file(tmp_path / "a.odt")
