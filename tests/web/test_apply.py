"""`serve --allow-apply`: moves duplicates into a folder, and moves them back."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from simdoc_search import SimilaritySearch, open_store
from simdoc_search.web import LocalAccess
from tests.support.cli import output, words, write
from tests.support.cli import run as cli_run
from tests.support.web import BROWSER, Pages, pages_over

COPIES: dict[str, str | bytes] = {
    "a.txt": words(0, 200),
    "b.txt": words(0, 200),
    "old/c.txt": words(0, 200),
    "near.txt": words(0, 190) + " end",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A corpus with three copies and a similar text, and its store."""
    write(tmp_path / "corpus", COPIES)
    output("index", tmp_path / "corpus", "--store", tmp_path / "store")
    return tmp_path


@pytest.fixture
def pages(folder: Path) -> Iterator[Pages]:
    """A server that may move files."""
    local = LocalAccess(str(folder / "store"), folder / "home" / "removed")
    with pages_over(folder / "store", local=local) as running:
        running.sent("/duplicates", 202, overlap=70)
        running.finished("/duplicates")
        yield running


def files(folder: Path) -> dict[str, str]:
    """The texts of all files below a folder, by path."""
    paths = (path for path in folder.rglob("*.txt") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_text() for path in paths}


def token(pages: Pages) -> str:
    """The token in the form of the page."""
    found = re.search(r'name="form_token" value="([^"]+)"', pages.html("/duplicates/plan"))
    assert found is not None
    return found[1]


def ids(folder: Path) -> list[str]:
    """The ids in the store."""
    return sorted(SimilaritySearch(open_store(folder / "store")).store.ids_with_prefix("", 99))


def move_files_and_index_others(
    pages: Pages, folder: Path, index: str, *, exclude: Sequence[str] = ()
) -> tuple[str, LocalAccess]:
    """Move the copies of the served index, and make another index. Return the run, and the access of its server."""
    pages.sent("/duplicates/apply", 202, form_token=token(pages))
    [run] = pages.finished("/duplicates/apply")["undoable_runs"]
    write(folder / "other", {"own.txt": words(500, 600)})
    output("index", folder / "other", "--store", folder / index)
    return run, LocalAccess(str(folder / index), folder / "home" / "removed", exclude)


def test_duplicates_are_moved_and_moved_back(pages: Pages, folder: Path) -> None:
    """The index and the home page follow both changes."""
    given = token(pages)
    assert len(COPIES) == pages.json("/")["document_count"]
    pages.client.post("/duplicates/apply", data={"form_token": given}, headers=BROWSER)
    pages.finished("/duplicates/apply")
    moved_page = pages.html("/duplicates/apply")
    count_after_move = pages.json("/")["document_count"]
    kept, stored = files(folder / "corpus"), ids(folder)
    [run] = pages.json("/duplicates/apply")["undoable_runs"]
    moved = files(folder / "home" / "removed" / run / "files")
    pages.client.post("/duplicates/undo", data={"form_token": given, "run": run}, headers=BROWSER)
    done = pages.finished("/duplicates/apply")

    assert "2 files were moved" in moved_page
    assert 'href="/duplicates/apply"' in pages.html("/duplicates")
    assert (2, 2) == (len(moved), len(kept))
    assert (2, len(COPIES)) == (count_after_move, pages.json("/")["document_count"])
    assert COPIES == kept | moved
    assert sorted(kept) == stored
    assert ("none", None) == (pages.json("/duplicates")["state"], done["problem"])
    assert (COPIES, []) == (files(folder / "corpus"), done["undoable_runs"])
    assert not (folder / "home" / "removed").exists()
    assert "2 files were moved back" in pages.html("/duplicates/apply")
    assert "Their documents are in the index again" in pages.html("/duplicates/apply")
    assert sorted(COPIES) == ids(folder)


def test_the_page_shows_the_progress_of_a_run(pages: Pages) -> None:
    pages.served.file_changes.state = ("applying", 0.5)
    html = pages.html("/duplicates/apply")
    pages.served.file_changes.state = None

    assert "Moving the files" in html


def move_and_block(pages: Pages, folder: Path) -> tuple[str, str, Path]:
    """Move the copies, and put another file in the place of one. Return the form token, the run, and that file."""
    given = token(pages)
    pages.sent("/duplicates/apply", 202, form_token=given)
    [run] = pages.finished("/duplicates/apply")["undoable_runs"]
    in_the_way = next(folder / "corpus" / name for name in COPIES if not (folder / "corpus" / name).exists())
    in_the_way.write_text("another text")
    return given, run, in_the_way


def undo_button(run: str) -> str:
    return f'<button name="run" value="{run}"'


