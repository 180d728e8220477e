"""`simdoc-search duplicates`: output in the terminal, JSON and CSV, options, and errors."""

from __future__ import annotations

import csv
import io
import os
import re
import shlex
from pathlib import Path

import pytest

from simdoc_search.duplicates import duplicates_result, pairs
from tests.support.archives import mail, mbox, packed_zip
from tests.support.cli import answer, json_lines, output, run, sentence, usage_error, words, write
from tests.support.duplicate_files import BASE, DAY

pytestmark = pytest.mark.usefixtures("copies")

NEAR = f"overlap 94.9 %; 10 words removed: “{' '.join(f'word{number}' for number in range(190, 200))}”"
"""The reason of docs/sub/near.txt, which lacks the last ten words."""

TWO_ROWS = json_lines({"id": "x", "text": BASE}, {"id": "y", "text": BASE})


def kept(*arguments: object) -> str:
    """Return the path of the first kept document."""
    return output("duplicates", *arguments).splitlines()[0].split()[-1]


def groups(*arguments: object) -> dict[str, list[str]]:
    return {cluster["kept_id"]: cluster["duplicate_ids"] for cluster in answer("duplicates", *arguments)["groups"]}


# --- output ---


def test_files_that_are_not_compared_are_mentioned_once() -> None:
    """Archives are not read by default. Without a folder, files without text are not compared."""
    write(Path("docs"), {"photo.png": b"\x89PNG\r\n\x1a\n" + bytes(99), "more.zip": b"PK\x05\x06" + bytes(18)})
    first, later = run("duplicates", "docs"), run("duplicates", "docs")

    advice = (
        "1 skipped file is an archive or a mailbox; to search the documents inside too, first run: "
        "simdoc-search index docs --archives"
    )
    assert advice in first.stderr.splitlines()
    assert "0 indexed, 5 unchanged, 2 skipped in" in later.stderr
    assert "skipped file" not in later.stderr


def test_hints_depend_on_the_groups() -> None:
    """Less similar documents matter if no copies or near duplicates are found."""
    near, photos = "to find less similar documents", "note: files without text, such as photos, were not compared"
    output("index", "docs")

    for options, has_hint in (([], True), (["--filter", "path=other.txt"], True), (["--exclude", "path=sub/"], False)):
        done = run("duplicates", *options).stderr
        assert has_hint == (near in done)
        assert f"{photos}. To compare their bytes, run: simdoc-search duplicates {Path('docs').resolve()}\n" in done
    assert photos not in run("duplicates", "docs").stderr


def test_documents_of_a_folder_that_does_not_exist_are_mentioned() -> None:
    output("index", "docs")
    folder = Path("docs").resolve()
    Path("docs").rename("moved")
    done = run("duplicates").stderr
    command = f"simdoc-search index {folder} --prune-all"

    assert f"note: {folder} does not exist here. If it was deleted, remove its documents" in done
    assert f"from the index with: {command}\n" in done
    assert "photos" not in done
    run(*shlex.split(command)[1:])
    assert "0 documents" in output("duplicates")


def test_a_folder_is_indexed_and_its_groups_are_shown() -> None:
    result = run("duplicates", "docs")

    assert 0 == result.exit_code
    indexed, *legend, hint, less_similar = result.stderr.splitlines()
    assert re.fullmatch(r"5 indexed, 0 unchanged in \d+\.\d s; the index is in \./\.simdoc", indexed)
    assert ["keep", "drop", "decide", ""] == [line.lstrip().partition("  ")[0] for line in legend]
    assert "to move copies away, add --plan plan.tsv; to see all differences, add --html page.html" == hint
    assert (
        "to find less similar documents, add --overlap 50; to find versions, run: simdoc-search versions --all"
        == less_similar
    )
    assert "less similar" not in run("duplicates", "docs", "--overlap", 60).stderr
    assert "to move" not in run("duplicates", "--html", "page.html").stderr
    assert [
        "    keep       1.5 kB  1971-02-05  docs/copy.txt",
        "    drop       1.5 kB  1971-02-05  docs/keep.txt  (identical)",
        "  decide       1.5 kB  1971-02-05  docs/sub/loud.txt",
        "          same words; letter case, punctuation or symbols differ in 200 places: “word0” / “WORD0”",
        "  decide       1.4 kB  1971-02-05  docs/sub/near.txt",
        f"          {NEAR}",
        "",
        "1 group, 3 duplicates: 1 to drop, 2 to decide, 1.5 kB to free",
    ] == result.stdout.splitlines()


