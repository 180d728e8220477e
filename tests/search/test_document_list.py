"""Tests of `list_documents`, which lists the documents of a store with columns."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from simdoc_search import SimilaritySearch, open_store
from simdoc_search.attach.actions import fingerprint_field
from simdoc_search.corpus import read_corpus
from simdoc_search.errors import QuerySyntaxError, UnknownFieldError
from simdoc_search.search.columns import Columns
from simdoc_search.search.document_list import list_documents
from simdoc_search.stores.remote.schema import component_template
from tests.support.cli import words, write_corpus
from tests.support.http_server import TempIndices, indices
from tests.support.stores import NewStore


def test_every_store_lists_its_documents(new_store: NewStore, tmp_path: Path) -> None:
    store = new_store()
    SimilaritySearch(store).index(read_corpus([write_corpus(tmp_path / "corpus")]))
    columns = Columns(["path", "size"])
    rows = list(list_documents(store, columns, prefix_or_pattern="reports/", sort="size"))

    assert ["reports/half.txt", "reports/copy.txt"] == [row["id"] for row in rows]
    assert {"path": str(tmp_path / "corpus" / "reports/half.txt"), "size": 1549}.items() <= rows[0].items()
    assert 5 == len(list(list_documents(store, columns)))
    with pytest.raises(UnknownFieldError, match="no document has a path that begins with 'x/'"):
        list(list_documents(store, columns, prefix_or_pattern="x/"))


@pytest.fixture(params=["opensearch", "elasticsearch"])
def temp_indices(request: pytest.FixtureRequest) -> Iterator[TempIndices]:
    with indices(request.getfixturevalue(f"{request.param}_url")) as indices_of_engine:
        yield indices_of_engine


def test_a_column_with_dots_is_a_nested_field_of_an_application(temp_indices: TempIndices) -> None:
    fields = component_template()["template"]["mappings"]["properties"]
    index = temp_indices.make({"properties": {"body": {"type": "text"}, **fields}})
    for year in (2019, 2021, 2020):
        text = words(year, year + 50)
        head = {"title": f"Of {year}", "by": {"name": "Ada"}}
        source = {"body": text, "simdoc": fingerprint_field(text), "head": head, "date": f"{year}-01-02"}
        temp_indices.put(index, str(year), source)
    columns = Columns(["head.title", "head.by.name", "date"])
    with open_store(f"{temp_indices.engine}/{index}") as store:
        rows = list(list_documents(store, columns, sort="date"))
        best = SimilaritySearch(store).similar("2020", include_self=True).hits[0]
        fields_of_hit = columns.read_values(store, [best.key])[best.key]

        assert ["2021", "2020", "2019"] == [row["id"] for row in rows]
        assert {"head.title": "Of 2020", "head.by.name": "Ada", "date": "2020-01-02"} == fields_of_hit
        assert fields_of_hit.items() <= rows[1].items()
        assert index == rows[0]["index"]
        with pytest.raises(QuerySyntaxError, match="this index does not record the folder of each document"):
            list(list_documents(store, columns, prefix_or_pattern="x"))
