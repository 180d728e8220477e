"""`simdoc-search passages` about many texts at once, and its page of HTML."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.support import formats
from tests.support.cli import json_lines, output, run, sentence, write
from tests.support.quote import ALL, QUOTE, passages


@pytest.fixture(autouse=True)
def folder(passages_corpus: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the commands run."""
    monkeypatch.chdir(passages_corpus)
    return passages_corpus


# --- many ---


def test_a_folder_is_asked_about_file_by_file() -> None:
    """A bad file costs only itself, and is listed; so is one without words."""
    found = passages("--folder", "essays")

    assert ["essays/one.txt", "essays/sub/three.txt", "essays/two.txt"] == sorted(
        each["query"]["file"] for each in found["results"]
    )
    assert {"essays/one.txt": ALL, "essays/sub/three.txt": ALL, "essays/two.txt": []} == {
        each["query"]["file"]: sorted(hit["id"] for hit in each["hits"]) for each in found["results"]
    }
    assert [("essays/empty.txt", "no words"), ("essays/x.bin", "binary")] == sorted(
        (each["path"], each["reason"]) for each in found["skipped"]
    )
    assert [] == found["problems"]


def test_people_read_the_texts_that_share_passages_and_at_the_end_what_was_skipped() -> None:
    """Those that share nothing are counted alone."""
    result = run("passages", "--folder", "essays")

    assert 0 == result.exit_code
    assert [True, False] == [f"\n{name}\n" in f"\n{result.stdout}" for name in ("essays/one.txt", "essays/two.txt")]
    assert result.stdout.endswith("\n2 of 3 texts share passages, 8 pairs; every shared run of 36 words is found, "
                                  "shorter ones perhaps\n")  # fmt: skip
    assert "  1 no words: essays/empty.txt\n  1 binary: essays/x.bin\n" == result.stderr


def test_the_rows_of_a_table_and_several_files_are_many() -> None:
    """One result each, in their order; `--file` of one text is one."""
    rows = passages("--file", "rows.jsonl")["results"]
    both = passages("--file", "essays/two.txt", "--file", "-", stdin=QUOTE)["results"]

    assert [{"id": None, "file": None, "row": "row 1"}, {"id": None, "file": None, "row": "row 2"}] == [
        each["query"] for each in rows
    ]
    assert [4, 0] == [len(each["hits"]) for each in rows]
    assert [("essays/two.txt", 0), ("-", 4)] == [(each["query"]["file"], len(each["hits"])) for each in both]


def test_a_list_asks_about_documents_and_names_those_that_fail() -> None:
    """The others are answered; the exit code is 1."""
    result = run("passages", "--all-from", "ids.txt", "--json")
    first, second, third = json.loads(result.stdout)["results"]

    assert (1, "Error: 1 query of 3 failed\n") == (result.exit_code, result.stderr)
    assert ["papers/mine.txt", "top.txt"] == [each["query"]["id"] for each in (first, third)]
    assert [3, 0] == [len(each["hits"]) for each in (first, third)]
    assert "nobody" == second["query"]["name"]
    assert "no document 'nobody' in the store" in second["error"]
    assert "\nnobody\nError: no document 'nobody'" in run("passages", "--all-from", "ids.txt").stdout


def test_a_missing_path_is_said_before_anything_is_read() -> None:
    """And an empty folder beside another one at the end."""
    assert "no.txt does not exist; check the path" == sentence(
        run("passages", "--file", "essay.txt", "--file", "no.txt")
    )
    assert "no.txt does not exist; check the path" == sentence(run("passages", "--file", "no.txt"))


def test_an_empty_folder_costs_only_itself(tmp_path: Path) -> None:
    """The other one is read; the exit code is 1."""
    (tmp_path / "none").mkdir()
    result = run("passages", "--folder", tmp_path / "none", "--folder", "essays", "--json")

    assert 1 == result.exit_code
    assert 3 == len(json.loads(result.stdout)["results"])
    assert f"{tmp_path / 'none'}" in result.stderr


def test_a_pdf_is_read_as_index_reads_it(tmp_path: Path) -> None:
    """By the readers of the corpus, in another process; a broken one beside it is listed."""
    write(tmp_path, {"a/one.pdf": formats.pdf(), "a/broken.pdf": b"%PDF-1.4 nothing", "a/z.txt": formats.PARAGRAPHS[1]})
    output("index", "-", "--store", tmp_path / "s", stdin=json_lines({"id": "p", "text": formats.PARAGRAPHS[1]}))
    found = passages("--folder", tmp_path / "a", "--store", tmp_path / "s")

    assert [f"{tmp_path}/a/one.pdf", f"{tmp_path}/a/z.txt"] == [each["query"]["file"] for each in found["results"]]
    assert [["p"], ["p"]] == [[hit["id"] for hit in each["hits"]] for each in found["results"]]
    assert [f"{tmp_path}/a/broken.pdf"] == [each["path"] for each in found["skipped"]]


# --- the page ---


def test_html_is_a_list_with_the_pairs_behind_it(tmp_path: Path) -> None:
    """One page, for one text and for many; each document opens to both texts."""
    one, many = tmp_path / "one.html", tmp_path / "many.html"
    shown = output("passages", "--file", "essay.txt", "--html", one)
    found = passages("--folder", "essays", "--html", many)
    pages = [path.read_text("utf-8") for path in (one, many)]

    assert shown.endswith(f"\npage: {one}\n")
    assert 3 == len(found["results"])
    assert [(4, 4), (8, 8)] == [(page.count('<details class="hit"'), page.count("<article")) for page in pages]
    assert ["Who shares passages with essay.txt", "Shared passages"] == [
        re.findall("<title>(.*?)</title>", page)[0] for page in pages
    ]
    for page in pages:
        names = re.findall(r' id="([^"]+)"', page)

        assert len(names) == len(set(names))


def test_a_page_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    """It names the file."""
    said = sentence(run("passages", "mine", "--html", tmp_path / "none" / "a.html"))

    assert f"cannot write {tmp_path}/none/a.html: No such file or directory; check the folder" == said


def test_a_page_without_hits_says_so(tmp_path: Path) -> None:
    """And one of a store without texts has no pair behind its list."""
    output("passages", "top", "--html", tmp_path / "a.html")
    output("passages", "--text", QUOTE, "--store", "textless", "--html", tmp_path / "b.html")

    assert "nothing found" in (tmp_path / "a.html").read_text("utf-8")
    assert "estimated, as a text is not stored" in (tmp_path / "b.html").read_text("utf-8")
    assert "<article" not in (tmp_path / "b.html").read_text("utf-8")


def test_hostile_texts_and_names_are_harmless_everywhere(tmp_path: Path) -> None:
    """In the terminal, in JSON and on the page."""
    hostile = "</script></details><script>\x1b[31m\u202e"
    write(tmp_path, {"a.txt": f"{hostile} {QUOTE} {hostile}"})
    rows = json_lines({"id": f"<b>{hostile}", "text": f"{hostile} {QUOTE} {hostile}"})
    output("index", "-", "--store", tmp_path / "s", stdin=rows)
    arguments = ("passages", "--file", tmp_path / "a.txt", "--store", tmp_path / "s")
    shown = output(*arguments, "--html", tmp_path / "c.html") + output(*arguments, "--json")
    page = (tmp_path / "c.html").read_text("utf-8")

    assert not {"\x1b", "\u202e"} & set(shown + page)
    assert (1, 1, 0) == (page.count("<script"), page.count("</details>\n</main>"), page.count("<b>"))
