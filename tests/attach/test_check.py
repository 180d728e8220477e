"""`check` finds every problem of an index, and none in a correct index."""

from __future__ import annotations

import json
from contextlib import closing
from typing import Any

import pytest

from simdoc_search import Analysis, open_store
from simdoc_search.attach.actions import fingerprint_field
from simdoc_search.attach.check import Finding, check_index
from simdoc_search.display import format_count
from simdoc_search.errors import StoreNotFoundError
from simdoc_search.sketch.minhash import MinHash
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.schema import component_template
from tests.support.application_mapping import NAMED, mapping
from tests.support.backfill import to
from tests.support.cli import answer, output, run, sentence, usage_error
from tests.support.engines import call, own_name
from tests.support.http_server import Answer, Request, TempIndices, forward, serving
from tests.support.pipeline_installation import install_pipeline
from tests.support.stores import put, record


def findings_of(
    temp_indices: TempIndices, engine: Engine, mappings: object, settings: Any = None, **documents: object
) -> list[Any]:
    """What `check` finds in an index with these mappings and documents, as pairs of `wrong` and `problem`."""
    name = temp_indices.make(mappings, NAMED if settings is None else settings)
    for id, document in documents.items():
        temp_indices.put(name, id, document)
    findings = check_index(engine, name)
    assert {name} >= {finding.index for finding in findings}
    url = f"{temp_indices.engine}/{name}"
    return [(finding.is_problem, finding.message.replace(url, "URL")) for finding in findings]


# --- correct indices ---


def test_an_index_of_simdoc_search_is_ready(temp_indices: TempIndices, engine: Engine) -> None:
    """It is ready with and without documents, and with any field name."""
    for field, store_texts in (("simdoc", True), ("fp", False)):
        name = temp_indices.name()
        with closing(
            open_store(f"{temp_indices.engine}/{name}", create=True, field=field, store_texts=store_texts)
        ) as store:
            assert [] == check_index(engine, name, field)
            put(store, record("a", passages=[1]), record("b", passages=[1, 2]))

        assert [] == check_index(engine, name, field)


def test_an_index_with_the_component_template_is_ready(temp_indices: TempIndices, engine: Engine) -> None:
    """The mapping may have any settings."""
    other = component_template(Settings(sketch=MinHash(bucket_count=256)))["template"]["mappings"]

    assert [] == findings_of(temp_indices, engine, mapping(), one={"simdoc": fingerprint_field("some words of a text")})
    assert [] == findings_of(
        temp_indices,
        engine,
        other,
        one={"simdoc": fingerprint_field("words", Settings(sketch=MinHash(bucket_count=256)))},
    )


# --- faults of a mapping ---


FACTS = {"facts": {"type": "keyword"}}


@pytest.mark.parametrize(
    ("mappings", "problem"),
    [
        (
            {"properties": {"title": {"type": "text"}}},
            "no field simdoc.tokens; to add fingerprints, run `simdoc-search backfill ",
        ),
        (
            {"properties": {"body": {"type": "text"}, "simdoc": {"properties": FACTS}}},
            "there is no field simdoc.tokens",
        ),
        (
            {"properties": {"simdoc": {"type": "keyword"}}},
            "the field simdoc has the type keyword; choose another field name with --field",
        ),
        ({**mapping(), "_source": {"enabled": False}}, "_source is disabled, so documents cannot be read"),
        ({**mapping(), "_source": {"excludes": ["*.tok*"]}}, "_source excludes simdoc.tokens, so hits cannot be read"),
        ({**mapping(), "_source": {"includes": ["title"]}}, "_source excludes simdoc.tokens"),
        ({**mapping(), "_source": {"includes": ["simdoc"]}}, "fields, so an update would lose their values"),
        (
            mapping(tokens={"analyzer": "standard"}),
            "simdoc.tokens has analyzer 'standard', not 'whitespace'; a mapping cannot",
        ),
        (mapping(tokens={"search_analyzer": None}), "simdoc.tokens has search_analyzer None, not 'simple'"),
        (mapping(tokens={"similarity": "BM25"}), "simdoc.tokens has similarity 'BM25', not 'boolean'"),
        (mapping(tokens={"meta": None}), "has no valid simdoc-search settings"),
        (mapping(tokens={"meta": {"simdoc_version": "99"}}), "format version 99"),
        (mapping(buckets={"type": "keyword"}), "simdoc.buckets has type 'keyword', not 'short'"),
        (mapping(buckets=None), "there is no field simdoc.buckets"),
    ],
)
def test_an_unfit_mapping_is_wrong(temp_indices: TempIndices, engine: Engine, mappings: Any, problem: str) -> None:
    """One sentence says what the problem is and what to do."""
    ((wrong, sentence),) = findings_of(temp_indices, engine, mappings)

    assert (True, True) == (wrong, problem in sentence)
    assert "\n" not in sentence
    assert "; " in sentence or ", so " in sentence


