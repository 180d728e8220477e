"""`simdoc-search list` and `show`, columns and sorting."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from simdoc_search.cli.columns import ColumnLayout
from tests.support.cli import (
    answer,
    environment,
    json_lines,
    output,
    run,
    sentence,
    usage_error,
    words,
    write,
    write_corpus,
)
from tests.support.slow_cases import slow_after

pytestmark = pytest.mark.usefixtures("folder")

COPY, HALF, OLD = "reports/copy.txt", "reports/half.txt", "notes/old.txt"
TIMES = {"doc123.txt": 1_600_000_000, COPY: 1_500_000_000, HALF: 1_700_000_000, OLD: 1_650_000_000}


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store of files with known times and documents with metadata. No test changes it."""
    folder = tmp_path_factory.mktemp("list")
    write_corpus(folder / "corpus")
    for name, time in TIMES.items():
        os.utime(folder / "corpus" / name, (time, time))
    lines: list[dict[str, object]] = [
        {"id": "german", "text": words(4000, 4100), "title": "Über Äpfel", "year": 2020, "path": "fruit/1"},
        {"id": "english", "text": words(4000, 4100), "title": "On apples", "year": 1999, "modified_at": "2024-02-03"},
        {"id": "many", "text": words(0, 190), "tags": ["a", "b"]},
    ]
    arguments = ["index", folder / "corpus", "-", "--store", folder / ".simdoc"]
    output(*arguments, stdin=json_lines(*lines))
    return folder


def rows(*arguments: str) -> list[dict[str, object]]:
    """Return the JSON lines of `list`."""
    return [json.loads(line) for line in output("list", *arguments, "--json").splitlines()]


def ids(*arguments: str) -> list[object]:
    """Return the ids of `list`, in its order."""
    return [row["id"] for row in rows(*arguments)]


# --- list ---


def test_all_documents_are_listed_by_id_with_size_and_date() -> None:
    lines = output("list").splitlines()

    assert ["doc123.txt", "english", "german", "many", OLD, "other.txt", COPY, HALF] == ids()
    assert ["size", "date", "document"] == lines[0].split()
    assert ["1,489", "2020-09-13", "12:26", "doc123.txt"] == lines[1].split()
    assert ["2024-02-03", "english"] == lines[2].split()


def test_a_prefix_or_a_folder_lists_the_documents_below_it() -> None:
    """The prefix may also be one of the metadata field `path`."""
    assert [COPY, HALF] == ids("reports/") == ids("./corpus/reports") == ids(str(Path("corpus/reports").absolute()))
    assert ["german"] == ids("fruit/")
    assert [OLD] == ids("notes/o")
    assert ["doc123.txt", OLD, "other.txt", COPY, HALF] == ids("corpus")


