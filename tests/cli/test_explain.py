"""`simdoc-search explain`: a query's readings, its plan, and how likely which overlap is found."""

from __future__ import annotations

import json
import math
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from simdoc_search import Document, SimilaritySearch, open_store
from simdoc_search.query import plan, to_dsl
from simdoc_search.query.planner import Planner
from simdoc_search.query.sql import to_sql
from tests.support.cli import answer, output, run, sentence, usage_error, words, write, write_corpus

QUERIES = ("doc123", "doc123_20", "doc123_20_80", "doc123_50_95", "doc123_100", "doc123_20_100", "absent_20_80")


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an indexed corpus; no test changes its store."""
    folder = tmp_path_factory.mktemp("explain")
    corpus = write_corpus(folder / "corpus")
    write(corpus, dict.fromkeys(("invoice", "invoice_10", "a/note.txt", "b/note.txt"), words(0, 90)))
    output("index", corpus, "--store", folder / ".simdoc")
    return folder


@pytest.fixture(autouse=True)
def folder(indexed: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the commands run."""
    monkeypatch.chdir(indexed)
    return indexed


def explain(*arguments: str) -> Any:
    """The JSON answer."""
    return answer("explain", *arguments)


def tokens() -> list[str]:
    """The tokens of doc123.txt, as the store has them."""
    return SimilaritySearch(open_store(".simdoc")).tokens("doc123.txt")


def table(*arguments: str) -> dict[str, str]:
    """What people are told above the table of probabilities: name -> value."""
    above, _ = output("explain", *arguments).split("\n\n")
    lines = (line.partition(" ") for line in above.splitlines())
    return {name: value.lstrip() for name, _, value in lines}


# --- what is explained ---


@pytest.mark.parametrize(
    ("asked", "readings"),
    [
        ("doc123", ['"doc123"']),
        ("doc123_20", ['"doc123_20"', '"doc123"_20']),
        ("doc123_20_80", ['"doc123_20_80"', '"doc123_20"_80', '"doc123"_20_80']),
        ("FINGERPRINT:doc123_12.5", ['"doc123_12.5"', '"doc123"_12.5']),
        ('"doc123"_20_80', ['"doc123"_20_80']),
    ],
)
def test_all_readings_are_shown_the_longest_id_first(asked: str, readings: list[str]) -> None:
    """Each as the string that has this reading only; what is explained is the one whose document exists."""
    explained = '"doc123.txt"' + readings[-1].removeprefix('"doc123"')

    assert readings == explain(asked)["readings"]
    assert ("  or  ".join(readings), explained) == (table(asked)["readings"], table(asked)["explained"])


@pytest.mark.parametrize("asked", QUERIES[:-1])
@pytest.mark.parametrize("planner", ["enough", "all"])
def test_what_is_explained_is_what_similar_does(asked: str, planner: Planner) -> None:
    """The same reading and the same plan, with all options."""
    shown, done = explain(asked, "--planner", str(planner)), answer("similar", asked, "--planner", planner)

    assert (done["query"], done["plan"]) == (shown["query"], shown["plan"])


def test_overlap_and_probability_may_be_options() -> None:
    """The id is then an id alone, as `invoice_10` is; the answer differs from `doc123_20_80`'s in the readings only."""
    short, long = explain("doc123_20_80"), explain("doc123", "--overlap", "20", "--probability", "80")

    assert ['"doc123"'] == long["readings"]
    assert {**short, "readings": []} == {**long, "readings": []}
    assert "invoice_10" == explain("invoice_10", "--overlap", "20")["query"]["id"]


def test_a_stored_document_is_explained_with_its_own_tokens() -> None:
    """Their number is shown, and nothing is assumed."""
    assert (True, len(tokens())) == tuple(explain("doc123_20")[key] for key in ("stored", "tokens"))
    assert f"{len(tokens())}" == table("doc123_20")["tokens"]


@pytest.mark.parametrize("arguments", [("absent_20_80",), ("doc123_20_80", "--store", "nowhere")])
def test_without_the_document_512_tokens_are_assumed(arguments: tuple[str, ...]) -> None:
    """Neither the document nor a store need exist; the reading with the most numbers is explained."""
    shown = explain(*arguments)

    assert (False, 512, 0.2, 0.8) == (shown["stored"], shown["tokens"], *list(shown["query"].values())[1:3])
    assert "512 (assumed; the document is not stored)" == table(*arguments)["tokens"]