def test_the_list_quotes_what_differs_in_a_near_duplicate(monkeypatch: pytest.MonkeyPatch) -> None:
    letter = f"{BASE} The rent is 12,000 and due in May. {words(300, 400)}"
    changed = letter.replace("12,000", "13,000").replace("due", "not due")
    write(Path("letters"), {"a.txt": letter, "b.txt": changed, "c.txt": letter.replace("May", "June")})

    assert [
        "          overlap 96.8 %; +1 −1 words in 1 place; name: and due in “May” → “June”",
        "          overlap 95.8 %; +2 −1 words in 2 places; negation: is 13,000 and “not” (added); number: The rent is "
        "“12,000” → “13,000”",
    ] == output("duplicates", "letters", "--keep", "first").splitlines()[2:5:2]

    monkeypatch.setattr(duplicates_result, "_MAX_TOTAL_COMPARED_CHARACTERS", 1)
    result = run("duplicates", "letters", "--keep", "first")
    assert "b.txt\n          overlap 95.8 %\n" in result.stdout
    note = "note: the differences of 1 near duplicate are not listed; see them with: simdoc-search compare KEPT OTHER"
    assert note in result.stderr


def test_json_has_documents_pairs_and_clusters() -> None:
    result = answer("duplicates", "docs")
    (cluster,) = result["groups"]
    near = {"a": "copy.txt", "b": "sub/near.txt", "overlap": 186 / 196, "kind": "near", "exact": True}

    assert (5, 5, 0.8, "jaccard", "longest", True, 1, 3, 0, 0, None, [], []) == tuple(
        result[name] for name in ("document_count", "new_document_count", "overlap", "measure", "keep", "verified",
                                  "group_count", "duplicate_count", "unverified_count", "ignored_word_count",
                                  "large_sets", "left_out", "problems")
    )  # fmt: skip
    assert ("copy.txt", ["keep.txt", "sub/loud.txt", "sub/near.txt"]) == (cluster["kept_id"], cluster["duplicate_ids"])
    assert {
        "id": "sub/near.txt", "path": str(Path("docs/sub/near.txt").resolve()), "size": len(words(0, 190)),
        "modified": "1971-02-05T00:00:00+00:00", "indexed": True, "overlap": 186 / 196, "kind": "near", "exact": True,
        "action": "decide", "reason": NEAR, "bytes_freed": 0, "duplicate_of": "copy.txt",
    } == cluster["duplicates"][2]  # fmt: skip
    assert near in result["pairs"]
    assert 6 == len(result["pairs"])
    assert (None, 1, len(BASE)) == (result["drop"], result["drop_count"], result["bytes_freed"])
    assert [] == answer("duplicates", "--filter", "path=other")["groups"]


@pytest.mark.parametrize("to_stdout", [True, False])
def test_csv_has_all_pairs(to_stdout: bool, tmp_path: Path) -> None:
    text = output("duplicates", "docs", "--csv", "-" if to_stdout else "pairs.csv")
    rows = list(csv.DictReader(io.StringIO(text if to_stdout else (tmp_path / "pairs.csv").read_text())))

    assert 6 == len(rows)
    pair = {"a": "copy.txt", "b": "keep.txt", "overlap": "1.000000", "kind": "identical", "exact": "true"}
    assert {**pair, **dict.fromkeys(("a_index", "a_routing", "b_index", "b_routing"), "")} == rows[0]
    assert to_stdout != ("1 group" in text)


# --- options ---


def test_only_the_documents_of_named_folders_are_compared() -> None:
    output("index", "docs")

    assert {"sub/loud.txt": ["sub/near.txt"]} == groups("docs/sub")
    assert 3 == answer("duplicates")["duplicate_count"]


