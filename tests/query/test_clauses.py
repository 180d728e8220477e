"""FINGERPRINT as one clause among the others of a query."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.errors import QuerySyntaxError
from simdoc_search.query.clauses import (
    expand_fingerprints,
    has_other_clauses,
    missing_fingerprint_error,
    parse_fingerprint_and_filters,
)


def clause_of(fingerprint: str) -> dict[str, Any]:
    return {"found": fingerprint}


def engine_clause(query: str, **options: Any) -> dict[str, Any]:
    return {"query_string": {**options, "query": query}}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (
            'FINGERPRINT:doc_20 AND path:"reports/" AND NOT author:me',
            {
                "bool": {
                    "must": [clause_of("doc_20"), engine_clause('path:"reports/"')],
                    "must_not": [engine_clause("author:me")],
                }
            },
        ),
        ("FINGERPRINT:doc_20%", clause_of("doc_20%")),
        (
            "fingerprint:doc_20 FINGERPRINT:a",
            {"bool": {"should": [engine_clause("fingerprint:doc_20"), clause_of("a")]}},
        ),
        ('FINGERPRINT: "an id: (1)"_20_80', clause_of('"an id: (1)"_20_80')),
        (r"FINGERPRINT:a\:b_20", clause_of("a:b_20")),
        ("FINGERPRINT:reports/a-b.txt_12.5", clause_of("reports/a-b.txt_12.5")),
        ("NOT FINGERPRINT:a", {"bool": {"must_not": [clause_of("a")]}}),
        ("!FINGERPRINT:a", {"bool": {"must_not": [clause_of("a")]}}),
        ("(FINGERPRINT:a)^2", {"bool": {"must": [clause_of("a")], "boost": 2.0}}),
        ("FINGERPRINT:(a_20 OR b)", {"bool": {"should": [clause_of("a_20"), clause_of("b")]}}),
        ("FINGERPRINT:a one two", {"bool": {"should": [clause_of("a"), engine_clause("one two")]}}),
        (
            "one AND two OR FINGERPRINT:a",
            {"bool": {"must": [engine_clause("one AND two")], "should": [clause_of("a")]}},
        ),
        ("one && two || FINGERPRINT:a", {"bool": {"must": [engine_clause("one AND two")], "should": [clause_of("a")]}}),
        (
            "+one -two (x FINGERPRINT:a)",
            {
                "bool": {
                    "must": [engine_clause("one")],
                    "must_not": [engine_clause("two")],
                    "should": [{"bool": {"should": [engine_clause("x"), clause_of("a")]}}],
                }
            },
        ),
    ],
)
def test_a_fingerprint_is_replaced_by_a_clause(query: str, expected: dict[str, Any]) -> None:
    """Other clauses are unchanged. They are combined as in Lucene's classic parser."""
    assert expected == expand_fingerprints(query, clause_of)


def test_the_options_of_a_query_string_apply_to_the_rest_of_it() -> None:
    """`boost` and `minimum_should_match` apply to the whole query. The request itself is not changed."""
    request = {
        "size": 3,
        "query": {
            "bool": {
                "filter": [{"term": {"FINGERPRINT:": "a"}}],
                "must": [
                    engine_clause("one two FINGERPRINT:a", default_operator="AND", fields=["title"], boost=3),
                    engine_clause("one two FINGERPRINT:a", minimum_should_match=2),
                    engine_clause('say "FINGERPRINT:a"', boost=3),
                    engine_clause("one OR FINGERPRINT:a two", default_operator="AND"),
                ],
            }
        },
    }
    before = json.dumps(request)
    first, second, third, fourth = expand_fingerprints(request, clause_of)["query"]["bool"]["must"]

    one_two = engine_clause("one two", default_operator="AND", fields=["title"])
    assert {"bool": {"must": [{"bool": {"must": [one_two, clause_of("a")]}}], "boost": 3}} == first
    assert {
        "bool": {"should": [engine_clause("one"), engine_clause("two"), clause_of("a")], "minimum_should_match": 2}
    } == second
    assert request["query"]["bool"]["must"][2] == third  # type: ignore[index]
    one, two = (engine_clause(word, default_operator="AND") for word in ("one", "two"))
    assert {"bool": {"should": [one, clause_of("a")], "must": [two]}} == fourth
    assert json.dumps(request) == before


words = st.sampled_from(["one", "title:two", '"a FINGERPRINT:phrase"', "[1 TO 3]", "/re.g/", r"a\ b", "x*", "y~1"])
queries = st.recursive(
    words,
    lambda inner: st.tuples(inner, st.sampled_from([" AND ", " OR ", " ", " AND NOT "]), inner).map(
        lambda three: f"({three[0]}{three[1]}{three[2]})"
    ),
    max_leaves=8,
)


