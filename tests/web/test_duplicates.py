"""The search for duplicates: its groups, the user's decisions, and the plan."""

from __future__ import annotations

import csv
import re
import shlex
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from email.message import EmailMessage
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from simdoc_search.display import format_bytes
from simdoc_search.duplicates.plan import expected_changes, read_plan
from simdoc_search.stores.local.store import LocalStore
from simdoc_search.stores.record import Record
from simdoc_search.web import LocalAccess
from simdoc_search.web.response import url_for
from tests.support.cli import answer, output, words, write, write_corpus
from tests.support.waiting import wait_until
from tests.support.web import BROWSER, Pages, pages_over


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A corpus with copies, and its store."""
    write_corpus(tmp_path / "corpus")
    write(tmp_path / "corpus", {"again.txt": words(9000, 9200), "near.txt": words(9000, 9190) + " end"})
    output("index", tmp_path / "corpus", "--store", tmp_path / "store")
    return tmp_path


@pytest.fixture
def pages(folder: Path) -> Iterator[Pages]:
    """A server over this store."""
    with pages_over(folder / "store") as running:
        yield running


def found_groups(pages: Pages, **values: Any) -> list[Any]:
    """The groups of a new search."""
    assert "running" == pages.sent("/duplicates", 202, **values)["state"]
    return list(pages.finished("/duplicates")["groups"])


def saved_plan(pages: Pages, folder: Path) -> Path:
    """The downloaded plan."""
    response = pages.client.get("/duplicates/plan.tsv")
    assert "attachment" in response.headers["content-disposition"]
    (folder / "plan.tsv").write_text(response.text, "utf-8")
    return folder / "plan.tsv"


def test_the_groups_are_those_of_the_command_line(pages: Pages, folder: Path) -> None:
    """The groups come in parts, without the paths of files."""
    expected = answer("duplicates", "--overlap", "70", "--keep", "first", "--store", folder / "store")
    for cluster in expected["groups"]:
        for document in (cluster["kept"], *cluster["duplicates"]):
            document["path"] = None
    del expected["pairs"], expected["problems"]

    assert "none" == pages.json("/duplicates")["state"]
    groups = found_groups(pages, overlap=70, keep="first")
    assert {"state": "done", "next": None, **expected} == pages.json("/duplicates")
    first, second = pages.json("/duplicates", limit=1), pages.json("/duplicates", limit=1, start=1)
    assert 2 == len(groups)
    assert (groups, [1, None]) == (first["groups"] + second["groups"], [first["next"], second["next"]])
    assert [] == pages.json("/duplicates", start=10**8)["groups"]


def test_a_comparison_has_a_link_back_to_the_copies(pages: Pages) -> None:
    kinds = [[document["kind"] for document in group["duplicates"]] for group in found_groups(pages, overlap=70)]
    number = next(number for number, kinds_of_group in enumerate(kinds) if "near" in kinds_of_group)
    html = pages.html("/duplicates", start=number, limit=1)
    (link,) = re.findall(r'href="(/compare[^"]*)"', html)
    compared = pages.client.get(unescape(link), headers=BROWSER).text

    assert f'id="group-{number}"' in html
    assert f'<a href="/duplicates?start={number}&amp;limit=1#group-{number}">Back to the copies</a>' in compared
    assert [str(number), "1", str(number)] == re.findall(r'name="(?:start|limit|group)" value="(\d+)"', compared)
    assert "Back to the copies" not in pages.client.get(unescape(link).partition("&start")[0], headers=BROWSER).text


def test_the_plan_is_that_of_the_command_line_with_the_decisions(pages: Pages, folder: Path) -> None:
    """The page remembers the decisions."""
    output("duplicates", "--overlap", "70", "--plan", folder / "own.tsv", "--store", folder / "store")
    groups = found_groups(pages, overlap=70)
    proposed = read_plan(saved_plan(pages, folder))
    rows = [(number, member) for number, group in enumerate(groups) for member in range(len(group["duplicate_ids"]))]
    form = {f"row-{number}-{member}": "keep" for number, member in rows}
    moved = pages.client.post("/duplicates/decide", data=form, headers=BROWSER)
    decided = read_plan(saved_plan(pages, folder))

    assert read_plan(folder / "own.tsv") == proposed
    assert {"drop", "decide"} <= {row.action for row in proposed}
    assert (303, "/duplicates") == (moved.status_code, moved.headers["location"])
    assert {"keep"} == {row.action for row in decided}
    assert pages.html("/duplicates").count('value="keep" checked') == len(rows)


def test_the_page_of_the_plan_lists_what_is_removed(pages: Pages, folder: Path) -> None:
    """A decision changes the list."""
    group = next(group for group in found_groups(pages) if group["duplicates"][0]["kind"] == "identical")
    number, copy = found_groups(pages).index(group), group["duplicate_ids"][0]
    listed = f'href="{url_for("/document", id=copy)}"'

    assert listed in pages.html("/duplicates/plan")
    assert pages.html("/duplicates/plan").count('class="soft">(identical') == pages.json("/duplicates/plan")["drop"]
    pages.sent("/duplicates/decide", 202, **{f"row-{number}-0": "keep"})
    assert listed not in pages.html("/duplicates/plan")
    pages.sent("/duplicates/decide", 202, **{f"row-{number}-0": "drop"})
    assert listed in pages.html("/duplicates/plan")


def test_one_decision_is_saved_without_the_others(pages: Pages) -> None:
    """The script of the page sends each decision as a form, and keeps the page."""
    groups = found_groups(pages, overlap=70)
    before = counts_of(pages)
    number, member = next(
        (n, m) for n, group in enumerate(groups) for m, each in enumerate(group["duplicates"]) if each["kind"] == "near"
    )
    saved = pages.client.post(
        "/duplicates/decide", data={f"row-{number}-{member}": "drop"}, headers={"accept": "application/json"}
    )

    [shown] = re.findall(r'<span class="plan-counts">([^<]+)<', pages.html("/duplicates"))
    assert (202, {"decision_count": 1, "plan": shown}) == (saved.status_code, saved.json())
    assert shown.startswith(f"{before['drop'] + 1} to remove, {before['decide'] - 1} undecided")
    assert {**before, "decide": before["decide"] - 1, "drop": before["drop"] + 1} == counts_of(pages)
    assert 'class="scripted soft save-status" role="status"' in pages.html("/duplicates")


def actions_of(plan: Path) -> dict[str, tuple[str, str]]:
    """Map each id of a plan to the action and to the name of the document that is kept instead."""
    return {row.key.id: (row.action, Path(row.kept_name).name) for row in read_plan(plan)}


def cells_of(plan: Path) -> dict[str, dict[str, str]]:
    """Map each id of a plan to the cells of its row by column."""
    lines = [line for line in plan.read_text("utf-8").splitlines() if not line.startswith("#")]
    return {row["id"]: row for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)}


def counts_of(pages: Pages) -> dict[str, int]:
    """The counts on the page of the plan, without the documents that are kept in each group."""
    return {action: pages.json("/duplicates/plan")[action] for action in ("keep", "drop", "decide")}


def test_another_document_of_a_group_can_be_kept(pages: Pages, folder: Path) -> None:
    """An identical copy takes the place of the proposed document, which is removed. Another click undoes this."""
    groups = found_groups(pages)
    number = next(n for n, group in enumerate(groups) if group["duplicates"][0]["kind"] == "identical")
    kept, other = groups[number]["kept"]["id"], groups[number]["duplicate_ids"][0]
    before = actions_of(saved_plan(pages, folder))
    moved = pages.client.post("/duplicates/decide", data={"instead": f"row-{number}-0"}, headers=BROWSER)
    plan = saved_plan(pages, folder)
    page = pages.html("/duplicates")

    assert (303, f"/duplicates#group-{number}") == (moved.status_code, moved.headers["location"])
    assert (("keep", ""), ("drop", Path(kept).name)) == (before[kept], before[other])
    assert {other: ("keep", ""), kept: ("drop", Path(other).name)} == {id: actions_of(plan)[id] for id in (other, kept)}
    assert read_plan(plan)[[row.group for row in read_plan(plan)].index(number + 1)].key.id == other
    assert f'value="row-{number}-kept" aria-label="Keep this one instead: {kept}, not {other}"' in page
    output("apply", plan, "--move-to", folder / "gone", "--store", folder / "store")
    assert [kept] == [str(path.relative_to(folder / "gone")) for path in (folder / "gone").rglob(Path(kept).name)]

    pages.sent("/duplicates/decide", 202, instead=f"row-{number}-kept")
    assert f'value="row-{number}-kept"' not in pages.html("/duplicates")


def test_a_similar_document_that_is_kept_instead_removes_nothing_by_itself(pages: Pages, folder: Path) -> None:
    """The proposed document becomes undecided. If it is removed, its identical copies are removed for the new one."""
    groups = found_groups(pages, overlap=70)
    number, group = next(
        (n, group)
        for n, group in enumerate(groups)
        if {"near", "identical"} <= {d["kind"] for d in group["duplicates"]}
    )
    member = next(n for n, duplicate in enumerate(group["duplicates"]) if duplicate["kind"] == "near")
    kept, near = group["kept"]["id"], group["duplicate_ids"][member]
    copies = [d["id"] for d in group["duplicates"] if d["kind"] == "identical"]
    pages.sent("/duplicates/decide", 202, instead=f"row-{number}-{member}")
    undecided = actions_of(saved_plan(pages, folder))
    assert pages.html("/duplicates/plan").count(f"identical to {kept}") == len(copies)
    pages.sent("/duplicates/decide", 202, **{f"row-{number}-kept": "drop"})
    output("apply", saved_plan(pages, folder), "--move-to", folder / "gone", "--store", folder / "store")

    assert [("keep", ""), ("decide", near)] == [undecided[near], undecided[kept]]
    assert {kept, *copies} <= {path.relative_to(folder / "gone").as_posix() for path in (folder / "gone").rglob("*")}
    assert (folder / "corpus" / near).exists()


def test_the_reasons_are_those_of_the_command_line_if_another_document_is_kept(tmp_path: Path) -> None:
    """Each pair is described from the document that is kept to the other one. A hard link names the other file."""
    text = words(0, 100)
    files = {"near.txt": f"{text} 850 more", "near 2.txt": f"{text} 890", "same words.txt": words(100, 200)}
    files |= {"same words 2.txt": words(100, 200).title(), "same text.txt": words(200, 300)}
    files |= {"same text.html": f"<p>{words(200, 300)}</p>", "link.txt": words(300, 400), "copy.txt": words(400, 500)}
    write(folder := tmp_path / "corpus", {**files, "copy 2.txt": files["copy.txt"]})
    (folder / "link 2.txt").hardlink_to(folder / "link.txt")
    output("index", folder, "--store", tmp_path / "store")
    with pages_over(tmp_path / "store") as pages:
        groups = found_groups(pages)
        for number in range(len(groups)):
            pages.sent("/duplicates/decide", 202, instead=f"row-{number}-0")
        plan, page = saved_plan(pages, tmp_path), unescape(pages.html("/duplicates"))
    output("duplicates", "--previous-plan", plan, "--plan", tmp_path / "by command", "--store", tmp_path / "store")
    rows, expected = cells_of(plan), cells_of(tmp_path / "by command")

    assert [2] * 5 == list(Counter(row["group"] for row in rows.values()).values())
    assert {"identical", "hard link", "same text", "same words", "near", ""} == {row["kind"] for row in rows.values()}
    assert {group["kept"]["id"] for group in groups} == {id for id, row in rows.items() if row["kept"]}
    for id, row in rows.items():
        assert {**expected[id], "group": row["group"]} == row
        assert row["note"] in page


def test_a_similar_document_names_the_document_that_it_was_compared_with(pages: Pages, folder: Path) -> None:
    """It was not compared with the document that the user keeps instead."""
    text = words(9000, 9190) + " end of it"
    write(folder / "corpus", {"near 2.txt": text, "near 2 (1).txt": text})
    output("index", folder / "corpus", "--store", folder / "store")
    groups = found_groups(pages)
    [number] = [n for n, group in enumerate(groups) if "near.txt" in group["duplicate_ids"]]
    kept, ids = groups[number]["kept"]["id"], groups[number]["duplicate_ids"]
    before = cells_of(saved_plan(pages, folder))
    pages.sent("/duplicates/decide", 202, instead=f"row-{number}-{ids.index('near.txt')}")
    rows = cells_of(saved_plan(pages, folder))

    assert f"{before['near 2.txt']['note']} (compared with {kept})" == rows["near 2.txt"]["note"]
    assert re.search(r"overlap .*: “end” → “", rows[kept]["note"])
    assert "decide" == rows["near 2.txt"]["action"] == rows[kept]["action"]
    assert ("drop", "identical to near 2.txt") == (rows["near 2 (1).txt"]["action"], rows["near 2 (1).txt"]["note"])


def test_the_counts_are_those_of_the_plan(pages: Pages, folder: Path) -> None:
    """Decisions, selected documents, other kept documents and the accepted copies are counted, and the freed bytes."""
    (folder / "corpus/link.txt").hardlink_to(folder / "corpus/again.txt")
    output("index", folder / "corpus", "--store", folder / "store")
    groups = found_groups(pages, overlap=70)
    rows = [f"row-{n}-{member}" for n, group in enumerate(groups) for member in range(len(group["duplicate_ids"]))]
    requests: list[dict[str, Any]] = [
        {},
        {rows[0]: "keep"},
        {"pick": rows, "selected": "decide"},
        {"instead": rows[-1]},
        {"instead": rows[0]},
        {"row-0-kept": "keep"},
        {"then": "identical"},
        {"pick": rows[-1:], "selected": "drop"},
        {"then": "reset"},
    ]
    seen, freed = [], []
    for values in requests:
        pages.client.post("/duplicates/decide", data=values)  # 400 if the row is now that of a kept document
        plan = read_plan(saved_plan(pages, folder))
        seen.append(Counter(row.action for row in plan))
        assert Counter(counts_of(pages)) + Counter(keep=len(groups)) == seen[-1]
        freed.append(expected_changes(plan).freed_bytes)
        for page in ("/duplicates", "/duplicates/plan"):
            shown = re.findall(r"([\d.,]+ \w+) to free", pages.html(page))
            assert [format_bytes(freed[-1])] * (freed[-1] > 0) == shown

    assert 3 <= len({*freed})
    assert seen[0] == seen[-1]
    assert 0 == seen[6]["decide"]
    assert 5 <= len({*map(str, seen)})


def test_the_command_of_the_plan_is_complete_on_this_computer(folder: Path) -> None:
    """On another computer, the folders are not known."""
    local = LocalAccess(str(folder / "store"))
    with pages_over(folder / "store", local=local) as near, pages_over(folder / "store") as far:
        for pages in (near, far):
            found_groups(pages)
        plan = near.json("/duplicates/plan")
        proxied = near.client.get("/duplicates/plan.json", headers={"x-forwarded-for": "10.0.0.7"}).text
        command = shlex.split(plan["command"])

        assert ["simdoc-search", "apply"] == command[:2]
        assert Path(command[2]).is_absolute()
        assert plan["file"] == Path(command[2]).name
        assert ["--store", str(folder / "store")] == command[-2:]
        undo_command = ["simdoc-search", "apply", "--undo", f"{command[2]}.undo", "--store", str(folder / "store")]
        assert shlex.join(undo_command) in near.html("/duplicates/plan")
        assert f'filename="{plan["file"]}"' in near.client.get("/duplicates/plan.tsv").headers["content-disposition"]
        assert str(folder) not in far.html("/duplicates/plan") + proxied
        near.sent("/duplicates/decide", 202, then="identical")
        assert plan["file"] != near.json("/duplicates/plan")["file"]


def test_the_page_has_the_command_that_removes_missing_files_from_the_index(folder: Path) -> None:
    """On another computer, it names neither the folder nor the store."""
    (folder / "corpus" / "near.txt").unlink()
    store = folder / "store"
    with pages_over(store, local=LocalAccess(str(store))) as near, pages_over(store) as far:
        for pages in (near, far):
            found_groups(pages)
        command = shlex.join(["simdoc-search", "index", str(folder / "corpus"), "--prune", "--store", str(store)])

        assert f"<code>{command}</code>" in near.html("/duplicates")
        assert "<code>simdoc-search index FOLDER --prune</code>" in far.html("/duplicates")

        (folder / "corpus").rename(folder / "moved")
        assert f"<code>{command.replace('--prune', '--prune-all')}</code>" in near.html("/duplicates")
        assert "--prune-all" not in far.html("/duplicates")


def test_the_page_shows_folder_date_size_and_text(pages: Pages) -> None:
    """They help to decide which copy to keep."""
    found_groups(pages, overlap=70)
    html = pages.html("/duplicates")
    text = re.sub(r"<[^>]*>|\s+", " ", html)

    assert "reports/copy.txt" in re.sub(r"<[^>]*>", "", html)
    assert re.search(r"\d{4}-\d\d-\d\d \d\d:\d\d · [\d.]+ kB", text)
    assert "“word" in text


def test_a_file_that_changed_after_the_search_is_not_dropped(pages: Pages, folder: Path) -> None:
    """A decision to drop the file does not count."""
    changed = found_groups(pages)[0]["duplicate_ids"][0]
    (folder / "corpus" / changed).write_text("something else")
    pages.sent("/duplicates/decide", 202, **{"row-0-0": "drop"})

    assert ["decide"] == [row.action for row in read_plan(saved_plan(pages, folder)) if row.key.id == changed]


def test_a_malformed_decision_is_refused(pages: Pages) -> None:
    """No other decision of the same request is saved."""
    found_groups(pages)
    assert "there is no row" in pages.sent("/duplicates/decide", 400, instead="row-0-99")["error"]
    assert "must be 'keep'" in pages.sent("/duplicates/decide", 400, pick="row-0-0", selected="explode")["error"]
    for name in ("row-99-0", "row-0-99", "row-", "row-0-0-0", "row-٣-0", "row-0-kept"):
        assert "there is no row" in pages.sent("/duplicates/decide", 400, **{"row-0-0": "keep", name: "keep"})["error"]
    problem = pages.sent("/duplicates/decide", 400, **{"row-0-0": "explode"})["error"]

    assert "must be 'keep', 'drop' or 'decide'" in problem
    assert {} == pages.served.duplicates.result.decisions  # type: ignore[union-attr]


def test_a_wrong_option_is_reported(pages: Pages) -> None:
    """Some options are checked at once, others in the search."""
    assert "over 100" in pages.sent("/duplicates", 400, overlap=200)["error"]

    pages.sent("/duplicates", 202, keep="Odd")
    assert "Odd" in pages.finished("/duplicates")["problem"]
    assert "max:FIELD or min:FIELD, not &#39;Odd&#39;" in pages.html("/duplicates")


def test_there_is_one_search_at_a_time_and_it_can_be_stopped(over: Callable[..., Pages]) -> None:
    """The page shows the progress."""
    busy = over({f"d{number}": words(number, number + 400) for number in range(250)})
    busy.sent("/duplicates", 202, overlap=1)
    running = busy.client.get("/duplicates", headers=BROWSER)
    refused = busy.client.post("/duplicates.json", json={})
    stopped = busy.sent("/duplicates/stop", 202)

    assert "2" == running.headers["refresh"]
    assert "<progress" in running.text
    assert (400, True) == (refused.status_code, "is already running" in refused.text)
    assert "stopping" == stopped["state"]
    assert "the search for duplicates was stopped" == busy.finished("/duplicates")["problem"]


def test_a_search_ends_with_the_server(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The search does not fail with a traceback, although the store is closed."""
    begun, ended = threading.Event(), threading.Event()
    scan = LocalStore.scan

    def scan_slowly(self: LocalStore, **options: Any) -> Iterator[Record]:
        begun.set()
        ended.wait(60)
        return scan(self, **options)

    monkeypatch.setattr(LocalStore, "scan", scan_slowly)
    with pages_over(folder / "store") as pages:
        pages.sent("/duplicates", 202)
        begun.wait(60)
    ended.set()
    wait_until(lambda: pages.served.duplicates.state is None)

    assert "the search for duplicates was stopped" == pages.served.duplicates.problem


