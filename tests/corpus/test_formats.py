"""PDF, office, e-book and e-mail files become text. A file without a text is listed with the reason."""

from __future__ import annotations

import io
import json
import re
import zipfile
from pathlib import Path

import pytest

from simdoc_search import SimilaritySearch, open_store
from simdoc_search.analysis.words import words
from simdoc_search.corpus import Document, FileSource, SkippedFile, find_files, read_corpus
from simdoc_search.corpus.file_reader import read_bytes, read_in_process
from simdoc_search.errors import CorpusError
from tests.support import cli, formats
from tests.support.formats import MAKERS, PARAGRAPHS

WORDS = list(words(" ".join(PARAGRAPHS)))
INSTALL = "pip install 'simdoc-search[documents]'"

# Replaces kreuzberg, because no real file crashes or hangs every version of it.
BROKEN_LIBRARY = """
import os, signal, time, types

def detect_mime_type(data): return "application/pdf"
def detect_mime_type_from_path(path): return "application/pdf"
def ExtractionConfig(**options): return None
def PageConfig(**options): return None
def extract_bytes_sync(data, mime_type, config):
    if b"crash" in data: os.kill(os.getpid(), signal.SIGKILL)
    if b"hang" in data: time.sleep(3600)
    return types.SimpleNamespace(pages=[{"content": data.decode().removeprefix("%PDF-")}])
"""
MISSING_LIBRARY = "raise ModuleNotFoundError(f'No module named {__name__!r}', name=__name__)"

RTF_DATES = rb"{\creatim\yr2021\mo3\dy12\hr10\min15}{\revtim\yr2022\mo4\dy13\hr11\min16}"


def read(folder: Path, name: str, data: bytes) -> Document | SkippedFile:
    """Read a file with this name and content."""
    (source,) = find_files([cli.write(folder, {name: data}) / name])
    assert isinstance(source, FileSource)
    return read_in_process(source)


def to_document(folder: Path, name: str, data: bytes) -> Document:
    """Return the document of a file with this name and content."""
    document = read(folder, name, data)
    assert isinstance(document, Document), document
    return document


def reason_of(folder: Path, name: str, data: bytes) -> str:
    """Return the reason why a file with this name and content is skipped."""
    skipped = read(folder, name, data)
    assert isinstance(skipped, SkippedFile), skipped
    assert str(folder / name) == skipped.path
    return skipped.reason


def words_in_order(expected: list[str], text: str) -> list[str]:
    """Return the expected words that occur in a text in this order, perhaps with other words between them."""
    rest = iter(words(text))
    return [word for word in expected if word in rest]


@pytest.mark.parametrize("extension", [*sorted(MAKERS), ".PDF", ".DOCX"])
def test_a_document_of_each_format_has_its_words_in_order(tmp_path: Path, extension: str) -> None:
    text = to_document(tmp_path, f"file{extension}", MAKERS[extension.lower()]()).text

    assert WORDS == words_in_order(WORDS, text)
    assert len(WORDS) + 20 >= len(list(words(text)))


def test_title_and_dates_become_metadata(tmp_path: Path) -> None:
    dated = formats.rtf().replace(b"{\\fonttbl", b"{\\info" + RTF_DATES + b"}{\\fonttbl")

    assert {"created_at": "2021-03-12T10:15:00Z", "modified_at": "2022-04-13T11:16:00Z"} == (
        to_document(tmp_path, "a.rtf", dated).metadata
    )
    assert {"title": "Harbour", "created_at": "Mon, 03 Feb 2020 10:00:00 +0000"} == (
        to_document(tmp_path, "b.eml", formats.eml()).metadata
    )
    assert {} == to_document(tmp_path, "c.rtf", formats.rtf()).metadata