def test_a_folder_does_not_list_the_documents_of_another_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The ids of the first folder of an index have no prefix."""
    write(tmp_path, {"a/x/one.txt": "the first words", "b/two.txt": "some other words"})
    monkeypatch.chdir(tmp_path)
    output("duplicates", "a", "b")

    assert ["x/one.txt"] == ids("a") == ids("a/x/")
    assert ["b/two.txt"] == ids("b")


def test_a_pattern_lists_names_and_paths() -> None:
    assert ["doc123.txt", OLD, "other.txt", COPY, HALF] == ids("*.txt")
    assert [COPY] == ids("reports/c*") == ids("./reports/?opy.txt")
    assert [HALF] == ids("*alf.txt", "--sort", "size")
    assert [] == ids("*.pdf") == ids("reports/*.pdf")
    assert "begins with 'nowhere/'; choose from: " in sentence(run("list", "nowhere/*.txt"))


def test_documents_are_sorted_by_a_column() -> None:
    """Documents without the column come last."""
    assert ["english", HALF, OLD, "doc123.txt", COPY] == [
        id for id in ids("--sort", "date") if id == "english" or id in TIMES
    ]
    assert [OLD, HALF] == [id for id in ids("--sort", "size") if id in (OLD, HALF)]
    assert ["english", "german"] == ids("--sort", "year", "--size", "2")
    assert sorted(map(str, ids())) == sorted(map(str, ids("--sort", "none")))


def test_filters_and_limits_select_documents() -> None:
    assert ["german"] == ids("--filter", "year=2020")
    assert "german" not in ids("--exclude", "year=2020")
    assert 3 == len(ids("--size", "3"))
    assert "no document has the field 'colour'" in sentence(run("list", "--filter", "colour=red"))


def test_an_empty_store_has_no_documents_to_list(tmp_path: Path) -> None:
    output("index", "-", "--store", tmp_path / "store", stdin=json_lines({"id": "a", "text": "some words in a row"}))
    output("delete", "a", "--store", tmp_path / "store")

    assert "no documents\n" == output("list", "--store", tmp_path / "store")
    assert "" == output("list", "--store", tmp_path / "store", "--json")


# --- columns ---


def test_columns_are_metadata_and_values_of_the_file(folder: Path) -> None:
    (row,) = rows("reports/half", "--show", "path,size,date,title")
    (german,) = rows("fruit", "--show", "title,year,path,size")
    (many,) = [row for row in rows("--show", "tags") if row["id"] == "many"]
    path = str(folder / "corpus" / HALF)

    assert {"id": HALF, "path": path, "size": 1549, "date": "2023-11-14T22:13:20Z", "title": None} == row
    assert {"id": "german", "title": "Über Äpfel", "year": 2020, "path": "fruit/1", "size": None} == german
    assert ["a", "b"] == many["tags"]
    assert f"corpus/{HALF}" in output("list", "reports/half", "--show", "path")


@pytest.mark.parametrize("command", ["similar", "passages"])
def test_hits_can_be_shown_with_columns_and_sorted(command: str) -> None:
    hits = answer(command, "doc123", "--show", "date,size", "--sort", "date")["hits"]
    text = output(command, "doc123", "--show", "path,tags", "--sort", "id")
    lines = [line for line in text.splitlines() if line.endswith((COPY, HALF, OLD, "many"))]

    assert [HALF, OLD, COPY, "many"] == [hit["id"] for hit in hits]
    assert {"date": "2023-11-14T22:13:20Z", "size": 1549} == hits[0]["show"]
    assert [["a,", "b", "many"], [f"corpus/{OLD}", OLD]] == [
        line.split()[-3 + at :] for at, line in enumerate(lines[:2])
    ]
    assert all("show" not in hit for hit in answer(command, "doc123")["hits"])


@pytest.mark.parametrize(("length", "width"), [(5, 20), (45, 45), (200, 60)])
def test_a_column_fits_its_longest_value_up_to_a_maximum(length: int, width: int) -> None:
    rows = [{"title": "x" * length}, {"title": "short"}, {}]
    layout = ColumnLayout(["title"], rows)

    assert [f"{text:<{width}}  " for text in ("title", "x" * length, "short", "")] == [
        layout.heading,
        *map(layout.format_row, rows),
    ]


def test_empty_columns_are_refused() -> None:
    assert "contains an empty column name; separate names with commas" in usage_error(run("list", "--show", "a,,b"))


@pytest.mark.parametrize("command", [["list"], ["similar", "doc123"], ["passages", "doc123"]])
def test_an_unknown_column_is_reported_with_similar_ones(command: list[str]) -> None:
    message = run(*command, "--show", "date,titel,tags", "--sort", "datum").stderr.splitlines()

    assert [
        "note: no document has the field 'titel'; choose from: title",
        "note: no document has the field 'datum'; choose from: date",
    ] == [line.partition(",")[0] for line in message]
    assert "no document has the field 'overlap'" in run(*command, "--sort", "overlap").stderr
    assert "" == run(*command, "--show", "path,tags", "--sort", "modified_at").stderr


def on_a_terminal(folder: Path, *arguments: str) -> str:
    """Return the output of a command on a terminal."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "simdoc_search", *arguments]
    done = subprocess.Popen(command, stdout=theirs, stderr=subprocess.DEVNULL, cwd=folder, env=environment())
    os.close(theirs)
    written = b""
    try:
        while piece := os.read(ours, 65536):
            written += piece
    except OSError:  # the end of the output
        pass
    finally:
        os.close(ours)
    assert 0 == done.wait(30)
    return written.decode()


@pytest.mark.parametrize("arguments", slow_after(1, [("list", "reports/"), ("similar", "doc123"), ("show", HALF)]))
def test_on_a_terminal_ids_are_links_to_their_files(folder: Path, arguments: tuple[str, ...]) -> None:
    address = f"{(folder / 'corpus' / HALF).as_uri().removeprefix('file://')}\x1b\\{HALF}\x1b]8;;\x1b\\"

    assert address in on_a_terminal(folder, *arguments)
    assert "\x1b" not in output(*arguments)


# --- show ---


