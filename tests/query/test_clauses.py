"""FINGERPRINT as a clause among others: what is written anew, what stays as it was, what has no meaning."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.errors import QuerySyntaxError
from simdoc_search.query.clauses import expanded, has_clauses, with_filters


def clause_of(fingerprint: str) -> dict[str, Any]:
    """What stands for a FINGERPRINT here."""
    return {"found": fingerprint}


def asked(query: str, **options: Any) -> dict[str, Any]:
    """A clause of the engine's own."""
    return {"query_string": {**options, "query": query}}


def of(fingerprint: str) -> dict[str, Any]:
    """A clause that stands for a FINGERPRINT."""
    return {"found": fingerprint}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (
            'FINGERPRINT:doc_20 AND path:"reports/" AND NOT author:me',
            {"bool": {"must": [of("doc_20"), asked('path:"reports/"')], "must_not": [asked("author:me")]}},
        ),
        ("FINGERPRINT:doc_20%", of("doc_20%")),
        ("fingerprint:doc_20 FINGERPRINT:a", {"bool": {"should": [asked("fingerprint:doc_20"), of("a")]}}),
        ('FINGERPRINT: "an id: (1)"_20_80', of('"an id: (1)"_20_80')),
        (r"FINGERPRINT:a\:b_20", of("a:b_20")),
        ("FINGERPRINT:reports/a-b.txt_12.5", of("reports/a-b.txt_12.5")),
        ("NOT FINGERPRINT:a", {"bool": {"must_not": [of("a")]}}),
        ("!FINGERPRINT:a", {"bool": {"must_not": [of("a")]}}),
        ("(FINGERPRINT:a)^2", {"bool": {"must": [of("a")], "boost": 2.0}}),
        ("FINGERPRINT:(a_20 OR b)", {"bool": {"should": [of("a_20"), of("b")]}}),
        ("FINGERPRINT:a one two", {"bool": {"should": [of("a"), asked("one two")]}}),
        ("one AND two OR FINGERPRINT:a", {"bool": {"must": [asked("one AND two")], "should": [of("a")]}}),
        ("one && two || FINGERPRINT:a", {"bool": {"must": [asked("one AND two")], "should": [of("a")]}}),
        (
            "+one -two (x FINGERPRINT:a)",
            {
                "bool": {
                    "must": [asked("one")],
                    "must_not": [asked("two")],
                    "should": [{"bool": {"should": [asked("x"), of("a")]}}],
                }
            },
        ),
    ],
)
def test_a_fingerprint_becomes_a_clause_of_its_own(query: str, expected: dict[str, Any]) -> None:
    """The others stay what they were, and occur as Lucene's classic parser has them."""
    assert expected == expanded(query, clause_of)


def test_the_options_of_a_query_string_hold_for_what_is_left_of_it() -> None:
    """Its operator says how clauses without one occur; boost and the least number are those of the whole."""
    request = {
        "size": 3,
        "query": {
            "bool": {
                "filter": [{"term": {"FINGERPRINT:": "a"}}],
                "must": [
                    asked("one two FINGERPRINT:a", default_operator="AND", fields=["title"], boost=3),
                    asked("one two FINGERPRINT:a", minimum_should_match=2),
                    asked('say "FINGERPRINT:a"', boost=3),
                ],
            }
        },
    }
    before = json.dumps(request)
    first, second, third = expanded(request, clause_of)["query"]["bool"]["must"]

    one_two = asked("one two", default_operator="AND", fields=["title"])
    assert {"bool": {"must": [{"bool": {"must": [one_two, of("a")]}}], "boost": 3}} == first
    assert {"bool": {"should": [asked("one"), asked("two"), of("a")], "minimum_should_match": 2}} == second
    assert request["query"]["bool"]["must"][2] == third  # type: ignore[index]
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
def test_without_a_fingerprint_nothing_changes(query: str) -> None:
    """As a text, and in a body."""
    body = {"query": {"bool": {"must": [asked(query, boost=2)]}}, "_source": False}

    assert asked(query) == expanded(query, clause_of)
    assert body == expanded(body, clause_of)


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("FINGERPRINT:a OR", "is not in Lucene's query syntax"),
        ("(FINGERPRINT:a", "is not in Lucene's query syntax"),
        ("FINGERPRINT:a*", "is no document of a FINGERPRINT; write ID_20"),
        ("FINGERPRINT:a~2", "a FINGERPRINT stands in no other field, and has no wildcard"),
        ("FINGERPRINT:[a TO b]", "a FINGERPRINT stands in no other field, and has no wildcard"),
        ("title:(one FINGERPRINT:a)", "a FINGERPRINT stands in no other field, and has no wildcard"),
    ],
)
def test_what_has_no_meaning_is_a_sentence(query: str, said: str) -> None:
    """It is not given to the engine as words."""
    with pytest.raises(QuerySyntaxError, match=r"\A[^\n]+\Z") as error:
        expanded(query, clause_of)

    assert said in str(error.value)


def test_simple_clauses_are_filters() -> None:
    """For stores without a query syntax; quoted ids and several values are understood."""
    found = with_filters('FINGERPRINT:"a b"_20 AND language:(de OR fr) AND path:"in/" AND NOT author:me')

    assert '"a b"_20' == found.fingerprint
    assert [("language", ["de", "fr"]), ("path", ["in/"])] == found.wanted
    assert [("author", ["me"])] == found.excluded


@pytest.mark.parametrize(
    "query",
    [
        "FINGERPRINT:a OR x:y",
        "FINGERPRINT:a AND word",
        "FINGERPRINT:a AND FINGERPRINT:b",
        "NOT FINGERPRINT:a AND x:y",
        "FINGERPRINT:a AND x:[1 TO 2]",
        "FINGERPRINT:a AND x:(b AND c)",
    ],
)
def test_others_are_not_filters(query: str) -> None:
    """What would be needed is said."""
    with pytest.raises(QuerySyntaxError, match="write one FINGERPRINT:ID_20, then AND FIELD:VALUE"):
        with_filters(query)


@pytest.mark.parametrize(
    ("text", "is_several"),
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
def test_an_id_with_spaces_is_no_query(text: str, is_several: bool) -> None:
    """Unless it names the field and has an operator outside of quotes."""
    assert is_several is has_clauses(text)