def test_a_run_is_offered_until_all_its_files_are_back(pages: Pages, folder: Path) -> None:
    """A file that is in the way is not overwritten. A folder with another file is not removed."""
    given, run, in_the_way = move_and_block(pages, folder)
    pages.sent("/duplicates/undo", 202, form_token=given, run=run)
    [still_undoable] = pages.finished("/duplicates/apply")["undoable_runs"]
    partial = pages.html("/duplicates/apply")
    in_the_way.unlink()
    run_folder = folder / "home" / "removed" / run
    (run_folder / "note.txt").write_text("mine")
    pages.sent("/duplicates/undo", 202, form_token=given, run=run)
    done = pages.finished("/duplicates/apply")

    assert {"note.txt", "plan.tsv"} == {path.name for path in run_folder.iterdir()}
    assert run == still_undoable
    assert "1 file was moved back" in partial
    assert f"{in_the_way}: another file is now at this path" in partial
    assert undo_button(run) in partial
    assert (COPIES, []) == (files(folder / "corpus"), done["undoable_runs"])
    assert undo_button(run) not in pages.html("/duplicates/apply")


def test_the_page_knows_what_was_undone_at_the_command_line(pages: Pages, folder: Path) -> None:
    _, run, in_the_way = move_and_block(pages, folder)
    undo = ("apply", "--undo", folder / "home" / "removed" / run / "plan.tsv.undo", "--store", folder / "store")
    assert 1 == cli_run(*undo).exit_code
    after_partial_undo = pages.html("/duplicates/apply")
    in_the_way.unlink()
    output(*undo)
    after_undo = pages.html("/duplicates/apply")

    assert undo_button(run) in after_partial_undo
    assert undo_button(run) not in after_undo
    assert "This run was already undone" in after_undo


def test_files_are_added_to_the_index_if_it_has_no_other_documents_of_their_folder(pages: Pages, folder: Path) -> None:
    given = token(pages)
    pages.sent("/duplicates/apply", 202, form_token=given)
    pages.finished("/duplicates/apply")
    output("delete", *ids(folder), "--store", folder / "store")
    [run] = pages.json("/duplicates/apply")["undoable_runs"]
    pages.sent("/duplicates/undo", 202, form_token=given, run=run)
    pages.finished("/duplicates/apply")

    assert "Their documents are in the index again" in pages.html("/duplicates/apply")
    assert ["b.txt", "old/c.txt"] == ids(folder)


def test_a_run_of_another_index_is_undone_in_that_index(pages: Pages, folder: Path) -> None:
    """The page lists it after the runs of this server's index."""
    run, local = move_files_and_index_others(pages, folder, "other index")
    with pages_over(folder / "other index", local=local) as others:
        listed, html = others.json("/duplicates/apply"), others.html("/duplicates/apply")
        others.sent("/duplicates/undo", 202, form_token=local.form_token, run=run)
        others.finished("/duplicates/apply")
        undone = others.html("/duplicates/apply")

    index = str(folder / "store")
    assert ([], {run: index}) == (listed["undoable_runs"], listed["undoable_runs_of_other_indices"])
    assert f"2 moved files of another index, <bdi>{index}</bdi></span>" in html
    assert f"Their documents are in the index <bdi>{index}</bdi> again" in undone
    assert sorted(COPIES) == ids(folder)
    assert ["own.txt"] == sorted(open_store(folder / "other index").ids_with_prefix("", 99))


def test_the_command_after_the_undo_of_another_index_names_that_index(pages: Pages, folder: Path) -> None:
    """The server skips the files, so it cannot index them again."""
    run, local = move_files_and_index_others(pages, folder, "other-index", exclude=["*.txt"])
    with pages_over(folder / "other-index", local=local) as others:
        others.sent("/duplicates/undo", 202, form_token=local.form_token, run=run)
        others.finished("/duplicates/apply")
        html = others.html("/duplicates/apply")

    assert f"To add them to the index <bdi>{folder / 'store'}</bdi>, run this command" in html
    assert f"simdoc-search duplicates {folder / 'corpus'} --store {folder / 'store'}<" in html


def test_the_decisions_of_the_page_are_carried_out(pages: Pages, folder: Path) -> None:
    """An undecided document is not moved."""
    groups = pages.json("/duplicates")["groups"]
    rows = [f"row-0-{member}" for member in range(3)]
    pages.sent("/duplicates/decide", 202, pick=rows, selected="decide")
    pages.sent("/duplicates/decide", 202, instead="row-0-0")
    pages.sent("/duplicates/decide", 202, **{"row-0-kept": "drop"})
    pages.sent("/duplicates/apply", 202, form_token=token(pages))
    pages.finished("/duplicates/apply")

    assert {*COPIES} - {groups[0]["kept"]["id"]} == {*files(folder / "corpus")}


