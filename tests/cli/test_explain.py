"""`simdoc-search explain`: the readings of a query, its plan, and the probability of finding each overlap."""

from __future__ import annotations

import json
import math
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from simdoc_search import Document, SimilaritySearch, open_store
from simdoc_search.as_json.queries import plan_as_json
from simdoc_search.query import plan, to_dsl
from simdoc_search.query.planner import Planner
from simdoc_search.query.sql import to_sql
from tests.support.cli import answer, output, run, sentence, usage_error, words, write, write_corpus

pytestmark = pytest.mark.usefixtures("folder")

QUERIES = ("doc123", "doc123_20", "doc123_20_80", "doc123_50_95", "doc123_20_100", "absent_20_80")


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an indexed corpus."""
    folder = tmp_path_factory.mktemp("explain")
    corpus = write_corpus(folder / "corpus")
    write(corpus, dict.fromkeys(("invoice", "invoice_10", "a/note.txt", "b/note.txt"), words(0, 90)))
    output("index", corpus, "--store", folder / ".simdoc")
    return folder


def explain(*arguments: str) -> Any:
    """Return the result as JSON."""
    return answer("explain", *arguments)


def tokens() -> list[str]:
    """Return the stored tokens of doc123.txt."""
    record = open_store(".simdoc").get("doc123.txt")
    assert record is not None
    return record.query_terms()


def table(*arguments: str) -> dict[str, str]:
    """Map the names to the values in the lines above the table of probabilities."""
    above, _ = output("explain", *arguments).split("\n\n")
    lines = (line.partition(" ") for line in above.splitlines())
    return {name: value.lstrip() for name, _, value in lines}


@pytest.mark.parametrize(
    ("query", "readings"),
    [
        ("doc123", ['"doc123"']),
        ("doc123_20_80", ['"doc123_20_80"', '"doc123_20"_80', '"doc123"_20_80']),
        ("FINGERPRINT:doc123_12.5", ['"doc123_12.5"', '"doc123"_12.5']),
        ('"doc123"_20_80', ['"doc123"_20_80']),
    ],
)
def test_the_reading_with_the_longest_id_comes_first(query: str, readings: list[str]) -> None:
    """The explained reading is the one whose document exists."""
    explained = '"doc123.txt"' + readings[-1].removeprefix('"doc123"')

    assert readings == explain(query)["readings"]
    assert ("  or  ".join(readings), explained) == (table(query)["readings"], table(query)["query"])


@pytest.mark.parametrize("query", QUERIES[:-1])
def test_the_query_and_the_plan_are_those_of_similar(query: str) -> None:
    for planner in ("enough", "all"):
        explained, result = explain(query, "--planner", planner), answer("similar", query, "--planner", planner)

        assert (result["query"], result["plan"]) == (explained["query"], explained["plan"])


def test_overlap_and_probability_may_be_options() -> None:
    suffixes, options = explain("doc123_20_80"), explain("doc123", "--overlap", "20", "--probability", "80")

    assert ['"doc123"'] == options["readings"]
    assert {**suffixes, "readings": []} == {**options, "readings": []}
    assert "invoice_10" == explain("invoice_10", "--overlap", "20")["query"]["id"]


def test_without_a_document_512_tokens_are_assumed() -> None:
    assert (True, len(tokens())) == tuple(explain("doc123_20")[key] for key in ("is_stored", "token_count"))
    assert f"{len(tokens())}" == table("doc123_20")["tokens"]
    for arguments, note in (
        (("absent_20_80",), "no document 'absent' in the index; "),
        (("doc123_20_80", "--store", "nowhere"), "no index at nowhere; create an index with: "),
    ):
        explained = explain(*arguments)

        assert (False, 512) == (explained["is_stored"], explained["token_count"])
        assert (0.2, 0.8) == (explained["query"]["overlap"], explained["query"]["probability"])
        assert "512 (an assumed number)" == table(*arguments)["tokens"]
        assert run("explain", *arguments).stderr.startswith(f"note: {note}")


def test_an_overlap_alone_needs_neither_a_document_nor_a_store() -> None:
    arguments = ("--overlap", "50", "--probability", "95", "--store", "nowhere")
    explained = explain(*arguments)

    assert ([], None, False, 512) == tuple(
        value
        for value in (explained["readings"], explained["query"]["id"], explained["is_stored"], explained["token_count"])
    )
    assert "overlap 50 %, probability 95 %" == table(*arguments)["query"]
    assert "readings" not in table(*arguments)
    assert "overlap 12.5 %" == table("--overlap", "12.5")["query"]


def test_the_planner_all_reaches_a_greater_probability() -> None:
    enough, everything = (explain("--overlap", "20", "--probability", "80", "--planner", p) for p in ("enough", "all"))

    assert {"kind": "bands", "clause_count": 80, "tokens_per_band": 2, "band_count": 40} == enough["plan"]
    assert {"kind": "bands", "clause_count": 512, "tokens_per_band": 2, "band_count": 256} == everything["plan"]
    assert 0.8 <= enough["recall"] < everything["recall"]


# --- the query of an engine or a database ---


@pytest.mark.parametrize(("query", "numbers"), [("doc123", ()), ("doc123_20", (0.2,)), ("doc123_20_80", (0.2, 0.8))])
def test_dsl_prints_only_the_query_of_an_engine(query: str, numbers: tuple[float, ...]) -> None:
    planners: list[Planner] = ["enough", "all"]
    for planner in planners:
        result = run("explain", query, "--dsl", "--planner", planner)

        assert (0, "") == (result.exit_code, result.stderr)
        assert to_dsl(plan(tokens(), *numbers, planner=planner), score="tokens") == json.loads(result.stdout)
        assert result.stdout == output("explain", query, "--dsl", "--planner", planner, "--json")


def test_sql_prints_a_statement_with_its_parameters() -> None:
    text, parameters = to_sql(plan(tokens(), 0.2, 0.8))

    assert {"text": text, "parameters": [*parameters]} == json.loads(output("explain", "doc123_20_80", "--sql"))
    assert "give either --dsl or --sql, not both" == usage_error(run("explain", "doc123_20_80", "--sql", "--dsl"))


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("absent_20",), "no document 'absent' in the index"),
        (("--overlap", "20"), "give its id"),
        (("doc123_20", "--store", "nowhere"), "no index at nowhere"),
    ],
)
def test_dsl_needs_a_stored_document(arguments: tuple[str, ...], problem: str) -> None:
    message = sentence(run("explain", *arguments, "--dsl"))

    assert message.startswith(f"--dsl and --sql need the tokens of a stored document: {problem}")


# --- probabilities ---


@pytest.mark.parametrize("query", QUERIES)
def test_json_has_the_promised_keys_and_the_values_of_the_plan(query: str) -> None:
    explained = explain(query)
    overlap, probability = explained["query"]["overlap"], explained["query"]["probability"]
    own_tokens = tokens() if explained["is_stored"] else list(map(str, range(512)))
    expected = plan(own_tokens, overlap, probability, is_verified=True)
    error = math.sqrt(overlap * (1 - overlap) / len(expected.tokens)) if overlap else None
    curve = {point["overlap"]: point["probability"] for point in explained["curve"]}

    keys = ["readings", "query", "is_stored", "token_count", "plan", "executed_plan", "recall", "expected_error"]
    keys.append("curve")
    assert keys == list(explained)
    assert explained["plan"] == explained["executed_plan"]
    assert (expected.probability_of_finding(overlap) if overlap else None) == explained["recall"]
    assert error == pytest.approx(explained["expected_error"])
    assert [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95] == list(curve)
    assert {share: expected.probability_of_finding(share) for share in curve} == curve
    assert all(lower <= higher + 1e-9 for lower, higher in pairwise(curve.values()))


def test_bands_that_save_nothing_are_not_sent(tmp_path: Path) -> None:
    """If most documents are similar, most of them match a band. Then `similar` sends the query without bands."""
    location = str(tmp_path / "alike")
    with closing(open_store(location, create=True)) as store:
        search = SimilaritySearch(store)
        search.index(Document(f"doc{n}", words(0, 200) + words(1000 + n, 10)) for n in range(300))
        result = search.similar("doc7_20_80")
    explained, shown = explain("doc7_20_80", "--store", location), table("doc7_20_80", "--store", location)

    assert (299, 10) == (result.candidate_count, len(result.hits))
    assert result.plan == plan(result.plan.tokens, 0.2, 0.8).plan_without_bands  # type: ignore[union-attr]
    assert ("bands", "threshold") == (explained["plan"]["kind"], explained["executed_plan"]["kind"])
    assert (
        result.plan.probability_of_finding(0.2)
        == explained["recall"]
        > plan(tokens(), 0.2, 0.8).probability_of_finding(0.2)
    )
    assert shown["executed"].endswith("must match, because bands that match more than 256 documents are slow")
    assert "and all tokens of at least one band" in shown["filter"]
    assert "executed" not in table("doc123_20_80")


def test_without_texts_the_plan_is_that_of_similar(tmp_path: Path) -> None:
    """It requires more matching tokens, because the overlap is estimated from them."""
    write_corpus(tmp_path / "c")
    output("index", tmp_path / "c", "--store", tmp_path / "store", "--no-texts")
    location = str(tmp_path / "store")
    with closing(open_store(location)) as store:
        expected = SimilaritySearch(store).similar("doc123_20").plan

    explained = explain("doc123_20", "--store", location)
    assert plan_as_json(expected) == explained["plan"]
    assert expected.probability_of_finding(0.2) == explained["recall"]


def test_people_see_probabilities_in_percent() -> None:
    shown = table("doc123_20_80")
    heading, *rows = output("explain", "doc123_12.5_80").split("\n\n")[1].splitlines()
    curve = explain("doc123_12.5_80")["curve"]

    assert "a document with an overlap of 20 % is found with a probability of at least 80.33 %" == shown["recall"]
    assert f"{100 * math.sqrt(0.16 / len(tokens())):.2f} %" in shown["error"]
    assert not {"recall", "error"} & set(table("doc123"))
    assert heading == "overlap  probability of being found"
    assert {f"{100 * point['overlap']:g}" for point in curve} | {"12.5"} == {row.split()[0] for row in rows}
    assert all(row.endswith(" %") for row in rows)


def test_filters_do_not_change_the_plan(indexed: Path) -> None:
    store = ("--store", str(indexed / ".simdoc"))
    assert explain("doc123_20_80", *store) == explain("FINGERPRINT:doc123_20_80 AND NOT author:me", *store)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give QUERY or --overlap"),
        (["--probability", "80"], "give QUERY or --overlap"),
        (["doc123", "--planner", "best"], "--planner"),
        (["doc123", "--overlap", "0.2"], "write 20 for 20 %"),
    ],
)
def test_wrong_arguments_are_usage_errors(arguments: list[str], message: str) -> None:
    assert message in usage_error(run("explain", *arguments))
