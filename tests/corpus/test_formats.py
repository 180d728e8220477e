"""PDF, office, e-book and e-mail files become text; what gives none says why, and costs nothing but itself."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from simdoc_search import SimilaritySearch, open_store
from simdoc_search.analysis.words import words
from simdoc_search.corpus import Document, FileSource, Skipped, find_files, read_corpus, read_text
from simdoc_search.corpus.file_reader import load
from tests.support import cli, formats
from tests.support.formats import MAKERS, PARAGRAPHS
from tests.support.often import first

WHOLE = list(words(" ".join(PARAGRAPHS)))
INSTALL = "pip install 'simdoc-search[documents]'"

# In place of the real library; what a broken or hostile file may do to it cannot be made with a real one at will.
BROKEN_LIBRARY = """
import os, signal, time, types

def detect_mime_type(data): return "application/pdf"
def detect_mime_type_from_path(path): return "application/pdf"
def ExtractionConfig(**options): return None
def PageConfig(**options): return None
def extract_bytes_sync(data, mime_type, config):
    if b"crash" in data: os.kill(os.getpid(), signal.SIGKILL)
    if b"hang" in data: time.sleep(3600)
    return types.SimpleNamespace(content=data.decode().removeprefix("%PDF-"))
"""

RTF_DATES = (
    rb"{\creatim\yr2021\mo3\dy12\hr10\min15}"
    rb"{\revtim\yr2022\mo4\dy13\hr11\min16}"
)

MISSING_LIBRARY = "raise ModuleNotFoundError(f'No module named {__name__!r}', name=__name__)"


def result(folder: Path, name: str, data: bytes) -> Document | Skipped:
    """What a file with this name and content gives."""
    (source,) = find_files([cli.write(folder, {name: data}) / name])
    assert isinstance(source, FileSource)
    return load(source)


def reason(folder: Path, name: str, data: bytes) -> str:
    """Why a file with this name and content gives no document."""
    found = result(folder, name, data)
    assert isinstance(found, Skipped), found
    assert str(folder / name) == found.path
    return found.reason


def in_order(expected: list[str], text: str) -> list[str]:
    """Those of the expected words that the text has, one after the other; others may stand between."""
    rest = iter(words(text))
    return [word for word in expected if word in rest]


@pytest.mark.parametrize("ending", sorted(MAKERS))
def test_a_document_of_each_format_gives_its_words(tmp_path: Path, ending: str) -> None:
    """All words of a document are found, in their order; of others, such as a title or a sender, there are few."""
    (tmp_path / f"file{ending}").write_bytes(MAKERS[ending]())
    text = read_text(tmp_path / f"file{ending}")

    assert WHOLE == in_order(WHOLE, text)
    assert len(WHOLE) + 20 >= len(list(words(text)))


def test_the_dates_and_the_title_in_its_properties_are_kept(tmp_path: Path) -> None:
    """As it writes them; of one that has none there are none."""
    dated = result(tmp_path, "a.rtf", formats.rtf().replace(b"{\\fonttbl", b"{\\info" + RTF_DATES + b"}{\\fonttbl"))
    mail, undated = result(tmp_path, "b.eml", formats.eml()), result(tmp_path, "c.rtf", formats.rtf())

    assert isinstance(dated, Document)
    assert isinstance(mail, Document)
    assert isinstance(undated, Document)
    assert {"created_at": "2021-03-12T10:15:00Z", "modified_at": "2022-04-13T11:16:00Z"} == dated.metadata
    assert {"title": "Harbour", "created_at": "Mon, 03 Feb 2020 10:00:00 +0000"} == mail.metadata
    assert {} == undated.metadata


@pytest.mark.parametrize("ending", first(4, sorted(MAKERS)))
def test_the_ending_is_read_in_either_case(tmp_path: Path, ending: str) -> None:
    """`.PDF` is `.pdf`."""
    (tmp_path / f"file{ending.upper()}").write_bytes(MAKERS[ending]())

    assert WHOLE == in_order(WHOLE, read_text(tmp_path / f"file{ending.upper()}"))


def test_formats_do_not_matter_to_similarity(tmp_path: Path) -> None:
    """The same text in eight formats and as plain text is nine documents that overlap each other nearly whole."""
    pytest.importorskip("kreuzberg")
    files = {f"file{ending}": make() for ending, make in MAKERS.items()}
    cli.write(tmp_path, {**files, "plain.txt": "\n".join(PARAGRAPHS), "other.txt": cli.words(0, 114)})
    search = SimilaritySearch(open_store(":memory:"))
    report = search.index(read_corpus([tmp_path]))
    found = {name: {hit.id for hit in search.similar(name, overlap=0.8).hits} for name in [*files, "plain.txt"]}

    assert (10, []) == (report.indexed, report.skipped)
    assert {name: {*files, "plain.txt"} - {name} for name in found} == found


@pytest.mark.parametrize(
    ("name", "ending"),
    [
        ("word.doc", ".docx"),
        ("sheet.xls", ".xlsx"),
        ("slides.ppt", ".pptx"),
        ("rich.doc", ".rtf"),
        ("word.odt", ".docx"),
        ("open.docx", ".odt"),
        ("print.docx", ".pdf"),
        ("word.pdf", ".docx"),
        ("report", ".pdf"),
        ("report.txt", ".pdf"),
        ("report.2023", ".rtf"),
    ],
)
def test_content_counts_more_than_the_ending(tmp_path: Path, name: str, ending: str) -> None:
    """A document with the ending of another format is read as what it is; PDF and RTF with any ending, or none."""
    (tmp_path / name).write_bytes(MAKERS[ending]())

    assert WHOLE == in_order(WHOLE, read_text(tmp_path / name))


def test_an_archive_without_an_ending_is_binary(tmp_path: Path) -> None:
    """A zipped format whose ending does not say so is no document: any archive begins like it."""
    assert "binary" == reason(tmp_path, "word", formats.docx())


def test_an_encrypted_open_document_is_said_to_be(tmp_path: Path) -> None:
    """Whether an OpenDocument file is encrypted is in its manifest."""
    assert "encrypted" == reason(tmp_path, "a.odt", formats.odt(encrypted=True))


@pytest.mark.parametrize("name", ["a.docx", "a.docm", "a.pptx", "a.xlsx"])
def test_an_encrypted_office_document_is_said_to_be(tmp_path: Path, name: str) -> None:
    """An OLE container in place of the zip archive is how Office encrypts."""
    assert "encrypted" == reason(tmp_path, name, formats.OLE_MAGIC + bytes(600))


@pytest.mark.parametrize("ending", [".docx", ".epub", ".odp", ".ods", ".odt", ".pdf", ".pptx", ".xlsx", ".doc", ".msg"])
@pytest.mark.parametrize("data", [b"", b"no archive, and no such document"])
def test_what_is_not_of_its_format_is_damaged(tmp_path: Path, ending: str, data: bytes) -> None:
    """A file that is something else entirely is damaged; what its reader said follows, short and on one line."""
    said = reason(tmp_path, f"a{ending}", data)

    assert re.fullmatch(r"damaged: [^\n]{1,120}", said)


@pytest.mark.parametrize("ending", [".docx", ".epub", ".odt", ".pptx", ".xlsx"])
def test_a_truncated_archive_is_damaged(tmp_path: Path, ending: str) -> None:
    """Without its end, which lists what is in it, an archive cannot be read."""
    data = MAKERS[ending]()

    assert reason(tmp_path, f"a{ending}", data[: len(data) // 2]).startswith("damaged: ")


def test_a_pdf_cut_before_its_text_is_damaged(tmp_path: Path) -> None:
    """Half a page is none."""
    data = formats.pdf()

    assert reason(tmp_path, "a.pdf", data[: data.index(b"Tj")]).startswith("damaged: ")


def test_a_pdf_cut_after_its_text_is_read(tmp_path: Path) -> None:
    """A PDF that does not say any more where its table of objects is, is mended."""
    data = formats.pdf()
    found = result(tmp_path, "a.pdf", data[: data.index(b"startxref")])

    assert isinstance(found, Document)
    assert WHOLE == in_order(WHOLE, found.text)


@pytest.mark.parametrize(
    "pages",
    [("alone",), ("one", "two", "three"), ("", "after a cover"), ("first", "", "third"), ("12", "7"), ("last", "")],
)
def test_a_form_feed_stands_between_two_pages_of_a_pdf(tmp_path: Path, pages: tuple[str, ...]) -> None:
    """Of pages without text too, wherever they are: counting form feeds gives the page of a place."""
    found = result(tmp_path, "a.pdf", formats.pdf_of_pages(*pages))

    assert isinstance(found, Document)
    assert "\f".join(pages) == found.text


def test_a_pdf_without_text_may_be_scanned(tmp_path: Path) -> None:
    """Pictures of pages are not read; that it may be a scan is said."""
    assert "no text (scanned?)" == reason(tmp_path, "a.pdf", formats.pdf(()))
    assert "no text (scanned?)" == reason(tmp_path, "b.pdf", formats.pdf_of_pages("", ""))


def test_a_rich_text_without_text_has_none(tmp_path: Path) -> None:
    """What is no PDF is not called scanned."""
    assert "no text" == reason(tmp_path, "a.rtf", b"{\\rtf1\\ansi }")


def test_a_damaged_document_costs_only_itself(tmp_path: Path) -> None:
    """The others of its folder are indexed."""
    pytest.importorskip("kreuzberg")
    cli.write(tmp_path, {"a.docx": formats.docx(), "b.docx": formats.docx()[:300], "c.pdf": formats.pdf()})
    report = SimilaritySearch(open_store(":memory:")).index(read_corpus([tmp_path]))

    assert (2, [str(tmp_path / "b.docx")]) == (report.indexed, [each.path for each in report.skipped])


def test_without_the_extra_documents_are_listed_with_the_line_that_installs_it(tmp_path: Path) -> None:
    """Where kreuzberg is not installed, texts are indexed, and documents are listed by what they need."""
    cli.write(tmp_path / "hidden", {"kreuzberg.py": MISSING_LIBRARY, "pyarrow.py": MISSING_LIBRARY})
    corpus = tmp_path / "corpus"
    cli.write(corpus, {"a.docx": formats.docx(), "b.pdf": formats.pdf(), "c.txt": cli.words(0, 20), "d": formats.pdf()})
    ran = cli.process("index", "corpus", cwd=tmp_path, PYTHONPATH=str(tmp_path / "hidden"))
    needs = "needs an optional part: " + INSTALL

    assert (0, "1 indexed, 0 unchanged, 3 skipped") == (ran.returncode, ran.stdout.partition(" in ")[0])
    assert [
        f"  1 the format .docx {needs}: corpus/a.docx",
        f"  2 the format .pdf {needs}: corpus/b.pdf, corpus/d",
    ] == sorted(ran.stderr.splitlines())


def indexed_by_broken_library(
    folder: Path, files: dict[str, str | bytes], workers: int = 2
) -> tuple[int, dict[str, str]]:
    """How many files are indexed by workers whose kreuzberg crashes and hangs, and the reasons of the others."""
    cli.write(folder / "broken", {"kreuzberg.py": BROKEN_LIBRARY})
    cli.write(folder / "corpus", files)
    options = ("--workers", workers, "--file-timeout", 2, "--json")
    ran = cli.process("index", "corpus", *options, cwd=folder, PYTHONPATH=str(folder / "broken"))
    assert 0 == ran.returncode, ran.stderr
    report = json.loads(ran.stdout)
    return report["indexed"], {Path(each["path"]).name: each["reason"] for each in report["skipped"]}


CRASHED = "ended unexpectedly (exit code -9)"
HUNG = "took longer than 2 s to read"


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_a_file_that_crashes_or_hangs_its_reader_costs_only_itself(workers: int, tmp_path: Path) -> None:
    """Among others, each such file is named with what it did, and all others are indexed; by one worker too."""
    files: dict[str, str | bytes] = {f"{number}.pdf": f"%PDF-{cli.words(number, number + 20)}" for number in range(5)}
    bad: dict[str, str | bytes] = {"1a.pdf": "%PDF-crash", "2a.pdf": "%PDF-hang", "3a.pdf": "%PDF-crash"}

    assert (5, {"1a.pdf": CRASHED, "2a.pdf": HUNG, "3a.pdf": CRASHED}) == indexed_by_broken_library(
        tmp_path, {**files, **bad}, workers
    )


@pytest.mark.slow
def test_a_single_file_that_crashes_its_reader_does_not_end_the_run(tmp_path: Path) -> None:
    """Even one document alone is read by a process of its own."""
    assert (0, {"a.pdf": CRASHED}) == indexed_by_broken_library(tmp_path, {"a.pdf": "%PDF-crash"})


@pytest.mark.slow
def test_a_document_known_by_its_content_may_crash_its_reader_too(tmp_path: Path) -> None:
    """A PDF without an ending, among few files, is as risky as one with it."""
    files: dict[str, str | bytes] = {"a.txt": cli.words(0, 20), "report": "%PDF-crash"}

    assert (1, {"report": CRASHED}) == indexed_by_broken_library(tmp_path, files)
