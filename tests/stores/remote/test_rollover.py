"""After a rollover, or with a closed index: what is answered behind an alias, and what is said of the rest."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from simdoc_search import SimilaritySearch, open_store
from simdoc_search.attach.actions import fingerprint_field
from simdoc_search.errors import FormatMismatchError, NoFingerprintError, StoreError
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote import indices as behind
from simdoc_search.stores.remote import retry
from simdoc_search.stores.remote.schema import component_template
from tests.support.cli import answer, output, run, sentence, words
from tests.support.engines import call
from tests.support.http_server import Indices, indices
from tests.support.web import pages_of

TEXTS = {"a": (0, 200), "b": (0, 190), "c": (50, 200)}
MAPPING = {"body": {"type": "text"}, "sections": {"properties": {"heading": {"type": "text"}}}}


@pytest.fixture(params=["opensearch", "elasticsearch_7"])
def made(request: pytest.FixtureRequest) -> Iterator[Indices]:
    """Indices of an application in each kind of engine that has rollovers."""
    with indices(request.getfixturevalue(f"{request.param}_url")) as them:
        yield them


class Rolled:
    """A write alias that an application rolls over.

    Attributes:
        url: its address.
        names: of the indices behind it, the oldest first.
    """

    def __init__(self, made: Indices) -> None:
        self.alias, self._made = made.name(), made
        self.names = [f"{self.alias}-00000{number}" for number in (1, 2)]
        self.url = f"{made.engine}/{self.alias}"
        aliases = {self.alias: {"is_write_index": True}}
        call(made.engine, "PUT", f"/{self.names[0]}", {"mappings": {"properties": MAPPING}, "aliases": aliases})
        made.names[-1:] = [self.names[0]]
        for id, (begin, end) in TEXTS.items():
            self.put(id, begin, end)
        output("backfill", self.url, "--text-field", "body")

    def put(self, id: str, begin: int, end: int, **more: Any) -> None:
        """Write a document as an application does, which knows the alias alone."""
        document = {"body": words(begin, end), "sections": {"heading": "One heading for all of them"}, **more}
        call(self._made.engine, "PUT", f"/{self.alias}/_doc/{id}?refresh=true", document)

    def roll(self, properties: Any = MAPPING) -> None:
        """Go on in the second index."""
        self._made.names.append(self.names[1])
        call(self._made.engine, "POST", f"/{self.alias}/_rollover", {"mappings": {"properties": properties}})

    def close(self, number: int) -> str:
        """Close one of the indices, the first is 0."""
        call(self._made.engine, "POST", f"/{self.names[number]}/_close")
        return self.names[number]


@pytest.fixture
def rolled(made: Indices) -> Rolled:
    """An alias of two indices; the second has one document, and none of our fields."""
    alias = Rolled(made)
    alias.roll()
    alias.put("new", 0, 195)
    return alias


def test_questions_are_answered_from_the_indices_that_have_the_field(rolled: Rolled) -> None:
    search = SimilaritySearch(open_store(rolled.url))
    result = search.similar("a")
    (left_out,) = result.left_out_indices

    assert ["b", "c"] == [hit.id for hit in result.hits]
    assert (rolled.names[1], 1) == (left_out.index, left_out.documents)
    assert left_out.reason == (
        f"it has no field simdoc.tokens; run simdoc-search backfill {rolled.url} --text-field body"
    )
    for found in (search.passages("a"), search.versions("a"), search.duplicates(overlap=0.7)):
        assert (left_out,) == found.left_out_indices
    assert ["b"] == [hit.id for hit in search.similar_to_text(words(0, 190), overlap=0.9).hits][:1]
    with pytest.raises(NoFingerprintError, match=f"'new' is in the index {rolled.names[1]}, which cannot be asked"):
        search.similar("new")
    assert {"b", "c", "a"} == {hit.id for hit in search.passages("new").hits}


@pytest.mark.parametrize(
    "asked",
    [
        ["similar", "a"],
        ["similar", "--text", words(0, 190)],
        ["passages", "a"],
        ["compare", "a", "b"],
        ["show", "new"],
        ["versions", "a"],
        ["explain", "a_20_80"],
        ["info"],
        ["duplicates", "--overlap", "70"],
        ["duplicates", "--overlap", "70", "--via", "engine"],
        ["tune", "--sketch", "minhash:64", "--overlap", "50"],
    ],
    ids=lambda asked: " ".join(asked)[:25],
)
def test_each_command_says_what_it_leaves_out(rolled: Rolled, asked: list[str]) -> None:
    note = (
        f"note: 1 document of the index {rolled.names[1]} is not compared: it has no field simdoc.tokens; "
        f"run simdoc-search backfill {rolled.url} --text-field body"
    )
    for store in (rolled.url, f"{rolled.url}-0000*", f"{rolled.url[: -len(rolled.alias)]}{','.join(rolled.names)}"):
        result = run(*asked, "--store", store)

        assert (0, [note.replace(rolled.url, store)]) == (result.exit_code, result.stderr.splitlines()[-1:])
    (left_out,) = answer(*asked, "--store", rolled.url)["left_out_indices"]
    assert (rolled.names[1], 1) == (left_out["index"], left_out["documents"])


def test_pages_say_what_they_leave_out(rolled: Rolled) -> None:
    with pages_of(lambda: SimilaritySearch(open_store(rolled.url)), (rolled.url,)) as pages:
        (left_out,) = pages.json("/similar", q="a")["left_out_indices"]
        page = pages.html("/similar", q="a")

    assert (rolled.names[1], 1) == (left_out["index"], left_out["documents"])
    assert f"Note: 1 document of the index {rolled.names[1]} is not compared: it has no field" in page
    assert rolled.url not in page + left_out["reason"]


def test_an_id_of_an_application_is_its_own(rolled: Rolled, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nobody").write_text("a file")
    said = "no document 'nobody' in the store; an id is a document's _id"
    for asked in (["similar", "nobody"], ["show", "nobody"], ["passages", "nobody"]):
        assert run(*asked, "--store", rolled.url).stderr.splitlines()[-1] == f"Error: {said}"


def test_once_it_is_backfilled_nothing_is_left_out(rolled: Rolled) -> None:
    output("backfill", rolled.url, "--text-field", "body")
    result = run("similar", "a", "--store", rolled.url)

    assert (0, "") == (result.exit_code, result.stderr)
    assert "new" in result.stdout
    assert "left_out_indices" not in answer("similar", "a", "--store", rolled.url)


def test_an_open_store_sees_the_rollover(made: Indices, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(behind, "REFRESH_SECONDS", 0.0)
    alias = Rolled(made)
    search = SimilaritySearch(open_store(alias.url))
    assert () == search.similar("a").left_out_indices
    alias.roll()
    alias.put("new", 0, 195)
    assert [alias.names[1]] == [each.index for each in search.similar("a").left_out_indices]
    output("backfill", alias.url, "--text-field", "body")
    result = search.similar("a")

    assert () == result.left_out_indices
    assert "new" in [hit.id for hit in result.hits]


def test_an_open_store_refuses_an_index_of_other_settings(made: Indices, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(behind, "REFRESH_SECONDS", 0.0)
    alias = Rolled(made)
    search = SimilaritySearch(open_store(alias.url))
    search.similar("a")
    other = component_template(Settings(token_length=5))["template"]["mappings"]["properties"]
    alias.roll({**MAPPING, **other})

    with pytest.raises(FormatMismatchError, match="fingerprints of different settings; ask them apart"):
        search.similar("a")


def test_an_index_whose_mapping_the_engine_guessed_is_left_out(made: Indices) -> None:
    alias = Rolled(made)
    alias.roll()
    alias.put("new", 0, 195, simdoc=fingerprint_field(words(0, 195)))
    found = answer("similar", "a", "--store", alias.url)
    (left_out,) = found["left_out_indices"]

    assert ["b", "c"] == [hit["id"] for hit in found["hits"]]
    assert "it cannot be asked: simdoc.tokens has analyzer None, not 'whitespace'" in left_out["reason"]
    assert "--text-field" not in left_out["reason"]
    assert {"b", "c", "a"} == {hit["id"] for hit in answer("passages", "new", "--store", alias.url)["hits"]}


def test_a_data_stream_is_asked_likewise(made: Indices) -> None:
    stream = made.name()
    template = {"mappings": {"properties": {"@timestamp": {"type": "date"}, **MAPPING}}}
    body = {"index_patterns": [stream], "data_stream": {}, "priority": 500, "template": template}
    try:
        call(made.engine, "GET", "/_data_stream")
    except AssertionError as error:  # those of Elasticsearch are no part of what is published
        pytest.skip(f"this engine has no data streams: {error}")
    call(made.engine, "PUT", f"/_index_template/{stream}", body)
    url = f"{made.engine}/{stream}"
    try:
        for id, (begin, end) in TEXTS.items():
            document = {"@timestamp": "2026-01-01T00:00:00Z", "body": words(begin, end)}
            call(made.engine, "PUT", f"/{stream}/_create/{id}?refresh=true", document)
        output("backfill", url, "--text-field", "body")
        call(made.engine, "POST", f"/{stream}/_rollover")
        document = {"@timestamp": "2026-01-02T00:00:00Z", "body": words(0, 195)}
        call(made.engine, "PUT", f"/{stream}/_create/new?refresh=true", document)
        found = answer("similar", "a", "--store", url)
        (left_out,) = found["left_out_indices"]

        assert ["b", "c"] == [hit["id"] for hit in found["hits"]]
        assert (True, 1) == (left_out["index"].endswith("-000002"), left_out["documents"])
        assert left_out["reason"].endswith(f"run simdoc-search backfill {url} --text-field body")
        output("backfill", url, "--text-field", "body")
        assert "left_out_indices" not in answer("similar", "a", "--store", url)
    finally:
        call(made.engine, "DELETE", f"/_data_stream/{stream}")
        call(made.engine, "DELETE", f"/_index_template/{stream}")


# --- closed indices ---


def test_a_closed_index_behind_an_alias_is_left_out(rolled: Rolled) -> None:
    output("backfill", rolled.url, "--text-field", "body")
    closed = rolled.close(1)
    said = f"note: the index {closed} is left out: it is closed; open it with POST /{closed}/_open"
    for asked in (["similar", "a"], ["passages", "a"], ["duplicates", "--via", "engine"], ["info"], ["list"]):
        for store in (rolled.url, f"{rolled.url}-0000*"):
            result = run(*asked, "--store", store)

            assert (0, [said]) == (result.exit_code, result.stderr.splitlines()[-1:])
    (left_out,) = answer("similar", "a", "--store", rolled.url)["left_out_indices"]
    assert (closed, None) == (left_out["index"], left_out["documents"])


def test_an_open_store_meets_a_closed_index(rolled: Rolled) -> None:
    output("backfill", rolled.url, "--text-field", "body")
    search = SimilaritySearch(open_store(rolled.url))
    assert {"b", "new", "c"} == {hit.id for hit in search.similar("a").hits}
    closed = rolled.close(1)
    for result in (search.similar("a"), next(iter(search.similar_many(["a"])))):
        assert not isinstance(result, Exception)
        assert ["b", "c"] == [hit.id for hit in result.hits]
        assert [(closed, None)] == [(each.index, each.documents) for each in result.left_out_indices]


def test_a_closed_index_that_is_asked_directly_is_said_to_be_closed(rolled: Rolled) -> None:
    begin = rolled.url[: -len(rolled.alias)]
    for number in (0, 1):
        closed = rolled.close(number)
        said = f"the index {closed} of {begin[:-1]} is closed; open it with POST /{closed}/_open"
        assert said == sentence(run("similar", "a", "--store", f"{begin}{closed}"))
    both = f"each of the indices {', '.join(rolled.names)} of {begin[:-1]} is closed"
    assert sentence(run("similar", "a", "--store", rolled.url)).startswith(both)


def test_the_noted_text_field_of_a_closed_index_is_proposed(rolled: Rolled) -> None:
    closed = rolled.close(0)
    said = sentence(run("similar", "a", "--store", rolled.url))

    assert said.endswith(f"--text-field body; the index {closed} is closed")
    assert f"the index {rolled.names[1]} of {rolled.url} has no field simdoc.tokens; run" in said


# --- what cannot be written ---


def test_no_backfill_is_proposed_that_would_be_refused(made: Indices) -> None:
    name = made.make({"properties": MAPPING, "_source": {"excludes": ["secret"]}})
    url = f"{made.engine}/{name}"
    said = sentence(run("similar", "a", "--store", url))

    assert "has no field simdoc.tokens, and backfill cannot add it, as _source leaves out fields" in said
    assert "--text-field" not in said
    assert "_source leaves out fields" in run("backfill", url, "--text-field", "body").stderr
    check = run("check", url)
    assert "simdoc-search backfill" not in check.stdout


@pytest.mark.parametrize("block", ["write", "read_only", "read_only_allow_delete"])
def test_a_read_only_index_says_which_block_it_has(made: Indices, block: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIMDOC_RETRY_SECONDS", "0")
    monkeypatch.setattr(retry, "BACKGROUND_SECONDS", 1.0)
    name = made.name()
    store = open_store(f"{made.engine}/{name}", create=True)
    output("index", "-", "--store", f"{made.engine}/{name}", stdin=f'{{"id": "a", "text": "{words(0, 9)}"}}\n')
    call(made.engine, "PUT", f"/{name}/_settings", {f"index.blocks.{block}": True})
    try:
        refused = run("index", "-", "--store", f"{made.engine}/{name}", stdin='{"id": "b", "text": "other words"}\n')

        assert refused.exit_code == 1
        assert f"the index {name} is read-only by index.blocks.{block}" in refused.stderr
        assert f'PUT /{name}/_settings {{"index.blocks.{block}": null}}' in refused.stderr
        assert store.get("a") is not None
    finally:
        call(made.engine, "PUT", f"/{name}/_settings", {f"index.blocks.{block}": None})


def test_of_an_index_without_the_field_nothing_is_written(made: Indices) -> None:
    own, other = made.name(), made.make({"properties": MAPPING})
    open_store(f"{made.engine}/{own}", create=True)
    alias = made.alias(own, other, write=other)
    store = open_store(f"{made.engine}/{alias}")
    not_ours = f"{other} of .* was not made by simdoc-search index; take it out"
    with pytest.raises(StoreError, match=not_ours), store.writer():
        pass