def test_the_date_of_the_template_of_python_docx_is_not_a_date_of_the_document(tmp_path: Path) -> None:
    dates = rb"{\creatim\yr2013\mo12\dy23\hr23\min15}{\revtim\yr2022\mo4\dy13\hr11\min16}"
    data = formats.rtf().replace(b"{\\fonttbl", b"{\\info" + dates + b"}{\\fonttbl")

    assert {"modified_at": "2022-04-13T11:16:00Z"} == to_document(tmp_path, "a.rtf", data).metadata


def test_tabs_separate_the_cells_of_a_table_in_an_rtf_file(tmp_path: Path) -> None:
    row = rb"\trowd\cellx1000\cellx2000\cellx3000 %s\cell %s\cell %s\cell\row "
    data = rb"{\rtf1\ansi The books.\par " + row % (b"rent", b"", b"850") + row % (b"books", b"850", b"") + b"}"

    assert "The books.\n\nrent\t\t850\nbooks\t850" == to_document(tmp_path, "a.rtf", data).text.rstrip("\t")


@pytest.mark.parametrize("control_word", [rb"\footnote", rb"\*\footnote"])
def test_a_note_of_an_rtf_file_is_read_without_a_mark(tmp_path: Path, control_word: bytes) -> None:
    data = rb"{\rtf1\ansi One.{" + control_word + rb" {\cs1 \chftn} See {\i above}.} Two.\par Three.\par}"

    assert ["One.", "Two.", "Three.", "See", "above."] == to_document(tmp_path, "a.rtf", data).text.split()


def test_a_hyphen_of_an_rtf_file_that_does_not_break_separates_words(tmp_path: Path) -> None:
    """An underscore after a backslash that is text is an underscore."""
    data = rb"{\rtf1\ansi A\_B, \b\_5, c\\_d\par}"

    assert "A-B, -5, c\\_d" == to_document(tmp_path, "a.rtf", data).text.strip()


def test_the_format_does_not_change_the_similarity(tmp_path: Path) -> None:
    """Only the damaged file is skipped."""
    pytest.importorskip("kreuzberg")
    files = {f"file{extension}": make() for extension, make in MAKERS.items()}
    texts = {"plain.txt": "\n".join(PARAGRAPHS), "other.txt": cli.words(0, 114)}
    cli.write(tmp_path, {**files, **texts, "damaged.docx": formats.docx()[:300]})
    search = SimilaritySearch(open_store(":memory:"))
    report = search.index(read_corpus([tmp_path]))
    hits = {name: {hit.id for hit in search.similar(name, overlap=0.8).hits} for name in [*files, "plain.txt"]}

    assert (len(MAKERS) + 2, [str(tmp_path / "damaged.docx")]) == (
        report.added_count,
        [file.path for file in report.skipped],
    )
    assert {name: {*files, "plain.txt"} - {name} for name in hits} == hits


@pytest.mark.parametrize(
    ("name", "extension"),
    [
        ("word.doc", ".docx"),
        ("sheet.xls", ".xlsx"),
        ("slides.ppt", ".pptx"),
        ("rich.doc", ".rtf"),
        ("word.odt", ".docx"),
        ("print.docx", ".pdf"),
        ("word.pdf", ".docx"),
        ("report", ".pdf"),
        ("report.txt", ".pdf"),
        ("report.2023", ".rtf"),
    ],
)
def test_the_content_takes_precedence_over_the_extension(tmp_path: Path, name: str, extension: str) -> None:
    assert WORDS == words_in_order(WORDS, to_document(tmp_path, name, MAKERS[extension]()).text)


@pytest.mark.parametrize(
    ("name", "extension"),
    [
        ("a.dotx", ".docx"),
        ("a.docm", ".docx"),
        ("a.ott", ".odt"),
        ("a.potx", ".pptx"),
        ("a.ppsx", ".pptx"),
        ("a.xltx", ".xlsx"),
        ("a.xlsm", ".xlsx"),
    ],
)
def test_templates_slide_shows_and_files_with_macros_are_documents(tmp_path: Path, name: str, extension: str) -> None:
    """The content type in the file differs from that of a document. kreuzberg does not look at it."""
    made, data = io.BytesIO(), MAKERS[extension]()
    with zipfile.ZipFile(io.BytesIO(data)) as document, zipfile.ZipFile(made, "w") as template:
        for member in document.namelist():
            content = document.read(member).replace(b"opendocument.text", b"opendocument.text-template")
            template.writestr(
                member, re.sub(rb"(document|sheet|presentation)\.main\+xml", b"template.main+xml", content)
            )

    assert made.getvalue() != data
    assert WORDS == words_in_order(WORDS, to_document(tmp_path, name, made.getvalue()).text)


