"""The local store. What every store must do comes first, over the fixture `new_store`; then what only a folder can."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simdoc_search.analysis.settings import Analysis
from simdoc_search.errors import FormatMismatchError, StoreError, StoreLockedError, StoreNotFoundError
from simdoc_search.query.planner import Bands, Threshold
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.tokens import encode
from simdoc_search.stores import local, local_schema, open_store
from simdoc_search.stores.base import MetadataValue, Origin, Record, Store

NewStore = Callable[..., Store]


@pytest.fixture(params=["memory", "folder"])
def new_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[NewStore]:
    """Makes empty stores of one kind; another kind of store joins here."""
    opened: list[Store] = []

    def make(asked: Settings | None = None, **options: Any) -> Store:
        place = ":memory:" if request.param == "memory" else tmp_path / f"store{len(opened)}"
        opened.append(open_store(place, asked, create=True, **options))
        return opened[-1]

    yield make
    for each in opened:
        each.close()


@pytest.fixture
def store(new_store: NewStore) -> Store:
    return new_store()


def record(id: str, codes: Iterable[int] = range(8), text: str | None = None, **metadata: MetadataValue) -> Record:
    return Record(id, np.array(sorted(codes), np.uint32), 8, "digest of " + id, metadata, text)


def put(store: Store, *records: Record) -> None:
    with store.writer() as writer:
        writer.put(records)


def ids(store: Store) -> list[str]:
    return sorted(each.id for each in store.scan())


def tokens(codes: Iterable[int], length: int = 4) -> tuple[str, ...]:
    return tuple(encode(np.array(sorted(codes), np.uint32), length))


def found(store: Store, plan: Threshold | Bands, **options: Any) -> list[tuple[int, str]]:
    return [(each.matched, each.record.id) for each in store.candidates(plan, **options)]


def plain(record: Record | None) -> tuple[Any, ...] | None:
    """A record as values that can be compared."""
    if record is None:
        return None
    values = (record.id, record.shingles, record.digest, record.metadata, record.text, record.origin)
    return (*values, record.codes.dtype, record.codes.tolist())


# --- records ---


def test_a_record_comes_back_as_it_was_put(store: Store) -> None:
    """Every part of a record is kept, whatever characters it has."""
    metadata: Mapping[str, MetadataValue] = {
        'a key=with "signs"\0': 'é 漢 \U0001f600 " _ / \\ \n',
        "year": 2020,
        "share": 0.5,
        "draft": True,
        "authors": ["Ada", "Bob, jr."],
        "path": "some/where.txt",
        "broken": "\ud800",
    }
    put_in = Record(
        'a_b/c d"é漢.txt',
        np.array([0, 1, 2**24 - 1], np.uint32),
        7,
        "digest",
        metadata,
        "text é 漢 \U0001f600\0\r\n",
        Origin("/home/é", 2**40, 1_700_000_000_123_456_789),
    )
    put(store, put_in)

    assert plain(put_in) == plain(store.get(put_in.id, text=True))


def test_the_text_is_loaded_only_if_asked_for(store: Store) -> None:
    """get and scan leave the text out unless told otherwise, and candidates always do."""
    put(store, record("a", text="words"))

    assert (None, "words") == tuple(getattr(store.get("a", text=each), "text", 0) for each in (False, True))
    assert [None] == [each.text for each in store.scan()]
    assert ["words"] == [each.text for each in store.scan(text=True)]
    assert [None] == [each.record.text for each in store.candidates(Threshold(tokens([1]), 1))]


def test_texts_are_left_out_where_the_store_keeps_none(new_store: NewStore) -> None:
    """A store made without texts keeps everything else."""
    store = new_store(store_texts=False)
    put(store, record("a", text="words", year=2020))

    assert plain(record("a", year=2020)) == plain(store.get("a", text=True))


def test_a_token_of_five_characters_keeps_30_bits(new_store: NewStore) -> None:
    """The codes of a store with token_length 5 come back whole, and are found."""
    store = new_store(Settings(token_length=5))
    put(store, record("a", [3, 2**30 - 1]))

    assert [3, 2**30 - 1] == next(iter(store.scan())).codes.tolist()
    assert [(2, "a")] == found(store, Threshold(tokens([3, 2**30 - 1], 5), 2))


def test_an_unknown_id_gives_nothing(store: Store) -> None:
    """get answers None, also for an id that is not valid Unicode."""
    put(store, record("a"))

    assert [None, None, None] == [store.get(each) for each in ("b", "", "\udcff")]


def test_a_record_without_tokens_is_kept_and_never_found(store: Store) -> None:
    """A document with an empty fingerprint is stored like others; no plan finds it."""
    put(store, record("empty", []), record("full"))

    assert ["empty", "full"] == ids(store)
    assert [] == store.get("empty").codes.tolist()  # type: ignore[union-attr]
    assert [(8, "full")] == found(store, Threshold(tokens(range(8)), 1))


# --- writing ---


def test_put_replaces_by_id_and_the_last_wins(store: Store) -> None:
    """Of several records with one id the last one stays, in one put, one transaction or over several."""
    put(store, record("a", n=1), record("b", n=1), record("a", n=2))
    assert [2] == [each.metadata["n"] for each in store.scan() if each.id == "a"]

    with store.writer() as writer:
        writer.put([record("a", n=3)])
        writer.put([record("a", n=4)])

    assert {"a": 4, "b": 1} == {each.id: each.metadata["n"] for each in store.scan()}
    assert 2 == store.info().documents


def test_delete_and_put_take_effect_in_their_order(store: Store) -> None:
    """Within one transaction a delete removes what came before it, and nothing that comes after."""
    put(store, record("a"), record("b"))
    with store.writer() as writer:
        writer.put([record("c")])
        writer.delete(["a", "c", "unknown"])
        writer.put([record("a", n=2)])

    assert {"a": 2, "b": None} == {each.id: each.metadata.get("n") for each in store.scan()}


def test_leaving_the_writer_by_an_error_undoes_what_was_not_committed(store: Store) -> None:
    """An exception, or Ctrl-C, keeps what was committed and drops the rest; the next writer goes on."""

    def interrupted() -> Iterator[Record]:
        yield record("lost")
        raise KeyboardInterrupt

    def write() -> None:
        with store.writer() as writer:
            writer.put([record("kept")])
            writer.commit()
            writer.delete(["kept"])
            writer.put(interrupted())

    with pytest.raises(KeyboardInterrupt):
        write()
    put(store, record("next"))

    assert ["kept", "next"] == ids(store)


def test_a_second_writer_is_refused_until_the_first_is_closed(store: Store) -> None:
    """One writer at a time; the refusal leaves the first one undisturbed."""
    with store.writer() as writer:
        writer.put([record("a")])
        with pytest.raises(StoreLockedError, match="another writer is at work"), store.writer():
            pass
    put(store, record("b"))

    assert ["a", "b"] == ids(store)


def test_a_writer_is_of_no_use_after_its_block(store: Store) -> None:
    """Writing with a closed writer is an error of one sentence."""
    with store.writer() as writer:
        pass

    with pytest.raises(StoreError, match="writer is closed"):
        writer.put([record("a")])


def test_readers_see_a_commit_at_once_and_nothing_before(store: Store) -> None:
    """What is not committed is not to be seen; what is committed is found by the next call."""
    with store.writer() as writer:
        writer.put([record("a")])
        before = store.get("a")
        writer.commit()
        after = store.get("a")

    assert (True, True) == (before is None, after is not None)


def test_an_answer_is_not_disturbed_by_later_commits(store: Store) -> None:
    """Candidates and scans go on with the documents of the moment they began."""
    put(store, *(record(f"{n:03}") for n in range(200)))
    candidates, records = store.candidates(Threshold(tokens([1]), 1)), store.scan()
    first = next(records).id
    with store.writer() as writer:
        writer.delete(f"{n:03}" for n in range(150))
        writer.put(record(f"new {n}") for n in range(10))
    wanted = [f"{n:03}" for n in range(200)]

    assert wanted == [each.record.id for each in candidates]
    assert wanted == sorted([first, *(each.id for each in records)])
    assert 60 == store.info().documents


def test_an_empty_store_answers_everything(store: Store) -> None:
    """Nothing is in it, and nothing fails."""
    candidates = store.candidates(Threshold(tokens([1]), 1))

    assert (0, []) == (candidates.total, list(candidates))
    assert ([], [], []) == (ids(store), store.named("a"), store.suggest("a"))
    assert 0 == store.info().documents


def test_a_closed_store_says_so(store: Store) -> None:
    """close can be called twice; after it every call is an error of one sentence."""
    store.close()
    store.close()

    with pytest.raises(StoreError, match="is closed"):
        store.get("a")
    with pytest.raises(StoreError, match="is closed"), store.writer():
        pass


# --- names ---


def test_a_name_is_the_last_part_of_an_id_with_or_without_ending(store: Store) -> None:
    """named finds ids by last component, by stem, and by the whole id without its ending; sorted."""
    put(store, *map(record, ("b/doc.txt", "a/doc.md", "doc", "c/doc.tar.gz", "docs", "x/.hidden", "é 漢/ü.txt")))

    assert ["a/doc.md", "b/doc.txt", "doc"] == store.named("doc")
    assert ["b/doc.txt"] == store.named("doc.txt") == store.named("b/doc")
    assert ["c/doc.tar.gz"] == store.named("doc.tar")
    assert ["x/.hidden"] == store.named(".hidden")
    assert ["é 漢/ü.txt"] == store.named("ü")
    assert [] == store.named("nothing") == store.named("") == store.named("\udcff")


@pytest.mark.parametrize(
    ("asked", "best"),
    [
        ("docs/lisence.txt", "docs/license.txt"),
        ("lisence", "docs/license.txt"),
        ("licnese.txt", "docs/license.txt"),
        ("dosc/license.txt", "docs/license.txt"),
        ("other/license.txt", "docs/license.txt"),
        ("docs/annual-report-2023.md", "docs/annual-report-2024-final.md"),
        ("漢字テスト", "漢字テキスト"),
    ],
)
def test_the_nearest_ids_are_suggested(store: Store, asked: str, best: str) -> None:
    """A mistyped id or name suggests what was meant."""
    put(store, *map(record, ("docs/license.txt", "docs/annual-report-2024-final.md", "漢字テキスト", "zebra")))

    assert best == store.suggest(asked)[0]


def test_suggestions_are_few_and_alike(store: Store) -> None:
    """At most three ids are suggested, and none that is quite another."""
    put(store, *(record(f"doc{n:03}") for n in range(100)))

    assert ["doc012", "doc022"] == store.suggest("doc0122")[:2]
    assert 3 == len(store.suggest("doc0122"))
    assert [] == store.suggest("zebra") == store.suggest("\udcff")


# --- plans ---


def test_threshold_counts_equal_tokens(store: Store) -> None:
    """A document is found from minimum_match equal tokens on, with their number; most first, ties by id."""
    put(store, record("d", [1]), record("c", [1, 2, 9]), record("a", [1, 2, 3]), record("b", [2, 3]))

    assert [(3, "a"), (2, "b"), (2, "c")] == found(store, Threshold(tokens([1, 2, 3]), 2))
    assert [(3, "a")] == found(store, Threshold(tokens([1, 2, 3]), 3))
    assert [] == found(store, Threshold(tokens([1]), 2))
    assert [] == found(store, Threshold(tokens([1, 2, 3]), 4))


def test_the_range_of_buckets_is_inclusive(store: Store) -> None:
    """Both ends of the range belong to it; a range without any number finds nothing."""
    put(store, *(record(str(n), range(n)) for n in range(1, 6)))

    assert [(2, "2"), (2, "3"), (2, "4")] == found(store, Threshold(tokens(range(2)), 1, (2, 4)))
    assert [] == found(store, Threshold(tokens(range(2)), 1, (4, 2)))


def test_bands_need_all_tokens_of_one_and_count_all_equal_tokens(store: Store) -> None:
    """A document with a whole band is found, and ranked by its equal tokens inside and outside of the bands."""
    put(store, record("half", [1, 3, 5]), record("one", [1, 2]), record("more", [1, 2, 5, 6, 9]))

    assert [(4, "more"), (2, "one")] == found(
        store, Bands(tokens([1, 2, 3, 4, 5, 6]), (tokens([1, 2]), tokens([3, 4])))
    )


def test_a_plan_without_tokens_finds_nothing(store: Store) -> None:
    """No tokens, no bands or empty bands are answered by nothing."""
    put(store, record("a"))
    plans: list[Threshold | Bands] = [
        Threshold((), 0),
        Threshold((), 1),
        Bands((), ()),
        Bands(tokens([1]), ()),
        Bands(tokens([1]), ((),)),
    ]

    assert [[]] * 5 == [found(store, each) for each in plans]


def test_the_order_is_exact_across_pages(store: Store) -> None:
    """Hundreds of documents with few different counts come most equal tokens first, then by id, none twice."""
    choose = random.Random(3)
    codes = {f"{choose.random()}": choose.sample(range(6), choose.randint(1, 6)) for _ in range(700)}
    put(store, *(record(id, each) for id, each in codes.items()))
    candidates = store.candidates(Threshold(tokens(range(6)), 1))
    wanted = sorted((-len(each), id) for id, each in codes.items())

    assert 700 == candidates.total
    assert wanted == [(-each.matched, each.record.id) for each in candidates]
    assert wanted == [(-each.matched, each.record.id) for each in candidates]


def test_the_first_candidates_load_few_records(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who takes ten of thousands does not wait for the others to be read."""
    put(store, *(record(f"{n:04}", range(1 + n % 40)) for n in range(3000)))
    read: list[str] = []
    made = local_schema.to_record

    def counted(*arguments: Any, **options: Any) -> Record:
        read.append("")
        return made(*arguments, **options)

    monkeypatch.setattr(local, "to_record", counted)
    candidates = iter(store.candidates(Threshold(tokens(range(40)), 1)))

    assert 10 == len([next(candidates) for _ in range(10)])
    assert len(read) <= 100


