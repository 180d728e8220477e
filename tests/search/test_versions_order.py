"""Which version is the newest, what changed from one to the next, and by what their order is known."""

from __future__ import annotations

import os
from pathlib import Path

from simdoc_search import Document, SimilaritySearch, read_corpus
from simdoc_search.cli.versions_output import lines_of
from simdoc_search.search.files import IndexedFiles
from tests.support.families import SETTINGS, prose, simhashes_of
from tests.support.stores import NewStore, put, record
from tests.versions.paper import DOCUMENTS


def test_what_changed_is_counted_from_one_to_the_next(new_store: NewStore) -> None:
    """In words, along the order of the dates; the source stands where it belongs."""
    first = prose(12, 7)
    texts = {
        "plan 2021-01-05.txt": [*first],
        "plan 2021-03-01.txt": [*first, "Seven words more stand at the end."],
        "plan 2020-11-30.txt": first[:-2],
    }
    with new_store(SETTINGS) as store:
        search = SimilaritySearch(store)
        search.index(Document(id, " ".join(sentences)) for id, sentences in texts.items())
        result = search.versions("plan 2021-01-05.txt")
    words = len(" ".join(first[-2:]).split())
    line = [(each.name[5:-4], each.is_source) for each in result.timeline]
    steps = [(each.step.share, each.step.added, each.step.removed) for each in result.timeline if each.step]

    assert [("2020-11-30", False), ("2021-01-05", True), ("2021-03-01", False)] == line
    assert [(1.0, words, 0), (1.0, 7, 0)] == steps
    assert ("name", True, "by the date in their names") == (result.by, result.certain, result.reason)
    assert result.newest is result.timeline[-1]
    assert {hit.id: hit.entry for hit in result.hits} == {
        each.name: each for each in result.timeline if not each.is_source
    }
    assert "  1 Mar 2021            100 %         +7 −0 words  plan 2021-03-01.txt  (newest)" in str(result).split("\n")
    assert "newest: plan 2021-03-01.txt, by the date in their names" == str(result).split("\n")[-1]


def test_the_newest_is_always_shown(new_memory_store: NewStore) -> None:
    """However little of it is left, and few are wanted."""
    first = prose(30, 9)
    with new_memory_store(SETTINGS) as store:
        search = SimilaritySearch(store)
        search.index(
            Document(f"v{number}.txt", " ".join(first[: 30 - 2 * number] + prose(4 * number, 50 + number)))
            for number in range(1, 7)
        )
        result = search.versions("v1.txt", size=2)

    assert ["v1.txt", "v2.txt", "v6.txt"] == [each.name for each in result.timeline]
    assert (["v2.txt", "v6.txt"], 5) == ([hit.id for hit in result.hits], result.found)


def test_a_text_that_changed_is_said_to_have(new_memory_store: NewStore) -> None:
    """Its sentences are those that were indexed, the words of its step those of today."""
    with new_memory_store(SETTINGS) as store:
        search = SimilaritySearch(store)
        search.index([Document("v1", DOCUMENTS[0])])
        put(store, record("v2", text="Today it is another text.", sentences=simhashes_of(DOCUMENTS[1]).tolist()))
        result, other = search.versions("v1"), search.versions("v2")
    (hit,) = result.hits

    assert (True, 1.0, 5) == (hit.changed, hit.share, hit.entry.step.added if hit.entry.step else None)
    assert ([False], ["v1"]) == ([each.changed for each in other.hits], [each.id for each in other.hits])
    for each, is_asked in ((result, False), (other, True)):
        assert is_asked == each.changed
        assert any(line.startswith("1 text changed since indexing") for line in lines_of(each, None, "store"))


def test_files_that_were_indexed(new_memory_store: NewStore, tmp_path: Path) -> None:
    """Their times order them, if they were not copied together; a file does not find what it is itself."""
    folder = tmp_path / "docs"
    folder.mkdir()
    first = prose(12, 3)
    for number, days in enumerate((3, 1, 2)):
        file = folder / f"{'abc'[number]}.txt"
        file.write_text(" ".join(first[: 12 - number]))
        os.utime(file, (1_600_000_000 + 86_400 * days,) * 2)
    with new_memory_store(SETTINGS) as store:
        search = SimilaritySearch(store)
        search.index(read_corpus([folder]))
        known = IndexedFiles(store).get(folder / "a.txt")
        text = (folder / "a.txt").read_text()
        stored = search.versions("b.txt")
        result = search.versions(text=text, file=folder / "a.txt", exclude=known.place if known else None)

    assert (["b.txt", "c.txt", "a.txt"], "modification time") == ([each.name for each in stored.timeline], stored.by)
    assert ["b.txt", "c.txt", str(folder / "a.txt")] == [each.name for each in result.timeline]