def test_an_overlap_alone_needs_no_document_and_no_store() -> None:
    """There are no readings and no id; what is explained are the percentages."""
    arguments = ("--overlap", "50", "--probability", "95", "--store", "nowhere")
    shown = explain(*arguments)

    assert ([], None, False, 512) == (shown["readings"], shown["query"]["id"], shown["stored"], shown["tokens"])
    assert "overlap 50 %, probability 95 %" == table(*arguments)["explained"]
    assert "readings" not in table(*arguments)
    assert "overlap 12.5 %" == table("--overlap", "12.5")["explained"]


def test_the_planner_all_is_explained_as_such() -> None:
    """All tokens are in bands, which reach more than `enough` does."""
    enough, everything = (explain("--overlap", "20", "--probability", "80", "--planner", p) for p in ("enough", "all"))

    assert {"kind": "bands", "clauses": 80, "rows": 2, "bands": 40} == enough["plan"]
    assert {"kind": "bands", "clauses": 512, "rows": 2, "bands": 256} == everything["plan"]
    assert 0.8 <= enough["probability_reached"] < everything["probability_reached"]


@pytest.mark.parametrize(
    ("asked", "ways"),
    [
        ("invoice_10", ['"invoice_10"', '"invoice"_10']),
        ("invoice_10_80", ['"invoice_10"_80', '"invoice"_10_80']),
        ("note_20", ['"a/note.txt"_20', '"b/note.txt"_20']),
    ],
)
def test_what_can_mean_several_documents_is_refused_with_the_ways_to_say_it(asked: str, ways: list[str]) -> None:
    """As by `similar`; each of the ways has that one reading."""
    said = sentence(run("explain", asked))

    assert f"'{asked}' can mean several documents; write one of: {', '.join(ways)}" == said
    assert said == sentence(run("similar", asked))
    assert [[way] for way in ways] == [explain(way)["readings"] for way in ways]


# --- the engine's query ---


@pytest.mark.parametrize("planner", ["enough", "all"])
@pytest.mark.parametrize(("asked", "numbers"), [("doc123", ()), ("doc123_20", (0.2,)), ("doc123_20_80", (0.2, 0.8))])
def test_dsl_is_an_engines_query_and_nothing_else(asked: str, numbers: tuple[float, ...], planner: Planner) -> None:
    """Stdout is one JSON value, what `to_dsl` makes of the document's tokens; --json changes nothing."""
    result = run("explain", asked, "--dsl", "--planner", planner)

    assert (0, "") == (result.exit_code, result.stderr)
    assert to_dsl(plan(tokens(), *numbers, planner=planner)) == json.loads(result.stdout)
    assert result.stdout == output("explain", asked, "--dsl", "--planner", planner, "--json")


def test_sql_is_a_statement_with_its_parameters() -> None:
    """As `to_sql` makes it."""
    text, parameters = to_sql(plan(tokens(), 0.2, 0.8))

    assert {"text": text, "parameters": [*parameters]} == json.loads(output("explain", "doc123_20_80", "--sql"))
    assert "give either --dsl or --sql" == usage_error(run("explain", "doc123_20_80", "--sql", "--dsl"))


@pytest.mark.parametrize("arguments", [("absent_20",), ("--overlap", "20"), ("doc123_20", "--store", "nowhere")])
def test_a_query_without_a_stored_document_is_an_error(arguments: tuple[str, ...]) -> None:
    """Its tokens are the query; assumed ones would find nothing."""
    said = "--dsl and --sql need a document that is in the store; its tokens are the query"

    assert said == sentence(run("explain", *arguments, "--dsl"))


# --- how likely what is found ---


