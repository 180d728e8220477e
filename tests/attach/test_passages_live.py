"""Passage tokens in an application's index, in real engines: of a new one, and of one that was filled without them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from simdoc_search import SimilaritySearch, fingerprint, open_store
from simdoc_search.attach.actions import fingerprint_field
from simdoc_search.attach.backfill import Backfill, BackfillReport, Task, estimate
from simdoc_search.attach.check import check_index
from simdoc_search.errors import FormatMismatchError, StoreError
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.winnow import Passages
from simdoc_search.stores.remote.connection import connect
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.schema import component_template
from tests.support.cli import answer
from tests.support.engines import call
from tests.support.http_server import Indices, indices
from tests.support.texts import text as some_text


def adding(passages: Passages | None = None) -> Callable[[Settings], Settings]:
    """The change that adds passage tokens."""
    return partial(replace, passages=passages or Passages())


BEFORE = Settings(passages=None)
"""As an index was made before there were passage tokens."""

QUOTED = "all these words stand in one long text alone and are quoted in another one which is short"
TEXTS = {
    "long": f"{some_text(random.Random(1), 900)} {QUOTED} {some_text(random.Random(2), 900)}",
    "other": some_text(random.Random(3), 1800),
    "copy": some_text(random.Random(3), 1800),
}
LABEL = {"term": {"simdoc.format": "nfkc_cf word 5 short_texts; bucketed:1 512 1 false 4"}}


@pytest.fixture(params=["opensearch", "elasticsearch"])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    """The way to each engine."""
    opened, _ = connect(request.getfixturevalue(f"{request.param}_url"), index=False)
    with closing(opened):
        yield opened


@pytest.fixture
def made(engine: Engine) -> Iterator[Indices]:
    """Indices of an application's own."""
    with indices(engine.name) as them:
        yield them


def application(made: Indices, settings: Settings | None, *, loader: Settings | None = None, **options: Any) -> str:
    """An index of an application with documents: with our field, filled by a loader, or without."""
    ours = component_template(settings)["template"]["mappings"]["properties"] if settings else {}
    name = made.make({"properties": {"text": {"type": "text"}, **ours}, **options})
    for id, text in TEXTS.items():
        field = {"simdoc": fingerprint_field(text, loader or settings)} if settings else {}
        call(made.engine, "PUT", f"/{name}/_doc/{id}?refresh=true", {"text": text, **field})
    return name


def run(engine: Engine, index: str, **options: Any) -> BackfillReport:
    """What a run reports."""
    return Backfill(engine, index, Task("text", **options)).run()


def sharing(engine: Engine, index: str, settings: Settings | None = None) -> list[str]:
    """Who shares the quoted words."""
    passages = (settings or Settings()).passages
    with closing(open_store(f"{engine.name}/{index}")) as store:
        found = store.sharing(fingerprint(QUOTED, passages=passages).passages, size=5)
        return [each.id for each in found.documents]


def wrong(engine: Engine, index: str) -> list[str]:
    """What `check` says is wrong."""
    return [each.problem for each in check_index(engine, index) if each.wrong]


def labels(engine: Engine, index: str) -> int:
    """How many documents have a fingerprint without passage tokens."""
    engine.refresh(index)
    return engine.count(index, LABEL)


def test_a_new_index_gets_passage_tokens(made: Indices, engine: Engine) -> None:
    """From the component template and a loader, and by a backfill."""
    for name in (application(made, Settings()), application(made, None)):
        report = run(engine, name)

        assert report.updated in {0, 3}
        assert ["long"] == sharing(engine, name)
        assert [] == wrong(engine, name)


def test_an_index_from_before_goes_on_working(made: Indices, engine: Engine) -> None:
    """Its documents are complete, nothing is written to them, and only passages cannot be asked for."""
    name = application(made, BEFORE)
    found = SimilaritySearch(open_store(f"{engine.name}/{name}", Settings())).similar("other_20_80")

    assert ["copy"] == [hit.id for hit in found.hits]
    assert [] == wrong(engine, name)
    assert (0, 0) == (run(engine, name).documents, run(engine, name, stale=True).updated)
    assert 0 == estimate(engine, name, Task("text")).writes
    with pytest.raises(FormatMismatchError) as error:
        sharing(engine, name)
    assert (
        f"the index {name} of {engine.name}/{name} has no passages; "
        f"run simdoc-search backfill {engine.name}/{name} --text-field text --passages" == str(error.value)
    )


