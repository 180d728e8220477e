"""`simdoc-search similar`: a FINGERPRINT, a file or a text comes in; hits go out, the nearest first."""

from __future__ import annotations

import json
import os
import re
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import (
    answer,
    json_lines,
    output,
    process,
    run,
    sentence,
    usage_error,
    words,
    write,
    write_corpus,
)

COPY, HALF, OLD = "reports/copy.txt", "reports/half.txt", "notes/old.txt"


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an indexed corpus, and a draft that is not indexed; no test changes it."""
    folder = tmp_path_factory.mktemp("similar")
    write_corpus(folder / "corpus")
    write(folder, {"draft.txt": words(0, 150) + " " + words(3000, 3050)})
    lines = [
        {"id": "german", "text": words(4000, 4100), "language": "de", "year": 2020, "path": "reports/1"},
        {"id": "english", "text": words(4000, 4100), "language": "en", "year": 2020, "path": "reports/2"},
        {"id": "elsewhere", "text": words(4000, 4100), "language": "de", "year": 2021, "path": "notes/3"},
    ]
    write(folder, {"docs.jsonl": json_lines(*lines)})
    output("index", folder / "corpus", folder / "docs.jsonl", "--store", folder / ".simdoc")
    return folder


@pytest.fixture(autouse=True)
def folder(indexed: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the commands run."""
    monkeypatch.chdir(indexed)
    return indexed


@contextmanager
def piped(text: str) -> Iterator[str]:
    """The path of a pipe that gives a text, as a shell makes it for `<(command)`."""
    reading, writing = os.pipe()
    try:
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(text.encode())
        yield f"/dev/fd/{reading}"
    finally:
        os.close(reading)


def similar(*arguments: str, stdin: str | bytes | None = None) -> Any:
    """The JSON answer."""
    return answer("similar", *arguments, stdin=stdin)


def ids(*arguments: str, stdin: str | bytes | None = None) -> list[str]:
    """The ids of the hits."""
    return [hit["id"] for hit in similar(*arguments, stdin=stdin)["hits"]]


# --- what is asked ---


def test_an_id_alone_finds_whatever_shares_text() -> None:
    """Hits come with the greatest overlap first; what shares nothing is not among them."""
    assert [COPY, HALF, OLD] == ids("doc123.txt")


def test_a_file_name_stands_for_the_id() -> None:
    """The answer has the full id, whichever way it was named."""
    for name in ("doc123", "doc123.txt", "FINGERPRINT:doc123"):
        assert ("doc123.txt", [COPY, HALF, OLD]) == (similar(name)["query"]["id"], ids(name))
    assert "notes/old.txt" == similar("old_20")["query"]["id"]


@pytest.mark.parametrize(("overlap", "found"), [(1, 3), (20, 3), (40, 2), (90, 1), (100, 1)])
def test_an_overlap_finds_what_reaches_it(overlap: int, found: int) -> None:
    """The copy overlaps by 100 %, the others by 53 % and 24 %; `_40` and `--overlap 40` are the same."""
    assert [COPY, HALF, OLD][:found] == ids(f"doc123_{overlap}")
    assert similar(f"doc123_{overlap}") == similar("doc123", "--overlap", str(overlap))


def test_a_probability_asks_by_bands() -> None:
    """`_40_95` and the two options are the same, and find the same documents as without bands."""
    result = similar("doc123_40_95")

    assert [COPY, HALF] == [hit["id"] for hit in result["hits"]]
    assert result == similar("doc123", "--overlap", "40", "--probability", "95")
    assert ("threshold", "bands") == (similar("doc123_40")["plan"]["kind"], result["plan"]["kind"])


def test_percents_may_have_decimals() -> None:
    """12.5 % is an eighth, exactly."""
    query = similar("doc123", "--overlap", "12.5", "--probability", "99.5")["query"]

    assert (0.125, 0.995) == (query["overlap"], query["probability"])


def test_a_probability_of_100_percent_needs_no_bands() -> None:
    """All are found then, which only counting can do."""
    assert "threshold" == similar("doc123_40_100")["plan"]["kind"]


def test_the_planner_all_cuts_bands_from_all_tokens() -> None:
    """As Alfresco does; `enough` asks for fewer."""
    enough, everything = (similar("doc123_20_80", "--planner", name)["plan"] for name in ("enough", "all"))

    assert enough == similar("doc123_20_80")["plan"]
    assert enough["clauses"] < everything["clauses"]
    assert everything["clauses"] == everything["rows"] * everything["bands"]


