"""Malformed answers of an engine: each is an error of one sentence, or does no harm; none gives a wrong result."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest

from simdoc_search import Document, Place, SimilaritySearch, open_store
from simdoc_search.attach.backfill import Backfill, Task, estimate
from simdoc_search.attach.backfill.behind import field_behind
from simdoc_search.attach.backfill.in_engine import backfill_in_engine
from simdoc_search.attach.check import check_index
from simdoc_search.attach.installation import Installation, plan_installation
from simdoc_search.attach.pipeline.use import common_settings_of, targets_of
from simdoc_search.attach.refingerprint import change_of, fill, remove_others, switch
from simdoc_search.attach.status import survey
from simdoc_search.errors import SimdocError
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote import moments, patience
from simdoc_search.stores.remote.connecting import connect
from simdoc_search.stores.remote.engine import Engine
from tests.support.http_server import Indices, forward, indices, serving
from tests.support.malformed import once_malformed
from tests.support.refingerprint import FOUR, of_four, of_three
from tests.support.texts import documents

RUNS = int(os.environ.get("SIMDOC_TEST_MALFORMED", "25"))
"""Malformed answers for each thing that is asked."""


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is asked twice; a few documents are many pages."""
    monkeypatch.setenv("SIMDOC_PATIENCE", "0")
    monkeypatch.setattr(patience, "PATIENCE", 0.0)
    monkeypatch.setattr(moments, "PAGE", 10)


@pytest.fixture(scope="module", params=["opensearch", "elasticsearch"])
def engine_url(request: pytest.FixtureRequest) -> str:
    """The address of each engine."""
    url: str = request.getfixturevalue(f"{request.param}_url")
    return url


@pytest.fixture(scope="module")
def filled(engine_url: str) -> Iterator[tuple[Indices, str]]:
    """A store of ours."""
    with indices(engine_url) as made:
        name = made.name()
        copies = [Document(f"copy of {each.id}", each.text) for each in WRITTEN[:15]]
        with closing(open_store(f"{engine_url}/{name}", create=True)) as store:
            SimilaritySearch(store).index([*WRITTEN, *copies])
        yield made, name


def answered(url: str, ask: Callable[[SimilaritySearch], Any]) -> Any:
    """What a store that is opened there answers."""
    with closing(open_store(url)) as store:
        return ask(SimilaritySearch(store))


def hits(result: Any) -> Any:
    """A result that can be compared."""
    if isinstance(result, SimdocError):
        raise result
    return [(hit.id, hit.overlap, hit.matched) for hit in result.hits], result.candidates


WRITTEN = documents("malformed", 30, words=30)
ID = WRITTEN[0].id

READING: dict[str, Callable[[SimilaritySearch], Any]] = {
    "similar": lambda search: hits(search.similar(f'"{ID}"')),
    "in bands": lambda search: hits(search.similar(f'"{ID}"_50_80')),
    "many": lambda search: [hits(each) for each in search.similar_many([f'"{ID}"', f'"{ID}"_20'])],
    "scan": lambda search: sorted((e.id, e.text, e.digest, e.codes.tolist()) for e in search.store.scan(text=True)),
    "records": lambda search: [each.id for each in search.store.records([ID, "unknown"])],
    "fields": lambda search: [each.id for each in search.store.fields_at([Place(ID)], ["year"])],
    "info": lambda search: search.info().documents,
    "suggest": lambda search: search.store.suggest(ID[:-1]),
    "index": lambda search: search.index(WRITTEN).unchanged,
    "write": lambda search: written(search),  # noqa: PLW0108 - it stands below
    "delete": lambda search: (search.index([Document("gone", "some words")]), search.delete(["gone"]))[1],
}


def written(search: SimilaritySearch) -> Any:
    changed = [Document(each.id, f"{each.text} {random.random()}") for each in WRITTEN]
    report = search.index(changed)
    return report.replaced, report.refused