def test_a_backfill_gives_an_index_from_before_its_passage_tokens(made: Indices, engine: Engine) -> None:
    """The mapping says it at once, each document gets them once, and nothing else of it is changed."""
    name = application(made, BEFORE)
    before = {id: call(engine.name, "GET", f"/{name}/_doc/{id}")["_source"]["simdoc"] for id in TEXTS}
    expected = estimate(engine, name, Task("text", change=adding()))
    first, again = run(engine, name, change=adding()), run(engine, name, change=adding())
    after = {id: call(engine.name, "GET", f"/{name}/_doc/{id}")["_source"]["simdoc"] for id in TEXTS}

    assert (3, 3, 0) == (expected.writes, first.updated, again.documents)
    assert {id: fingerprint_field(text) for id, text in TEXTS.items()} == after
    assert [each["tokens"] for each in before.values()] == [each["tokens"] for each in after.values()]
    assert (["long"], []) == (sharing(engine, name), wrong(engine, name))


def test_the_command_gives_them(made: Indices, engine: Engine) -> None:
    """Only where it is told to."""
    place = f"{engine.name}/{application(made, BEFORE)}"
    index = place.rpartition("/")[2]
    plain = answer("backfill", place, "--text-field", "text")
    expected = answer("backfill", place, "--text-field", "text", "--passages", "--dry-run")
    given = answer("backfill", place, "--text-field", "text", "--passages", "--passage-run", "20")

    assert (0, 3, 3) == (plain["updated"], expected["writes"], given["updated"])
    assert ["long"] == sharing(engine, index, Settings(passages=Passages(16)))


def test_a_backfill_that_was_cut_short_is_told_and_completed(made: Indices, engine: Engine) -> None:
    """The mapping says that there are passage tokens, and some documents have none: asking goes on, as far as it is."""
    name = application(made, Settings(), loader=BEFORE)
    found = SimilaritySearch(open_store(f"{engine.name}/{name}")).similar("other_20_80")

    assert ["copy"] == [hit.id for hit in found.hits]
    assert ["fingerprints without passages: 3; simdoc-search backfill gives them"] == wrong(engine, name)
    assert [] == sharing(engine, name)
    assert 3 == run(engine, name).updated
    assert (["long"], 0, []) == (sharing(engine, name), labels(engine, name), wrong(engine, name))


def test_stale_gives_them_too(made: Indices, engine: Engine) -> None:
    """Where the mapping of the template was put by hand."""
    name = application(made, BEFORE)
    engine.call("PUT", [name, "_mapping"], component_template()["template"]["mappings"])

    assert 3 == run(engine, name, stale=True).updated
    assert ["long"] == sharing(engine, name)


def test_a_loader_that_gives_more_than_the_index_has_does_no_harm(made: Indices, engine: Engine) -> None:
    """One with the default settings, and an index from before that takes no fields of itself."""
    name = application(made, BEFORE, loader=Settings(), dynamic=False)

    assert [] == wrong(engine, name)
    assert (0, 0) == (run(engine, name).documents, run(engine, name, stale=True).updated)
    assert ["copy"] == [hit.id for hit in SimilaritySearch(open_store(f"{engine.name}/{name}")).similar("other").hits]


def test_none_are_made_where_they_are_not_wanted(made: Indices, engine: Engine) -> None:
    """In an index that has no fingerprints yet; and another run length than usual, where it is told."""
    none, longer = application(made, None), application(made, None)
    run(engine, none, change=partial(replace, passages=None))
    run(engine, longer, change=adding(Passages(46)))

    assert BEFORE == open_store(f"{engine.name}/{none}").settings
    assert "passages" not in call(engine.name, "GET", f"/{none}/_doc/long")["_source"]["simdoc"]
    assert Settings(passages=Passages(46)) == open_store(f"{engine.name}/{longer}").settings
    (skipped,) = run(engine, longer, change=adding()).skipped_indices
    assert "its field simdoc has the settings 'nfkc_cf word 5" in skipped.reason
    assert "passages:1 46 5', not 'nfkc_cf word 5" in skipped.reason


