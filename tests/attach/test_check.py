"""Is an index fit for our queries? Each fault is made for real, and an index as it should be has none."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from simdoc_search import Analysis, open_store
from simdoc_search.attach.actions import fingerprint_field
from simdoc_search.attach.check import Finding, check_index
from simdoc_search.attach.pipeline import install_pipeline
from simdoc_search.errors import StoreNotFoundError
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.connection import connect
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.schema import component_template
from tests.support.cli import output, run
from tests.support.engines import call, own_name
from tests.support.fitness import NAMED, check, mapping
from tests.support.http_server import Answer, Indices, Request, forward, indices, serving
from tests.support.stores import put, record


@pytest.fixture
def made(opensearch_url: str) -> Iterator[Indices]:
    """Indices of an application's own."""
    with indices(opensearch_url) as them:
        yield them


@pytest.fixture
def engine(opensearch_url: str) -> Iterator[Engine]:
    """The way to the engine."""
    opened, _ = connect(opensearch_url, index=False)
    with closing(opened):
        yield opened


def found(made: Indices, engine: Engine, mappings: object, settings: Any = None, **documents: object) -> list[Any]:
    """What is said of an index with these mappings and documents: whether it is wrong, and what."""
    name = made.make(mappings, NAMED if settings is None else settings)
    for id, document in documents.items():
        made.put(name, id, document)
    findings = check(engine, name)
    assert {name} >= {each.index for each in findings}
    return [(each.wrong, each.problem) for each in findings]


# --- fit ---


def test_an_index_of_simdoc_search_is_fit(made: Indices, engine: Engine) -> None:
    """As it is made, with documents and without, under whatever name of the field."""
    for field, store_texts in (("simdoc", True), ("fp", False)):
        name = made.name()
        with closing(open_store(f"{made.engine}/{name}", create=True, field=field, store_texts=store_texts)) as store:
            assert [] == check(engine, name, field)
            codes = [number << 15 for number in range(8)]  # one of each bucket
            put(store, record("a", codes, passages=[1]), record("b", codes, passages=[1, 2]))

        assert [] == check(engine, name, field)


def test_an_index_with_the_component_template_is_fit(made: Indices, engine: Engine) -> None:
    """Beside the fields of its owner, also if other settings made the fingerprints and the mapping says so."""
    other = component_template(Settings(token_length=5))["template"]["mappings"]

    assert [] == found(made, engine, mapping(), one={"simdoc": fingerprint_field("some words of a text")})
    assert [] == found(made, engine, other, one={"simdoc": fingerprint_field("words", Settings(token_length=5))})


# --- each fault ---


FACTS = {"facts": {"type": "keyword"}}
WITHOUT_SOURCE = {**mapping(), "_source": {"enabled": False}}


@pytest.mark.parametrize(
    ("mappings", "problem"),
    [
        ({"properties": {"title": {"type": "text"}}}, "no field simdoc.tokens; run simdoc-search backfill"),
        (
            {"properties": {"body": {"type": "text"}, "simdoc": {"properties": FACTS}}},
            "there is no field simdoc.tokens",
        ),
        ({"properties": {"simdoc": {"type": "keyword"}}}, "the field simdoc is keyword; choose another name"),
        (WITHOUT_SOURCE, "_source is disabled, so no hit can be read"),
        ({**mapping(), "_source": {"excludes": ["simdoc"]}}, "_source leaves out simdoc.tokens, so no hit can be read"),
        ({**mapping(), "_source": {"excludes": ["*.tok*"]}}, "_source leaves out simdoc.tokens"),
        ({**mapping(), "_source": {"includes": ["title"]}}, "_source leaves out simdoc.tokens"),
        ({**mapping(), "_source": {"includes": ["simdoc"]}}, "fields, which a partial update would destroy"),
        (mapping(tokens={"analyzer": "standard"}), "simdoc.tokens has analyzer 'standard', not 'whitespace'; put"),
        (mapping(tokens={"search_analyzer": None}), "simdoc.tokens has search_analyzer None, not 'simple'"),
        (mapping(tokens={"search_analyzer": "standard"}), "simdoc.tokens has search_analyzer 'standard', not 'simple'"),
        (mapping(tokens={"similarity": None}), "simdoc.tokens has similarity None, not 'boolean'"),
        (mapping(tokens={"similarity": "BM25"}), "simdoc.tokens has similarity 'BM25', not 'boolean'"),
        (mapping(tokens={"meta": None}), "meta has no settings of simdoc-search"),
        (mapping(tokens={"meta": {"simdoc_version": "99"}}), "format version 99"),
        (mapping(buckets={"type": "keyword"}), "simdoc.buckets has type 'keyword', not 'short'"),
        (mapping(buckets=None), "there is no field simdoc.buckets"),
        (mapping(shingles={"type": "text"}), "simdoc.shingles has type 'text', not 'integer'"),
    ],
)
def test_a_mapping_that_does_not_fit_is_wrong(made: Indices, engine: Engine, mappings: Any, problem: str) -> None:
    """One sentence says what, and what to do about it; nothing else is said of it."""
    ((wrong, said),) = found(made, engine, mappings)

    assert (True, True) == (wrong, problem in said)
    assert "\n" not in said
    assert "; " in said or ", so " in said