@pytest.mark.parametrize(("limit", "wrong"), [(3, True), (13, False), (14, None)])
def test_the_field_limit_is_checked_for_an_index_without_our_field(
    temp_indices: TempIndices, engine: Engine, limit: int, wrong: bool | None
) -> None:
    """Our mapping adds eleven fields."""
    title = {"properties": {"title": {"type": "text", "fields": {"raw": {"type": "keyword"}}}}}
    findings = findings_of(temp_indices, engine, title, {**NAMED, "index.mapping.total_fields.limit": limit})
    more_fields = format_count(limit - 2, "more field")
    problem = f"the index can have only {more_fields} (limit {limit}); increase index.mapping.total_fields.limit"

    assert ([] if wrong is None else [(wrong, problem)]) == [
        finding for finding in findings if "more field" in finding[1]
    ]
    assert [] == findings_of(temp_indices, engine, mapping(), {**NAMED, "index.mapping.total_fields.limit": 11})


# --- faults of documents ---


def test_documents_without_a_complete_fingerprint_are_counted(temp_indices: TempIndices, engine: Engine) -> None:
    """Documents without a fingerprint are only a note if it is not known whether they have a text."""
    kinds = {"a": Settings(sketch=MinHash(bucket_count=256)), "b": Settings(Analysis(shingle_size=3)), "c": Settings()}
    documents: dict[str, Any] = {id: {"simdoc": fingerprint_field("words", settings)} for id, settings in kinds.items()}
    other_settings = "2 fingerprints were computed with settings other than those in the mapping"
    guess = "(title is a guess; it is the only text field in the mapping)"
    others = f"{other_settings}; run `simdoc-search backfill URL --text-field title --stale` {guess}"

    assert [(False, "2 of 5 documents have no fingerprint"), (True, others)] == findings_of(
        temp_indices, engine, mapping(), **documents, d={"title": "d"}, e={"simdoc": None}
    )


GOOD = fingerprint_field("some words of a text")


@pytest.mark.parametrize(
    ("bad", "fault"),
    [
        ({"simdoc": {**GOOD, "tokens": ["!!!", '!!"']}}, "has 2 values in tokens"),
        ({"simdoc": {**GOOD, "tokens": "words of another"}}, "has invalid tokens"),
        ({"simdoc": {**GOOD, "tokens": "!!! !!#", "buckets": 2}}, "has two tokens in one bucket"),
        ({"simdoc": {**GOOD, "buckets": 77}}, "has the wrong number of shingles or buckets"),
        ({"simdoc": [GOOD]}, "is not an object"),
        ({f"simdoc.{name}": value for name, value in GOOD.items()}, "has keys with dots"),
    ],
    ids=["list", "foreign", "repeated", "buckets", "array", "dots"],
)
def test_malformed_fingerprints_are_counted_and_named(
    temp_indices: TempIndices, engine: Engine, bad: dict[str, Any], fault: str
) -> None:
    ((wrong, problem),) = findings_of(temp_indices, engine, mapping(), good={"simdoc": GOOD}, bad=bad)

    assert (True, True) == (wrong, fault in problem)
    assert problem.startswith("1 of 2 compared fingerprints is malformed: 'bad' ")
    assert problem.endswith("; run `simdoc-search backfill URL --text-field FIELD --stale`")


