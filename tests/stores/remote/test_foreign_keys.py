"""Keys that others put into our field are stored as they came, and no engine maps them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest

from simdoc_search import open_store
from simdoc_search.attach.check import check_index
from simdoc_search.stores.remote.connection import connect
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.schema import component_template
from tests.support.backfill import backfill
from tests.support.http_server import Indices, indices
from tests.support.marks import articles, mark
from tests.support.pipeline import expected

TEXT = "a text of an application with some more words than five"


@pytest.fixture(params=["opensearch", "elasticsearch"])
def made(request: pytest.FixtureRequest) -> Iterator[Indices]:
    """Indices of a test's own in each kind of engine."""
    with indices(request.getfixturevalue(f"{request.param}_url")) as them:
        yield them


@pytest.fixture
def engine(made: Indices) -> Iterator[Engine]:
    """The way to that engine."""
    opened, _ = connect(made.engine, index=False)
    with closing(opened):
        yield opened


def from_template(made: Indices, _: Engine) -> str:
    return made.make(component_template()["template"]["mappings"])


def backfilled(made: Indices, engine: Engine) -> str:
    name = made.make({"properties": {"body": {"type": "text"}}})
    made.put(name, "first", {"body": TEXT})
    assert 1 == backfill(engine, name).updated
    return name


def marked(made: Indices, _: Engine) -> str:
    """The marks are the first fields that are added to this mapping since an older version made it."""
    name = articles(made)
    mark(made, name, overlap=0.5)
    return name


def of_our_own(made: Indices, _: Engine) -> str:
    name = made.name()
    open_store(f"{made.engine}/{name}", create=True).close()
    return name


def ours(engine: Engine, index: str) -> Any:
    """The mapping of our field."""
    return engine.call("GET", [index, "_mapping"])[index]["mappings"]["properties"]["simdoc"]


@pytest.mark.parametrize("make", [from_template, backfilled, marked, of_our_own])
def test_keys_of_others_are_not_mapped(made: Indices, engine: Engine, make: Callable[[Indices, Engine], str]) -> None:
    """Whoever may send documents cannot fill the mapping, whichever way our field got into the index."""
    name = make(made, engine)
    before = ours(engine, name)
    foreign: dict[str, Any] = {f"key{number}": {"below": number} for number in range(20)}
    made.put(name, "other", {"body": TEXT, "simdoc": {**expected(TEXT), **foreign}})

    assert before == ours(engine, name)
    assert "false" == before["dynamic"]


@pytest.mark.parametrize("dynamic", [None, True, "strict", False])
def test_any_dynamic_rule_below_our_field_is_fit(made: Indices, engine: Engine, dynamic: object) -> None:
    """Mappings that earlier versions wrote have none."""
    fields = component_template()["template"]["mappings"]["properties"]
    fields["simdoc"].pop("dynamic")
    if dynamic is not None:
        fields["simdoc"]["dynamic"] = dynamic
    name = made.make({"properties": {**fields, "body": {"type": "text"}}})
    made.put(name, "first", {"body": TEXT})

    assert not [each.problem for each in check_index(engine, name) if each.wrong]
    assert 1 == backfill(engine, name).updated