def test_a_file_need_not_be_indexed() -> None:
    """Its text is asked about; it has no id."""
    assert ["doc123.txt", COPY, HALF, OLD] == ids("--file", "draft.txt")
    assert ["doc123.txt", COPY] == ids("--file", "draft.txt", "--overlap", "55")
    assert similar("--file", "draft.txt")["query"]["id"] is None


def test_a_text_is_given_or_comes_from_stdin(folder: Path) -> None:
    """`--text TEXT` and `--text -` answer as `--file` does."""
    text = (folder / "draft.txt").read_text()

    assert similar("--file", "draft.txt") == similar("--text", text) == similar("--text", "-", stdin=text)


def test_text_on_stdin_may_be_in_another_encoding() -> None:
    """UTF-16 with its mark is read as it is from a file."""
    assert ["doc123.txt", COPY, HALF, OLD] == ids("--text", "-", stdin=words(0, 200).encode("utf-16"))


def test_a_file_may_be_standard_input_or_a_pipe(folder: Path) -> None:
    """`--file -`, and `<(command)` of a shell."""
    text = (folder / "draft.txt").read_text()

    assert similar("--file", "draft.txt") == similar("--file", "-", stdin=text)
    with piped(text) as path:
        assert similar("--file", "draft.txt") == similar("--file", path)


# --- paths ---


@pytest.mark.parametrize(
    "path",
    ["corpus/reports/half.txt", "./corpus/reports/half.txt", "corpus\\reports\\half.txt", "corpus//reports/./half.txt",
     "corpus/notes/../reports/half.txt", "./reports/half.txt", "reports\\half.txt", "{folder}/corpus/reports/half.txt",
     "../{folder.name}/corpus/reports/half.txt"],
)  # fmt: skip
@pytest.mark.parametrize("suffix", ["", "_20", "_20_80"])
def test_a_path_as_the_shell_gives_it_is_an_id(folder: Path, path: str, suffix: str) -> None:
    """Relative, absolute, with backslashes; what stands behind it counts as ever."""
    assert "reports/half.txt" == similar(path.format(folder=folder) + suffix)["query"]["id"]


def test_a_path_that_leads_elsewhere_is_no_id(folder: Path) -> None:
    """A folder of another name, and a file of that name beside the indexed folder."""
    for path in ("other/reports/half.txt", "/reports/half.txt", f"{folder}/reports/half.txt", "corpus/half.txt"):
        assert f"no document '{path}'" in sentence(run("similar", path))


def test_of_two_folders_the_path_says_which_is_meant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their ids have the same end; a file that was named itself counts as well."""
    monkeypatch.chdir(tmp_path)
    text = words(0, 50)
    write(tmp_path, {"a/x/doc.txt": text, "b/doc.txt": text, "doc.txt": "x", "single.txt": text})
    output("index", "a", "b", "single.txt")

    assert "x/doc.txt" == similar("a/x/doc.txt")["query"]["id"]
    assert "doc.txt" == similar("b/doc.txt")["query"]["id"]
    assert "single.txt" == similar(f"{tmp_path}/single.txt")["query"]["id"]
    assert "no document './a/doc.txt'" in sentence(run("similar", "./a/doc.txt"))


def test_a_path_leads_to_an_id_with_a_prefix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The path is what the shell has; the id is what the folder was given."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {"a/x/doc.txt": words(0, 50), "a/doc.txt": words(0, 50)})
    output("index", "a", "--prefix", "first/")

    assert "first/x/doc.txt" == similar("a/x/doc.txt")["query"]["id"]
    assert "first/doc.txt" == similar("a/doc.txt_20")["query"]["id"]


def test_names_are_found_however_their_umlauts_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Typed composed, stored decomposed as a Mac does it, perhaps in another folder; the exact name counts first."""
    monkeypatch.chdir(tmp_path)
    mac, linux = "Müll/" + unicodedata.normalize("NFD", "Prüfung März.txt"), "Öl/Übung.txt"
    write(tmp_path, {f"corpus/{mac}": words(0, 50), f"corpus/{linux}": words(0, 50)})
    output("index", "corpus")
    typed = "Müll/Prüfung März.txt"

    assert [mac] * 4 == [
        similar(each)["query"]["id"] for each in (typed, "Prüfung März", f"corpus/{typed}", f"{typed}_20")
    ]
    assert linux == similar(unicodedata.normalize("NFD", linux))["query"]["id"]
    assert 1 == len(output("list", "Müll/Prü", "--json").splitlines())
    assert [mac] == ids("Übung", "--filter", "path=Müll/")
    assert f"did you mean '{mac}'" in sentence(run("similar", "Müll/Prüfung Mörz.txt"))
    assert f"did you mean '{mac}'" in sentence(run("delete", typed))
    write(tmp_path, {f"corpus/{typed}": words(0, 50)})
    output("index", "corpus")
    assert typed == similar(typed)["query"]["id"]


