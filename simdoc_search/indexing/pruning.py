"""Which documents may be removed because their file is gone? None that may only be out of reach."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from simdoc_search.corpus.member_names import archive_of
from simdoc_search.indexing.archives import Archives
from simdoc_search.indexing.roots import NamedPlace, file_of, is_gone
from simdoc_search.indexing.seen import Seen
from simdoc_search.stores.base import Store
from simdoc_search.stores.record import Record

SMALL = 10
"""So many documents are removed without a further question, even if they are more than half of a root's."""


@dataclass(slots=True)
class Pruned:
    """What is to be done about the documents of a place that did not come by.

    Attributes:
        ids: those to remove, as their files are gone.
        kept: a sentence for each reason why others, whose files were not found either, stay.
    """

    ids: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)


def gone_from(store: Store, place: NamedPlace, seen: Seen, archives: Archives, *, all_may_go: bool) -> Pruned:
    """The documents of a place whose files are gone.

    Args:
        store: where they are.
        place: the folder; a file that was named by itself is there.
        seen: the ids that came by.
        archives: those that were read.
        all_may_go: remove them also if no file is left, or if they are more than half.
    """
    try:
        os.scandir(place.path).close()
    except NotADirectoryError:
        if not archives.was_read(place.path):
            return Pruned()
    except OSError as error:
        said = (error.strerror or str(error)).lower()
        return Pruned(kept=[f"no document of {place.path} was removed, as it cannot be read any more ({said})"])
    total, gone, below = 0, [], Counter[str]()
    for record in _records(store, place):
        path = _path_of(record, place)
        if not path.startswith((os.path.join(place.path, ""), f"{place.path}!")):  # noqa: PTH118 - a Path for each is slow
            continue
        total += not seen.is_new(record.id)  # what this run stored says nothing of what is gone
        if record.id in seen:
            continue
        if (closed := place.closed(path)) is not None:
            below[closed] += 1
        elif is_gone(path) and _may_go(path, archives):
            gone.append(record.id)
    kept = [
        f"{count:,} of the documents below {what} were not looked for, as it cannot be read ({place.unreadable[what]})"
        for what, count in below.items()
    ]
    why = _doubt(place, len(gone), total)
    if gone and why and not all_may_go:
        kept.append(f"{_stayed(place, len(gone))}, as {why}; if that is right: --prune-all")
        gone = []
    return Pruned(gone, kept)


def _records(store: Store, place: NamedPlace) -> Iterator[Record]:
    """The documents of a place's root; in a store of an older version not all are found by their root."""
    if place.stored >= place.met:
        return store.scan(root=place.root)
    return (each for each in store.scan() if each.origin and each.origin.root == place.root)


def _path_of(record: Record, place: NamedPlace) -> str:
    if record.origin and record.origin.content:
        return file_of(record.origin, record.id)
    return os.path.join(place.root, record.id.removeprefix(record.origin.prefix if record.origin else ""))  # noqa: PTH118


def _may_go(path: str, archives: Archives) -> bool:
    """Of a member: whether its archive is gone too, or was read to its end without it."""
    archive = archive_of(path)
    return archive is None or archives.was_read(archive) or is_gone(archive)


def _doubt(place: NamedPlace, gone: int, total: int) -> str:
    """Why the files may rather be out of reach, say as a disk is not mounted; empty if nothing speaks for it."""
    if not place.files:
        return "no file is left there"
    if gone > SMALL and 2 * gone > total:
        return f"they are more than half of its {total:,}"
    return ""


def _stayed(place: NamedPlace, count: int) -> str:
    if count == 1:
        return f"1 document of {place.path} stayed although its file is gone"
    return f"{count:,} documents of {place.path} stayed although their files are gone"
