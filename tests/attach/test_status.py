"""How the documents of an index are: what is counted is counted, and what is estimated is said to be."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from simdoc_search import Analysis, Document, SimilaritySearch, open_store
from simdoc_search.attach.actions import fingerprint_field
from simdoc_search.attach.pipeline import pipeline_body
from simdoc_search.attach.status import survey
from simdoc_search.attach.status.sample import Staleness
from simdoc_search.errors import LocationError, StoreNotFoundError
from simdoc_search.sketch.key import key_from
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.connection import connect
from simdoc_search.stores.remote.engine import Engine
from tests.support.cli import words
from tests.support.engines import call
from tests.support.http_server import Indices, Request, forward, indices, serving
from tests.support.status import articles, document, fill, mapping, the_one

one_engine = pytest.mark.parametrize("made", ["opensearch"], indirect=True)


@pytest.fixture(params=["opensearch", "elasticsearch"])
def made(request: pytest.FixtureRequest) -> Iterator[Indices]:
    """Indices of a test's own in each kind of engine."""
    with indices(request.getfixturevalue(f"{request.param}_url")) as them:
        yield them


@pytest.fixture
def engine(made: Indices) -> Iterator[Engine]:
    """The way to the engine."""
    opened, _ = connect(made.engine, index=False)
    with closing(opened):
        yield opened


# --- counting ---


def test_documents_are_counted_by_their_state(made: Indices, engine: Engine) -> None:
    """With, without, of other settings, without words, and those that the pipeline could not do, by reason."""
    index = articles(made)
    counts = the_one(survey(engine, index)).counts

    assert (15, 11, 4) == (counts.documents, counts.fingerprinted, counts.missing)
    assert (1, 10, 1) == (counts.wordless, counts.current, counts.of_other_settings)
    assert 3 == counts.errors
    assert {"the text has N characters, too many": 2, 'a "quoted"\\ reason of \\x1b[NJ two lines': 1}.keys() == {
        re.sub(r"\\n", " ", each) for each in counts.reasons
    }


def test_an_index_of_simdoc_search(made: Indices, engine: Engine) -> None:
    """Its texts are where it keeps them; without texts nothing can be compared, which is said."""
    for store_texts, said in ((True, ""), (False, "it keeps no texts")):
        name = made.name()
        with open_store(f"{made.engine}/{name}", create=True, store_texts=store_texts) as store:
            SimilaritySearch(store).index(Document(str(number), words(number, 99)) for number in range(9))
        found = survey(engine, name)

        assert (9, 0) == (found.documents, found.missing)
        assert said in found.not_sampled
        assert (Staleness(9, 9, 0) if store_texts else None) == found.staleness


def test_an_index_without_our_field(made: Indices, engine: Engine) -> None:
    """All its documents are missing, and there is nothing to compare."""
    index = made.make({"properties": {"body": {"type": "text"}}})
    fill(made, index, {str(number): {"body": "some words"} for number in range(3)})
    found = survey(engine, index)

    assert (3, 3, 1.0) == (found.documents, found.missing, found.missing_share)
    assert (Staleness(0, 0, 0), None) == (found.staleness, the_one(found).counts.errors)


def test_an_alias_over_two(made: Indices, engine: Engine) -> None:
    """Each by its own settings; a filter of the alias holds, and the sample is of both."""
    first, second = made.make(mapping()), made.make(mapping(Settings(Analysis(shingle_size=4))))
    four = Settings(Analysis(shingle_size=4))
    fill(made, first, {f"a{n}": document(words(n, n + 60)) | {"team": "red"} for n in range(5)})
    fill(made, second, {f"b{n}": document(words(n, n + 60), settings=four) | {"team": "red"} for n in range(4)})
    fill(
        made, second, {"c": document(words(0, 9), of="other words than these are"), "d": {"body": "x", "team": "blue"}}
    )
    alias, red = made.alias(first, second), made.alias(first, second, filter={"term": {"team.keyword": "red"}})
    whole, part = survey(engine, alias), survey(engine, red)

    assert {first: 5, second: 6} == {each.index: each.counts.documents for each in whole.indices}
    assert (1, 1) == (whole.missing, sum(each.counts.of_other_settings for each in whole.indices))
    assert Staleness(9, 9, 0) == whole.staleness
    assert (9, 0) == (part.documents, part.missing)
    assert 11 == survey(engine, f"{first},{second}").documents