def test_an_alias_of_old_and_new_is_asked_for_all_but_passages(made: Indices, engine: Engine) -> None:
    """As a data stream has it after an upgrade: the older index is named, with what to do."""
    old, new, alias = application(made, BEFORE), application(made, Settings()), made.name()
    for name in (old, new):
        call(engine.name, "PUT", f"/{name}/_alias/{alias}")
    (source,) = (fingerprint_field(TEXTS["other"], BEFORE) or {},)
    call(engine.name, "PUT", f"/{new}/_doc/source?refresh=true", {"text": TEXTS["other"], "simdoc": source})
    found = SimilaritySearch(open_store(f"{engine.name}/{alias}")).similar("source")

    assert ["copy", "copy", "other", "other"] == sorted(hit.id for hit in found.hits)
    with pytest.raises(FormatMismatchError, match=f"the index {old} of .* has no passages; run .* --passages"):
        sharing(engine, alias)
    run(engine, alias, change=adding())

    assert ["long", "long"] == sharing(engine, alias)


def test_indices_with_different_passage_tokens_are_asked_apart(made: Indices, engine: Engine) -> None:
    """Which of them promises what would not be known."""
    one, other, alias = application(made, Settings()), application(made, Settings(passages=Passages(16))), made.name()
    for name in (one, other):
        call(engine.name, "PUT", f"/{name}/_alias/{alias}")

    with pytest.raises(FormatMismatchError, match="have passages of different settings; ask them apart"):
        sharing(engine, alias)


def test_a_field_of_another_kind_is_told(made: Indices, engine: Engine) -> None:
    """Passages would be missed without a word; all else can be asked for."""
    mappings: Any = component_template()["template"]["mappings"]["properties"]
    mappings["simdoc"]["properties"]["passages"] = {"type": "keyword"}
    name = made.make({"properties": {"text": {"type": "text"}, **mappings}})
    said = "simdoc.passages has type 'keyword', not 'text'; put the mapping of simdoc-search template show"

    assert [f"{said}, then reindex"] == wrong(engine, name)
    with pytest.raises(StoreError, match=f"cannot be asked for passages: {said}"):
        sharing(engine, name)


@pytest.mark.parametrize(
    ("passages", "said"),
    [
        ([], "has no passages"),
        (None, "has no passages"),
        ("", "has no passages"),
        ("!!!!", "has invalid passages"),
    ],
)
def test_malformed_passage_tokens_are_named_and_mended(made: Indices, engine: Engine, passages: Any, said: str) -> None:
    """By `check`, and by a backfill with `stale`."""
    name = application(made, Settings())
    values = {"simdoc": {**(fingerprint_field(TEXTS["long"]) or {}), "passages": passages}, "text": TEXTS["long"]}
    call(engine.name, "PUT", f"/{name}/_doc/long?refresh=true", values)
    (problem,) = wrong(engine, name)

    assert f"1 of 3 fingerprints looked at are malformed, such as 'long' {said}; mend them" in problem
    assert 1 == run(engine, name, stale=True).updated
    assert (["long"], []) == (sharing(engine, name), wrong(engine, name))


def test_a_short_quotation_is_found_in_the_text_field_of_an_application(made: Indices, engine: Engine) -> None:
    """If it is searchable; else the answer says what is found instead."""
    quoted = "quoted in another one which is short"
    searchable = application(made, Settings())
    run(engine, searchable, change=adding())
    name = application(made, None, properties={"text": {"type": "text", "index": False}})
    run(engine, name, change=adding())
    for index, is_searchable in ((searchable, True), (name, False)):
        with closing(open_store(f"{engine.name}/{index}", text_field="text")) as store:
            search = SimilaritySearch(store)
            result = search.passages(text=f"as they say {quoted}", min_words=6)

            assert is_searchable == store.finds_phrases
            assert (6 if is_searchable else 36) == result.run
            assert not is_searchable or ["long"] == [hit.id for hit in result.hits]
            assert ["long"] == [hit.id for hit in search.passages(text=f"{QUOTED} {QUOTED} {TEXTS['long']}").hits]
