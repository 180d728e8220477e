"""`simdoc-search duplicates`: groups for people, JSON, CSV, and an exit code for CI."""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path
from typing import Any

import pytest

from simdoc_search.duplicates import pairs
from tests.support.archives import mail, mbox, packed_zip
from tests.support.cli import answer, json_lines, output, run, sentence, usage_error, words, write
from tests.support.copies import BASE, DAY

pytestmark = pytest.mark.usefixtures("copies")


def test_a_folder_is_indexed_and_its_groups_are_shown() -> None:
    """One command: the kept one first, each other one with action, size, date, path and reason; then what is saved."""
    shown = run("duplicates", "docs")

    assert 0 == shown.exit_code
    assert "5 indexed, 0 unchanged" == shown.stderr.strip()
    assert [
        "    keep       1.5 kB  1971-02-05  docs/copy.txt",
        "    drop       1.5 kB  1971-02-05  docs/keep.txt  (identical)",
        "  decide       1.5 kB  1971-02-05  docs/sub/loud.txt  (same words; 200 signs differ: 'word0' / 'WORD0')",
        "  decide       1.4 kB  1971-02-05  docs/sub/near.txt  (overlap 94.9 %)",
        "",
        "1 group, 3 duplicates: 1 to drop, 2 to decide, 1.5 kB to save",
    ] == shown.stdout.splitlines()


def test_a_store_is_asked_without_a_folder() -> None:
    """Also one whose documents are no files; a second run indexes nothing."""
    output("index", "-", stdin=json_lines({"id": "x", "text": BASE}, {"id": "y", "text": BASE}))

    assert ["    keep", "    drop", "", "1 group, 1 duplicate: 1 to drop, 0 to decide"] == [
        line.partition("      ")[0] for line in output("duplicates").splitlines()
    ]


def test_only_the_folders_that_are_named_are_looked_at() -> None:
    """Whatever else the store has."""
    output("index", "docs")

    assert ["sub/near.txt"] == [
        member for each in answer("duplicates", "docs/sub")["clusters"] for member in each["members"]
    ]
    assert 3 == answer("duplicates")["duplicates"]


def test_json_has_documents_pairs_and_clusters() -> None:
    """And what is known of each; it is one object."""
    found = answer("duplicates", "docs")
    (cluster,) = found["clusters"]
    near = {"a": "copy.txt", "b": "sub/near.txt", "overlap": 186 / 196, "kind": "near", "exact": True}

    assert (5, 0.8, "jaccard", "longest", True, 1, 3, 0, None, [], []) == tuple(
        found[name] for name in ("documents", "overlap", "measure", "keep", "verified", "groups", "duplicates",
                                 "unverified", "floods", "left_out", "problems")
    )  # fmt: skip
    assert ("copy.txt", ["keep.txt", "sub/loud.txt", "sub/near.txt"]) == (cluster["representative"], cluster["members"])
    assert {
        "id": "sub/near.txt", "path": str(Path("docs/sub/near.txt").resolve()), "size": len(words(0, 190)),
        "changed": "1971-02-05T00:00:00+00:00", "overlap": 186 / 196, "kind": "near", "exact": True,
        "action": "decide", "reason": "overlap 94.9 %", "frees": 0, "duplicate_of": "copy.txt",
    } == cluster["duplicates"][2]  # fmt: skip
    assert near in found["pairs"]
    assert 6 == len(found["pairs"])
    assert (None, 1, len(BASE)) == (found["drop"], found["drops"], found["bytes"])


def test_json_of_nothing_is_one_object_too() -> None:
    """With empty lists."""
    output("index", "docs/other.txt")
    found = answer("duplicates")

    assert (1, [], []) == (found["documents"], found["pairs"], found["clusters"])