def test_a_closed_index_is_named(made: Indices, engine: Engine) -> None:
    """It counts for nothing."""
    index = articles(made)
    call(made.engine, "POST", f"/{index}/_close")
    found = survey(engine, index)

    assert ((), "it is closed; open it first") == (tuple(found.indices), found.skipped[0].reason)


def test_nothing_is_there(made: Indices, engine: Engine) -> None:
    """An index, a field of text."""
    with pytest.raises(StoreNotFoundError, match="test-nothing"):
        survey(engine, "test-nothing")
    with pytest.raises(LocationError, match="no document has a field bodi; name a field of text: body"):
        survey(engine, articles(made), text_fields=["bodi"])


def test_the_cost_does_not_grow_with_the_index(made: Indices) -> None:
    """Requests and answers are as many and as large for a hundred times the documents."""
    sizes = []
    for number in (30, 3000):
        index = made.make(mapping())
        fields = fingerprint_field(words(0, 60))
        fill(made, index, {str(each): {"body": words(0, 60), "simdoc": fields} for each in range(number)})
        with serving(forward(made.engine)) as server:
            through, read = server.handle, [0]

            def count(request: Request) -> Any:
                given = through(request)  # noqa: B023
                read[0] += len(given.body) if given else 0  # noqa: B023
                return given

            server.handle = count
            asked, _ = connect(server.url, index=False)
            found = survey(asked, index, sample=20)
            asked.close()
            sizes.append((len(server.requests), read[0]))

        assert (number, 20) == (found.documents, found.staleness and found.staleness.sampled)
    assert sizes[0][0] == sizes[1][0] < 15
    assert sizes[1][1] < 1.2 * sizes[0][1]


# --- the sample ---


def test_stale_fingerprints_are_found(made: Indices, engine: Engine) -> None:
    """Of another text, of a text that is gone, malformed; a text without words has its mark."""
    found = survey(engine, articles(made))

    assert Staleness(10, 10, 3, ("malformed", "stale/1", "stale/2")) == found.staleness
    assert (0.3, (0.3, 0.3)) == (found.staleness.share, found.staleness.interval)


def test_a_list_of_fingerprints_is_stale(made: Indices, engine: Engine) -> None:
    """An engine takes a list of one object for the object, and a query cannot read it."""
    index = made.make(mapping())
    text = words(0, 60)
    fill(made, index, {"list": {"body": text, "simdoc": [fingerprint_field(text)]}})

    assert Staleness(1, 1, 1, ("list",)) == survey(engine, index).staleness


def test_an_estimate_holds_what_is_true(made: Indices, engine: Engine) -> None:
    """A tenth of 600 is stale: that lies in the interval of nearly each sample of 60."""
    index = made.make(mapping())
    right, wrong = (document(words(0, 60), of=each) for each in (words(0, 60), words(9, 60)))
    fill(made, index, {str(number): right if number % 10 else wrong for number in range(600)})
    found = [survey(engine, index, sample=60).staleness for _ in range(10)]
    intervals = [each.interval for each in found if each]

    assert {(600, 60)} == {(each.documents, each.sampled) for each in found if each}
    assert 6 <= sum(low <= 0.1 <= high for low, high in intervals)
    assert all(0 <= low < high < 0.45 for low, high in intervals)


def test_the_interval_covers_as_it_says() -> None:
    """Of 2,000 samples of 200 of 1,000, in 94 to 99 % the true share lies in it."""
    rng = random.Random(5)
    for stale in (5, 20, 200):
        among = [number < stale for number in range(1000)]
        drawn = [Staleness(1000, 200, sum(rng.sample(among, 200))).interval for _ in range(2000)]

        assert 0.93 <= sum(low <= stale / 1000 <= high for low, high in drawn) / 2000 <= 0.999
    assert (0.0, 1.0) == Staleness(10, 0, 0).interval
    assert Staleness(10**6, 200, 0).interval[1] == pytest.approx(0.0188, abs=1e-3)