def test_a_field_that_the_engine_guessed_is_wrong(made: Indices, engine: Engine) -> None:
    """After a reindex without the mapping there is a field of that name, which finds nothing."""
    (first, *_) = found(made, engine, {}, one={"simdoc": fingerprint_field("some words")})

    assert (True, True) == (first[0], "has analyzer None, not 'whitespace'; put the mapping" in first[1])


@pytest.mark.parametrize(("limit", "wrong"), [(3, True), (13, False), (14, False)])
def test_room_for_our_fields_is_looked_for(made: Indices, engine: Engine, limit: int, wrong: bool) -> None:
    """An index that has not our field yet needs eleven more; there it is a fault, and soon after it a note."""
    title = {"properties": {"title": {"type": "text", "fields": {"raw": {"type": "keyword"}}}}}
    findings = found(made, engine, title, {**NAMED, "index.mapping.total_fields.limit": limit})
    about_room = [each for each in findings if "fields are left" in each[1]]
    said = f"{limit - 2} of {limit} fields are left; raise index.mapping.total_fields.limit"

    assert ([(wrong, said)] if limit < 14 else []) == about_room


def test_an_index_that_has_our_field_needs_no_more_room(made: Indices, engine: Engine) -> None:
    """A mapping that is full is none of our business."""
    assert [] == found(made, engine, mapping(), {**NAMED, "index.mapping.total_fields.limit": 11})


def test_searches_of_all_fields_are_worth_a_note(made: Indices, engine: Engine) -> None:
    """Where the owner has not named the fields that they look into, they look into ours."""
    ((wrong, said),) = found(made, engine, mapping(), {})

    assert (False, True) == (wrong, "set index.query.default_field to your own fields" in said)


def test_documents_without_fingerprint_are_counted(made: Indices, engine: Engine) -> None:
    """A note: they are not found, and perhaps have no words."""
    documents = {"a": {"title": "a"}, "b": {"simdoc": None}, "c": {"simdoc": fingerprint_field("words")}}

    assert [(False, "2 of 3 documents have no fingerprint")] == found(made, engine, mapping(), **documents)


def test_fingerprints_of_other_settings_are_counted(made: Indices, engine: Engine) -> None:
    """They are compared with what they cannot be compared with."""
    kinds = {"a": Settings(token_length=5), "b": Settings(Analysis(shingle_size=3)), "c": Settings()}
    documents = {id: {"simdoc": fingerprint_field("words", settings)} for id, settings in kinds.items()}
    said = "fingerprints with other settings than the mapping: 2; make them again"

    assert [(True, said)] == found(made, engine, mapping(), **documents)


def test_an_index_that_is_closed_is_wrong(made: Indices, engine: Engine) -> None:
    """It shows its mapping only, and nothing in it is found."""
    name = made.make(mapping(), NAMED)
    call(made.engine, "POST", f"/{name}/_close")

    assert [Finding(name, True, "it is closed; open it first")] == check(engine, name)


@pytest.mark.parametrize(("block", "wrong"), [("write", False), ("read_only", False), ("read", True)])
def test_a_block_is_said(made: Indices, engine: Engine, block: str, wrong: bool) -> None:
    """One for reading is wrong; one for writing is worth a note."""
    name = made.make(mapping(), NAMED)
    call(made.engine, "PUT", f"/{name}/_settings", {f"index.blocks.{block}": True})
    try:
        first, *_ = check(engine, name)
    finally:
        call(made.engine, "PUT", f"/{name}/_settings", {f"index.blocks.{block}": None})

    assert (wrong, True) == (first.wrong, f"it has the block index.blocks.{block} " in first.problem)


