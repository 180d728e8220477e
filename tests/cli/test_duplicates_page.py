"""`simdoc-search duplicates --html` writes a page of limited size that is safe whatever the documents contain."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from simdoc_search.cli import duplicates_page
from tests.support.cli import answer, run, words, write

BASE = words(0, 100)
HOSTILE = "</p></main><script>alert(1)</script><img src=x onerror=alert(1)>"
FILES: dict[str, str | bytes] = {
    "base.txt": f"{HOSTILE} {BASE}",
    "copy.txt": f"{HOSTILE} {BASE}",
    "loud.txt": f"{HOSTILE} {BASE}".upper(),
    "near <b>&.txt": f"{HOSTILE} {words(0, 97)}",
    "nearer.txt": f"{HOSTILE} {words(0, 99)}",
    "other.txt": words(900, 950),
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Change to a folder whose subfolder `docs` has duplicates."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "docs", FILES)


def page(*options: str) -> str:
    assert 0 == run("duplicates", "docs", "--html", "page.html", *options).exit_code
    return Path("page.html").read_text("utf-8")


def verdicts(html: str) -> list[tuple[str, str]]:
    """Return name and verdict of each document in the order of the page."""
    return re.findall(r'<bdi class="what">(.*?)</bdi><span class="how">(.*?)</span>', html)


def test_the_page_shows_groups_verdicts_and_pairs() -> None:
    """Only near duplicates show both texts."""
    html = page()

    assert [
        ("docs/base.txt", "kept"), ("docs/copy.txt", "drop: identical"),
        ("docs/loud.txt", "decide: same words; letter case, punctuation or symbols differ in 110 places: "
         "“p” / “P”"),
        ("docs/nearer.txt", "decide: overlap 99.1 %; 1 word removed: “word99”"),
        ("docs/near &lt;b&gt;&amp;.txt", "decide: overlap 97.2 %; 3 words removed: “word97 word98 word99”"),
    ] == verdicts(html)  # fmt: skip
    assert "1 group, 4 duplicates: 1 to drop, 3 to decide" in html
    assert "1 identical, 1 with the same words, 2 near" in html
    assert 2 == html.count('<details class="hit"><summary') == html.count('<article class="pair"')
    assert "not shown" not in html


def test_documents_add_no_element_or_attribute() -> None:
    html = page()

    assert 1 == html.count("<script>") == html.count("<style>")
    assert "default-src 'none'" in html
    assert [] == re.findall(r"<img|<b>|\sonerror=[^&]*>|\sstyle=|(?:src|href)=\"(?!#)", html.partition("<body>")[2])


def test_without_texts_the_page_has_groups_only() -> None:
    html = page("--estimate")

    assert 5 == len(verdicts(html))
    assert "overlaps are estimated" in html
    assert '<article class="pair"' not in html
    assert "side by side" not in html


def test_the_size_of_the_page_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """The page says how much it leaves out. It prefers smaller pairs to larger ones."""
    write(Path("docs"), {f"{at}{copy}.txt": words(at, at + 60) for at in (200, 400) for copy in "ab"})
    html = page("--size", "1")
    assert 1 == html.count('<section class="group"')
    assert "2 groups that free the least space are not shown" in html

    monkeypatch.setattr(
        duplicates_page, "_MAX_TOTAL_CHARACTERS", len(str(FILES["base.txt"]) + str(FILES["near <b>&.txt"]))
    )
    html = page()
    (opened,) = re.findall(r"<summary class=\"row\">.*?</summary>", html)
    assert "near &lt;b&gt;" in opened
    assert "1 near duplicate is not shown side by side" in html

    monkeypatch.setattr(duplicates_page, "_MAX_MEMBERS", 1)
    html = page()
    assert "… and 3 documents more" in html
    assert "2 near duplicates are not shown side by side" in html


def test_the_page_is_written_with_json() -> None:
    """Stdout has only the JSON."""
    assert 1 == answer("duplicates", "docs", "--html", "page.html")["group_count"]
    assert Path("page.html").exists()