def test_where_the_text_is_must_be_known(made: Indices, engine: Engine) -> None:
    """It is said what to name; and a field that nobody has is not taken for texts that are gone."""
    index = made.make({**mapping(noted=None), "dynamic": False})
    fill(made, index, {"a": document(words(0, 60))})

    assert "name the field of the text with --text-field" in survey(engine, index).not_sampled
    assert Staleness(1, 1, 0) == survey(engine, index, text_fields=["body"]).staleness
    assert "has a field bodi; name the field" in survey(engine, index, text_fields=["bodi"]).not_sampled


def test_fingerprints_of_a_secret_key(made: Indices, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are counted by whom has it not, and compared by whom has."""
    settings = Settings().with_key(key_from("a secret of some length"))
    index = made.make(mapping(settings))
    fill(made, index, {"a": document(words(0, 60), settings=settings)})
    found = survey(engine, index)
    monkeypatch.setenv("SIMDOC_HASH_KEY", "a secret of some length")

    assert (1, None) == (the_one(found).counts.current, found.staleness)
    assert "key" in found.not_sampled
    assert Staleness(1, 1, 0) == survey(engine, index).staleness


# --- pipelines ---


@one_engine
def test_the_pipeline_of_an_index(made: Indices, engine: Engine) -> None:
    """Whether one is named, is there, and makes what the mapping says; also one that another one calls."""
    index, name = made.make(mapping()), made.name()
    bodies: dict[str, Any] = {
        "fits": pipeline_body(),
        "different": pipeline_body(Settings(Analysis(shingle_size=4))),
        "title": pipeline_body(text_field="title"),
        "field": pipeline_body(field="simdoc_2"),
        "other": {"processors": [{"set": {"field": "seen", "value": True}}]},
        "calls": {"processors": [{"pipeline": {"name": f"{name}-fits"}}]},
    }
    states = {"title": "different", "field": "different", "calls": "fits"}

    def ingest() -> Any:
        return the_one(survey(engine, index, sample=0)).ingest

    assert ("none", "") == (ingest().state, ingest().pipeline)
    for kind, body in bodies.items():
        call(made.engine, "PUT", f"/_ingest/pipeline/{name}-{kind}", body)
        call(made.engine, "PUT", f"/{index}/_settings", {"index.final_pipeline": f"{name}-{kind}"})

        assert states.get(kind, kind) == ingest().state
        assert (f"{name}-{kind}", "final_pipeline") == (ingest().pipeline, ingest().setting)
    call(made.engine, "PUT", f"/{index}/_settings", {"index.final_pipeline": f"{name}-none"})
    assert "missing" == ingest().state
    call(made.engine, "PUT", f"/{index}/_settings", {"index.default_pipeline": f"{name}-fits"})
    assert ("fits", "default_pipeline") == (ingest().state, ingest().setting)
    call(made.engine, "PUT", f"/{index}/_settings", {"index.final_pipeline": None, "index.default_pipeline": None})
    call(made.engine, "DELETE", f"/_ingest/pipeline/{name}-*")


@one_engine
def test_what_the_pipeline_made_and_could_not_make(made: Indices, engine: Engine) -> None:
    """Its fingerprints are those of their texts; what it failed on is counted by its reason."""
    index, name = made.make(mapping()), made.name()
    call(made.engine, "PUT", f"/_ingest/pipeline/{name}", pipeline_body())
    call(made.engine, "PUT", f"/{index}/_settings", {"index.final_pipeline": name})
    texts = {str(number): {"body": words(number, number + 70)} for number in range(5)}
    fill(made, index, texts | {"wordless": {"body": "..."}, "wrong": {"body": 7}, "wrong too": {"body": 8.5}})
    fill(made, index, {"none": {"title": "no text at all"}})
    found = survey(engine, index)
    counts = the_one(found).counts

    assert ("fits", 9, 2) == (the_one(found).ingest.state, counts.documents, counts.errors)
    assert [2] == list(counts.reasons.values())
    assert (2, 6, 1, 1) == (counts.missing, counts.current, counts.wordless, counts.without_text)
    assert Staleness(6, 6, 0) == found.staleness
    call(made.engine, "PUT", f"/{index}/_settings", {"index.final_pipeline": "_none"})
    call(made.engine, "DELETE", f"/_ingest/pipeline/{name}")
