"""Query strings of Alfresco work with an index like the one that its connector writes."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import closing
from typing import Any
from uuid import uuid4

import pytest
from opensearchpy import OpenSearch, helpers

from simdoc_search import MinHash, SimilaritySearch, open_store
from simdoc_search.attach.actions import fingerprint_actions
from simdoc_search.query.alfresco import parse_alfresco
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.schema import component_template
from tests.support.cli import answer
from tests.support.http_server import indices
from tests.support.texts import text

SETTINGS = Settings(sketch=MinHash(with_rotation=True))
CONTENT, READERS = "cm%3Acontent", "READER"


@pytest.fixture(scope="module")
def alfresco(opensearch_url: str) -> Iterator[tuple[str, dict[str, str]]]:
    """The URL of an index like Alfresco's with fingerprints, and the UUIDs of its documents by name.

    `second` is a version of `first`. `private` is a copy of `first` that only Ann may read.
    """
    rng = random.Random(4)
    first, other = text(rng, 300), text(rng, 300)
    second = " ".join(first.split()[:240]) + " " + text(rng, 60)
    texts = {"first": first, "second": second, "private": first, "other": other}
    ids = {name: str(uuid4()) for name in texts}
    actions = (
        {"_op_type": "index", "_id": ids[name], "uuid": ids[name], CONTENT: content,
         READERS: ["ann"] if name == "private" else ["GROUP_EVERYONE"]}
        for name, content in texts.items()
    )  # fmt: skip
    fields = {CONTENT: {"type": "text"}, READERS: {"type": "keyword"}, "uuid": {"type": "keyword"}}
    with indices(opensearch_url) as made, OpenSearch(opensearch_url) as client:
        ours = component_template(SETTINGS)["template"]["mappings"]["properties"]
        index = made.make({"properties": fields | ours})
        helpers.bulk(client, fingerprint_actions(actions, CONTENT, settings=SETTINGS), index=index, refresh=True)
        yield f"{opensearch_url}/{index}", ids


@pytest.mark.parametrize("string", ["{}_20_80", "{}_0.2_0.8", "FINGERPRINT:workspace://SpacesStore/{}_20_80"])
def test_query_strings_of_alfresco_find_the_same_documents(alfresco: Any, string: str) -> None:
    """The application adds the permission filter that the repository used to add."""
    url, ids = alfresco
    query = parse_alfresco(string.format(ids["first"]))
    hits = {}
    with closing(open_store(url)) as store:
        for user in ("ann", "ben"):
            rights: Any = [{"terms": {READERS: [user, "GROUP_EVERYONE"]}}]
            result = SimilaritySearch(store).similar(query, planner="all", include_self=True, filters=rights)
            hits[user] = {hit.id for hit in result.hits}

    assert {ids["first"], ids["private"], ids["second"]} == hits["ann"]
    assert {ids["first"], ids["second"]} == hits["ben"]


def test_the_command_line_reads_query_strings_of_alfresco(alfresco: Any) -> None:
    """`--compat alfresco` makes bands of all tokens, and includes the document itself."""
    url, ids = alfresco
    reference = f"FINGERPRINT:workspace://SpacesStore/{ids['second']}_20_80"
    result = answer(
        "similar", reference, "--compat", "alfresco", "--store", url, "--filter", f"{READERS}=GROUP_EVERYONE"
    )

    assert [ids["second"], ids["first"]] == [hit["id"] for hit in result["hits"]]
    assert (512, 2) == (result["plan"]["clause_count"], result["plan"]["tokens_per_band"])