def test_files_without_text_are_compared_for_a_browser_on_this_computer(tmp_path: Path) -> None:
    """They have no page of their own. Files that the user excluded are not compared."""
    photos = dict.fromkeys(("a.jpg", "b/a.jpg", "raw/a.jpg"), b"\xff\xd8\0" * 9)
    write(tmp_path / "corpus", {**photos, "text.txt": words(0, 99)})
    output("index", tmp_path / "corpus", "--store", tmp_path / "store")
    local = LocalAccess(str(tmp_path / "store"), exclude=["raw/"])
    with pages_over(tmp_path / "store", local=local) as near, pages_over(tmp_path / "store") as far:
        [group] = found_groups(near)
        html = near.html("/duplicates")

        assert ("a.jpg", ["b/a.jpg"]) == (group["kept_id"], group["duplicate_ids"])
        assert "/document?id=" not in html
        assert re.search(r"\d{4}-\d\d-\d\d \d\d:\d\d · 27 bytes", html)
        assert {"a.jpg": "keep", "b/a.jpg": "drop"} == {
            row.key.id: row.action for row in read_plan(saved_plan(near, tmp_path))
        }
        assert [] == found_groups(far)


@pytest.mark.usefixtures("read_in_this_process")
def test_an_attachment_cannot_be_removed(tmp_path: Path) -> None:
    """It has no choices, and does not count as removed."""
    mail = EmailMessage()
    mail.set_content(words(500, 600))
    mail.add_attachment(words(0, 99), filename="copy.txt")
    write(tmp_path / "corpus", {"report.txt": words(0, 99), "mail.eml": bytes(mail)})
    output("index", tmp_path / "corpus", "--store", tmp_path / "store")
    with pages_over(tmp_path / "store") as pages:
        [group] = found_groups(pages)
        html = pages.html("/duplicates")
        pages.sent("/duplicates/decide", 202, **{"row-0-0": "drop"})

        assert ["mail.eml!copy.txt"] == group["duplicate_ids"]
        assert "the file is in an archive or e-mail, which is never changed" in html
        assert 'name="row-0-0"' not in html
        assert "Keep this one instead" not in html
        assert 0 == counts_of(pages)["drop"]


def test_the_page_says_what_was_left_out(tmp_path: Path) -> None:
    """The versions 1 and 2 overlap, and 2 and 3, but not 1 and 3."""
    write(tmp_path / "corpus", {f"{number}.txt": words(8 * number, 100 + 9 * number) for number in (1, 2, 3)})
    output("index", tmp_path / "corpus", "--store", tmp_path / "store")
    with pages_over(tmp_path / "store") as pages:
        found_groups(pages)
        html = pages.html("/duplicates")

        assert "1 document is in no group, because it overlaps only duplicates, not the kept document: 1.txt." in html
