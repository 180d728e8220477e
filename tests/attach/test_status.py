"""`status` counts documents by state, and estimates from a sample how many fingerprints are stale."""

from __future__ import annotations

import json
import re
import shlex
from typing import Any

import numpy as np
import pytest

from simdoc_search import Analysis, Document, SimilaritySearch, open_store
from simdoc_search.attach.actions import fingerprint_field
from simdoc_search.attach.inspection import inspect_indices
from simdoc_search.attach.inspection.sample import Sample
from simdoc_search.attach.pipeline import build_pipeline_body
from simdoc_search.errors import LocationError, StoreNotFoundError
from simdoc_search.sketch.key import resolve_hash_key
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.engine import Engine
from tests.support.backfill import backfill, interposed, to
from tests.support.cli import answer, output, run, sentence, usage_error, words
from tests.support.engines import call, each_engine
from tests.support.http_server import Request, TempIndices, error, forward, serving, unused_url
from tests.support.index_states import articles, document, fill, mapping, the_only_index

in_both_engines = pytest.mark.parametrize("engine_url", ["opensearch", "elasticsearch"], indirect=True)


engine_url = each_engine("opensearch")


# --- counting ---


@in_both_engines
def test_documents_are_counted_by_state(temp_indices: TempIndices, engine: Engine) -> None:
    inspection = inspect_indices(engine, articles(temp_indices))
    counts = the_only_index(inspection).counts

    assert (15, 11, 4) == (counts.document_count, counts.fingerprinted_count, counts.missing_count)
    assert (1, 10, 1, 3) == (
        counts.wordless_count,
        counts.current_count,
        counts.other_settings_count,
        counts.failed_count,
    )
    assert {"the text has N characters, too many": 2, 'a "quoted"\\ reason of \\x1b[2J two lines': 1}.keys() == {
        re.sub(r"\\n", " ", reason) for reason in counts.failure_reasons
    }
    assert Sample(10, 10, 3, ("malformed", "stale/1", "stale/2")) == inspection.sample
    assert {"malformed"} == inspection.sample.faults_by_id.keys()
    assert (0.3, (0.3, 0.3)) == (inspection.sample.stale_share, inspection.sample.stale_share_interval)


def test_the_texts_of_an_index_of_simdoc_search_are_in_body(temp_indices: TempIndices, engine: Engine) -> None:
    for store_texts, reason in ((True, ""), (False, "does not store texts")):
        name = temp_indices.name()
        with open_store(f"{temp_indices.engine}/{name}", create=True, store_texts=store_texts) as store:
            SimilaritySearch(store).index(Document(str(number), words(number, 99)) for number in range(9))
        found = inspect_indices(engine, name)

        assert (9, 0) == (found.document_count, found.missing_count)
        assert reason in found.sample.not_compared_reason
        assert (9, 9, 0) == (found.sample.document_count, found.sample.sampled_count, found.sample.stale_count)


def test_without_our_field_all_documents_are_missing(temp_indices: TempIndices, engine: Engine) -> None:
    index = temp_indices.make({"properties": {"body": {"type": "text"}}})
    fill(temp_indices, index, {str(number): {"body": "some words"} for number in range(3)})
    found = inspect_indices(engine, index)

    assert (3, 3, 1.0) == (found.document_count, found.missing_count, found.missing_share)
    assert (Sample(0, 0, 0), None) == (found.sample, the_only_index(found).counts.failed_count)


@in_both_engines
def test_each_index_behind_an_alias_has_its_own_settings(temp_indices: TempIndices, engine: Engine) -> None:
    """The sample is drawn from all indices, within the filter of the alias. A closed index is named."""
    four = Settings(Analysis(shingle_size=4))
    first, second, closed = temp_indices.make(mapping()), temp_indices.make(mapping(four)), articles(temp_indices)
    fill(temp_indices, first, {f"a{n}": document(words(n, n + 60)) | {"team": "red"} for n in range(5)})
    fill(temp_indices, second, {f"b{n}": document(words(n, n + 60), settings=four) | {"team": "red"} for n in range(4)})
    others = {"c": document(words(0, 9), of="other words than these are"), "d": {"body": "x", "team": "blue"}}
    fill(temp_indices, second, others)
    alias, red = (
        temp_indices.alias(first, second, closed),
        temp_indices.alias(first, second, filter={"term": {"team.keyword": "red"}}),
    )
    call(temp_indices.engine, "POST", f"/{closed}/_close")
    whole, part = inspect_indices(engine, alias), inspect_indices(engine, red)

    assert {first: 5, second: 6} == {
        inspected.index.name: inspected.counts.document_count for inspected in whole.index_inspections
    }
    assert (1, 1) == (
        whole.missing_count,
        sum(inspected.counts.other_settings_count for inspected in whole.index_inspections),
    )
    assert Sample(9, 9, 0) == whole.sample
    assert [(closed, f"the index is closed; open it with `POST /{closed}/_open`")] == [
        (index.index, index.reason) for index in whole.skipped_indices
    ]
    assert (9, 0) == (part.document_count, part.missing_count)
    assert 11 == inspect_indices(engine, f"{first},{second}").document_count