@given(queries)
def test_a_query_without_a_fingerprint_is_unchanged(query: str) -> None:
    body = {"query": {"bool": {"must": [engine_clause(query, boost=2)]}}, "_source": False}

    assert engine_clause(query) == expand_fingerprints(query, clause_of)
    assert body == expand_fingerprints(body, clause_of)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("FINGERPRINT:a OR", "is not valid in Lucene's query syntax"),
        ("(FINGERPRINT:a", "is not valid in Lucene's query syntax"),
        ("FINGERPRINT:a*", "is not a document id; write ID_OVERLAP"),
        ("FINGERPRINT:a~2", "write FINGERPRINT:ID_20, without wildcards, and not in the parentheses of another field"),
        (
            "FINGERPRINT:[a TO b]",
            "write FINGERPRINT:ID_20, without wildcards, and not in the parentheses of another field",
        ),
        (
            "title:(one FINGERPRINT:a)",
            "write FINGERPRINT:ID_20, without wildcards, and not in the parentheses of another field",
        ),
    ],
)
def test_a_meaningless_fingerprint_is_refused(query: str, message: str) -> None:
    """Such a FINGERPRINT is not passed to the engine as words."""
    with pytest.raises(QuerySyntaxError, match=r"\A[^\n]+\Z") as error:
        expand_fingerprints(query, clause_of)

    assert message in str(error.value)


def test_simple_clauses_are_read_as_filters() -> None:
    """Stores without a query syntax need such filters."""
    found = parse_fingerprint_and_filters(
        'FINGERPRINT:"a b"_20 AND language:(de OR fr) AND path:"in/" AND NOT author:me'
    )

    assert '"a b"_20' == found.fingerprint
    assert [("language", ["de", "fr"]), ("path", ["in/"])] == found.required_filters
    assert [("author", ["me"])] == found.excluded_filters


@pytest.mark.parametrize(
    "query",
    [
        "FINGERPRINT:a OR x:y",
        "FINGERPRINT:a AND word",
        "FINGERPRINT:a AND FINGERPRINT:b",
        "NOT FINGERPRINT:a AND x:y",
        "FINGERPRINT:a AND x:(b AND c)",
        "FINGERPRINT:a AND x:/b/",
    ],
)
def test_other_clauses_are_refused_with_an_example(query: str) -> None:
    with pytest.raises(QuerySyntaxError, match="write `FINGERPRINT:ID_20`, then filters such as `AND FIELD:VALUE`"):
        parse_fingerprint_and_filters(query)


def test_words_after_an_id_are_refused_with_the_advice_to_quote_the_id() -> None:
    query = "FINGERPRINT:shop/returns & refunds 2024_20_80 AND author:x"
    with pytest.raises(
        QuerySyntaxError, match=r"'& refunds 2024_20_80' is not a filter; .* put the id in quotes, as in "
    ):
        parse_fingerprint_and_filters(query)
    with pytest.raises(QuerySyntaxError, match="put ids and values with special characters in quotes"):
        parse_fingerprint_and_filters("FINGERPRINT:a [draft]_20 AND author:x")

    quoted = parse_fingerprint_and_filters('FINGERPRINT:"shop/returns & refunds 2024"_20_80 AND author:x')
    assert ('"shop/returns & refunds 2024"_20_80', [("author", ["x"])]) == quoted[:2]


@pytest.mark.parametrize("value", ["[2026-01-01 TO 2026-06-01]", "{1 TO *}", ">=5", "<5", "(1 OR [2 TO 3])"])
def test_a_range_is_refused_with_the_alternatives(value: str) -> None:
    with pytest.raises(
        QuerySyntaxError, match=r"is a range; list the values, as in x:\(VALUE OR VALUE\), or in Python"
    ):
        parse_fingerprint_and_filters(f"FINGERPRINT:a AND x:{value}")


@pytest.mark.parametrize(
    ("text", "corrected"),
    [
        ("a_20_80 AND author:x", "FINGERPRINT:a_20_80 AND author:x"),
        ("a & b_20_80 AND x:y", 'FINGERPRINT:"a & b"_20_80 AND x:y'),
        ('"a b"_20 && NOT by.name:x', 'FINGERPRINT:"a b"_20 && NOT by.name:x'),
        ("fingerprint: a_20 AND x:y", "FINGERPRINT:a_20 AND x:y"),
        ("FINGERPRINT:a AND x:y", None),
        ('"a AND x:y"_20', None),
        ("this AND that", None),
    ],
)
def test_filters_without_a_fingerprint_before_the_id_are_recognised(text: str, corrected: str | None) -> None:
    error = missing_fingerprint_error(text)

    assert corrected == (str(error).rpartition("; write ")[2] if error else None)


@pytest.mark.parametrize("value", ["k*", "k?", r"k\\*", "(one OR k*)", "*"])
def test_a_wildcard_is_refused_unless_it_is_quoted(value: str) -> None:
    """Stores would look for a literal asterisk."""
    with pytest.raises(QuerySyntaxError, match="has a wildcard; write the whole value"):
        parse_fingerprint_and_filters(f"FINGERPRINT:a AND NOT author:{value}")

    literal = parse_fingerprint_and_filters(r'FINGERPRINT:a AND x:"k*?" AND y:k\*')
    assert [("x", ["k*?"]), ("y", ["k*"])] == literal.required_filters


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("FINGERPRINT:a AND x:y", True),
        ("x:y && FINGERPRINT : a", True),
        ("fingerprint:a AND x:y", False),
        ("FINGERPRINT:a", False),
        ("FINGERPRINT:my letter AND yours.txt_20", True),
        ('FINGERPRINT:"my letter AND yours.txt"_20', False),
        ("my letter AND yours.txt_20", False),
        ("a NOT b", False),
    ],
)
def test_clauses_need_the_field_and_an_operator_outside_quotes(text: str, expected: bool) -> None:
    """Otherwise the text is an id with spaces."""
    assert expected is has_other_clauses(text)