def test_rows_of_a_table_are_compared_with_all_documents_of_the_store() -> None:
    write(Path(), {"rows.jsonl": TWO_ROWS})
    result = run("duplicates", "rows.jsonl")

    assert "1 group, 1 duplicate: 1 to drop, 0 to decide" == result.stdout.splitlines()[-1]
    assert (
        "comparing all documents in the index, because one of the given paths is not a folder; to compare only"
        in result.stderr
    )


@pytest.mark.parametrize(("rule", "kept", "order"), [("newest", 1, "newer"), ("oldest", 2, "older")])
def test_a_later_version_in_a_name_is_mentioned_if_the_date_decides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rule: str, kept: int, order: str
) -> None:
    """`versions` does not name a newest document here, because the name and the date disagree."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {"a/plan v1.txt": words(0, 80), "a/plan v2.txt": words(0, 81), "a/Other.txt": words(0, 82)})
    for number, name in enumerate(("plan v2", "Other", "plan v1")):
        os.utime(f"a/{name}.txt", (1_600_000_000 + 86_400 * number,) * 2)
    (group,) = answer("duplicates", "a", "--keep", rule)["groups"]
    reasons = {duplicate["id"]: duplicate["reason"] for duplicate in group["duplicates"]}

    assert f"plan v{kept}.txt" == group["kept"]["id"]
    assert reasons[f"plan v{3 - kept}.txt"].endswith(f"; by the versions in the names, this one is {order}")
    assert "versions" not in reasons["Other.txt"]
    assert "versions in the names" not in output("duplicates", "a", "--keep", "longest")


def test_options_choose_overlap_documents_and_the_kept_document() -> None:
    output("index", "docs")

    assert {"copy.txt": ["keep.txt", "sub/loud.txt"]} == groups("--overlap", "99")
    assert {"sub/loud.txt": ["sub/near.txt"]} == groups("--filter", "path=sub/", "--measure", "containment")
    assert "docs/sub/loud.txt" == kept("--keep", "first", "--keep-in", "sub/")
    assert "docs/sub/loud.txt" == kept("--keep", "first", "--keep-in", "docs/sub")
    refused = usage_error(run("duplicates", "--keep-in", "sup/", "--keep", "first"))
    assert refused == (
        "no document is in the folder 'sup/', and no id begins with this text; one of the ids is 'copy.txt'"
    )
    os.utime("docs/sub/near.txt", (500 * DAY, 500 * DAY))
    assert "docs/sub/near.txt" == kept("docs", "--keep", "newest")
    evidence = "to see all evidence about a document, run: simdoc-search versions sub/near.txt\n"
    assert evidence in run("duplicates", "docs", "--keep", "newest").stderr
    assert "evidence" not in run("duplicates", "docs").stderr


def test_the_list_shows_the_date_that_chooses_the_kept_document() -> None:
    """Other rules than `newest` and `oldest` do not use a date. Then the list shows the date of the file."""
    write(Path(), {"docs/2031-05-06.txt": words(0, 199)})
    os.utime("docs/2031-05-06.txt", (500 * DAY, 500 * DAY))

    assert " 2031-05-06  docs/2031-05-06.txt\n" in output("duplicates", "docs", "--keep", "newest")
    write(Path(), {"docs/Report 2020.txt": words(0, 198)})
    assert "        2020  docs/Report 2020.txt\n          overlap" in output("duplicates", "docs", "--keep", "newest")
    assert " 1971-05-16  docs/2031-05-06.txt" in output("duplicates", "docs")


def test_the_date_does_not_choose_between_documents_with_the_same_text() -> None:
    """Copying a file changes its time. The earliest date in a name counts for all copies, or else the earliest time."""
    contract = words(200, 400)
    write(Path("docs"), {"contract 2023-05-04.txt": contract, "backup/x.txt": contract, "backup/copy.txt": BASE})
    os.utime("docs/backup/x.txt", (1, 1))
    os.utime("docs/backup/copy.txt", (500 * DAY, 500 * DAY))

    for rule in ("newest", "oldest"):
        lines = output("duplicates", "docs", "--keep", rule).splitlines()
        assert "    keep       1.5 kB  1971-02-05  docs/copy.txt" in lines
        assert "    drop       1.5 kB  1971-02-05  docs/backup/copy.txt  (identical)" in lines
        assert "    keep       1.6 kB  2023-05-04  docs/contract 2023-05-04.txt" in lines
        assert "    drop       1.6 kB  2023-05-04  docs/backup/x.txt  (identical)" in lines


def test_a_named_folder_of_downloads_or_copies_is_not_the_one_to_keep() -> None:
    """The ids of the first named folder do not contain its name."""
    write(Path(), {f"{folder}/a/a.txt": words(0, 99) for folder in ("Downloads", "Work", "Work_copy")})

    assert "Work/a/a.txt" == kept("Downloads", "Work_copy", "Work")


def test_a_limit_shows_the_groups_that_free_most() -> None:
    write(Path("docs"), {"x.txt": words(0, 20), "y.txt": words(0, 20), "a.txt": words(50, 54), "b.txt": words(50, 54)})
    lines = output("duplicates", "docs", "--size", "1").splitlines()

    assert "docs/copy.txt" == lines[0].split()[-1]
    assert "3 groups, 5 duplicates: 3 to drop, 2 to decide, 1.6 kB to free" == lines[-2]
    assert "Showing 1 of 3 groups. Show more with --size 100." == lines[-1]


def test_an_estimate_has_a_tilde_and_a_note() -> None:
    output("index", "docs")
    output("index", "docs", "--store", "bare", "--no-texts")
    asked, bare = run("duplicates", "--estimate"), run("duplicates", "--store", "bare")

    assert "near.txt\n          overlap ~" in asked.stdout
    assert asked.stdout == bare.stdout
    assert "note: overlaps are estimated from the fingerprints, because --estimate is set" in asked.stderr
    assert "note: overlaps are estimated from the fingerprints, because the index has no texts" in bare.stderr


def test_fail_if_any_sets_the_exit_status() -> None:
    output("index", "docs")

    for expected, *options in ((1, "--fail-if-any"), (0,), (0, "--fail-if-any", "--filter", "path=other")):
        assert expected == run("duplicates", *options).exit_code
    assert "no duplicates among 1 document\n" == output("duplicates", "--filter", "path=other")


def test_many_similar_documents_are_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "RUN_LIMIT_RANGE", (8, 8))
    rows = [{"id": f"{number:02}", "text": "the same five words again"} for number in range(20)]
    output("index", "-", stdin=json_lines(*rows))
    result = run("duplicates", "--size", "1")

    assert "1 group, 19 duplicates: 19 to drop, 0 to decide" == result.stdout.splitlines()[-1]
    assert "note: 20 documents are similar to more than 8 others; each was compared with only a few" in result.stderr
    large_sets = {"document_count": 20, "max_set_size": 8, "skipped_comparison_count": 0}
    assert large_sets == answer("duplicates")["large_sets"]


def test_only_new_files_are_compared_with_all() -> None:
    """Older documents are kept. Duplicates among them are not shown."""
    output("index", "docs")
    write(Path(), {"inbox/longer.txt": words(0, 205), "inbox/own.txt": words(3000, 3100)})
    result = run("duplicates", "inbox", "--new")

    lines = [line.split()[0:5:4] for line in result.stdout.splitlines() if line]
    assert [["keep", "docs/copy.txt"], ["decide", "inbox/longer.txt"]] == lines[:2]
    assert "note: 2 new documents were compared with all 7 documents; older documents are kept" in result.stderr
    again = run("duplicates", "inbox", "--new")
    assert "no duplicates of 0 new documents among 7 documents\n" == again.stdout
    assert 2 == run("duplicates", "--new").exit_code


def test_only_files_changed_since_a_day_are_compared_with_all() -> None:
    os.utime("docs/sub/near.txt", (500 * DAY, 500 * DAY))
    result = run("duplicates", "docs", "--since", "1971-04-01", "--overlap", "50")

    assert [["keep", "docs/copy.txt"], ["decide", "docs/sub/near.txt"]] == [
        [line.split()[0], line.split()[4]] for line in result.stdout.splitlines()[:2]
    ]
    assert 1 == answer("duplicates", "--since", "1971-04-01T10:00:00")["new_document_count"]
    assert "is not a date; write it as 2026-11-30" in run("duplicates", "--since", "30.11.2026").stderr


def test_documents_that_an_earlier_plan_keeps_are_kept_while_they_exist() -> None:
    output("duplicates", "docs", "--plan", "plan.tsv")
    write(Path(), {"docs/longer.txt": words(0, 205)})

    newest = ["docs", "--keep", "newest"]
    assert ["docs/longer.txt", "docs/copy.txt"] == [kept(*newest), kept(*newest, "--previous-plan", "plan.tsv")]
    Path("docs/copy.txt").unlink()
    assert "docs/longer.txt" == kept(*newest, "--previous-plan", "plan.tsv")
    assert "other.txt, line 1" in sentence(run("duplicates", "docs", "--previous-plan", "docs/other.txt"))


def test_words_of_a_template_can_be_ignored(tmp_path: Path) -> None:
    """Then blank forms are not duplicates, but forms with the same answers are."""
    form = " ".join(f"f{number}" for number in range(300))
    mine, theirs = (" ".join(f"{name}{number}" for number in range(30)) for name in ("m", "h"))
    texts = {"blank.txt": form, "copy.txt": form, "a.txt": f"{form} {mine}", "b.txt": f"{form} {mine}"}
    write(tmp_path / "forms", {**texts, "c.txt": f"{form} {theirs}", "d.txt": f"{form} other end {mine}"})
    write(tmp_path, {"form.txt": form})
    store = ("--store", tmp_path / "s")

    assert 5 == answer("duplicates", tmp_path / "forms", *store)["duplicate_count"]
    without = answer("duplicates", *store, "--ignore", tmp_path / "form.txt")
    blank = answer("duplicates", *store, "--ignore", "blank.txt")
    assert [{"a.txt", "b.txt", "d.txt"}] == [
        {cluster["kept_id"], *cluster["duplicate_ids"]} for cluster in without["groups"]
    ]
    assert without["groups"] == blank["groups"]
    assert without["ignored_word_count"] >= 900
    assert "omit 'ignore'" in usage_error(run("duplicates", *store, "--estimate", "--ignore", "blank.txt"))


# --- which documents ---


def test_a_deleted_file_is_left_out_and_the_command_that_prunes_it_is_named() -> None:
    output("index", "docs", "--store", "s")
    Path("docs/copy.txt").unlink()
    result = run("duplicates", "docs", "--store", "s")

    assert "docs/keep.txt" == result.stdout.splitlines()[0].split()[-1]
    command = f"simdoc-search index {Path('docs').resolve()} --prune --store s"
    assert f"whose file no longer exists. To remove such documents from the index, run: {command}" in result.stderr
    output(*command.split()[1:])
    assert "left out" not in run("duplicates", "--store", "s").stderr


@pytest.mark.usefixtures("read_in_this_process")
def test_duplicates_indexes_the_same_files_as_index() -> None:
    """It uses `exclude` and `archives` of `[index]` in simdoc.toml."""
    write(Path(), {"simdoc.toml": '[index]\nexclude-files = ["sub/"]\narchives = true\n'})
    write(Path("docs"), {"old.zip": packed_zip({"keep.txt": BASE})})

    assert 4 == answer("duplicates", "docs")["document_count"]
    assert 5 == answer("duplicates", "docs", SIMDOC_CONFIG="")["document_count"] - 1


@pytest.mark.slow
def test_members_of_archives_are_compared_and_never_dropped() -> None:
    """A file is kept rather than a member. If the archive is deleted, its members are left out."""
    files = {"keep.txt": BASE, "x.txt": BASE.upper()}
    write(Path("docs"), {"a.zip": packed_zip(files), "a.mbox": mbox(mail("Re: copy", BASE), mail("Fwd: copy", BASE))})
    output("index", "docs", "--archives")
    result = answer("duplicates", "docs")
    members = {duplicate["id"]: duplicate for cluster in result["groups"] for duplicate in cluster["duplicates"]}

    assert {"a.zip!keep.txt", "a.zip!x.txt"} <= set(members)
    assert str(Path("docs/a.zip!x.txt").resolve()) == members["a.zip!x.txt"]["path"]
    assert ("copy.txt", len(BASE), []) == (
        result["groups"][0]["kept"]["id"],
        result["bytes_freed"],
        result["left_out"],
    )
    Path("docs/a.zip").unlink()
    left = {document["id"]: document["reason"] for document in answer("duplicates", "docs")["left_out"]}
    assert dict.fromkeys(("a.zip!keep.txt", "a.zip!x.txt"), "the archive is gone") == left


@pytest.mark.usefixtures("read_in_this_process")
def test_members_of_a_named_archive_have_its_path() -> None:
    write(Path(), {"old.zip": packed_zip({"keep.txt": BASE, "b.txt": BASE})})
    output("index", "old.zip")

    assert str(Path("old.zip!b.txt").resolve()) == answer("duplicates")["groups"][0]["kept"]["path"]


# --- errors ---


def test_a_file_that_cannot_be_written_is_refused_before_anything_is_indexed() -> None:
    assert "because its folder does not exist" in sentence(
        run("duplicates", "docs", "--new", "--html", "gone/page.html")
    )
    assert "because its folder does not exist" in sentence(
        run("duplicates", "docs", "--new", "--csv", "gone/pairs.csv")
    )
    assert "may be one of the documents to compare" in sentence(run("duplicates", "docs", "--csv", "docs/copy.txt"))
    assert "--html cannot write to stdout" in usage_error(run("duplicates", "docs", "--html", "-"))
    assert "nowhere" in sentence(run("duplicates", "nowhere"))
    assert BASE == Path("docs/copy.txt").read_text()
    assert not Path(".simdoc").exists()


def test_an_exclusion_that_matches_no_document_is_noted() -> None:
    result = run("duplicates", "docs", "--exclude", "path=docs/sub/")

    assert "no document has a path that begins with 'docs/sub/'; choose from: sub/" in result.stderr
    assert "note" not in run("duplicates", "docs", "--exclude", "path=sub/").stderr


def test_documents_that_overlap_only_a_duplicate_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The versions 1 and 2 overlap, and 2 and 3, but not 1 and 3."""
    write(tmp_path / "versions", {f"{number}.txt": words(8 * number, 100 + 9 * number) for number in (1, 2, 3)})
    note = "1 document is in no group, because it overlaps only duplicates"

    result = run("duplicates", "versions")
    assert "1 group, 1 duplicate" in result.stdout
    assert note in result.stderr
    assert note not in run("duplicates", "versions", "--overlap", "60").stderr
    assert 3 == len(output("duplicates", "versions", "--csv", "-").splitlines())
    write(tmp_path / "versions", {f"{number}.txt": words(500 + 8 * number, 600 + 9 * number) for number in (4, 5, 6)})
    monkeypatch.setattr(duplicates_result, "_MAX_UNLISTED_PAIRS", 1)
    assert f"at least {note}" in run("duplicates", "versions").stderr


