"""Pairs of files with equal words that differ otherwise: no plan may drop one of them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

from tests.support.cli import words
from tests.support.formats import docx, pdf, pdf_of_objects, pdf_stream, xlsx

__all__ = ["unlike_pairs"]

_PNG = b"\x89PNG\r\n\x1a\n"


def unlike_pairs() -> dict[str, tuple[bytes, bytes]]:
    """Return the pairs by file name. No two pairs share words."""
    pairs: dict[str, tuple[bytes, bytes]] = {}
    for name, before, after in _TEXTS:
        base = words(100 * len(pairs), 100 * len(pairs) + 60)
        pairs[name] = f"{base} {before} {base}".encode(), f"{base} {after} {base}".encode()
    for name, make in _FILES.items():
        base = words(100 * len(pairs), 100 * len(pairs) + 60)
        pairs[name] = make(base)
    return pairs


_TEXTS = (
    ("statement.txt", "balance -500 euros", "balance 500 euros"),
    ("plus.c", "x = a+b;", "x = a-b;"),
    ("less.c", "if (a<b)", "if (a>b)"),
    ("not.c", "if (!ready)", "if (ready)"),
    ("and.c", "a & b", "a && b"),
    ("pointer.c", "int *p", "int p"),
    ("case.py", "value = Item", "value = item"),
    ("shift.c", "a << b", "a >> b"),
    ("currency.txt", "costs $ 90", "costs € 90"),
    ("share.txt", "5 % of it", "5 ‰ of it"),
    ("unit.txt", "takes 5 mW", "takes 5 MW"),
    ("degree.txt", "at 20° today", "at 20′ today"),
    ("plus_minus.txt", "within +5 mm", "within ±5 mm"),
    ("question.txt", "you agree. So", "you agree? So"),
    ("box.md", "[ ] signed", "[-] signed"),
    ("list.yaml", "- port: 80", "port: 80"),
    ("comment.sh", "# rm all", "rm all"),
    ("quote.csv", 'a,"b c",d', "a,b c,d"),
    ("math.tex", "$a_1 = b^2$", "$a^1 = b_2$"),
    ("strict.js", "a == b", "a === b"),
)
"""File name, and the middle of each text."""


def _with(data: bytes, add: Mapping[str, bytes] | None = None, change: tuple[str, str, str] | None = None) -> bytes:
    """Return an Office file with added members, or with a string in one member replaced."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if change and change[0] == name:
                assert change[1].encode() in content
                content = content.replace(change[1].encode(), change[2].encode())
            new.writestr(name, content)
        for name, content in (add or {}).items():
            new.writestr(name, content)
    return out.getvalue()


def _pictures(base: str) -> tuple[bytes, bytes]:
    one, two = (_with(docx((base,)), {"word/media/image1.png": _PNG + picture}) for picture in (b"cat", b"dog"))
    return one, two


def _comment(base: str) -> tuple[bytes, bytes]:
    text = b'<w:comments xmlns:w="x"><w:comment>do not sign</w:comment></w:comments>'
    return docx((base,)), _with(docx((base,)), {"word/comments.xml": text})


def _tracked(base: str) -> tuple[bytes, bytes]:
    deleted = "<w:p><w:del><w:r><w:delText>void</w:delText></w:r></w:del></w:p></w:body>"
    return docx((base,)), _with(docx((base,)), change=("word/document.xml", "</w:body>", deleted))


def _form(base: str) -> tuple[bytes, bytes]:
    box = "<w:p><w:r><w:fldChar><w:ffData><w:checkBox><w:checked w:val='{}'/></w:checkBox></w:ffData></w:fldChar></w:r>"
    one, two = (
        _with(docx((base,)), change=("word/document.xml", "</w:body>", f"{box.format(value)}</w:p></w:body>"))
        for value in "01"
    )
    return one, two


def _bold(base: str) -> tuple[bytes, bytes]:
    struck = "<w:r><w:rPr><w:strike/></w:rPr><w:t>"
    return docx((base,)), _with(docx((base,)), change=("word/document.xml", "<w:r><w:t>", struck))


def _sheet(base: str) -> tuple[bytes, bytes]:
    hidden = '<sheet name="Sheet1" sheetId="1" state="hidden" r:id="rId1"/>'
    workbook = _with(xlsx(), change=("xl/worksheets/sheet1.xml", "The harbour", base))
    return workbook, _with(
        workbook, change=("xl/workbook.xml", '<sheet name="Sheet1" sheetId="1" r:id="rId1"/>', hidden)
    )


def _image(base: str) -> tuple[bytes, bytes]:
    one, two = (f'<p>{base}</p><img src="{name}.png">'.encode() for name in ("before", "after"))
    return one, two


def _checked(base: str) -> tuple[bytes, bytes]:
    one, two = (f"<p>{base}</p><input type=checkbox{checked}>".encode() for checked in ("", " checked"))
    return one, two


def _scan(base: str) -> tuple[bytes, bytes]:
    plain = pdf((base,))
    return plain, plain + b"% another picture\n"


def _scanned_page(base: str) -> tuple[bytes, bytes]:
    def page(picture: str) -> bytes:
        lines = "".join(f"({base[start : start + 70]}) Tj T*\n" for start in range(0, len(base), 70))
        return pdf_of_objects(
            "<< /Type /Catalog /Pages 2 0 R >>",
            "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R "
            "/Resources << /Font << /F1 5 0 R >> >> >>",
            pdf_stream("", f"BT /F1 11 Tf 14 TL 72 720 Td\n{lines}ET {picture} re f"),
            "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        )

    return page("10 10 20 20"), page("50 50 90 90")


_FILES = {
    "pictures.docx": _pictures,
    "comment.docx": _comment,
    "tracked.docx": _tracked,
    "form.docx": _form,
    "struck.docx": _bold,
    "hidden.xlsx": _sheet,
    "image.html": _image,
    "checked.html": _checked,
    "scan.pdf": _scan,
    "page.pdf": _scanned_page,
}
