"""The commands of the pages for operators and applications run with real engines."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from simdoc_search.attach import field_removal, removal
from simdoc_search.attach.index_template import read_index_templates
from simdoc_search.attach.indices import describe_indices
from simdoc_search.attach.pipeline import build_pipeline_body
from simdoc_search.attach.search_templates import build_search_templates
from simdoc_search.attach.update_by_query import UpdateResult, update_by_query
from simdoc_search.devengine import start_cluster
from simdoc_search.stores import open_store
from simdoc_search.stores.remote.engine import Engine
from tests.support.backfill import load, to
from tests.support.cli import answer, output, run, sentence
from tests.support.engines import call, each_engine, need_packages, own_name
from tests.support.http_server import indices
from tests.support.pages import mask_numbers, omit_lines, page_commands, page_steps, run_command
from tests.support.pipeline import expected
from tests.support.programs import program
from tests.support.rolling_index import has_data_streams, rolling

ROOT = Path(__file__).parents[1]
(
    ROLLOVER,
    REINDEX,
    SNAPSHOTS,
    READ_ONLY,
    UPGRADING,
    DATA_STREAMS,
    PIPELINE,
    TEMPLATES,
    PARAMETERS,
    WATCH,
    REMOVE,
    TUTORIAL,
) = (
    (ROOT / "docs" / f"{name}.md").read_text("utf-8")
    for name in (
        *("rollover", "reindex", "snapshots", "read_only", "upgrading", "data_streams", "pipeline"),
        *("search_templates", "search_templates_reference", "watch", "remove", "my_application"),
    )
)
OLD = "2.19.1"


engine_url = each_engine("opensearch", "elasticsearch_7")


@pytest.fixture
def names(engine_url: str) -> Iterator[dict[str, str]]:
    """The names in the pages, and the names in this test."""
    program("curl")
    own = {name: own_name() for name in ("articles", "mails", "backup", "letters", "simdoc-watches")}
    yield {"http://localhost:9200": engine_url, "http://127.0.0.1:9201": engine_url, **own}
    if has_data_streams(engine_url):
        call(engine_url, "DELETE", f"/_data_stream/{own['mails']}", allowed_statuses=(404,))
    pipelines = [own["articles"], f"{own['articles']}_2", own["letters"]]
    places = [f"_index_template/{own[name]}" for name in ("articles", "mails")]
    places += [f"_ingest/pipeline/{name}" for name in pipelines]
    places += [f"{own['articles']}*,{own['letters']},{own['simdoc-watches']}?ignore_unavailable=true"]
    for place in (*reversed(places), "_component_template/simdoc_2"):
        call(engine_url, "DELETE", f"/{place}", allowed_statuses=(404,))


# --- the pages of docs/operating.md ---


def test_indices_are_operated_by_the_commands_of_the_page(engine_url: str, names: dict[str, str]) -> None:
    """Each `similar` finds the other document, in whatever index it is."""
    has_streams = has_data_streams(engine_url)
    pages = "\n".join([ROLLOVER, REINDEX, SNAPSHOTS, READ_ONLY, UPGRADING, *[DATA_STREAMS] * has_streams])
    hits = []
    for command in page_commands(pages, names):
        if command.startswith("simdoc-search similar"):
            hits.append([hit["id"] for hit in json.loads(run_command(f"{command} --json"))["hits"]])
        elif printed := run_command(command):
            values = json.loads(printed) if command.startswith("curl") else {}
            assert not {"error", "errors", "failures"} & {key for key, value in values.items() if value}

    assert [["41"]] * 7 + [["1"]] * has_streams == hits


@pytest.mark.slow
@pytest.mark.usefixtures("engine_home")
def test_the_next_version_of_an_engine_reads_the_data(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    """An OpenSearch 2.19 is upgraded to the newest version. The commands of the page find nothing wrong."""
    need_packages(pytestconfig)
    text = "The tenant may keep one dog or two cats, if no neighbour complains of them within a month, or of number"
    engine = start_cluster(port=0, heap="512m", version=OLD, data=tmp_path / "engine")
    try:
        with rolling(engine.url) as articles:
            articles.write("41", {"body": f"{text} 41"})
            engine.stop()
            engine = start_cluster(port=engine.port, heap="512m", data=tmp_path / "engine")
            assert OLD != engine.version == call(articles.engine, "GET", "/")["version"]["number"]

            articles.roll_over()
            articles.write("42", {"body": f"{text} 42"})
            section = UPGRADING.partition("\n## Upgrade the engine\n")[2].partition("\n## ")[0]
            for command in page_commands(section, {"http://localhost:9200": engine.url, "articles": articles.name}):
                run_command(command)
            for source, hit in (("41", "42"), ("42", "41")):
                assert [hit] == [found["id"] for found in answer("similar", source, "--store", articles.url)["hits"]]
    finally:
        engine.stop()


# --- docs/pipeline.md ---


def test_the_pipeline_is_installed_by_the_commands_of_the_page(
    engine_url: str, names: dict[str, str], tmp_path: Path
) -> None:
    shutil.copytree(ROOT / "index_templates", tmp_path / "index_templates")
    articles, letters = names["articles"], names["letters"]
    letter = {"subject": "A letter", "text": "which was there before the pipeline came"}
    call(engine_url, "PUT", f"/{letters}/_doc/1?refresh=true", letter)
    with_one_command, _, without_python = PIPELINE.partition("\n## Without Python\n")
    commands = page_commands(f"{without_python}\n{with_one_command}", names)  # so that there is a template to extend
    printed = [run_command(command, tmp_path) for command in commands]
    document = call(engine_url, "GET", f"/{articles}/_doc/1")["_source"]
    call(engine_url, "PUT", f"/{articles}/_doc/2?refresh=true", {"body": document["body"]})

    assert "nothing would be changed" in "".join(printed)
    assert expected(document["body"]) == document["simdoc"]
    assert ["2"] == [hit["id"] for hit in answer("similar", "1", "--store", f"{engine_url}/{articles}")["hits"]]
    ours = call(engine_url, "GET", f"/{letters}/_doc/1")["_source"]["simdoc"]
    assert expected("\n".join(letter.values())) == ours


def test_the_shipped_pipeline_is_current() -> None:
    """Write it with: simdoc-search template show --pipeline > index_templates/simdoc.pipeline.json"""
    assert build_pipeline_body() == json.loads((ROOT / "index_templates/simdoc.pipeline.json").read_text("ascii"))


# --- docs/search_templates.md, docs/search_templates_reference.md, docs/watch.md ---


def test_an_application_queries_by_the_commands_of_the_page(names: dict[str, str]) -> None:
    """Two documents are saved, one finds the other, and it is a copy of the watched one."""
    watches = f"simdoc-search watch --watches {names['simdoc-watches']}"
    options = {"simdoc-search watch": watches, "--search --pipeline": "--force --search --pipeline"}
    printed = [
        (command, run_command(command))
        for command in page_commands(f"{TEMPLATES}\n{PARAMETERS}\n{WATCH}", {**names, **options})
    ]
    answers: list[Any] = [json.loads(text) for command, text in printed if command.startswith("curl")]
    similar, simulated, source, banded, copied = (
        reply for reply in answers if not {"result", "acknowledged"} & reply.keys()
    )
    watch, arrived, _, removed = (text for command, text in printed if " watch " in command)

    assert [("41", "Notice")] == [(hit["_id"], hit["_source"]["title"]) for hit in similar["hits"]["hits"]]
    assert [("42", {"simdoc.buckets": [17]})] == [(hit["_id"], hit["fields"]) for hit in source["hits"]["hits"]]
    assert {"tokens", "buckets"} < simulated["docs"][0]["doc"]["_source"]["simdoc"].keys()
    bands = banded["docs"][0]["doc"]["_source"]
    assert ({"any_of", "min_tokens", "overlap", "buckets"}, 4) == (
        bands["bands"].keys(),
        len(bands["simdoc"]["tokens"].split()),
    )
    assert ["42"] == [hit["_source"]["watched"]["id"] for hit in copied["hits"]["hits"]]
    assert similar["hits"]["hits"][0]["_score"] == copied["hits"]["hits"][0]["_score"]
    assert watch.startswith("42 is watched for copies with an overlap of 60 % or more")
    assert ("41 is a copy of:", "1 watch removed\n") == (arrived.splitlines()[0], removed)


# --- docs/my_application.md ---


def test_the_tutorial_about_an_application_shows_what_its_commands_print(opensearch_url: str) -> None:
    """The indices and pipelines have other names. The searches find the document and both similar ones."""
    found: list[str] = []
    with indices(opensearch_url) as made:
        name = made.name()
        names = {"http://127.0.0.1:9201": opensearch_url, "articles": name}
        try:
            for command, shown in page_steps(TUTORIAL, names):
                if not command.startswith("simdoc-search engine"):
                    printed = run_command(command.replace("--search", "--force --search"))
                    found += re.findall(r'"_id":"(\w+)","_score"', printed)
                    printed = printed.replace("simdoc was already installed", "simdoc is installed")  # by another test
                    expected = shown.splitlines()
                    lines = omit_lines(printed.splitlines(), expected) if shown else []
                    assert mask_numbers(expected) == mask_numbers(lines), command
        finally:
            call(opensearch_url, "PUT", f"/{name}/_settings", {"index.final_pipeline": "_none"})
            call(opensearch_url, "DELETE", f"/_ingest/pipeline/{name}", allowed_statuses=(404,))

    assert ["notice", "lease", "draft"] == found


# --- docs/remove.md ---


def test_everything_is_removed_by_the_commands_of_the_page(
    engine_url: str, names: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Our fields, templates, pipelines and watches. Later writes succeed. The pipeline cannot fingerprint a number."""
    text = "Descale the kettle every month, and rinse it"
    with indices(engine_url) as made, to(engine_url) as engine:
        articles, watches = made.make({"properties": {"body": {"type": "text"}}}), made.name()
        # The engine has the indices and index templates of other tests, which are running at the same time.
        everything = [articles, watches]
        monkeypatch.setattr(
            removal,
            "describe_indices",
            lambda engine, name, field: describe_indices(engine, ",".join(everything) if name == "*" else name, field),
        )
        monkeypatch.setattr(
            removal,
            "read_index_templates",
            lambda engine: {
                name: body for name, body in (read_index_templates(engine) or {}).items() if name == names["articles"]
            },
        )
        monkeypatch.setattr(removal, "DEFAULT_WATCHES_INDEX", watches)
        template = {"priority": 500, "index_patterns": [articles], "template": {"settings": {"number_of_replicas": 0}}}
        engine.call("PUT", ["_index_template", names["articles"]], template)
        setup = ["--search", "--pipeline", "--name", articles, "--text-field", "body", "--index", articles, "--force"]
        output("template", "install", engine_url, *setup, "--index-template", names["articles"])
        load(engine, articles, {"1": {"body": text}, "2": {"body": f"{text} {text}"}, "number": {"body": 5}})
        assert "error" in engine.call("GET", [articles, "_doc", "number"])["_source"]["simdoc"]
        output("watch", "1", "--store", f"{engine_url}/{articles}", "--watches", watches)
        places = [["_scripts", name] for name in build_search_templates()]
        places += [[watches], ["_component_template", "simdoc"], ["_ingest", "pipeline", articles]]
        dry_run, removed = (run_command(command) for command in page_commands(REMOVE, {**names, "articles": articles}))
        load(engine, articles, {"3": {"body": text}})
        hits = engine.search(articles, {"size": 10})["hits"]["hits"]
        [kept] = engine.call("GET", ["_index_template", names["articles"]])["index_templates"]

        assert dry_run.replace("would be", "were") == removed
        assert f"  remove the field simdoc from 3 documents of {articles}" in removed.splitlines()
        assert {id: {"body"} for id in ("1", "2", "number", "3")} == {hit["_id"]: {*hit["_source"]} for hit in hits}
        assert [None] * 9 == [engine.call("GET", place, allowed_statuses=(404,)) for place in places]
        assert {"settings": {"index": {"number_of_replicas": "0"}}} == kept["index_template"]["template"]
        everything.remove(watches)
        assert "nothing to remove\n" == output("template", "remove", engine_url, "--index", articles)