@pytest.mark.parametrize("asked", QUERIES)
def test_json_has_the_promised_keys_and_values(asked: str) -> None:
    """What is reached, and the curve, are what the plan says of itself; fractions, not percent."""
    shown = explain(asked)
    query = shown["query"]
    made = plan(tokens() if shown["stored"] else list(map(str, range(512))), query["overlap"], query["probability"])
    share = query["overlap"]
    error = math.sqrt(share * (1 - share) / len(made.tokens)) if share else None

    keys = ["readings", "query", "stored", "tokens", "plan", "sent", "probability_reached", "expected_error", "curve"]
    assert keys == list(shown)
    assert shown["plan"] == shown["sent"]
    assert (made.probability_of_finding(share) if share else None) == shown["probability_reached"]
    assert error == pytest.approx(shown["expected_error"])
    assert [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95] == [point["overlap"] for point in shown["curve"]]
    assert all(made.probability_of_finding(point["overlap"]) == point["probability"] for point in shown["curve"])


def test_bands_that_would_save_nothing_are_not_sent(tmp_path: Path) -> None:
    """Where most documents are alike, bands let all of them through: the plain query is sent, and finds them."""
    store = str(tmp_path / "alike")
    with closing(open_store(store, create=True)) as made:
        SimilaritySearch(made).index(Document(f"doc{n}", words(0, 200) + words(1000 + n, 10)) for n in range(300))
        result = SimilaritySearch(made).similar("doc7_20_80")
    shown = explain("doc7_20_80", "--store", store)
    said = table("doc7_20_80", "--store", store)

    assert (299, 10) == (result.candidates, len(result.hits))
    assert result.plan == plan(result.plan.tokens, 0.2, 0.8).plain  # type: ignore[union-attr]
    assert ("bands", "threshold") == (shown["plan"]["kind"], shown["sent"]["kind"])
    assert said["sent"].endswith("equal: the bands match over 256 documents, so they save nothing")
    assert "besides a whole band" in said["cut-off"]
    assert "sent" not in table("doc123_20_80")


@pytest.mark.parametrize("asked", QUERIES)
def test_more_overlap_is_found_with_more_probability(asked: str) -> None:
    """The curve never falls; rounding errors do not count."""
    probabilities = [point["probability"] for point in explain(asked)["curve"]]

    assert all(lower <= higher + 1e-9 for lower, higher in pairwise(probabilities))
    assert 0 <= min(probabilities) <= max(probabilities) <= 1


def test_people_are_told_what_is_reached_in_percent() -> None:
    """And the error of the estimate; without an overlap there is neither."""
    shown = table("doc123_20_80")

    assert "an overlap of 20 % is a candidate with a probability of 80.33 %" == shown["reached"]
    assert f"{100 * math.sqrt(0.16 / len(tokens())):.2f} %" in shown["error"]
    assert not {"reached", "error"} & set(table("doc123"))


def test_people_see_the_probability_of_each_overlap() -> None:
    """The same values as in --json, and that of the query's own overlap."""
    _, below = output("explain", "doc123_12.5_80").split("\n\n")
    head, *rows = below.splitlines()
    shown = dict(row.split(" %", 1) for row in rows)
    curve = {f"{100 * each['overlap']:g}": each["probability"] for each in explain("doc123_12.5_80")["curve"]}

    assert head == "overlap  probability of being found"
    assert {*curve, "12.5"} == {each.strip() for each in shown}
    assert all(row.endswith(" %") for row in rows)


# --- called wrongly ---


@pytest.mark.parametrize("arguments", [[], ["--probability", "80"], ["--dsl"], ["--json"]])
def test_something_must_be_asked(arguments: list[str]) -> None:
    """A FINGERPRINT, an overlap, or both."""
    assert "give a FINGERPRINT or --overlap" == usage_error(run("explain", *arguments))


@pytest.mark.parametrize(
    "arguments", [["--planner", "best"], ["--overlap", "0.2"], ["--overlap", "20 percent"], ["more"]]
)
def test_what_click_refuses_is_a_usage_error(arguments: list[str]) -> None:
    """Unknown choices, percentages written otherwise, a second FINGERPRINT."""
    assert usage_error(run("explain", "doc123", *arguments))


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ('"doc123', "is not closed"),
        ("FINGERPRINT:", "is empty"),
        ("doc123_0.2", "write 20 for 20 %"),
        ("doc123_20_0", "would find nothing"),
        ("doc123_120", "over 100"),
    ],
)
def test_a_malformed_query_is_one_sentence(asked: str, said: str) -> None:
    """It says what is wrong, or what to write."""
    assert said in usage_error(run("explain", asked))
