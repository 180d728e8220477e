"""Filters by metadata and by path, in every store."""

from __future__ import annotations

import pytest

from simdoc_search.query.plans import ThresholdPlan
from simdoc_search.stores.base import Store
from simdoc_search.stores.filters import Condition, Filters, any_of, none_of
from tests.support.stores import put, ranked_candidates, record, tokens


def filtered(store: Store, **filters: str | int | float | bool) -> list[str]:
    """Return the ids of the documents that match."""
    return [id for _, id in ranked_candidates(store, ThresholdPlan(tokens(range(8)), 1), filters=filters)]


def test_filters_compare_the_text_form_of_a_field(store: Store) -> None:
    """Numbers and booleans are compared in their JSON form. If the field is a list, one of its values must match."""
    put(
        store,
        record("a", year=2020, draft=True, share=0.5, language="en", authors=["Ada", "Bob"]),
        record("b", year="2020", draft="no", share=1, language="en"),
    )

    assert ["a", "b"] == filtered(store, year=2020) == filtered(store, year="2020")
    assert ["a"] == filtered(store, draft=True) == filtered(store, draft="true")
    assert ["a"] == filtered(store, share=0.5) == filtered(store, authors="Bob") == filtered(store, authors="Ada")
    assert ["b"] == filtered(store, share=1)
    assert [] == filtered(store, authors="Ada Bob") == filtered(store, unknown="x") == filtered(store, year=202)


def test_wildcards_are_normal_characters(store: Store) -> None:
    put(store, record("a", author="bot*", title="Who?"), record("b", author="bot1", title="Whom"))

    assert ["a"] == filtered(store, author="bot*") == filtered(store, title="Who?")
    assert [] == filtered(store, author="bot?") == filtered(store, author="*")


def test_all_filters_must_match(store: Store) -> None:
    put(store, record("a", x="1", y="1"), record("b", x="1", y="2"), record("c", x="2", y="2"))

    assert [(8, "b")] == ranked_candidates(
        store, ThresholdPlan(tokens(range(9)), 1), filters={"x": "1", "y": "2", "path": "b"}
    )


def test_a_list_of_values_matches_any_and_none_of_matches_no_value(store: Store) -> None:
    put(store, record("a/1", x="1", y="1"), record("a/2", x="2", y="1"), record("b", x=["2", "3"]))
    plan = ThresholdPlan(tokens(range(8)), 1)

    def filtered(filters: Filters) -> list[str]:
        """Return the ids of the documents that match."""
        return sorted(id for _, id in ranked_candidates(store, plan, filters=filters))

    assert ["a/1", "a/2", "b"] == filtered({"x": ["1", "2"]}) == filtered({"x": any_of(1, "2", "none")})
    assert ["a/2", "b"] == filtered({"x": ("2", "3")}) == filtered({"x": {"2"}})
    assert ["b"] == filtered([{"x": "2"}, {"x": "3"}]) == filtered({"path": ["b", "c"]})
    assert ["a/2"] == filtered([{"x": ["2", "3"]}, {"path": ["a/", "c/"], "y": "1"}])
    assert ["a/1"] == filtered({"x": none_of("2", "9")}) == filtered([{"y": "1"}, {"path": none_of("a/2", "b")}])
    assert ["a/1", "a/2", "b"] == filtered({"x": none_of()}) == filtered({"z": none_of("1")})
    assert [] == filtered({"x": []}) == filtered({"path": []}) == filtered([{"x": any_of()}, {"y": "1"}])


def test_other_fields_are_suggested_for_an_unknown_field_or_path(store: Store) -> None:
    put(store, record("a/1", x="1", long="x" * 5_000), record("b/c/2", y=2), record("top"))

    for known in (
        Condition("x", ("9",)),
        Condition("long", ()),
        Condition("path", ("z/", "b/c")),
        Condition("y", (1,)),
    ):
        assert None is store.suggest_filter_names(known)
    assert (
        ["long", "x", "y"]
        == store.suggest_filter_names(Condition("z", ("1",)))
        == store.suggest_filter_names(Condition("xx", ()))
    )
    assert ["a/", "b/"] == store.suggest_filter_names(Condition("path", ("z/", "b/d")))


@pytest.mark.parametrize(
    "value", ["x" * 10_000, "x" * 70_000, "漢" * 600, "a b_c/d\"e'f\\g=h", "", "\ud800", "a\0b", "é\n"]
)
def test_a_value_of_any_length_and_characters_is_found_by_equality(store: Store, value: str) -> None:
    put(store, record("a", field=value), record("b", field=value + "."), record("c", other=value))

    assert ["a"] == filtered(store, field=value)


PATHS = [
    *("a/b.txt", "a/b/c.txt", "a*[b].txt", "a.txt", "é/漢 字.txt", "é/漢.txt", "e\u0301/x", "\U0001f600/x"),
    *('"q"/x', "x y/z", "x\\y", "x\ny"),
]
PREFIXES = [
    *("a", "a/", "a/b", "a/b/", "a.", "a*", "a*[", "é", "é/", "é/漢", "é/漢 ", "e", "\U0001f600", '"'),
    *("x", "x ", "x\\", "x\n"),
]


def test_the_filter_path_takes_every_character_literally(store: Store) -> None:
    put(store, *map(record, PATHS))

    for prefix in PREFIXES:
        assert sorted(path for path in PATHS if path.startswith(prefix)) == filtered(store, path=prefix), prefix


def test_the_filter_path_prefers_the_metadata_field(store: Store) -> None:
    """An empty value matches all documents."""
    put(store, record("1", path="news/a"), record("news/b"), record("2", path="old/" + "x" * 70_000))

    assert ["1", "news/b"] == filtered(store, path="news/")
    assert ["2"] == filtered(store, path="old/" + "x" * 5_000)
    assert ["1", "2", "news/b"] == filtered(store, path="")
