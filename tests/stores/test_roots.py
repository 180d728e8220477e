"""Every store finds the documents of a root folder."""

from __future__ import annotations

from dataclasses import replace

from simdoc_search.stores.base import Store
from simdoc_search.stores.fields import ORIGIN_FIELD, origin_value
from simdoc_search.stores.filters import any_of
from simdoc_search.stores.record import Origin
from tests.support.stores import put, record

ROOTS = {
    "a": "/home/reports",
    "b": "/home/reports",
    "c": "/home/reports/2021",
    "d": "/home/reports/2021/x.txt",
    "e": "/home/reports2",
    "f": "/",
    "g": "/home/repörts/" + "long" * 300,
}


def test_documents_are_found_by_their_root_and_its_parent_folders(store: Store) -> None:
    """A root does not match a folder whose name only begins with that of the root."""
    made = [replace(record(id), origin=Origin(root, 1, 2, "p/")) for id, root in ROOTS.items()]
    put(store, *made, record("none"), record("metadata", root="/home/reports"))

    def of(root: str, only_roots_inside_folder: bool = False) -> list[str]:
        found = sorted(
            document.id for document in store.scan(root_folder=root, only_roots_inside_folder=only_roots_inside_folder)
        )
        assert len(found) == store.count(root, only_roots_inside_folder=only_roots_inside_folder)
        return found

    assert ["a", "b"] == of("/home/reports")
    assert ["c", "d"] == of("/home/reports", only_roots_inside_folder=True)
    assert ["d"] == of("/home/reports/2021", only_roots_inside_folder=True)
    assert ["f"] == of("/")
    assert {"a", "b", "c", "d", "e"} <= set(of("/", only_roots_inside_folder=True))
    assert ["g"] == of(ROOTS["g"])
    assert [] == of("/home/report") == of("/home/report", only_roots_inside_folder=True)
    assert len(ROOTS) + 2 == len(list(store.scan()))


def test_a_filter_selects_folders_and_files_of_several_roots(store: Store) -> None:
    origins = {"2021/x.txt": "/a", "2021/x.txt.old": "/a", "2021/m.zip!x": "/a", "y.txt": "/a", "b/2021/x.txt": "/b"}
    put(store, *(replace(record(id), origin=Origin(root, 1, 2)) for id, root in origins.items()))

    def selected(*values: str) -> list[str]:
        return sorted(document.id for document in store.scan(filters={ORIGIN_FIELD: any_of(*values)}))

    assert ["b/2021/x.txt", "y.txt"] == selected(origin_value("/a", "y.txt"), origin_value("/b"))
    assert ["2021/m.zip!x", "2021/x.txt", "2021/x.txt.old"] == selected(origin_value("/a", "2021/"))
    assert ["2021/m.zip!x", "2021/x.txt"] == selected(
        origin_value("/a", "2021/m.zip"), origin_value("/a", "2021/x.txt")
    )
    assert [] == selected(origin_value("/c"), origin_value("/b", "y.txt")) == selected()


def test_the_origin_of_a_document_is_kept(store: Store) -> None:
    origin = Origin("/home/b", 12, 34, "b/")
    put(store, replace(record("b/x.txt"), origin=origin))

    assert [origin] == [document.origin for document in store.digests(["b/x.txt"])]
