"""`simdoc-search passages` for many texts, and its HTML page."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.support import formats
from tests.support.cli import json_lines, output, run, sentence, usage_error, write
from tests.support.quoting_texts import ALL, QUOTE, passages, prose
from tests.support.slow_cases import slow_after

pytestmark = pytest.mark.usefixtures("in_passages_corpus")


def test_every_file_of_a_folder_has_a_result() -> None:
    """Files that cannot be read or have no words are listed as skipped."""
    result = passages("--folder", "essays")
    ids = {entry["query"]["file"]: sorted(hit["id"] for hit in entry["hits"]) for entry in result["results"]}

    assert {"essays/one.txt": ALL, "essays/sub/three.txt": ALL, "essays/two.txt": []} == ids
    assert [("essays/empty.txt", "no words"), ("essays/x.bin", "binary")] == sorted(
        (skipped["path"], skipped["reason"]) for skipped in result["skipped"]
    )
    assert [] == result["problems"]


def test_a_table_of_the_texts_is_followed_by_their_matches() -> None:
    """The text with the largest share comes first."""
    result = run("passages", "--folder", "essays")
    lines = result.stdout.splitlines()
    names = [line.split()[-1] for line in lines[1:3]]

    assert 0 == result.exit_code
    assert "   share     words   matches  text" == lines[0]
    assert ["essays/one.txt", "essays/sub/three.txt"] == sorted(names)
    assert ["0", "%", "0", "0", "essays/two.txt"] == lines[3].split()
    assert names == [line.split()[3] for line in lines if " appears in " in line]
    assert result.stdout.endswith(
        "\n2 of 3 texts share passages, with 8 matches.\nEvery shared run of 6 words is found.\n"
    )
    assert "  1 no words: essays/empty.txt\n  1 binary: essays/x.bin\n" == result.stderr


def test_files_are_compared_with_each_other_without_an_index(tmp_path: Path) -> None:
    write(tmp_path, {"a.txt": QUOTE, "b/c.txt": f"{QUOTE} {prose(60, 1_000)}", "d.txt": prose(60, 1_001)})
    results = passages("--folder", tmp_path, "--each-other", "--store", tmp_path / "none")["results"]

    a, c, d = (f"{tmp_path}/{name}" for name in ("a.txt", "b/c.txt", "d.txt"))
    ids = {result["query"]["id"]: [hit["id"] for hit in result["hits"]] for result in results}
    assert {a: [c], c: [a], d: []} == ids
    assert {1.0, 0.5, 0.0} == {result["covered"]["share"] for result in results}
    assert "--each-other needs --folder" in usage_error(run("passages", "mine", "--each-other"))


def test_the_error_about_a_file_instead_of_a_folder_says_what_to_do(tmp_path: Path) -> None:
    write(tmp_path, {"a.ZIP": "", "a.txt": ""})
    messages = [usage_error(run("passages", "--folder", tmp_path / name)) for name in ("a.ZIP", "a.txt")]

    assert f"{tmp_path}/a.ZIP is an archive; unpack it, and give the folder" in messages[0]
    assert f"{tmp_path}/a.txt is not a folder; use --file" in messages[1]


def test_rows_of_a_table_and_several_files_have_results_in_order() -> None:
    rows = passages("--file", "rows.jsonl")["results"]
    files = passages("--file", "essays/two.txt", "--file", "-", stdin=QUOTE)["results"]

    assert [{"id": None, "file": None, "row": f"row {n}"} for n in (1, 2)] == [result["query"] for result in rows]
    assert [4, 0] == [len(result["hits"]) for result in rows]
    assert [("essays/two.txt", 0), ("-", 4)] == [(entry["query"]["file"], len(entry["hits"])) for entry in files]


def test_a_failed_query_of_a_list_does_not_affect_the_others() -> None:
    """The exit status is 1."""
    result = run("passages", "--all-from", "ids.txt", "--json")
    first, failed, last = json.loads(result.stdout)["results"]

    assert (1, f"  nobody: {failed['error']}\nError: 1 of 3 queries failed\n") == (result.exit_code, result.stderr)
    assert [("papers/mine.txt", 3), ("top.txt", 0)] == [
        (entry["query"]["id"], len(entry["hits"])) for entry in (first, last)
    ]
    assert "nobody" == failed["query"]["name"]
    assert "no document 'nobody' in the index" in failed["error"]
    assert "\nnobody\nError: no document 'nobody'" in run("passages", "--all-from", "ids.txt").stdout


def test_a_list_is_not_json() -> None:
    Path("list.json").write_text('["papers/mine.txt",\n"top.txt"]\n', "utf-8")
    Path("list.txt").write_text("[draft] a.txt\n", "utf-8")

    message = "list.json is a JSON list; write one id or query per line"
    assert message == sentence(run("passages", "--all-from", "list.json"))
    assert "no document '[draft] a.txt'" in run("passages", "--all-from", "list.txt").stdout


def test_a_missing_file_is_reported_before_anything_is_read() -> None:
    message = "no.txt does not exist; check the path"

    assert message == sentence(run("passages", "--file", "essay.txt", "--file", "no.txt"))
    assert message == sentence(run("passages", "--file", "no.txt"))


def test_an_empty_folder_does_not_affect_the_others(tmp_path: Path) -> None:
    """The exit status is 1."""
    (tmp_path / "none").mkdir()
    result = run("passages", "--folder", tmp_path / "none", "--folder", "essays", "--json")

    assert (1, 3) == (result.exit_code, len(json.loads(result.stdout)["results"]))
    assert f"{tmp_path / 'none'}" in result.stderr


def test_a_pdf_is_a_query(tmp_path: Path) -> None:
    pytest.importorskip("kreuzberg")
    write(tmp_path, {"a/one.pdf": formats.pdf(), "a/broken.pdf": b"%PDF-1.4 nothing", "a/z.txt": formats.PARAGRAPHS[1]})
    output("index", "-", "--store", tmp_path / "s", stdin=json_lines({"id": "p", "text": formats.PARAGRAPHS[1]}))
    result = passages("--folder", tmp_path / "a", "--store", tmp_path / "s")

    assert [f"{tmp_path}/a/one.pdf", f"{tmp_path}/a/z.txt"] == [entry["query"]["file"] for entry in result["results"]]
    assert [["p"], ["p"]] == [[hit["id"] for hit in entry["hits"]] for entry in result["results"]]
    assert [f"{tmp_path}/a/broken.pdf"] == [skipped["path"] for skipped in result["skipped"]]


# --- the HTML page ---


def test_the_page_has_each_text_with_its_sources(tmp_path: Path) -> None:
    one, many = tmp_path / "one.html", tmp_path / "many.html"
    table = output("passages", "--file", "essay.txt", "--html", one)
    output("passages", "--folder", "essays", "--html", many)

    assert table.endswith(f"\npage: {one}\n")
    for path, articles, sources, title in (
        (one, 1, 4, "Sources of essay.txt"),
        (many, 2, 8, "Shared passages"),
    ):
        page = path.read_text("utf-8")
        names = re.findall(r' id="([^"]+)"', page)
        links = {link for link in re.findall(r' href="#([^"]+)"', page) if "t" not in link}

        assert (articles, sources) == (page.count("<article"), page.count('<section class="from"'))
        assert [title] == re.findall("<title>(.*?)</title>", page)[:1]
        assert "100 % of essay" in page
        assert (articles > 1) == bool(re.search(r'<span class="more">[^<]+\(\d+ words\), ', page))
        assert len(names) == len(set(names))
        assert links <= set(names)


def test_the_page_says_what_was_searched_and_how(tmp_path: Path) -> None:
    """Who reads it later has not seen the command. Defaults are not listed."""
    page = tmp_path / "a.html"

    def notes(*arguments: object) -> list[str]:
        output("passages", "--file", "essay.txt", "--html", page, *arguments)
        all_notes = re.findall("<p>(.*?)</p>", page.read_text("utf-8"))
        return [note for note in all_notes if re.match("Searched|Options|.* skipped", note)]

    (searched,) = notes("--in", "corpus")
    assert re.fullmatch(r"Searched 5 documents in corpus on [-\d]{10} with simdoc-search \S+\.", searched)
    assert notes()[0].startswith("Searched 5 documents in ./.simdoc on ")
    searched, options = notes("--ignore-quotes", "--ignore", "essay.txt", "--exclude", "path=papers/", "--min-words", 9)
    assert searched.startswith("Searched ./.simdoc on ")
    assert "Options: --min-words 9, --ignore essay.txt, --ignore-quotes, --exclude path=papers/." == options
    write(tmp_path / "papers", {"a.txt": "one", "more/b.bin": b"\0\1", **{f"{n}.bin": b"\0" for n in range(3)}})
    assert notes("--in", tmp_path / "papers" / "more", "--in", "corpus")[1] == (
        "1 file was skipped and not searched: b.bin, binary."
    )
    names = "0.bin, binary; 1.bin, binary; 2.bin, binary; more/b.bin, binary"
    assert f"4 files were skipped and not searched: {names}." == notes("--in", tmp_path / "papers")[1]
    assert f"4 files were skipped and not searched: {names}." == notes()[1]


def test_a_page_may_have_no_hits_or_no_texts_of_sources(tmp_path: Path) -> None:
    output("passages", "top", "--html", tmp_path / "a.html")
    output("passages", "--text", QUOTE, "--store", "textless", "--html", tmp_path / "b.html")
    textless = (tmp_path / "b.html").read_text("utf-8")

    assert "No indexed document shares a passage" in (tmp_path / "a.html").read_text("utf-8")
    assert "estimated, because the index does not have the texts of both documents" in textless
    assert '<section class="from"' not in textless


@pytest.mark.parametrize("options", slow_after(0, [("--folder", "essays"), ("--all-from", "ids.txt")]))
def test_answers_do_not_depend_on_the_number_of_workers(
    options: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Errors and skipped files do not depend on it either."""
    names = write(tmp_path, {"ids.txt": "mine\nunknown\ntop\n"}) / "ids.txt"
    command = ["passages", options[0], names if options[1] == "ids.txt" else options[1], "--json"]
    in_one_process = run(*command, "--workers", "1")
    monkeypatch.setattr("simdoc_search.cli.passages._MAX_QUERIES_WITHOUT_WORKERS", 0)
    in_two = run(*command, "--workers", "2")

    assert json.loads(in_one_process.stdout)["results"]
    assert (in_one_process.exit_code, in_one_process.stdout) == (in_two.exit_code, in_two.stdout)