@pytest.mark.parametrize("name", ["a.doc", "a.xls"])
def test_a_web_page_or_plain_text_with_the_name_of_an_office_file_is_read(tmp_path: Path, name: str) -> None:
    """A file in another format of markup is damaged, because its markup is not text."""
    page = b"\n<HTML><body><table><tr><td>A cell</td><td>&amp; one</td></tr></table></body></HTML>"

    assert ["A", "cell", "&", "one"] == to_document(tmp_path, name, page).text.split()
    assert "Größe\t12\n" == to_document(tmp_path, name, "Größe\t12\n".encode("cp1252")).text
    for data in (b"<?xml version='1.0'?><w:wordDocument/>", b"MIME-Version: 1.0\n\ntext", b"\xdb\xa5\0\0\1\2" * 9):
        assert reason_of(tmp_path, name, data).startswith("damaged: ")


def test_files_of_graphviz_and_gettext_are_text(tmp_path: Path) -> None:
    """Templates of Word 97 and PowerPoint 97 have the same extensions."""
    assert "digraph {}" == to_document(tmp_path, "a.dot", b"digraph {}").text
    assert 'msgid "a"' == to_document(tmp_path, "a.pot", b'msgid "a"').text


def test_a_document_that_is_attached_to_a_pdf_is_not_read_in_place_of_the_pdf(tmp_path: Path) -> None:
    """The end of such a file is that of an archive with trailing bytes."""
    attached = formats.docx(("quite other words",))
    stream = b"9 0 obj\n<< /Length %d >>\nstream\n%b\nendstream\nendobj\n" % (len(attached), attached)
    data = formats.pdf().replace(b"xref", stream + b"xref", 1)

    assert WORDS == words_in_order(WORDS, to_document(tmp_path, "a.pdf", data).text)


def test_an_archive_without_an_extension_is_binary(tmp_path: Path) -> None:
    assert "binary" == reason_of(tmp_path, "word", formats.docx())


@pytest.mark.parametrize("name", ["a.docx", "a.docm", "a.pptx", "a.xlsx", "a.odt"])
def test_an_encrypted_document_is_recognised(tmp_path: Path, name: str) -> None:
    """An encrypted Office file is an OLE container. OpenDocument declares encryption in its manifest."""
    data = formats.odt(encrypted=True) if name == "a.odt" else formats.OLE_MAGIC + bytes(600)

    assert "encrypted" == reason_of(tmp_path, name, data)