def test_the_output_of_find_can_be_asked(folder: Path) -> None:
    """Lines, or names with NUL after each as `find -print0` writes them, from stdin, a file or a pipe."""
    paths = ["corpus/doc123.txt", "./corpus/reports/half.txt"]
    expected = ["doc123.txt", "reports/half.txt"]
    for text in ("\n".join(paths) + "\n", "\0".join(paths) + "\0", "\ufeff" + "\r\n".join(paths)):
        asked = similar("--all-from", "-", stdin=text)["results"]

        assert expected == [each["query"]["id"] for each in asked]
        with piped(text) as path:
            assert asked == similar("--all-from", path)["results"]
    assert "stdin" in sentence(run("similar", "--all-from", "-", stdin=b"\x89\0\xff\x01\0\x02\xfe" * 99))


# --- which hits are shown ---


def test_size_limits_the_hits_and_not_the_count() -> None:
    """The best ones are shown; how many documents were compared stays visible."""
    result = similar("doc123", "--size", "2")

    assert ([COPY, HALF], 3) == ([hit["id"] for hit in result["hits"]], result["candidates"])


def test_the_document_itself_is_shown_only_if_asked_for() -> None:
    """With --include-self it is among the first."""
    assert ["doc123.txt", COPY] == ids("doc123", "--include-self", "--size", "2")
    assert "doc123.txt" not in ids("doc123")


def test_filters_look_at_metadata_and_path() -> None:
    """Numbers are compared as they are written; several filters must all hold."""
    assert ["english", "german"] == ids("elsewhere", "--filter", "year=2020")
    assert ["german"] == ids("elsewhere", "--filter", "language=de", "--filter", "path=reports/")
    assert [COPY, HALF] == ids("doc123", "--filter", "path=reports/")
    assert [] == ids("doc123", "--filter", "language=de")


def test_a_value_may_hold_the_equals_sign() -> None:
    """The first `=` ends the name of the field."""
    assert [] == ids("doc123", "--filter", "language=a=b")


def test_a_field_that_no_document_has_is_an_error() -> None:
    """A mistyped one is not an answer without hits; those there are, are named."""
    said = "no document has the field 'langage'; there are: language, path, year"

    assert said == sentence(run("similar", "elsewhere", "--filter", "langage=de"))
    assert "there are: reports/, notes/" in sentence(run("similar", "doc123", "--filter", "path=reprots/"))


def test_a_filter_given_twice_is_not_dropped() -> None:
    """Nothing is in two folders at once: either nothing is found, or the command says that it cannot be."""
    result = run("similar", "doc123", "--json", "--filter", "path=reports/", "--filter", "path=notes/")

    assert OLD not in result.stdout
    assert COPY not in result.stdout


# --- how it is shown ---


def test_json_has_the_promised_keys() -> None:
    """Overlaps and probabilities are fractions; stdout holds one object and stderr nothing."""
    result = run("similar", "doc123_20_80", "--json")
    shown = similar("doc123_20_80")

    assert (0, "") == (result.exit_code, result.stderr)
    assert ["query", "plan", "candidates", "hits", "left_out"] == list(shown)
    assert {"id": "doc123.txt", "overlap": 0.2, "probability": 0.8, "measure": "jaccard"} == shown["query"]
    assert {"kind": "bands", "clauses": 80, "rows": 2, "bands": 40} == shown["plan"]
    assert shown["candidates"] >= len(shown["hits"])
    assert {"id", "overlap", "matched", "kind"} == set(shown["hits"][0])
    assert (COPY, 1.0, "estimated") == tuple(shown["hits"][0][key] for key in ("id", "overlap", "kind"))
    assert 0.53 == pytest.approx(shown["hits"][1]["overlap"], abs=0.1)


