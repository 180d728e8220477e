"""The chapters of an e-book are read like HTML pages, in reading order."""

from __future__ import annotations

import io
import zipfile

import pytest

from simdoc_search.corpus.epub import read_epub
from simdoc_search.corpus.extraction import extract_text
from simdoc_search.corpus.formats import determine_format
from simdoc_search.errors import DocumentError
from tests.support import formats

CONTAINER = '<container><rootfiles><rootfile full-path="book/content.opf"/></rootfiles></container>'
PACKAGE = """<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/">
    <metadata><dc:title>Harbour</dc:title><dc:date>2020-01-02</dc:date></metadata>
    <manifest><item id="b" href="b%20c.xhtml" media-type="application/xhtml+xml"/>
        <item id="picture" href="a.png" media-type="image/png"/><item id="a" href="../text/a.xhtml"/>
        <item id="lost" href="lost.xhtml"/><item id="toc" href="toc.xhtml"/></manifest>
    <spine><itemref idref="picture"/><itemref idref="a"/><itemref idref="lost"/><itemref idref="b"/>
        <itemref idref="unknown"/><itemref idref="a"/></spine></package>"""


def book(first: str = "<p>one</p>", **others: str) -> zipfile.ZipFile:
    archive = zipfile.ZipFile(io.BytesIO(), "w")
    files = {"META-INF/container.xml": CONTAINER, "book/content.opf": PACKAGE, "text/a.xhtml": first}
    files |= {"book/b c.xhtml": "<title>Harbour</title><p>two</p>", "book/toc.xhtml": "<p>no</p>", "book/a.png": "no"}
    for name, content in {**files, **others}.items():
        archive.writestr(name, content)
    return archive


def test_chapters_are_read_once_in_reading_order_without_their_titles() -> None:
    assert ("one\n\ntwo", {"title": "Harbour", "created_at": "2020-01-02"}) == read_epub(book())


def test_lists_captions_and_cells_separate_words() -> None:
    chapter = """<dl><dt>term</dt><dd>meaning</dd></dl><figure><img alt="no"/><figcaption>figure</figcaption></figure>
        <table><caption>rents</caption><tr><td>May<br/>2020</td><td><p>850</p></td></tr></table>"""

    assert "term\nmeaning\nfigure\nrents\nMay 2020\t850\n\ntwo" == read_epub(book(chapter))[0]


def test_an_e_book_with_encrypted_chapters_is_encrypted() -> None:
    """Many e-books only have encrypted fonts."""
    files = [f'<encryption><CipherReference URI="{name}"/></encryption>' for name in ("book/b%20c.xhtml", "book/a.otf")]
    protected, with_font = (book(**{"META-INF/encryption.xml": content}) for content in files)

    with pytest.raises(DocumentError, match="encrypted"):
        read_epub(protected)
    assert "one\n\ntwo" == read_epub(with_font)[0]


@pytest.mark.parametrize("name", ["META-INF/container.xml", "book/content.opf"])
def test_an_e_book_without_a_list_of_its_chapters_is_damaged(name: str) -> None:
    broken = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(formats.epub())) as whole, zipfile.ZipFile(broken, "w") as archive:
        for member in whole.namelist():
            archive.writestr(member, "<a>" if member.endswith(name.rpartition("/")[2]) else whole.read(member))

    with pytest.raises(DocumentError, match=r"^damaged: no element found"):
        extract_text(broken.getvalue(), determine_format("a.epub"))
