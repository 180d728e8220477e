"""Makes small files that exhaust the memory or time of their reader, or crash it."""

from __future__ import annotations

import gzip
import io
import zipfile

from tests.support import formats

__all__ = ["deep_pptx", "epub_bomb", "gzip_line", "parquet_bomb", "pdf_that_draws_itself", "xlsx_bomb"]


def deep_pptx() -> bytes:
    """8 kB whose nesting crashes the reader with a segmentation fault."""
    nested = b"<a:x>" * 300_000 + b"</a:x>" * 300_000
    return _changed(formats.pptx(), "ppt/slides/slide1.xml", b"<a:bodyPr/>", nested)


def xlsx_bomb() -> bytes:
    """300 kB that the reader needs more than 600 MB for."""
    row = b'<row><c t="inlineStr"><is><t>' + 45 * b"a" + b"</t></is></c></row>"
    return _changed(formats.xlsx(), "xl/worksheets/sheet1.xml", b"<sheetData>", 1_000_000 * row)


def epub_bomb() -> bytes:
    """500 kB that the reader needs more than 600 MB for."""
    chapter = 150_000 * (b"<p>" + 100 * b"abcdefghi " + b"</p>")
    return _changed(formats.epub(), "chapter.xhtml", b"<body>", chapter)


def pdf_that_draws_itself() -> bytes:
    """A page whose form draws itself twice, so that the reader never ends."""
    return formats.pdf_of_objects(
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R "
        "/Resources << /XObject << /X 5 0 R >> /Font << /F1 6 0 R >> >> >>",
        formats.pdf_stream("", "/X Do"),
        formats.pdf_stream(
            "/Type /XObject /Subtype /Form /BBox [0 0 612 792] "
            "/Resources << /XObject << /X 5 0 R >> /Font << /F1 6 0 R >> >>",
            "BT /F1 11 Tf 14 TL 72 700 Td (some words) Tj ET /X Do /X Do",
        ),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    )


def parquet_bomb() -> bytes:
    """A few kB with 256 rows that share one text of 4 MB."""
    import pyarrow as pa
    from pyarrow import parquet

    texts = pa.DictionaryArray.from_arrays(pa.array([0] * 256), pa.array(["word " * 800_000]))
    table = pa.table({"id": [f"row{number}" for number in range(256)], "text": texts})
    written = io.BytesIO()
    parquet.write_table(table, written, compression="zstd")
    return written.getvalue()


def gzip_line(size: int) -> bytes:
    """A line of this many bytes, compressed with gzip."""
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb") as file:
        for _ in range(size // 1_000_000):
            file.write(b"a" * 1_000_000)
        file.write(b"\n")
    return packed.getvalue()


def _changed(archive: bytes, name: str, after: bytes, inserted: bytes) -> bytes:
    """Insert bytes into one file of an archive."""
    changed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as old, zipfile.ZipFile(changed, "w", zipfile.ZIP_DEFLATED) as new:
        for member in old.namelist():
            data = old.read(member)
            new.writestr(member, data.replace(after, after + inserted) if member == name else data)
    assert name in old.namelist()
    return changed.getvalue()