def test_json_without_bands_has_the_same_keys() -> None:
    """What does not apply is null; clauses are the tokens that are counted."""
    shown = similar("doc123")

    assert {"id": "doc123.txt", "overlap": None, "probability": None, "measure": "jaccard"} == shown["query"]
    assert ["kind", "clauses", "rows", "bands"] == list(shown["plan"])
    assert ("threshold", None, None) == tuple(shown["plan"][key] for key in ("kind", "rows", "bands"))
    assert shown["hits"][0]["matched"] == shown["plan"]["clauses"]


def test_people_get_a_table_in_percent() -> None:
    """A line per hit with overlap and id, then how many documents were compared."""
    header, first, *_ = output("similar", "doc123_20").splitlines()

    assert ["overlap", "document"] == header.split()
    assert re.fullmatch(r" *~100 % +reports/copy\.txt *", first)


def test_no_hit_is_an_answer() -> None:
    """The command succeeds, and says how it asked."""
    result = run("similar", "other_20")

    assert (0, "") == (result.exit_code, result.stderr)
    assert "document" not in result.stdout.splitlines()[0].split()
    assert [] == similar("other_20")["hits"]


def test_a_line_is_a_hit_where_the_output_is_read_by_a_program(tmp_path: Path) -> None:
    """A long id stays in one piece in a pipe, whatever the width of the terminal."""
    long = "folder/" * 40 + "report.txt"
    lines = json_lines({"id": long, "text": words(0, 50)}, {"id": "short", "text": words(0, 50)})
    output("index", "-", "--store", tmp_path / "s", stdin=lines)
    done = process("similar", "short", "--store", "s", cwd=tmp_path, COLUMNS="60")

    assert (0, "") == (done.returncode, done.stderr)
    assert long in done.stdout


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
@pytest.mark.slow
def test_any_id_is_shown_on_any_output(tmp_path: Path, encoding: str) -> None:
    """Where stdout has another encoding than UTF-8 the table is still printed, and JSON is still exact."""
    lines = json_lines({"id": "漢😀", "text": words(0, 50)}, {"id": "a", "text": words(0, 50)})
    output("index", "-", "--store", tmp_path / "s", stdin=lines)
    table, data = (
        process("similar", "a", "--store", "s", *options, cwd=tmp_path, PYTHONIOENCODING=encoding)
        for options in ([], ["--json"])
    )

    assert (0, "", 0, "") == (table.returncode, table.stderr, data.returncode, data.stderr)
    assert "~100 %" in table.stdout
    assert ["漢😀"] == [hit["id"] for hit in json.loads(data.stdout)["hits"]]


def test_colours_are_for_terminals(folder: Path) -> None:
    """What is read by a program has no escape sequences."""
    done = process("similar", "doc123", cwd=folder)

    assert (0, "") == (done.returncode, done.stderr)
    assert COPY in done.stdout
    assert "\x1b" not in done.stdout


def test_a_short_text_with_an_overlap_is_told_what_it_misses() -> None:
    """A long document that contains it overlaps little; people are told on stderr, programs are not."""
    short, note = words(0, 60), "note: the text is short; a long document that contains it overlaps less"
    asked = ("similar", "--text", short, "--overlap", "20")

    assert run(*asked).stderr.startswith(note)
    assert "" == run(*asked, "--json").stderr == run(*asked[:3]).stderr
    assert "" == run("similar", "doc123_20").stderr == run("similar", "--text", words(0, 104), "--overlap", "20").stderr


@pytest.mark.parametrize("as_json", [[], ["--json"]])
def test_a_script_can_fail_without_hits(as_json: list[str]) -> None:
    """The answer is printed all the same; with --all-from one hit in one answer is enough."""
    nothing, some = run("similar", "other", "--fail-if-empty", *as_json), run("similar", "doc123", "--fail-if-empty")

    assert (1, "", 0) == (nothing.exit_code, nothing.stderr, some.exit_code)
    assert run("similar", "other", *as_json).stdout == nothing.stdout
    for queries, code in (("other\nother\n", 1), ("other\ndoc123\n", 0)):
        assert code == run("similar", "--all-from", "-", "--fail-if-empty", *as_json, stdin=queries).exit_code


def test_help_says_which_exit_codes_there_are() -> None:
    """That of the program, for all commands."""
    assert "Exit codes: 0 done, 1 failed, 2 called wrongly" in " ".join(output("--help").split())


# --- called wrongly ---