def test_a_missing_index_or_text_field_is_an_error(temp_indices: TempIndices, engine: Engine) -> None:
    with pytest.raises(StoreNotFoundError, match="test-nothing"):
        inspect_indices(engine, "test-nothing")
    with pytest.raises(LocationError, match="no document has a field bodi; choose a text field: body"):
        inspect_indices(engine, articles(temp_indices), text_fields=["bodi"])


def test_the_cost_does_not_grow_with_the_index(temp_indices: TempIndices) -> None:
    """The cost is the number of requests and the size of the responses."""
    sizes = []
    for number in (30, 2000):
        index = temp_indices.make(mapping())
        fields = fingerprint_field(words(0, 60))
        fill(temp_indices, index, {str(id): {"body": words(0, 60), "simdoc": fields} for id in range(number)})
        with serving(forward(temp_indices.engine)) as server:
            through, read = server.handle, [0]

            def count(request: Request) -> Any:
                given = through(request)  # noqa: B023
                read[0] += len(given.body) if given else 0  # noqa: B023
                return given

            server.handle = count
            with to(server.url) as engine:
                found = inspect_indices(engine, index, sample_size=20)
            sizes.append((len(server.requests), read[0]))

        assert (number, 20) == (found.document_count, found.sample.sampled_count)
    assert sizes[0][0] == sizes[1][0] < 15
    assert sizes[1][1] < 1.2 * sizes[0][1]


# --- the sample ---


def test_the_interval_has_the_stated_confidence() -> None:
    """The test draws 2,000 samples of 200 from 1,000 documents."""
    rng = np.random.default_rng(5)
    for stale in (5, 20, 200):
        counts = rng.hypergeometric(stale, 1000 - stale, 200, 2000).tolist()
        intervals = {count: Sample(1000, 200, count).stale_share_interval for count in set(counts)}
        low, high = np.array([intervals[count] for count in counts]).T

        assert 0.93 <= np.mean((low <= stale / 1000) & (stale / 1000 <= high)) <= 0.999
    assert (0.0, 1.0) == Sample(10, 0, 0).stale_share_interval
    assert Sample(10**6, 200, 0).stale_share_interval[1] == pytest.approx(0.0188, abs=1e-3)


def test_fingerprints_are_compared_only_with_known_text_fields(temp_indices: TempIndices, engine: Engine) -> None:
    """A field that no document has does not make all documents stale."""
    index = temp_indices.make({**mapping(recorded=None), "dynamic": False})
    fill(temp_indices, index, {"a": document(words(0, 60)), "list": {"simdoc": [fingerprint_field(words(0, 60))]}})
    unknown, known, misspelt = (
        inspect_indices(engine, index, text_fields=fields).sample for fields in ((), ["body"], ["bodi"])
    )

    assert "set the field with --text-field" in unknown.not_compared_reason
    assert {"list": "is not an object"} == unknown.faults_by_id
    assert Sample(2, 2, 1, ("list",)) == known
    assert "no sampled document has a text in the field 'bodi'; choose another field" in misspelt.not_compared_reason


