"""`simdoc-search duplicates --plan` and `apply`: remove the duplicates from a folder, and restore them."""

from __future__ import annotations

import json
import shlex
from hashlib import blake2b
from pathlib import Path

import pytest

from simdoc_search.cli import apply as command
from simdoc_search.duplicates.plan import rollback
from simdoc_search.duplicates.plan.journal import Change
from tests.support.archives import packed_zip
from tests.support.cli import answer, json_lines, output, run, sentence, usage_error, words, write
from tests.support.duplicate_plans import tree
from tests.support.folders import posix_only

BASE = words(0, 200)
FILES: dict[str, str | bytes] = {
    "keep.txt": BASE,
    "sub/copy.txt": BASE,
    "sub/loud.txt": BASE.upper(),
    "near.txt": words(0, 190),
    "other.txt": words(900, 990),
}
UNDO = "plan.tsv.undo"
MOVE = ("apply", "plan.tsv", "--move-to", "gone")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Change to a folder whose subfolder `docs` has five files."""
    write(tmp_path / "docs", FILES)
    monkeypatch.chdir(tmp_path)


def plan(*arguments: str) -> list[list[str]]:
    """Write a new plan, and return action, kind and id of its rows."""
    Path("plan.tsv").unlink(missing_ok=True)
    output("duplicates", *(arguments or ("docs",)), "--plan", "plan.tsv")
    lines = [line.split("\t") for line in Path("plan.tsv").read_text("utf-8").splitlines() if line[0] != "#"]
    return [[cells[0], cells[3], cells[8]] for cells in lines[1:]]


def edit(before: str, after: str) -> None:
    """Replace text in the plan, as a user does in an editor."""
    text = Path("plan.tsv").read_text("utf-8")
    assert before in text
    Path("plan.tsv").write_text(text.replace(before, after), "utf-8")


def ids(*options: str | Path) -> set[str]:
    """Return the ids of the documents in the index."""
    return {json.loads(line)["id"] for line in output("list", "--json", *options).splitlines()}


def stored() -> str:
    """Return the line of `info` with the number of documents."""
    return next(line for line in output("info").splitlines() if line.startswith("documents"))


def test_dropped_files_are_moved_and_removed_from_the_store() -> None:
    """The plan only drops a file with equal bytes, until the user edits it. Undo restores all files."""
    before = tree(Path("docs"))
    assert [
        ["keep", "", "keep.txt"],
        ["drop", "identical", "sub/copy.txt"],
        ["decide", "same words", "sub/loud.txt"],
        ["decide", "near", "near.txt"],
    ] == plan()
    edit("decide\t", "drop\t")

    dry = output(*MOVE, "--dry-run")
    assert "3 files would be moved" == dry.splitlines()[-1]
    done = [f"moved{line.removeprefix('move')}" for line in dry.splitlines()[:-1]]
    assert before == tree(Path("docs"))

    assert [*done, "3 files moved, 3 documents removed from the index"] == output(*MOVE).splitlines()
    assert "documents  2" == stored()
    assert ["near.txt", "sub/copy.txt", "sub/loud.txt"] == sorted(tree(Path("gone")))
    assert "0 files moved, 3 already done" == output(*MOVE).strip()

    assert 3 == len(answer("apply", "--undo", UNDO)["restored"])
    assert before == tree(Path("docs"))
    assert "A complete undo removes this file, so the plan may be undone already" in sentence(
        run("apply", "--undo", UNDO)
    )
    assert 3 == answer("duplicates", "docs")["duplicate_count"]


def test_folders_without_files_are_named_and_those_for_moved_files_are_removed_by_undo() -> None:
    """A folder that has a file of another program remains, and so does one that existed before."""
    before = tree(Path("docs"))
    write(Path("docs"), {"old/2020/a.txt": BASE, "older/b.txt": BASE, "older/note.txt": "another text"})
    Path("gone").mkdir()
    plan()
    result = run("apply", "plan.tsv", "--move-to", "gone/here")

    assert "1 folder has no files now: docs/old\n" in result.stderr
    assert [] == answer("apply", "plan.tsv", "--move-to", "gone/here")["empty_folders"]
    write(Path("gone/here/older"), {"of another program.txt": ""})
    output("apply", "--undo", UNDO)
    assert ["here", "of another program.txt", "older"] == sorted(path.name for path in Path("gone").rglob("*"))
    assert {*before, "old/2020/a.txt", "older/b.txt", "older/note.txt"} == {*tree(Path("docs"))}
    assert not Path(UNDO).exists()


def test_a_plan_names_the_next_command_and_is_not_overwritten() -> None:
    """If the plan cannot be written, nothing is indexed."""
    result = run("duplicates", "docs", "--plan", "my plan.tsv", "--store", "my store")

    command = "simdoc-search apply 'my plan.tsv' --move-to DIR --dry-run --store 'my store'"
    assert f"4 rows written to my plan.tsv; edit the file, then run: {command}" in result.stderr
    assert f"#   {command}\n" in Path("my plan.tsv").read_text("utf-8")
    assert "my plan.tsv already exists" in sentence(run("duplicates", "docs", "--plan", "my plan.tsv", "--store", "x"))
    assert not Path("x").exists()


def test_undo_adds_the_restored_files_to_the_index_again() -> None:
    """If there is no index, the files are named."""
    output("duplicates", "docs", "--plan", "a plan.tsv", "--store", "my index")
    move = ("apply", "a plan.tsv", "--move-to", "gone")
    undo = run(*move, "--store", "my index").stderr.splitlines()[-1].removeprefix("to undo these changes, run: ")
    done = run(*shlex.split(undo)[1:])

    assert "simdoc-search apply --undo 'a plan.tsv.undo' --store 'my index'" == undo
    assert ("1 restored, 1 document added to the index", "") == (done.stdout.splitlines()[-1], done.stderr)
    assert "0 indexed, 5 unchanged" in run("duplicates", "docs", "--store", "my index").stderr
    output(*move)
    alone = run("apply", "--undo", "a plan.tsv.undo").stderr
    assert [
        "1 restored file is not in the index, because ./.simdoc is not an index: docs/sub/copy.txt",
        "to add it to the index, run: simdoc-search duplicates FOLDER --store INDEX",
    ] == alone.splitlines()


@pytest.mark.parametrize("folders", [("docs", "old"), ("old", "docs"), ("docs", "old/single.txt")])
def test_undo_adds_files_to_the_index_if_all_documents_of_their_folder_were_moved(folders: tuple[str, ...]) -> None:
    """They get their ids again, with or without a prefix. The same holds for a single file that was indexed."""
    write(Path("old"), {"keep.txt": BASE, "sub/copy.txt": BASE} if "old" in folders else {"single.txt": BASE})
    plan(*folders, "--keep-in", "docs/")
    before = ids()
    moved = run(*MOVE)
    without = ids()
    undone = run("apply", "--undo", UNDO)

    assert "1 folder has no files now: old\n" in moved.stderr or "2 folders have no files now: " in moved.stderr
    assert without < before
    assert (before, "") == (ids(), undone.stderr)


def test_the_command_after_undo_adds_files_of_a_second_folder_with_their_prefix() -> None:
    """Undo skips the files, so it cannot add them."""
    write(Path("old"), {"keep.txt": BASE})
    plan("docs", "old")
    before = ids()
    output(*MOVE)
    Path("simdoc.toml").write_text('[index]\nexclude-files = ["keep*"]\n')
    command = run("apply", "--undo", UNDO).stderr.splitlines()[-1].partition("run: ")[2]
    Path("simdoc.toml").unlink()
    output(*shlex.split(command)[1:])

    assert {"keep.txt", "old/keep.txt"} < before
    assert before == ids()


def test_undo_reads_an_archive_of_a_folder_that_has_no_other_documents() -> None:
    write(Path("docs"), {"a.zip": packed_zip({"in.txt": words(300, 400)})})
    write(Path("old"), {"a.zip": Path("docs/a.zip").read_bytes()})
    output("index", "docs", "--archives")
    output("index", "old", "--archives", "--prefix", "old/")
    plan("docs", "old", "--keep-in", "docs/")
    before = ids()
    output(*MOVE)
    without = ids()
    output("apply", "--undo", UNDO)

    assert {"old/a.zip!in.txt"} == {id for id in before - without if "old" in id}
    assert before == ids()


def test_undo_adds_files_to_the_index_that_an_interrupted_run_restored(monkeypatch: pytest.MonkeyPatch) -> None:
    write(Path("docs"), {"sub/copy (1).txt": BASE})
    plan()
    before = output("list", "--json")
    output(*MOVE)
    undo_one = rollback._undo
    undone: list[Change] = []

    def interrupted(change: Change) -> bool:
        if undone:
            raise KeyboardInterrupt
        undone.append(change)
        return undo_one(change)

    with monkeypatch.context() as patched:
        patched.setattr(rollback, "_undo", interrupted)
        assert "interrupted; run the same command again to resume" in run("apply", "--undo", UNDO).stderr
    assert "1 restored, 2 documents added to the index" in output("apply", "--undo", UNDO)
    assert before == output("list", "--json")


def test_a_folder_for_moved_files_in_the_indexed_folder_is_noted() -> None:
    """A hidden folder is not, because `index` skips it."""
    plan()
    for folder, is_noted in (("docs/gone/x", True), ("docs", True), ("gone", False), ("docs/.gone/x", False)):
        dry_run = run("apply", "plan.tsv", "--move-to", folder, "--dry-run")
        note = f"note: {folder} is in the indexed folder docs, so the moved files will be found as copies again"
        assert is_noted == (note in dry_run.stderr)


def test_a_file_that_changed_since_it_was_indexed_is_not_dropped() -> None:
    output("index", "docs")
    write(Path("docs"), {"sub/copy.txt": words(500, 700)})
    assert {"keep.txt": "keep", "sub/copy.txt": "decide", "sub/loud.txt": "decide"} == {
        id: action for action, _, id in plan("--overlap", "100")
    }
    edit("decide\t", "drop\t")
    result = run(*MOVE)

    assert 1 == result.exit_code
    assert "has no value in the column `state` (same text; the file has changed" in result.stderr
    new_plan = f"simdoc-search duplicates {shlex.quote(str(Path('docs').absolute()))} --plan NEW"
    assert f"to write a new plan for these documents, run: {new_plan}" in result.stderr.splitlines()
    assert "1 file moved, 1 left alone, 1 document removed from the index" == result.stdout.splitlines()[-1]
    output("duplicates", "docs", "--plan", "again.tsv")
    assert "sub/copy.txt" not in Path("again.tsv").read_text("utf-8")


@pytest.mark.usefixtures("read_in_this_process")
def test_a_member_of_an_archive_is_never_dropped_and_no_file_is_dropped_in_its_favour() -> None:
    """This holds even if the user writes drop."""
    write(Path("docs"), {"a.zip": packed_zip({"keep.txt": BASE})})
    output("index", "docs", "--archives")
    before, reason = tree(Path("docs")), "the file is in an archive or e-mail, which is never changed"
    rows = plan("docs", "--keep-in", "a.zip!")

    assert ["keep", "", "a.zip!keep.txt"] == rows[0]
    assert [["drop", "identical", "sub/copy.txt"]] == [row for row in rows[1:] if row[0] != "decide"]
    assert 1 == Path("plan.tsv").read_text("utf-8").count(reason)
    assert 3 == output("duplicates", "--keep-in", "a.zip!").count("; the document to keep is in an archive or e-mail\n")
    edit("\ndecide\t", "\ndrop\t")
    left = run("apply", "plan.tsv", "--delete", "--yes")
    assert 1 == left.exit_code
    assert f"a.zip!keep.txt should be kept instead, but {reason}" in left.stderr
    assert ["decide", "identical", "a.zip!keep.txt"] in plan()
    edit("decide\t1\t100.0\tidentical", "drop\t1\t100.0\tidentical")
    dry_run = run(*MOVE, "--dry-run")
    assert f"a.zip!keep.txt: {reason}" in dry_run.stderr
    assert "new plan" not in left.stderr + dry_run.stderr
    assert before == tree(Path("docs"))


def test_the_option_drop_extends_the_plan_and_is_recorded_in_it() -> None:
    write(Path("docs"), {"spaces.md": f"\n{BASE}", "page.html": f"<p>{BASE}</p>", "keep.txt.bak": BASE})
    expected = {"keep.txt.bak": "identical", "sub/copy.txt": "identical"}
    for drop, more in (
        ("", {}),
        ("same-text", {"page.html": "same text"}),
        ("same-words", {"sub/loud.txt": "same words", "spaces.md": "same words"}),
    ):
        expected |= more
        rows = plan("docs", *(["--drop", drop] if drop else []))
        assert expected == {id: kind for action, kind, id in rows if action == "drop"}
        assert bool(drop) == (f"Because of `--drop {drop}`" in Path("plan.tsv").read_text("utf-8"))
    assert "5 files moved, 5 documents" in output(*MOVE)


def test_a_group_without_a_kept_document_is_refused() -> None:
    plan()
    edit("keep\t", "drop\t")
    result = run("apply", "plan.tsv", "--delete", "--yes")

    assert (1, "0 files deleted, 1 group not applied") == (result.exit_code, result.stdout.strip())
    assert "group 1 was not applied: " in result.stderr
    assert 5 == len(tree(Path("docs")))


def test_deleting_needs_yes() -> None:
    """`--yes` is needed for a file that cannot be restored, and if there is no terminal."""
    plan("docs", "--drop", "same-words")
    problem = "the deletion of 1 file that differs from the kept file cannot be undone"
    assert f"{problem}; check the plan with --dry-run, then add --yes" == sentence(run("apply", "plan.tsv", "--delete"))
    dry = run("apply", "plan.tsv", "--delete", "--dry-run")
    assert f"note: {problem}" in dry.stderr.splitlines()
    edit("drop\t1\t100.0\tsame words", "decide\t1\t100.0\tsame words")
    assert "cannot ask for confirmation" in sentence(run("apply", "plan.tsv", "--delete"))
    assert 5 == len(tree(Path("docs")))
    assert "1 file deleted" in output("apply", "plan.tsv", "--delete", "--yes")


def test_deletions_that_cannot_be_undone_are_marked() -> None:
    """The last line says how many can be undone. It names no command if none can."""
    plan("docs", "--drop", "same-words")
    dry = output("apply", "plan.tsv", "--delete", "--dry-run").splitlines()
    deleted = run("apply", "plan.tsv", "--delete", "--yes")

    marked = [line.endswith("keep.txt  (cannot be undone)") for line in dry if "duplicate of" in line]
    assert [False, True] == marked
    assert [f"deleted{line.removeprefix('delete')}" for line in dry[:-1]] == deleted.stdout.splitlines()[:-1]
    counts = "1 of the 2 deletions can be undone; to undo them, run: simdoc-search apply --undo plan.tsv.undo"
    assert counts == deleted.stderr.splitlines()[-1]
    assert "1 restored, 1 not restored" in run("apply", "--undo", UNDO).stdout


@pytest.mark.parametrize(
    ("dropped", "last_line"), [(["sub/loud"], "the deletion"), (["sub/loud", "near"], "the 2 deletions")]
)
def test_no_command_is_named_if_no_deletion_can_be_undone(dropped: list[str], last_line: str) -> None:
    plan()
    edit("\ndrop\t", "\ndecide\t")
    lines = Path("plan.tsv").read_text("utf-8").splitlines(keepends=True)
    is_dropped = [any(f"{name}.txt\t" in line for name in dropped) for line in lines]
    changed = [
        line.replace("decide\t", "drop\t") if drop else line for line, drop in zip(lines, is_dropped, strict=True)
    ]
    Path("plan.tsv").write_text("".join(changed), "utf-8")
    deleted = run("apply", "plan.tsv", "--delete", "--yes")

    assert f"{last_line} cannot be undone" == deleted.stderr.splitlines()[-1]
    assert "apply --undo" not in deleted.stderr


@pytest.mark.parametrize(("typed", "left"), [("n\n", 5), ("y\n", 4)])
def test_a_user_is_asked_once(monkeypatch: pytest.MonkeyPatch, typed: str, left: int) -> None:
    plan()
    monkeypatch.setattr(command, "_can_prompt", lambda: True)
    result = run(*MOVE, stdin=typed)

    assert f"Move 1 file ({len(BASE):,} bytes)?" in result.stderr
    assert left == len(tree(Path("docs")))


def test_linked_files_remain_in_the_store() -> None:
    plan("docs", "--drop", "same-words")
    result = run("apply", "plan.tsv", "--hardlink")

    assert (1, "1 file linked, 1 left alone") == (result.exit_code, result.stdout.splitlines()[-1])
    assert Path("docs/keep.txt").samefile("docs/sub/copy.txt")
    assert "documents  5" == stored()


def test_documents_without_files_are_only_dropped_by_delete() -> None:
    """They are only dropped if their text has not changed since the plan was written. They cannot be restored."""
    output("index", "-", stdin=json_lines(*({"id": id, "text": BASE} for id in "abc")))
    assert [["keep", "", "a"], ["drop", "identical", "b"], ["drop", "identical", "c"]] == plan("--overlap", "90")

    moved = run(*MOVE)
    advice = "left alone: 2 documents without a file; to remove such documents from the index, use --delete and --store"
    assert (1, 1) == (moved.exit_code, moved.stderr.count(advice))
    elsewhere = sentence(run("apply", "plan.tsv", "--delete", "--yes", "--store", "none"))
    assert "but none is not an index; add the option --store that the first lines of the plan show" in elsewhere
    assert "the deletion of 2 documents without files cannot be undone" in sentence(
        run("apply", "plan.tsv", "--delete")
    )
    output("index", "-", stdin=json_lines({"id": "c", "text": words(3, 99)}))
    result = run("apply", "plan.tsv", "--delete", "--yes")

    assert (1, "0 files deleted, 1 left alone, 1 document removed from the index") == (
        result.exit_code,
        result.stdout.splitlines()[-1],
    )
    assert "To remove rows of a table or a JSONL file, run: simdoc-search dedupe FILE -o KEPT" in result.stderr
    assert "left alone: c: the document has changed since the plan was written" in result.stderr
    assert "documents  2" == stored()
    assert "0 files deleted, 1 already done, 1 left alone" in run("apply", "plan.tsv", "--delete", "--yes").stdout
    undone = run("apply", "--undo", UNDO)
    assert (
        1,
        "not restored: b: a document that was deleted from the index cannot be restored; index the document again",
    ) == (
        undone.exit_code,
        undone.stderr.strip(),
    )


def test_without_a_store_the_command_that_updates_it_is_named() -> None:
    plan()
    result = run(*MOVE, "--store", "nowhere")

    assert 0 == result.exit_code
    assert "simdoc-search index FOLDER --prune --store INDEX\n" in result.stderr
    assert not Path("nowhere").exists()
    assert "0 files moved, 1 already done, 1 document removed from the index" == output(*MOVE).strip()


def test_a_wrong_combination_of_arguments_is_refused() -> None:
    for arguments in ((), ("plan.tsv",), ("plan.tsv", "--delete", "--hardlink"), ("--delete",)):
        assert "give PLAN and one of" in usage_error(run("apply", *arguments))
    assert "--undo cannot be combined with PLAN" in usage_error(run("apply", "plan.tsv", "--undo", UNDO))
    assert "does not exist, so there is nothing to undo" in sentence(run("apply", "--undo", UNDO))


def test_a_plan_of_a_table_says_how_to_remove_its_rows() -> None:
    Path("rows.csv").write_text(f"id,text\na,{BASE}\nb,{BASE}\n")
    planned = run("duplicates", "rows.csv", "--plan", "rows.tsv")
    applied = run("apply", "rows.tsv", "--delete", "--yes", "--dry-run")

    assert "note: `apply` cannot change rows of tables. To remove rows of a table" in planned.stderr
    assert "0 files would be deleted, 1 document would be removed from the index" == applied.stdout.splitlines()[-1]
    assert "simdoc-search dedupe FILE -o KEPT" in applied.stderr


@posix_only
def test_undo_adds_files_behind_a_followed_link_to_the_index_again() -> None:
    write(Path("stick"), {"copy.txt": BASE})
    Path("docs/link").symlink_to("../stick")
    output("index", "docs", "--follow-links")
    before = ids()
    plan()
    edit("decide\t", "drop\t")
    output(*MOVE)
    without = ids()
    undone = run("apply", "--undo", UNDO)

    assert {"link/copy.txt"} < before - without
    assert ("4 restored, 4 documents added to the index", "") == (undone.stdout.splitlines()[-1], undone.stderr)
    assert before == ids()


def test_undo_names_the_restored_files_that_it_cannot_index(tmp_path: Path) -> None:
    """The command adds them."""
    folder, store = tmp_path / "docs", tmp_path / "index"
    output("duplicates", "docs", "--plan", "plan.tsv", "--store", store)
    output(*MOVE, "--store", store)
    Path("simdoc.toml").write_text('[index]\nexclude-files = ["copy*"]\n')
    undone = run("apply", "--undo", UNDO, "--store", store)
    command = ["simdoc-search", "duplicates", str(folder), "--store", str(store)]
    Path("simdoc.toml").unlink()

    assert "1 restored" == undone.stdout.splitlines()[-1]
    assert [
        "1 restored file is not in the index: docs/sub/copy.txt",
        f"to add it to the index, run: {shlex.join(command)}",
    ] == undone.stderr.splitlines()
    output(*command[1:])
    assert {*FILES} == ids("--store", store)


def moved_and_elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Apply a plan of `./.simdoc`. Return its undo file, and change to a folder with an index of other files."""
    plan()
    output(*MOVE)
    write(tmp_path / "elsewhere", {"own.txt": words(500, 600)})
    monkeypatch.chdir(tmp_path / "elsewhere")
    output("index", ".")
    return tmp_path / UNDO