def test_a_document_is_shown_with_its_file_and_the_beginning_of_its_text(folder: Path) -> None:
    text = output("show", "half")

    assert text == output("show", f"./corpus/{HALF}") == output("show", HALF)
    assert f"document   {HALF}\npath       {folder / 'corpus' / HALF}\nsize       1,549 bytes\n" in text
    assert "word0 word1 word2" in text
    assert "… Show the whole text with --text-only\n" in text
    assert f"{words(0, 140)} {words(1000, 1060)}" == output("show", HALF, "--text-only")
    assert f"{words(0, 140)} {words(1000, 1060)}" == answer("show", HALF)["text"]
    assert "title      Über Äpfel\nyear       2020\n" in output("show", "german")


def test_a_file_or_pipe_gets_the_whole_text_unchanged(tmp_path: Path) -> None:
    """Also tabs, page breaks, each kind of line end, and escape sequences."""
    text = "Grüße\tvon\fSeite 2\r\n\x1b[31m zwei\rdrei\u200b\x00\nvier"
    output("index", "-", "--store", tmp_path / "s", stdin=json_lines({"id": "a", "text": text}))

    assert text.encode() == run("show", "a", "--text-only", "--store", tmp_path / "s").stdout_bytes


def test_a_terminal_gets_no_control_characters(tmp_path: Path) -> None:
    write(tmp_path, {"a.txt": "one\ttwo\x1b]0;title\x07\x9b31m\r\nthree\rfour\fGrüße"})
    shown = on_a_terminal(tmp_path, "show", "--file", "a.txt", "--text-only")

    assert ["one\ttwo\\x1b]0;title\\x07\\x9b31m", "three", "four\fGrüße", ""] == shown.split("\r\n")


def test_the_cells_of_a_table_are_in_columns(tmp_path: Path) -> None:
    """A line break in a cell is a line break."""
    file = write(tmp_path, {"a.csv": 'name;price\nwater;1250,88\n"a\nb";"x"\n'}) / "a.csv"

    assert ["name    price", "water   1250,88", "a", "b       x"] == output("show", "--file", file).splitlines()[-4:]


def test_a_file_is_shown_without_an_index(tmp_path: Path) -> None:
    """This is the text whose lines `passages --file` names."""
    page = "<h1>Trees</h1><p>Oak &amp; elm</p>"
    file = write(tmp_path, {"a.html": page}) / "a.html"
    shown = output("show", "--file", file, "--store", tmp_path / "none")
    value = answer("show", "--file", file)

    assert f"document   a.html\npath       {file}\nsize       {len(page)} bytes\n" in shown
    assert shown.endswith("\n\nTrees\nOak & elm\n")
    assert (None, str(file), len(page)) == (value["id"], value["file"], value["size"])
    assert value["text"] == output("show", "--file", file, "--text-only")
    assert page == output("show", "--file", "-", "--text-only", stdin=page)
    without_index = sentence(run("show", file, "--store", tmp_path / "none"))
    assert f"to show the file {str(file)!r} without an index, use --file" in without_index
    assert "use --file to read it directly" in sentence(run("show", str(file)))
    assert "give ID or --file" == usage_error(run("show", HALF, "--file", file))


def test_a_date_in_the_front_matter_is_shown_once(tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text(f"---\ndate: 2024-03-04\nauthor: Ada\n---\n{words(0, 9)}")
    output("index", tmp_path / "note.md", "--store", tmp_path / "index")

    assert 1 == output("show", "note.md", "--store", tmp_path / "index").partition("\n\n")[0].count("2024-03-04")


def test_all_documents_with_a_word_of_the_id_are_suggested(tmp_path: Path) -> None:
    write(tmp_path / "leases", {f"{year}/rental agreement.txt": words(year, year + 9) for year in range(2019, 2024)})
    output("index", tmp_path / "leases", "--store", tmp_path / "store")
    refused = sentence(run("show", "rental", "--store", tmp_path / "store"))

    assert all(f"'{year}/rental agreement.txt'" in refused for year in range(2019, 2024))
    similar_only = sentence(run("show", "rentl agreemnt", "--store", tmp_path / "store"))
    assert 3 == similar_only.count("rental agreement.txt'")


def test_a_store_without_texts_shows_everything_else(tmp_path: Path) -> None:
    place = ("--store", tmp_path / "store")
    output("index", "-", "--no-texts", *place, stdin=json_lines({"id": "a", "text": "some words in a row", "n": 1}))
    result = run("show", "a", *place)

    assert "n          1" in result.stdout
    assert "note: the index does not have the text of this document\n" == result.stderr
    assert "the index does not have the text of 'a'" in sentence(run("show", "a", "--text-only", *place))
    assert answer("show", "a", *place)["text"] is None