def test_a_file_that_is_not_in_the_store_is_no_unknown_id(folder: Path) -> None:
    """It may have been skipped, or never indexed; commands that read files say how."""
    said = "the file 'draft.txt' is not in the store; --file asks with it; simdoc-search index takes it in, or says why"

    assert all(said in sentence(run(command, "draft.txt")) for command in ("similar", "versions", "related"))
    assert "not in the store; simdoc-search index takes" in sentence(run("show", "draft.txt"))
    assert "and what was skipped has none" in sentence(run("show", "xyzzy"))


def test_an_id_alone_is_written_without_numbers(tmp_path: Path) -> None:
    """Where a name means several documents, and an overlap has no place in the argument."""
    write(tmp_path, {"c/a/GPL-3.txt": words(0, 50), "c/b/GPL-3.txt": words(0, 50)})
    output("index", tmp_path / "c", "--store", tmp_path / "store")

    for asked in (["show", "GPL-3"], ["similar", "GPL-3", "--overlap", "20"]):
        said = sentence(run(*asked, "--store", tmp_path / "store"))
        assert said.endswith('several documents; write one of: "a/GPL-3.txt", "b/GPL-3.txt"')


def test_words_of_other_tools_lead_to_ours() -> None:
    """A command of another name, a name that looks like an option, a percent sign."""
    assert "No such command 'search'; similar finds documents that share text" in usage_error(run("search", "x"))
    assert "'-r'; a name that begins with a dash comes after --" in usage_error(run("show", "-rf.txt"))
    assert ids("doc123", "--overlap", "50%") == ids("doc123", "--overlap", "50 %") == ids("doc123_50")


@pytest.mark.parametrize(
    "arguments", [[], ["doc123", "--text", "x"], ["--text", "x", "--file", "draft.txt"], ["doc123", "--file", "f"]]
)
def test_exactly_one_source_is_asked_for(arguments: list[str]) -> None:
    """FINGERPRINT, --file and --text exclude each other."""
    assert "give one of FINGERPRINT, --file, --text or --all-from" == usage_error(run("similar", *arguments))


@pytest.mark.parametrize("given", ["language", "=de", ""])
def test_a_filter_without_field_or_value_is_a_usage_error(given: str) -> None:
    """The message shows how a filter is written."""
    assert "write FIELD=VALUE, like language=de" in usage_error(run("similar", "doc123", "--filter", given))


@pytest.mark.parametrize("option", ["--overlap", "--probability"])
@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("abc", "write a number like 20 or 12.5"),
        ("-5", "write a number like 20 or 12.5"),
        ("٣", "write a number like 20 or 12.5"),
        ("101", "from 1 to 100"),
        ("0.2", "write 20 for 20 %"),
    ],
)
def test_a_bad_percentage_is_a_usage_error(option: str, given: str, said: str) -> None:
    """The message names the option and says how it is written."""
    error = usage_error(run("similar", "doc123", "--overlap=20", f"{option}={given}"))

    assert option in error
    assert said in error


def test_a_probability_of_nothing_is_refused() -> None:
    """0 % would find nothing, and a probability means something for an overlap only."""
    assert "would find nothing" in usage_error(run("similar", "doc123_20", "--probability", "0"))
    assert "needs an overlap" in usage_error(run("similar", "doc123", "--probability", "80"))


@pytest.mark.parametrize("arguments", [["--size", "0"], ["--planner", "best"], ["--nonsense"], ["more"]])
def test_what_click_refuses_is_a_usage_error(arguments: list[str]) -> None:
    """Values out of range, unknown choices and options, a second FINGERPRINT."""
    assert usage_error(run("similar", "doc123", *arguments))


# --- exact overlaps, and shares ---


def test_verified_overlaps_are_exact() -> None:
    """From the stored texts: 136 of the 256 shingles of both, and so on; estimates have a tilde, these have not."""
    exact = {hit["id"]: (hit["kind"], hit["overlap"]) for hit in similar("doc123_20", "--verify")["hits"]}
    shown = output("similar", "doc123_20", "--verify")

    assert {COPY: ("exact", 1.0), HALF: ("exact", round(136 / 256, 6)), OLD: ("exact", round(76 / 316, 6))} == exact
    assert "~" not in shown
    assert [" 53.1 %", HALF] == [shown.splitlines()[2][:7], shown.splitlines()[2].split()[-1]]


