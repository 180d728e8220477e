"""Duplicates by asking the store about each document: the same as by joining, at any time to be gone on with."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from simdoc_search import Document, SimilaritySearch, open_store
from simdoc_search.duplicates import Duplicates, duplicates_in, engine_pairs
from simdoc_search.duplicates.measures import MeasureName
from simdoc_search.errors import QuerySyntaxError, StoreError
from tests.support.frozen import FreezableStore
from tests.support.often import first
from tests.support.texts import documents, overlapping, text

Pairs = set[tuple[str, str]]


def stored(some: Iterable[Document]) -> FreezableStore:
    """A store of these documents."""
    store = open_store(":memory:", create=True)
    SimilaritySearch(store).index(some)
    return FreezableStore(store)


def asked(store: FreezableStore, **options: Any) -> Duplicates:
    """Its duplicates, by asking."""
    return duplicates_in(store, via="engine", **options)


def pairs(found: Duplicates) -> Pairs:
    return {(each.a.id, each.b.id) for each in found.pairs()}


def groups(found: Duplicates) -> dict[str, set[str]]:
    return {each.kept.id: {other.id for other in each.duplicates} for each in found.groups()}


def of_overlaps(seed: str, count: int, least: float, words: int) -> list[Document]:
    """Pairs of documents, of overlaps from the least one up to 97 %."""
    rng = random.Random(seed)
    two = (overlapping(rng, words, rng.uniform(least, 0.97)) for _ in range(count))
    return [
        Document(f"{number}{side}", each)
        for number, both in enumerate(two)
        for side, each in zip("ab", both, strict=True)
    ]


@pytest.fixture
def of_three() -> FreezableStore:
    """A store in which the first is a near copy of the second, and the third is like no other one."""
    base = text(random.Random(1), 200)
    return stored([Document("a", base), Document("b", base + " more"), *documents("other", 1)])


@pytest.fixture
def many() -> FreezableStore:
    """A store of 40 pairs and 40 others."""
    return stored([*of_overlaps("many", 40, 0.85, 60), *documents("others", 40)])


@pytest.mark.parametrize(
    "case", first(2, [("jaccard", 0.8, 100), ("jaccard", 0.8, 30), ("jaccard", 0.5, 600), ("containment", 0.9, 300)])
)
def test_it_finds_what_joining_finds(case: tuple[MeasureName, float, int]) -> None:
    """Of 70 pairs of just that overlap or more, long ones and short ones, none or one is missed, and none is added."""
    measure, overlap, words = case
    store = stored(of_overlaps(f"{measure}{overlap}", 70, overlap, words))
    options: dict[str, Any] = {"overlap": overlap, "measure": measure}
    joined, found = pairs(duplicates_in(store, **options)), pairs(asked(store, **options))

    assert 50 < len(joined)
    assert found <= joined
    assert len(joined) - 1 <= len(found)


def test_copies_cost_one_question() -> None:
    """However many there are, of the same words too; and of two documents one is asked for the other.

    What so many have stays for the longer one.
    """
    base = text(random.Random(1), 100)
    copies = [Document(f"{number:03}", base.upper() if number % 2 else base) for number in range(100)]
    store = stored([*copies, Document("near", base + " more")])

    assert {"000": {"near", *(each.id for each in copies[1:])}} == groups(asked(store))
    assert 2 == len(store.asked)
    assert [(97, 121), (96, 120)] == sorted((each.sizes for each in store.asked if each.sizes), reverse=True)


def test_each_pair_is_looked_at_once(many: FreezableStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """The longer one does not ask for the shorter, and of those of one length one asks."""
    looked_at = 0
    note = engine_pairs.EnginePairs._note

    def counted(*given: Any) -> int:
        nonlocal looked_at
        looked_at += (count := note(*given))
        return count

    monkeypatch.setattr(engine_pairs.EnginePairs, "_note", counted)
    found = asked(many)

    assert len(pairs(found)) == looked_at == 40


def test_documents_without_hashes_and_sizes_are_asked_about_too(many: FreezableStore) -> None:
    """As another program may have left them out: each by itself, without limits of size."""
    many.changed = lambda each: replace(each, words_hash="", text_hash="", shingles=0)
    joined = pairs(duplicates_in(many, verify=False))

    assert 30 < len(joined)
    assert joined == pairs(asked(many, verify=False))
    assert many.asked[-1].sizes is None


def test_a_flood_is_bounded_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 40 that look alike each finds 5, and yet the most preferred one takes them all, whichever that is."""
    monkeypatch.setattr(engine_pairs, "LIMIT", 4)
    monkeypatch.setattr(engine_pairs.EnginePairs, "limit", 4)
    rng = random.Random(2)
    base = text(rng, 300).split()
    flood = [Document(f"{number:02}", " ".join([*base[: 260 + number], "and", str(number)])) for number in range(40)]
    store = stored([*flood, *documents("other", 20)])

    for keep in ("longest", "first"):
        found = asked(store, keep=keep)

        assert {"39" if keep == "longest" else "00"} == set(groups(found))
        assert 39 == found.duplicate_count
        assert found.floods is not None
        assert (4, 0) == (found.floods.limit, found.floods.left_over)
        assert 30 < found.floods.documents <= 40