CODES = st.frozensets(st.integers(0, 11), max_size=8)


@settings(max_examples=150)
@given(
    stored=st.lists(CODES, max_size=40),
    asked=CODES,
    minimum=st.integers(1, 6),
    buckets=st.none() | st.tuples(st.integers(0, 8), st.integers(0, 8)),
    rows=st.integers(0, 3),
    language=st.sampled_from([None, "en", "de"]),
    exclude=st.none() | st.integers(0, 40).map(str),
)
def test_candidates_are_what_counting_by_hand_finds(
    *,
    stored: list[frozenset[int]],
    asked: frozenset[int],
    minimum: int,
    buckets: tuple[int, int] | None,
    rows: int,
    language: str | None,
    exclude: str | None,
) -> None:
    """For any sets of tokens, both kinds of plan find exactly the documents that a loop over all of them finds."""
    languages = ["en", "de"]
    ordered = sorted(asked)
    groups = [ordered[at : at + rows] for at in range(0, len(ordered), rows)] if rows else []

    def wanted(number: int, codes: frozenset[int]) -> bool:
        if str(number) == exclude or language not in (None, languages[number % 2]):
            return False
        if rows:
            return any(codes.issuperset(group) for group in groups)
        low, high = buckets or (0, 99)
        return len(codes & asked) >= minimum and low <= len(codes) <= high

    oracle = sorted((-len(each & asked), str(n)) for n, each in enumerate(stored) if wanted(n, each))
    plan = Bands(tokens(asked), tuple(map(tokens, groups))) if rows else Threshold(tokens(asked), minimum, buckets)
    with closing(open_store(":memory:")) as store:
        put(store, *(record(str(n), each, language=languages[n % 2]) for n, each in enumerate(stored)))
        candidates = store.candidates(
            plan, filters=None if language is None else {"language": language}, exclude=exclude
        )

        assert len(oracle) == candidates.total
        assert oracle == [(-each.matched, each.record.id) for each in candidates]


