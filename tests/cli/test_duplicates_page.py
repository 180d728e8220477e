"""`simdoc-search duplicates --html`: one page of all groups, bounded, and harmless whatever the documents say."""

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
    """The folder in which the command runs, with duplicates in it."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "docs", FILES)


def page(*options: str) -> str:
    """The page of the command."""
    assert 0 == run("duplicates", "docs", "--html", "page.html", *options).exit_code
    return Path("page.html").read_text("utf-8")


def shown(html: str) -> list[tuple[str, str]]:
    """Name and kind of each document, in order."""
    return re.findall(r'<bdi class="what">(.*?)</bdi><span class="how">(.*?)</span>', html)


def bars(html: str) -> dict[str, int]:
    """What each bar of the histogram says to those who cannot see it."""
    found = re.findall(r'<span class="said">(.*?): ([\d,]+)</span>', html)
    return {meaning: int(count) for meaning, count in found}


def test_the_page_shows_groups_kinds_and_pairs() -> None:
    """The one that stays comes first; each near one opens to both texts, the others do not."""
    html = page()

    assert [
        ("docs/base.txt", "stays"), ("docs/copy.txt", "drop: identical"),
        ("docs/loud.txt", "decide: same words; 110 signs differ: &#39;p&#39; / &#39;P&#39;"),
        ("docs/nearer.txt", "decide: overlap 99.1 %"),
        ("docs/near &lt;b&gt;&amp;.txt", "decide: overlap 97.2 %"),
    ] == shown(html)  # fmt: skip
    assert "1 group, 4 duplicates: 1 to drop, 3 to decide" in html
    assert "1 identical, 1 with the same words, 2 near" in html
    assert 2 == html.count('<details class="hit"><summary') == html.count('<article class="pair"')
    assert {"97 to 98 %": 1, "99 to 100 %": 1} == {label: count for label, count in bars(html).items() if count}
    assert 20 == len(bars(html))
    assert "not shown" not in html


def test_what_documents_say_does_nothing() -> None:
    """No element or attribute of theirs; one script, that of the policy; nothing is loaded."""
    html = page()

    assert 1 == html.count("<script>") == html.count("<style>")
    assert "default-src 'none'" in html
    assert [] == re.findall(r"<img|<b>|\sonerror=[^&]*>|\sstyle=|(?:src|href)=\"(?!#)", html.partition("<body>")[2])


def test_without_texts_there_are_groups_only() -> None:
    """Overlaps are estimated, which is said."""
    html = page("--estimate")

    assert 5 == len(shown(html))
    assert "overlaps are estimated" in html
    assert '<article class="pair"' not in html
    assert "side by side" not in html


def test_the_page_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer pairs, documents and groups are shown than there are, and it is said how many are not."""
    write(Path("docs"), {f"{at}{copy}.txt": words(at, at + 60) for at in (200, 400) for copy in "ab"})
    html = page("--limit", "1")

    assert 1 == html.count('<section class="group"')
    assert "2 more groups not shown" in html

    monkeypatch.setattr(duplicates_page, "_PAIRS_OF_GROUP", 1)
    html = page()
    assert (3, 1) == (html.count('<section class="group"'), html.count('<article class="pair"'))
    assert "1 near one not shown side by side" in html

    monkeypatch.setattr(duplicates_page, "_MOST_MEMBERS", 1)
    html = page()
    assert "… and 3 documents more" in html
    assert "2 near ones not shown side by side" in html


def test_large_pairs_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Smaller ones are shown in their stead."""
    near = len(str(FILES["base.txt"])) + len(str(FILES["near <b>&.txt"]))
    monkeypatch.setattr(duplicates_page, "_MOST_CHARACTERS", near)
    html = page()
    (opened,) = re.findall(r"<summary class=\"row\">.*?</summary>", html)

    assert "near &lt;b&gt;" in opened
    assert "1 near one not shown side by side" in html


def test_without_duplicates_the_page_says_so() -> None:
    """No histogram of nothing."""
    html = page("--filter", "path=other")

    assert "no duplicates among 1 document" in html
    assert 'class="histogram"' not in html


@pytest.mark.parametrize(("overlap", "count"), [("1", 20), ("50", 10), ("60", 20), ("95", 5), ("99.5", 1), ("100", 1)])
def test_the_histogram_reaches_from_the_least_overlap_to_all(overlap: str, count: int) -> None:
    """In at most 20 bars; every near one counts once."""
    html = page("--overlap", overlap)
    (cluster,) = answer("duplicates", "--overlap", overlap)["clusters"]
    near = sum(each["kind"] == "near" for each in cluster["duplicates"])

    assert (count if near else 0) == len(bars(html))
    assert near == sum(bars(html).values())


def test_a_page_that_cannot_be_written_is_one_sentence() -> None:
    """With the reason."""
    done = run("duplicates", "docs", "--html", "nowhere/page.html")

    assert 1 == done.exit_code
    assert "Error: nowhere/page.html cannot be written: no such file or directory\n" == done.stderr


def test_the_page_goes_with_json() -> None:
    """Stdout is the JSON alone."""
    found = answer("duplicates", "docs", "--html", "page.html")

    assert 1 == found["groups"]
    assert Path("page.html").exists()
