"""`simdoc-search similar`: what is asked about: a FINGERPRINT, a path, a file or a text; and wrong calls."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.cli import output, run, sentence, usage_error, words, write
from tests.support.similar import COPY, HALF, OLD, ids, similar


@pytest.fixture(autouse=True)
def folder(similar_corpus: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the commands run."""
    monkeypatch.chdir(similar_corpus)
    return similar_corpus


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


# --- called wrongly ---


def test_a_file_that_is_not_in_the_store_is_no_unknown_id(folder: Path) -> None:
    """It may have been skipped, or never indexed; commands that read files say how."""
    said = "the file 'draft.txt' is not in the store; use --file to query with it; run simdoc-search index to add it"

    assert all(said in sentence(run(command, "draft.txt")) for command in ("similar", "versions", "related"))
    assert "not in the store; run simdoc-search index to add it" in sentence(run("show", "draft.txt"))
    assert "skipped files have none" in sentence(run("show", "xyzzy"))


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
    assert "'-r'; write -- before a name that begins with a dash" in usage_error(run("show", "-rf.txt"))
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