def test_the_number_of_writer_threads_changes_no_result(new_store: NewStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """One thread or four: the same records, candidates and order, replaced and deleted ones included."""
    records = [record(f"{n % 300}", range(n % 7), n=n) for n in range(500)]
    answers = []
    for threads in (1, 4):
        monkeypatch.setattr(local, "WRITER_THREADS", threads)
        store = new_store()
        with store.writer() as writer:
            writer.put(records)
            writer.delete(["5", "299"])
        stored = sorted((each.id, each.metadata["n"]) for each in store.scan())
        answers.append((stored, found(store, Threshold(tokens(range(7)), 2))))

    assert answers[0] == answers[1]
    assert 298 == len(answers[0][0])


# --- filters ---


def filtered(store: Store, **filters: str | int | float | bool) -> list[str]:
    return [id for _, id in found(store, Threshold(tokens(range(8)), 1), filters=filters)]


def test_filters_compare_the_text_form_of_a_field(store: Store) -> None:
    """Numbers and booleans are equal to what JSON writes for them; one value of a list is enough."""
    put(
        store,
        record("a", year=2020, draft=True, share=0.5, language="en", authors=["Ada", "Bob"]),
        record("b", year="2020", draft="no", share=1, language="en"),
    )

    assert ["a", "b"] == filtered(store, year=2020) == filtered(store, year="2020")
    assert ["a"] == filtered(store, draft=True) == filtered(store, draft="true")
    assert ["a"] == filtered(store, share=0.5) == filtered(store, authors="Bob") == filtered(store, authors="Ada")
    assert ["b"] == filtered(store, share=1)
    assert [] == filtered(store, authors="Ada Bob") == filtered(store, unknown="x") == filtered(store, year=202)


def test_all_filters_must_hold(store: Store) -> None:
    """Several filters are joined by AND, and do not change how equal tokens are counted."""
    put(store, record("a", x="1", y="1"), record("b", x="1", y="2"), record("c", x="2", y="2"))

    assert [(8, "b")] == found(store, Threshold(tokens(range(9)), 1), filters={"x": "1", "y": "2", "path": "b"})


@pytest.mark.parametrize(
    "value", ["x" * 10_000, "x" * 70_000, "漢" * 600, "a b_c/d\"e'f\\g=h", "", "\ud800", "a\0b", "é\n"]
)
def test_any_value_can_be_a_filter(store: Store, value: str) -> None:
    """A value of any length and any characters is found by equality, and no other one is."""
    put(store, record("a", field=value), record("b", field=value + "."), record("c", other=value))

    assert ["a"] == filtered(store, field=value)


PATHS = (
    "a/b.txt",
    "a/b/c.txt",
    "a*[b].txt",
    "a.txt",
    "é/漢 字.txt",
    "é/漢.txt",
    "e\u0301/x",
    "\U0001f600/x",
    '"q"/x',
    "x y/z",
    "x\\y",
    "x\ny",
)


@pytest.mark.parametrize(
    "prefix",
    [
        "a",
        "a/",
        "a/b",
        "a/b/",
        "a.",
        "a*",
        "a*[",
        "é",
        "é/",
        "é/漢",
        "é/漢 ",
        "e",
        "\U0001f600",
        '"',
        "x",
        "x ",
        "x\\",
        "x\n",
    ],
)
def test_the_filter_path_takes_every_character_as_it_is(store: Store, prefix: str) -> None:
    """Exactly the documents whose path begins with the value are found."""
    put(store, *map(record, PATHS))

    assert sorted(each for each in PATHS if each.startswith(prefix)) == filtered(store, path=prefix)


def test_the_filter_path_looks_at_the_metadata_first(store: Store) -> None:
    """A metadata field `path` stands in for the id; an empty value lets all documents pass."""
    put(store, record("1", path="news/a"), record("news/b"), record("2", path="old/" + "x" * 70_000))

    assert ["1", "news/b"] == filtered(store, path="news/")
    assert ["2"] == filtered(store, path="old/" + "x" * 5_000)
    assert ["1", "2", "news/b"] == filtered(store, path="")


# --- a store in a folder ---


def test_a_folder_is_opened_again_with_what_it_holds(tmp_path: Path) -> None:
    """Settings, the choice about texts and the records are there after closing; a file: URL names it as well."""
    asked = Settings(Analysis(shingle_size=3))
    with closing(open_store(tmp_path / "a b", asked, create=True, store_texts=False)) as store:
        put(store, record("a", text="words"))
    for place in (tmp_path / "a b", f"file:{tmp_path}/a b", (tmp_path / "a b").as_uri()):
        with closing(open_store(place)) as store:
            assert (asked, ["a"]) == (store.settings, ids(store))
            assert plain(record("a")) == plain(store.get("a", text=True))


def test_info_counts_documents_and_bytes(tmp_path: Path) -> None:
    """info gives the place, the number of documents, the bytes on disk and the settings."""
    with closing(open_store(tmp_path / "s", create=True)) as store:
        put(store, record("a", text="words"), record("b"))
        info = store.info()

    assert (str(tmp_path / "s"), 2, Settings()) == (info.location, info.documents, info.settings)
    assert sum(each.stat().st_size for each in (tmp_path / "s").rglob("*") if each.is_file()) == info.bytes


def rubbish(folder: Path) -> list[Path]:
    """The files that belong to no segment of the index."""
    segments = json.loads((folder / "index" / "meta.json").read_text())["segments"]
    names = {each["segment_id"].replace("-", "") for each in segments} | {"meta", ""}
    return [each for each in (folder / "index").iterdir() if each.name.split(".")[0] not in names]


def test_no_file_stays_that_the_index_does_not_need(tmp_path: Path) -> None:
    """After merges, deletions and several writers that were opened before each other's work, no rubbish is left."""
    first, second = open_store(tmp_path / "s", create=True), open_store(tmp_path / "s")
    with closing(first), closing(second):
        for store in (second, first, second):
            with store.writer() as writer:
                for n in range(10):
                    writer.put([record(f"{n}")])
                    writer.commit()
        assert 10 == first.info().documents == second.info().documents
        assert [] == rubbish(tmp_path / "s")


def test_a_missing_store_is_made_only_if_asked_for(tmp_path: Path) -> None:
    """Without create nothing is made; the error says how to make a store."""
    for place in (tmp_path / "missing", tmp_path):
        with pytest.raises(StoreNotFoundError, match=r"no store at .*simdoc-search index FOLDER --store"):
            open_store(place)

    assert [] == list(tmp_path.iterdir())


def test_a_place_that_holds_something_else_is_left_alone(tmp_path: Path) -> None:
    """A file, or a folder with other things in it, is refused even with create, and not written to."""
    file = tmp_path / "file.txt"
    file.write_text("mine")
    for create in (False, True):
        with pytest.raises(StoreError, match="is a file and not a store"):
            open_store(file, create=create)
        with pytest.raises(StoreError, match="is a folder with other things in it and not a store"):
            open_store(tmp_path, create=create)
    with pytest.raises(StoreError, match="cannot open the store"):
        open_store(file / "below", create=True)

    assert ([file], "mine") == (list(tmp_path.iterdir()), file.read_text())


def test_a_url_is_refused() -> None:
    """This version has no other store than the local one."""
    with pytest.raises(StoreError, match="local store only"):
        open_store("https://localhost:9200/docs")


def test_other_settings_are_refused_and_shown(tmp_path: Path) -> None:
    """The error names each setting that differs, with both values."""
    open_store(tmp_path / "s", create=True).close()
    asked = Settings(Analysis(shingle_size=3, profile="lowercase"))

    with pytest.raises(FormatMismatchError) as error:
        open_store(tmp_path / "s", asked, create=True)
    assert "analysis.profile 'nfkc_cf', not 'lowercase'; analysis.shingle_size 5, not 3" in str(error.value)
    assert (Settings().to_dict(), asked.to_dict()) == (error.value.found, error.value.expected)


@pytest.mark.parametrize("content", ["{", "", "[]", "7", "{}"])
def test_damaged_settings_are_one_sentence(tmp_path: Path, content: str) -> None:
    """A settings file that is no settings file is named with its fault."""
    open_store(tmp_path / "s", create=True).close()
    (tmp_path / "s" / "simdoc.json").write_text(content)

    with pytest.raises(StoreError, match=r"settings of the store .* are damaged \(simdoc.json: "):
        open_store(tmp_path / "s", create=True)


def test_a_newer_format_is_refused(tmp_path: Path) -> None:
    """A store of a later version is not touched."""
    open_store(tmp_path / "s", create=True).close()
    file = tmp_path / "s" / "simdoc.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "version": 99}))

    with pytest.raises(FormatMismatchError, match="99"):
        open_store(tmp_path / "s", create=True)


@pytest.mark.parametrize("left", [[], [".simdoc.json.tmp"], ["simdoc.json"], ["simdoc.json", "index"]])
def test_a_store_whose_making_was_interrupted_is_completed(tmp_path: Path, left: list[str]) -> None:
    """Whatever step the making of a store came to, making it again completes it."""
    open_store(tmp_path / "whole", create=True).close()
    (tmp_path / "s").mkdir()
    for name in left:
        if name == "index":
            (tmp_path / "s" / name).mkdir()
        else:
            shutil.copy(tmp_path / "whole" / "simdoc.json", tmp_path / "s" / name)
    with closing(open_store(tmp_path / "s", create=True)) as store:
        put(store, record("a"))

        assert ["a"] == ids(store)


@pytest.mark.parametrize("damage", ["meta.json gone", "meta.json cut", "store gone", "term cut", "all gone"])
def test_a_damaged_index_is_one_sentence(tmp_path: Path, damage: str) -> None:
    """Missing or cut files of the index are an error, never an empty store and never another exception."""
    with closing(open_store(tmp_path / "s", create=True)) as store:
        put(store, *(record(f"{n}", [n], text="words") for n in range(100)))
    index = tmp_path / "s" / "index"
    name, how = damage.split()
    for file in list(index.glob({"all": "*", "meta.json": "meta.json"}.get(name, f"*.{name}"))):
        if how == "gone":
            file.unlink()
        else:
            content = file.read_bytes()
            file.unlink()  # a cut in place would be a bus error for whoever still has the file mapped
            file.write_bytes(content[:-9])

    for create in (False, name != "all"):  # where all is gone, create begins anew
        with pytest.raises(StoreError, match="damaged"):
            open_store(tmp_path / "s", create=create)


def test_an_index_that_vanishes_under_an_open_store_is_an_error(tmp_path: Path) -> None:
    """Reading and writing say that the files are gone."""
    with closing(open_store(tmp_path / "s", create=True)) as store:
        put(store, record("a"))
        shutil.rmtree(tmp_path / "s" / "index")

        with pytest.raises(StoreError, match="damaged or gone"):
            store.get("a")
        with pytest.raises(StoreError, match="damaged or gone"):
            put(store, record("b"))


@contextmanager
def no_superuser() -> Iterator[None]:
    """The rights of an ordinary user, for permissions mean nothing to root."""
    if os.geteuid():
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.skipif(os.name == "nt", reason="Windows has other permissions")
def test_missing_permission_is_one_sentence(tmp_path: Path) -> None:
    """A store that may not be read, or a place that may not be written to, is an error that says so."""
    open_store(tmp_path / "s", create=True).close()
    (tmp_path / "s").chmod(0)
    with no_superuser():
        for create in (False, True):
            with pytest.raises(StoreError, match=r"cannot open the store .*: Permission denied"):
                open_store(tmp_path / "s", create=create)
    (tmp_path / "s").chmod(0o700)
    tmp_path.chmod(0o500)
    with no_superuser(), pytest.raises(StoreError, match=r"cannot open the store .*: Permission denied"):
        open_store(tmp_path / "new", create=True)
    tmp_path.chmod(0o700)


# --- other processes ---

IMPORTS = """
import sys
import numpy as np
from simdoc_search.errors import SimdocError
from simdoc_search.stores import open_store
from simdoc_search.stores.base import Record
def records(start, stop):
    return [Record(f"{n:06}", np.arange(n % 50, n % 50 + 64, dtype=np.uint32), 9, "", {}, "words " * 20)
            for n in range(start, stop)]
"""


@contextmanager
def python(code: str, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    """A Python process that runs this code after IMPORTS."""
    command = [sys.executable, "-c", IMPORTS + code, *map(str, arguments)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def test_a_writer_in_another_process_is_seen_and_does_not_disturb_readers(tmp_path: Path) -> None:
    """While another process writes, a second writer is refused and readers read; then both go on."""
    code = """
with open_store(sys.argv[1]).writer() as writer:
    writer.put(records(0, 5))
    print("locked", flush=True)
    sys.stdin.readline()
print("done", flush=True)
"""
    with closing(open_store(tmp_path / "s", create=True)) as store, python(code, tmp_path / "s") as other:
        assert "locked" == line(other)
        with pytest.raises(StoreLockedError, match="another writer is at work"):
            put(store, record("a"))
        assert [] == ids(store)

        assert other.stdin is not None
        other.stdin.write("\n")
        other.stdin.flush()
        assert "done" == line(other)
        put(store, record("a"))

        assert [f"{n:06}" for n in range(5)] + ["a"] == ids(store)


def test_kill_9_loses_nothing_committed_and_doubles_nothing(tmp_path: Path) -> None:
    """After the writer was killed amid its work the store holds whole commits only, and writing goes on."""
    code = """
with open_store(sys.argv[1], create=True).writer() as writer:
    for start in range(0, 10**6, 100):
        writer.put(records(start, start + 100))
        writer.commit()
        print(start + 100, flush=True)
"""
    with python(code, tmp_path / "s") as other:
        committed = [int(line(other)) for _ in range(20)][-1]
        other.send_signal(getattr(signal, "SIGKILL", signal.SIGTERM))
        other.wait()
    with closing(open_store(tmp_path / "s")) as store:
        kept = ids(store)
        assert len(kept) >= committed
        assert [f"{n:06}" for n in range(len(kept) // 100 * 100)] == kept

        put(store, replace(record("000000"), shingles=77), record("new"))
        assert [*kept, "new"] == ids(store)
        assert len(kept) + 1 == store.info().documents
        assert 77 == store.get("000000").shingles  # type: ignore[union-attr]
        assert [] == rubbish(tmp_path / "s")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no limit of file sizes")
def test_a_full_disk_is_one_sentence_and_keeps_what_was_committed(tmp_path: Path) -> None:
    """When files cannot grow, writing fails with a StoreError; later, with room, it goes on."""
    code = """
import resource
store = open_store(sys.argv[1], create=True)
with store.writer() as writer:
    writer.put(records(0, 10))
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))
try:
    with store.writer() as writer:
        writer.put(records(0, 3000))
except SimdocError as error:
    print(type(error).__name__, error)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
print(store.info().documents)
with store.writer() as writer:
    writer.put(records(0, 20))
print(store.info().documents, flush=True)
"""
    with python(code, tmp_path / "s") as other:
        assert "StoreError" == line(other).split()[0]
        assert ["10", "20"] == [line(other), line(other)]


def test_without_tantivy_the_error_names_the_extra(tmp_path: Path) -> None:
    """Importing the stores needs no tantivy; opening one says what to install."""
    code = """
sys.modules["tantivy"] = None
try:
    open_store(sys.argv[1], create=True)
except SimdocError as error:
    print(type(error).__name__, error, flush=True)
"""
    with python(code, tmp_path / "s") as other:
        assert "MissingExtraError" in (said := line(other))
        assert "pip install 'simdoc-search[local]'" in said
