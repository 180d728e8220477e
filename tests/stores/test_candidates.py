"""Every store finds the same candidates for a plan, by descending number of matching tokens."""

from __future__ import annotations

import random
from collections import Counter
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.documents import DocumentKey
from simdoc_search.errors import QuerySyntaxError
from simdoc_search.query.plans import BandPlan, ThresholdPlan
from simdoc_search.search.similarity_search import SimilaritySearch
from simdoc_search.stores import open_store
from simdoc_search.stores.base import MAX_BAND_MATCHES, MAX_DOCUMENTS_COUNTED_BY_CLIENT, Store
from simdoc_search.stores.local import candidates as page_reader
from simdoc_search.stores.local import schema, snapshot
from simdoc_search.stores.local import store as local
from tests.support.slow_cases import slow_after
from tests.support.stores import NewStore, put, ranked_candidates, record, tokens

# --- plans ---


def test_threshold_counts_equal_tokens(store: Store) -> None:
    put(store, record("d", [1]), record("c", [1, 2, 9]), record("a", [1, 2, 3]), record("b", [2, 3]))

    assert [(3, "a"), (2, "b"), (2, "c")] == ranked_candidates(store, ThresholdPlan(tokens([1, 2, 3]), 2))
    assert [(3, "a")] == ranked_candidates(store, ThresholdPlan(tokens([1, 2, 3]), 3))
    assert [] == ranked_candidates(store, ThresholdPlan(tokens([1]), 2))
    assert [] == ranked_candidates(store, ThresholdPlan(tokens([1, 2, 3]), 4))


def test_the_range_of_buckets_is_inclusive(store: Store) -> None:
    put(store, *(record(str(n), range(n)) for n in range(1, 6)))

    assert [(2, "2"), (2, "3"), (2, "4")] == ranked_candidates(store, ThresholdPlan(tokens(range(2)), 1, (2, 4)))
    assert [] == ranked_candidates(store, ThresholdPlan(tokens(range(2)), 1, (4, 2)))


def test_bands_select_by_one_complete_band_and_rank_by_all_equal_tokens(store: Store) -> None:
    put(store, record("half", [1, 3, 5]), record("one", [1, 2]), record("more", [1, 2, 5, 6, 9]))

    assert [(4, "more"), (2, "one")] == ranked_candidates(
        store, BandPlan(tokens([1, 2, 3, 4, 5, 6]), (tokens([1, 2]), tokens([3, 4])))
    )


def test_a_plan_without_tokens_finds_nothing(store: Store) -> None:
    put(store, record("a"))
    plans: list[ThresholdPlan | BandPlan] = [
        ThresholdPlan((), 0),
        ThresholdPlan((), 1),
        BandPlan((), ()),
        BandPlan(tokens([1]), ()),
        BandPlan(tokens([1]), ((),)),
    ]

    assert [[]] * 5 == [ranked_candidates(store, plan) for plan in plans]


def test_the_order_is_exact_across_pages(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_reader, "FIRST_PAGE_SIZE", 8)
    choose = random.Random(3)
    token_ids = {f"{choose.random()}": choose.sample(range(6), choose.randint(1, 6)) for _ in range(700)}
    put(store, *(record(id, values) for id, values in token_ids.items()))
    plan = ThresholdPlan(tokens(range(6)), 1)
    candidates = store.candidates(plan)
    times = [[(candidate.matched_token_count, candidate.id) for candidate in candidates] for _ in range(2)]

    assert 700 == candidates.total
    for read in times:
        assert sorted((len(values), id) for id, values in token_ids.items()) == sorted(read)
        assert sorted((matched for matched, _ in read), reverse=True) == [matched for matched, _ in read]