def test_a_verified_hit_says_all_that_is_exact() -> None:
    """Others say what they said before; `measure` is what was asked."""
    verified = similar("doc123", "--verify")
    half = verified["hits"][1]

    assert {"id", "overlap", "matched", "kind"} == similar("doc123")["hits"][1].keys()
    assert (136 / 256, 136 / 196, 136 / 196, False) == tuple(
        half[name] for name in ("jaccard", "containment", "contained", "changed")
    )
    assert "jaccard" == verified["query"]["measure"]


def test_containment_finds_a_short_text_in_a_long_one() -> None:
    """Of which it is a small part; `contained` is the other way round, and both are exact."""
    asked = ("--text", words(20, 60))
    found = similar(*asked, "--measure", "containment", "--overlap", "90")
    contained = similar(*asked, "--measure", "contained")

    assert "containment" == found["query"]["measure"]
    assert {COPY, HALF, OLD, "doc123.txt"} == {hit["id"] for hit in found["hits"]}
    assert {("exact", 1.0)} == {(hit["kind"], hit["overlap"]) for hit in found["hits"]}
    assert {round(36 / 196, 6)} == {hit["overlap"] for hit in contained["hits"] if hit["id"] in {COPY, "doc123.txt"}}
    assert [] == ids(*asked, "--overlap", "90")


def test_a_measure_is_the_heading() -> None:
    """For a person; nothing is said of short texts, which are found this way."""
    result = run("similar", "--text", words(20, 60), "--measure", "containment", "--overlap", "50")

    assert [
        "containment  document",
        "    100.0 %  doc123.txt",
    ] == result.stdout.splitlines()[:2]
    assert result.stdout.endswith(" hits, 4 documents compared\n")
    assert "" == result.stderr


def test_a_measure_takes_no_probability() -> None:
    """Which is one of bands."""
    said = usage_error(run("similar", "doc123", "--measure", "contained", "--probability", "80"))

    assert "contained takes no probability; leave a probability out" == said
    assert 'contained takes no probability; leave that of "doc123.txt"_20_80 out' == usage_error(
        run("similar", "doc123_20_80", "--measure", "contained")
    )


def test_a_short_text_is_told_of_passages() -> None:
    """Where a least overlap hides the long documents that contain it."""
    assert "simdoc-search passages finds it" in run("similar", "--text", words(20, 60), "--overlap", "50").stderr


def test_what_cannot_be_verified_is_estimated_and_said(tmp_path: Path) -> None:
    """In a store without texts."""
    output("index", "corpus", "--no-texts", "--store", tmp_path / "s")
    result = run("similar", "--text", words(0, 200), "--verify", "--store", tmp_path / "s")

    assert "~100 %" in result.stdout
    assert "note: 4 overlaps estimated, as the store has no text there" in result.stderr


def test_documents_can_be_excluded() -> None:
    """By metadata or path; if repeated, all of them."""
    assert [HALF, OLD] == ids("doc123", "--exclude", "path=reports/copy")
    assert [OLD] == ids("doc123", "--exclude", "path=reports/")
    assert [] == ids("doc123", "--exclude", "path=reports/", "--exclude", "path=notes/")
    assert ["english"] == ids("german", "--exclude", "language=de")


# --- pages, and one of several values ---


def test_the_next_page_follows_the_first() -> None:
    """Together they are what one page of both sizes shows."""
    whole, first, second = (
        [hit["id"] for hit in answer("similar", "doc123", *page)["hits"]]
        for page in (("--size", 3), ("--size", 2), ("--size", 2, "--offset", 2))
    )

    assert 3 == len(whole)
    assert whole == [*first, *second]
    assert [] == answer("similar", "doc123", "--offset", 100)["hits"]


def test_one_of_several_values_is_enough() -> None:
    """Repeated for a field, beside filters that must all hold."""
    either = ("--filter-any", "language=de", "--filter-any", "language=en")
    for arguments, expected in (
        (either, ["elsewhere", "english"]),
        ((*either, "--filter", "year=2020"), ["english"]),
        (("--filter", "language=de", "--filter", "language=en"), []),
        ((*either, "--filter-any", "path=notes/", "--filter-any", "path=nowhere/"), ["elsewhere"]),
        ((*either, "--exclude", "language=en"), ["elsewhere"]),
    ):
        assert expected == sorted(hit["id"] for hit in answer("similar", "german", *arguments)["hits"])


def test_wrong_pages_and_filters_are_usage_errors() -> None:
    """With what is wrong."""
    for arguments in (("--offset", "-1"), ("--filter-any", "language")):
        assert arguments[0] in usage_error(run("similar", "doc123", *arguments))
