"""Coming from Alfresco: the old strings over an index as its connector for Elasticsearch and OpenSearch leaves it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from opensearchpy import OpenSearch, helpers

from simdoc_search import MinHash, SimilaritySearch, open_store
from simdoc_search.attach.actions import fingerprint_actions
from simdoc_search.errors import StoreError
from simdoc_search.query.alfresco import parse_alfresco
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.schema import component_template
from tests.support.cli import answer
from tests.support.engines import own_name
from tests.support.texts import text

SETTINGS = Settings(minhash=MinHash(with_rotation=True))
CONTENT, READERS = "cm%3Acontent", "READER"


def nodes() -> dict[str, dict[str, Any]]:
    """By UUID: a text, two versions of it, one of them for Ann alone, and something else."""
    rng = random.Random(4)
    first, other = text(rng, 300), text(rng, 300)
    second = " ".join(first.split()[:240]) + " " + text(rng, 60)
    texts = {"first": first, "second": second, "private": first, "other": other}
    readers = {"private": ["ann"]}
    return {
        str(uuid4()): {"cm%3Aname": f"{name}.txt", CONTENT: each, READERS: readers.get(name, ["GROUP_EVERYONE"])}
        for name, each in texts.items()
    }


@pytest.fixture
def alfresco(opensearch_url: str) -> Iterator[tuple[OpenSearch, str, dict[str, str]]]:
    """An engine, an index as Alfresco makes it with our field added, and the UUIDs by name."""
    made, index = nodes(), own_name()
    fields = {"cm%3Aname": {"type": "keyword"}, CONTENT: {"type": "text"}, READERS: {"type": "keyword"}}
    ours = component_template(SETTINGS)["template"]["mappings"]["properties"]
    with OpenSearch(opensearch_url) as client:
        client.indices.create(index=index, body={"mappings": {"properties": fields | ours}})
        actions = ({"_index": index, "_id": id, "_source": node} for id, node in made.items())
        helpers.bulk(client, fingerprint_actions(actions, CONTENT, settings=SETTINGS), refresh=True)
        yield client, index, {node["cm%3Aname"].removesuffix(".txt"): id for id, node in made.items()}
        client.indices.delete(index=index)


@pytest.fixture
def numbered(opensearch_url: str, alfresco: Any) -> Iterator[tuple[str, dict[str, str]]]:
    """The same nodes in an index whose documents have numbers as ids, and the UUID in a field."""
    client, index, ids = alfresco
    other = own_name()
    mappings = client.indices.get_mapping(index=index)[index]["mappings"]
    mappings["properties"]["uuid"] = {"type": "keyword"}
    client.indices.create(index=other, body={"mappings": mappings})
    hits = client.search(index=index, body={"size": 10})["hits"]["hits"]
    made = [
        {"_index": other, "_id": n, "_source": {**hit["_source"], "uuid": hit["_id"]}} for n, hit in enumerate(hits)
    ]
    helpers.bulk(client, made, refresh=True)
    yield f"{opensearch_url}/{other}", ids
    client.indices.delete(index=other)


def names(ids: dict[str, str], found: list[Any]) -> list[str]:
    """The names of hits."""
    by_id = {id: name for name, id in ids.items()}
    return [by_id[each] for each in found]


@pytest.mark.parametrize("written", ["{}_20_80", "{}_0.2_0.8", "FINGERPRINT:workspace://SpacesStore/{}_20_80"])
def test_old_strings_find_what_they_found(alfresco: Any, written: str) -> None:
    """With the permission filter that the repository added, and which an application must add now."""
    client, index, ids = alfresco
    search = SimilaritySearch(open_store(client=client, index=index))
    query = parse_alfresco(written.format(ids["first"]))

    def found(user: str) -> list[str]:
        rights: Any = [{"terms": {READERS: [user, "GROUP_EVERYONE"]}}]
        hits = search.similar(query, planner="all", include_self=True, filters=rights).hits
        return names(ids, [hit.id for hit in hits])

    assert {"first", "private", "second"} == set(found("ann"))
    assert ["first", "second"] == found("ben")


def test_the_command_line_reads_them_too(alfresco: Any, opensearch_url: str) -> None:
    """`--compat alfresco`: bands of all tokens, the document itself among the hits."""
    _, index, ids = alfresco
    reference = f"FINGERPRINT:workspace://SpacesStore/{ids['second']}_20_80"
    result = answer(
        "similar", reference, "--compat", "alfresco", "--store", f"{opensearch_url}/{index}", "--filter",
        f"{READERS}=GROUP_EVERYONE",
    )  # fmt: skip

    assert ["second", "first"] == names(ids, [hit["id"] for hit in result["hits"]])
    assert (512, 2) == (result["plan"]["clauses"], result["plan"]["rows"])


@pytest.mark.parametrize("suffix", ["", "_20", "_20_80"])
def test_nodes_may_be_named_by_a_field(numbered: tuple[str, dict[str, str]], suffix: str) -> None:
    """`--id-field`: queries, hits and what is left out go by it."""
    url, ids = numbered
    asked = ("similar", f"{ids['second']}{suffix}", "--store", url, "--id-field", "uuid")

    assert {"first", "private"} == set(names(ids, [hit["id"] for hit in answer(*asked)["hits"]]))
    assert "second" in names(ids, [hit["id"] for hit in answer(*asked, "--include-self")["hits"]])


def test_a_field_for_ids_needs_an_engine() -> None:
    """A folder has none, and it is not silently ignored."""
    with pytest.raises(StoreError, match="is a local store, which has no such field; leave out --id-field"):
        open_store("folder", id_field="uuid")