def test_what_other_indices_use_is_kept(engine_url: str) -> None:
    """The pipeline of two indices is deleted with the second one. Without an index, nothing of theirs is deleted."""
    mapping = {"properties": {"body": {"type": "text"}}}
    with indices(engine_url) as made, to(engine_url) as engine:
        first, second, field = made.make(mapping), made.make(mapping), f"own_{uuid4().hex}"
        setup = ["--pipeline", "--name", field, "--field", field, "--index", f"{first},{second}"]
        output("template", "install", engine_url, *setup)
        load(engine, second, {"1": {"body": "Descale the kettle every month, and rinse it"}})
        remove = ["template", "remove", engine_url, "--field", field]
        all_kept = answer(*remove)["warnings"]
        results = [answer(*remove, "--index", name) for name in (first, second)]
        kept, then_kept = ([line for line in result["warnings"] if field in line] for result in results)
        changes = [result["changes"] for result in results]
        settings = engine.call("GET", [first, "_settings"])[first]["settings"]

    advice = "; to remove the fingerprints of an index, add --index NAME"
    both = ", ".join(f"the index {each}" for each in sorted((first, second)))
    assert [
        f"kept pipeline {field}: still used by {both}{advice}",
        f"kept component template {field}: still used by the index {second}{advice}",
    ] == [line for line in all_kept if field in line]
    assert f"kept pipeline {field}, component template {field}: still used by the index {second}" in kept
    assert [f"remove index.final_pipeline from {first}"] == changes[0]
    assert "final_pipeline" not in settings["index"]
    assert [f"delete the pipeline {field}", f"delete the component template {field}"] == changes[1][-2:]
    assert [f"the mapping of {second} keeps the empty field {field}"] == then_kept