def test_missing_and_stale_fingerprints_are_wrong(temp_indices: TempIndices, engine: Engine) -> None:
    name = temp_indices.make({"properties": TEXTS}, NAMED)
    for id in "abc":
        temp_indices.put(name, id, {"body": f"some words of a text, and {id}"})
    output("backfill", f"{temp_indices.engine}/{name}", "--text-field", "body")
    assert [] == check_index(engine, name)
    temp_indices.put(name, "new", {"body": "the words of a new text"})
    temp_indices.put(name, "none", {"title": "a title alone"})
    call(temp_indices.engine, "POST", f"/{name}/_update/a?refresh=true", {"doc": {"body": "quite another text"}})
    missing, stale = [finding.message for finding in check_index(engine, name) if finding.is_problem]

    url = f"{temp_indices.engine}/{name}"
    assert f"1 of 5 documents has a text but no fingerprint ('new'); run `simdoc-search backfill {url}`" == missing
    assert stale.startswith(
        "stale fingerprints: 1 of 3, all compared: 'a'; queries use the old texts until you run `simdoc-search backfill"
    )


def test_a_different_or_missing_pipeline_is_wrong(temp_indices: TempIndices, engine: Engine) -> None:
    name = temp_indices.make({"properties": TEXTS}, NAMED)
    temp_indices.put(name, "a", {"body": "some words of a text"})
    output("backfill", f"{temp_indices.engine}/{name}", "--text-field", "body")
    install_pipeline(engine, ["title"], name=name)
    call(temp_indices.engine, "PUT", f"/{name}/_settings", {"index.final_pipeline": name})
    try:
        ((wrong, problem),) = [(finding.is_problem, finding.message) for finding in check_index(engine, name)]
        assert (True, True) == (
            wrong,
            problem.startswith(f"new documents do not get correct fingerprints: {name} (index.final_pipeline)"),
        )
    finally:
        call(temp_indices.engine, "PUT", f"/{name}/_settings", {"index.final_pipeline": "_none"})
        call(temp_indices.engine, "DELETE", f"/_ingest/pipeline/{name}")
    call(temp_indices.engine, "PUT", f"/{name}/_settings", {"index.final_pipeline": f"{name}-gone"})

    assert ["which does not exist" in finding.message for finding in check_index(engine, name)] == [True]


# --- problems of an index or an engine ---


@pytest.mark.parametrize(("block", "wrong"), [("write", False), ("read", True)])
def test_a_block_is_reported(temp_indices: TempIndices, engine: Engine, block: str, wrong: bool) -> None:
    """A write block is only a note."""
    name = temp_indices.make(mapping(), NAMED)
    call(temp_indices.engine, "PUT", f"/{name}/_settings", {f"index.blocks.{block}": True})
    try:
        findings = check_index(engine, name)
    finally:
        call(temp_indices.engine, "PUT", f"/{name}/_settings", {f"index.blocks.{block}": None})
    (finding,) = [finding for finding in findings if f"the index has the block index.blocks.{block}" in finding.message]

    assert wrong == finding.is_problem


def test_missing_shards_are_wrong(temp_indices: TempIndices) -> None:
    """`check` sends no searches, because the engine would wait for the shards."""
    nowhere = {**NAMED, "index.routing.allocation.require._name": "no such node"}
    name = temp_indices.make(mapping(), nowhere, wait_for_active_shards="0")
    with serving(forward(temp_indices.engine)) as server, to(server.url) as engine:
        ((wrong, problem),) = [(finding.is_problem, finding.message) for finding in check_index(engine, name)]

    assert (True, True) == (wrong, problem.startswith("1 of 1 shards is missing (status red); find the cause with "))
    assert [] == [
        request.path for request in server.requests if request.path.rpartition("/")[2] in {"_count", "_search"}
    ]


