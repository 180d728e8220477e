"""Planner `all` builds the same query trees as Solr and Alfresco."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from simdoc_search.errors import QuerySyntaxError
from simdoc_search.query import ThresholdPlan, parse, plan
from simdoc_search.query.planner import alfresco_tokens_per_band
from simdoc_search.query.plans import Plan
from tests.support.query_plans import tokens
from tests.support.vectors import load

Number = float | str | Fraction | None


SOLR_DIFFERS = {
    ("1.5", "1.0"): "Solr validates nothing; an overlap over 100 % is an error here",
    ("1.0", "1.0"): "Solr sets a minimum match only for sim < 1, so its defaults require any one token",
    (
        "0.0",
        "1.0",
    ): "in Solr, a minimum match of 0 means any one token; here, any overlap means more tokens than by chance",
}
ALFRESCO_DIFFERS = {
    **dict.fromkeys(
        ["id", "id_", "id_0"],
        "Alfresco requires any one token, and we more than are equal by chance; here, `id_` is an id",
    ),
    **dict.fromkeys(
        ["id_0.2", "id_0.5", "id_0.2_0.8", "id_20_0.8"], "these are fractions in Alfresco, and errors here"
    ),
    **dict.fromkeys(["id_1", "id_1.0"], "1 means 100 % in Alfresco, and 1 % here"),
    **dict.fromkeys(["id_70_100", "id_70_1"], "with a probability of 100 %, Alfresco requires any one token"),
    "id_0_80": "Alfresco plans no bands; here, a probability requires an overlap",
    "id_70_0": "Alfresco plans one band of all tokens; here, this is an error",
    **dict.fromkeys(["id_-20", "id_150", "id_150_80"], "Alfresco does not validate numbers"),
    **dict.fromkeys(["id_20_80_junk", "id_abc"], "here, the whole string is an id, because it ends with no number"),
    **dict.fromkeys(["id__80", "ws://a/b_c_20", "my_doc_1", "_20", "_"], "Alfresco refuses or cuts ids with _"),
}


def trees(system: str) -> list[dict[str, Any]]:
    """The reference trees of all documents with tokens."""
    return [row for row in load("query_trees")[system] if row["n"]]


def structure(plan: Plan) -> dict[str, Any]:
    """The parts of a plan that the reference trees show."""
    if isinstance(plan, ThresholdPlan):
        return {"clauses": len(plan.tokens), "msm": plan.minimum_match}
    first, last = (list(plan.bands[index]) for index in (0, -1))
    return {"sizes": [len(band) for band in plan.bands], "first": first, "last": last}


def reference(row: dict[str, Any], probability: float) -> dict[str, Any]:
    """The same parts of a tree that Solr or Alfresco built. Below 100 %, a plain OR counts as bands of one token."""
    if row["banded"]:
        sizes = [size for size, times in row["band_sizes_rle"] for _ in range(times)]
        return {
            "sizes": sizes,
            "first": row["first_band_terms"],
            "last": [*map(decoded, row["last_band_terms"])],
        }
    if probability < 1:
        names = tokens(row["n"])
        return {"sizes": [1] * len(names), "first": [names[0]], "last": [names[-1]]}
    return {"clauses": row["clauses"], "msm": row["msm"]}


def built(count: int, overlap: Number, probability: Number) -> dict[str, Any] | None:
    """The parts of the plan that planner `all` makes, or None if it refuses the numbers."""
    try:
        return structure(plan(tokens(count), overlap, probability, planner="all"))
    except QuerySyntaxError:
        return None


def decoded(term: str) -> str:
    """The token of a term. When Solr wraps around, it has hex dumps instead of tokens: [68 30 30 30] is h000."""
    return bytes.fromhex(term[1:-1]).decode() if term.startswith("[") else term


def test_band_sizes_are_those_of_solr() -> None:
    """The grid has the results of Solr's own computeBandSize. For tp=1.0, Solr does not call it."""
    grid = [row for row in load("bands")["grid"] if row["tp"] != "1.0"]
    sizes = [alfresco_tokens_per_band(row["n"], Fraction(row["sim"]), Fraction(row["tp"])) for row in grid]

    assert 720 == len(grid)
    assert [row["rows_double"] for row in grid] == [row["rows_float"] for row in grid] == sizes
    for row in grid[::3]:
        sizes = structure(plan(tokens(row["n"]), row["sim"], row["tp"], planner="all"))["sizes"]
        assert [row["rows_double"]] * row["bands_emitted"] == sizes


def test_band_sizes_at_the_edges_are_those_of_solr() -> None:
    """The edges are no tokens, one token, overlap 0 and 1, and probability 0 and 1. Solr's unit tests are included."""
    rows = load("bands")["edge"] + load("bands")["solr_unit_test_examples"]
    inside = [row for row in rows if 0 <= row[1] <= 1]
    sizes = [alfresco_tokens_per_band(row[0], Fraction(str(row[1])), Fraction(str(row[2]))) for row in inside]

    assert 20 == len(inside)
    assert [row[3] for row in inside] == sizes


def test_planner_all_builds_the_trees_of_solr() -> None:
    """This compares the first band, the decoded last band, band sizes and minimum match, except for SOLR_DIFFERS."""
    for row in trees("solr"):
        equal = reference(row, float(row["tp"])) == built(row["n"], row["sim"], row["tp"])

        assert ((row["sim"], row["tp"]) not in SOLR_DIFFERS) == equal, row


def test_planner_all_builds_the_trees_of_alfresco() -> None:
    """Each FINGERPRINT string is parsed and planned. The result is Alfresco's tree, except for ALFRESCO_DIFFERS."""
    for row in trees("alfresco"):
        readings = [reading for reading in parse(row["q"]).readings if reading.id == row.get("node_id")]
        ours = built(row["n"], readings[0].overlap, readings[0].probability) if readings else None
        equal = ours is not None and reference(row, row["tp_as_double"]) == ours

        assert (row["q"] not in ALFRESCO_DIFFERS) == equal, row
