"""Tests of `duplicates`: every store has the same groups, and texts verify them."""

from __future__ import annotations

import csv
import os
import random
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

from simdoc_search import Document, SimilaritySearch, open_store, read_corpus
from simdoc_search.attach.actions import fingerprint_field
from simdoc_search.documents import DocumentKey
from simdoc_search.duplicates import Duplicates
from simdoc_search.errors import QuerySyntaxError, UnknownFieldError
from simdoc_search.stores.base import Store
from simdoc_search.stores.remote.schema import component_template
from tests.support.cli import answer, run, words, write
from tests.support.engines import call
from tests.support.http_server import indices
from tests.support.stores import NewStore
from tests.support.texts import documents, overlapping

BASE = words(0, 100)
TEXTS = {
    "a/base": BASE,
    "a/copy": BASE,
    "b/loud": BASE.upper() + "!",
    "b/near": words(0, 98),
    "b/part": words(0, 60),
    "other": words(900, 950),
    "symbols": "...",
}


def search_over(store: Store) -> SimilaritySearch:
    """A search over TEXTS, each with a year and a team."""
    search = SimilaritySearch(store)
    search.index(
        Document(id, text, {"year": 2000 + number, "team": id[0]}) for number, (id, text) in enumerate(TEXTS.items())
    )
    return search


def groups(duplicates: Duplicates) -> list[tuple[str, list[tuple[str, str, float, bool]]]]:
    """Return the kept document of each group, and the id, kind, overlap and exactness of its duplicates."""
    return [
        (group.kept.id, [(other.id, other.kind, round(other.overlap, 4), other.exact) for other in group.duplicates])
        for group in duplicates.groups()
    ]