@pytest.mark.parametrize("to_stdout", [True, False])
def test_csv_has_all_pairs(to_stdout: bool, tmp_path: Path) -> None:
    """With a head; to a file beside the groups, or to stdout alone."""
    shown = output("duplicates", "docs", "--csv", "-" if to_stdout else "pairs.csv")
    rows = list(csv.DictReader(io.StringIO(shown if to_stdout else (tmp_path / "pairs.csv").read_text())))

    assert 6 == len(rows)
    pair = {"a": "copy.txt", "b": "keep.txt", "overlap": "1.000000", "kind": "identical", "exact": "true"}
    places = dict.fromkeys(("a_index", "a_routing", "b_index", "b_routing"), "")
    assert {**pair, **places} == rows[0]
    assert to_stdout != ("1 group" in shown)


def test_csv_that_cannot_be_written_is_said() -> None:
    """In one sentence."""
    output("index", "docs")

    assert "none/pairs.csv cannot be written: no such file or directory" == sentence(
        run("duplicates", "--csv", "none/pairs.csv")
    )


def test_options_change_what_is_a_duplicate_and_who_stays() -> None:
    """Overlap in percent, measure, filter, rule, and how many groups are shown."""
    output("index", "docs")

    def members(*options: str) -> dict[str, Any]:
        return {each["representative"]: each["members"] for each in answer("duplicates", *options)["clusters"]}

    assert {"copy.txt": ["keep.txt", "sub/loud.txt"]} == members("--overlap", "99")
    assert {"sub/loud.txt": ["sub/near.txt"]} == members("--filter", "path=sub/")
    assert {"sub/loud.txt": []} == {each: [] for each in members("--filter", "path=sub/", "--measure", "containment")}
    assert ["copy.txt"] == list(members("--keep", "first"))
    os.utime("docs/sub/near.txt", (500 * DAY, 500 * DAY))
    output("index", "docs", "--checksum")
    assert ["sub/near.txt"] == list(members("--keep", "newest"))


def test_a_limit_is_said() -> None:
    """Those groups with most to save are shown; the counts are of all."""
    write(
        Path("docs"),
        {
            "x.txt": words(0, 20),
            "y.txt": words(0, 20),
            "a.txt": "five words and one more",
            "b.txt": "five words and one more",
        },
    )
    shown = output("duplicates", "docs", "--limit", "1").splitlines()

    assert "docs/copy.txt" == shown[0].split()[-1]
    assert "3 groups, 5 duplicates: 3 to drop, 2 to decide, 1.6 kB to save" == shown[-2]
    assert "Showing 1 of 3 groups. Show more with --limit 100." == shown[-1]


def test_an_estimate_is_said_to_be_one() -> None:
    """With a tilde, and a note; and without --estimate where the store has no texts."""
    output("index", "docs")
    output("index", "docs", "--store", "bare", "--no-texts")
    asked, bare = run("duplicates", "--estimate"), run("duplicates", "--store", "bare")
    near = [line for line in asked.stdout.splitlines() if "near.txt" in line]

    assert near[0].partition("near.txt  (")[2].startswith("overlap ~")
    assert asked.stdout == bare.stdout
    assert "note: overlaps are estimated from the fingerprints, as --estimate was asked for" in asked.stderr
    assert "note: overlaps are estimated from the fingerprints, as the store has no texts" in bare.stderr


def test_what_differs_is_said_if_that_is_asked_for() -> None:
    """Under each near one, in words; in JSON as a list, empty for the others."""
    shown = output("duplicates", "docs", "--differences").splitlines()
    (cluster,) = answer("duplicates", "--differences")["clusters"]
    said = [
        "10 words differ",
        "10 words removed: 'word190 word191 word192 word193 word194 word195 word196 word197 word198 word199'",
    ]

    assert said == [line.strip() for line in shown[4:6]]
    assert [[], [], said] == [each["differences"] for each in cluster["duplicates"]]


def test_a_group_fails_if_that_is_asked_for() -> None:
    """Exit code 1 for CI; without a group 0, and that is said."""
    output("index", "docs")
    output("index", "docs/other.txt", "--store", "alone")

    assert [1, 0, 0] == [
        run("duplicates", *options).exit_code
        for options in (["--fail-if-any"], [], ["--fail-if-any", "--store", "alone"])
    ]
    assert "no duplicates among 1 document\n" == output("duplicates", "--store", "alone")