@pytest.mark.parametrize("is_installed_again", [False, True])
def test_an_interrupted_removal_is_completed_by_the_next_one(
    engine_url: str, monkeypatch: pytest.MonkeyPatch, is_installed_again: bool
) -> None:
    """The next one finds the pipeline that no index names any more. An installation revokes the deletion."""

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    mapping = {"properties": {"body": {"type": "text"}}}
    with indices(engine_url) as made, to(engine_url) as engine:
        name, other, field = made.make(mapping), made.make(mapping), f"own_{uuid4().hex}"
        install = ["template", "install", engine_url, "--pipeline", "--name", name, "--field", field]
        remove = ["template", "remove", engine_url, "--field", field]
        output(*install, "--index", name)
        with monkeypatch.context() as patch:
            patch.setattr(field_removal, "update_by_query", interrupt)
            interrupted = run(*remove, "--index", name)
        setting = engine.call("GET", [name, "_settings"])[name]["settings"]["index"].get("final_pipeline")
        if is_installed_again:
            output(*install)
        changes = answer(*remove, "--index", other)["changes"]
        pipeline = engine.call("GET", ["_ingest", "pipeline", name], allowed_statuses=(404,))
        left = answer(*remove)["changes"]  # a pipeline that no index names, without an index that has fingerprints

    advice = "Run the same command again to make the others"
    assert (130, f"Error: interrupted; some changes may already be made. {advice}\n") == (
        interrupted.exit_code,
        interrupted.stderr,
    )
    assert setting is None
    assert ([f"delete the pipeline {name}"] if not is_installed_again else []) == [
        change for change in changes if "pipeline" in change
    ]
    assert is_installed_again == bool(pipeline)
    assert ([f"delete the pipeline {name}"] if is_installed_again else []) == [
        change for change in left if "pipeline" in change
    ]