def test_worker_processes_verify_the_texts_of_a_store(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    search = search_over(store)
    in_one_process = groups(search.duplicates(overlap=0.5))
    monkeypatch.setattr("simdoc_search.duplicates.verification._MAX_CHUNKS_WITHOUT_WORKERS", 0)

    assert in_one_process
    assert in_one_process == groups(search.duplicates(overlap=0.5, workers=2))


def test_any_store_gives_the_same_groups(store: Store) -> None:
    """A text without words is not compared."""
    duplicates = search_over(store).duplicates()
    near = ("b/near", "near", round(94 / 96, 4), True)

    assert [("a/base", [("a/copy", "same text", 1.0, True), ("b/loud", "same words", 1.0, True), near])] == groups(
        duplicates
    )
    assert (6, 1, 3) == (duplicates.document_count, duplicates.group_count, duplicates.duplicate_count)
    assert (True, 0, None) == (duplicates.verified, duplicates.unverified_count, duplicates.large_sets)
    assert {"a/base", "a/copy", "b/loud", "b/near"} == {
        id for pair in duplicates.pairs() for id in (pair.a.id, pair.b.id)
    }
    assert 6 == len(list(duplicates.pairs()))


def test_options_choose_documents_overlap_and_the_kept_document(store: Store) -> None:
    search = search_over(store)
    contained = [("b/near", "near", 1.0, True), ("b/part", "near", 1.0, True)]

    assert [("b/loud", contained)] == groups(search.duplicates(measure="containment", filters={"team": "b"}))
    assert ["b/near"] == [kept for kept, _ in groups(search.duplicates(keep="max:year"))]
    assert ["b/loud"] == [kept for kept, _ in groups(search.duplicates(filters={"path": "b/"}))]
    assert 4 == search.duplicates(overlap=0.55).duplicate_count
    assert not search.duplicates(verify=False).verified


def test_a_longer_edited_copy_is_not_kept_for_identical_ones(store: Store) -> None:
    search = SimilaritySearch(store)
    search.index(Document(id, BASE) for id in ("orig.txt", "orig (1).txt", "Kopie 1.txt", "Kopie 2.txt"))
    search.index([Document("edit.txt", BASE + " more")])
    ((kept, others),) = groups(search.duplicates())

    assert "orig.txt" == kept
    assert ["Kopie 1.txt", "Kopie 2.txt", "orig (1).txt"] == [id for id, kind, *_ in others if kind == "identical"]
    assert [("edit.txt", "near", round(96 / 97, 4), True)] == [other for other in others if other[1] != "identical"]
    assert [("orig.txt", ["edit.txt"])] == [
        (kept, [other[0] for other in others]) for kept, others in groups(search.duplicates(new_ids=["edit.txt"]))
    ]
    ((kept, others),) = groups(search.duplicates(preferred_ids=["edit.txt"]))
    assert ("edit.txt", ["identical"] * 3 + ["near"]) == (kept, [kind for _, kind, *_ in others])


def test_overlaps_in_a_store_without_texts_are_estimated(new_store: NewStore) -> None:
    """The overlaps of copies are exact, because copies have the same hash."""
    duplicates = search_over(new_store(store_texts=False)).duplicates(overlap=0.6)
    ((_, others),) = groups(duplicates)

    assert not duplicates.verified
    assert {("a/copy", "same text", True), ("b/loud", "same words", True), ("b/near", "near", False)} <= {
        (id, kind, exact) for id, kind, _, exact in others
    }


def test_an_empty_store_has_no_duplicates(store: Store) -> None:
    duplicates = SimilaritySearch(store).duplicates()

    assert (0, 0, []) == (duplicates.document_count, duplicates.group_count, list(duplicates.groups()))


def test_a_field_that_no_document_has_is_an_error(store: Store) -> None:
    """The field is in a filter or in `keep`."""
    search = search_over(store)
    with pytest.raises(UnknownFieldError, match="no document has the field 'month'; choose from: team, year"):
        search.duplicates(filters={"month": 1})
    with pytest.raises(UnknownFieldError, match="no document has the field 'month'; choose from: team, year"):
        search.duplicates(keep="max:month")
    with pytest.raises(QuerySyntaxError, match="keep must be one of"):
        search.duplicates(keep="month")
    with pytest.raises(
        QuerySyntaxError, match="no document has a date in its metadata or its name, so 'newest' cannot"
    ):
        search.duplicates(keep="newest")


@pytest.mark.parametrize(("pdf", "kept"), [("a.pdf", "b.docx"), ("a 2025.pdf", "a 2025.pdf"), ("a.html", "a.html")])
def test_a_pdf_has_the_date_of_the_file_with_the_same_words(store: Store, pdf: str, kept: str) -> None:
    """Its own dates are often only the time of the export. A date in its name counts."""
    search = SimilaritySearch(store)
    search.index(
        [
            Document("a.docx", BASE, {"modified_at": "2023-05-01"}),
            Document("b.docx", BASE.rsplit(" ", 1)[0] + " changed", {"modified_at": "2024-02-01"}),
            Document(pdf, BASE.replace(" ", "\n"), {"created_at": "2025-06-01"}),
        ]
    )
    (group,) = search.duplicates(keep="newest", overlap=0.7).groups()

    assert kept == group.kept.id
    assert "2023-05-01" == next(found.written for found in (group.kept, *group.duplicates) if found.id == "a.docx")


def test_documents_have_the_size_date_and_path_of_their_file(tmp_path: Path, store: Store) -> None:
    """`within` selects files in a folder. Files that are gone are left out."""
    write(tmp_path, {"in/a.txt": BASE, "in/b.txt": BASE + ".", "out/c.txt": BASE, "in/gone.txt": BASE})
    search = SimilaritySearch(store)
    search.index(read_corpus([str(tmp_path)]))
    (tmp_path / "in/gone.txt").unlink()
    duplicates = search.duplicates(in_folders=[str(tmp_path / "in")])
    (group,) = duplicates.groups()

    assert ("in/a.txt", ["in/b.txt"]) == (group.kept.id, [duplicate.id for duplicate in group.duplicates])
    assert (len(BASE) + 1, str(tmp_path / "in/b.txt")) == (group.duplicates[0].size, group.duplicates[0].path)
    assert (tmp_path / "in/b.txt").stat().st_mtime_ns == group.duplicates[0].mtime_ns
    assert {"in/gone.txt": "the file is gone"} == {place.id: why for place, why in duplicates.left_out.items()}


def test_only_new_documents_are_compared_and_old_ones_are_kept(store: Store) -> None:
    """Old documents are kept even if a new one is longer. Duplicates among old documents are not found."""
    search = search_over(store)
    search.index([Document("longer", BASE + " and some more"), Document("away", words(2000, 2090))])
    duplicates = search.duplicates(new_ids=["longer", "away", "b/near"])

    assert [("a/base", ["b/near", "longer"])] == [
        (id, [other[0] for other in others]) for id, others in groups(duplicates)
    ]
    assert (8, 3) == (duplicates.document_count, duplicates.new_document_count)
    assert {"b/near", "longer"} == {pair.b.id for pair in duplicates.pairs()}
    assert [] == groups(search.duplicates(new_ids=[]))
    assert ["b/near"] == [
        kept for kept, _ in groups(search.duplicates(filters={"team": "b"}, preferred_ids=["b/near"]))
    ]
    assert ["b/loud"] == [kept for kept, _ in groups(search.duplicates(preferred_ids=["b/loud", "gone"]))]


def test_only_files_changed_since_a_date_are_compared(tmp_path: Path, store: Store) -> None:
    """Documents without a file are not new."""
    write(tmp_path, {"old.txt": BASE, "older.txt": BASE + " old", "new.txt": BASE + " more"})
    for name, day in (("old.txt", 10), ("older.txt", 9), ("new.txt", 20)):
        os.utime(tmp_path / name, (day * 86400, day * 86400))
    search = SimilaritySearch(store)
    search.index([Document("no date", "other words of another text")])
    assert 0 == search.duplicates(since=datetime(1970, 1, 15, tzinfo=timezone.utc)).new_document_count
    search.index(read_corpus([str(tmp_path)]))
    duplicates = search.duplicates(since=datetime(1970, 1, 15, tzinfo=timezone.utc), keep="oldest")

    assert [("older.txt", ["new.txt"])] == [(id, [other[0] for other in others]) for id, others in groups(duplicates)]
    assert 1 == duplicates.new_document_count


@pytest.mark.parametrize("keep", ["longest", "newest"])
@pytest.mark.slow
def test_many_documents_have_the_same_groups_in_all_stores(new_store: NewStore, keep: str) -> None:
    """There are more documents than a store reads at once."""
    rng = random.Random(8)
    collection: list[Document] = documents("many", 400, 20)
    collection += [
        Document(f"p{n}{side}", text, {"date": f"2026-11-{rng.randint(10, 28)}"})
        for n in range(50)
        for side, text in zip("ab", overlapping(rng, 90, 0.9), strict=True)
    ]
    searches = [SimilaritySearch(new_store()), SimilaritySearch(open_store(":memory:"))]
    for search in searches:
        search.index(collection)
    in_store, in_memory = (groups(search.duplicates(overlap=0.7, keep=keep)) for search in searches)

    assert 40 < len(in_store)
    assert in_store == in_memory


# --- only in engines ---


@pytest.fixture(params=["opensearch", "elasticsearch"])
def engine_store(request: pytest.FixtureRequest) -> NewStore:
    maker: NewStore = request.getfixturevalue(f"new_{request.param}_store")
    return maker


def test_documents_of_an_engine_have_an_index(engine_store: NewStore) -> None:
    store: Any = engine_store()
    (group,) = search_over(store).duplicates().groups()

    assert DocumentKey("a/base", store.index) == group.kept.key
    assert {store.index} == {duplicate.key.index for duplicate in group.duplicates}


def test_documents_with_the_same_id_behind_an_alias_are_compared(
    opensearch_url: str, new_opensearch_store: NewStore
) -> None:
    """The documents have different indices and texts."""
    stores: list[Any] = [new_opensearch_store() for _ in range(2)]
    for store, text in zip(stores, (BASE, words(0, 98)), strict=True):
        SimilaritySearch(store).index([Document("one", text)])
    alias = f"{stores[0].index}-alias"
    call(
        opensearch_url,
        "POST",
        "/_aliases",
        {"actions": [{"add": {"index": store.index, "alias": alias}} for store in stores]},
    )
    duplicates = SimilaritySearch(open_store(f"{opensearch_url}/{alias}")).duplicates()
    (group,) = duplicates.groups()

    assert [DocumentKey("one", store.index) for store in stores] == [group.kept.key, group.duplicates[0].key]
    assert (94 / 96, True) == (group.duplicates[0].overlap, group.duplicates[0].exact)


@pytest.mark.parametrize("engine_url", ["opensearch", "elasticsearch"])
def test_pairs_and_groups_of_an_alias_have_index_and_routing(
    engine_url: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """They have them in JSON and in CSV."""
    url = request.getfixturevalue(f"{engine_url}_url")
    with indices(url) as temp_indices:
        mapping: dict[str, Any] = component_template()["template"]["mappings"]
        names = sorted(temp_indices.make(mapping) for _ in range(2))
        for name, text in zip(names, (BASE, words(0, 98)), strict=True):
            temp_indices.put(name, "one", {"simdoc": fingerprint_field(text)}, routing="team a")
        file = tmp_path / f"{names[0]}.csv"
        output = answer(
            "duplicates", "--store", f"{url}/{temp_indices.alias(*names)}", "--estimate", "--csv", str(file)
        )
        places = {"a": "one", "a_index": names[0], "a_routing": "team a"}
        places |= {"b": "one", "b_index": names[1], "b_routing": "team a"}
        (pair,), (cluster,) = output["pairs"], output["groups"]
        (duplicate,) = cluster["duplicates"]
        (row,) = csv.DictReader(file.read_text().splitlines())

        assert places == {name: pair[name] for name in places} == {name: row[name] for name in places}
        kept = {name: cluster["kept"][name] for name in ("id", "index", "routing")}
        assert kept == {"id": "one", "index": names[0], "routing": "team a"}
        assert (names[0], names[1]) == (duplicate["duplicate_of_index"], duplicate["index"])
        assert ("one", "team a", "team a") == tuple(
            duplicate[name] for name in ("duplicate_of", "duplicate_of_routing", "routing")
        )


def test_duplicates_of_an_application_are_verified_by_its_text_field(opensearch_url: str) -> None:
    """The overlap of a document without a text is estimated. Without --text-field, all overlaps are estimated."""
    with indices(opensearch_url) as temp_indices:
        mapping: dict[str, Any] = component_template()["template"]["mappings"]["properties"]
        name = temp_indices.make({"properties": {**mapping, "text": {"type": "text"}}})
        temp_indices.put(name, "a", {"simdoc": fingerprint_field(BASE), "text": BASE})
        temp_indices.put(name, "b", {"simdoc": fingerprint_field(words(0, 98)), "text": words(0, 98)})
        temp_indices.put(name, "c", {"simdoc": fingerprint_field(words(0, 96))})
        temp_indices.put(name, "bare", {"text": "not yet fingerprinted"})
        place = f"{opensearch_url}/{name}"
        duplicates = SimilaritySearch(open_store(place, text_field="text")).duplicates()
        estimated = SimilaritySearch(open_store(place)).duplicates()
        shown = run("duplicates", "--store", place, "--text-field", "text")

    exact = {other.id: other.exact for group in duplicates.groups() for other in group.duplicates}
    assert ({"b": True, "c": False}, 1) == (exact, duplicates.unverified_count)
    assert {DocumentKey("bare", name): "has no fingerprint"} == duplicates.left_out
    assert "note: 1 overlap is estimated, because texts are missing" in shown.stderr
    assert "note: left out: the document 'bare': has no fingerprint" in shown.stderr
    hint = f"note: 1 document has no fingerprint; this command says whether they need one: simdoc-search status {place}"
    assert hint in shown.stderr.splitlines()
    assert (False, 2) == (estimated.verified, estimated.duplicate_count)


def test_documents_of_an_application_are_identical_if_all_fields_are_equal(opensearch_url: str) -> None:
    """Fields that are not in the mapping count too."""
    with indices(opensearch_url) as temp_indices:
        mapping: dict[str, Any] = component_template()["template"]["mappings"]["properties"]
        name = temp_indices.make({"properties": {**mapping, "text": {"type": "text"}}})
        others: dict[str, dict[str, Any]] = {
            "a": {"year": 1},
            "b": {"year": 1},
            "c": {"year": 2},
            "d": {"note": {"x": 1}},
        }
        for id, fields in others.items():
            temp_indices.put(name, id, {"simdoc": fingerprint_field(BASE), "text": BASE, **fields})
        place = f"{opensearch_url}/{name}"
        duplicates = SimilaritySearch(open_store(place, text_field="text")).duplicates()

    kinds = {other.id: (other.kind, other.action) for group in duplicates.groups() for other in group.duplicates}
    assert {"b": ("identical", "drop"), "c": ("same text", "decide"), "d": ("same text", "decide")} == kinds


def test_a_plan_of_an_application_deletes_documents(opensearch_url: str, tmp_path: Path) -> None:
    """The documents have no files that could be moved, and are not rows of a table. Nothing can be undone."""
    with indices(opensearch_url) as temp_indices:
        name = temp_indices.make({"properties": component_template()["template"]["mappings"]["properties"]})
        for id in "ab":
            temp_indices.put(name, id, {"simdoc": fingerprint_field(BASE)})
        url, plan = f"{opensearch_url}/{name}", tmp_path / "plan.tsv"
        printed = run("duplicates", "--store", url, "--plan", plan).stderr
        command = printed.rpartition("then run: simdoc-search ")[2].splitlines()[0]
        tried = run(*command.split())
        deleted = run(*command.replace("--dry-run", "--yes").split())
        ids = [record.id for record in open_store(url).scan()]

    assert command.startswith(f"apply {plan} --delete --dry-run")
    assert "0 files would be deleted, 1 document would be removed from the index" == tried.stdout.splitlines()[-1]
    assert "note: the deletion of 1 document without files cannot be undone\n" == deleted.stderr
    assert (0, ["a"]) == (deleted.exit_code, ids)


def test_fields_of_an_application_choose_the_kept_document(opensearch_url: str) -> None:
    """`newest` and `oldest` read the usual date fields. Values that cannot be ordered are last."""
    with indices(opensearch_url) as temp_indices:
        mapping: dict[str, Any] = component_template()["template"]["mappings"]["properties"]
        name = temp_indices.make({"properties": {**mapping, "updated": {"type": "object", "enabled": False}}})
        sources: dict[str, dict[str, Any]] = {
            "a": {"updated": "2026-11-02T08:00:00Z", "page": {"views": 3}},
            "b": {"updated": "2026-11-02T07:30:00-02:00", "page": {"views": [7, 1]}},
            "c": {"updated": "2026-11-01T08:00:00Z", "team": "x"},
            "d": {"updated": {"by": "ann"}, "team": "x"},
        }
        for id, source in sources.items():
            temp_indices.put(name, id, {"simdoc": fingerprint_field(BASE), **source})
        search = SimilaritySearch(open_store(f"{opensearch_url}/{name}"))
        rules = ("first", "newest", "oldest", "max:page.views", "min:page.views")
        kept = {rule: [kept for kept, _ in groups(search.duplicates(keep=rule))] for rule in rules}
        with pytest.raises(UnknownFieldError, match="no document has the field 'month'; choose from: "):
            search.duplicates(keep="max:month")
        with pytest.raises(QuerySyntaxError, match="none of the compared documents has a value in the field 'page"):
            search.duplicates(keep="max:page.views", filters={"team": "x"})

    assert kept == {"first": ["a"], "newest": ["b"], "oldest": ["c"], "max:page.views": ["b"], "min:page.views": ["a"]}