def test_missing_shards_are_wrong(made: Indices) -> None:
    """An engine may answer without what is in them; documents are not asked for, as it would wait for the shards."""
    nowhere = {**NAMED, "index.routing.allocation.require._name": "no such node"}
    name = made.make(mapping(), nowhere, wait_for_active_shards="0")
    with serving(forward(made.engine)) as server, closing(connect(server.url, index=False)[0]) as engine:
        ((wrong, said),) = [(each.wrong, each.problem) for each in check(engine, name)]

    assert (True, True) == (wrong, said.startswith("1 of 1 shards are missing (status red); see "))
    assert [] == [each.path for each in server.requests if each.path.rpartition("/")[2] in {"_count", "_search"}]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"tokens": ["!!!!", '!!!"']}, "has 2 values in tokens"),
        ({"tokens": "words of another"}, "has invalid tokens"),
        ({"tokens": "!!!! !!!#", "buckets": 2}, "has two tokens of one bucket"),
        ({"shingles": None}, "has a wrong number of shingles or buckets"),
        ({"buckets": 77}, "has a wrong number of shingles or buckets"),
    ],
)
def test_malformed_fingerprints_are_counted_and_named(
    made: Indices, engine: Engine, change: dict[str, Any], said: str
) -> None:
    """They break queries, or are found by no query; the sentence says what mends them."""
    good = fingerprint_field("some words of a text")
    documents: dict[str, Any] = {"good": {"simdoc": good}, "bad": {"simdoc": {**(good or {}), **change}}}
    ((wrong, problem),) = found(made, engine, mapping(), **documents)

    assert (True, True) == (wrong, "such as 'bad' has " in problem and said in problem)
    assert problem.startswith("1 of 2 fingerprints looked at are malformed, such as ")
    assert problem.endswith("; mend them with simdoc-search backfill --stale")


@pytest.mark.parametrize("form", ["array", "dots"])
def test_fingerprints_in_another_form_are_malformed(made: Indices, engine: Engine, form: str) -> None:
    """A list of objects, and keys with dots, are the same to an engine, and not to who reads the document."""
    good = fingerprint_field("some words of a text") or {}
    bad = {"simdoc": [good]} if form == "array" else {f"simdoc.{name}": value for name, value in good.items()}
    ((wrong, problem),) = found(made, engine, mapping(), bad=bad)

    assert (True, True) == (
        wrong,
        f"'bad' {'is not an object' if form == 'array' else 'has keys with dots'}" in problem,
    )


def test_longer_answers_are_worth_a_note(made: Indices, engine: Engine) -> None:
    """The application's answers grow by our field; not those of an index that is ours."""
    name, own = made.make(mapping(), NAMED), made.name()
    with closing(open_store(f"{made.engine}/{own}", create=True)):
        (note,) = check_index(engine, name)

        assert (False, True) == (note.wrong, '"_source": {"excludes": ["simdoc"]} in requests' in note.problem)
        assert [] == check_index(engine, own)


def test_a_low_clause_limit_is_wrong(made: Indices) -> None:
    """It is the engine's, and the sentence says which setting it is."""
    name, real = made.make(mapping(), NAMED), forward(made.engine)

    def limited(request: Request) -> Answer | None:
        given = real(request)
        if given is None or not request.path.startswith("/_cluster/settings"):
            return given
        settings = {**json.loads(given.body), "persistent": {"indices.query.bool.max_clause_count": "512"}}
        return Answer(200, json.dumps(settings).encode())

    with serving(limited) as server:
        opened, _ = connect(server.url, index=False)
        with closing(opened):
            findings = check(opened, name)

    said = "the engine allows 512 clauses; raise indices.query.bool.max_clause_count to 1024"
    assert [Finding(name, True, said)] == findings


def test_faults_are_found_together(made: Indices, engine: Engine) -> None:
    """One look shows all of them."""
    bad = mapping(tokens={"search_analyzer": None, "similarity": None}, buckets=None)

    assert [True] * 3 + [False] == [wrong for wrong, _ in found(made, engine, bad, {})]


def test_all_indices_behind_an_alias_are_looked_at(made: Indices, engine: Engine) -> None:
    """Each finding names the index that it is about."""
    good, bad = made.make(mapping(), NAMED), made.make({"properties": {}}, NAMED)

    assert [(bad, True)] == [(each.index, each.wrong) for each in check(engine, made.alias(good, bad))]


@pytest.mark.parametrize("ending", ["", "*"])
def test_no_index_is_an_error(engine: Engine, ending: str) -> None:
    """So is a wildcard that fits none."""
    with pytest.raises(StoreNotFoundError):
        check_index(engine, f"{own_name()}{ending}")


# --- several indices behind an alias ---


def rolled(made: Indices, engine: Engine, second: Any, text_field: str = "body") -> tuple[list[str], str]:
    """Two indices behind an alias: the first is filled from `body`, the second has this mapping, and a document."""
    names = [made.make({"properties": TEXTS}, NAMED), made.make({"properties": {**TEXTS, **second}}, NAMED)]
    for name in names:
        made.put(name, "a", {"body": "some words of a text", "title": "another text than the body has"})
    output("backfill", f"{made.engine}/{names[0]}", "--text-field", "body")
    if "simdoc" in second:
        output("backfill", f"{made.engine}/{names[1]}", "--text-field", text_field)
    return names, made.alias(*names)


TEXTS = {"body": {"type": "text"}, "title": {"type": "text"}}