def test_fingerprints_with_a_secret_key_are_compared_only_with_the_key(
    temp_indices: TempIndices, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings().with_key(resolve_hash_key("a secret of some length"))
    index = temp_indices.make(mapping(settings))
    fill(temp_indices, index, {"a": document(words(0, 60), settings=settings)})
    found = inspect_indices(engine, index)
    monkeypatch.setenv("SIMDOC_HASH_KEY", "a secret of some length")

    assert (1, True) == (the_only_index(found).counts.current_count, "key" in found.sample.not_compared_reason)
    assert Sample(1, 1, 0) == inspect_indices(engine, index).sample


# --- pipelines ---


def test_the_state_of_the_pipeline_is_reported(temp_indices: TempIndices, engine: Engine) -> None:
    """A pipeline may call another one."""
    index, name = temp_indices.make(mapping()), temp_indices.name()
    bodies: dict[str, Any] = {
        "fits": build_pipeline_body(),
        "different": build_pipeline_body(Settings(Analysis(shingle_size=4))),
        "title": build_pipeline_body(text_field="title"),
        "field": build_pipeline_body(field="simdoc_2"),
        "unrelated": {"processors": [{"set": {"field": "seen", "value": True}}]},
        "calls": {"processors": [{"pipeline": {"name": f"{name}-fits"}}]},
    }
    states = {"title": "different", "field": "different", "calls": "fits"}

    def pipeline() -> Any:
        return the_only_index(inspect_indices(engine, index, sample_size=0)).pipeline

    assert ("none", "") == (pipeline().state, pipeline().name)
    for kind, body in bodies.items():
        call(temp_indices.engine, "PUT", f"/_ingest/pipeline/{name}-{kind}", body)
        call(temp_indices.engine, "PUT", f"/{index}/_settings", {"index.final_pipeline": f"{name}-{kind}"})

        assert states.get(kind, kind) == pipeline().state
        assert (f"{name}-{kind}", "final_pipeline") == (pipeline().name, pipeline().setting)
    call(temp_indices.engine, "PUT", f"/{index}/_settings", {"index.final_pipeline": f"{name}-none"})
    assert "missing" == pipeline().state
    install = f"template install {temp_indices.engine} --pipeline --name {name}-none --text-field body --index {index}"
    assert f"which does not exist, so writes fail; run `simdoc-search {install}`, or set" in str(pipeline())
    answer(*install.split())
    assert "fits" == pipeline().state
    settings = {"index.default_pipeline": f"{name}-fits", "index.final_pipeline": f"{name}-missing"}
    call(temp_indices.engine, "PUT", f"/{index}/_settings", settings)
    assert ("fits", "default_pipeline") == (pipeline().state, pipeline().setting)
    call(
        temp_indices.engine,
        "PUT",
        f"/{index}/_settings",
        {"index.final_pipeline": None, "index.default_pipeline": None},
    )
    call(temp_indices.engine, "DELETE", f"/_ingest/pipeline/{name}-*")


# --- the command ---


def test_the_command_prints_one_line_per_state(temp_indices: TempIndices) -> None:
    """`--json` has numbers. The thresholds of the index are shown only if it stores them."""
    place = f"{temp_indices.engine}/{articles(temp_indices)}"
    shown, found = output("status", place), answer("status", place)
    output("defaults", "--max-distance", "3", "--store", place)
    size = r"[\d.]+ kB"

    assert re.search(rf"^documents      15 in 1 index, {size}$", shown, re.MULTILINE)
    assert "fingerprinted  11 (1 with a text that has no words)\nmissing        4 (26.7 %): '" in shown
    assert "stale          3 of 10, all compared: 'malformed', 'stale/1', 'stale/2'\n" in shown
    assert "errors         3 documents that the engine's pipeline could not fingerprint: " in shown
    assert "               2: the text has N characters, too many\n" in shown
    assert "pipeline       none, because index.final_pipeline does not name a pipeline\n" in shown
    assert "\x1b" not in shown
    assert (3, 10, 0.3) == tuple(found["staleness"][name] for name in ("stale_count", "sampled_count", "share"))
    assert {"state": "none", "name": "", "setting": "", "command": ""} == found["indices"][0]["pipeline"]
    assert "similar  " not in shown
    assert "similar        sentences whose hashes differ in at most 3 of 64 bits\n" in output("status", place)
    assert {"min_share": 0.5, "min_smaller_share": 0.1, "max_distance": 3, "min_score": 0.5} == answer("status", place)[
        "thresholds"
    ]


def test_an_estimate_is_shown_with_its_interval(temp_indices: TempIndices) -> None:
    index = temp_indices.make(mapping())
    fill(temp_indices, index, {str(number): document(words(0, 60)) for number in range(50)})
    shown = output("status", f"{temp_indices.engine}/{index}", "--sample", "20")

    assert "stale          about 0 of 50 (0.0 %; with 95 % confidence 0.0 % to 10." in shown
    assert " %), based on 0 of 20 drawn at random\n" in shown


def test_the_size_of_a_sample_with_all_documents_is_named_if_an_estimate_exceeds_a_threshold(
    temp_indices: TempIndices,
) -> None:
    index = temp_indices.make(mapping())
    fill(temp_indices, index, {str(n): document(words(0, 60), of=words(500, 560)) for n in range(30)})
    place = f"{temp_indices.engine}/{index}"
    lines = run("status", place, "--max-stale", "1%", "--sample", "20").stderr.splitlines()

    start = "100.0 % of the fingerprints are stale, more than 1.0 %"
    assert f"about {start}; for the exact share, add --sample 30" == lines[0]
    assert start == run("status", place, "--max-stale", "1%", "--sample", "30").stderr.splitlines()[0]


def test_a_note_says_that_an_estimate_within_a_threshold_may_exceed_it(temp_indices: TempIndices) -> None:
    index = temp_indices.make(mapping())
    fill(temp_indices, index, {str(n): document(words(0, 60)) for n in range(30)})
    place = f"{temp_indices.engine}/{index}"
    note = "note: the share of stale fingerprints may still be more than 1.0 %, because it is an estimate"

    estimated = run("status", place, "--max-stale", "1%", "--sample", "20")
    assert (0, f"{note}; for the exact share, add --sample 30") == (
        estimated.exit_code,
        estimated.stderr.splitlines()[0],
    )
    for options in (["--max-stale", "1%", "--sample", "30"], ["--max-stale", "90%", "--sample", "20"]):
        assert "note: " not in run("status", place, *options).stderr


def test_thresholds_decide_the_exit_status(temp_indices: TempIndices) -> None:
    """The result is on stdout, and each exceeded threshold on stderr."""
    place = f"{temp_indices.engine}/{articles(temp_indices)}"
    stale = "30.0 % of the fingerprints are stale, more than 1.0 %"
    missing = "26.7 % of the documents have no fingerprint, more than 10.0 %"
    advice = f"to bring all fingerprints up to date, run `simdoc-search backfill {place} --stale`\n"

    assert 0 == run("status", place, "--max-stale", "30%", "--max-missing", "27").exit_code
    both = run("status", place, "--json", "--max-stale", "1%", "--max-missing", "10 %")
    assert advice == run("status", place).stderr
    assert "" == run("status", place, "--json").stderr
    assert (1, f"{stale}\n{missing}\n{advice}", 15) == (
        both.exit_code,
        both.stderr,
        json.loads(both.stdout)["document_count"],
    )
    assert "no sample was requested" in sentence(run("status", place, "--max-stale", "1%", "--sample", "0"))
    for wrong in ("x", "101%", "-1"):
        assert "is not a percentage, such as 1%" in usage_error(run("status", place, "--max-stale", wrong))


def test_the_advice_names_the_text_field_that_the_mapping_does_not_record(temp_indices: TempIndices) -> None:
    index = temp_indices.make({"properties": {"body": {"type": "text"}, "title": {"type": "text"}}})
    fill(temp_indices, index, {"a": {"body": words(0, 60), "title": "a title"}})
    place = f"{temp_indices.engine}/{index}"
    guess = "(body is a guess; the text fields in the mapping are body, title)"
    command = f"backfill {place} --text-field body --stale"

    assert f"to add fingerprints, run `simdoc-search {command}` {guess}\n" == run("status", place).stderr
    assert run("status", place, "--text-field", "title").stderr.endswith(
        f"backfill {place} --text-field title --stale`\n"
    )
    output(*command.split())
    assert "" == run("status", place).stderr


def test_stale_documents_that_are_not_named_are_counted(temp_indices: TempIndices) -> None:
    index = temp_indices.make(mapping())
    stale = {f"stale/{n}": document(words(0, 60), of=words(500, 560)) for n in range(12)}
    fill(temp_indices, index, stale | {"fine": document(words(0, 60))})
    shown = output("status", f"{temp_indices.engine}/{index}")

    assert re.search(r"^stale          12 of 13, all compared: ('stale/\d+', ){4}'stale/\d+' and 7 more$", shown, re.M)


def test_metrics_are_in_the_format_of_prometheus(temp_indices: TempIndices) -> None:
    index = articles(temp_indices)
    shown = output("status", f"{temp_indices.engine}/{index}", "--prometheus").splitlines()

    assert "# TYPE simdoc_missing_documents gauge" in shown
    assert f'simdoc_missing_documents{{name="{index}",index="{index}"}} 4' in shown
    assert f'simdoc_stale_ratio{{name="{index}"}} 0.3' in shown
    assert "give either --json or --prometheus" in usage_error(run("status", "URL", "--prometheus", "--json"))


def test_an_engine_that_is_down_or_forbids_is_an_error() -> None:
    assert "no response from" in sentence(run("status", f"{unused_url()}/articles"))
    with serving(lambda _: error(403, "security_exception", "no permissions")) as server:
        assert "denied the request (no permissions)" in sentence(run("status", f"{server.url}/articles"))


def test_sizes_and_pipelines_may_be_hidden(temp_indices: TempIndices) -> None:
    index = articles(temp_indices)
    call(temp_indices.engine, "PUT", f"/{index}/_settings", {"index.final_pipeline": "theirs"})
    through, hidden = forward(temp_indices.engine), error(403, "security_exception", "no permissions")

    def handle(request: Request) -> Any:
        return hidden if "/_stats" in request.path or "/_ingest" in request.path else through(request)

    with serving(handle) as server:
        shown = output("status", f"{server.url}/{index}")

    assert "documents      15 in 1 index\n" in shown
    assert "pipeline       index.final_pipeline is set to theirs, which you have no permission to read\n" in shown


# --- documents without a text, and compared documents ---


def test_documents_without_a_text_are_counted_separately(temp_indices: TempIndices) -> None:
    """They need no fingerprint. `backfill` removes the fingerprint of a removed text."""
    index = temp_indices.make(mapping())
    url = f"{temp_indices.engine}/{index}"
    fill(temp_indices, index, {f"fine/{number}": document(words(number, number + 60)) for number in range(4)})
    fill(temp_indices, index, {"late/1": {"body": None}, "late/2": {"title": "x"}, "missing": {"body": words(0, 60)}})
    fill(temp_indices, index, {"gone": {"body": [], "simdoc": document(words(0, 60))["simdoc"]}})
    shown, found = output("status", url), answer("status", url)
    checked = run("check", url).stdout
    done = output("backfill", url)
    assert "" == run("status", url).stderr
    after = answer("status", url, "--max-missing", "0")

    assert "fingerprinted  5\nwithout text   2 (no fingerprint needed)\nmissing        1 (12.5 %): 'missing'\n" in shown
    assert "text removed   1 document with a fingerprint but no text\n" in shown
    assert "stale          1 of 5, all compared: 'gone'\n" in shown
    assert (2, 1) == (found["without_text_count"], found["missing_count"])
    assert f"1 document has a fingerprint but no text; run `simdoc-search backfill {url}`\n" in checked
    assert "1 document updated, 0 unchanged, 1 without a text any more (fingerprint removed), 6 not read (" in done
    assert (3, 0, 0) == (after["without_text_count"], after["missing_count"], after["staleness"]["stale_count"])


@in_both_engines
def test_the_printed_request_lists_all_missing_documents(temp_indices: TempIndices) -> None:
    """Documents without a text are not listed. The name of a field may have any characters."""
    names = ["cm:content", "a body"]
    texts = {name: {"type": "text"} for name in names}
    index = temp_indices.make({"properties": mapping(recorded=None)["properties"] | texts})
    output("backfill", f"{temp_indices.engine}/{index}", *(f"--text-field={name}" for name in names))
    missing = {f"missing/{number}": {names[number % 2]: words(0, 60)} for number in range(7)}
    fill(temp_indices, index, {**missing, "empty": {"title": "x"}, "fine": document(words(0, 60))})
    first, request = output("status", f"{temp_indices.engine}/{index}").split("missing  ")[1].splitlines()[:2]

    assert re.search(r" 7 \(77\.8 %\): 'missing/\d'(, 'missing/\d'){4} and 2 more$", first)
    [url] = shlex.split(request.partition(" list them with: curl ")[2])
    found = call(temp_indices.engine, "GET", url.removeprefix(temp_indices.engine))["hits"]["hits"]
    assert set(missing) == {hit["_id"] for hit in found}


def test_documents_without_a_text_may_be_among_the_missing(temp_indices: TempIndices) -> None:
    """If the field is not indexed, no query can tell which documents have a text."""
    fields = mapping()["properties"] | {"body": {"type": "text", "index": False}}
    index = temp_indices.make({"properties": fields})
    fill(temp_indices, index, {"fine": document(words(0, 60)), "late": {"body": None}})

    assert "missing        1 (50.0 %), including documents without a text: 'late'\n" in output(
        "status", f"{temp_indices.engine}/{index}"
    )


@in_both_engines
def test_compared_documents_are_not_drawn(temp_indices: TempIndices) -> None:
    """If the sample has all documents written since, the number is exact. Otherwise the interval is narrower."""
    index = temp_indices.make(mapping())
    url = f"{temp_indices.engine}/{index}"
    fill(temp_indices, index, {str(number): {"body": words(number, number + 60)} for number in range(100)})
    output("backfill", url, "--stale")
    quiet = output("status", url)
    for number in range(10):
        part = {"doc": {"body": words(500, 560)} if number < 5 else {"views": 1}}
        call(temp_indices.engine, "POST", f"/{index}/_update/{number}?refresh", part)
    exact, drawn, checked = output("status", url), run("status", url, "--sample", "5"), run("check", url).stdout
    found = answer("status", url)["staleness"]

    assert "stale          none of 100, because no document was written since the last `backfill --stale`\n" in quiet
    assert (
        "stale          5 of 100, after comparing 10 documents written during or after the last `backfill --stale`: '0'"
        in exact
    )
    [staleness] = re.findall("^stale +(.*)", exact, re.MULTILINE)
    assert f"stale fingerprints: {staleness}; queries use the old texts until you run" in checked
    assert "drawn at random from 10 documents written during or after the last `backfill --stale`" in drawn.stdout
    names = ("already_compared_count", "sampled_count", "stale_count", "at_least", "at_most")
    assert (90, 10, 5, 0.05, 0.05) == tuple(found[name] for name in names)


def test_an_estimate_names_the_command_that_compares_all_documents(temp_indices: TempIndices) -> None:
    """Another program wrote during the last `backfill --stale`, so what that run wrote is not known to be current."""
    index = temp_indices.make(mapping(recorded=None))
    url = f"{temp_indices.engine}/{index}"
    fill(temp_indices, index, {str(number): {"body": words(number, number + 60)} for number in range(30)})

    def meanwhile(number: int) -> None:
        if number == 0:
            fill(temp_indices, index, {"late": document(words(0, 60))})

    with interposed(temp_indices, meanwhile) as (through, _):
        backfill(through, index, stale=True)
    estimate, exact = run("status", url, "--sample", "5"), run("status", url)
    command = f"simdoc-search backfill {url} --stale"
    compared = output(*shlex.split(command)[1:])
    again = output(*shlex.split(command)[1:])
    after = run("status", url, "--sample", "5")

    assert "0 of 5 drawn at random from 31 documents written during or after the last" in estimate.stdout
    assert f"to compare all 31 documents instead of a sample, run `{command}`\n" == estimate.stderr
    assert "stale          0 of 31, all compared\n" in exact.stdout
    assert "stale          none of 31, because no document was written since the last" in after.stdout
    assert ["", ""] == [exact.stderr, after.stderr]
    assert "" == run("status", url, "--sample", "0").stderr
    assert compared.startswith("0 documents updated, 31 unchanged (")
    assert again.startswith("0 documents updated, 0 unchanged, 31 not read (compared before, or without text) (")


def test_indices_that_were_not_all_compared_are_not_called_written_since(temp_indices: TempIndices) -> None:
    """After a rollover, `backfill --stale` has not compared the new index."""
    first, second = (temp_indices.make(mapping()) for _ in range(2))
    for index in (first, second):
        fill(temp_indices, index, {str(number): document(words(number, number + 60)) for number in range(9)})
    output("backfill", f"{temp_indices.engine}/{first}", "--stale")
    both, only_second = (
        output("status", f"{temp_indices.engine}/{name}", "--sample", size)
        for name, size in ((f"{first},{second}", "50"), (second, "5"))
    )

    assert "stale          0 of 18, after comparing 9 documents that `backfill --stale` has not compared\n" in both
    assert "0 of 5 drawn at random\n" in only_second


def test_the_url_can_be_in_the_environment(temp_indices: TempIndices) -> None:
    url = f"{temp_indices.engine}/{temp_indices.make(mapping())}"

    assert url == answer("status", SIMDOC_STORE=url)["url"]
    assert "give the URL of the index, or set SIMDOC_STORE to it" == usage_error(run("status"))
