"""Commands that index a folder before they answer: `duplicates FOLDER`, and queries with `--in FOLDER`."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.support.cli import answer, output, run, sentence, usage_error, words, write

SENTENCES = "The tenant pays the rent. The landlord repairs the roof in spring. The lease ends after two long years."


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to a folder without an index, in which two folders contain the text of `essay.txt`."""
    monkeypatch.chdir(tmp_path)
    texts = {"essay.txt": words(0, 60), "papers/2020/a.txt": words(0, 80), "papers/b.txt": words(30, 90)}
    write(tmp_path, {**texts, "other/c.txt": words(0, 50), "other/d.txt": words(0, 50)})
    return tmp_path


def sources(*arguments: str) -> list[str]:
    """Return the documents that share passages with `essay.txt`, sorted."""
    return sorted(hit["id"] for hit in answer("passages", "--file", "essay.txt", *arguments)["hits"])


def test_passages_in_a_folder_need_no_index_before(folder: Path) -> None:
    done = run("passages", "--file", "essay.txt", "--in", "papers")

    assert "100 % of essay.txt (60 of 60 words) appears in 2 indexed documents." == done.stdout.splitlines()[0]
    assert done.stderr.startswith("2 indexed, 0 unchanged in ")
    assert done.stderr.endswith("; the index is in ./.simdoc\n")
    assert (folder / ".simdoc" / "simdoc.json").is_file()


@pytest.mark.parametrize("command", ["similar", "versions"])
def test_other_queries_also_index_and_search_a_folder(command: str) -> None:
    output("index", "other")
    one_more = f"{SENTENCES} And one more."
    write(Path(), {"essay.txt": SENTENCES, "papers/b.txt": one_more, "other/c.txt": SENTENCES})
    found = answer(command, "--file", "essay.txt", "--in", "papers")

    assert ["papers/b.txt"] == [hit["id"] for hit in found["hits"]]
    assert "nothing does not exist" in sentence(run(command, "--file", "essay.txt", "--in", "nothing"))


def test_only_the_folder_is_searched() -> None:
    output("index", "other")

    assert ["papers/2020/a.txt", "papers/b.txt"] == sources("--in", "papers")
    assert ["c.txt", "d.txt"] == sources("--in", "other")
    assert ["papers/2020/a.txt"] == sources("--in", "papers/2020")
    assert ["c.txt", "d.txt", "papers/2020/a.txt", "papers/b.txt"] == sources()


def test_several_folders_and_files_are_searched_together() -> None:
    assert ["c.txt", "d.txt", "papers/2020/a.txt", "papers/b.txt"] == sources("--in", "other", "--in", "papers")
    assert ["c.txt", "d.txt", "papers/2020/a.txt"] == sources("--in", "other", "--in", "papers/2020")
    assert ["d.txt", "papers/b.txt"] == sources("--in", "other/d.txt", "--in", "papers/b.txt")


@pytest.mark.parametrize("path", ["-", "rows.csv"])
def test_rows_and_stdin_are_not_a_place_to_search(folder: Path, path: str) -> None:
    write(folder, {"rows.csv": "id,text\n1,word\n"})

    message = usage_error(run("passages", "--file", "essay.txt", "--in", "other", "--in", path, stdin="word"))
    assert f"{path} is not a folder or a document; index it, and omit --in" in message
    assert not (folder / ".simdoc").exists()


def test_a_file_with_a_longer_name_is_not_searched(folder: Path) -> None:
    write(folder, {"other/c.txt.txt": words(0, 50)})
    output("index", "other")

    assert ["c.txt"] == sources("--in", "other/c.txt")


def test_a_page_that_shows_the_passages_is_not_a_source(folder: Path) -> None:
    """Such a page contains the whole text, so all of the text would be in it."""
    first = answer("passages", "--file", "essay.txt", "--in", "papers", "--html", "papers/page.html")

    assert (folder / "papers" / "page.html").is_file()
    assert first == answer("passages", "--file", "essay.txt", "--in", "papers")


def test_files_that_no_longer_exist_are_reported(folder: Path) -> None:
    assert 2 == len(sources("--in", "papers"))
    (folder / "papers" / "b.txt").unlink()
    done = run("passages", "--file", "essay.txt", "--in", "papers")

    assert (
        f"1 indexed file is missing from {folder}/papers, but the index still has its text. To remove it, run: "
        in done.stderr
    )
    output("index", "papers", "--prune")
    assert ["2020/a.txt"] == sources("--in", "papers")


def test_a_folder_above_an_indexed_folder_includes_its_documents() -> None:
    output("index", "papers/2020")

    assert 2 == len(sources("--in", "papers"))


def test_changed_files_are_indexed_before_each_answer(folder: Path) -> None:
    assert 2 == len(sources("--in", "papers"))
    write(folder, {"papers/new.txt": words(0, 20)})

    assert 3 == len(sources("--in", "papers"))


def test_the_command_that_lists_skipped_files_can_be_copied(folder: Path) -> None:
    write(folder, {"other/empty.txt": ""})
    done = run("duplicates", "other", "--store", "my index")

    command = "simdoc-search index other --store 'my index'"
    advice = f"to see which they are, and why, run: {command}"
    assert f"at most the bytes of skipped files are compared; {advice}" in done.stderr.splitlines()
    passages = run("passages", "--file", "essay.txt", "--in", "other", "--store", "index 2")
    assert f"skipped files are not searched; {advice.replace('my index', 'index 2')}" in passages.stderr.splitlines()
    assert "1 no words: other/empty.txt" in run(*shlex.split(command)[1:]).stderr
    write(folder, {"other/empty.txt": "No longer."})
    assert "skipped" not in run("duplicates", "other").stderr