def update_in_bulk(engine: Engine, index: str, id: str, body: dict[str, Any]) -> None:
    """Update a document past the pipeline."""
    lines = "".join(f"{json.dumps(line)}\n" for line in ({"update": {"_id": id}}, body))
    assert not engine.call("POST", [index, "_bulk"], lines.encode(), refresh=True)["errors"]


def read_hits(engine: Engine, index: str) -> dict[str, dict[str, Any]]:
    """Return all documents of an index with their sequence numbers, by id."""
    hits = engine.search(index, {"size": 100, "seq_no_primary_term": True})["hits"]["hits"]
    return {hit["_id"]: hit for hit in hits}


@pytest.mark.parametrize("interrupted_at", [None, 1, 2])
def test_no_null_is_left_in_a_document(
    engine_url: str, monkeypatch: pytest.MonkeyPatch, interrupted_at: int | None
) -> None:
    """Bulk requests set the field to null, and no query finds null. Other documents are not written."""
    text, field, updates = "Descale the kettle every month, and rinse it", f"own_{uuid4().hex}", 0

    def update_or_interrupt(*args: Any, **options: Any) -> UpdateResult:
        nonlocal updates
        updates += 1
        if updates == interrupted_at:
            raise KeyboardInterrupt
        return update_by_query(*args, **options)

    with indices(engine_url) as made, to(engine_url) as engine:
        mapping = {"dynamic": "strict", "properties": {"body": {"type": "text"}}}
        name, copy = made.make(mapping, {"number_of_shards": 2}), made.make(mapping)
        remove = ["template", "remove", engine_url, "--field", field]
        output("template", "install", engine_url, "--pipeline", "--name", name, "--field", field, "--index", name)
        load(engine, name, {"text": {"body": text}, "empty": {"body": None}, "missing": {}, "cleared": {"body": text}})
        update_in_bulk(engine, name, "upsert", {"doc": {"body": None}, "doc_as_upsert": True})
        update_in_bulk(engine, name, "cleared", {"doc": {"body": None}})
        assert 1 == answer("backfill", f"{engine_url}/{name}", "--field", field, "--stale")["removed_count"]
        load(engine, name, {"dotted": {}, "not filled": {"body": text}})
        update_in_bulk(engine, name, "dotted", {"doc": {f"{field}.tokens": None}})
        update_in_bulk(engine, name, "not filled", {"doc": {field: None}})
        before = read_hits(engine, name)
        having_field = {id for id, hit in before.items() if any(key.startswith(field) for key in hit["_source"])}
        planned = answer(*remove, "--index", name, "--dry-run")["changes"]
        with monkeypatch.context() as patch:
            patch.setattr(field_removal, "update_by_query", update_or_interrupt)
            first = run(*remove, "--index", name, "--json")
        rest = answer(*remove, "--index", name)["changes"]
        after = read_hits(engine, name)
        copied = call(engine_url, "POST", "/_reindex", {"source": {"index": name}, "dest": {"index": copy}})
        update_in_bulk(engine, name, "missing", {"doc": {field: None}})
        without_fingerprints = answer(*remove, "--index", name)["changes"]
        output(*remove)

    def of_documents(changes: list[str]) -> list[str]:
        return [change for change in changes if change.startswith("remove the field")]

    all_documents = [f"remove the field {field} from 4 documents of {name}"]
    assert {"text", "upsert", "dotted", "not filled"} == having_field
    assert all_documents == of_documents(planned)
    if interrupted_at is None:
        assert (all_documents, []) == (of_documents(json.loads(first.stdout)["changes"]), of_documents(rest))
    else:
        left = "4 documents" if interrupted_at == 1 else "1 document"
        assert (130, [f"remove the field {field} from {left} of {name}"]) == (first.exit_code, of_documents(rest))
    assert [f"remove the field {field} from 1 document of {name}"] == of_documents(without_fingerprints)
    assert {"body"} >= {key for hit in after.values() for key in hit["_source"]}
    assert having_field == {id for id, hit in after.items() if hit["_seq_no"] != before[id]["_seq_no"]}
    assert (len(after), []) == (copied["created"], copied["failures"])


