"""The list of documents, their original files, and the files that were skipped."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from simdoc_search import Document, SimilaritySearch, open_store
from simdoc_search.web import LocalAccess, documents
from tests.support.cli import output, words, write
from tests.support.folders import posix_only
from tests.support.web import BROWSER, Pages, pages_over

FILES: dict[str, str | bytes] = {
    "Plan 2023-01-05.txt": words(0, 60),
    "reports/plan 2024-02-29.txt": words(100, 160),
    "reports/old/page.html": f"<script>alert(1)</script><p>{words(200, 260)}</p>",
    "reports/picture.png": b"\x89PNG\r\n\x1a\n" + bytes(99),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with documents and a picture, and its store."""
    folder = tmp_path_factory.mktemp("documents")
    write(folder / "corpus", FILES)
    for number, name in enumerate(FILES):
        os.utime(folder / "corpus" / name, (1_600_000_000 + number, 1_600_000_000 + number))
    output("index", folder / "corpus", "--store", folder / "store")
    return folder


@pytest.fixture(scope="module")
def pages(folder: Path) -> Iterator[Pages]:
    """A server for this computer."""
    with pages_over(folder / "store", local=LocalAccess(str(folder / "store"))) as running:
        yield running


def listed(pages: Pages, **values: Any) -> list[str]:
    """The ids of the listed documents."""
    return [document["id"] for document in pages.json("/documents", **values)["documents"]]


# --- the list ---


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({}, ["Plan 2023-01-05.txt", "reports/old/page.html", "reports/plan 2024-02-29.txt"]),
        ({"name": "PLAN"}, ["Plan 2023-01-05.txt", "reports/plan 2024-02-29.txt"]),
        ({"folder": "reports/"}, ["reports/old/page.html", "reports/plan 2024-02-29.txt"]),
        ({"folder": "reports/", "name": "plan"}, ["reports/plan 2024-02-29.txt"]),
        ({"from": "2023-01-06"}, ["reports/plan 2024-02-29.txt"]),
        ({"to": "2023-01-05"}, ["Plan 2023-01-05.txt", "reports/old/page.html"]),
        ({"from": "2023-01-05", "to": "2023-01-05"}, ["Plan 2023-01-05.txt"]),
        ({"sort": "date", "size": 2}, ["reports/plan 2024-02-29.txt", "Plan 2023-01-05.txt"]),
        ({"size": 1, "offset": 1}, ["reports/old/page.html"]),
        ({"name": "nothing"}, []),
    ],
    ids=str,
)
def test_documents_are_listed_by_name_folder_and_date(
    pages: Pages, values: dict[str, Any], expected: list[str]
) -> None:
    """Letter case does not matter. Dates come from names, otherwise from files."""
    assert expected == listed(pages, **values)


def test_the_pages_lead_to_all_documents(pages: Pages) -> None:
    """`next` is the offset of the next page."""
    found: list[str] = []
    offset: int | None = 0
    while offset is not None:
        part = pages.json("/documents", size=2, offset=offset)
        found, offset = found + [document["id"] for document in part["documents"]], part["next"]

    assert listed(pages) == found
    assert 3 == part["total"]
    assert "Next documents" in pages.html("/documents", size=2)


def test_folders_are_links(pages: Pages) -> None:
    """Each has the number of its documents."""
    text = re.sub(r"<[^>]*>|\s+", " ", pages.html("/documents"))
    below = re.sub(r"<[^>]*>|\s+", " ", pages.html("/documents", folder="reports/"))

    assert re.search(r"reports/\s+2 ", text)
    assert re.search(r"old/\s+1 ", below)


@pytest.mark.parametrize(
    "values", [{"from": "2024-02-30"}, {"to": "yesterday"}, {"from": "٢٠٢٤-٠١-٠١"}, {"sort": "path"}]
)
def test_a_wrong_filter_is_reported(pages: Pages, values: dict[str, str]) -> None:
    """The message says what to write."""
    assert "must be" in pages.json("/documents", 400, **values)["error"]


def test_documents_without_a_date_are_counted() -> None:
    """They are only left out if there is a filter for dates."""
    store = open_store(":memory:")
    SimilaritySearch(store).index([Document("a", words(0, 50)), Document("b", words(0, 50), {"date": "2024-05"})])
    with pages_over(store) as running:
        assert ["a", "b"] == listed(running)
        assert ["b"] == listed(running, **{"from": "2024-05-20"})
        assert "1 document has no date" in running.client.get("/documents?from=2024-05-20", headers=BROWSER).text


