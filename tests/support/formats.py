"""Makes small files of many formats with the standard library. All contain the same two paragraphs."""

from __future__ import annotations

import io
import textwrap
import zipfile
from collections.abc import Callable, Sequence
from email.message import EmailMessage

from tests.support.word_97 import word_97_document

PARAGRAPHS = (
    "The harbour was quiet when the first boats came home, and nobody on the long stone pier expected that the old "
    "lighthouse keeper would be standing there with a lamp in his hand, calling the names of the seven captains one "
    "after the other until the last of them had answered him from the dark water",
    "Later that winter the council met in the school beside the mill and decided by a single vote that the bridge over "
    "the river should be built of oak rather than iron, because the forest belonged to the village and the smith had "
    "moved away to the city with all of his tools and both of his daughters",
)

OLE_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"

_XML = '<?xml version="1.0" encoding="UTF-8"?>\n'
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_SLIDES = "http://schemas.openxmlformats.org/presentationml/2006/main"
_DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"
_SHEETS = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OPEN = "urn:oasis:names:tc:opendocument:xmlns"
_TYPES = "application/vnd.openxmlformats-officedocument"
_ODT = "application/vnd.oasis.opendocument.text"


def pdf(paragraphs: tuple[str, ...] = PARAGRAPHS) -> bytes:
    """A PDF of one page in Helvetica. Without paragraphs the page is empty, like a scan."""
    lines: list[str] = []
    for paragraph in paragraphs:
        lines += [*textwrap.wrap(paragraph, 80), ""]
    shown = "".join(f"({line}) Tj T*\n" for line in lines)
    stream = f"BT /F1 11 Tf 14 TL 72 720 Td\n{shown}ET" if lines else "0 0 0 rg 100 100 200 200 re f"
    return pdf_of_objects(
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R "
        "/Resources << /Font << /F1 5 0 R >> >> >>",
        pdf_stream("", stream),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    )


def pdf_of_pages(*lines: str) -> bytes:
    """A PDF with a line of text on each page, or an empty page."""
    numbers = [4 + 2 * at for at in range(len(lines))]
    font = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{' '.join(f'{number} 0 R' for number in numbers)}] /Count {len(lines)} >>",
        font,
    ]
    for number, line in zip(numbers, lines, strict=True):
        shown = f"BT /F1 11 Tf 72 720 Td ({line}) Tj ET" if line else "0 0 0 rg 100 100 200 200 re f"
        objects += [
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {number + 1} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>",
            pdf_stream("", shown),
        ]
    return pdf_of_objects(*objects)


def pdf_stream(entries: str, content: str) -> str:
    """A PDF object with content."""
    return f"<< {entries} /Length {len(content)} >>\nstream\n{content}\nendstream"


def pdf_of_objects(*objects: str) -> bytes:
    """A PDF of these objects, which are numbered from 1. The first object is the root."""
    data, places = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(data))
        data += f"{number} 0 obj\n{content}\nendobj\n".encode()
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    size = len(objects) + 1
    trailer = f"trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{len(data)}\n%%EOF\n"
    return data + f"xref\n0 {size}\n0000000000 65535 f \n{table}{trailer}".encode()


def docx(paragraphs: tuple[str, ...] = PARAGRAPHS) -> bytes:
    """A Word document."""
    body = "".join(f"<w:p><w:r><w:t>{paragraph}</w:t></w:r></w:p>" for paragraph in paragraphs)
    return _office(
        "word/document.xml",
        f"{_TYPES}.wordprocessingml.document.main+xml",
        {"word/document.xml": f'<w:document xmlns:w="{_WORD}"><w:body>{body}</w:body></w:document>'},
    )


def pptx() -> bytes:
    """A presentation of one slide."""
    namespaces = f'xmlns:p="{_SLIDES}" xmlns:a="{_DRAWING}" xmlns:r="{_OFFICE}"'
    body = "".join(f"<a:p><a:r><a:t>{paragraph}</a:t></a:r></a:p>" for paragraph in PARAGRAPHS)
    group = '<p:nvGrpSpPr><p:cNvPr id="1" name=""/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr/>'
    shape = (
        '<p:sp><p:nvSpPr><p:cNvPr id="2" name="Text"/><p:cNvSpPr/><p:nvPr/></p:nvSpPr><p:spPr/>'
        f"<p:txBody><a:bodyPr/>{body}</p:txBody></p:sp>"
    )
    return _office(
        "ppt/presentation.xml",
        f"{_TYPES}.presentationml.presentation.main+xml",
        {
            "ppt/presentation.xml": f"<p:presentation {namespaces}><p:sldIdLst>"
            '<p:sldId id="256" r:id="rId1"/></p:sldIdLst></p:presentation>',
            "ppt/_rels/presentation.xml.rels": _relations("slide", "slides/slide1.xml"),
            "ppt/slides/slide1.xml": f"<p:sld {namespaces}><p:cSld><p:spTree>{group}{shape}"
            "</p:spTree></p:cSld></p:sld>",
        },
        {"/ppt/slides/slide1.xml": f"{_TYPES}.presentationml.slide+xml"},
    )


