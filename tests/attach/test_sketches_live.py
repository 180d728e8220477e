"""Sentences and concepts in an application's index, in real engines: by a loader, a backfill, and what check says."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from simdoc_search import Document, SimilaritySearch, open_store
from simdoc_search.attach.actions import fingerprint_actions
from simdoc_search.attach.backfill import Backfill, BackfillReport, Task, estimate
from simdoc_search.attach.check import check_index
from simdoc_search.concepts import Extractor, codes_of_names
from simdoc_search.errors import FormatMismatchError, StoreError
from simdoc_search.sketch.kinds import KINDS as ALL_KINDS
from simdoc_search.sketch.kinds import KindName
from simdoc_search.sketch.sentences import Sentences
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.connection import connect
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.schema import component_template
from simdoc_search.stores.remote.shared_settings import require_kind
from simdoc_search.stores.remote.texts import record_text_fields
from tests.support.capitals import CAPITALS, Capitals
from tests.support.cli import answer
from tests.support.engines import call
from tests.support.http_server import Indices, indices

BOTH = Settings(sentences=Sentences(), concepts=CAPITALS.settings)
KINDS: tuple[KindName, ...] = ("sentences", "concepts")


def adding_both(settings: Settings) -> Settings:
    """The settings with sentences and concepts."""
    return replace(settings, sentences=Sentences(), concepts=CAPITALS.settings)


TEXTS = {
    "river": "The Danube flows through Vienna. It is a long river.\nThe city of Budapest lies on it too.",
    "city": "It is the city of Vienna that has the most people here. The Danube flows through it.",
    "fruit": "Of all that grows in the garden the apples are eaten first.",
}
DANUBE = codes_of_names(["Danube"])


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


def application(made: Indices, settings: Settings, *, loader: Settings | None = None) -> str:
    """An index of an application with our field, and its documents, whose loader adds fingerprints."""
    ours: Any = component_template(settings)["template"]["mappings"]["properties"]
    name = made.make({"properties": {"text": {"type": "text"}, **ours}})
    extractor = CAPITALS if (loader or settings).concepts else None
    actions = [{"_id": id, "text": text} for id, text in TEXTS.items()]
    for each in fingerprint_actions(actions, "text", settings=loader or settings, extractor=extractor):
        call(made.engine, "PUT", f"/{name}/_doc/{each.pop('_id')}?refresh=true", each)
    return name


def run(engine: Engine, index: str, **options: Any) -> BackfillReport:
    """What a run reports."""
    return Backfill(engine, index, Task("text", **options)).run()


def naming_the_danube(engine: Engine, index: str) -> list[str]:
    """Which documents name it."""
    with closing(open_store(f"{engine.name}/{index}")) as store:
        found = store.sharing(DANUBE, among="concepts", size=5).documents
        assert [len(found)] == store.frequencies(DANUBE).tolist()
        return [each.id for each in found]


def wrong(engine: Engine, index: str) -> list[str]:
    """What `check` says is wrong."""
    return [each.problem for each in check_index(engine, index) if each.wrong]


def test_a_loader_gives_them(made: Indices, engine: Engine) -> None:
    """They are those that `simdoc-search index` gives the same texts."""
    name = application(made, BOTH)
    with closing(open_store(":memory:", BOTH)) as ours, closing(open_store(f"{engine.name}/{name}")) as theirs:
        SimilaritySearch(ours).index((Document(*each) for each in TEXTS.items()), extractor=CAPITALS)
        for id in TEXTS:
            one, other = ours.get(id, sketches=True), theirs.get(id, sketches=True)
            assert one is not None
            assert other is not None
            assert one.sentences.tolist() == other.sentences.tolist() != []
            assert one.concepts.tolist() == other.concepts.tolist() != []

    assert ["city", "river"] == naming_the_danube(engine, name)
    assert ([], 0) == (wrong(engine, name), run(engine, name, extractor=CAPITALS).documents)


def test_a_backfill_gives_them_to_an_index_without(made: Indices, engine: Engine) -> None:
    """All at once; until then all else of it works, and the message says how it gets them."""
    name = application(made, Settings())
    place = f"{engine.name}/{name}"
    with pytest.raises(
        FormatMismatchError, match=f"has no concepts; run .*{place} --text-field text --with relations \\(a guess: "
    ):
        naming_the_danube(engine, name)
    task = Task("text", change=adding_both, extractor=CAPITALS)
    expected, plain = estimate(engine, name, task), run(engine, name)
    first, again = (run(engine, name, change=adding_both, extractor=CAPITALS) for _ in range(2))

    assert (3, 0, 3, 0) == (expected.writes, plain.documents, first.updated, again.documents)
    assert BOTH == open_store(place).settings
    assert (["city", "river"], []) == (naming_the_danube(engine, name), wrong(engine, name))
    assert ["it has concepts of capitals, but the given extractor is others; leave it out"] == [
        each.reason for each in run(engine, name, extractor=Extractor(Capitals("others"))).skipped_indices
    ]


def test_of_several_fields_of_text_all_are_named() -> None:
    """Whoever does as the message says makes fingerprints of the same text, not of the first field alone."""
    mapping: Any = component_template(Settings())["template"]["mappings"]
    ours = mapping["properties"]["simdoc"]["properties"]
    ours["text_hash"] = record_text_fields(ours["text_hash"], ["doc.title", "doc.body"])
    mapping["properties"]["doc"] = {"properties": {"body": {"type": "text"}, "title": {"type": "text"}}}
    for kind in KINDS:
        with pytest.raises(FormatMismatchError, match=r"a --text-field doc\.title --text-field doc\.body --with "):
            require_kind({"a": mapping}, "simdoc", "http://engine/a", ALL_KINDS[kind])


def test_documents_that_lack_them_are_told_and_still_found(made: Indices, engine: Engine) -> None:
    """As where a loader was not told of them: by check, by which kind; a backfill completes them."""
    name = application(made, BOTH, loader=Settings(sentences=Sentences()))
    found = SimilaritySearch(open_store(f"{engine.name}/{name}")).similar("river_0", include_self=True)

    assert ["river"] == [hit.id for hit in found.hits]
    assert ["fingerprints without concepts: 3; simdoc-search backfill gives them"] == wrong(engine, name)
    assert 3 == run(engine, name, extractor=CAPITALS).updated
    assert (["city", "river"], []) == (naming_the_danube(engine, name), wrong(engine, name))


def test_a_document_without_words_and_one_that_fails_are_done(made: Indices, engine: Engine) -> None:
    """The second has all but its concepts, and is listed; neither is asked for again."""
    name = application(made, BOTH)
    call(engine.name, "PUT", f"/{name}/_doc/fails?refresh=true", {"text": "The Danube may fail here, on one fine day."})
    call(engine.name, "PUT", f"/{name}/_doc/empty?refresh=true", {"text": "..."})
    report, again = (run(engine, name, extractor=CAPITALS) for _ in range(2))

    assert (1, 1, {"fails": "concepts"}) == (report.updated, report.without_words, report.incomplete)
    assert (0, []) == (again.documents, wrong(engine, name))
    assert ["city", "river"] == naming_the_danube(engine, name)


def test_an_alias_of_indices_with_and_without_is_asked_for_all_else(made: Indices, engine: Engine) -> None:
    """The index that has none is named."""
    one, other, alias = application(made, BOTH), application(made, Settings()), made.name()
    for name in (one, other):
        call(engine.name, "PUT", f"/{name}/_alias/{alias}")

    with closing(open_store(f"{engine.name}/{alias}")) as store:
        assert Settings() == store.settings
        for kind in KINDS:
            with pytest.raises(FormatMismatchError, match=f"the index {other} of .* has no {kind}; run .* --with"):
                store.sharing(np.zeros(1, np.uint32), among=kind, size=1)
    run(engine, other, change=adding_both, extractor=CAPITALS)

    assert ["city", "city", "river", "river"] == naming_the_danube(engine, alias)


def test_a_field_of_another_kind_is_told(made: Indices, engine: Engine) -> None:
    """Versions would be missed without a word."""
    mappings: Any = component_template(BOTH)["template"]["mappings"]["properties"]
    mappings["simdoc"]["properties"]["sentences"] = {"type": "keyword"}
    name = made.make({"properties": {"text": {"type": "text"}, **mappings}})
    said = "simdoc.sentences has type 'keyword', not 'text'; put the mapping of simdoc-search template show"

    assert [f"{said}, then reindex"] == wrong(engine, name)
    with closing(open_store(f"{engine.name}/{name}")) as store:
        with pytest.raises(StoreError, match=f"cannot be asked for sentences: {said}"):
            store.sharing(DANUBE, among="sentences", size=1)
        assert [0] == store.frequencies(DANUBE).tolist()


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"sentences": None}, "has no sentences"),
        ({"sentences": "!!!"}, "has invalid sentences"),
        ({"concepts": "!!!!"}, "has invalid concepts"),
    ],
)
def test_malformed_ones_are_named_and_mended(made: Indices, engine: Engine, values: dict[str, Any], said: str) -> None:
    """By `check`, and by a backfill with `stale`; reading the document goes on."""
    name = application(made, BOTH)
    call(engine.name, "POST", f"/{name}/_update/river?refresh=true", {"doc": {"simdoc": values}})
    (problem,) = wrong(engine, name)

    assert f"1 of 3 fingerprints looked at are malformed, such as 'river' {said}; mend them" in problem
    with closing(open_store(f"{engine.name}/{name}")) as store:
        record = store.get("river", sketches=True)
        assert record is not None
        assert (values != {"sentences": None}) == bool(record.fault)
    assert 1 == run(engine, name, stale=True, extractor=CAPITALS).updated
    assert [] == wrong(engine, name)


def test_the_command_gives_sentences(made: Indices, engine: Engine) -> None:
    """Only where it is told to; and from then on to each new document."""
    name = application(made, Settings())
    place = f"{engine.name}/{name}"
    plain, given = (
        answer("backfill", place, "--text-field", "text"),
        answer("backfill", place, "--text-field", "text", "--with", "versions"),
    )
    call(engine.name, "PUT", f"/{name}/_doc/new?refresh=true", {"text": TEXTS["river"]})
    later = answer("backfill", place, "--text-field", "text")

    assert (0, 3, 1) == (plain["updated"], given["updated"], later["updated"])
    assert "sentences:2" in answer("info", "--store", place)["settings"]["sketches"]
    assert [] == wrong(engine, name)