@pytest.mark.parametrize(("rule", "kept"), [("max:score", "10"), ("min:score", "9")])
def test_duplicates_and_dedupe_keep_the_same_row_of_a_table(rule: str, kept: str, tmp_path: Path) -> None:
    """A CSV file has no types. Its numbers are compared as numbers, and precede text."""
    scores = ["9", "n/a", "10", ""]
    rows = "".join(f"row{score},{words(0, 60)},{score}\n" for score in scores)
    (tmp_path / "rows.csv").write_text(f"id,text,score\n{rows}")
    output("index", "rows.csv")
    output("dedupe", "rows.csv", "-o", "kept.csv", "--keep", rule)

    assert [f"row{kept}"] == [group["kept_id"] for group in answer("duplicates", "--keep", rule)["groups"]]
    assert f"row{kept}," in (tmp_path / "kept.csv").read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--overlap", "0"], "an overlap of 0 would pair all documents with each other"),
        (["--overlap", "0.8"], "write"),
        (["--overlap", "101"], "100"),
        (["--keep", "best"], "keep must be one of longest, first, newest, oldest, max:FIELD or min:FIELD"),
        (["--json", "--csv", "-"], "'--json' and '--csv -' both write to stdout; give only one of them"),
        (["--filter", "de"], "write FIELD=VALUE"),
    ],
)
def test_a_wrong_option_is_a_usage_error(options: list[str], message: str) -> None:
    output("index", "docs/other.txt")

    assert message in usage_error(run("duplicates", *options))