def test_a_missing_pipeline_stops_the_removal(engine_url: str) -> None:
    """The engine would reject the update of each document. The printed request mends the index."""
    with indices(engine_url) as made, to(engine_url) as engine:
        name, field = made.make({"properties": {"body": {"type": "text"}}}), f"own_{uuid4().hex}"
        remove = ["template", "remove", engine_url, "--index", name, "--field", field]
        without_field = answer(*remove)["warnings"]
        engine.call("PUT", [name, "_settings"], {"index.final_pipeline": f"{name}-gone"})
        refused = sentence(run(*remove))
        *_, url, _, _, _, body = shlex.split(refused.split("`")[1])
        engine.call("PUT", [name, url.rpartition("/")[2]], json.loads(body))
        answer(*remove)

    assert not any(name in warning for warning in without_field)
    assert refused.startswith(f"the pipeline {name}-gone of the index {name} does not exist, so writes fail; run `curl")
    assert url == f"{engine_url}/{name}/_settings"


def test_an_index_of_simdoc_search_is_not_changed(engine_url: str) -> None:
    with indices(engine_url) as made:
        name = made.name()
        open_store(f"{engine_url}/{name}", create=True).close()
        refused = sentence(run("template", "remove", engine_url, "--index", name))
        not_filled = sentence(run("backfill", f"{engine_url}/{name}"))

    assert f"`simdoc-search index` created the index {name}; to remove it, delete the index" in refused
    assert f"`simdoc-search index` created {engine_url}/{name}; update the index with that command" in not_filled