@pytest.mark.parametrize("read", READING.values(), ids=READING)
def test_no_malformed_answer_gives_a_wrong_result(
    filled: tuple[Indices, str], read: Callable[[SimilaritySearch], Any], request: pytest.FixtureRequest
) -> None:
    """It is an error of one sentence, unless it is in what nobody needs."""
    made, name = filled
    engine = forward(made.engine)
    with serving(engine) as server:
        url = f"{server.url}/{name}"
        wanted = answered(url, read)
        count = len(server.requests)
        for run in range(RUNS):
            rng, seen = random.Random(f"{request.node.name} {run}"), list[str]()
            server.handle = once_malformed(engine, rng, rng.randrange(count), seen)
            try:
                found = answered(url, read)
            except SimdocError as error:
                check_sentence(error, seen)
            else:
                assert wanted == found, (run, seen)


def put_pipeline(way: Engine, index: str) -> None:
    """All that `template install` puts there; what is there is read and compared, and the next index looked at."""
    way.call("PUT", [index, "_alias", f"{index}-alias"], {"is_write_index": True})
    wanted = Installation(
        "simdoc",
        Settings(),
        "simdoc",
        ["body"],
        f"{index}-alias",
        "malformed",
        ["malformed-*"],
        search=True,
        force=True,
    )
    plan_installation(way, wanted).run()


def mark(way: Engine, index: str) -> None:
    """Which documents are duplicates, in the documents."""
    search = SimilaritySearch(open_store(f"{way.name}/{index}"))
    with closing(search.store):
        search.mark_duplicates(search.duplicates())


def change(way: Engine, index: str) -> None:
    """Fingerprints of other settings than those that the index has now, and no others."""
    settings = common_settings_of(targets_of(way, index, "body", field_behind(way, index)), index)
    wanted = change_of(way, index, of_three if settings == FOUR else of_four)
    fill(way, wanted)
    switch(way, wanted)
    remove_others(way, index)


def compared(way: Engine, index: str) -> Task:
    """The task to compare all texts with their fingerprints."""
    return Task("body", field_behind(way, index), stale=True)


PREPARING: dict[str, Callable[[Engine, str], Any]] = {
    "backfill": lambda way, index: Backfill(way, index, compared(way, index)).run(),
    "estimate": lambda way, index: estimate(way, index, compared(way, index)).documents,
    "check": check_index,
    "status": lambda way, index: survey(way, index, disk_usage=True),
    "mark": mark,
}
BY_SCRIPTS: dict[str, Callable[[Engine, str], Any]] = {
    "pipeline": put_pipeline,
    "in engine": lambda way, index: backfill_in_engine(way, index, Task("body", stale=True)),
    "change": change,
}
"""What only an engine can do that runs scripts, which the Elasticsearch of the tests does not."""


@pytest.mark.parametrize(
    ("engine_url", "what"),
    [*(("opensearch", each) for each in PREPARING | BY_SCRIPTS), *(("elasticsearch", each) for each in PREPARING)],
    indirect=["engine_url"],
)
def test_malformed_answers_to_what_prepares_an_index(
    engine_url: str, what: str, request: pytest.FixtureRequest
) -> None:
    """A run that ends well has done all of it; one that does not says so in one sentence, and the next one does it."""
    prepare = (PREPARING | BY_SCRIPTS)[what]
    engine = forward(engine_url)
    with indices(engine_url) as made, serving(engine) as server:
        name = made.make({"properties": {"body": {"type": "text"}}})
        for each in WRITTEN[:12]:
            made.put(name, each.id, {"body": each.text})

        def do(action: Callable[[Engine, str], Any]) -> Any:
            way, _ = connect(server.url, index=False)
            with closing(way):
                return action(way, name)

        do(PREPARING["backfill"])
        do(prepare)
        server.requests.clear()
        do(prepare)
        count = len(server.requests)
        for run in range(RUNS):
            rng, seen = random.Random(f"{request.node.name} {run}"), list[str]()
            server.handle = once_malformed(engine, rng, rng.randrange(count), seen)
            try:
                do(prepare)
            except SimdocError as error:
                check_sentence(error, seen)
        server.handle = engine
        do(prepare)
        report = do(PREPARING["backfill"])

    assert (0, 0) == (len(report.refused), len(report.skipped_indices))


def check_sentence(error: SimdocError, seen: list[str]) -> None:
    """An error fit to be read, which comes from what was done."""
    message = str(error)

    assert seen, f"nothing was done, and yet: {message}"
    assert "\n" not in message
    assert message.isprintable()
    assert 10 < len(message) < 800, (message, seen)
