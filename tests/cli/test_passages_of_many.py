"""`simdoc-search passages` about many texts at once, and its page of HTML."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.support import formats
from tests.support.cli import json_lines, output, run, sentence, usage_error, write
from tests.support.quote import ALL, QUOTE, passages, prose


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


def test_people_read_one_line_for_each_text_then_the_matches() -> None:
    """The largest share first. What was skipped comes at the end."""
    result = run("passages", "--folder", "essays")
    lines = result.stdout.splitlines()
    blocks = [line for line in lines if " appears in " in line]

    assert 0 == result.exit_code
    assert "   share     words   matches  text" == lines[0]
    assert ["essays/one.txt", "essays/sub/three.txt"] == sorted(line.split()[-1] for line in lines[1:3])
    assert ["0", "%", "0", "0", "essays/two.txt"] == lines[3].split()
    assert [line.split()[-1] for line in lines[1:3]] == [line.split()[3] for line in blocks]
    assert result.stdout.endswith("\n2 of 3 texts share passages: 8 matches.\nEvery shared run of 6 words is found.\n")
    assert "  1 no words: essays/empty.txt\n  1 binary: essays/x.bin\n" == result.stderr


def test_files_are_compared_with_each_other(tmp_path: Path) -> None:
    """Without an index; a file does not find itself."""
    write(tmp_path, {"a.txt": QUOTE, "b/c.txt": f"{QUOTE} {prose(60, 1_000)}", "d.txt": prose(60, 1_001)})
    found = passages("--folder", tmp_path, "--each-other", "--store", tmp_path / "none")
    said = {each["query"]["id"]: [hit["id"] for hit in each["hits"]] for each in found["results"]}

    names = [f"{tmp_path}/{name}" for name in ("a.txt", "b/c.txt", "d.txt")]
    assert {names[0]: [names[1]], names[1]: [names[0]], names[2]: []} == said
    assert {1.0, 0.5, 0.0} == {each["covered"]["share"] for each in found["results"]}
    assert "--each-other needs --folder" in usage_error(run("passages", "mine", "--each-other"))


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
    pytest.importorskip("kreuzberg")
    write(tmp_path, {"a/one.pdf": formats.pdf(), "a/broken.pdf": b"%PDF-1.4 nothing", "a/z.txt": formats.PARAGRAPHS[1]})
    output("index", "-", "--store", tmp_path / "s", stdin=json_lines({"id": "p", "text": formats.PARAGRAPHS[1]}))
    found = passages("--folder", tmp_path / "a", "--store", tmp_path / "s")

    assert [f"{tmp_path}/a/one.pdf", f"{tmp_path}/a/z.txt"] == [each["query"]["file"] for each in found["results"]]
    assert [["p"], ["p"]] == [[hit["id"] for hit in each["hits"]] for each in found["results"]]
    assert [f"{tmp_path}/a/broken.pdf"] == [each["path"] for each in found["skipped"]]


# --- the page ---


def test_html_is_each_text_with_its_sources(tmp_path: Path) -> None:
    """One page, for one text and for many: the text once, and the text of each source behind the list."""
    one, many = tmp_path / "one.html", tmp_path / "many.html"
    shown = output("passages", "--file", "essay.txt", "--html", one)
    found = passages("--folder", "essays", "--html", many)
    pages = [path.read_text("utf-8") for path in (one, many)]

    assert shown.endswith(f"\npage: {one}\n")
    assert 3 == len(found["results"])
    assert [(1, 4), (2, 8)] == [(page.count("<article"), page.count('<section class="from"')) for page in pages]
    assert ["Sources of essay.txt", "Shared passages"] == [
        re.findall("<title>(.*?)</title>", page)[0] for page in pages
    ]
    assert "100 % of essay.txt (360 of 360 words) appears in 4 indexed documents." in pages[0]
    for page in pages:
        names = re.findall(r' id="([^"]+)"', page)
        links = {link for link in re.findall(r' href="#([^"]+)"', page) if "t" not in link}

        assert len(names) == len(set(names))
        assert links <= set(names)


def test_a_page_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    """It names the file."""
    said = sentence(run("passages", "mine", "--html", tmp_path / "none" / "a.html"))

    assert f"cannot write {tmp_path}/none/a.html: No such file or directory; check the folder" == said


def test_a_page_without_hits_says_so(tmp_path: Path) -> None:
    """And one of a store without texts does not show the texts of sources."""
    output("passages", "top", "--html", tmp_path / "a.html")
    output("passages", "--text", QUOTE, "--store", "textless", "--html", tmp_path / "b.html")

    assert "No indexed document shares a passage" in (tmp_path / "a.html").read_text("utf-8")
    assert "estimated, because a text is not stored" in (tmp_path / "b.html").read_text("utf-8")
    assert '<section class="from"' not in (tmp_path / "b.html").read_text("utf-8")


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
    assert (1, 1, 0) == (page.count("<script"), page.count("</article>\n</main>"), page.count("<b>"))
