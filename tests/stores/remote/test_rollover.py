"""TempIndices behind an alias or a data stream that have no fingerprint field, are closed, or are read-only."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from simdoc_search import DocumentKey, SimilaritySearch, open_store
from simdoc_search.attach.actions import fingerprint_field
from simdoc_search.errors import FormatMismatchError, NoFingerprintError, StoreError
from simdoc_search.sketch.minhash import MinHash
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote import indices as behind
from simdoc_search.stores.remote import retry
from simdoc_search.stores.remote.schema import component_template
from tests.support.cli import answer, output, run, sentence, words
from tests.support.engines import call
from tests.support.http_server import TempIndices, indices
from tests.support.web import pages_of

TEXTS = {"a": (0, 200), "b": (0, 190), "c": (50, 200)}
MAPPING = {"body": {"type": "text"}, "sections": {"properties": {"heading": {"type": "text"}}}}


class RolledAlias:
    """A write alias that an application rolls over.

    Attributes:
        url: the address of the alias.
        names: names of the indices behind it, the oldest first.
    """

    def __init__(self, temp_indices: TempIndices) -> None:
        self.alias, self.engine = temp_indices.name(), temp_indices.engine
        self.names = [f"{self.alias}-00000{number}" for number in (1, 2)]
        self.url = f"{self.engine}/{self.alias}"
        aliases = {self.alias: {"is_write_index": True}}
        call(self.engine, "PUT", f"/{self.names[0]}", {"mappings": {"properties": MAPPING}, "aliases": aliases})
        temp_indices.names[-1:] = self.names
        for id, (begin, end) in TEXTS.items():
            self.put(id, begin, end)
        output("backfill", self.url, "--text-field", "body")

    def put(self, id: str, begin: int, end: int, **more: Any) -> None:
        """Write a document to the alias, as an application does."""
        document = {"body": words(begin, end), "sections": {"heading": "One heading for all of them"}, **more}
        call(self.engine, "PUT", f"/{self.alias}/_doc/{id}?refresh=true", document)

    def roll(self, properties: Any = MAPPING) -> None:
        """Create the second index, which receives the next documents."""
        call(self.engine, "POST", f"/{self.alias}/_rollover", {"mappings": {"properties": properties}})

    def close(self, number: int) -> str:
        """Close the index with a number, from 0, and return its name."""
        call(self.engine, "POST", f"/{self.names[number]}/_close")
        return self.names[number]


def two_indices(temp_indices: TempIndices) -> RolledAlias:
    """Return an alias for two indices. The second has one document and no fingerprint field."""
    alias = RolledAlias(temp_indices)
    alias.roll()
    alias.put("new", 0, 195)
    return alias


@pytest.fixture(scope="module")
def rolled_alias(opensearch_url: str) -> Iterator[RolledAlias]:
    """An alias for two indices. Tests do not change it."""
    with indices(opensearch_url) as temp_indices:
        yield two_indices(temp_indices)


def left_out(result: Any) -> list[tuple[str, int | None]]:
    """Return the name and number of documents of each index that a result leaves out."""
    return [(index.index, index.document_count) for index in result.left_out_indices]


def test_queries_are_answered_from_the_indices_that_have_the_field(rolled_alias: RolledAlias) -> None:
    search = SimilaritySearch(open_store(rolled_alias.url))
    result = search.similar("a")
    (second,) = result.left_out_indices

    assert ["b", "c"] == [hit.id for hit in result.hits]
    assert (rolled_alias.names[1], 1) == (second.index, second.document_count)
    assert (
        second.reason
        == f"the index has no field simdoc.tokens; to add fingerprints, run `simdoc-search backfill {rolled_alias.url}`"
    )
    for other in (search.passages("a"), search.versions("a"), search.duplicates(overlap=0.7)):
        assert (second,) == other.left_out_indices
    with pytest.raises(
        NoFingerprintError, match=f"'new' is in the index {rolled_alias.names[1]}, which cannot be queried"
    ):
        search.similar("new")
    assert {"b", "c", "a"} == {hit.id for hit in search.passages("new").hits}


@pytest.mark.parametrize(
    "command",
    [
        ["similar", "--text", words(0, 190)],
        ["passages", "a"],
        ["compare", "a", "b"],
        ["show", "new"],
        ["versions", "a"],
        ["explain", "a_20_80"],
        ["info"],
        ["duplicates", "--overlap", "70"],
    ],
    ids=lambda command: " ".join(command)[:25],
)
def test_each_command_reports_the_index_that_it_leaves_out(rolled_alias: RolledAlias, command: list[str]) -> None:
    reason = "the index has no field simdoc.tokens; to add fingerprints, run"
    note = f"note: 1 document of the index {rolled_alias.names[1]} is not compared: {reason}"
    store = f"{rolled_alias.engine}/{','.join(rolled_alias.names)}"
    result = run(*command, "--store", store)

    assert (0, f"{note} `simdoc-search backfill {store}`") == (
        result.exit_code,
        result.stderr.splitlines()[-1],
    )
    (index,) = answer(*command, "--store", f"{rolled_alias.url}-0000*")["left_out_indices"]
    assert (rolled_alias.names[1], 1) == (index["index"], index["document_count"])


def test_pages_report_the_index_that_they_leave_out_but_not_the_engine(rolled_alias: RolledAlias) -> None:
    with pages_of(lambda: SimilaritySearch(open_store(rolled_alias.url)), (rolled_alias.url,)) as pages:
        (index,) = pages.json("/similar", q="a")["left_out_indices"]
        page = pages.html("/similar", q="a")

    assert (rolled_alias.names[1], 1) == (index["index"], index["document_count"])
    assert f"Note: 1 document of the index {rolled_alias.names[1]} is not compared: the index has no field" in page
    assert rolled_alias.url not in page + index["reason"]


def test_an_unknown_id_is_not_read_as_a_file_name(
    rolled_alias: RolledAlias, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nobody").write_text("a file")
    message = "no document 'nobody' in the index; give the _id of a document"
    for command in ("similar", "show", "passages"):
        assert f"Error: {message}" == run(command, "nobody", "--store", rolled_alias.url).stderr.splitlines()[-1]


def test_an_open_store_follows_the_rollover(temp_indices: TempIndices, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(behind, "RELOAD_INTERVAL_SECONDS", 0.0)
    alias = RolledAlias(temp_indices)
    search = SimilaritySearch(open_store(alias.url))
    assert [] == left_out(search.similar("a"))
    alias.roll()
    alias.put("new", 0, 195)
    assert [(alias.names[1], 1)] == left_out(search.similar("a"))
    output("backfill", alias.url, "--text-field", "body")
    result = search.similar("a")

    assert [] == left_out(result)
    assert "new" in [hit.id for hit in result.hits]
    assert "left_out_indices" not in answer("similar", "a", "--store", alias.url)


def test_an_open_store_refuses_an_index_of_other_settings(
    temp_indices: TempIndices, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(behind, "RELOAD_INTERVAL_SECONDS", 0.0)
    alias = RolledAlias(temp_indices)
    search = SimilaritySearch(open_store(alias.url))
    search.similar("a")
    other = component_template(Settings(sketch=MinHash(bucket_count=256)))["template"]["mappings"]["properties"]
    alias.roll({**MAPPING, **other})

    with pytest.raises(FormatMismatchError, match="fingerprints with different settings; query each index separately"):
        search.similar("a")


def test_an_index_whose_mapping_the_engine_guessed_is_left_out(temp_indices: TempIndices) -> None:
    alias = RolledAlias(temp_indices)
    alias.roll()
    alias.put("new", 0, 195, simdoc=fingerprint_field(words(0, 195)))
    result = answer("similar", "a", "--store", alias.url)
    (index,) = result["left_out_indices"]

    assert ["b", "c"] == [hit["id"] for hit in result["hits"]]
    assert "the index cannot be queried: simdoc.tokens has analyzer None, not 'whitespace'" in index["reason"]
    assert "--text-field" not in index["reason"]
    assert {"b", "c", "a"} == {hit["id"] for hit in answer("passages", "new", "--store", alias.url)["hits"]}


def test_a_data_stream_is_read_like_an_alias(temp_indices: TempIndices) -> None:
    stream = temp_indices.name()
    template = {"mappings": {"properties": {"@timestamp": {"type": "date"}, **MAPPING}}}
    body = {"index_patterns": [stream], "data_stream": {}, "priority": 500, "template": template}
    url = f"{temp_indices.engine}/{stream}"

    def create(id: str, begin: int, end: int) -> None:
        document = {"@timestamp": "2026-01-01T00:00:00Z", "body": words(begin, end)}
        call(temp_indices.engine, "PUT", f"/{stream}/_create/{id}?refresh=true", document)

    call(temp_indices.engine, "PUT", f"/_index_template/{stream}", body)
    try:
        for id, (begin, end) in TEXTS.items():
            create(id, begin, end)
        output("backfill", url, "--text-field", "body")
        call(temp_indices.engine, "POST", f"/{stream}/_rollover")
        create("new", 0, 195)
        result = SimilaritySearch(open_store(url)).similar(DocumentKey("a", stream))
        (index,) = result.left_out_indices

        assert ["b", "c"] == [hit.id for hit in result.hits]
        assert {True} == {hit.index.endswith("-000001") for hit in result.hits if hit.index}
        assert (True, 1) == (index.index.endswith("-000002"), index.document_count)
        assert index.reason.endswith(f"run `simdoc-search backfill {url}`")
        output("backfill", url, "--text-field", "body")
        assert "left_out_indices" not in answer("similar", "a", "--store", url)
    finally:
        call(temp_indices.engine, "DELETE", f"/_data_stream/{stream}")
        call(temp_indices.engine, "DELETE", f"/_index_template/{stream}")


# --- closed indices ---


@pytest.mark.parametrize("engine", ["opensearch", "elasticsearch_7"])
def test_a_closed_index_behind_an_alias_is_left_out(engine: str, request: pytest.FixtureRequest) -> None:
    with indices(request.getfixturevalue(f"{engine}_url")) as temp_indices:
        alias = two_indices(temp_indices)
        output("backfill", alias.url, "--text-field", "body")
        search = SimilaritySearch(open_store(alias.url))
        assert {"b", "new", "c"} == {hit.id for hit in search.similar("a").hits}
        closed = alias.close(1)
        for result in (search.similar("a"), next(iter(search.similar_many(["a"])))):
            assert not isinstance(result, Exception)
            assert ["b", "c"] == [hit.id for hit in result.hits]
            assert [(closed, None)] == left_out(result)
        note = f"note: the index {closed} is omitted: the index is closed; open it with `POST /{closed}/_open`"
        for command in (["passages", "a"], ["duplicates"], ["info"], ["list"]):
            for store in (alias.url, f"{alias.url}-0000*"):
                shown = run(*command, "--store", store)
                assert (0, [note]) == (shown.exit_code, shown.stderr.splitlines()[-1:])


def test_a_store_on_closed_indices_only_is_an_error(temp_indices: TempIndices) -> None:
    alias = two_indices(temp_indices)
    closed = alias.close(0)
    message = sentence(run("similar", "a", "--store", alias.url))

    assert f"the index {alias.names[1]} of {alias.url} has no field simdoc.tokens; to add fingerprints, run" in message
    assert message.endswith(f"run `simdoc-search backfill {alias.url}`; the index {closed} is closed")
    message = f"the index {closed} of {temp_indices.engine} is closed; open it with `POST /{closed}/_open`"
    assert message == sentence(run("similar", "a", "--store", f"{temp_indices.engine}/{closed}"))
    alias.close(1)
    message = f"the indices {', '.join(alias.names)} of {temp_indices.engine} are closed; open them with `POST /"
    assert sentence(run("similar", "a", "--store", alias.url)).startswith(message)


# --- indices that cannot be written ---


def test_a_backfill_that_would_be_refused_is_not_suggested(temp_indices: TempIndices) -> None:
    url = f"{temp_indices.engine}/{temp_indices.make({'properties': MAPPING, '_source': {'excludes': ['secret']}})}"
    message = sentence(run("similar", "a", "--store", url))

    assert (
        "has no field simdoc.tokens, and `backfill` cannot add this field, because _source excludes fields" in message
    )
    assert "--text-field" not in message
    assert "_source excludes fields" in run("backfill", url, "--text-field", "body").stderr
    assert "simdoc-search backfill" not in run("check", url).stdout


@pytest.mark.parametrize("block", ["write", "read_only", "read_only_allow_delete"])
def test_a_refused_write_names_the_block_of_the_index(
    temp_indices: TempIndices, block: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIMDOC_RETRY_SECONDS", "0")
    monkeypatch.setattr(retry, "BACKGROUND_RETRY_SECONDS", 1.0)
    name = temp_indices.name()
    store = ("--store", f"{temp_indices.engine}/{name}")
    output("index", "-", *store, stdin=f'{{"id": "a", "text": "{words(0, 9)}"}}\n')
    call(temp_indices.engine, "PUT", f"/{name}/_settings", {f"index.blocks.{block}": True})
    try:
        refused = run("index", "-", *store, stdin='{"id": "b", "text": "other words"}\n')

        assert refused.exit_code == 1
        assert f"the index {name} is read-only (index.blocks.{block})" in refused.stderr
        assert f'PUT /{name}/_settings {{"index.blocks.{block}": null}}' in refused.stderr
        assert "a" == answer("show", "a", *store)["id"]
    finally:
        call(temp_indices.engine, "PUT", f"/{name}/_settings", {f"index.blocks.{block}": None})


def test_an_index_without_the_field_cannot_be_written_to(temp_indices: TempIndices) -> None:
    own, other = temp_indices.name(), temp_indices.make({"properties": MAPPING})
    open_store(f"{temp_indices.engine}/{own}", create=True)
    store = open_store(f"{temp_indices.engine}/{temp_indices.alias(own, other, write=other)}")
    message = f"{other} behind .* was not created with `simdoc-search index`; remove this index from the alias"
    with pytest.raises(StoreError, match=message), store.writer():
        pass
