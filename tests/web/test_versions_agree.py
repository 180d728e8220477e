"""The terminal, JSON, the page of --html and the browser say the same of which version is the newest."""

from __future__ import annotations

import random
from html import escape
from pathlib import Path

from simdoc_search import Document, SimilaritySearch, open_store
from simdoc_search.as_json import versions_as_json
from simdoc_search.cli.versions_output import lines_of, texts_of
from simdoc_search.cli.versions_page import write_page
from simdoc_search.sketch.limits import Limits
from simdoc_search.stores.limits import set_limits
from tests.support.families import prose
from tests.support.web import pages_over

FAMILIES = 30
NAMES = ("{} v1", "{} v2", "{} v3", "{} draft", "{} final", "{} final_v2", "{} signed", "{}", "{} (1)", "{} 2020-05-06")


def family(number: int) -> list[Document]:
    """Two to five versions with whatever evidence, which may agree or not."""
    rng = random.Random(number)
    first = prose(8, number)
    names = rng.sample(NAMES, rng.randint(2, 5))
    return [
        Document(
            f"{name.format(f'paper{number}')}.txt",
            " ".join([*first, f"The price is {at} euros."]),
            {"modified_at": f"2021-0{rng.randint(1, 4)}-12"} if rng.random() < 0.6 else {},
        )
        for at, name in enumerate(names)
    ]


def test_limits_are_those_of_the_collection_or_of_the_request(tmp_path: Path) -> None:
    """As they are of the command line and the library."""
    with open_store(tmp_path / "s", create=True) as store:
        SimilaritySearch(store).index(family(1))
        set_limits(store, Limits(bits=3, min_score=0.9))
    with open_store(tmp_path / "s") as store, pages_over(store) as pages:
        id = family(1)[0].id
        stored, given = pages.json("/versions", id=id), pages.json("/versions", id=id, bits=9, min_score=0.8, enough=60)
        for name, value in (("bits", "17"), ("bits", "x"), ("min_score", "2"), ("min_score", "nan"), ("enough", "5")):
            assert name in pages.json("/versions", 400, id=id, **{name: value})["error"]

    assert {"bits": 3, "enough": 0.5, "least": 0.1, "min_score": 0.9} == stored["limits"]
    assert {"bits": 9, "enough": 0.6, "least": 0.1, "min_score": 0.8} == given["limits"]


def test_all_say_the_same(tmp_path: Path) -> None:
    """Of each family: the newest or that none is claimed, each conflict, and what is undated."""
    search = SimilaritySearch(open_store(":memory:"))
    families = [family(number) for number in range(FAMILIES)]
    search.index(each for some in families for each in some)
    verdicts = set()
    with pages_over(search.store) as pages:
        for documents in families:
            id = documents[0].id
            result = search.versions(id, version_control=False)
            said = versions_as_json(result, id, None, {}, None)
            terminal = "\n".join(lines_of(result, None, ":memory:"))
            write_page(tmp_path / "page.html", result, texts_of(search, result), search.store.settings)
            page = (tmp_path / "page.html").read_text("utf-8")
            browser, html = pages.json("/versions", id=id), pages.html("/versions", id=id)

            for name in ("newest", "order", "timeline", "undated"):
                assert said[name] == browser[name]
            assert (None if result.newest is None else result.newest.name) == (said["newest"] or {"id": None})["id"]
            for shown in (terminal, page):
                assert result.verdict in shown
            assert escape(result.verdict[1:]) in html
            for each in result.conflict:
                assert str(each) in terminal
                assert all(escape(str(each)) in shown for shown in (page, html))
            assert len(result.conflict) == len(said["order"]["conflict"])
            assert (result.newest is not None) == ("(newest" in terminal)
            assert bool(result.undated) == ("undated, so not in this order" in html)
            verdicts.add((result.newest is None, bool(result.conflict), bool(result.undated)))

    assert len(verdicts) >= 5