def test_a_low_clause_limit_is_wrong(temp_indices: TempIndices) -> None:
    name, real = temp_indices.make(mapping(), NAMED), forward(temp_indices.engine)

    def limited(request: Request) -> Answer | None:
        given = real(request)
        if given is None or not request.path.startswith("/_cluster/settings"):
            return given
        settings = {**json.loads(given.body), "persistent": {"indices.query.bool.max_clause_count": "512"}}
        return Answer(200, json.dumps(settings).encode())

    with serving(limited) as server, to(server.url) as engine:
        findings = check_index(engine, name)

    advice = "set indices.query.bool.max_clause_count to 1024"
    problem = f"the engine allows only 512 clauses per query, too few for some queries; {advice}"
    assert [Finding(name, True, problem)] == findings


@pytest.mark.parametrize("ending", ["", "*"])
def test_a_missing_index_is_an_error(engine: Engine, ending: str) -> None:
    with pytest.raises(StoreNotFoundError):
        check_index(engine, f"{own_name()}{ending}")


# --- several indices behind an alias ---


def two_indices(temp_indices: TempIndices, second: Any, text_field: str = "body") -> tuple[list[str], str]:
    """Two indices behind an alias. The first has fingerprints of `body`, the second has this mapping."""
    names = [
        temp_indices.make({"properties": TEXTS}, NAMED),
        temp_indices.make({"properties": {**TEXTS, **second}}, NAMED),
    ]
    for name in names:
        temp_indices.put(name, "a", {"body": "some words of a text", "title": "another text than the body has"})
    output("backfill", f"{temp_indices.engine}/{names[0]}", "--text-field", "body")
    if "simdoc" in second:
        output("backfill", f"{temp_indices.engine}/{names[1]}", "--text-field", text_field)
    return names, temp_indices.alias(*names)


def test_indices_whose_fingerprints_were_removed_have_one_problem(temp_indices: TempIndices, engine: Engine) -> None:
    """The mappings still have the field. So each index looks as if fingerprints were missing by mistake."""
    field = {"simdoc": component_template(Settings())["template"]["mappings"]["properties"]["simdoc"]}
    names, alias = two_indices(temp_indices, field)
    url = f"{temp_indices.engine}/{alias}"
    for name in names:
        temp_indices.put(name, "a", {"body": "the document without its fingerprint"})
    ((index, problem),) = [
        (finding.index, finding.message) for finding in check_index(engine, alias) if finding.is_problem
    ]
    output("backfill", url)

    assert alias == index
    assert (
        "no document has a fingerprint; fingerprints were not added yet, or `template remove` removed them; to add "
        f"them, run `simdoc-search backfill {url} --stale`" == problem
    )
    assert [] == [finding for finding in check_index(engine, alias) if finding.is_problem]


TEXTS = {"body": {"type": "text"}, "title": {"type": "text"}}


def test_an_index_without_our_field_is_named_with_the_command(temp_indices: TempIndices, engine: Engine) -> None:
    """The mapping of the other index records the text field. A closed index is only named."""
    names, alias = two_indices(temp_indices, {})
    ((index, problem),) = [
        (finding.index, finding.message) for finding in check_index(engine, alias) if finding.is_problem
    ]
    run_this = f"to add fingerprints, run `simdoc-search backfill {temp_indices.engine}/{alias}`"
    result = run("check", f"{temp_indices.engine}/{alias}")
    call(temp_indices.engine, "POST", f"/{names[1]}/_close")

    assert (names[1], f"there is no field simdoc.tokens; {run_this}") == (index, problem)
    assert (1, f"{alias} has 1 problem that affects FINGERPRINT queries (see above)") == (
        result.exit_code,
        result.stdout.splitlines()[-1],
    )
    assert [Finding(names[1], True, f"the index is closed; open it with `POST /{names[1]}/_open`")] == [
        finding for finding in check_index(engine, alias) if finding.is_problem
    ]


def test_different_text_fields_behind_an_alias_are_wrong(temp_indices: TempIndices, engine: Engine) -> None:
    """Each index alone is ready."""
    names, alias = two_indices(temp_indices, component_template()["template"]["mappings"]["properties"], "title")
    assert [[], []] == [[finding for finding in check_index(engine, name) if finding.is_problem] for name in names]
    ((index, problem),) = [
        (finding.index, finding.message) for finding in check_index(engine, alias) if finding.is_problem
    ]
    fields = f"{names[0]} from body, {names[1]} from title"

    assert (alias, True) == (
        index,
        problem.startswith(f"the indices compute their fingerprints from different text fields ({fields}); "),
    )
    assert " --stale --force" in problem


