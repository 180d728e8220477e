"""The terminal, JSON, the page of --html and the browser agree about the newest version."""

from __future__ import annotations

import random
from html import escape
from pathlib import Path

from simdoc_search import Document, SimilaritySearch, open_store
from simdoc_search.as_json.versions import versions_as_json
from simdoc_search.cli.versions_output import read_version_texts, version_lines
from simdoc_search.cli.versions_page import write_page
from simdoc_search.sketch.thresholds import SimilarityThresholds
from simdoc_search.stores.upgrade import set_thresholds
from tests.support.families import prose
from tests.support.web import pages_over

FAMILIES = 6
NAMES = ("{} v1", "{} v2", "{} v3", "{} draft", "{} final", "{} final_v2", "{} signed", "{}", "{} (1)", "{} 2020-05-06")


def family(seed: int) -> list[Document]:
    """Two to five versions. Their names and dates may agree or conflict."""
    rng = random.Random(seed)
    sentences = prose(8, seed)
    names = rng.sample(NAMES, rng.randint(2, 5))
    return [
        Document(
            f"{name.format(f'paper{seed}')}.txt",
            " ".join([*sentences, f"The price is {number} euros."]),
            {"modified_at": f"2021-0{rng.randint(1, 4)}-12"} if rng.random() < 0.6 else {},
        )
        for number, name in enumerate(names)
    ]


def test_thresholds_come_from_the_index_or_the_request(tmp_path: Path) -> None:
    """A threshold that is out of range is refused."""
    with open_store(tmp_path / "s", create=True) as store:
        SimilaritySearch(store).index(family(1))
        set_thresholds(store, SimilarityThresholds(max_distance=3, min_score=0.9))
    with open_store(tmp_path / "s") as store, pages_over(store) as pages:
        id = family(1)[0].id
        stored, given = (
            pages.json("/versions", id=id),
            pages.json("/versions", id=id, max_distance=9, min_score=0.8, min_share=60),
        )
        for name, value in (
            ("max_distance", "17"),
            ("max_distance", "x"),
            ("min_score", "2"),
            ("min_score", "nan"),
            ("min_share", "5"),
        ):
            assert name in pages.json("/versions", 400, id=id, **{name: value})["error"]

    assert {"max_distance": 3, "min_share": 0.5, "min_smaller_share": 0.1, "min_score": 0.9} == stored["thresholds"]
    assert {"max_distance": 9, "min_share": 0.6, "min_smaller_share": 0.1, "min_score": 0.8} == given["thresholds"]


def test_a_larger_distance_is_linked_if_it_finds_versions() -> None:
    search = SimilaritySearch(open_store(":memory:"))
    sentences = prose(8, 1)
    search.index([Document("a", " ".join(sentences)), Document("b", " ".join(f"Now {each}" for each in sentences))])
    with pages_over(search.store) as pages:
        link = (
            '<a href="/versions?id=a&amp;max_distance=16">See 1 document with more changes in each sentence or row</a>'
        )
        assert link in pages.html("/versions", id="a", max_distance=0)
        assert "with more changes" not in pages.html("/versions", id="a", max_distance=16)


def test_all_outputs_agree(tmp_path: Path) -> None:
    """All outputs have the same verdict, conflicts and unordered versions."""
    search = SimilaritySearch(open_store(":memory:"))
    families = [family(seed) for seed in range(FAMILIES)]
    search.index(document for documents in families for document in documents)
    verdicts = set()
    with pages_over(search.store) as pages:
        for documents in families:
            id = documents[0].id
            result = search.versions(id, use_git=False)
            as_json = versions_as_json(result, id, None, {}, None)
            terminal = "\n".join(version_lines(result, None, ":memory:"))
            write_page(tmp_path / "page.html", result, read_version_texts(search, result), search.store.settings)
            page = (tmp_path / "page.html").read_text("utf-8")
            browser, html = pages.json("/versions", id=id), pages.html("/versions", id=id)

            for key in ("newest", "order", "timeline", "unordered"):
                assert as_json[key] == browser[key]
            newest = None if result.newest is None else result.newest.name
            assert newest == (as_json["newest"] or {"id": None})["id"]
            assert result.verdict in terminal
            assert all(escape(result.verdict[1:]) in shown for shown in (page, html))
            for conflict in map(str, result.conflicting_statements):
                assert conflict in terminal
                assert all(escape(conflict) in shown for shown in (page, html))
            assert len(result.conflicting_statements) == len(as_json["order"]["conflicts"])
            assert len(result.contradictions) == terminal.count("conflict: ") == terminal.count("     but: ")
            assert (result.newest is not None) == ("(newest" in terminal)
            for shown in (page, html):
                assert len(result.unordered) == shown.count("place in the order unknown: ")
            assert "unordered" not in page
            verdicts.add((result.newest is None, bool(result.conflicting_statements), bool(result.unordered)))

    assert len(verdicts) >= 4
