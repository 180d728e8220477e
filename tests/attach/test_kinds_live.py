"""A loader or a backfill adds passages, sentences and concepts to an application's index."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from simdoc_search import Document, SimilaritySearch, fingerprint, open_store
from simdoc_search.attach.actions import fingerprint_actions, fingerprint_field
from simdoc_search.attach.backfill import Backfill, BackfillOptions, BackfillReport, estimate_cost
from simdoc_search.attach.check import check_index
from simdoc_search.concepts import Extractor, hash_words
from simdoc_search.errors import FormatMismatchError, StoreError
from simdoc_search.sketch.sentences import SentenceSettings
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.token_kinds import TOKEN_KINDS
from simdoc_search.sketch.winnow import PassageSettings
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.schema import component_template
from simdoc_search.stores.remote.shared_settings import require_kind
from simdoc_search.stores.remote.texts import build_text_fields_mapping
from tests.support.backfill import load, to
from tests.support.capitals_extractor import CAPITALS, Capitals
from tests.support.cli import answer
from tests.support.http_server import TempIndices, indices
from tests.support.texts import text as some_text

PLAIN = Settings(passages=None)
ALL = Settings(sentences=SentenceSettings(), concepts=CAPITALS.settings)
QUOTED = "all these words stand in one long text alone and are quoted in another one which is short"
TEXTS = {
    "river": "The Danube flows through Vienna. It is a long river.\nThe city of Budapest lies on it too.",
    "city": "It is the city of Vienna that has the most people here. The Danube flows through it.",
    "long": f"{some_text(random.Random(1), 900)} {QUOTED} {some_text(random.Random(2), 900)}",
    "other": some_text(random.Random(3), 900),
    "copy": some_text(random.Random(3), 900),
}
DANUBE = hash_words(["Danube"])


@pytest.fixture(params=["opensearch"])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    """An engine."""
    with to(request.getfixturevalue(f"{request.param}_url")) as opened:
        yield opened


@pytest.fixture
def temp_indices(engine: Engine) -> Iterator[TempIndices]:
    """The indices of the test."""
    with indices(engine.name) as owned:
        yield owned


def application(
    temp_indices: TempIndices, settings: Settings | None, *, loader: Settings | None = None, **options: Any
) -> str:
    """An index with documents. With `settings` or `loader`, the loader adds fingerprints."""
    ours = component_template(settings)["template"]["mappings"]["properties"] if settings else {}
    name = temp_indices.make({"properties": {"text": {"type": "text"}, **ours}, **options})
    actions: Any = [{"_id": id, "text": text} for id, text in TEXTS.items()]
    if filled := loader or settings:
        extractor = CAPITALS if filled.concepts else None
        actions = fingerprint_actions(actions, "text", settings=filled, extractor=extractor)
    with to(temp_indices.engine) as opened:
        load(opened, name, {action.pop("_id"): action for action in actions})
    return name


def adding(**kinds: Any) -> Callable[[Settings], Settings]:
    """Return a change that adds kinds of tokens."""
    return partial(replace, **kinds)


ADD_PASSAGES = adding(passages=PassageSettings())
ADD_ALL = adding(passages=PassageSettings(), sentences=SentenceSettings(), concepts=CAPITALS.settings)


def run(engine: Engine, index: str, **options: Any) -> BackfillReport:
    """The report of a backfill."""
    return Backfill(engine, index, BackfillOptions("text", **options)).run()


def sharing(engine: Engine, index: str, settings: Settings | None = None) -> list[str]:
    """The documents that share the quoted words."""
    passages = (settings or Settings()).passages
    with closing(open_store(f"{engine.name}/{index}")) as store:
        found = store.documents_sharing_tokens(fingerprint(QUOTED, passages=passages).passages, size=5)
        return [document.id for document in found.documents]


def naming_the_danube(engine: Engine, index: str) -> list[str]:
    """The documents that name the Danube."""
    with closing(open_store(f"{engine.name}/{index}")) as store:
        found = store.documents_sharing_tokens(DANUBE, kind="concepts", size=5).documents
        assert [len(found)] == store.concept_frequencies(DANUBE).tolist()
        return [document.id for document in found]


def problems(engine: Engine, index: str) -> list[str]:
    """The problems that `check` finds."""
    return [finding.message for finding in check_index(engine, index) if finding.is_problem]


def test_a_loader_makes_the_tokens_of_simdoc_search_index(temp_indices: TempIndices, engine: Engine) -> None:
    name = application(temp_indices, ALL)
    with closing(open_store(":memory:", ALL)) as ours, closing(open_store(f"{engine.name}/{name}")) as theirs:
        SimilaritySearch(ours).index((Document(*item) for item in TEXTS.items()), extractor=CAPITALS)
        for id in TEXTS:
            one, other = (store.get(id, load={"passages", "sentences", "concepts"}) for store in (ours, theirs))
            assert one is not None
            assert other is not None
            for kind in ("passages", "sentences", "concepts"):
                assert getattr(one, kind).tolist() == getattr(other, kind).tolist() != []

    assert (["long"], ["city", "river"]) == (sharing(engine, name), naming_the_danube(engine, name))
    assert ([], 0) == (problems(engine, name), run(engine, name, extractor=CAPITALS).document_count)


@pytest.mark.parametrize("engine", ["opensearch", "elasticsearch"], indirect=True)
def test_a_backfill_adds_kinds_to_an_index_that_lacks_them(temp_indices: TempIndices, engine: Engine) -> None:
    """Before that, everything else works, and the message names the command. Existing tokens do not change."""
    name = application(temp_indices, PLAIN)
    place = f"{engine.name}/{name}"
    before = {id: engine.call("GET", [name, "_doc", id])["_source"]["simdoc"]["tokens"] for id in TEXTS}
    hits = SimilaritySearch(open_store(place, Settings())).similar("other_20_80").hits
    messages = []
    for query in (sharing, naming_the_danube):
        with pytest.raises(FormatMismatchError) as error:
            query(engine, name)
        messages.append(str(error.value))
    plain = run(engine, name), run(engine, name, stale=True)
    expected = estimate_cost(engine, name, BackfillOptions("text", change_settings=ADD_ALL, extractor=CAPITALS))
    first, again = (run(engine, name, change_settings=ADD_ALL, extractor=CAPITALS) for _ in range(2))
    (skipped,) = run(engine, name, extractor=Extractor(Capitals("others"))).skipped_indices

    assert ["copy"] == [hit.id for hit in hits]
    options = {"passages": "--passages", "concepts": "--with related"}
    for (kind, option), message in zip(options.items(), messages, strict=True):
        assert f"the index {name} of {place} has no {kind}" in message
        assert f"simdoc-search backfill {place} --text-field text {option}" in message
    assert (0, 0) == (plain[0].document_count, plain[1].updated_count)
    assert (len(TEXTS), len(TEXTS), 0) == (expected.write_count, first.updated_count, again.document_count)
    assert ALL == open_store(place).settings
    assert before == {id: engine.call("GET", [name, "_doc", id])["_source"]["simdoc"]["tokens"] for id in TEXTS}
    assert (["long"], ["city", "river"], []) == (
        sharing(engine, name),
        naming_the_danube(engine, name),
        problems(engine, name),
    )
    assert (
        "the index has concepts from capitals, but the given extractor is others; omit the extractor" == skipped.reason
    )


def test_the_command_adds_the_requested_kinds(temp_indices: TempIndices, engine: Engine) -> None:
    """From then on, new documents get these kinds too."""
    place = f"{engine.name}/{application(temp_indices, PLAIN)}"
    index = place.rpartition("/")[2]
    lines = ["", "--passages --dry-run", "--passages --passage-run 20", "--with versions"]
    command = ["backfill", place, "--text-field", "text"]
    plain, dry, passages, sentences = (answer(*command, *options.split()) for options in lines)
    temp_indices.put(index, "new", {"text": TEXTS["river"]})

    assert (0, 5, 5, 5) == (
        plain["updated_count"],
        dry["write_count"],
        passages["updated_count"],
        sentences["updated_count"],
    )
    assert 1 == answer("backfill", place, "--text-field", "text")["updated_count"]
    assert ["long"] == sharing(engine, index, Settings(passages=PassageSettings(16)))
    assert "sentences:2" in answer("info", "--store", place)["settings"]["sketches"]
    assert [] == problems(engine, index)


def test_documents_that_lack_a_kind_are_counted_and_completed(temp_indices: TempIndices, engine: Engine) -> None:
    """Here a loader had other settings. Other queries find these documents."""
    name = application(temp_indices, ALL, loader=replace(PLAIN, sentences=SentenceSettings()))
    hits = SimilaritySearch(open_store(f"{engine.name}/{name}")).similar("other_20_80").hits

    assert ["copy"] == [hit.id for hit in hits]
    guess = "(text is a guess; it is the only text field in the mapping)"
    assert [
        f"5 fingerprints have no {kind}; run `simdoc-search backfill {engine.name}/{name} --text-field text` {guess}"
        for kind in ("passages", "concepts")
    ] == problems(engine, name)
    assert 5 == run(engine, name, extractor=CAPITALS).updated_count
    assert (["long"], ["city", "river"], []) == (
        sharing(engine, name),
        naming_the_danube(engine, name),
        problems(engine, name),
    )


def test_a_new_index_has_the_requested_passages(temp_indices: TempIndices, engine: Engine) -> None:
    """It may have none, or only longer passages. Later requests cannot change this."""
    none, longer = application(temp_indices, None), application(temp_indices, None)
    run(engine, none, change_settings=adding(passages=None))
    run(engine, longer, change_settings=adding(passages=PassageSettings(46)))
    (skipped,) = run(engine, longer, change_settings=ADD_PASSAGES).skipped_indices
    (removed,) = run(engine, longer, change_settings=adding(passages=None)).skipped_indices

    assert PLAIN == open_store(f"{engine.name}/{none}").settings
    assert "passages" not in engine.call("GET", [none, "_doc", "long"])["_source"]["simdoc"]
    assert Settings(passages=PassageSettings(46)) == open_store(f"{engine.name}/{longer}").settings
    assert "the field simdoc has the settings 'passages:1 46 5', not 'passages:1 32 5'; choose" in skipped.reason
    assert "passages:1 46 5', not 'nfkc_cf" in removed.reason


def test_a_text_without_concepts_after_an_error_has_everything_else(temp_indices: TempIndices, engine: Engine) -> None:
    """The report lists it. Neither this text nor a text without words is read again."""
    name = application(temp_indices, ALL)
    temp_indices.put(name, "fails", {"text": "The Danube may fail here, on one fine day."})
    temp_indices.put(name, "empty", {"text": "..."})
    report, again = (run(engine, name, extractor=CAPITALS) for _ in range(2))

    assert (1, 1, {"fails": "concepts"}) == (report.updated_count, report.wordless_count, report.incomplete)
    assert (0, []) == (again.document_count, problems(engine, name))
    assert ["city", "river"] == naming_the_danube(engine, name)


def test_an_index_behind_an_alias_that_lacks_a_kind_is_named(temp_indices: TempIndices, engine: Engine) -> None:
    """All other queries find documents in both indices."""
    new, old = application(temp_indices, ALL), application(temp_indices, PLAIN)
    alias = temp_indices.alias(new, old)
    with closing(open_store(f"{engine.name}/{alias}")) as store:
        assert PLAIN == store.settings
        for kind in ("passages", "sentences", "concepts"):
            with pytest.raises(FormatMismatchError, match=f"the index {old} of .* has no {kind}; run .* --"):
                store.documents_sharing_tokens(np.zeros(1, np.uint32), kind=kind, size=1)
    temp_indices.put(new, "source", {"text": TEXTS["other"], "simdoc": fingerprint_field(TEXTS["other"], PLAIN)})
    hits = SimilaritySearch(open_store(f"{engine.name}/{alias}")).similar("source").hits
    run(engine, old, change_settings=ADD_ALL, extractor=CAPITALS)

    assert ["copy", "copy", "other", "other"] == sorted(hit.id for hit in hits)
    assert (["long"] * 2, ["city", "city", "river", "river"]) == (
        sharing(engine, alias),
        naming_the_danube(engine, alias),
    )


def test_indices_with_different_passages_are_an_error(temp_indices: TempIndices, engine: Engine) -> None:
    alias = temp_indices.alias(
        application(temp_indices, Settings()), application(temp_indices, Settings(passages=PassageSettings(16)))
    )

    with pytest.raises(FormatMismatchError, match="have passages with different settings; query each index separately"):
        sharing(engine, alias)


def test_the_message_does_not_guess_the_text_fields_that_the_mapping_records() -> None:
    """`backfill` reads them itself. Fingerprints of one field alone would be different."""
    mapping: Any = component_template(PLAIN)["template"]["mappings"]
    ours = mapping["properties"]["simdoc"]["properties"]
    ours["text_hash"] = build_text_fields_mapping(ours["text_hash"], ["doc.title", "doc.body"])
    mapping["properties"]["doc"] = {"properties": {"body": {"type": "text"}, "title": {"type": "text"}}}
    for kind in TOKEN_KINDS.values():
        with pytest.raises(FormatMismatchError, match=r"/a --(passages|with \w+)`$"):
            require_kind({"a": mapping}, "simdoc", "http://engine/a", kind)


@pytest.mark.parametrize("kind", ["passages", "sentences"])
def test_a_field_of_another_type_is_an_error(temp_indices: TempIndices, engine: Engine, kind: Any) -> None:
    """All other kinds can be queried."""
    mappings: Any = component_template(ALL)["template"]["mappings"]["properties"]
    mappings["simdoc"]["properties"][kind] = {"type": "keyword"}
    name = temp_indices.make({"properties": {"text": {"type": "text"}, **mappings}})
    fault = f"simdoc.{kind} has type 'keyword', not 'text'; a mapping cannot be changed, so create a new index"

    (problem,) = problems(engine, name)
    assert problem.startswith(fault)
    with closing(open_store(f"{engine.name}/{name}")) as store:
        with pytest.raises(StoreError, match=f"cannot be queried for {kind}: {fault}"):
            store.documents_sharing_tokens(DANUBE, kind=kind, size=1)
        assert [0] == store.concept_frequencies(DANUBE).tolist()


@pytest.mark.parametrize(
    ("values", "fault"),
    [
        ({"passages": []}, "has no passages"),
        ({"passages": ""}, "has no passages"),
        ({"passages": "!!!!"}, "has invalid passages"),
        ({"sentences": "!!!"}, "has invalid hashes in sentences"),
        ({"concepts": "!!!!"}, "has invalid concepts"),
    ],
    ids=str,
)
def test_malformed_tokens_are_named_and_replaced(
    temp_indices: TempIndices, engine: Engine, values: dict[str, Any], fault: str
) -> None:
    """The store can still read the document."""
    name = application(temp_indices, ALL)
    engine.call("POST", [name, "_update", "river"], {"doc": {"simdoc": values}}, refresh=True)
    (problem,) = problems(engine, name)

    assert f"1 of 5 compared fingerprints is malformed: 'river' {fault}" in problem
    assert open_store(f"{engine.name}/{name}").get("river", load={"sentences", "concepts"}) is not None
    assert 1 == run(engine, name, stale=True, extractor=CAPITALS).updated_count
    assert [] == problems(engine, name)


def test_a_short_quotation_is_found_in_the_text_field(temp_indices: TempIndices, engine: Engine) -> None:
    """The field must be indexed. Otherwise the result states the minimum number of words."""
    quoted = "quoted in another one which is short"
    searchable, name = (
        application(temp_indices, Settings()),
        application(temp_indices, None, properties={"text": NOT_INDEXED}),
    )
    run(engine, name, change_settings=ADD_PASSAGES)
    for index, is_searchable in ((searchable, True), (name, False)):
        with closing(open_store(f"{engine.name}/{index}", text_field="text")) as store:
            search = SimilaritySearch(store)
            result = search.passages(text=f"as they say {quoted}", min_words=6)

            assert is_searchable == store.can_find_phrases
            assert (6 if is_searchable else 36) == result.guaranteed_run_length
            assert not is_searchable or ["long"] == [hit.id for hit in result.hits]
            assert ["long"] == [hit.id for hit in search.passages(text=f"{QUOTED} {QUOTED} {TEXTS['long']}").hits]


NOT_INDEXED = {"type": "text", "index": False}