def test_a_large_store_is_listed_in_its_own_order(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is sorted, and the total is not known."""
    monkeypatch.setattr(documents, "MAX_SORTED_DOCUMENTS", 2)
    with pages_over(folder / "store") as running:
        first, second = running.json("/documents", size=2), running.json("/documents", size=2, offset=2)

        assert (None, 2, None) == (first["total"], first["next"], second["next"])
        assert set(FILES) - {"reports/picture.png"} == {d["id"] for d in first["documents"] + second["documents"]}
        assert "in the order of the index" in running.html("/documents")


# --- original files ---


def test_a_text_file_is_shown_and_others_are_saved(pages: Pages, folder: Path) -> None:
    """A page in the collection does not run as a page of this server."""
    text = pages.client.get("/file", params={"id": "reports/plan 2024-02-29.txt"})
    page = pages.client.get("/file", params={"id": "reports/old/page.html"})

    assert (folder / "corpus" / "reports/plan 2024-02-29.txt").read_bytes() == text.content
    assert text.headers["content-type"].startswith("text/plain")
    assert "inline; filename*=UTF-8''plan%202024-02-29.txt" == text.headers["content-disposition"]
    assert FILES["reports/old/page.html"] == page.text
    assert "attachment; filename*=UTF-8''page.html" == page.headers["content-disposition"]
    assert "nosniff" == page.headers["x-content-type-options"]
    assert "/file?id=reports%2Fold%2Fpage.html" in pages.html("/document", id="page.html")


def test_only_files_of_the_index_are_sent(pages: Pages, folder: Path) -> None:
    """A path is not an id."""
    for id in ("reports/picture.png", "../store", str(folder / "corpus" / "reports/picture.png"), "nothing"):
        assert pages.client.get("/file.json", params={"id": id}).status_code in (400, 404)


def test_other_computers_get_no_files(pages: Pages, folder: Path) -> None:
    """Neither through a proxy, nor from a server that is not local."""
    values = {"id": "reports/old/page.html"}
    assert 403 == pages.client.get("/file", params=values, headers={"x-forwarded-for": "10.0.0.7"}).status_code
    with pages_over(folder / "store") as running:
        for path in ("/file", "/documents/skipped"):
            assert 403 == running.client.get(path, params=values).status_code
        assert 403 == running.client.post("/documents/skipped", headers=BROWSER).status_code
        assert "/file?" not in running.html("/documents") + running.html("/document", id=values["id"])


@posix_only
def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    """Neither a link in place of the file, nor one in place of its folder. A pipe and a missing file are not read."""
    write(tmp_path / "corpus", {"a/x.txt": words(0, 50), "b.txt": words(50, 99), "c.txt": words(99, 150)})
    output("index", tmp_path / "corpus", "--store", tmp_path / "store")
    write(tmp_path / "secret", {"x.txt": "secret"})
    for path in ("a/x.txt", "b.txt", "c.txt"):
        (tmp_path / "corpus" / path).unlink()
    (tmp_path / "corpus/a").rmdir()
    (tmp_path / "corpus/a").symlink_to(tmp_path / "secret")
    (tmp_path / "corpus/b.txt").symlink_to(tmp_path / "secret/x.txt")
    os.mkfifo(tmp_path / "corpus/c.txt")
    with pages_over(tmp_path / "store", local=LocalAccess(str(tmp_path / "store"))) as running:
        for id in ("a/x.txt", "b.txt", "c.txt"):
            response = running.client.get("/file.json", params={"id": id})
            assert (404, False) == (response.status_code, "secret" in response.text)


def test_a_document_without_a_file_says_so() -> None:
    """There is no link to a file."""
    store = open_store(":memory:")
    SimilaritySearch(store).index([Document("a", words(0, 50))])
    with pages_over(store, local=LocalAccess(":memory:")) as running:
        assert "was not read from a file" in running.json("/file", 404, id="a")["error"]
        assert "/file?" not in running.html("/documents") + running.html("/document", id="a")


# --- skipped files ---


def test_skipped_files_are_listed_with_the_reasons(folder: Path, pages: Pages) -> None:
    """New files are listed too. The search writes nothing."""
    write(
        folder / "corpus",
        {"new.txt": words(300, 350), "broken.pdf": b"%PDF-1.4 broken", ".hidden.txt": "x", "empty.txt": ""},
    )
    assert "none" == pages.json("/documents/skipped")["state"]
    pages.sent("/documents/skipped", 202)
    found = pages.finished("/documents/skipped")
    reasons = {file.partition(" (")[0]: group["reason"] for group in found["groups"] for file in group["files"]}
    html = pages.html("/documents/skipped")

    assert ["new.txt"] == found["readable"]
    assert {
        "broken.pdf": "damaged",
        ".hidden.txt": "hidden",
        "reports/picture.png": "an image",
        "empty.txt": "no words",
    } == reasons
    assert 8 == found["file_count"]
    assert all(text in html for text in ("new.txt", "broken.pdf", "reports/picture.png", "1 file: hidden", "1 image<"))
    assert f"run: <code>simdoc-search index {folder / 'corpus'} --store {folder / 'store'}</code>" in html
    assert "new.txt" not in listed(pages)


def test_an_answer_says_that_skipped_files_were_not_searched(folder: Path, pages: Pages) -> None:
    """The page is also printed as a report. The list of files is read once, not for each request."""
    count, name = "1 file was skipped and not searched", "reports/picture.png, an image"
    html = pages.html("/passages", id="Plan 2023-01-05.txt")
    with pages_over(folder / "store") as remote:
        other = remote.html("/passages", id="Plan 2023-01-05.txt")
        (folder / "store/skipped.json").unlink()
        again = remote.html("/passages", id="Plan 2023-01-05.txt")

    assert f"<summary>{count}</summary>" in html
    assert f'<p>{name}. <a href="/documents/skipped">' in html
    assert f'<p class="printed">{count}: {name}.</p>' in html
    assert f"<p>{name}.</p>" in other
    assert f"<p>{name}.</p>" in again


# --- e-mails ---


def test_the_comparison_of_mails_names_their_attachments() -> None:
    with open_store(":memory:", create=True) as store:
        text = words(0, 60)
        mails = [Document("a.eml", text, {"attachments": ["<b>.pdf", "c.txt"]}), Document("b.eml", text)]
        SimilaritySearch(store).index([*mails, Document("c.eml", text)])
        with pages_over(store) as pages:
            html = pages.html("/compare", a="a.eml", b="b.eml")
            other = pages.html("/compare", a="c.eml", b="b.eml")

    assert "The attachments of a.eml were not compared: &lt;b&gt;.pdf, c.txt." in html
    assert "attachments" not in other