@pytest.mark.parametrize("extension", [".docx", ".epub", ".odp", ".odt", ".pdf", ".xlsx", ".msg"])
def test_a_truncated_file_or_one_of_another_format_is_damaged(tmp_path: Path, extension: str) -> None:
    data = MAKERS[extension]() if extension in MAKERS else b""
    cut = data[: data.index(b"Tj")] if extension == ".pdf" else data[: len(data) // 2]

    assert "no text" == reason_of(tmp_path, f"empty{extension}", b"")
    for content in {b"no archive, and no such document", cut} - {b""}:
        assert re.fullmatch(r"damaged: [^\n]{1,120}", reason_of(tmp_path, f"a{extension}", content))


def test_a_pdf_without_its_table_of_objects_is_read(tmp_path: Path) -> None:
    data = formats.pdf()
    document = to_document(tmp_path, "a.pdf", data[: data.index(b"startxref")])

    assert WORDS == words_in_order(WORDS, document.text)


@pytest.mark.parametrize(
    "pages",
    [("alone",), ("one", "two", "three"), ("", "after a cover"), ("first", "", "third"), ("12", "7"), ("last", "")],
)
def test_a_form_feed_separates_the_pages_of_a_pdf(tmp_path: Path, pages: tuple[str, ...]) -> None:
    """Empty pages also end with a form feed, so that the number of form feeds gives the page number."""
    assert "\f".join(pages) == to_document(tmp_path, "a.pdf", formats.pdf_of_pages(*pages)).text


def test_a_document_without_text_is_skipped(tmp_path: Path) -> None:
    assert "no text (scanned?)" == reason_of(tmp_path, "a.pdf", formats.pdf(()))
    assert "no text (scanned?)" == reason_of(tmp_path, "b.pdf", formats.pdf_of_pages("", ""))
    assert "no text" == reason_of(tmp_path, "a.rtf", b"{\\rtf1\\ansi }")


@pytest.mark.slow
def test_without_kreuzberg_documents_are_listed_with_what_to_install(tmp_path: Path) -> None:
    cli.write(tmp_path / "hidden", {"kreuzberg.py": MISSING_LIBRARY, "pyarrow.py": MISSING_LIBRARY})
    corpus = tmp_path / "corpus"
    cli.write(corpus, {"a.rtf": formats.rtf(), "b.pdf": formats.pdf(), "c.txt": cli.words(0, 20), "d": formats.pdf()})
    done = cli.process("index", "corpus", cwd=tmp_path, PYTHONPATH=str(tmp_path / "hidden"))
    assert (0, "1 indexed, 0 unchanged, 3 skipped") == (done.returncode, done.stdout.partition(" in ")[0])
    files = "corpus/a.rtf (.rtf), corpus/b.pdf (.pdf), corpus/d (.pdf)"
    label = "3 without the packages to read them"
    assert f"  {label}: {files}; install the packages with: {INSTALL}\n" == done.stderr


CRASHED = "ended unexpectedly (exit code -9)"
HUNG = "took longer than 2 s to read"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("workers", "bad"),
    [
        (1, {"1a.pdf": ("crash", CRASHED), "2a.pdf": ("hang", HUNG), "report": ("crash", CRASHED)}),
        (2, {"1a.pdf": ("crash", CRASHED), "2a.pdf": ("hang", HUNG), "3a.pdf": ("crash", CRASHED)}),
    ],
)
def test_only_the_file_that_crashes_or_hangs_its_reader_is_skipped(
    workers: int, bad: dict[str, tuple[str, str]], tmp_path: Path
) -> None:
    """A PDF is also risky if it has no extension."""
    files: dict[str, str | bytes] = {f"{number}.pdf": f"%PDF-{cli.words(number, number + 20)}" for number in range(5)}
    cli.write(tmp_path / "broken", {"kreuzberg.py": BROKEN_LIBRARY})
    cli.write(tmp_path / "corpus", {**files, **{name: f"%PDF-{content}" for name, (content, _) in bad.items()}})
    options = ("--workers", workers, "--file-timeout", 2, "--json")
    done = cli.process("index", "corpus", *options, cwd=tmp_path, PYTHONPATH=str(tmp_path / "broken"))
    report = json.loads(done.stdout)

    assert 5 == report["added_count"]
    assert {name: reason for name, (_, reason) in bad.items()} == {
        Path(file["path"]).name: file["reason"] for file in report["skipped"]
    }


@pytest.mark.parametrize("name", ["cut.docx", "page.pdf"])
def test_a_cut_off_file_is_described_in_plain_words(tmp_path: Path, name: str) -> None:
    """The same is said of a web page that was saved as a PDF."""
    pytest.importorskip("kreuzberg")
    data = formats.docx()[:300] if name == "cut.docx" else b"<html>Not found"

    with pytest.raises(CorpusError, match="damaged: not a complete file of this format"):
        read_bytes(name, data)