def test_undo_updates_the_index_of_the_plan(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The current folder has the index of other files."""
    undone = run("apply", "--undo", moved_and_elsewhere(monkeypatch, tmp_path))

    index = tmp_path / ".simdoc"
    assert f"1 restored, 1 document added to the index {index}" == undone.stdout.splitlines()[-1]
    assert ({*FILES}, {"own.txt"}) == (ids("--store", index), ids())


def test_undo_does_not_update_another_index(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The command that it prints updates the index of the plan."""
    undone = run("apply", "--undo", moved_and_elsewhere(monkeypatch, tmp_path), "--store", ".simdoc")

    index, copy = tmp_path / ".simdoc", tmp_path / "docs/sub/copy.txt"
    problem = f"the plan belongs to the index {index}, not to .simdoc"
    command = ["simdoc-search", "duplicates", str(tmp_path / "docs"), "--store", str(index)]
    assert [
        f"1 restored file is not in the index, because {problem}: {copy}",
        f"to add it to the index, run: {shlex.join(command)}",
    ] == undone.stderr.splitlines()
    output(*command[1:])
    assert ({*FILES}, {"own.txt"}) == (ids("--store", index), ids())


def test_undo_does_not_connect_to_an_engine_that_only_the_undo_file_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another user may have written its URL."""
    monkeypatch.setattr("simdoc_search.stores.remote.connection.connect", pytest.fail)
    plan()
    output(*MOVE)
    header, _, *changes = Path(UNDO).read_text().splitlines(keepends=True)
    index = json.dumps(
        {"act": "index", "location": "http://evil.example:9200/a", "folders": {str(Path("docs").absolute()): ""}}
    )
    Path(UNDO).write_text(
        "".join([header, f"{blake2b(index.encode(), digest_size=8).hexdigest()} {index}\n", *changes])
    )
    undone = run("apply", "--undo", UNDO)

    assert "the plan belongs to the index http://evil.example:9200/a, not to ./.simdoc" in undone.stderr
    assert "docs --store http://evil.example:9200/a\n" in undone.stderr
    assert "docs/sub/copy.txt" not in ids()


def test_a_plan_that_is_applied_with_another_index_names_no_index(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Neither the move nor the undo changes the other index. The messages do not recommend to do so."""
    plan()
    write(tmp_path / "elsewhere", {"own.txt": words(500, 600)})
    monkeypatch.chdir(tmp_path / "elsewhere")
    output("index", ".")
    moved = run("apply", tmp_path / "plan.tsv", "--move-to", "gone")
    undone = run("apply", "--undo", tmp_path / UNDO)

    assert "update it with: simdoc-search index FOLDER --prune --store INDEX\n" in moved.stderr
    assert "not in the index, because ./.simdoc does not contain their folders: " in undone.stderr
    assert "to add it to the index, run: simdoc-search duplicates FOLDER --store INDEX\n" in undone.stderr
    assert {"own.txt"} == ids()