def xlsx(*sheets: Sequence[Sequence[str]]) -> bytes:
    """A workbook. By default, it has one sheet with one paragraph per row."""
    tables = sheets or [list(zip(PARAGRAPHS, strict=True))]
    names = [f"sheet{number}" for number, _ in enumerate(tables, 1)]
    parts = {f"xl/worksheets/{name}.xml": _worksheet(rows) for name, rows in zip(names, tables, strict=True)}
    listed = "".join(
        f'<sheet name="{name.title()}" sheetId="{number}" r:id="rId{number}"/>' for number, name in enumerate(names, 1)
    )
    return _office(
        "xl/workbook.xml",
        f"{_TYPES}.spreadsheetml.sheet.main+xml",
        {
            "xl/workbook.xml": f'<workbook xmlns="{_SHEETS}" xmlns:r="{_OFFICE}"><sheets>{listed}</sheets></workbook>',
            "xl/_rels/workbook.xml.rels": _relations("worksheet", *(f"worksheets/{name}.xml" for name in names)),
            **parts,
        },
        {f"/{path}": f"{_TYPES}.spreadsheetml.worksheet+xml" for path in parts},
    )


def _worksheet(rows: Sequence[Sequence[str]]) -> str:
    table = "".join(
        f'<row r="{number}">'
        + "".join(
            f'<c r="{column}{number}" t="inlineStr"><is><t>{cell}</t></is></c>'
            for column, cell in zip("ABCDEF", cells, strict=False)
        )
        + "</row>"
        for number, cells in enumerate(rows, 1)
    )
    return f'<worksheet xmlns="{_SHEETS}"><sheetData>{table}</sheetData></worksheet>'


def odt(*, encrypted: bool = False) -> bytes:
    """An OpenDocument text. If `encrypted`, the content is noise, and the manifest declares encryption."""
    body = "".join(f"<text:p>{paragraph}</text:p>" for paragraph in PARAGRAPHS)
    content = (
        f'{_XML}<office:document-content xmlns:office="{_OPEN}:office:1.0" xmlns:text="{_OPEN}:text:1.0" '
        f'office:version="1.2"><office:body><office:text>{body}</office:text></office:body></office:document-content>'
    )
    how = (
        '<manifest:encryption-data manifest:checksum-type="SHA1/1K" manifest:checksum="AAAA">'
        '<manifest:algorithm manifest:algorithm-name="Blowfish CFB" manifest:initialisation-vector="AAAA"/>'
        "</manifest:encryption-data>"
    )
    entry = f'<manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml">{how * encrypted}'
    manifest = (
        f'{_XML}<manifest:manifest xmlns:manifest="{_OPEN}:manifest:1.0">'
        f'<manifest:file-entry manifest:full-path="/" manifest:media-type="{_ODT}"/>'
        f"{entry}</manifest:file-entry></manifest:manifest>"
    )
    hidden = bytes(255 - byte for byte in content.encode())
    return _archive(
        {"mimetype": _ODT, "content.xml": hidden if encrypted else content, "META-INF/manifest.xml": manifest}
    )


def epub() -> bytes:
    """An e-book of one chapter."""
    body = "".join(f"<p>{paragraph}</p>" for paragraph in PARAGRAPHS)
    return _archive(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": f'{_XML}<container version="1.0" '
            'xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="content.opf" '
            'media-type="application/oebps-package+xml"/></rootfiles></container>',
            "content.opf": f'{_XML}<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id">'
            '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:identifier id="id">book</dc:identifier>'
            "<dc:title>Harbour</dc:title><dc:language>en</dc:language></metadata><manifest>"
            '<item id="chapter" href="chapter.xhtml" media-type="application/xhtml+xml"/></manifest>'
            '<spine><itemref idref="chapter"/></spine></package>',
            "chapter.xhtml": f'{_XML}<html xmlns="http://www.w3.org/1999/xhtml"><head><title>Harbour</title></head>'
            f"<body>{body}</body></html>",
        }
    )


def rtf() -> bytes:
    """An RTF file."""
    body = "".join(f"{paragraph}\\par\n" for paragraph in PARAGRAPHS)
    return f"{{\\rtf1\\ansi\\deff0{{\\fonttbl{{\\f0 Helvetica;}}}}\\f0\\fs24 {body}}}".encode()


def eml() -> bytes:
    """An e-mail."""
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "a@example.org", "b@example.org", "Harbour"
    message["Date"] = "Mon, 03 Feb 2020 10:00:00 +0000"
    message.set_content("\n\n".join(PARAGRAPHS))
    return bytes(message)


def doc() -> bytes:
    """A document of Word 97."""
    return word_97_document("\r".join(PARAGRAPHS))


MAKERS: dict[str, Callable[[], bytes]] = {
    ".doc": doc,
    ".docx": docx,
    ".eml": eml,
    ".epub": epub,
    ".odt": odt,
    ".pdf": pdf,
    ".pptx": pptx,
    ".rtf": rtf,
    ".xlsx": xlsx,
}
"""The functions that make a file, by extension."""


def _office(main: str, main_type: str, parts: dict[str, str], types: dict[str, str] | None = None) -> bytes:
    """An Office Open XML package of a main part, other parts and their content types."""
    overrides = {f"/{main}": main_type, **(types or {})}
    listed = "".join(f'<Override PartName="{name}" ContentType="{type_}"/>' for name, type_ in overrides.items())
    content_types = (
        f'<Types xmlns="{_PACKAGE}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Default Extension="xml" ContentType="application/xml"/>{listed}</Types>'
    )
    all_parts = {"[Content_Types].xml": content_types, "_rels/.rels": _relations("officeDocument", main), **parts}
    return _archive({name: _XML + part for name, part in all_parts.items()})


def _relations(kind: str, *targets: str) -> str:
    related = "".join(
        f'<Relationship Id="rId{number}" Type="{_OFFICE}/{kind}" Target="{target}"/>'
        for number, target in enumerate(targets, 1)
    )
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{related}</Relationships>'


def _archive(parts: dict[str, str | bytes] | dict[str, str]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, part in parts.items():
            archive.writestr(name, part, zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED)
    return file.getvalue()
