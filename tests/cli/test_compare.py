"""`simdoc-search compare`: two texts come in, files or documents; what they share and what differs goes out."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from simdoc_search import compare
from tests.support import formats
from tests.support.cli import answer, json_lines, output, run, sentence, usage_error, words, write

OLD, NEW = f"{words(0, 60)} you may copy {words(60, 120)}", f"{words(0, 60)} you may not copy {words(60, 120)}"


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an indexed corpus, and files that are not indexed; no test changes it."""
    folder = tmp_path_factory.mktemp("compare")
    write(folder, {"corpus/old.txt": OLD, "corpus/notes/2024_20.txt": NEW, "old.txt": NEW, "draft.txt": NEW})
    write(folder, {"docs.jsonl": json_lines({"id": "draft.txt", "text": OLD})})
    output("index", folder / "corpus", folder / "docs.jsonl", "--store", folder / ".simdoc")
    return folder


@pytest.fixture(autouse=True)
def folder(indexed: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the commands run."""
    monkeypatch.chdir(indexed)
    return indexed


def kinds(*arguments: object, stdin: str | None = None) -> list[dict[str, Any]]:
    """What is said of the two texts."""
    found = answer("compare", *arguments, stdin=stdin)
    return [{name: found[side][name] for name in found[side] if name in {"id", "file"}} for side in "ab"]


# --- what is compared ---


def test_files_are_compared_without_a_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is opened, and nothing made. A store that is named must exist."""
    write(tmp_path, {"a.txt": OLD, "b.txt": NEW})
    monkeypatch.chdir(tmp_path)

    assert [{"file": "a.txt"}, {"file": "b.txt"}] == kinds("a.txt", "b.txt")
    assert "no store at none" in sentence(run("compare", "a.txt", "b.txt", "--store", "none"))
    assert ["a.txt", "b.txt"] == sorted(path.name for path in tmp_path.iterdir())


def test_documents_are_named_as_similar_names_them() -> None:
    """By id, by file name without its ending, by path; what ends in numbers is an id."""
    assert [{"id": "notes/2024_20.txt"}, {"id": "notes/2024_20.txt"}] == kinds("notes/2024_20.txt", "2024_20")
    assert [{"id": "notes/2024_20.txt"}, {"file": "corpus/old.txt"}] == kinds("2024_20.txt", "corpus/old.txt")


def test_a_file_that_exists_is_meant_before_a_document() -> None:
    """Quotation marks mean the document, ./ the file, whichever there is."""
    differ = answer("compare", '"draft.txt"', "draft.txt")

    assert [{"file": "draft.txt"}, {"file": "./draft.txt"}] == kinds("draft.txt", "./draft.txt")
    assert [{"id": "draft.txt"}, {"file": "draft.txt"}] == [
        {name: differ[side][name] for name in differ[side] if name in {"id", "file"}} for side in "ab"
    ]
    assert ["inserted"] == [each["kind"] for each in differ["differences"]]


def test_stdin_is_one_of_the_two() -> None:
    """Not both."""
    assert [{"file": "-"}, {"file": "draft.txt"}] == kinds("-", "draft.txt", stdin=NEW)
    assert "only one side can be stdin (-); give a file or a document id for the other" in usage_error(
        run("compare", "-", "-", stdin="a")
    )


def test_a_pdf_and_a_word_document_are_read(tmp_path: Path) -> None:
    """By the readers of the corpus."""
    write(tmp_path, {"a.pdf": formats.pdf(), "b.docx": formats.docx()})
    found = answer("compare", tmp_path / "a.pdf", tmp_path / "b.docx")

    assert 1.0 == found["details"]["containment"]
    assert [] == found["differences"]


# --- what is said ---


def test_json_has_the_measures_the_passages_and_what_differs() -> None:
    """As the library gives them; places are characters of the texts."""
    found = answer("compare", "corpus/old.txt", "draft.txt")
    expected = compare(OLD, NEW)

    assert {"jaccard", "containment", "contained", "estimate", "interval", "multiset"} == found["details"].keys()
    assert [expected.jaccard, expected.containment, expected.contained, expected.estimate] == [
        found["details"][name] for name in ("jaccard", "containment", "contained", "estimate")
    ]
    assert [{"a": [0, len(OLD)], "b": [0, len(NEW)], "words": 123}] == found["passages"]
    assert [{"kind": "inserted", "a": [OLD.index(" copy")] * 2, "words": 1}] == [
        {name: value for name, value in each.items() if name != "b"} for each in found["differences"]
    ]
    assert "not" == NEW[slice(*found["differences"][0]["b"])]
    assert [
        {"words": 123, "covered": {"words": 123, "share": 1.0}},
        {"words": 124, "covered": {"words": 123, "share": 123 / 124}},
    ] == [{name: value for name, value in found[side].items() if name != "file"} for side in "ab"]


def test_a_terminal_shows_measures_passages_and_what_differs() -> None:
    """Without colour where there is no terminal."""
    shown = output("compare", "corpus/old.txt", "draft.txt")

    assert shown.startswith("corpus/old.txt and draft.txt\n  in common                 123 words in 1 passage\n")
    assert "\nShared\n  123 words, line 1: “word0 word1" in shown
    assert "line 1: 1 word inserted: 'not'" in shown
    assert "you may {+not+} copy" in " ".join(shown.split())
    assert "\x1b" not in shown


def test_colour_is_used_where_it_is_forced() -> None:
    """And not where it is not wanted."""
    arguments = ("compare", "corpus/old.txt", "draft.txt")

    assert "\x1b[4;32mnot\x1b[0m" in output(*arguments, FORCE_COLOR="1", TERM="xterm")
    assert "\x1b" not in output(*arguments, FORCE_COLOR="1", TERM="xterm", NO_COLOR="1")


def test_verbatim_passages_are_longer_runs() -> None:
    """`--preset` is handed on."""
    a, b = " ".join(f"w{at}" for at in range(200)), " ".join(f"w{at}" if at % 5 else "x" for at in range(200))
    write(Path(), {"a.txt": a, "b.txt": b})

    assert len(compare(a, b).passages) == len(answer("compare", "a.txt", "b.txt")["passages"]) > 0
    assert [] == answer("compare", "a.txt", "b.txt", "--preset", "verbatim")["passages"]


def test_the_words_are_those_of_the_store() -> None:
    """A store that compares characters compares them here too."""
    output("index", "corpus", "--unit", "character", "--store", "characters")
    found = answer("compare", "corpus/old.txt", "notes/2024_20.txt", "--store", "characters")
    files = "corpus/old.txt", "corpus/notes/2024_20.txt"

    assert answer("compare", *files)["details"]["jaccard"] < found["details"]["jaccard"] < 1
    assert answer("compare", *files, "--store", "characters")["details"] == found["details"]


def test_signs_that_differ_are_shown() -> None:
    """Where no word differs they are the whole difference; numbers come first."""
    write(Path(), {"a.txt": f"{OLD}; paid -500 euros by Bill", "b.txt": f"{OLD}, paid 500 euros by bill"})
    found = answer("compare", "a.txt", "b.txt")

    assert "No word differs. 3 signs differ: '-500' / '500'; " in " ".join(output("compare", "a.txt", "b.txt").split())
    assert [] == found["differences"]
    assert ["sign", "sign", "writing"] == [each["kind"] for each in found["signs"]]


# --- the page ---


def test_html_writes_one_page(tmp_path: Path) -> None:
    """The terminal shows the measures and where it is; --json goes with it."""
    shown = output("compare", "corpus/old.txt", "draft.txt", "--html", tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text("utf-8")

    assert shown.endswith(f"\n  page: {tmp_path / 'a.html'}\n")
    assert "What differs" not in shown
    assert page.startswith("<!DOCTYPE html>")
    assert re.search(r"<ins [^>]*>not</ins>", page)
    assert 1 == len(answer("compare", "old.txt", "draft.txt", "--html", tmp_path / "b.html")["passages"])
    assert (tmp_path / "b.html").exists()


def test_a_page_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    """It names the file."""
    said = sentence(run("compare", "old.txt", "draft.txt", "--html", tmp_path / "none" / "a.html"))

    assert f"cannot write {tmp_path}/none/a.html: No such file or directory; check the folder" == said


# --- what goes wrong ---


def test_what_is_nothing_is_one_sentence_that_says_what_was_tried(tmp_path: Path) -> None:
    """No file, no document, perhaps no store."""
    none = sentence(run("compare", "old.txt", "nothing", "--store", tmp_path / "none"))

    assert "'nothing' is neither a file here nor a document in ./.simdoc" in sentence(
        run("compare", "old.txt", "nothing")
    )
    assert "did you mean 'draft.txt'?" in sentence(run("compare", "old.txt", "drafts.txt"))
    assert none.startswith("'nothing' is not a file here, and to be an id it needs a store: no store at ")
    assert "'.' is a folder; name a file or document" in sentence(run("compare", "old.txt", "."))
    assert "nothing does not exist; check the path" == sentence(run("compare", "old.txt", "./nothing"))
    assert "no document 'nothing' in the store" in sentence(run("compare", "old.txt", '"nothing"'))


@pytest.mark.parametrize("odd", ["a\0b", "x" * 5000, "\ud800", ""])
def test_odd_names_are_one_sentence(odd: str) -> None:
    """Whatever cannot be a path or an id."""
    found = run("compare", "old.txt", odd)

    assert found.exit_code in {1, 2}
    assert "Traceback" not in found.output


def test_texts_without_words_share_nothing(tmp_path: Path) -> None:
    """They are compared like others."""
    write(tmp_path, {"empty.txt": "", "signs.txt": "... --- ..."})
    found = answer("compare", tmp_path / "empty.txt", tmp_path / "signs.txt")

    assert [0.0, 0.0] == [found["details"][name] for name in ("jaccard", "estimate")]
    assert [[], [], []] == [found[name] for name in ("passages", "differences", "signs")]
    assert "no passage" in output("compare", tmp_path / "empty.txt", "old.txt")


def test_hostile_texts_are_harmless_everywhere(tmp_path: Path) -> None:
    """In the terminal, in JSON and on the page."""
    hostile = "</script><script>\x1b[31m\u202e"
    write(tmp_path, {"a.txt": f"{OLD} {hostile}", "b.txt": f"{NEW} {hostile} {hostile}"})
    shown = output("compare", tmp_path / "a.txt", tmp_path / "b.txt", "--html", tmp_path / "c.html")
    shown += output("compare", tmp_path / "a.txt", tmp_path / "b.txt")
    shown += json.dumps(answer("compare", tmp_path / "a.txt", tmp_path / "b.txt"))

    assert not {"\x1b", "\u202e"} & set(shown + (tmp_path / "c.html").read_text("utf-8"))


# --- what is ignored ---


def test_words_of_a_template_are_not_counted(tmp_path: Path) -> None:
    """In neither text; the answer says how many words these are."""
    template, shared = (" ".join(f"{name}{number}" for number in range(40)) for name in ("t", "s"))
    mine, theirs = (" ".join(f"{name}{number}" for number in range(60)) for name in ("m", "h"))
    write(tmp_path, {"a.txt": f"{template} {mine} {shared}", "b.txt": f"{theirs} {shared} {template}"})
    write(tmp_path, {"t.txt": template})
    both = (tmp_path / "a.txt", tmp_path / "b.txt")
    found = answer("compare", *both, "--ignore", tmp_path / "t.txt")

    assert [40, 40] == found["ignored"]
    assert (100, {"words": 40, "share": 0.4}) == (found["a"]["words"], found["a"]["covered"])
    assert [40] == [each["words"] for each in found["passages"]]
    assert "ignored" not in answer("compare", *both)
    assert output("compare", *both, "--ignore", tmp_path / "t.txt").endswith(
        "\n40 words of the first text and 40 of the second are ignored.\n"
    )


def test_numbers_and_negations_that_differ_come_first(tmp_path: Path) -> None:
    """Before all other differences, for people and programs."""
    write(tmp_path, {"a.txt": f"{OLD} The rent is 850 euros.", "b.txt": f"{NEW} The rent is 890 euros."})
    both = tmp_path / "a.txt", tmp_path / "b.txt"
    shown = output("compare", *both)

    assert [("negation", "", "not"), ("number", "850", "890")] == [
        (each["kind"], each["old"], each["new"]) for each in answer("compare", *both)["key_changes"]
    ]
    assert "\nWhat differs\n  negation: word59 you may nothing → “not”\n  number: The rent is “850” → “890”\n" in shown