@pytest.mark.slow
def test_only_a_page_of_thousands_of_equal_documents_is_read(
    local_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(local_store, *(record(f"{n:04}") for n in range(3000)))
    read: list[Any] = []

    def counted(*arguments: Any) -> Any:
        read.append(arguments)
        return schema.read_document(*arguments)

    monkeypatch.setattr(snapshot, "read_document", counted)
    result = SimilaritySearch(local_store).similar("0000", size=10)

    assert (2999, 10) == (result.candidate_count, len({hit.id for hit in result.hits}))
    assert result == SimilaritySearch(local_store).similar("0000", size=10)
    assert len(read) <= 110  # for two queries of 10 hits each


@pytest.mark.parametrize("seed", slow_after(1, range(2)))
def test_bands_find_the_same_documents_as_a_loop_over_all(shared_store: NewStore, seed: int) -> None:
    """A plan whose bands match too many documents is run without them."""
    rng = random.Random(seed)
    stored = {f"{n}": frozenset(rng.sample(range(60), rng.randint(0, 60))) for n in range(400)}
    store = shared_store()
    put(store, *(record(id, token_ids) for id, token_ids in stored.items()))
    kinds: Counter[tuple[str, bool]] = Counter()
    for rows, count in [(1, 8), (2, 5), (3, 1), (5, 2), (20, 1)] * 3:
        query = rng.sample(range(60), rng.randint(20, 60))
        bands = [query[at : at + rows] for at in range(0, len(query) - rows + 1, rows)][:count]
        least = rng.randint(0, len(query) * 2 // 3)
        plain = ThresholdPlan(tokens(query), rng.randint(1, len(query)), allows_lower_estimates=True)
        made = BandPlan(tokens(query), tuple(map(tokens, bands)), least, plain)
        let_through = {id for id, token_ids in stored.items() if any(token_ids.issuperset(band) for band in bands)}
        equal = {id: len(token_ids.intersection(query)) for id, token_ids in stored.items()}
        is_flood = len(let_through) > MAX_BAND_MATCHES
        if is_flood:
            expected = {id for id in stored if equal[id] >= plain.minimum_match}
        else:
            expected = {id for id in let_through if equal[id] >= least}
        candidates = store.candidates(made)

        assert (plain if is_flood else made) == candidates.plan
        assert len(expected) == candidates.total
        assert {(id, equal[id]) for id in expected} == {
            (candidate.id, candidate.matched_token_count) for candidate in candidates
        }
        kinds[
            "few" if len(let_through) <= MAX_DOCUMENTS_COUNTED_BY_CLIENT else "flood" if is_flood else "many",
            bool(expected),
        ] += 1

    assert {("few", True), ("many", True), ("flood", True)} <= kinds.keys()


TOKEN_IDS = st.frozensets(st.integers(0, 11), max_size=8)


@given(
    stored=st.lists(TOKEN_IDS, max_size=40),
    query=TOKEN_IDS,
    minimum=st.integers(1, 6),
    buckets=st.none() | st.tuples(st.integers(0, 8), st.integers(0, 8)),
    rows=st.integers(0, 3),
    few=st.integers(1, 9),
    language=st.sampled_from([None, "en", "de"]),
    exclude=st.none() | st.integers(0, 40).map(str),
)
def test_plans_find_the_same_documents_as_a_loop_over_all(
    *,
    stored: list[frozenset[int]],
    query: frozenset[int],
    minimum: int,
    buckets: tuple[int, int] | None,
    rows: int,
    few: int,
    language: str | None,
    exclude: str | None,
) -> None:
    languages = ["en", "de"]
    ordered = sorted(query)
    groups = [ordered[at : at + rows] for at in range(0, len(ordered), rows)] if rows else []

    def wanted(number: int, token_ids: frozenset[int]) -> bool:
        if str(number) == exclude or language not in (None, languages[number % 2]):
            return False
        if rows:
            return any(token_ids.issuperset(group) for group in groups) and len(token_ids & query) >= minimum
        low, high = buckets or (0, 99)
        return len(token_ids & query) >= minimum and low <= len(token_ids) <= high

    oracle = sorted((-len(token_ids & query), str(n)) for n, token_ids in enumerate(stored) if wanted(n, token_ids))
    made = tokens(ordered)
    plan = BandPlan(made, tuple(map(tokens, groups)), minimum) if rows else ThresholdPlan(made, minimum, buckets)
    with closing(open_store(":memory:")) as store, pytest.MonkeyPatch.context() as patch:
        patch.setattr(local, "MAX_DOCUMENTS_COUNTED_BY_CLIENT", few)
        put(store, *(record(str(n), token_ids, language=languages[n % 2]) for n, token_ids in enumerate(stored)))
        options: dict[str, Any] = {
            "filters": None if language is None else {"language": language},
            "exclude": DocumentKey(exclude) if exclude else None,
        }

        assert len(oracle) == store.candidates(plan, **options).total
        assert oracle == [(-matched, id) for matched, id in ranked_candidates(store, plan, **options)]


# --- keys and fields ---


def test_hits_have_a_key_and_the_requested_metadata(store: Store) -> None:
    dated = replace(record("b"), metadata={"title": "B", "tags": ["x"], "dc.date": 7})
    put(store, record("a"), dated, record("c", draft=True))
    search = SimilaritySearch(store)
    fields = ["title", "tags", "dc.date", "draft", "body", "a*"]
    hits = search.similar("a", fields=fields).hits
    index = getattr(store, "index", None)

    assert [DocumentKey("b", index), DocumentKey("c", index)] == [hit.key for hit in hits]
    assert [{"title": "B", "tags": ["x"], "dc.date": 7}, {"draft": True}] == [hit.fields for hit in hits]
    assert hits == next(search.similar_many(["a_20_80"], fields=fields)).hits  # type: ignore[union-attr]
    assert [{}, {}] == [hit.fields for hit in search.similar("a").hits]
    assert ["a", "c"] == [hit.id for hit in search.similar(hits[0].key).hits]


@pytest.mark.parametrize("fields", ["title", [1]])
def test_fields_are_a_list_of_names(new_memory_store: NewStore, fields: Any) -> None:
    with pytest.raises(QuerySyntaxError, match="fields must be a list of strings, not"):
        SimilaritySearch(new_memory_store()).similar_many([], fields=fields)


def test_the_texts_of_many_records_are_loaded_on_request(store: Store) -> None:
    """Unknown ids are ignored."""
    put(store, *(record(f"{n}", text=f"text {n}") for n in range(120)))
    ids = [f"{n}" for n in range(0, 130, 2)]

    assert {id: f"text {id}" for id in ids[:60]} == {
        record.id: record.text for record in store.records(ids, load={"text"})
    }
    assert {None} == {record.text for record in store.records(ids)}


def test_ids_are_found_by_their_prefix(store: Store) -> None:
    put(store, *(record(id) for id in ("a/1", "a/2", "ab", "b/a/1", "a'c")), record("ax", path="elsewhere/9"))

    assert ["a/1", "a/2"] == store.ids_with_prefix("a/", 10)
    assert ["a'c", "a/1", "a/2", "ab", "ax"] == store.ids_with_prefix("a", 10)
    assert 2 == len(store.ids_with_prefix("a", 2))
    assert [] == store.ids_with_prefix("z", 10)