def test_different_settings_behind_an_alias_are_wrong(temp_indices: TempIndices, engine: Engine) -> None:
    """The settings of the fingerprints or of one kind of tokens may differ."""
    plain, other = mapping(), component_template(Settings(sketch=MinHash(bucket_count=256)))["template"]["mappings"]
    without = component_template(Settings(passages=None))["template"]["mappings"]
    for second, reason in ((other, "have fingerprints with different settings"), (without, "no passages")):
        alias = temp_indices.alias(temp_indices.make(plain, NAMED), temp_indices.make(second, NAMED))
        ((index, problem),) = [
            (finding.index, finding.message) for finding in check_index(engine, alias) if finding.is_problem
        ]

        assert (alias, True) == (index, reason in problem)


# --- the command ---


def test_the_command_prints_findings_and_a_verdict(temp_indices: TempIndices) -> None:
    """Notes do not change the exit code."""
    name, noted = temp_indices.make(mapping(), NAMED), temp_indices.make(mapping(), {})
    without_fingerprints = temp_indices.make(mapping(), {})
    for filled in (name, noted):
        call(temp_indices.engine, "PUT", f"/{filled}/_doc/a?refresh=true", {"simdoc": fingerprint_field("some words")})
    address = temp_indices.engine.replace("://", "://name@")
    with_field = run("check", f"{address}/{name}", "--field", "fp")
    url = temp_indices.engine
    problem = (
        f"there is no field fp.tokens; to add fingerprints, run `simdoc-search backfill {url}/{name} --field fp "
        "--text-field FIELD`; to let the engine fingerprint new documents too, run `simdoc-search template install "
        f"{url} --pipeline --text-field FIELD --field fp --index {name}` first"
    )
    as_json = json.loads(run("check", f"{address}/{name}", "--field", "fp", "--json").stdout)

    for fit in (name, without_fingerprints):
        assert f"{fit} is ready for FINGERPRINT queries\n" == output("check", f"{address}/{fit}")
    assert output("check", f"{address}/{noted}").startswith(f"note: {noted}: a query that does not name a field")
    assert answer("check", f"{address}/{noted}")["ok"]
    assert (1, "") == (with_field.exit_code, with_field.stderr)
    assert (
        f"problem: {name}: {problem}\n{name} has 1 problem that affects FINGERPRINT queries (see above)\n"
        == with_field.stdout
    )
    findings = [{"index": name, "is_problem": True, "problem": problem}]
    assert {"url": f"{temp_indices.engine}/{name}", "ok": False, "findings": findings} == as_json


def test_the_command_needs_an_existing_index(temp_indices: TempIndices) -> None:
    for url in (f"{temp_indices.engine}/test-nothing", "http://127.0.0.1:1/index", "no/url"):
        assert sentence(run("check", url))
    for url in (temp_indices.engine, "localhost:9200/docs"):
        assert "use http://" in usage_error(run("check", url))


def test_a_finding_of_several_indices_is_printed_once(temp_indices: TempIndices) -> None:
    """The line names the indices. `--json` has a finding for each of them."""
    names = sorted(temp_indices.make(mapping(tokens={"meta": None})) for _ in range(2))
    url = f"{temp_indices.engine}/{temp_indices.alias(*names)}"
    shown, found = run("check", url).stdout.splitlines(), json.loads(run("check", url, "--json").stdout)["findings"]
    faults = [line for line in shown if "has no valid simdoc-search settings" in line]

    assert [f"problem: {', '.join(names)}: the `meta` of the field"] == [
        line.partition(" has no")[0] for line in faults
    ]
    assert names == [finding["index"] for finding in found if "has no valid" in finding["problem"]]
    count = len([line for line in shown if line.startswith("problem")])
    assert shown[-1].endswith(f" has {count} problem that affects FINGERPRINT queries (see above)")
