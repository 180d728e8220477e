"""All steps of finding duplicates, from documents to groups and pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from simdoc_search.display import estimate, percent
from simdoc_search.documents import Place
from simdoc_search.duplicates.clusters import FREE, Stars
from simdoc_search.duplicates.collection import Documents
from simdoc_search.duplicates.contents import Fields, read_contents
from simdoc_search.duplicates.engine_pairs import EnginePairs
from simdoc_search.duplicates.evidence import PairOverlaps
from simdoc_search.duplicates.identical_words import SameWordsSets
from simdoc_search.duplicates.ignored_text import WithoutTemplates
from simdoc_search.duplicates.locations import GroupMembership
from simdoc_search.duplicates.measures import Measure
from simdoc_search.duplicates.pairs import join, run_limit
from simdoc_search.duplicates.result import Duplicate, Group, Kept, Pair
from simdoc_search.duplicates.table import Ints
from simdoc_search.duplicates.verdicts import KINDS, Kind, Verdicts, Widened, describe_signs, reason_for
from simdoc_search.duplicates.verification import ReadTexts, Verifier
from simdoc_search.passages.compare import compare
from simdoc_search.passages.passage import Comparison
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.excluded_indices import LeftOutIndex

Stage = Literal["reading", "comparing", "verifying", "hashing", "marking"]
Progress = Callable[[Stage, float], None]
"""Called with the current stage and the share of it that is done, 0..1."""

_PAIRS_AT_ONCE = 1 << 11
_TEXTS_AT_ONCE = _GROUPS_AT_ONCE = 20
_ROUNDS = 100  # of comparing the kept documents of floods again


@dataclass(frozen=True, slots=True)
class Floods:
    """Documents that look alike in such numbers that they are not all compared with each other.

    Attributes:
        documents: number of these documents. Those with the same text count too, though none of them is missed.
        limit: up to this number, documents that look alike are all compared; of more, each with a few.
        left_over: maximum number of comparisons that were not made. Some were made by other bands, and some count
            more than once.
    """

    documents: int
    limit: int
    left_over: int


class Duplicates:
    """Duplicates, counted, and iterated by their groups. Groups and pairs are made on demand.

    Attributes:
        documents: number of compared documents.
        fresh: number of these that were compared with all others. The rest was only compared with these.
        measure: what overlap means, and the least overlap.
        verified: whether texts were compared. Otherwise fingerprints decide, and overlaps are estimated.
        left_out: place to reason, of documents that cannot be compared.
        left_out_indices: the indices behind an alias whose documents were not compared, and why.
        gone: number of these whose file is gone, by the indexed folder or file.
        group_count: number of groups.
        duplicate_count: number of duplicates; kept documents do not count.
        drops: number of duplicates that a plan would drop.
        frees: bytes freed by deleting all of these.
        kinds: number of duplicates of each kind.
        drop: what a plan drops besides identical documents; None: nothing.
        unverified: number of duplicates whose text was not available though texts were compared.
        floods: documents that were not all compared with each other; None: there are none.
    """

    def __init__(
        self,
        documents: Documents,
        measure: Measure,
        settings: Settings,
        texts: ReadTexts | None,
        *,
        progress: Progress = lambda _stage, _share: None,
        asking: EnginePairs | None = None,
        ignore: Sequence[str] = (),
        drop: Widened | None = None,
        fields: Fields = lambda _: {},
    ) -> None:
        self._join = asking or partial(join, documents.table, measure=measure, fresh_from=documents.fresh_from)
        self._limit = asking.limit if asking else run_limit(len(documents))
        self._documents = documents
        self._settings, self._texts = settings, texts
        self._progress = progress
        read, labels = texts, documents.words
        without = WithoutTemplates(texts, ignore, settings.analysis) if texts and ignore else None
        if without is not None:
            read, labels = without, without.labels(labels)
        self._without = without
        self._alike = SameWordsSets(labels)
        self._evidence = PairOverlaps(measure, Verifier(read, settings.analysis) if read else None)
        self._overlap = np.ones(len(documents))  # of each document with the one that is kept instead
        self._exact = np.ones(len(documents), bool)
        self._kept_for = np.full(len(documents), FREE, np.int64)
        self.measure: Measure = measure
        self.verified: bool = texts is not None
        self.documents: int = len(documents)
        self.fresh: int = len(documents) - documents.fresh_from
        self.left_out: dict[Place, str] = documents.left_out
        self.gone: Counter[str] = documents.gone
        self.left_out_indices: tuple[LeftOutIndex, ...] = ()
        flooded, left_over = self._grouped()
        gone = np.flatnonzero(self._kept_for != FREE)
        self.group_count: int = len(set(self._kept_for[gone].tolist()))
        self.duplicate_count: int = len(gone)
        self._verdicts = self._find_verdicts(drop, fields)
        self._signs: dict[int, str] = {}  # differences of documents with the same words
        self.drop = drop
        judged = self._verdicts
        self.drops: int = judged.drops
        self.frees: int = judged.frees
        self.kinds: Counter[Kind] = judged.kinds
        self.unverified: int = int((~self._exact[gone]).sum()) if self.verified else 0
        many = flooded[self._alike.first] | (self._alike.sizes > self._limit)
        self.floods: Floods | None = Floods(int(many.sum()), self._limit, left_over) if many.any() else None

    @property
    def ignored(self) -> int:
        """The number of ignored words in the compared texts."""
        return sum(self._without.ignored.values()) if self._without else 0

    def __iter__(self) -> Iterator[Group]:
        return self.groups()

    def __len__(self) -> int:
        return self.group_count

    def groups(self, limit: int | None = None) -> Iterator[Group]:
        """The groups, those first that free most bytes, then those with most documents."""
        gone = np.flatnonzero(self._kept_for != FREE)
        if not len(gone):
            return
        kept = self._kept_for[gone]
        kinds = np.array([KINDS.index(self._verdicts.of(each).kind) for each in gone.tolist()])
        order = np.lexsort((gone, -self._overlap[gone], kinds, kept))
        gone, kept = gone[order], kept[order]
        begins = np.flatnonzero(np.concatenate(([True], np.diff(kept) != 0)))
        counts = np.diff(np.append(begins, len(gone)))
        frees = np.add.reduceat(np.array([self._verdicts.frees_of(each) for each in gone.tolist()]), begins)
        ranked = np.lexsort((begins, -counts, -frees))[:limit].tolist()
        for start in range(0, len(ranked), _GROUPS_AT_ONCE):
            some = [
                (int(kept[begins[at]]), gone[begins[at] : begins[at] + counts[at]].tolist())
                for at in ranked[start : start + _GROUPS_AT_ONCE]
            ]
            self._compare_signs([(first, each) for first, others in some for each in others])
            for first, others in some:
                yield Group(Kept(*self._known(first)), tuple(map(self._duplicate, others)))

    def pairs(self) -> Iterator[Pair]:
        """All pairs that overlap enough, also of two duplicates. They are verified on demand.

        Documents that look alike in very great numbers are each paired with a few; see `floods`.
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
        """Compare the kept document of a group with each near duplicate; yields both texts too.

        Duplicates without a stored text are left out.
        """
        near = [each for each in group.duplicates if each.kind == "near"]
        for start in range(0, len(near) if self._texts else 0, _TEXTS_AT_ONCE):
            some = near[start : start + _TEXTS_AT_ONCE]
            texts = dict(self._texts([group.kept.number, *(each.number for each in some)])) if self._texts else {}
            for each in some:
                kept, other = texts.get(group.kept.number), texts.get(each.number)
                if kept is not None and other is not None:
                    yield each, compare(kept, other, settings=self._settings), (kept, other)

    def near_overlaps(self) -> Iterator[float]:
        """The overlap of each near duplicate with the kept document, in no order."""
        gone = np.flatnonzero(self._kept_for != FREE).tolist()
        return (float(self._overlap[each]) for each in gone if self._verdicts.of(each).kind == "near")

    def standing(self) -> GroupMembership:
        """The group of each document, by its place."""
        return GroupMembership(self._documents, self._kept_for)

    def _grouped(self) -> tuple[NDArray[np.bool_], int]:
        """Find the kept document of each.

        Returns:
            Which documents were in a flood, and how many comparisons were not made there.
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
            # Documents of a flood that are in no group yet still have to be compared with the rest of it.
            who = np.flatnonzero(flooded & (stars.kept_for == FREE))
            if len(who) < 2:
                break
        else:
            left_over += len(who) * (len(who) - 1) // 2
        self._spread(stars.kept_for)
        return flooded, left_over

    def _starred(self) -> Stars:
        """Form groups from all known pairs. No pair is verified twice."""
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
        """Extend groups to all documents with the same words, which join the group of the first of them."""
        first = self._alike.first
        alone = (kept_for[first] == FREE) & (first == np.arange(len(first)))
        with_first = (kept_for[first] == FREE) & ~alone
        self._kept_for = np.where(with_first, first, kept_for[first])
        self._overlap = np.where(with_first, 1.0, self._overlap[first])
        self._exact = self._exact[first] | with_first
        self._kept_for[: self._documents.fresh_from] = FREE

    def _find_verdicts(self, drop: Widened | None, fields: Fields) -> Verdicts:
        """The verdict on each duplicate. Files of equal size are read."""
        groups: dict[int, list[int]] = {}
        for each in np.flatnonzero(self._kept_for != FREE).tolist():
            groups.setdefault(int(self._kept_for[each]), []).append(each)
        done = 0

        def progress() -> None:
            nonlocal done
            done += 1
            self._progress("hashing", done / len(groups))

        some = ([kept, *others] for kept, others in groups.items())
        return Verdicts(self._documents, groups, read_contents(self._documents, some, fields, progress), drop)

    def _compare_signs(self, pairs: list[tuple[int, int]]) -> None:
        """Find the differing signs of duplicates with the same words as the kept document."""
        known, judged = self._signs, self._verdicts
        wanted = [pair for pair in pairs if pair[1] not in known and judged.of(pair[1]).kind == "same words"]
        for start in range(0, len(wanted) if self._texts else 0, _TEXTS_AT_ONCE):
            some = wanted[start : start + _TEXTS_AT_ONCE]
            texts = dict(self._texts([*dict.fromkeys(each for pair in some for each in pair)])) if self._texts else {}
            for kept, each in some:
                one, other = texts.get(kept), texts.get(each)
                if one is not None and other is not None:
                    known[each] = describe_signs(one, other, self._settings.analysis)

    def _pair(self, a: int, b: int, overlap: float, exact: bool) -> Pair:
        kind = self._verdicts.kind_of(a, b)
        return Pair(self._documents.place(a), self._documents.place(b), overlap, kind, exact)

    def _duplicate(self, number: int) -> Duplicate:
        judged, kept = self._verdicts.of(number), int(self._kept_for[number])
        is_whole = judged.kind in ("identical", "hard link")
        overlap, exact = float(self._overlap[number]), bool(self._exact[number])
        named = judged.kept_for_it if judged.link_of is None else judged.link_of
        known, frees = self._known(number), self._verdicts.frees_of(number)
        reason = reason_for(
            judged,
            overlap=percent(overlap) if exact else estimate(overlap),
            signs=self._signs.get(number, "the signs between them were not compared"),
            name=self._documents.id(named) if named != kept or judged.link_of is not None else "",
            has_file=known[3] is not None,
            frees=frees > 0 or not self._verdicts.has_other_links(number),
        )
        place = self._documents.place(judged.kept_for_it)
        return Duplicate(
            *known, 1.0 if is_whole else overlap, judged.kind, is_whole or exact, judged.action, reason, frees, place
        )

    def _known(self, number: int) -> tuple[Place, int | None, int | None, str | None, int]:
        """Place, size, date, path and number of a document."""
        documents = self._documents
        path = documents.path(number)
        size, changed = int(documents.sizes[number]), int(documents.changed[number])
        return documents.place(number), None if size < 0 else size, changed or None, path, number
