"""The headers and footers of Word documents."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

from simdoc_search.corpus.file_reader import read_file
from tests.support import formats

_PAGE = (
    '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> PAGE </w:instrText></w:r>'
    '<w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>7</w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>'
)


def paragraph(content: str) -> str:
    return f"<w:p>{content}</w:p>"


def text(words: str) -> str:
    return f'<w:r><w:t xml:space="preserve">{words}</w:t></w:r>'


def read(folder: Path, **parts: str) -> list[str]:
    file = io.BytesIO(formats.docx(("The body.",)))
    with zipfile.ZipFile(file, "a") as archive:
        for name, xml in parts.items():
            archive.writestr(f"word/{name}.xml", xml)
    path = folder / "a.docx"
    path.write_bytes(file.getvalue())
    return [line for line in read_file(path).text.splitlines() if line.strip()]


def test_headers_are_before_the_text_and_footers_after_it(tmp_path: Path) -> None:
    header, footer = (
        paragraph(text("Draft ") + text("2 &amp; 3")),
        paragraph(text("Westerhaven") + "<w:r><w:tab/></w:r>" + text("Ltd")),
    )

    assert ["Draft 2 & 3", "The body.", "Westerhaven Ltd"] == read(tmp_path, header1=header, footer2=footer)


def test_equal_headers_are_read_once(tmp_path: Path) -> None:
    header = paragraph(text("Draft 2"))

    assert ["Draft 2", "First page", "The body."] == read(
        tmp_path, header1=header, header2=header, header3=paragraph(text("First page"))
    )


def test_page_numbers_are_left_out(tmp_path: Path) -> None:
    simple = f'<w:fldSimple w:instr="DATE">{text("1 May 2024")}</w:fldSimple>'
    version = f'<w:fldSimple w:instr="DOCPROPERTY Version">{text("Version 2")}</w:fldSimple>'
    footer = paragraph(_PAGE) + paragraph(text("1")) + paragraph(version + simple + text(", page ") + _PAGE)

    assert ["The body.", "Version 2, page"] == read(tmp_path, footer1=footer)


def test_a_damaged_header_does_not_matter(tmp_path: Path) -> None:
    assert ["The body."] == read(tmp_path, header1="<w:p><w:t>no end", footer1="\0\0")
