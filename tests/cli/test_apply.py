"""`simdoc-search duplicates --plan` and `apply`: from a folder with duplicates to one without, and back."""

from __future__ import annotations

from pathlib import Path

import pytest

from simdoc_search.cli import apply as command
from tests.support.archives import packed_zip
from tests.support.cli import answer, json_lines, output, run, sentence, usage_error, words, write
from tests.support.plans import tree

BASE = words(0, 200)
FILES: dict[str, str | bytes] = {
    "keep.txt": BASE,
    "sub/copy.txt": BASE,
    "sub/loud.txt": BASE.upper(),
    "near.txt": words(0, 190),
    "other.txt": words(900, 990),
}
UNDO = "plan.tsv.undo"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a folder `docs` of five files."""
    write(tmp_path / "docs", FILES)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def plan(*arguments: str) -> list[list[str]]:
    """A plan of `docs`; action, kind and id of its rows."""
    output("duplicates", *(arguments or ("docs",)), "--plan", "plan.tsv")
    lines = [line.split("\t") for line in Path("plan.tsv").read_text("utf-8").splitlines() if line[0] != "#"]
    return [[each[0], each[3], each[8]] for each in lines[1:]]


def edit(before: str, after: str) -> None:
    """What a person does with an editor."""
    text = Path("plan.tsv").read_text("utf-8")
    assert before in text
    Path("plan.tsv").write_text(text.replace(before, after), "utf-8")


def stored() -> list[str]:
    """The ids of the store."""
    return [line for line in output("info").splitlines() if line.startswith("documents")]


def test_a_folder_is_cleaned_and_the_store_with_it() -> None:
    """The plan drops a copy with equal bytes; the others go once somebody says so. Undone, all is back."""
    before = tree(Path("docs"))
    rows = [
        ["keep", "", "keep.txt"],
        ["drop", "identical", "sub/copy.txt"],
        ["decide", "same words", "sub/loud.txt"],
        ["decide", "near", "near.txt"],
    ]
    assert rows == plan()
    edit("decide\t", "drop\t")

    dry = output("apply", "plan.tsv", "--move-to", "gone", "--dry-run")
    assert "3 would be moved" == dry.splitlines()[-1]
    done = [f"moved{line.removeprefix('move')}" for line in dry.splitlines()[:-1]]
    assert before == tree(Path("docs"))

    shown = output("apply", "plan.tsv", "--move-to", "gone")
    assert [*done, "3 moved, 3 documents of them removed from the store"] == shown.splitlines()
    assert ["documents  2"] == stored()
    assert ["near.txt", "sub/copy.txt", "sub/loud.txt"] == sorted(tree(Path("gone")))
    assert "0 moved, 3 before" == output("apply", "plan.tsv", "--move-to", "gone").strip()

    assert 3 == len(answer("apply", "--undo", UNDO)["restored"])
    assert before == tree(Path("docs"))
    assert 3 == answer("duplicates", "docs")["duplicates"]


def test_a_plan_says_which_command_comes_next_and_is_not_written_over() -> None:
    """With the store, if that is not the usual one; nothing is indexed for a plan that cannot be written."""
    shown = run("duplicates", "docs", "--plan", "my plan.tsv", "--store", "my store")

    command = "simdoc-search apply 'my plan.tsv' --store 'my store' --move-to DIR --dry-run"
    assert command in shown.stderr
    assert f"#   {command}\n" in Path("my plan.tsv").read_text("utf-8")
    assert "4 rows written to my plan.tsv" in shown.stderr
    assert "my plan.tsv exists already" in sentence(run("duplicates", "docs", "--plan", "my plan.tsv", "--store", "x"))
    assert not Path("x").exists()


def test_a_file_that_changed_since_it_was_indexed_is_not_dropped() -> None:
    """What was compared is no more; nor is anything dropped for its sake."""
    output("index", "docs")
    write(Path("docs"), {"sub/copy.txt": words(500, 700)})
    assert {"keep.txt": "keep", "sub/copy.txt": "decide", "sub/loud.txt": "decide"} == {
        id: action for action, _, id in plan("--overlap", "100")
    }
    edit("decide\t", "drop\t")
    found = run("apply", "plan.tsv", "--move-to", "gone")

    assert 1 == found.exit_code
    assert "docs/sub/copy.txt: the plan does not say what it was (same text; it has changed" in found.stderr
    assert "to plan these again: simdoc-search duplicates FOLDER --plan NEW" in found.stderr
    output("duplicates", "docs", "--plan", "again.tsv")
    assert "copy.txt" not in Path("again.tsv").read_text("utf-8")
    output("apply", "again.tsv", "--move-to", "gone")
    assert "1 moved, 1 left alone, 1 document of them removed from the store" == found.stdout.splitlines()[-1]


def test_what_lies_in_an_archive_is_left_there_and_nothing_goes_for_it() -> None:
    """Though a rule keeps the member: a person sees why, and writing drop changes nothing."""
    write(Path("docs"), {"a.zip": packed_zip({"keep.txt": BASE})})
    output("index", "docs", "--archives")
    rows = plan("docs", "--keep-in", "a.zip!")

    assert ["keep", "", "a.zip!keep.txt"] == rows[0]
    assert [["drop", "identical", "sub/copy.txt"]] == [each for each in rows[1:] if each[0] != "decide"]
    assert "it lies in an archive, which is left as it is" in Path("plan.tsv").read_text("utf-8")
    edit("\ndecide\t", "\ndrop\t")
    before = tree(Path("docs"))
    left = run("apply", "plan.tsv", "--delete", "--yes")
    assert 1 == left.exit_code
    assert "a.zip!keep.txt, which is kept instead: it lies in an archive, which is left as it is" in left.stderr
    Path("plan.tsv").unlink()
    assert ["decide", "same text", "a.zip!keep.txt"] in plan()
    edit("decide\t1\t100.0\tsame text", "drop\t1\t100.0\tsame text")
    left = run("apply", "plan.tsv", "--move-to", "gone", "--dry-run")
    assert "a.zip!keep.txt: it lies in an archive, which is left as it is" in left.stderr
    assert before == tree(Path("docs"))


def test_a_person_can_widen_what_is_dropped_and_the_plan_says_so() -> None:
    """To files with the same text, or with the same words; apply acts on it."""
    write(Path("docs"), {"spaces.md": f"\n{BASE}", "page.html": f"<p>{BASE}</p>", "keep.txt.bak": BASE})
    dropped = {}
    for drop in ("", "same-text", "same-words"):
        rows = plan("docs", *(["--drop", drop] if drop else []))
        text = Path("plan.tsv").read_text("utf-8")
        dropped[drop] = {id: kind for action, kind, id in rows if action == "drop"}
        assert [f"made with --drop {drop}" in text, drop == ""] in ([True, False], [False, True])
        Path("plan.tsv").unlink()

    identical = {"keep.txt.bak": "identical", "sub/copy.txt": "identical"}
    assert identical == dropped[""]
    assert identical | {"page.html": "same text"} == dropped["same-text"]
    same_words = {"sub/loud.txt": "same words", "spaces.md": "same words"}
    assert {**dropped["same-text"], **same_words} == dropped["same-words"]
    plan("docs", "--drop", "same-words")
    assert "5 moved, 5 documents" in output("apply", "plan.tsv", "--move-to", "gone")


@pytest.mark.parametrize(("to", "noted"), [("docs/gone", True), ("gone", False), ("docs/.gone", False)])
def test_a_folder_that_is_indexed_is_no_place_for_what_goes(to: str, noted: bool) -> None:
    """It is said before; what is hidden is not indexed."""
    plan()
    said = run("apply", "plan.tsv", "--move-to", to, "--dry-run").stderr

    assert noted == (f"note: {to} is in docs, which is indexed: the next run indexes the moved files again" in said)


def test_a_group_that_would_be_left_empty_is_named() -> None:
    """All of it stays, and the exit code says so."""
    plan()
    edit("keep\t", "drop\t")
    found = run("apply", "plan.tsv", "--delete", "--yes")

    assert 1 == found.exit_code
    assert "group 1 is refused: " in found.stderr
    assert "0 deleted, 1 group refused" == found.stdout.strip()
    assert 5 == len(tree(Path("docs")))


def test_what_cannot_be_undone_needs_yes() -> None:
    """A file with other bytes than the kept one, and any deletion where nobody can be asked."""
    plan("docs", "--drop", "same-words")
    said = "1 file with other bytes than the kept one could not be restored; look with --dry-run, then add --yes"
    assert said == sentence(run("apply", "plan.tsv", "--delete"))
    dry = run("apply", "plan.tsv", "--delete", "--dry-run")
    assert "note: 1 file with other bytes than the kept one cannot be restored once deleted" in dry.stderr.splitlines()
    edit("drop\t1\t100.0\tsame words", "decide\t1\t100.0\tsame words")
    assert "to delete without being asked, add --yes" in sentence(run("apply", "plan.tsv", "--delete"))
    assert 5 == len(tree(Path("docs")))
    assert "1 deleted" in output("apply", "plan.tsv", "--delete", "--yes")


@pytest.mark.parametrize(("typed", "left"), [("n\n", 5), ("y\n", 4)])
def test_a_person_is_asked_once(monkeypatch: pytest.MonkeyPatch, typed: str, left: int) -> None:
    """With how much there is to do."""
    plan()
    monkeypatch.setattr(command, "_can_answer", lambda: True)
    found = run("apply", "plan.tsv", "--move-to", "gone", stdin=typed)

    assert f"Move 1 file, {len(BASE):,} bytes?" in found.stderr
    assert left == len(tree(Path("docs")))


def test_links_leave_the_documents_in_the_store() -> None:
    """Both files are there, as one."""
    plan("docs", "--drop", "same-words")
    found = run("apply", "plan.tsv", "--hardlink")

    assert 1 == found.exit_code
    assert Path("docs/keep.txt").samefile("docs/sub/copy.txt")
    assert "1 linked, 1 left alone" == found.stdout.splitlines()[-1]
    assert ["documents  5"] == stored()


def test_documents_without_files_leave_the_store_by_delete_alone() -> None:
    """If their text is still that of the plan; they cannot be restored, and undo names them."""
    output("index", "-", stdin=json_lines(*({"id": id, "text": BASE} for id in "abc")))
    assert [["keep", "", "a"], ["drop", "identical", "b"], ["drop", "identical", "c"]] == plan("--overlap", "90")

    moved = run("apply", "plan.tsv", "--move-to", "gone")
    assert (1, 2) == (moved.exit_code, moved.stderr.count("only --delete removes it, from the store"))
    assert "2 documents without files could not be restored" in sentence(run("apply", "plan.tsv", "--delete"))
    output("index", "-", stdin=json_lines({"id": "c", "text": words(3, 99)}))
    found = run("apply", "plan.tsv", "--delete", "--yes")

    assert 1 == found.exit_code
    assert "left alone: c: its text has changed since the plan was written" in found.stderr
    assert "1 deleted, 1 left alone" == found.stdout.splitlines()[-1]
    assert ["documents  2"] == stored()
    assert "0 deleted, 1 before, 1 left alone" in run("apply", "plan.tsv", "--delete", "--yes").stdout
    undone = run("apply", "--undo", UNDO)
    assert (1, "not restored: b: a document that was deleted from its store cannot be restored") == (
        undone.exit_code,
        undone.stderr.strip(),
    )


def test_without_a_store_the_command_that_mends_it_is_named() -> None:
    """Files go all the same."""
    plan()
    found = run("apply", "plan.tsv", "--move-to", "gone", "--store", "nowhere")

    assert 0 == found.exit_code
    assert "simdoc-search index FOLDER --prune" in found.stderr
    assert not Path("nowhere").exists()
    assert (
        "0 moved, 1 before, 1 document of them removed from the store"
        == output("apply", "plan.tsv", "--move-to", "gone").strip()
    )


def test_one_way_must_be_named() -> None:
    """A plan and what becomes of the files, or an undo file."""
    for arguments in ((), ("plan.tsv",), ("plan.tsv", "--delete", "--hardlink"), ("--delete",)):
        assert "name a plan and one of" in usage_error(run("apply", *arguments))
    assert "--undo takes the undo file alone" in usage_error(run("apply", "plan.tsv", "--undo", UNDO))
    assert "does not exist, so there is nothing to undo" in sentence(run("apply", "--undo", UNDO))