def test_a_flood_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """More files of one text than are compared all with all: one group, and a note."""
    monkeypatch.setattr(pairs, "RUN_LIMITS", (8, 8))
    rows = [{"id": f"{number:02}", "text": "the same five words again"} for number in range(20)]
    output("index", "-", stdin=json_lines(*rows))
    shown = run("duplicates", "--limit", "1")

    assert "1 group, 19 duplicates: 19 to drop, 0 to decide" == shown.stdout.splitlines()[-1]
    assert "note: 20 documents look so much alike, over 8 of one kind, that each was compared with a few of them" in (
        shown.stderr
    )
    assert {"documents": 20, "limit": 8, "left_over": 0} == answer("duplicates")["floods"]


def test_a_file_that_is_gone_is_left_out_and_named() -> None:
    """It may not be the one that is kept."""
    output("index", "docs")
    Path("docs/copy.txt").unlink()
    shown = run("duplicates", "docs")

    assert "docs/keep.txt" == shown.stdout.splitlines()[0].split()[-1]
    folder = Path("docs").resolve()
    command = f"simdoc-search index {folder} --prune"
    assert f"note: left out: 1 document of {folder}, whose file is gone. Remove from the index with: {command}" in (
        shown.stderr
    )
    assert shown.stdout == output("duplicates")
    output(*command.split()[1:])
    assert "left out" not in run("duplicates").stderr


def test_only_what_is_new_in_a_folder_is_compared_with_all() -> None:
    """What was there stays, whatever is longer, and its own duplicates are not shown."""
    output("index", "docs")
    write(Path(), {"inbox/longer.txt": words(0, 205), "inbox/own.txt": words(3000, 3100)})
    shown = run("duplicates", "inbox", "--new")

    lines = [line.split()[0:5:4] for line in shown.stdout.splitlines() if line]
    assert [["keep", "docs/copy.txt"], ["decide", "inbox/longer.txt"], ["1", "0"]] == lines
    assert "note: compared with all 7: 2 new documents; the others stay" in shown.stderr
    again = run("duplicates", "inbox", "--new")
    assert "no duplicates of 0 new documents among 7 documents\n" == again.stdout
    assert 2 == run("duplicates", "--new").exit_code


def test_what_an_earlier_plan_keeps_stays() -> None:
    """Though a newer one came; as long as it is there. What is no plan is said."""
    output("duplicates", "docs", "--plan", "plan.tsv")
    write(Path(), {"docs/longer.txt": words(0, 205)})

    newest = ["duplicates", "docs", "--keep", "newest"]
    assert "docs/longer.txt" == output(*newest).splitlines()[0].split()[-1]
    kept = [*newest, "--as-before", "plan.tsv"]
    assert "docs/copy.txt" == output(*kept).splitlines()[0].split()[-1]
    Path("docs/copy.txt").unlink()
    assert "docs/longer.txt" == output(*kept).splitlines()[0].split()[-1]
    assert "other.txt, line 1" in sentence(run("duplicates", "docs", "--as-before", "docs/other.txt"))


def test_what_lies_where_documents_are_to_be_kept_stays() -> None:
    """Whatever the rule; where nothing begins so, it is said."""
    assert (
        "docs/sub/loud.txt"
        == output("duplicates", "docs", "--keep", "first", "--keep-in", "sub/").splitlines()[0].split()[-1]
    )
    assert "no id begins with 'sup/', where documents are to be kept" == usage_error(
        run("duplicates", "--keep-in", "sup/")
    )


def test_a_folder_has_the_same_documents_as_for_index() -> None:
    """What simdoc.toml leaves out of folders and looks into; `--exclude` is about metadata."""
    write(Path(), {"simdoc.toml": '[index]\nexclude = ["sub/"]\narchives = true\n'})
    write(Path("docs"), {"old.zip": packed_zip({"keep.txt": BASE})})

    assert 4 == answer("duplicates", "docs")["documents"]
    assert 5 == answer("duplicates", "docs", SIMDOC_CONFIG="")["documents"] - 1
    assert "simdoc.toml, under [index] exclude" in " ".join(output("duplicates", "--help").split())