@pytest.mark.parametrize(
    ("text", "reason"), [("something else", "the file has changed since it was indexed"), (None, "the file is gone")]
)
def test_a_changed_file_is_left_alone_and_listed(pages: Pages, folder: Path, text: str | None, reason: str) -> None:
    """The others are moved."""
    given = token(pages)
    changed = folder / "corpus" / pages.json("/duplicates")["groups"][0]["duplicate_ids"][0]
    changed.unlink() if text is None else changed.write_text(text)
    pages.sent("/duplicates/apply", 202, form_token=given)
    pages.finished("/duplicates/apply")
    html = pages.html("/duplicates/apply")

    assert "1 file was moved" in html
    assert "1 entry of the plan was left alone" in html
    assert f"<li>{changed}: {reason}</li>" in html
    assert text == (changed.read_text() if changed.exists() else None)


def test_copies_of_a_changed_file_are_left_alone_and_listed(pages: Pages, folder: Path) -> None:
    """The document that the user keeps instead of the proposed one has changed."""
    given = token(pages)
    [group] = pages.json("/duplicates")["groups"]
    pages.sent("/duplicates/decide", 202, instead="row-0-0")
    pages.sent("/duplicates/decide", 202, **{"row-0-kept": "drop"})
    (folder / "corpus" / group["duplicate_ids"][0]).write_text("something else")
    pages.sent("/duplicates/apply", 202, form_token=given)
    pages.finished("/duplicates/apply")

    kept = folder / "corpus" / group["kept"]["id"]
    reason = "the document to keep has a problem: the file has changed since it was indexed"
    assert f"<li>{kept}: {reason}</li>" in pages.html("/duplicates/apply")
    assert kept.exists()


@pytest.mark.parametrize("given", ["", "wrong", "ü"])
def test_a_form_without_the_token_moves_nothing(pages: Pages, folder: Path, given: str) -> None:
    """Another site cannot read the token."""
    for path in ("/duplicates/apply", "/duplicates/undo"):
        assert "reload the page" in pages.sent(path, 403, form_token=given, run="x")["error"]
    cross_site = {"origin": "https://evil.example"}
    posted = pages.client.post("/duplicates/apply", data={"form_token": token(pages)}, headers=cross_site)

    assert 403 == posted.status_code
    assert COPIES == files(folder / "corpus")


def test_only_known_runs_can_be_undone(pages: Pages, folder: Path) -> None:
    """A path is not a run."""
    write(folder / "home", {"plan.tsv.undo": ""})
    for run in ("", "..", "../..", "2026-01-01_000000", str(folder)):
        assert "no changes to undo" in pages.sent("/duplicates/undo", 400, form_token=token(pages), run=run)["error"]


@pytest.mark.parametrize("header", ["x-forwarded-for", "forwarded", "via"])
def test_a_proxied_request_moves_nothing(pages: Pages, header: str) -> None:
    """Its sender may be on another computer."""
    values = {"form_token": token(pages)}
    posted = pages.client.post("/duplicates/apply.json", data=values, headers={header: "10.0.0.7"})

    assert 403 == posted.status_code
    assert "form_token" not in pages.client.get("/duplicates/plan", headers={**BROWSER, header: "10.0.0.7"}).text


@pytest.mark.parametrize("local", [None, LocalAccess("store")])
def test_a_server_without_the_option_moves_nothing(folder: Path, local: LocalAccess | None) -> None:
    """The page has no button for it."""
    with pages_over(folder / "store", local=local) as pages:
        pages.sent("/duplicates", 202)
        pages.finished("/duplicates")

        assert "form_token" not in pages.html("/duplicates/plan")
        assert 'href="/duplicates/apply"' not in pages.html("/duplicates")
        assert "--allow-apply" in pages.sent("/duplicates/apply", 403, form_token="x")["error"]
        assert "--allow-apply" in pages.json("/duplicates/apply", 403)["error"]


def test_in_an_indexed_folder_the_moved_files_are_hidden(tmp_path: Path) -> None:
    """Otherwise, `index` would add them again."""
    write(tmp_path / "home", COPIES)
    output("index", tmp_path / "home", "--store", tmp_path / "store")
    local = LocalAccess(str(tmp_path / "store"), tmp_path / "home" / "removed")
    with pages_over(tmp_path / "store", local=local) as pages:
        pages.sent("/duplicates", 202)
        pages.finished("/duplicates")
        pages.sent("/duplicates/apply", 202, form_token=token(pages))
        [run] = pages.finished("/duplicates/apply")["undoable_runs"]
        before = ids(tmp_path)
        output("index", tmp_path / "home", "--store", tmp_path / "store")

        assert (tmp_path / "home" / ".removed" / run / "plan.tsv").exists()
        assert before == ids(tmp_path)