def test_an_index_without_our_field_behind_an_alias(made: Indices, engine: Engine) -> None:
    """The command that is proposed has the text field that the other index notes."""
    names, alias = rolled(made, engine, {})
    ((index, problem),) = [(each.index, each.problem) for each in check(engine, alias) if each.wrong]
    run_this = f"run simdoc-search backfill {made.engine}/{alias} --text-field body, or put"

    assert (names[1], True) == (index, f"there is no field simdoc.tokens; {run_this}" in problem)


def test_different_text_fields_behind_an_alias_are_wrong(made: Indices, engine: Engine) -> None:
    """Each index is fit alone, and their documents are compared by different texts."""
    names, alias = rolled(made, engine, component_template()["template"]["mappings"]["properties"], "title")
    for name in names:
        assert [] == [each for each in check(engine, name) if each.wrong]
    ((index, problem),) = [(each.index, each.problem) for each in check(engine, alias) if each.wrong]
    said = ", ".join(f"{name} of {'body' if name == names[0] else 'title'}" for name in sorted(names))

    assert (alias, True) == (index, problem.startswith(f"fingerprints are of different text fields ({said}); "))
    assert " --stale --force" in problem


def test_different_settings_behind_an_alias_are_wrong(made: Indices, engine: Engine) -> None:
    """Of all fingerprints, or of those of a kind."""
    plain, other = mapping(), component_template(Settings(token_length=5))["template"]["mappings"]
    without = component_template(Settings(passages=None))["template"]["mappings"]
    for second, said in ((other, "have fingerprints of different settings; ask them apart"), (without, "no passages")):
        alias = made.alias(made.make(plain, NAMED), made.make(second, NAMED))
        ((index, problem),) = [(each.index, each.problem) for each in check(engine, alias) if each.wrong]

        assert (alias, True) == (index, said in problem)


def test_what_status_knows_is_said(made: Indices, engine: Engine) -> None:
    """Documents with a text and without a fingerprint, and fingerprints of another text than the document has now."""
    name = made.make({"properties": TEXTS}, NAMED)
    for id in "abc":
        made.put(name, id, {"body": f"some words of a text, and {id}"})
    output("backfill", f"{made.engine}/{name}", "--text-field", "body")
    assert [] == check(engine, name)
    made.put(name, "new", {"body": "the words of a new text"})
    made.put(name, "none", {"title": "a title alone"})
    call(made.engine, "POST", f"/{name}/_update/a?refresh=true", {"doc": {"body": "quite another text"}})
    problems = [each.problem for each in check(engine, name) if each.wrong]

    assert "1 of 5 documents have no fingerprint, and a text; run simdoc-search backfill" in problems
    (stale,) = [each for each in problems if "of another text than the document has" in each]
    assert stale.endswith("such as 'a'; run simdoc-search backfill --stale")
    assert 2 == len(problems)


def test_a_pipeline_of_other_settings_is_wrong(made: Indices, engine: Engine) -> None:
    """What it writes cannot be compared with what is there; one that is not there refuses all writes."""
    name = made.make({"properties": TEXTS}, NAMED)
    made.put(name, "a", {"body": "some words of a text"})
    output("backfill", f"{made.engine}/{name}", "--text-field", "body")
    install_pipeline(engine, ["title"], name=name)
    call(made.engine, "PUT", f"/{name}/_settings", {"index.final_pipeline": name})
    try:
        ((wrong, problem),) = [(each.wrong, each.problem) for each in check(engine, name)]
        assert (True, True) == (wrong, problem.startswith(f"its pipeline does not fit: {name} (index.final_pipeline)"))
    finally:
        call(made.engine, "PUT", f"/{name}/_settings", {"index.final_pipeline": "_none"})
        call(made.engine, "DELETE", f"/_ingest/pipeline/{name}")
    call(made.engine, "PUT", f"/{name}/_settings", {"index.final_pipeline": f"{name}-gone"})

    assert ["which is not there" in each.problem for each in check(engine, name)] == [True]


def test_a_closed_index_behind_an_alias_is_wrong(made: Indices, engine: Engine) -> None:
    """What can be said of the others is said."""
    names, alias = rolled(made, engine, {})
    call(made.engine, "POST", f"/{names[1]}/_close")

    assert [(names[1], "it is closed; open it first")] == [
        (each.index, each.problem) for each in check(engine, alias) if each.wrong
    ]


def test_the_command_says_fit_or_not(made: Indices, engine: Engine) -> None:
    """In its last line."""
    names, alias = rolled(made, engine, {})
    result = run("check", f"{made.engine}/{alias}")

    assert (1, f"{alias} is not fit: 1 problem, see above") == (result.exit_code, result.stdout.splitlines()[-1])
    assert output("check", f"{made.engine}/{names[0]}").splitlines()[-1] == f"{names[0]} is fit for FINGERPRINT queries"