def test_members_of_archives_are_looked_at_and_left_where_they_are() -> None:
    """A file stays rather than a member, and what lies in archives is not saved; gone is it with its archive."""
    files = {"keep.txt": BASE, "x.txt": BASE.upper()}
    write(Path("docs"), {"a.zip": packed_zip(files), "a.mbox": mbox(mail("Re: copy", BASE), mail("Fwd: copy", BASE))})
    output("index", "docs", "--archives")
    found = answer("duplicates", "docs")
    members = {each["id"]: each for cluster in found["clusters"] for each in cluster["duplicates"]}

    assert [] == found["left_out"]
    assert {"a.zip!keep.txt", "a.zip!x.txt"} <= set(members)
    assert str(Path("docs/a.zip!x.txt").resolve()) == members["a.zip!x.txt"]["path"]
    assert "copy.txt" == found["clusters"][0]["kept"]["id"]
    assert len(BASE) == found["bytes"]
    Path("docs/a.zip").unlink()
    left = {each["id"]: each["reason"] for each in answer("duplicates", "docs")["left_out"]}
    assert {"a.zip!keep.txt": "its archive is gone", "a.zip!x.txt": "its archive is gone"} == left


def test_an_archive_that_was_named_itself_is_the_path_of_its_members() -> None:
    """It is no folder of its own name."""
    write(Path(), {"old.zip": packed_zip({"keep.txt": BASE, "b.txt": BASE})})
    output("index", "old.zip")

    assert str(Path("old.zip!b.txt").resolve()) == answer("duplicates")["clusters"][0]["kept"]["path"]


def test_only_what_changed_since_a_day_is_compared_with_all() -> None:
    """By the dates of the files, in local time."""
    os.utime("docs/sub/near.txt", (500 * DAY, 500 * DAY))
    shown = run("duplicates", "docs", "--since", "1971-04-01", "--overlap", "50")

    assert [["keep", "docs/copy.txt"], ["decide", "docs/sub/near.txt"]] == [
        [line.split()[0], line.split()[4]] for line in shown.stdout.splitlines()[:2]
    ]
    assert 1 == answer("duplicates", "--since", "1971-04-01T10:00:00")["fresh"]
    assert "is not a date; write it like 2026-11-30" in run("duplicates", "--since", "30.11.2026").stderr


def test_ids_that_steer_a_terminal_are_written_out() -> None:
    """In the groups and in JSON."""
    output("index", "-", stdin=json_lines({"id": "x\x1b[2J", "text": BASE}, {"id": "y", "text": BASE}))

    assert "\x1b" not in output("duplicates")
    assert "\x1b" not in output("duplicates", "--json")
    assert "x\x1b[2J" == answer("duplicates")["pairs"][0]["b"]


# --- what is ignored ---


def test_documents_that_share_only_a_template_are_no_duplicates(tmp_path: Path) -> None:
    """Blank forms, and forms that are filled in otherwise. Forms that are filled in alike are duplicates."""
    form = " ".join(f"f{number}" for number in range(300))
    mine, theirs = (" ".join(f"{name}{number}" for number in range(30)) for name in ("m", "h"))
    folder = tmp_path / "forms"
    texts = {"blank.txt": form, "copy.txt": form, "a.txt": f"{form} {mine}", "b.txt": f"{form} {mine}"}
    write(folder, {**texts, "c.txt": f"{form} {theirs}", "d.txt": f"{form} other end {mine}"})
    write(tmp_path, {"form.txt": form})
    store = ("--store", tmp_path / "s")
    whole = answer("duplicates", folder, *store)
    without = answer("duplicates", *store, "--ignore", tmp_path / "form.txt")
    blank = answer("duplicates", *store, "--ignore", "blank.txt")

    assert 5 == whole["duplicates"]
    assert [{"a.txt", "b.txt", "d.txt"}] == [{each["representative"], *each["members"]} for each in without["clusters"]]
    assert without["clusters"] == blank["clusters"]
    assert without["ignored"] >= 900
    assert "words are ignored" in run("duplicates", *store, "--ignore", tmp_path / "form.txt").stderr
    assert "leave ignore out" in usage_error(run("duplicates", *store, "--estimate", "--ignore", tmp_path / "form.txt"))