def test_a_flood_of_what_is_not_near_is_said_to_be_left_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who is near to none of the few that were looked at may be near to another one."""
    monkeypatch.setattr(engine_pairs, "LIMIT", 4)
    monkeypatch.setattr(engine_pairs.EnginePairs, "limit", 4)
    rng = random.Random(3)
    base = text(rng, 120)
    found = asked(stored(Document(str(number), f"{base} {text(rng, 40)}") for number in range(40)), overlap=0.8)

    assert found.floods is not None
    assert 0 < found.floods.left_over


# --- going on ---


def test_a_run_that_broke_off_is_gone_on_with(many: FreezableStore, tmp_path: Path) -> None:
    """What was asked before is not asked again, and the result is that of one run."""
    whole = pairs(asked(many))
    questions, many.asked = len(many.asked), []

    def stop() -> None:
        if len(many.asked) >= 64:
            raise KeyboardInterrupt

    many.before_asking = stop
    with pytest.raises(KeyboardInterrupt):
        asked(many, checkpoint=tmp_path / "done")

    assert 64 == len(many.asked)
    many.before_asking = lambda: None

    assert whole == pairs(asked(many, checkpoint=tmp_path / "done"))
    assert questions == len(many.asked)
    assert whole == pairs(asked(many, checkpoint=tmp_path / "done"))
    assert questions == len(many.asked)


def test_only_what_is_new_or_changed_is_asked_about(many: FreezableStore, tmp_path: Path) -> None:
    """Also if it has fewer shingles than one that was asked about before; what is gone is gone."""
    asked(many, checkpoint=tmp_path / "done")
    many.asked = []
    words = text(random.Random(5), 200).split()
    changed = [
        Document("0a", " ".join(words)),
        Document("1a", " ".join(words[:190])),
        Document("2a", many.get("3a", text=True).text.rsplit(" ", 2)[0]),
        Document("4a", many.get("5a", text=True).text),
    ]
    search = SimilaritySearch(many)
    search.index(changed)
    search.delete(["6a"])
    joined = pairs(duplicates_in(many))

    assert {("0a", "1a"), ("3a", "2a")} <= joined
    assert joined == pairs(asked(many, checkpoint=tmp_path / "done"))
    assert 3 == len(many.asked)
    search.index([Document("6a", many.get("6b", text=True).text + " and more")])
    asked(many, checkpoint=tmp_path / "done")

    assert 4 == len(many.asked)


def test_a_pair_of_floods_is_known_in_another_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their tokens are noted, too."""
    monkeypatch.setattr(engine_pairs, "LIMIT", 2)
    base = text(random.Random(2), 300)
    store = stored(Document(f"{number:02}", f"{base} {number}") for number in range(20))
    done = {"checkpoint": tmp_path / "done", "keep": "first"}
    once = groups(asked(store, **done))
    questions = len(store.asked)

    assert {"00"} == set(once)
    assert once == groups(asked(store, **done))
    assert questions == len(store.asked)


# --- what cannot be ---


def test_a_checkpoint_is_made_for_one_question(of_three: FreezableStore, tmp_path: Path) -> None:
    """For one index, overlap, measure, rule and filter; the message names what differs."""
    file = tmp_path / "done"
    asked(of_three, checkpoint=file)
    with pytest.raises(
        StoreError, match=r"made for overlap 80\.0 %, not 90\.0 %; ask the same again, or name another file"
    ):
        asked(of_three, checkpoint=file, overlap=0.9)
    with pytest.raises(StoreError, match="made for measure jaccard, not containment"):
        asked(of_three, checkpoint=file, measure="containment")
    with pytest.raises(StoreError, match=r"made for filters none, not .*path.*a/"):
        asked(of_three, checkpoint=file, filters={"path": "a/"})
    of_three.identity = "another store"
    with pytest.raises(StoreError, match="made for the index this store, not another store"):
        asked(of_three, checkpoint=file)


def test_a_file_of_others_is_left_alone(of_three: FreezableStore, tmp_path: Path) -> None:
    """A text, a database of somebody's, and one that is in use."""
    (tmp_path / "letter").write_text("Dear Ann, " * 100)
    with sqlite3.connect(tmp_path / "theirs") as theirs:
        theirs.execute("CREATE TABLE documents (name)")
    theirs.close()
    for name in ("letter", "theirs"):
        before = (tmp_path / name).read_bytes()
        with pytest.raises(StoreError, match=rf"{name} cannot be used \(file is not a database"):
            asked(of_three, checkpoint=tmp_path / name)

        assert before == (tmp_path / name).read_bytes()
    with sqlite3.connect(tmp_path / "used", isolation_level=None) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreError, match="used is in use by another run; name another file"):
            asked(of_three, checkpoint=tmp_path / "used")
    other.close()
    with pytest.raises(StoreError, match="cannot be used"):
        asked(of_three, checkpoint=tmp_path / "no folder" / "file")


def test_only_an_engine_is_asked(of_three: FreezableStore, tmp_path: Path) -> None:
    """One sentence for a store that is none, for another word, and for a checkpoint of nothing."""
    with pytest.raises(StoreError, match="in no engine that could be asked; leave via engine out"):
        duplicates_in(open_store(":memory:", create=True), via="engine")
    with pytest.raises(QuerySyntaxError, match="via is one of memory, engine, not 'cluster'"):
        duplicates_in(of_three, via="cluster")  # type: ignore[arg-type]
    with pytest.raises(QuerySyntaxError, match="a checkpoint is kept only where the engine compares"):
        duplicates_in(of_three, checkpoint=tmp_path / "done")
