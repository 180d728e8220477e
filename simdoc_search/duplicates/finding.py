"""The whole way: documents to groups and pairs of duplicates."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from simdoc_search.documents import Place
from simdoc_search.duplicates.alike import Alike
from simdoc_search.duplicates.asking import Asking
from simdoc_search.duplicates.clusters import FREE, Stars
from simdoc_search.duplicates.collecting import Documents
from simdoc_search.duplicates.evidence import Evidence
from simdoc_search.duplicates.measures import Measure
from simdoc_search.duplicates.pairs import join, run_limit
from simdoc_search.duplicates.result import Duplicate, Group, Kept, Kind, Pair
from simdoc_search.duplicates.standing import Standing
from simdoc_search.duplicates.table import Ints
from simdoc_search.duplicates.verifying import Texts, Verifier
from simdoc_search.passages.compare import compare
from simdoc_search.passages.passage import Comparison
from simdoc_search.sketch.settings import Settings

__all__ = ["Duplicates", "Floods", "Progress", "Stage"]

Stage = Literal["reading", "comparing", "verifying", "marking"]
Progress = Callable[[Stage, float], None]
"""Called with what is done now, and which share of it is done, 0..1."""

_PAIRS_AT_ONCE = 1 << 11
_TEXTS_AT_ONCE = 20
_ROUNDS = 100  # in which what stays of floods is compared once more
_KINDS: tuple[Kind, ...] = ("identical", "same words", "near")


@dataclass(frozen=True, slots=True)
class Floods:
    """Where so many documents look alike that they are not compared all with all.

    Attributes:
        documents: how many they are. Those of one text count, though nothing is lost of them.
        limit: up to how many that look alike are compared all with all; of more, each with a few.
        left_over: at most so many comparisons were not made, of documents that are near to none of those few; some of
            them were made by other bands, and some count more than once.
    """

    documents: int
    limit: int
    left_over: int


class Duplicates:
    """Documents that could go, each for one that stays. Groups and pairs are made when they are asked for.

    Attributes:
        documents: how many were compared.
        fresh: how many of them with all; the others only with these.
        measure: what overlap means, and how much was asked for.
        verified: whether texts were compared; False: the fingerprints alone decided, and overlaps are estimated.
        left_out: id to reason, of documents that cannot be compared.
        group_count: how many groups there are.
        duplicate_count: how many documents could go.
        size: bytes of the files of those, as far as they are known.
        unverified: how many of those were not verified though texts were compared, as a text was not to be had.
        floods: where not all were compared with all; None: everywhere they were.
    """

    def __init__(
        self,
        documents: Documents,
        measure: Measure,
        settings: Settings,
        texts: Texts | None,
        *,
        progress: Progress = lambda _stage, _share: None,
        asking: Asking | None = None,
    ) -> None:
        self._join = asking or partial(join, documents.table, measure=measure, fresh_from=documents.fresh_from)
        self._limit = asking.limit if asking else run_limit(len(documents))
        self._documents = documents
        self._settings = settings
        self._texts = texts
        self._progress = progress
        self._alike = Alike(documents.words)
        self._evidence = Evidence(measure, Verifier(texts, settings.analysis) if texts else None)
        self._overlap = np.ones(len(documents))  # of each document with the one that is kept for it
        self._exact = np.ones(len(documents), bool)
        self._kept_for = np.full(len(documents), FREE, np.int64)
        self.measure = measure
        self.verified = texts is not None
        self.documents = len(documents)
        self.fresh = len(documents) - documents.fresh_from
        self.left_out = documents.left_out
        flooded, left_over = self._grouped()
        gone = np.flatnonzero(self._kept_for != FREE)
        self.group_count = len(set(self._kept_for[gone].tolist()))
        self.duplicate_count = len(gone)
        self.size = int(np.maximum(documents.sizes[gone], 0).sum())
        self.unverified = int((~self._exact[gone]).sum()) if self.verified else 0
        many = flooded[self._alike.first] | (self._alike.sizes > self._limit)
        self.floods = Floods(int(many.sum()), self._limit, left_over) if many.any() else None

    def groups(self, limit: int | None = None) -> Iterator[Group]:
        """The groups: those first whose duplicates have the largest files, then those of most documents."""
        gone = np.flatnonzero(self._kept_for != FREE)
        if not len(gone):
            return
        kept = self._kept_for[gone]
        order = np.lexsort((gone, -self._overlap[gone], self._kinds(kept, gone), kept))
        gone, kept = gone[order], kept[order]
        begins = np.flatnonzero(np.concatenate(([True], np.diff(kept) != 0)))
        counts = np.diff(np.append(begins, len(gone)))
        sizes = np.add.reduceat(np.maximum(self._documents.sizes[gone], 0), begins)
        for at in np.lexsort((begins, -counts, -sizes))[:limit].tolist():
            some = gone[begins[at] : begins[at] + counts[at]].tolist()
            yield Group(Kept(*self._known(int(kept[begins[at]]))), tuple(map(self._duplicate, some)))

    def pairs(self) -> Iterator[Pair]:
        """All pairs that overlap enough, also of two that could both go; they are verified as they are asked for.

        Of documents that look alike in very great numbers each is paired with a few; see `floods`.
        """
        for a, b in self._alike.pairs_within(self._limit, self._documents.fresh_from):
            yield self._pair(a, b, 1.0, True)
        found = self._evidence
        for start in range(0, len(found.first), _PAIRS_AT_ONCE):
            some = np.arange(start, min(start + _PAIRS_AT_ONCE, len(found.first)))
            for at in some[found.enough(some)].tolist():
                overlap, exact = float(found.overlap[at]), bool(found.exact[at])
                for a, b in self._alike.pairs_between(int(found.first[at]), int(found.second[at]), self._limit):
                    yield self._pair(a, b, overlap, exact)

    def compared(self, group: Group) -> Iterator[tuple[Duplicate, Comparison, tuple[str, str]]]:
        """What differs between the document that stays and each near one of a group; with both texts.

        Those whose texts are not to be had are left out.
        """
        near = [each for each in group.duplicates if each.kind == "near"]
        for start in range(0, len(near) if self._texts else 0, _TEXTS_AT_ONCE):
            some = near[start : start + _TEXTS_AT_ONCE]
            texts = dict(self._texts([group.kept.number, *(each.number for each in some)])) if self._texts else {}
            for each in some:
                kept, other = texts.get(group.kept.number), texts.get(each.number)
                if kept is not None and other is not None:
                    yield each, compare(kept, other, settings=self._settings), (kept, other)

    def standing(self) -> Standing:
        """Who is kept for whom, by where documents are."""
        return Standing(self._documents, self._kept_for)

    def _grouped(self) -> tuple[NDArray[np.bool_], int]:
        """Find who belongs to whom.

        Returns:
            Which documents were in a flood, and how many comparisons were left over there.
        """
        flooded = np.zeros(len(self._documents), bool)
        who, left_over, found = self._alike.firsts, 0, self._evidence
        for number in range(1, _ROUNDS + 1):
            joined = self._join(
                who,
                known=(found.first, found.second),
                progress=lambda share: self._progress("comparing", share),
            )
            flooded[joined.flooded] = True
            left_over = joined.left_over
            if number > 1 and not len(joined.first):
                break
            found.add(joined)
            stars = self._starred()
            # Who was near to one of a flood, and was not taken by it, has yet to be compared with the rest of it.
            who = np.flatnonzero(flooded & (stars.kept_for == FREE))
            if len(who) < 2:
                break
        else:
            left_over += len(who) * (len(who) - 1) // 2
        self._spread(stars.kept_for)
        return flooded, left_over

    def _starred(self) -> Stars:
        """Let documents take others, by all pairs that are known; what was judged once is not judged again."""
        stars, found = Stars(len(self._documents)), self._evidence
        settled = 0

        def progress(count: int) -> None:
            nonlocal settled
            settled += count
            self._progress("verifying", settled / len(found.first))

        by = stars.take(found.first, found.second, found.enough, progress)
        self._overlap[found.second[by]], self._exact[found.second[by]] = found.overlap[by], found.exact[by]
        return stars

    def _spread(self, kept_for: Ints) -> None:
        """From the sets of the same words to all their documents, which belong to the first of them, or with it."""
        first = self._alike.first
        alone = (kept_for[first] == FREE) & (first == np.arange(len(first)))
        with_first = (kept_for[first] == FREE) & ~alone
        self._kept_for = np.where(with_first, first, kept_for[first])
        self._overlap = np.where(with_first, 1.0, self._overlap[first])
        self._exact = self._exact[first] | with_first
        self._kept_for[: self._documents.fresh_from] = FREE

    def _kinds(self, a: Ints, b: Ints) -> Ints:
        """By pair, which of the kinds it is."""
        texts, words = self._documents.texts, self._documents.words
        return np.where(texts[a] == texts[b], 0, np.where(words[a] == words[b], 1, 2))

    def _pair(self, a: int, b: int, overlap: float, exact: bool) -> Pair:
        kind = _KINDS[int(self._kinds(np.array([a]), np.array([b]))[0])]
        return Pair(self._documents.place(a), self._documents.place(b), overlap, kind, exact)

    def _duplicate(self, number: int) -> Duplicate:
        kept = int(self._kept_for[number])
        pair = self._pair(kept, number, float(self._overlap[number]), bool(self._exact[number]))
        return Duplicate(*self._known(number), pair.overlap, pair.kind, pair.exact)

    def _known(self, number: int) -> tuple[Place, int | None, int | None, str | None, int]:
        """Place, size, date, path and number of a document."""
        documents = self._documents
        path = documents.path(number)
        size, changed = int(documents.sizes[number]), int(documents.changed[number])
        return documents.place(number), None if size < 0 else size, changed or None, path, number
