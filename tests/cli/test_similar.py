"""`simdoc-search similar`: queries, options and wrong calls."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.cli import output, run, sentence, usage_error, words, write
from tests.support.similar import COPY, HALF, OLD, ids, similar

pytestmark = pytest.mark.usefixtures("in_similar_corpus")


@contextmanager
def piped(text: str) -> Iterator[str]:
    """Yield the path of a pipe that contains a text, as a shell creates it for `<(command)`."""
    read_end, write_end = os.pipe()
    try:
        with os.fdopen(write_end, "wb") as pipe:
            pipe.write(text.encode())
        yield f"/dev/fd/{read_end}"
    finally:
        os.close(read_end)


# --- queries ---


def test_an_id_a_file_name_and_a_fingerprint_have_the_same_hits() -> None:
    for query in ("doc123", "doc123.txt", "FINGERPRINT:doc123"):
        assert ("doc123.txt", [COPY, HALF, OLD]) == (similar(query)["query"]["id"], ids(query))
    assert "notes/old.txt" == similar("old_20")["query"]["id"]


@pytest.mark.parametrize(("overlap", "count"), [(20, 3), (40, 2), (100, 1)])
def test_an_overlap_is_a_suffix_or_an_option(overlap: int, count: int) -> None:
    """The hits overlap by 100 %, 53 % and 24 %."""
    assert [COPY, HALF, OLD][:count] == ids(f"doc123_{overlap}")
    assert similar(f"doc123_{overlap}") == similar("doc123", "--overlap", f"{overlap}")


def test_a_probability_is_a_suffix_or_an_option_and_uses_bands() -> None:
    result = similar("doc123_40_95")
    decimals = similar("doc123", "--overlap", "12.5", "--probability", "99.5")["query"]

    assert [COPY, HALF] == [hit["id"] for hit in result["hits"]]
    assert result == similar("doc123", "--overlap", "40", "--probability", "95")
    assert (0.125, 0.995) == (decimals["overlap"], decimals["probability"])
    kinds = [similar(query)["plan"]["kind"] for query in ("doc123_40", "doc123_40_95", "doc123_40_100")]
    assert ["threshold", "bands", "threshold"] == kinds


def test_a_text_comes_from_an_option_a_file_stdin_or_a_pipe() -> None:
    text = Path("draft.txt").read_text()
    result = similar("--file", "draft.txt")

    assert (None, ["doc123.txt", COPY, HALF, OLD]) == (result["query"]["id"], [hit["id"] for hit in result["hits"]])
    assert ["doc123.txt", COPY] == ids("--file", "draft.txt", "--overlap", "55")
    assert result == similar("--text", text) == similar("--text", "-", stdin=text) == similar("--file", "-", stdin=text)
    with piped(text) as path:
        assert result == similar("--file", path)
    assert ["doc123.txt", COPY, HALF, OLD] == ids("--text", "-", stdin=words(0, 200).encode("utf-16"))


def test_the_output_of_find_is_a_list_of_queries() -> None:
    """`find -print0` writes a NUL after each name."""
    paths = ["corpus/doc123.txt", "./corpus/reports/half.txt"]
    for text in ("\n".join(paths) + "\n", "\0".join(paths) + "\0", "\ufeff" + "\r\n".join(paths)):
        results = similar("--all-from", "-", stdin=text)["results"]

        assert ["doc123.txt", HALF] == [result["query"]["id"] for result in results]
        with piped(text) as path:
            assert results == similar("--all-from", path)["results"]
    assert "stdin" in sentence(run("similar", "--all-from", "-", stdin=b"\x89\0\xff\x01\0\x02\xfe" * 99))


# --- paths ---


@pytest.mark.parametrize(
    "path",
    ["corpus/reports/half.txt", "./corpus/reports/half.txt", "corpus\\reports\\half.txt", "corpus//reports/./half.txt",
     "corpus/notes/../reports/half.txt", "./reports/half.txt", "{folder}/corpus/reports/half.txt",
     "../{folder.name}/corpus/reports/half.txt"],
)  # fmt: skip
def test_a_path_of_an_indexed_file_is_a_query(path: str) -> None:
    for suffix in ("", "_20", "_20_80"):
        assert HALF == similar(path.format(folder=Path.cwd()) + suffix)["query"]["id"]


def test_a_path_elsewhere_is_not_a_query() -> None:
    for path in ("other/reports/half.txt", "/reports/half.txt", f"{Path.cwd()}/reports/half.txt", "corpus/half.txt"):
        assert f"no document '{path}'" in sentence(run("similar", path))


def test_a_path_selects_one_of_several_indexed_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = words(0, 50)
    write(tmp_path, {"a/x/doc.txt": text, "b/doc.txt": text, "c/doc.txt": text, "doc.txt": "x", "single.txt": text})
    output("index", "a", "b", "single.txt")
    output("index", "c", "--prefix", "third/")

    queries = {"a/x/doc.txt": "x/doc.txt", "b/doc.txt": "doc.txt", "c/doc.txt_20": "third/doc.txt"}
    for query, id in {**queries, f"{tmp_path}/single.txt": "single.txt"}.items():
        assert id == similar(query)["query"]["id"]
    assert "no document './a/doc.txt'" in sentence(run("similar", "./a/doc.txt"))


def test_composed_and_decomposed_umlauts_are_the_same_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """macOS stores decomposed names. If both forms exist, the exact one is used."""
    monkeypatch.chdir(tmp_path)
    mac, linux = "Müll/" + unicodedata.normalize("NFD", "Prüfung März.txt"), "Öl/Übung.txt"
    typed = "Müll/Prüfung März.txt"
    write(tmp_path, {f"corpus/{mac}": words(0, 50), f"corpus/{linux}": words(0, 50)})
    output("index", "corpus")

    for query in (typed, "Prüfung März", f"corpus/{typed}", f"{typed}_20"):
        assert mac == similar(query)["query"]["id"]
    assert linux == similar(unicodedata.normalize("NFD", linux))["query"]["id"]
    assert 1 == len(output("list", "Müll/Prü", "--json").splitlines())
    assert [mac] == ids("Übung", "--filter", "path=Müll/")
    assert f"did you mean '{mac}'" in sentence(run("similar", "Müll/Prüfung Mörz.txt"))
    assert f"did you mean '{mac}'" in sentence(run("delete", typed))
    write(tmp_path, {f"corpus/{typed}": words(0, 50)})
    output("index", "corpus")
    assert typed == similar(typed)["query"]["id"]


# --- options ---


def test_size_and_offset_select_a_page() -> None:
    result = similar("doc123", "--size", "2")

    assert ([COPY, HALF], 3) == ([hit["id"] for hit in result["hits"]], result["candidate_count"])
    assert [OLD] == ids("doc123", "--size", 2, "--offset", 2)
    assert [] == ids("doc123", "--offset", 100)
    assert ["doc123.txt", COPY] == ids("doc123", "--include-self", "--size", "2")


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ("--filter year=2020", "english"),
        ("--filter language=de --filter path=reports/", ""),
        ("--filter language=a=b", ""),
        ("--filter language=de --filter language=en", ""),
        ("--filter path=reports/ --filter path=notes/", ""),
        ("--filter-any language=de --filter-any language=en", "elsewhere english"),
        ("--filter-any language=de --filter-any language=en --filter year=2020", "english"),
        ("--filter-any language=de --filter-any language=en --exclude language=en", "elsewhere"),
        ("--filter-any path=notes/ --filter-any path=nowhere/", "elsewhere"),
        ("--exclude language=de", "english"),
        ("--exclude path=reports/ --exclude path=notes/", ""),
    ],
)
def test_filters_select_by_metadata_and_path(filters: str, expected: str) -> None:
    assert expected.split() == sorted(ids("german", *filters.split()))


# --- wrong calls ---


def test_a_file_that_is_not_indexed_is_reported_with_what_to_do() -> None:
    message = "the file 'draft.txt' is not in the index; use --file to read it directly, or run `simdoc-search index`, "

    assert all(message in sentence(run(command, "draft.txt")) for command in ("similar", "versions", "show"))
    assert "not in the index; run `simdoc-search index`, which adds the file" in sentence(run("delete", "draft.txt"))
    assert "a skipped file has no id" in sentence(run("show", "xyzzy"))


def test_an_ambiguous_name_lists_ids_if_the_argument_takes_no_overlap(tmp_path: Path) -> None:
    write(tmp_path, {"c/a/GPL-3.txt": words(0, 50), "c/b/GPL-3.txt": words(0, 50)})
    output("index", tmp_path / "c", "--store", tmp_path / "store")

    for command in (["show", "GPL-3"], ["similar", "GPL-3", "--overlap", "20"]):
        message = sentence(run(*command, "--store", tmp_path / "store"))
        assert message.endswith("""; use one of these queries instead: '"a/GPL-3.txt"', '"b/GPL-3.txt"'""")


def test_messages_about_common_mistakes_name_the_right_command() -> None:
    assert "No such command 'search'; use `similar` to find documents that" in usage_error(run("search", "x"))
    # click before 8.4 writes -r without quotes
    assert "-r; if it is an argument, write `--` before it" in usage_error(run("show", "-rf.txt")).replace("'", "")
    assert ids("doc123", "--overlap", "50%") == ids("doc123", "--overlap", "50 %") == ids("doc123_50")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give one of QUERY, --file, --text or --all-from"),
        (["doc123", "--text", "x"], "give one of QUERY, --file, --text or --all-from"),
        (["--text", "x", "--file", "draft.txt"], "give one of QUERY, --file, --text or --all-from"),
        (
            ["doc123_20_80 AND language:de"],
            "must begin with FINGERPRINT: in capital letters; write FINGERPRINT:doc123_20",
        ),
        (['"doc123"_20 AND language:de'], "must begin with FINGERPRINT: in capital letters"),
        (["doc123", "--filter", "language"], "write FIELD=VALUE, such as language=de"),
        (["doc123", "--filter", "=de"], "write FIELD=VALUE, such as language=de"),
        (["doc123", "--filter-any", "language"], "--filter-any"),
        (
            ["doc123", "--overlap", "abc"],
            "'--overlap': overlap 'abc' is not a percentage; write a number such as",
        ),
        (["doc123", "--overlap", "101"], "from 1 to 100"),
        (["doc123_20", "--probability", "٣"], "write a number such as 20 or 12.5"),
        (["doc123_20", "--probability", "0.2"], "write 20 for 20 %"),
        (["doc123_20", "--probability", "0"], "would find nothing"),
        (["doc123", "--probability", "80"], "requires an overlap"),
        (
            ["doc123", "--measure", "reverse_containment", "--probability", "80"],
            "'reverse_containment' cannot be combined with a probability; omit",
        ),
        (["doc123_20_80", "--measure", "reverse_containment"], 'omit the probability in "doc123.txt"_20_80'),
        (["doc123", "--size", "0"], "--size"),
        (["doc123", "--offset", "-1"], "--offset"),
        (["doc123", "--planner", "best"], "--planner"),
        (["doc123", "--nonsense"], "No such option"),
        (["doc123", "more"], "unexpected extra argument"),
    ],
)
def test_wrong_arguments_are_usage_errors(arguments: list[str], message: str) -> None:
    assert message in usage_error(run("similar", *arguments))
